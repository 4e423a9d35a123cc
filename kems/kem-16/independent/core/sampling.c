/* HARE's samplers; the steps they share with other schemes are in fixed_weight.c. */
#include "sampling.h"

#include "fixed_weight.h"

/* The largest multiple of n that 24 bits can hold: below it, c mod n is uniform. */
#define T24 ((uint32_t)((1ul << 24) / PARAM_N * PARAM_N))

static uint32_t reduce(uint32_t candidate)
{
    return candidate % PARAM_N;
}

int sample_secret(uint32_t support[PARAM_W], struct xof *xof)
{
    uint8_t chunk[3 * PARAM_W];
    size_t found = 0;

    /* What is left of the last chunk is dropped with it. */
    while (found < PARAM_W) {
        if (xof_read(xof, chunk, sizeof chunk) != 0) {
            return -1;
        }
        found = fixed_weight_collect(support, found, PARAM_W, chunk, sizeof chunk, T24, reduce);
    }
    return 0;
}

int sample_noise(uint32_t *support, size_t weight, struct xof *xof)
{
    uint8_t bytes[4 * PARAM_WE];

    if (xof_read(xof, bytes, 4 * weight) != 0) {
        return -1;
    }
    fixed_weight_distinct(support, weight, bytes, PARAM_N);
    return 0;
}

int sample_uniform(uint8_t polynomial[N_BYTES], struct xof *xof)
{
    if (xof_read(xof, polynomial, N_BYTES) != 0) {
        return -1;
    }
    bits_clear_tail(polynomial, PARAM_N);
    return 0;
}
