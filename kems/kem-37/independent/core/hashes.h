/*
 * The hash functions of TriQ-KEM: which official helper each one uses depends on the length it yields.
 *
 * Knows nothing of polynomials. Every function returns 0, or a nonzero value when the helper failed (it
 * allocates) and the output is not to be used.
 */
#ifndef TRIQ_HASHES_H
#define TRIQ_HASHES_H

#include <stdint.h>

#include "sizes.h"

/* H(pk). */
int hash_h(uint8_t h[K_BYTES], const uint8_t pk[PK_BYTES]);

/* I(seed) = seed_dk || seed_ek. */
int hash_i(uint8_t seed_dk[K_BYTES], uint8_t seed_ek[K_BYTES], const uint8_t seed[K_BYTES]);

/* G(h, m, salt) = key || theta. */
int hash_g(uint8_t key[K_BYTES], uint8_t theta[K_BYTES], const uint8_t h[K_BYTES], const uint8_t m[K_BYTES],
           const uint8_t salt[SALT_BYTES]);

/* J(h, sigma, ct), the secret of a ciphertext that does not open. */
int hash_j(uint8_t key[K_BYTES], const uint8_t h[K_BYTES], const uint8_t sigma[K_BYTES],
           const uint8_t ct[CT_BYTES]);

#endif
