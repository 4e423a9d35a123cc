/* RM(1,7): encoding by masks, maximum-likelihood decoding by the Walsh-Hadamard transform. */
#include "reed_muller.h"

#include <string.h>

#include "bits.h"

/* Bit p of WORD_OF_BIT[t] is bit t of p, for p below 64. */
static const uint64_t WORD_OF_BIT[6] = {
    UINT64_C(0xAAAAAAAAAAAAAAAA), UINT64_C(0xCCCCCCCCCCCCCCCC), UINT64_C(0xF0F0F0F0F0F0F0F0),
    UINT64_C(0xFF00FF00FF00FF00), UINT64_C(0xFFFF0000FFFF0000), UINT64_C(0xFFFFFFFF00000000),
};

/* All ones when bit t of the symbol is set, else 0. */
static uint64_t mask_of(uint8_t symbol, unsigned t)
{
    return (uint64_t)0 - (uint64_t)((symbol >> t) & 1u);
}

void reed_muller_encode(uint8_t *block, uint8_t symbol, size_t mult)
{
    uint64_t low = mask_of(symbol, 7);
    uint64_t high;

    for (unsigned t = 0; t < 6; t++) {
        low ^= mask_of(symbol, t) & WORD_OF_BIT[t];
    }
    high = low ^ mask_of(symbol, 6);

    for (size_t copy = 0; copy < mult; copy++) {
        bits_store64(block + REED_MULLER_BYTES * copy, low);
        bits_store64(block + REED_MULLER_BYTES * copy + 8, high);
    }
}

/* T[f] = sum over p of (-1)^(popcount(p AND f)) F[p], in place. */
static void walsh_hadamard(int *values)
{
    for (size_t half = 1; half < REED_MULLER_BITS; half *= 2) {
        for (size_t start = 0; start < REED_MULLER_BITS; start += 2 * half) {
            for (size_t i = start; i < start + half; i++) {
                int sum = values[i] + values[i + half];
                int difference = values[i] - values[i + half];

                values[i] = sum;
                values[i + half] = difference;
            }
        }
    }
}

/* F[p] = number of ones at position p over the copies. */
static void count_ones(int *counts, const uint8_t *block, size_t mult)
{
    memset(counts, 0, REED_MULLER_BITS * sizeof counts[0]);
    for (size_t copy = 0; copy < mult; copy++) {
        for (size_t p = 0; p < REED_MULLER_BITS; p++) {
            counts[p] += (block[REED_MULLER_BYTES * copy + p / 8] >> (p % 8)) & 1;
        }
    }
}

uint8_t reed_muller_decode(const uint8_t *block, size_t mult, int *margin)
{
    int transform[REED_MULLER_BITS];
    int best = -1;
    int second = -1;
    unsigned best_at = 0;

    count_ones(transform, block, mult);
    walsh_hadamard(transform);
    /* A count of m stands for m ones and mult - m minus-ones; only T[0] sees the difference. */
    transform[0] -= (int)(64 * mult);

    for (unsigned f = 0; f < REED_MULLER_BITS; f++) {
        int size = transform[f] < 0 ? -transform[f] : transform[f];

        if (size > best) {
            second = best;
            best = size;
            best_at = f;
        } else if (size > second) {
            second = size;
        }
    }
    *margin = best - second;
    /* More ones than expected where c0 p0 + ... is 0: the whole word is inverted, c7 is set. */
    return (uint8_t)(best_at + (transform[best_at] > 0 ? 128u : 0u));
}
