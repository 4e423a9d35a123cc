/*
 * The symmetric functions of the SHAKE family: FIPS 202 throughout, no domain bytes,
 * and a matrix stream that resumes where it stopped.
 *
 * Nothing here can fail; the statuses are the SM3 family's.
 */
#include "symmetric.h"

#include <string.h>

int lore_H(uint8_t out[32], const uint8_t *in, size_t length)
{
    sha3_256(out, in, length);
    return LORE_OK;
}

int lore_G(uint8_t out[64], const uint8_t in[64])
{
    shake256(out, 64, in, 64);
    return LORE_OK;
}

int lore_KDF(uint8_t out[32], const uint8_t in[64])
{
    shake256(out, 32, in, 64);
    return LORE_OK;
}

int lore_Hgen(uint8_t out[64], const uint8_t in[32])
{
    shake256(out, 64, in, 32);
    return LORE_OK;
}

int lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce)
{
    uint8_t message[LORE_SEED_BYTES + 1];

    memcpy(message, key, LORE_SEED_BYTES);
    message[LORE_SEED_BYTES] = nonce;
    shake256(out, length, message, sizeof message);
    return LORE_OK;
}

int lore_stream_first(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST],
                      const uint8_t seed_a[LORE_SEED_BYTES], uint8_t a, uint8_t b)
{
    uint8_t message[LORE_SEED_BYTES + 2];

    memcpy(message, seed_a, LORE_SEED_BYTES);
    message[LORE_SEED_BYTES] = a;
    message[LORE_SEED_BYTES + 1] = b;
    shake128_absorb(s, message, sizeof message);
    shake_squeeze(s, buf, LORE_STREAM_FIRST);
    return LORE_OK;
}

int lore_stream_next(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST])
{
    shake_squeeze(s, buf, LORE_STREAM_NEXT);
    return LORE_OK;
}
