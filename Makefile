# Two commands for a machine with only Rust, gcc, make and Debian's apt:
#   make run     set up, build, and run the main job: ngcc pipeline run all
#   make test    set up, and run every check and test
# Both install what is missing (they say what) and can be repeated.

NGCC := target/release/ngcc

.PHONY: run test setup setup-test build clean

run: setup build
	$(NGCC) pipeline run all

build:
	cargo build --release --locked

test: setup-test
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	@if command -v cargo-nextest >/dev/null; then \
	  cargo nextest run --locked --no-fail-fast; \
	else \
	  cargo test --locked --lib --bins --tests; \
	fi
	cargo test --locked --doc
	RUSTDOCFLAGS=-Dwarnings cargo doc --locked --no-deps --quiet

setup:
	.ci/setup cmake ninja-build

setup-test:
	.ci/setup cmake ninja-build xz-utils zstd

clean:
	cargo clean
