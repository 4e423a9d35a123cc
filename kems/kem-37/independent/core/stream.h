/*
 * The byte streams of TriQ-KEM: pseudoXOF of an input, read in pieces with a cache in front.
 *
 * The cache is part of the scheme, because what a read skips depends on it: a read that the cache can
 * serve goes on without gaps, any other one moves to a multiple of 8 bytes past the end of the cache.
 * Knows nothing of what is read. The functions return 0, or nonzero when the helper failed.
 */
#ifndef TRIQ_STREAM_H
#define TRIQ_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

#define STREAM_CACHE 1024

/* e || z || 00 of the generator is the longest input. */
#define STREAM_INPUT (48 + 48 + 1)

/*
 * No stream is read further than this, which every bounded sampler at its last try does not exceed; a
 * secret support would have to be refilled hundreds of times to get there.
 */
#define STREAM_LIMIT \
    (2 * PARAM_TRIES * 4 * PARAM_W + 4 * PARAM_WE + N_BYTES + 2 * STREAM_CACHE + 2 * 8 * PARAM_TRIES)

struct stream {
    uint8_t input[STREAM_INPUT];
    size_t input_bytes;
    size_t position;             /* of the next byte in the endless string */
    size_t credit;               /* how many bytes from there on are in the cache */
    uint8_t cache[STREAM_CACHE]; /* the last `credit` bytes of it are ahead */
};

/* The generator of a keygen or an encapsulation: two draws of 384 bits from the official one. */
int stream_start_prng(struct stream *stream);

/* xof(seed). */
void stream_start_xof(struct stream *stream, const uint8_t seed[K_BYTES]);

int stream_read(struct stream *stream, uint8_t *bytes, size_t count);

#endif
