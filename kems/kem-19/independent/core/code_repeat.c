/*
 * The repetition code of L1: message bit i at coefficients 4i to 4i + 3.
 *
 * Decoding is soft: the distances of the copies are summed before they are compared,
 * so one clear copy can outvote three doubtful ones.
 */
#include "code.h"

#include <string.h>

#include "bits.h"

void lore_code_encode(uint8_t bits[LORE_BITS_BYTES], const uint8_t message[LORE_MB])
{
    memset(bits, 0, LORE_BITS_BYTES);
    for (unsigned x = 0; x < LORE_N; x++)
        flip_bit(bits, x, bit_at(message, x / LORE_REPEAT));
}

void lore_code_decode(uint8_t message[LORE_MB], const uint16_t d0[LORE_N],
                      const uint16_t d1[LORE_N])
{
    memset(message, 0, LORE_MB);
    for (unsigned i = 0; i < 8 * LORE_MB; i++) {
        unsigned clear = 0;
        unsigned set = 0;

        for (unsigned copy = 0; copy < LORE_REPEAT; copy++) {
            clear += d0[LORE_REPEAT * i + copy];
            set += d1[LORE_REPEAT * i + copy];
        }
        flip_bit(message, i, set < clear);
    }
}
