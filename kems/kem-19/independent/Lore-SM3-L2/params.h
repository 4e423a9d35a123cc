/*
 * Parameters of Lore-SM3-L2: everything in which this instance differs from its
 * seven siblings.  The code in core/ takes each number from here and derives the
 * rest (core/sizes.h), so an edit of this file reaches this instance alone.
 */
#ifndef LORE_PARAMS_H
#define LORE_PARAMS_H

/* The family of symmetric functions. */
#define LORE_FAMILY_SM3

/* Ring Z[X]/(X^n + 1), rank k, moduli q = 257 and t. */
#define LORE_N 512
#define LORE_K 2
#define LORE_T 2

/* Message bytes. */
#define LORE_MB 32

/* Nonzero values +1, -1, +2, -2 per secret polynomial, on average. */
#define LORE_W1 70
#define LORE_W2 70
#define LORE_W3 6
#define LORE_W4 6

/* Code: BCH over GF(2^9) correcting up to 28 errors.  The generator has bit i of
 * 64-bit word j as the coefficient of X^(64j + i). */
#define LORE_BCH_M 9
#define LORE_BCH_T 28
#define LORE_BCH_FIELD 0x211
#define LORE_BCH_DEGREE 234
#define LORE_BCH_STORED 32
#define LORE_BCH_WORDS 4
#define LORE_BCH_GENERATOR \
    { 0xe1fbf1680d59ac25u, 0x930cff4a9617cf61u, \
      0xe4070c4bf7b0612bu, 0x0000049278f514acu }

/* Claimed lengths; core/sizes.h refuses to compile if they disagree with the above. */
#define LORE_PK_BYTES 1186
#define LORE_SK_BYTES 4518
#define LORE_CT_BYTES 1282
#define LORE_SS_BYTES 32

#endif
