/*
 * HARE's samplers: what is drawn from a byte stream. Each starts with the next byte of the stream.
 *
 * Knows nothing of what the values are for. Every function returns 0, or nonzero when the stream failed.
 */
#ifndef HARE_SAMPLING_H
#define HARE_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include "symmetric.h"

/* Sampler 1: a support of weight w by rejection, for y and x. */
int sample_secret(uint32_t support[PARAM_W], struct xof *xof);

/* Sampler 2: a support of any weight up to we without rejection, for r2, e and r1. */
int sample_noise(uint32_t *support, size_t weight, struct xof *xof);

/* A polynomial with uniform coefficients, for h. */
int sample_uniform(uint8_t polynomial[N_BYTES], struct xof *xof);

#endif
