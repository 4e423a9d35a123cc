/* The transform of the q part; see transform.c. */
#ifndef LORE_TRANSFORM_H
#define LORE_TRANSFORM_H

#include "ring.h"

/* Plain order to transform order, in place. */
void lore_transform(poly_q *p);

/* Transform order to plain order, in place. */
void lore_inverse_transform(poly_q *p);

/* r = r + a * b, all in transform order; r may be neither a nor b. */
void lore_multiply_add(poly_q *r, const poly_q *a, const poly_q *b);

#endif
