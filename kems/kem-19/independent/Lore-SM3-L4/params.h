/*
 * Parameters of Lore-SM3-L4: everything in which this instance differs from its
 * seven siblings.  The code in core/ takes each number from here and derives the
 * rest (core/sizes.h), so an edit of this file reaches this instance alone.
 */
#ifndef LORE_PARAMS_H
#define LORE_PARAMS_H

/* The family of symmetric functions. */
#define LORE_FAMILY_SM3

/* Ring Z[X]/(X^n + 1), rank k, moduli q = 257 and t. */
#define LORE_N 768
#define LORE_K 3
#define LORE_T 4

/* Message bytes. */
#define LORE_MB 64

/* Nonzero values +1, -1, +2, -2 per secret polynomial, on average. */
#define LORE_W1 140
#define LORE_W2 140
#define LORE_W3 20
#define LORE_W4 20

/* Code: BCH over GF(2^10) correcting up to 25 errors.  The generator has bit i of
 * 64-bit word j as the coefficient of X^(64j + i). */
#define LORE_BCH_M 10
#define LORE_BCH_T 25
#define LORE_BCH_FIELD 0x409
#define LORE_BCH_DEGREE 245
#define LORE_BCH_STORED 32
#define LORE_BCH_WORDS 4
#define LORE_BCH_GENERATOR \
    { 0xe04811856b79a271u, 0xd1bbcf25ad647c72u, \
      0x91d570e06959c943u, 0x003c0f31bf4831deu }

/* Claimed lengths; core/sizes.h refuses to compile if they disagree with the above. */
#define LORE_PK_BYTES 2914
#define LORE_SK_BYTES 11432
#define LORE_CT_BYTES 3170
#define LORE_SS_BYTES 32

#endif
