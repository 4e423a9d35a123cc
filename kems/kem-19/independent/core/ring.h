/*
 * The two halves of a ring element.  Z[X]/(X^n + 1) modulo 257t is held as a residue
 * pair: x_q modulo 257 and x_t modulo t.
 *
 * The halves are separate types because they never mix and live in different orders:
 * a q part is in transform order wherever the comment of a function does not say
 * "plain", a t part is always in plain order.
 */
#ifndef LORE_RING_H
#define LORE_RING_H

#include <stdint.h>

#include "sizes.h"

/* Coefficients in [0, 256]. */
typedef struct {
    uint16_t c[LORE_N];
} poly_q;

/* Coefficients in [0, t). */
typedef struct {
    uint8_t c[LORE_N];
} poly_t;

/* centred_q(x) in [-128, 128], for x in (-257, 257). */
static inline int centred_q(int x)
{
    if (x > LORE_Q / 2)
        return x - LORE_Q;
    if (x < -(LORE_Q / 2))
        return x + LORE_Q;
    return x;
}

/* x mod t for any x: t is a power of two, and the conversion wraps. */
static inline uint8_t mod_t(int x)
{
    return (uint8_t)((unsigned)x % LORE_T);
}

#endif
