/*
 * The symmetric functions under the description's names.  The SHAKE family implements
 * them in symmetric_shake.c over its own Keccak, the SM3 family in symmetric_sm3.c over
 * the official helpers; an instance links one of the two.
 *
 * All return a status, because the official helpers can fail.
 */
#ifndef LORE_SYMMETRIC_H
#define LORE_SYMMETRIC_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

#ifdef LORE_FAMILY_SHAKE
#include "keccak.h"
#endif

/* H: a public key, a ciphertext or a message to 32 bytes. */
int lore_H(uint8_t out[32], const uint8_t *in, size_t length);

/* G: H(m) || H(pk) to Kb || r. */
int lore_G(uint8_t out[64], const uint8_t in[64]);

/* KDF: Kb || H(ct) or z || H(ct) to a shared secret. */
int lore_KDF(uint8_t out[32], const uint8_t in[64]);

/* Hgen: the first half of the coins to seedA || seedS. */
int lore_Hgen(uint8_t out[64], const uint8_t in[32]);

/* PRF(key, nonce, length). */
int lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce);

/* The matrix stream (a, b) comes as 840 bytes, then 168 at a time into the same buffer. */
#define LORE_STREAM_FIRST 840
#define LORE_STREAM_NEXT 168

#ifdef LORE_FAMILY_SHAKE
typedef shake_state matrix_stream;
#else
typedef struct {
    uint8_t message[1 + LORE_SEED_BYTES + 2];
    size_t length; /* bytes of the stream handed out so far */
} matrix_stream;
#endif

int lore_stream_first(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST],
                      const uint8_t seed_a[LORE_SEED_BYTES], uint8_t a, uint8_t b);

/* Overwrites the first LORE_STREAM_NEXT bytes of buf. */
int lore_stream_next(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST]);

#endif
