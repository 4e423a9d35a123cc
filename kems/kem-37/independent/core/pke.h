/*
 * TriQ-KEM's public-key encryption: HQC's, with r1 and r2 from the bounded sampler.
 *
 * Deterministic; all randomness comes in as seeds. Knows nothing of shared secrets or of whether a
 * ciphertext is honest. Every function returns 0, or nonzero when a hash helper failed.
 */
#ifndef TRIQ_PKE_H
#define TRIQ_PKE_H

#include <stdint.h>

#include "sizes.h"

/* ek = seed_ek || s, which is the public key of the KEM. The decryption key is seed_dk. */
int pke_keygen(uint8_t ek[PK_BYTES], uint8_t seed_dk[K_BYTES], const uint8_t seed[K_BYTES]);

int pke_encrypt(uint8_t u[N_BYTES], uint8_t v[N12_BYTES], const uint8_t ek[PK_BYTES],
                const uint8_t m[K_BYTES], const uint8_t theta[K_BYTES]);

int pke_decrypt(uint8_t m[K_BYTES], const uint8_t seed_dk[K_BYTES], const uint8_t u[N_BYTES],
                const uint8_t v[N12_BYTES]);

#endif
