/*
 * Bit strings in bytes: bit i is bit (i mod 8) of byte i/8, bit 0 the least significant.
 *
 * Knows nothing of polynomials or codes. Byte by byte rather than by machine word, so that no read or
 * write leaves the bytes that hold the bits asked for, on any byte order.
 */
#ifndef CODES_BITS_H
#define CODES_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that hold `bits` bits; an expression, so that it can size arrays. */
#define BITS_BYTES(bits) (((bits) + 7) / 8)

/* The `count` (at most 64) bits from bit `first` on, the first one lowest. */
uint64_t bits_get(const uint8_t *bytes, size_t first, unsigned count);

/* Adds (XOR) the low `count` bits of `value` to the bits from bit `first` on. */
void bits_add(uint8_t *bytes, size_t first, unsigned count, uint64_t value);

/* Clears what the last byte holds beyond the first `bits` bits. */
void bits_clear_tail(uint8_t *bytes, size_t bits);

/* 64 bits from or to 8 bytes, first bit lowest. */
uint64_t bits_load64(const uint8_t *bytes);
void bits_store64(uint8_t *bytes, uint64_t value);

/* to += from, over `count` bytes. */
void bytes_add(uint8_t *to, const uint8_t *from, size_t count);

/* 1 when the two byte strings differ, else 0; takes the same time either way. */
unsigned bytes_differ(const uint8_t *a, const uint8_t *b, size_t count);

/* to = from when `choose` is 1, unchanged when it is 0; takes the same time either way. */
void bytes_choose(uint8_t *to, const uint8_t *from, size_t count, unsigned choose);

#endif
