/* Entries of the public matrix A; see matrix.c. */
#ifndef LORE_MATRIX_H
#define LORE_MATRIX_H

#include "ring.h"

/* A[i][j]; the q part comes out in transform order. */
int lore_matrix_entry(poly_q *q, poly_t *t, const uint8_t seed_a[LORE_SEED_BYTES], uint8_t i,
                      uint8_t j);

#endif
