/*
 * Products of t parts: a dense polynomial times a sparse one of the secret.
 *
 * t is 2 or 4, so arithmetic modulo 256 in bytes is arithmetic modulo t with the
 * reduction left for the end.  Each nonzero of the secret adds the dense polynomial,
 * shifted to its place, into a sum of twice the length, an inner loop
 * of fixed length over bytes that compilers turn into vector additions.
 *
 * Not constant-time in the memory it touches: the shifts are the secret's places.
 */
#include "product_t.h"

static void add_shifted(uint8_t *restrict sum, const uint8_t *restrict a)
{
    for (unsigned x = 0; x < LORE_N; x++)
        sum[x] = (uint8_t)(sum[x] + a[x]);
}

static void subtract_shifted(uint8_t *restrict sum, const uint8_t *restrict a)
{
    for (unsigned x = 0; x < LORE_N; x++)
        sum[x] = (uint8_t)(sum[x] - a[x]);
}

void lore_wide_multiply_add(wide_t *r, const poly_t *a, const secret_vector *s, unsigned j)
{
    for (unsigned e = 0; e < s->count[j]; e++) {
        uint8_t *at = r->c + s->position[j][e];
        int value = s->value[j][e];

        for (; value > 0; value--)
            add_shifted(at, a->c);
        for (; value < 0; value++)
            subtract_shifted(at, a->c);
    }
}

void lore_wide_reduce(poly_t *out, const wide_t *r)
{
    for (unsigned x = 0; x < LORE_N; x++)
        out->c[x] = mod_t(r->c[x] - r->c[x + LORE_N]);
}
