/*
 * What follows from the parameters of an instance (params.h): lengths in bytes unless a name says bits.
 * Macros rather than variables, so that every work array has its exact length.
 */
#ifndef TRIQ_SIZES_H
#define TRIQ_SIZES_H

#include "bits.h"
#include "concatenated.h"
#include "gf2x.h"
#include "params.h"

/* Seeds, sigma, messages and shared secrets have k bytes, the salt of a ciphertext has its own length. */
#define K_BYTES PARAM_K
#define SALT_BYTES 32

/* u, h and s: polynomials modulo X^n - 1. */
#define N_BYTES BITS_BYTES(PARAM_N)

/* v and Code(m), shorter than a polynomial; whole words. */
#define N12_BYTES CONCATENATED_BYTES(PARAM_N1, PARAM_MULT)

/* pk = seed_ek || s; sk = pk || seed_dk || sigma || seed_kem; ct = body || salt with body = u || v. */
#define PK_BYTES (K_BYTES + N_BYTES)
#define SK_BYTES (PK_BYTES + 3 * K_BYTES)
#define BODY_BYTES (N_BYTES + N12_BYTES)
#define CT_BYTES (BODY_BYTES + SALT_BYTES)

#endif
