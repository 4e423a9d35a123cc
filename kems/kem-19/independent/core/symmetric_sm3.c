/*
 * The symmetric functions of the SM3 family, over the official sm3hash and pseudoXOF.
 *
 * The helpers count in bits; everything here is whole bytes.  pseudoXOF cannot resume,
 * so each refill of the matrix stream asks for the stream from its start and keeps the
 * tail.  An expander of our own would be faster, but this one makes the calls the
 * published figures count.
 */
#include "symmetric.h"

#include <string.h>

#include "auxfunc.h"

/* Domain bytes in front of the message. */
#define MATRIX_DOMAIN 0x11
#define SECRET_DOMAIN 0x12

/* Refills an entry may take.  Two (n = 512) or five (n = 768) are the rule, and one more
 * needs 72 words of 65535 among 840. */
#define REFILLS_MAX 8

static int XOF(uint8_t *out, size_t length, const uint8_t *message, size_t message_length)
{
    return pseudoXOF(8ULL * length, message, 8ULL * message_length, out) == 0 ? LORE_OK
                                                                              : LORE_NO_HASH;
}

int lore_H(uint8_t out[32], const uint8_t *in, size_t length)
{
    return sm3hash(256, in, 8ULL * length, out) == 0 ? LORE_OK : LORE_NO_HASH;
}

int lore_G(uint8_t out[64], const uint8_t in[64])
{
    return XOF(out, 64, in, 64);
}

int lore_KDF(uint8_t out[32], const uint8_t in[64])
{
    return XOF(out, 32, in, 64);
}

int lore_Hgen(uint8_t out[64], const uint8_t in[32])
{
    uint8_t message[1 + 32];

    message[0] = SECRET_DOMAIN;
    memcpy(message + 1, in, 32);
    return XOF(out, 64, message, sizeof message);
}

int lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce)
{
    uint8_t message[1 + LORE_SEED_BYTES + 1];

    message[0] = SECRET_DOMAIN;
    memcpy(message + 1, key, LORE_SEED_BYTES);
    message[1 + LORE_SEED_BYTES] = nonce;
    return XOF(out, length, message, sizeof message);
}

int lore_stream_first(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST],
                      const uint8_t seed_a[LORE_SEED_BYTES], uint8_t a, uint8_t b)
{
    s->message[0] = MATRIX_DOMAIN;
    memcpy(s->message + 1, seed_a, LORE_SEED_BYTES);
    s->message[1 + LORE_SEED_BYTES] = a;
    s->message[2 + LORE_SEED_BYTES] = b;
    s->length = LORE_STREAM_FIRST;
    return XOF(buf, s->length, s->message, sizeof s->message);
}

int lore_stream_next(matrix_stream *s, uint8_t buf[LORE_STREAM_FIRST])
{
    uint8_t whole[LORE_STREAM_FIRST + REFILLS_MAX * LORE_STREAM_NEXT];
    const size_t before = s->length;
    int status;

    if (before == sizeof whole)
        return LORE_NO_HASH;
    s->length += LORE_STREAM_NEXT;
    status = XOF(whole, s->length, s->message, sizeof s->message);
    if (status == LORE_OK)
        memcpy(buf, whole + before, LORE_STREAM_NEXT);
    return status;
}
