/*
 * TriQ-KEM's samplers: what is drawn from a byte stream. Each starts with the next read of the stream.
 *
 * Knows nothing of what the values are for. Every function returns 0, or nonzero when the stream failed.
 */
#ifndef TRIQ_SAMPLING_H
#define TRIQ_SAMPLING_H

#include <stdint.h>

#include "stream.h"

/*
 * Sampler 1: w exponents by rejection, for y and x. At the levels 256 and 384 an entry can be n or more;
 * it then stands for no term, and the secret has a smaller weight (sampling.c says why).
 */
int sample_secret(uint32_t support[PARAM_W], struct stream *stream);

/* Sampler 2: a support of weight we without rejection, for e. */
int sample_error(uint32_t support[PARAM_WE], struct stream *stream);

/* The bounded sampler: sampler 2 with weight w, repeated until no window is crowded, for r1 and r2. */
int sample_bounded(uint32_t support[PARAM_W], struct stream *stream);

/* A polynomial with uniform coefficients, for h. */
int sample_uniform(uint8_t polynomial[N_BYTES], struct stream *stream);

#endif
