/*
 * Parameters of Lore-SHAKE-L1: everything in which this instance differs from its
 * seven siblings.  The code in core/ takes each number from here and derives the
 * rest (core/sizes.h), so an edit of this file reaches this instance alone.
 */
#ifndef LORE_PARAMS_H
#define LORE_PARAMS_H

/* The family of symmetric functions. */
#define LORE_FAMILY_SHAKE

/* Ring Z[X]/(X^n + 1), rank k, moduli q = 257 and t. */
#define LORE_N 512
#define LORE_K 1
#define LORE_T 2

/* Message bytes. */
#define LORE_MB 16

/* Nonzero values +1, -1, +2, -2 per secret polynomial, on average. */
#define LORE_W1 50
#define LORE_W2 50
#define LORE_W3 1
#define LORE_W4 1

/* Code: each message bit fills this many coefficients. */
#define LORE_REPEAT 4

/* Claimed lengths; core/sizes.h refuses to compile if they disagree with the above. */
#define LORE_PK_BYTES 610
#define LORE_SK_BYTES 2108
#define LORE_CT_BYTES 706
#define LORE_SS_BYTES 32

#endif
