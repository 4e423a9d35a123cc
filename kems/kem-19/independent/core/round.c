/*
 * The rounded matrix product.  Where LWE adds a random error, LWR rounds: each
 * coefficient of y moves by a small delta to a value whose t part is 0, or 0 or 2.
 *
 * delta is computed from the t part, which is in plain order, and is due in the q part,
 * which is not; hence the transform of delta.  The matrix is expanded entry by entry
 * and never stored.
 */
#include "round.h"

#include <string.h>

#include "matrix.h"
#include "product_t.h"
#include "transform.h"

/* Row i of the matrix, or of its transpose, times s. */
static int multiply_row(poly_q *y_q, poly_t *y_t, const uint8_t seed_a[LORE_SEED_BYTES],
                        enum lore_side side, unsigned i, const secret_vector *s)
{
    wide_t wide;

    memset(y_q, 0, sizeof *y_q);
    memset(&wide, 0, sizeof wide);
    for (unsigned j = 0; j < LORE_K; j++) {
        const uint8_t row = (uint8_t)(side == LORE_A ? i : j);
        const uint8_t column = (uint8_t)(side == LORE_A ? j : i);
        poly_q a_q;
        poly_t a_t;
        int status = lore_matrix_entry(&a_q, &a_t, seed_a, row, column);

        if (status != LORE_OK)
            return status;
        lore_multiply_add(y_q, &a_q, &s->q[j]);
        lore_wide_multiply_add(&wide, &a_t, s, j);
    }
    lore_wide_reduce(y_t, &wide);
    return LORE_OK;
}

/* y_q becomes the rounded q part; index is r/2. */
static void round_polynomial(poly_q *y_q, poly_t *index, const poly_t *y_t)
{
    poly_q delta;

    for (unsigned x = 0; x < LORE_N; x++) {
        const int r = LORE_T == 4 && y_t->c[x] == 2 ? 2 : 0;
        /* centred_t: the class t - 1 is -1 for t = 4 and +1 for t = 2; class 2 never occurs. */
        const int residue = mod_t(r - y_t->c[x]);
        const int centred = residue > LORE_T / 2 ? residue - LORE_T : residue;

        index->c[x] = (uint8_t)(r / 2);
        delta.c[x] = (uint16_t)((centred + LORE_Q) % LORE_Q);
    }
    lore_transform(&delta);
    for (unsigned x = 0; x < LORE_N; x++)
        y_q->c[x] = (uint16_t)((y_q->c[x] + delta.c[x]) % LORE_Q);
}

int lore_round_product(rounded_vector *out, const uint8_t seed_a[LORE_SEED_BYTES],
                       enum lore_side side, const secret_vector *s)
{
    for (unsigned i = 0; i < LORE_K; i++) {
        poly_t y_t;
        int status = multiply_row(&out->q[i], &y_t, seed_a, side, i, s);

        if (status != LORE_OK)
            return status;
        round_polynomial(&out->q[i], &out->index[i], &y_t);
    }
    return LORE_OK;
}
