/* Bit strings: bit i is bit i mod 8 of byte i/8, the low one first. */
#ifndef LORE_BITS_H
#define LORE_BITS_H

#include <stddef.h>
#include <stdint.h>

static inline unsigned bit_at(const uint8_t *bits, size_t i)
{
    return (unsigned)bits[i / 8] >> i % 8 & 1;
}

/* Adds `bit` to bit i, modulo 2. */
static inline void flip_bit(uint8_t *bits, size_t i, unsigned bit)
{
    bits[i / 8] ^= (uint8_t)(bit << i % 8);
}

#endif
