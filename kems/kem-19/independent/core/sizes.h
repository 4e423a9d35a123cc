/*
 * Lengths that follow from an instance's parameters, in bytes unless said otherwise,
 * and the status codes every fallible function of the core returns.
 *
 * Nothing is chosen here.  The checks at the end make a slip in a params.h a
 * compile error and not a KAT that differs.
 */
#ifndef LORE_SIZES_H
#define LORE_SIZES_H

#include "params.h"

#define LORE_Q 257

/* The transform leaves 128 blocks of d coefficients. */
#define LORE_BLOCKS 128
#define LORE_D (LORE_N / LORE_BLOCKS)

/* Nonzero values of a polynomial on average; the whole vector holds exactly LORE_NONZEROS. */
#define LORE_HW (LORE_W1 + LORE_W2 + LORE_W3 + LORE_W4)
#define LORE_NONZEROS (LORE_K * LORE_HW)

#define LORE_SEED_BYTES 32
#define LORE_HASH_BYTES 32

/* Bits of a polynomial, and the index bits of a vector: present for t = 4 only. */
#define LORE_BITS_BYTES (LORE_N / 8)
#if LORE_T == 4
#define LORE_INDEX_BYTES (LORE_K * LORE_BITS_BYTES)
#define LORE_T_BITS 2
#else
#define LORE_INDEX_BYTES 0
#define LORE_T_BITS 1
#endif

/* pack(vector) when every coefficient needs its overflow bit. */
#define LORE_PACKED_MAX (LORE_K * LORE_N + LORE_K * LORE_BITS_BYTES)

#define LORE_PKE_SK_BYTES (2 * LORE_K + 4 * LORE_NONZEROS + 2 * LORE_K * LORE_N)

enum {
    LORE_OK = 0,
    LORE_BAD_LENGTH = -2, /* an input has another length than this instance's */
    LORE_BAD_KEY = -3,    /* a secret key that key generation cannot have made */
    LORE_NO_HASH = -4,    /* the hash helper failed, or its output ran out */
    LORE_NO_RANDOM = -5   /* the random generator failed */
};

/* C99 has no static assertion: a negative array length is one. */
#define LORE_ASSERT(name, condition) typedef char lore_assert_##name[(condition) ? 1 : -1]

LORE_ASSERT(modulus, LORE_T == 2 || LORE_T == 4);
LORE_ASSERT(degree, LORE_D * LORE_BLOCKS == LORE_N);
LORE_ASSERT(pk_holds_its_fields,
            LORE_SEED_BYTES + LORE_PACKED_MAX + LORE_INDEX_BYTES + 2 == LORE_PK_BYTES);
LORE_ASSERT(ct_holds_its_fields,
            LORE_PACKED_MAX + LORE_INDEX_BYTES + LORE_BITS_BYTES * (1 + LORE_T_BITS) + 2
                == LORE_CT_BYTES);
LORE_ASSERT(pke_sk_holds_its_fields,
            2 * LORE_K + 3 * LORE_NONZEROS + LORE_PACKED_MAX <= LORE_PKE_SK_BYTES);
LORE_ASSERT(sk_is_its_fields,
            LORE_PKE_SK_BYTES + LORE_PK_BYTES + 2 * LORE_HASH_BYTES == LORE_SK_BYTES);

#ifdef LORE_REPEAT
LORE_ASSERT(code_fills_polynomial, 8 * LORE_MB * LORE_REPEAT == LORE_N);
#else
LORE_ASSERT(code_fills_polynomial, 8 * (LORE_MB + LORE_BCH_STORED) == LORE_N);
LORE_ASSERT(parity_is_stored, LORE_BCH_DEGREE <= 8 * LORE_BCH_STORED);
#endif

#endif
