/*
 * Reed-Solomon encoding by polynomial division and errors-and-erasures decoding: syndromes,
 * Berlekamp-Massey that starts from the erasure locator, search for its roots, Forney's formula.
 *
 * The generator polynomial is computed at each call: it costs as much as one encoding and saves a table
 * for every parameter set. Decoding takes a time that depends on the number of errors.
 */
#include "reed_solomon.h"

#include <string.h>

#include "gf256.h"

/* Value of the polynomial with `count` coefficients, low degree first, at x. */
static uint8_t evaluate(const uint8_t *coefficients, size_t count, uint8_t x)
{
    uint8_t value = 0;

    while (count > 0) {
        count--;
        value = (uint8_t)(gf256_mul(value, x) ^ coefficients[count]);
    }
    return value;
}

/* The monic g(z) = (z + a^1) ... (z + a^degree), without its leading 1. */
static void generator(uint8_t *g, size_t degree)
{
    uint8_t root = 1;

    memset(g, 0, degree);
    for (size_t i = 0; i < degree; i++) {
        /* g of degree i, with its leading 1 put at g[i], times (z + root). */
        uint8_t below = 0;

        root = gf256_mul(root, 2);
        g[i] = 1;
        for (size_t j = 0; j <= i; j++) {
            uint8_t coefficient = g[j];

            g[j] = (uint8_t)(gf256_mul(coefficient, root) ^ below);
            below = coefficient;
        }
    }
}

void reed_solomon_encode(uint8_t *word, const uint8_t *message, size_t n1, size_t k)
{
    size_t d = n1 - k;
    uint8_t g[REED_SOLOMON_MAX];

    generator(g, d);
    memset(word, 0, d);
    memcpy(word + d, message, k);

    /* word[0..d-1] is the remainder of the message symbols seen so far, highest first. */
    for (size_t i = k; i-- > 0;) {
        uint8_t factor = (uint8_t)(message[i] ^ word[d - 1]);

        for (size_t j = d - 1; j > 0; j--) {
            word[j] = (uint8_t)(word[j - 1] ^ gf256_mul(factor, g[j]));
        }
        word[0] = gf256_mul(factor, g[0]);
    }
}

/* S_i = word(a^i) at syndromes[i - 1], i = 1..d; returns 0 when all are 0. */
static int find_syndromes(uint8_t *syndromes, const uint8_t *word, size_t n1, size_t d)
{
    uint8_t seen = 0;
    uint8_t root = 1;

    for (size_t i = 0; i < d; i++) {
        root = gf256_mul(root, 2);
        syndromes[i] = evaluate(word, n1, root);
        seen |= syndromes[i];
    }
    return seen != 0;
}

/* The product of (1 + a^i z) over the erased positions i; returns its degree. */
static size_t erasure_locator(uint8_t *locator, const uint8_t *erased, size_t n1)
{
    size_t degree = 0;

    locator[0] = 1;
    for (size_t i = 0; i < n1; i++) {
        if (erased[i]) {
            uint8_t root = gf256_alpha((unsigned)i);

            degree++;
            for (size_t j = degree; j > 0; j--) {
                locator[j] ^= gf256_mul(root, locator[j - 1]);
            }
        }
    }
    return degree;
}

/* Extends the erasure locator (degree `erasures`) to that of errors and erasures; returns its length. */
static size_t berlekamp_massey(uint8_t *locator, size_t erasures, const uint8_t *syndromes, size_t d)
{
    uint8_t previous[REED_SOLOMON_MAX + 1];
    uint8_t next[REED_SOLOMON_MAX + 1];
    size_t length = erasures;

    memcpy(previous, locator, sizeof previous);
    for (size_t r = erasures + 1; r <= d; r++) {
        uint8_t discrepancy = 0;

        for (size_t j = 0; j < r; j++) {
            discrepancy ^= gf256_mul(locator[j], syndromes[r - 1 - j]);
        }
        memmove(previous + 1, previous, sizeof previous - 1);
        previous[0] = 0;
        if (discrepancy == 0) {
            continue;
        }
        for (size_t j = 0; j <= d; j++) {
            next[j] = (uint8_t)(locator[j] ^ gf256_mul(discrepancy, previous[j]));
        }
        if (2 * length < r + erasures) {
            uint8_t scale = gf256_inverse(discrepancy);

            length = r + erasures - length;
            for (size_t j = 0; j <= d; j++) {
                previous[j] = gf256_mul(scale, locator[j]);
            }
        }
        memcpy(locator, next, d + 1);
    }
    return length;
}

/* The error at the position whose locator has the inverse x: Omega(x) / Lambda'(x). */
static uint8_t forney(const uint8_t *omega, const uint8_t *locator, size_t d, uint8_t x)
{
    uint8_t derivative[REED_SOLOMON_MAX] = {0};

    /* In characteristic two only the odd powers leave a term. */
    for (size_t i = 1; i <= d; i += 2) {
        derivative[i - 1] = locator[i];
    }
    return gf256_mul(evaluate(omega, d, x), gf256_inverse(evaluate(derivative, d, x)));
}

int reed_solomon_decode(uint8_t *word, const uint8_t *erased, size_t n1, size_t k)
{
    size_t d = n1 - k;
    uint8_t syndromes[REED_SOLOMON_MAX];
    uint8_t locator[REED_SOLOMON_MAX + 1] = {0};
    uint8_t omega[REED_SOLOMON_MAX] = {0};
    uint8_t errors[REED_SOLOMON_MAX] = {0};
    size_t length;
    size_t erasures = 0;
    size_t roots = 0;

    for (size_t i = 0; i < n1; i++) {
        erasures += erased[i] != 0;
    }
    if (erasures > d) {
        return -1;
    }
    if (!find_syndromes(syndromes, word, n1, d)) {
        return 0;
    }
    length = berlekamp_massey(locator, erasure_locator(locator, erased, n1), syndromes, d);

    /* Omega = S * Lambda mod z^d, with S_1 at z^0. */
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j <= i; j++) {
            omega[i] ^= gf256_mul(locator[j], syndromes[i - j]);
        }
    }
    for (size_t i = 0; i < n1; i++) {
        uint8_t x = gf256_alpha((unsigned)(255 - i));

        if (evaluate(locator, d + 1, x) == 0) {
            roots++;
            errors[i] = forney(omega, locator, d, x);
        }
    }
    if (roots != length) {
        return -1;
    }
    for (size_t i = 0; i < n1; i++) {
        word[i] ^= errors[i];
    }
    return 0;
}
