/* sample.h - the public matrices and the small random values, each a function of a seed. */
#ifndef LOONG_SAMPLE_H
#define LOONG_SAMPLE_H

#include "ring.h"

struct matrices {
    coeff A1[k1 * k1 * N];          /* k1 x k1 polynomials */
    coeff A2[k1 * k2 * N];          /* k1 x k2 polynomials */
    coeff A3[k2 * k1 * N];          /* k2 x k1 polynomials */
    coeff A4[k2 * N * k2 * N];      /* k2N x k2N scalars */
};

enum {
    MATRIX_VALUES = k1 * k1 * N + 2 * k1 * k2 * N + k2 * N * k2 * N,
    NOISE_MAX = k1 * N + k2 * N * N /* the longest noise the scheme asks for */
};

/* Both return 0 or a negative code. */
int sample_matrices(struct matrices *A, const unsigned char rho[S]);
int noise(coeff *out, size_t n, const unsigned char seed[S]);

#endif
