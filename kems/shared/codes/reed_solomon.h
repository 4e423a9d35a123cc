/*
 * Systematic Reed-Solomon codes over GF(256) with the roots a^1 .. a^(n1-k).
 *
 * A code word is n1 symbols, symbol i the coefficient of z^i: first the n1-k parity symbols, then the k
 * message symbols in order. Knows nothing of how the symbols travel. n1 is at most 255.
 */
#ifndef CODES_REED_SOLOMON_H
#define CODES_REED_SOLOMON_H

#include <stddef.h>
#include <stdint.h>

/* The longest code word, and so the size of the work arrays. */
#define REED_SOLOMON_MAX 255

/* Fills the n1 symbols of `word` from the k symbols of `message`. */
void reed_solomon_encode(uint8_t *word, const uint8_t *message, size_t n1, size_t k);

/*
 * Corrects `word` in place. erased[i] is 1 for a symbol known to be doubtful, else 0. Right whenever
 * 2 * errors + erasures <= n1 - k. Returns 0, or -1 with `word` unchanged when no code word is that near.
 */
int reed_solomon_decode(uint8_t *word, const uint8_t *erased, size_t n1, size_t k);

#endif
