/*
 * ring.c - the arithmetic of ring.h: schoolbook products, reduced once at the end.
 *
 * It does not know what is secret, public or noise.
 *
 * Why so: in every product of the scheme one factor is small (below 2^4 in magnitude, even from a
 * malformed key) and the other below 2^13, and no sum has more than (k1 + k2) * N < 2^12 terms. So 32
 * bits hold every sum, and twice it, and nothing needs reducing on the way. Coefficients are 16-bit,
 * because the public matrices are most of the memory. N = 12, 20 and 24 are no powers of two, and the
 * hashing that fills the matrices costs several times the products, so nothing faster is asked for.
 */
#include "ring.h"

#include <string.h>

void add_reduce(coeff *out, const wide *x, const coeff *e, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        const wide r = (x[i] + e[i]) % q; /* has the sign of the dividend */

        out[i] = (coeff)(r + q * (r < 0));
    }
}

/* The coefficients of X^i * a are a window of length N into (-a, a), which starts at N - i. */
static void unroll(coeff both[2 * N], const coeff a[N])
{
    int i;

    for (i = 0; i < N; i++) {
        both[i] = (coeff)-a[i];
        both[N + i] = a[i];
    }
}

void dot(wide c[N], const coeff *a, size_t step, const coeff *s, size_t count)
{
    size_t j;

    for (j = 0; j < count; j++) {
        coeff both[2 * N];
        int i;

        unroll(both, s);
        for (i = 0; i < N; i++) { /* c += a_i * (X^i * s) */
            const coeff *row = both + N - i;
            int k;

            for (k = 0; k < N; k++) {
                c[k] += a[i] * row[k];
            }
        }
        a += step * N;
        s += N;
    }
}

void neg(coeff *out, size_t width, const coeff a[N])
{
    coeff both[2 * N];
    int i;

    unroll(both, a);
    for (i = 0; i < N; i++) {
        memcpy(out + (size_t)i * width, both + N - i, N * sizeof *out);
    }
}

void add_neg(wide *c, size_t width, const wide a[N])
{
    int i, j;

    for (i = 0; i < N; i++) {
        for (j = 0; j < N; j++) {
            c[j] += j >= i ? a[j - i] : -a[N + j - i];
        }
        c += width;
    }
}

void add_product(wide *c, const coeff *x, const coeff *y, size_t rows, size_t inner, size_t cols)
{
    size_t i, l, j;

    for (i = 0; i < rows; i++) {
        for (l = 0; l < inner; l++) {
            const coeff factor = x[i * inner + l];
            const coeff *row = y + l * cols;

            for (j = 0; j < cols; j++) {
                c[i * cols + j] += factor * row[j];
            }
        }
    }
}
