/*
 * The field GF(256) = F2[z] / (z^8 + z^4 + z^3 + z^2 + 1), hexadecimal 11D, with the primitive element
 * a = 2. Addition is XOR and has no function.
 *
 * Knows nothing of codes. Without logarithm tables: symbols are secret while a ciphertext is opened, and
 * a table look-up would show them to the cache; a few thousand products cost far less than the hashing.
 */
#ifndef CODES_GF256_H
#define CODES_GF256_H

#include <stdint.h>

uint8_t gf256_mul(uint8_t x, uint8_t y);

/* 1/x; 0 for x = 0. */
uint8_t gf256_inverse(uint8_t x);

/* a^exponent. */
uint8_t gf256_alpha(unsigned exponent);

#endif
