/*
 * The hash functions and byte streams of HARE. All are pseudoXOF with a domain byte in front.
 *
 * Knows nothing of polynomials. Every function returns 0, or a nonzero value when the helper failed (it
 * allocates) and the output is not to be used.
 */
#ifndef HARE_SYMMETRIC_H
#define HARE_SYMMETRIC_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

/*
 * xof(seed): one endless byte string, read in pieces without gaps. Every read is one pseudoXOF call from
 * the start of the string, as in the submission, since the helper cannot go on from where it was: that is
 * what the call counts and a good part of the time are made of.
 */
struct xof {
    uint8_t input[1 + K_BYTES];
    size_t position;
};

/*
 * No stream is read further than this. A polynomial is the longest single read; a secret support would
 * have to be refilled several times to get there, which does not happen.
 */
#define XOF_LIMIT (N_BYTES + 3 * PARAM_W)

void xof_start(struct xof *xof, const uint8_t seed[K_BYTES]);
int xof_read(struct xof *xof, uint8_t *bytes, size_t count);

/* H(pk). */
int hash_h(uint8_t h[K_BYTES], const uint8_t pk[PK_BYTES]);

/* I(seed) = seed_dk || seed_ek. */
int hash_i(uint8_t seed_dk[K_BYTES], uint8_t seed_ek[K_BYTES], const uint8_t seed[K_BYTES]);

/* G(h, m, salt) = key || theta. */
int hash_g(uint8_t key[K_BYTES], uint8_t theta[K_BYTES], const uint8_t h[K_BYTES], const uint8_t m[K_BYTES],
           const uint8_t salt[K_BYTES]);

/* J(h, sigma, ct), the secret of a ciphertext that does not open. */
int hash_j(uint8_t key[K_BYTES], const uint8_t h[K_BYTES], const uint8_t sigma[K_BYTES],
           const uint8_t ct[CT_BYTES]);

#endif
