/* The BCH decoder; see bch.c. */
#ifndef LORE_BCH_H
#define LORE_BCH_H

#include <stdint.h>

#include "sizes.h"

/* Positions of the code word: message bits, then the parity bits below deg g. */
#define LORE_BCH_LENGTH (8 * LORE_MB + LORE_BCH_DEGREE)

/* Corrects up to T errors of a word in place and returns their number, or returns -1 and
 * leaves the word alone.  Bits from LORE_BCH_LENGTH on are neither read nor changed. */
int lore_bch_correct(uint8_t word[LORE_BITS_BYTES]);

#endif
