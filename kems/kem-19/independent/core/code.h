/*
 * The code that carries a message on the n coefficients of a polynomial.  L1 repeats
 * each bit (code_repeat.c); L2 to L4 use a BCH code (code_bch.c).
 */
#ifndef LORE_CODE_H
#define LORE_CODE_H

#include <stdint.h>

#include "sizes.h"

/* The n bits a message becomes. */
void lore_code_encode(uint8_t bits[LORE_BITS_BYTES], const uint8_t message[LORE_MB]);

/* The message nearest to the received coefficients, of which d0[x] and d1[x] are the
 * distances from a clear and from a set bit.  A word beyond repair gives all zeros. */
void lore_code_decode(uint8_t message[LORE_MB], const uint16_t d0[LORE_N],
                      const uint16_t d1[LORE_N]);

#endif
