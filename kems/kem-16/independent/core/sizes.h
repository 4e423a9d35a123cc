/*
 * What follows from the parameters of an instance (params.h): lengths in bytes unless a name says bits.
 * Macros rather than variables, so that every work array has its exact length.
 */
#ifndef HARE_SIZES_H
#define HARE_SIZES_H

#include "bits.h"
#include "concatenated.h"
#include "gf2x.h"
#include "params.h"

/* Seeds, sigma, messages, salts and shared secrets all have k bytes. */
#define K_BYTES PARAM_K

/* A polynomial modulo X^n - 1. */
#define N_BYTES BITS_BYTES(PARAM_N)

/* Code(m), shorter than a polynomial; whole words. */
#define L1_BYTES CONCATENATED_BYTES(PARAM_N1, PARAM_MULT)
#define L1_BITS (8 * L1_BYTES)

/* The covering code that compresses v: [51,41]. Bits behind the last whole block stay as they are. */
#define BLOCK_BITS 51
#define GROUP_BITS 41
#define SYNDROME_BITS (BLOCK_BITS - GROUP_BITS)
#define BLOCKS (L1_BITS / BLOCK_BITS)
#define LEFTOVER_BITS (L1_BITS - BLOCK_BITS * BLOCKS)
#define PAYLOAD_BYTES BITS_BYTES(GROUP_BITS * BLOCKS + LEFTOVER_BITS)

/* pk = seed_ek || s; sk = pk || seed_dk || sigma || seed_kem; ct = body || salt with body = u || payload. */
#define PK_BYTES (K_BYTES + N_BYTES)
#define SK_BYTES (PK_BYTES + 3 * K_BYTES)
#define BODY_BYTES (N_BYTES + PAYLOAD_BYTES)
#define CT_BYTES (BODY_BYTES + K_BYTES)

#endif
