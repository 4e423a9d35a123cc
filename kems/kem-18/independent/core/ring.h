/*
 * ring.h - arithmetic in R = Z_q[X]/(X^N + 1) and with matrices over Z_q.
 *
 * A polynomial is N coefficients in a row, a vector or matrix of polynomials is its entries row by
 * row, a matrix over Z_q is its entries row by row.
 */
#ifndef LOONG_RING_H
#define LOONG_RING_H

#include <stddef.h>
#include <stdint.h>

#include "sizes.h"

typedef int16_t coeff; /* canonical 0..q-1, or a small secret or noise value of either sign */
typedef int32_t wide;  /* a sum of products, not reduced yet */

/* out[i] = (x[i] + e[i]) mod q, canonical. */
void add_reduce(coeff *out, const wide *x, const coeff *e, size_t count);

/* c += sum of a[j] * s[j] over `count` polynomials of s; consecutive a[j] lie `step` polynomials apart,
 * so that a row (step 1) or a column of a polynomial matrix can be given. */
void dot(wide c[N], const coeff *a, size_t step, const coeff *s, size_t count);

/* out = neg(a): row i holds the coefficients of X^i * a. Rows start `width` entries apart. */
void neg(coeff *out, size_t width, const coeff a[N]);

/* c += neg(a), the same for values that are not reduced yet. */
void add_neg(wide *c, size_t width, const wide a[N]);

/* c += x * y, where x is rows x inner and y is inner x cols. */
void add_product(wide *c, const coeff *x, const coeff *y, size_t rows, size_t inner, size_t cols);

#endif
