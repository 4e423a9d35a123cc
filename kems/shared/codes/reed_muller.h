/*
 * The first-order Reed-Muller code RM(1,7), each code word written several times in a row.
 *
 * A symbol c (bits c0..c7) becomes 128 bits: bit p is c7 + c0 p0 + ... + c6 p6, where p0..p6 are the bits
 * of p. `mult` copies make a block of 128*mult bits. Knows nothing of the outer code; whether a doubtful
 * symbol is an erasure is for the caller, who gets the margin by which the symbol won.
 */
#ifndef CODES_REED_MULLER_H
#define CODES_REED_MULLER_H

#include <stddef.h>
#include <stdint.h>

/* Bits and bytes of one code word. */
#define REED_MULLER_BITS 128
#define REED_MULLER_BYTES 16

/* Writes the block of 16*mult bytes of a symbol. */
void reed_muller_encode(uint8_t *block, uint8_t symbol, size_t mult);

/*
 * The most likely symbol of a block; among equally likely ones that with the smallest low seven bits.
 * *margin is how far its correlation is above the next best one, 0 when they are equal.
 */
uint8_t reed_muller_decode(const uint8_t *block, size_t mult, int *margin);

#endif
