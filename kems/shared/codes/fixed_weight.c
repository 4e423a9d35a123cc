/* The two samplers of fixed weight; fixed_weight.h says what they promise. */
#include "fixed_weight.h"

/* 1 when `value` is among the `count` entries. */
static int holds(const uint32_t *entries, size_t count, uint32_t value)
{
    for (size_t i = 0; i < count; i++) {
        if (entries[i] == value) {
            return 1;
        }
    }
    return 0;
}

size_t fixed_weight_collect(uint32_t *support, size_t found, size_t weight, const uint8_t *chunk,
                            size_t chunk_bytes, uint32_t bound, uint32_t (*reduce)(uint32_t))
{
    for (size_t at = 0; at + 3 <= chunk_bytes && found < weight; at += 3) {
        uint32_t candidate =
            ((uint32_t)chunk[at] << 16) | ((uint32_t)chunk[at + 1] << 8) | chunk[at + 2];

        if (candidate < bound) {
            uint32_t exponent = reduce(candidate);

            if (!holds(support, found, exponent)) {
                support[found++] = exponent;
            }
        }
    }
    return found;
}

void fixed_weight_distinct(uint32_t *support, size_t weight, const uint8_t *bytes, uint32_t n)
{
    for (size_t i = 0; i < weight; i++) {
        const uint8_t *word = bytes + 4 * i;
        uint64_t random = (uint64_t)word[0] | ((uint64_t)word[1] << 8) | ((uint64_t)word[2] << 16) |
                          ((uint64_t)word[3] << 24);

        support[i] = (uint32_t)(i + ((random * (n - i)) >> 32));
    }
    /* From the end, so that the entries compared with are final: the other order can leave equal ones. */
    for (size_t i = weight; i-- > 0;) {
        if (holds(support + i + 1, weight - i - 1, support[i])) {
            support[i] = (uint32_t)i;
        }
    }
}
