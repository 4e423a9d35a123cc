/*
 * A secret vector s: k sparse polynomials with values +1, -1, +2, -2.
 *
 * The draw order of the values is part of the type, because a stored secret key lists
 * them in that order; counts vary from polynomial to polynomial.
 */
#ifndef LORE_SECRET_H
#define LORE_SECRET_H

#include "ring.h"

typedef struct {
    uint16_t count[LORE_K];            /* nonzeros of each polynomial */
    uint16_t position[LORE_K][LORE_N]; /* their places, below n */
    int8_t value[LORE_K][LORE_N];      /* their values, in the same order */
    poly_q q[LORE_K];                  /* the transform of each polynomial */
} secret_vector;

/* Draws the secret of (seed, nonce); see sampler.c. */
int lore_sample_secret(secret_vector *s, const uint8_t seed[LORE_SEED_BYTES], uint8_t nonce);

/* Writes and reads pke_sk; see secretkey.c. */
void lore_encode_secret(uint8_t out[LORE_PKE_SK_BYTES], const secret_vector *s);
int lore_decode_secret(secret_vector *s, const uint8_t in[LORE_PKE_SK_BYTES]);

#endif
