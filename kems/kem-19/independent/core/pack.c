/*
 * Byte forms of polynomials.
 *
 * A coefficient in [0, 256] takes one byte: 256 and 255 share the byte 255 and are told
 * apart by an overflow bit after all bytes.  The size therefore depends on the values,
 * and a reader finds the end by counting; a format keeps room for the worst case and
 * fills with zeros.  Padding bits are ignored here: the comparison of re-encrypted
 * ciphertexts is what rejects other values of them.
 */
#include "pack.h"

#include "bits.h"

size_t lore_pack(uint8_t *out, const poly_q v[LORE_K])
{
    uint8_t *const overflow = out + LORE_K * LORE_N;
    size_t o = 0;

    for (unsigned j = 0; j < LORE_K; j++) {
        for (unsigned x = 0; x < LORE_N; x++) {
            const unsigned c = v[j].c[x];

            *out++ = (uint8_t)(c < 255 ? c : 255);
            if (c >= 255)
                flip_bit(overflow, o++, c - 255);
        }
    }
    return LORE_K * LORE_N + (o + 7) / 8;
}

size_t lore_unpack(poly_q v[LORE_K], const uint8_t *in)
{
    const uint8_t *const overflow = in + LORE_K * LORE_N;
    size_t o = 0;

    for (unsigned j = 0; j < LORE_K; j++) {
        for (unsigned x = 0; x < LORE_N; x++) {
            unsigned c = *in++;

            if (c == 255)
                c += bit_at(overflow, o++);
            v[j].c[x] = (uint16_t)c;
        }
    }
    return LORE_K * LORE_N + (o + 7) / 8;
}

size_t lore_pack_bits(uint8_t *out, const uint8_t entry[LORE_N], unsigned bits)
{
    for (unsigned x = 0; x < LORE_N; x++)
        out[x * bits / 8] |= (uint8_t)(entry[x] << x * bits % 8);
    return (size_t)bits * LORE_BITS_BYTES;
}

size_t lore_unpack_bits(uint8_t entry[LORE_N], const uint8_t *in, unsigned bits)
{
    for (unsigned x = 0; x < LORE_N; x++)
        entry[x] = (uint8_t)((unsigned)in[x * bits / 8] >> x * bits % 8 & ((1u << bits) - 1));
    return (size_t)bits * LORE_BITS_BYTES;
}
