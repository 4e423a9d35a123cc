/*
 * pke_sk: the byte form of a secret vector.
 *
 * The positions and values are listed in draw order, followed by the transform of the
 * vector, which a reader takes as it stands instead of computing it again.  A key that
 * key generation cannot have made is refused before its numbers become indices.
 */
#include "secret.h"

#include <string.h>

#include "pack.h"

static uint8_t *put_word(uint8_t *out, unsigned word)
{
    *out++ = (uint8_t)(word & 255);
    *out++ = (uint8_t)(word >> 8);
    return out;
}

static const uint8_t *get_word(const uint8_t *in, uint16_t *word)
{
    *word = (uint16_t)(in[0] | in[1] << 8);
    return in + 2;
}

void lore_encode_secret(uint8_t out[LORE_PKE_SK_BYTES], const secret_vector *s)
{
    memset(out, 0, LORE_PKE_SK_BYTES);
    for (unsigned j = 0; j < LORE_K; j++)
        out = put_word(out, s->count[j]);
    for (unsigned j = 0; j < LORE_K; j++) {
        for (unsigned e = 0; e < s->count[j]; e++)
            out = put_word(out, s->position[j][e]);
        for (unsigned e = 0; e < s->count[j]; e++)
            *out++ = (uint8_t)s->value[j][e];
    }
    lore_pack(out, s->q);
}

/* A stored value as one of +1, -1, +2, -2, or 0 for anything else. */
static int8_t value_of_byte(uint8_t byte)
{
    switch (byte) {
    case 0x01:
        return +1;
    case 0xff:
        return -1;
    case 0x02:
        return +2;
    case 0xfe:
        return -2;
    default:
        return 0;
    }
}

int lore_decode_secret(secret_vector *s, const uint8_t in[LORE_PKE_SK_BYTES])
{
    unsigned nonzeros = 0;

    for (unsigned j = 0; j < LORE_K; j++) {
        in = get_word(in, &s->count[j]);
        if (s->count[j] > LORE_N)
            return LORE_BAD_KEY;
        nonzeros += s->count[j];
    }
    if (nonzeros != LORE_NONZEROS)
        return LORE_BAD_KEY;
    for (unsigned j = 0; j < LORE_K; j++) {
        for (unsigned e = 0; e < s->count[j]; e++) {
            in = get_word(in, &s->position[j][e]);
            if (s->position[j][e] >= LORE_N)
                return LORE_BAD_KEY;
        }
        for (unsigned e = 0; e < s->count[j]; e++) {
            s->value[j][e] = value_of_byte(*in++);
            if (s->value[j][e] == 0)
                return LORE_BAD_KEY;
        }
    }
    lore_unpack(s->q, in);
    return LORE_OK;
}
