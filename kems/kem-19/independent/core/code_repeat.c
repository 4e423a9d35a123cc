/*
 * The repetition code of L1: message bit i at coefficients 4i to 4i + 3.
 *
 * Decoding is soft: the distances of the copies are summed before they are compared,
 * so one clear copy can outvote three doubtful ones.
 */
#include "code.h"

#include <string.h>

void lore_code_encode(uint8_t bits[LORE_BITS_BYTES], const uint8_t message[LORE_MB])
{
    memset(bits, 0, LORE_BITS_BYTES);
    for (unsigned x = 0; x < LORE_N; x++) {
        const unsigned i = x / LORE_REPEAT;

        bits[x / 8] |= (uint8_t)((message[i / 8] >> i % 8 & 1u) << x % 8);
    }
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
        if (set < clear)
            message[i / 8] |= (uint8_t)(1u << i % 8);
    }
}
