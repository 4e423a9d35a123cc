/* TriQ-KEM's samplers; the steps they share with other schemes are in fixed_weight.c. */
#include "sampling.h"

#include "fixed_weight.h"

/* The largest multiple of n that 24 bits can hold: below it, a candidate is uniform modulo n. */
#define T24 ((uint32_t)((1ul << 24) / PARAM_N * PARAM_N))

/*
 * The candidate modulo n by the submission's own constant. Where that is above 2^32/n the quotient is
 * sometimes one too large and the difference wraps around to just below 2^32. The value is kept like
 * that: it counts towards the weight but is no exponent, and the published vectors depend on it.
 */
static uint32_t reduce(uint32_t candidate)
{
    uint32_t quotient = (uint32_t)(((uint64_t)candidate * PARAM_MU) >> 32);
    uint32_t remainder = candidate - quotient * PARAM_N;
    uint32_t lower = remainder - PARAM_N;

    /* The submission takes `lower` when its sign bit is clear. */
    return lower >> 31 ? remainder : lower;
}

int sample_secret(uint32_t support[PARAM_W], struct stream *stream)
{
    uint8_t chunk[3 * PARAM_W];
    size_t found = 0;

    /* What is left of the last chunk is dropped with it. */
    while (found < PARAM_W) {
        if (stream_read(stream, chunk, sizeof chunk) != 0) {
            return -1;
        }
        found = fixed_weight_collect(support, found, PARAM_W, chunk, sizeof chunk, T24, reduce);
    }
    return 0;
}

int sample_error(uint32_t support[PARAM_WE], struct stream *stream)
{
    uint8_t bytes[4 * PARAM_WE];

    if (stream_read(stream, bytes, sizeof bytes) != 0) {
        return -1;
    }
    fixed_weight_distinct(support, PARAM_WE, bytes, PARAM_N);
    return 0;
}

/* 1 when some window of PARAM_WINDOW exponents, cyclically, that starts at an entry holds over PARAM_CAP. */
static int is_crowded(const uint32_t support[PARAM_W])
{
    for (size_t a = 0; a < PARAM_W; a++) {
        unsigned inside = 0;

        for (size_t b = 0; b < PARAM_W; b++) {
            uint32_t distance = support[b] >= support[a] ? support[b] - support[a]
                                                         : support[b] + PARAM_N - support[a];

            inside += distance < PARAM_WINDOW;
        }
        if (inside > PARAM_CAP) {
            return 1;
        }
    }
    return 0;
}

int sample_bounded(uint32_t support[PARAM_W], struct stream *stream)
{
    uint8_t bytes[4 * PARAM_W];

    /* The last try stands even when it is crowded. */
    for (unsigned attempt = 0; attempt < PARAM_TRIES; attempt++) {
        if (stream_read(stream, bytes, sizeof bytes) != 0) {
            return -1;
        }
        fixed_weight_distinct(support, PARAM_W, bytes, PARAM_N);
        if (!is_crowded(support)) {
            break;
        }
    }
    return 0;
}

int sample_uniform(uint8_t polynomial[N_BYTES], struct stream *stream)
{
    if (stream_read(stream, polynomial, N_BYTES) != 0) {
        return -1;
    }
    bits_clear_tail(polynomial, PARAM_N);
    return 0;
}
