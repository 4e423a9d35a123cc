/* The rounded matrix product: b = round(A*s) and u = round(A^T*s'); see round.c. */
#ifndef LORE_ROUND_H
#define LORE_ROUND_H

#include "secret.h"

/* A rounded vector: q parts in transform order and, for t = 4, one index bit a coefficient.
 * The t part a coefficient stands for is 2*index; for t = 2 index is all zero. */
typedef struct {
    poly_q q[LORE_K];
    poly_t index[LORE_K];
} rounded_vector;

enum lore_side { LORE_A, LORE_A_TRANSPOSED };

int lore_round_product(rounded_vector *out, const uint8_t seed_a[LORE_SEED_BYTES],
                       enum lore_side side, const secret_vector *s);

#endif
