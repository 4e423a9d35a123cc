/*
 * Products in F2[X]/(X^n - 1). With the dense factor written twice in a row, bit n - p + i of that string
 * is coefficient i of X^p times the factor: each term of the sparse factor adds one window of n bits, and
 * nothing is left to reduce.
 */
#include "gf2x.h"

#include <string.h>

#include "bits.h"

/* Fills `words` with the n bits of `dense`, then zeros up to `count` words. */
static void load(uint64_t *words, size_t count, const uint8_t *dense, uint32_t n)
{
    size_t whole = n / 64;

    memset(words, 0, count * sizeof words[0]);
    for (size_t i = 0; i < whole; i++) {
        words[i] = bits_load64(dense + 8 * i);
    }
    if (n % 64 != 0) {
        words[whole] = bits_get(dense, 64 * whole, n % 64);
    }
}

/* Writes the n bits of `words` to `poly`, and zeros up to the byte end. */
static void store(uint8_t *poly, const uint64_t *words, uint32_t n)
{
    size_t whole = n / 64;
    uint64_t last = n % 64 != 0 ? words[whole] : 0;

    for (size_t i = 0; i < whole; i++) {
        bits_store64(poly + 8 * i, words[i]);
    }
    for (size_t i = 8 * whole; i < BITS_BYTES(n); i++) {
        poly[i] = (uint8_t)last;
        last >>= 8;
    }
    bits_clear_tail(poly, n);
}

/* Repeats the n bits of `words` at bit n; the words behind the first n bits are zero on entry. */
static void repeat(uint64_t *words, uint32_t n)
{
    size_t to = n / 64;
    unsigned shift = n % 64;

    /* Words at `to` and beyond are written while lower ones are read, so go from the top down. */
    for (size_t i = GF2X_WORDS(n); i-- > 0;) {
        uint64_t word = words[i];

        if (shift != 0) {
            words[to + i + 1] ^= word >> (64 - shift);
        }
        words[to + i] ^= word << shift;
    }
}

/* sum += the bits of `words` from bit `first` on, `count` words of them. */
static void add_window(uint64_t *sum, const uint64_t *words, size_t first, size_t count)
{
    const uint64_t *from = words + first / 64;
    unsigned shift = (unsigned)(first % 64);

    for (size_t i = 0; i < count; i++) {
        /* Two shifts, since one by 64 is not defined. */
        sum[i] ^= (from[i] >> shift) | ((from[i + 1] << 1) << (63 - shift));
    }
}

void gf2x_mul_sparse(uint8_t *product, const uint8_t *dense, const uint32_t *support, size_t weight,
                     uint32_t n, uint64_t *work)
{
    size_t count = GF2X_WORDS((size_t)n);
    size_t doubled_count = GF2X_WORDS(2 * (size_t)n) + 1;
    uint64_t *doubled = work;
    uint64_t *sum = work + doubled_count;

    load(doubled, doubled_count, dense, n);
    repeat(doubled, n);
    memset(sum, 0, count * sizeof sum[0]);
    for (size_t i = 0; i < weight; i++) {
        if (support[i] < n) {
            add_window(sum, doubled, n - support[i], count);
        }
    }
    store(product, sum, n);
}

void gf2x_add_support(uint8_t *poly, const uint32_t *support, size_t weight, uint32_t n)
{
    for (size_t i = 0; i < weight; i++) {
        if (support[i] < n) {
            bits_add(poly, support[i], 1, 1);
        }
    }
}
