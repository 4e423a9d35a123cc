/*
 * The ring F2[X]/(X^n - 1). A polynomial is BITS_BYTES(n) bytes, coefficient i at bit i (bits.h), with
 * zeros beyond coefficient n-1; or, when it has few terms, its support: the list of their exponents.
 *
 * Knows nothing of how supports are chosen. Products are sparse times dense only, the one kind the
 * schemes need: a few hundred shifted copies of the dense factor, 64 coefficients at a step, are much
 * cheaper than the hashing around them, so no faster multiplication is worth its code. Which words are
 * read depends on the support, so this is not constant-time with respect to the cache.
 */
#ifndef CODES_GF2X_H
#define CODES_GF2X_H

#include <stddef.h>
#include <stdint.h>

/* Words of work space for a product modulo X^n - 1: the dense factor twice in a row, and the result. */
#define GF2X_WORDS(n) (((n) + 63) / 64)
#define GF2X_WORK_WORDS(n) (GF2X_WORDS(2 * (n)) + 1 + GF2X_WORDS(n))

/*
 * product = dense * sum of X^support[i]. Entries of the support that are n or more stand for no term;
 * bits of `dense` beyond coefficient n-1 are ignored. `work` has GF2X_WORK_WORDS(n) words of any value.
 */
void gf2x_mul_sparse(uint8_t *product, const uint8_t *dense, const uint32_t *support, size_t weight,
                     uint32_t n, uint64_t *work);

/* poly += sum of X^support[i]; entries that are n or more stand for no term. */
void gf2x_add_support(uint8_t *poly, const uint32_t *support, size_t weight, uint32_t n);

#endif
