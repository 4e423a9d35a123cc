/* Bit strings in bytes; bits.h says in which order. */
#include "bits.h"

uint64_t bits_get(const uint8_t *bytes, size_t first, unsigned count)
{
    uint64_t value = 0;
    unsigned done = 0;

    while (done < count) {
        size_t at = first + done;
        unsigned offset = (unsigned)(at % 8);
        unsigned take = 8 - offset < count - done ? 8 - offset : count - done;
        unsigned part = (bytes[at / 8] >> offset) & ((1u << take) - 1);

        value |= (uint64_t)part << done;
        done += take;
    }
    return value;
}

void bits_add(uint8_t *bytes, size_t first, unsigned count, uint64_t value)
{
    unsigned done = 0;

    while (done < count) {
        size_t at = first + done;
        unsigned offset = (unsigned)(at % 8);
        unsigned take = 8 - offset < count - done ? 8 - offset : count - done;
        unsigned part = (unsigned)(value >> done) & ((1u << take) - 1);

        bytes[at / 8] = (uint8_t)(bytes[at / 8] ^ (part << offset));
        done += take;
    }
}

void bits_clear_tail(uint8_t *bytes, size_t bits)
{
    if (bits % 8 != 0) {
        bytes[bits / 8] = (uint8_t)(bytes[bits / 8] & ((1u << (bits % 8)) - 1));
    }
}

uint64_t bits_load64(const uint8_t *bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

void bits_store64(uint8_t *bytes, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
}

void bytes_add(uint8_t *to, const uint8_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        to[i] ^= from[i];
    }
}

unsigned bytes_differ(const uint8_t *a, const uint8_t *b, size_t count)
{
    unsigned seen = 0;

    for (size_t i = 0; i < count; i++) {
        seen |= (unsigned)(a[i] ^ b[i]);
    }
    return (seen + 255u) >> 8;
}

void bytes_choose(uint8_t *to, const uint8_t *from, size_t count, unsigned choose)
{
    uint8_t mask = (uint8_t)(0u - choose);

    for (size_t i = 0; i < count; i++) {
        to[i] = (uint8_t)((to[i] & ~mask) | (from[i] & mask));
    }
}
