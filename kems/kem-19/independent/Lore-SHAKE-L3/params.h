/*
 * Parameters of Lore-SHAKE-L3: everything in which this instance differs from its
 * seven siblings.  The code in core/ takes each number from here and derives the
 * rest (core/sizes.h), so an edit of this file reaches this instance alone.
 */
#ifndef LORE_PARAMS_H
#define LORE_PARAMS_H

/* The family of symmetric functions. */
#define LORE_FAMILY_SHAKE

/* Ring Z[X]/(X^n + 1), rank k, moduli q = 257 and t. */
#define LORE_N 512
#define LORE_K 3
#define LORE_T 4

/* Message bytes. */
#define LORE_MB 48

/* Nonzero values +1, -1, +2, -2 per secret polynomial, on average. */
#define LORE_W1 90
#define LORE_W2 90
#define LORE_W3 20
#define LORE_W4 20

/* Code: BCH over GF(2^9) correcting up to 14 errors.  The generator has bit i of
 * 64-bit word j as the coefficient of X^(64j + i). */
#define LORE_BCH_M 9
#define LORE_BCH_T 14
#define LORE_BCH_FIELD 0x211
#define LORE_BCH_DEGREE 126
#define LORE_BCH_STORED 16
#define LORE_BCH_WORDS 2
#define LORE_BCH_GENERATOR \
    { 0xca88ec0ac3664819u, 0x7fb660afff94fa96u }

/* Claimed lengths; core/sizes.h refuses to compile if they disagree with the above. */
#define LORE_PK_BYTES 1954
#define LORE_SK_BYTES 7736
#define LORE_CT_BYTES 2114
#define LORE_SS_BYTES 32

#endif
