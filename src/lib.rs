//! Measures cryptographic submissions as a reproducible, content-addressed pipeline.
