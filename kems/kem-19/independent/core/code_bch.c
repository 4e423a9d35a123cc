/*
 * The code of L2 to L4: the message followed by the parity of a BCH code, one bit a
 * coefficient.
 *
 * Decoding is hard: each coefficient votes for the nearer bit, and bch.c repairs the
 * word.  This file knows the generator, bch.c the field.
 */
#include "code.h"

#include <string.h>

#include "bch.h"
#include "bits.h"

static const uint64_t generator[LORE_BCH_WORDS] = LORE_BCH_GENERATOR;

/* remainder = (remainder + bit) / X mod g.  g has the constant term 1, so adding it, when
 * the sum has one, is what makes the division by X exact. */
static void divide_by_x(uint64_t remainder[LORE_BCH_WORDS], unsigned bit)
{
    const uint64_t add = 0 - ((remainder[0] ^ bit) & 1);

    remainder[0] ^= bit;
    for (unsigned w = 0; w < LORE_BCH_WORDS; w++)
        remainder[w] ^= generator[w] & add;
    for (unsigned w = 0; w + 1 < LORE_BCH_WORDS; w++)
        remainder[w] = remainder[w] >> 1 | remainder[w + 1] << 63;
    remainder[LORE_BCH_WORDS - 1] >>= 1;
}

/* parity(X) = message(X) * X^(-8*mb) mod g(X). */
void lore_code_encode(uint8_t bits[LORE_BITS_BYTES], const uint8_t message[LORE_MB])
{
    uint64_t parity[LORE_BCH_WORDS] = { 0 };

    for (unsigned i = 0; i < 8 * LORE_MB; i++)
        divide_by_x(parity, bit_at(message, i));
    memcpy(bits, message, LORE_MB);
    for (unsigned i = 0; i < LORE_BCH_STORED; i++)
        bits[LORE_MB + i] = (uint8_t)(parity[i / 8] >> 8 * (i % 8));
}

void lore_code_decode(uint8_t message[LORE_MB], const uint16_t d0[LORE_N],
                      const uint16_t d1[LORE_N])
{
    uint8_t word[LORE_BITS_BYTES] = { 0 };

    for (unsigned x = 0; x < LORE_N; x++)
        flip_bit(word, x, d1[x] < d0[x]);
    if (lore_bch_correct(word) < 0)
        memset(message, 0, LORE_MB);
    else
        memcpy(message, word, LORE_MB);
}
