/* Products of t parts; see product_t.c. */
#ifndef LORE_PRODUCT_T_H
#define LORE_PRODUCT_T_H

#include "secret.h"

/* A sum of products before reduction modulo X^n + 1 and modulo t. */
typedef struct {
    uint8_t c[2 * LORE_N];
} wide_t;

/* r = r + a * (polynomial j of s). */
void lore_wide_multiply_add(wide_t *r, const poly_t *a, const secret_vector *s, unsigned j);

/* r reduced modulo X^n + 1 and t. */
void lore_wide_reduce(poly_t *out, const wide_t *r);

#endif
