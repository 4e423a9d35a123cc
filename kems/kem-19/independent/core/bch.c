/*
 * Bounded-distance decoding of the binary BCH code over GF(2^m): syndromes, the error
 * locator by Berlekamp and Massey, and its roots by trial of every position.
 *
 * A word is the polynomial whose coefficient at X^p is bit p; code words vanish at
 * alpha^1 .. alpha^(2T).  Honest words are almost always free of errors, so the way out
 * after the syndromes is the one that matters for speed, and the rest is written plainly.
 *
 * Not constant-time: it branches on the word and on the number of errors.
 */
#include "bch.h"

#include <string.h>

#include "bits.h"

/* Order of the multiplicative group. */
#define ORDER ((1u << LORE_BCH_M) - 1)

#define SYNDROMES (2 * LORE_BCH_T)

/* Powers of alpha and their logarithms; log[0] is not used. */
typedef struct {
    uint16_t exp[ORDER];
    uint16_t log[ORDER + 1];
} field;

static void field_init(field *f)
{
    unsigned element = 1;

    f->log[0] = 0;
    for (unsigned e = 0; e < ORDER; e++) {
        f->exp[e] = (uint16_t)element;
        f->log[element] = (uint16_t)e;
        element <<= 1;
        if (element > ORDER)
            element ^= LORE_BCH_FIELD;
    }
}

static unsigned multiply(const field *f, unsigned a, unsigned b)
{
    return a == 0 || b == 0 ? 0 : f->exp[(f->log[a] + f->log[b]) % ORDER];
}

/* a / b, b not 0. */
static unsigned divide(const field *f, unsigned a, unsigned b)
{
    return a == 0 ? 0 : f->exp[(f->log[a] + ORDER - f->log[b]) % ORDER];
}

/* s[j] = word(alpha^j) for j = 1 .. 2T; returns whether any differs from 0.  The even ones
 * are squares, as the word's coefficients are bits. */
static int syndromes(const field *f, uint16_t s[SYNDROMES + 1], const uint8_t *word)
{
    unsigned any = 0;

    memset(s, 0, (SYNDROMES + 1) * sizeof s[0]);
    for (unsigned p = 0; p < LORE_BCH_LENGTH; p++) {
        const unsigned step = 2 * p % ORDER;
        unsigned power = p;

        if (bit_at(word, p) == 0)
            continue;
        for (unsigned j = 1; j <= SYNDROMES; j += 2) {
            s[j] ^= f->exp[power];
            power += step;
            if (power >= ORDER)
                power -= ORDER;
        }
    }
    for (unsigned j = 2; j <= SYNDROMES; j += 2)
        s[j] = (uint16_t)multiply(f, s[j / 2], s[j / 2]);
    for (unsigned j = 1; j <= SYNDROMES; j++)
        any |= s[j];
    return any != 0;
}

/* target = target + factor * X^shift * source, cut off above X^(2T). */
static void add_shifted(const field *f, uint16_t *target, const uint16_t *source, unsigned factor,
                        unsigned shift)
{
    for (unsigned i = 0; i + shift <= SYNDROMES; i++)
        target[i + shift] ^= (uint16_t)multiply(f, factor, source[i]);
}

/* The shortest recurrence of the syndromes (Berlekamp and Massey): fills the locator and
 * returns its claimed degree, which exceeds T when there are too many errors. */
static unsigned find_locator(const field *f, uint16_t locator[SYNDROMES + 1],
                             const uint16_t s[SYNDROMES + 1])
{
    uint16_t previous[SYNDROMES + 1] = { 1 };
    unsigned previous_discrepancy = 1;
    unsigned shift = 1;
    unsigned degree = 0;

    memset(locator, 0, (SYNDROMES + 1) * sizeof locator[0]);
    locator[0] = 1;
    for (unsigned n = 0; n < SYNDROMES; n++, shift++) {
        unsigned discrepancy = s[n + 1];
        unsigned factor;

        for (unsigned i = 1; i <= degree; i++)
            discrepancy ^= multiply(f, locator[i], s[n + 1 - i]);
        if (discrepancy == 0)
            continue;
        factor = divide(f, discrepancy, previous_discrepancy);
        if (2 * degree <= n) {
            uint16_t kept[SYNDROMES + 1];

            memcpy(kept, locator, sizeof kept);
            add_shifted(f, locator, previous, factor, shift);
            memcpy(previous, kept, sizeof kept);
            previous_discrepancy = discrepancy;
            degree = n + 1 - degree;
            shift = 0;
        } else {
            add_shifted(f, locator, previous, factor, shift);
        }
    }
    return degree;
}

/* Whether position p is in error: the locator vanishes at alpha^(-p). */
static int is_error(const field *f, const uint16_t *locator, unsigned degree, unsigned p)
{
    unsigned sum = 0;
    unsigned power = 0;

    for (unsigned i = 0; i <= degree; i++) {
        if (locator[i] != 0)
            sum ^= f->exp[(f->log[locator[i]] + power) % ORDER];
        power += ORDER - p;
        if (power >= ORDER)
            power -= ORDER;
    }
    return sum == 0;
}

int lore_bch_correct(uint8_t word[LORE_BITS_BYTES])
{
    field f;
    uint16_t s[SYNDROMES + 1];
    uint16_t locator[SYNDROMES + 1];
    uint16_t error[LORE_BCH_T];
    unsigned degree;
    unsigned found = 0;

    field_init(&f);
    if (!syndromes(&f, s, word))
        return 0;
    degree = find_locator(&f, locator, s);
    if (degree > LORE_BCH_T)
        return -1;
    for (unsigned p = 0; p < LORE_BCH_LENGTH && found < degree; p++) {
        if (is_error(&f, locator, degree, p))
            error[found++] = (uint16_t)p;
    }
    /* Fewer roots than the degree: some error lies outside the word, or there are too many. */
    if (found != degree)
        return -1;
    for (unsigned e = 0; e < found; e++)
        flip_bit(word, error[e], 1);
    return (int)found;
}
