/*
 * sizes.h - byte counts that follow from an instance's params.h.
 *
 * The one header that includes params.h, which the include path takes from the instance's directory.
 */
#ifndef LOONG_SIZES_H
#define LOONG_SIZES_H

#include "params.h"

enum {
    q = 8191, /* 2^13 - 1 */

    SM3_BYTES = 32,
    M_BYTES = N * N / 8,
    COINS_BYTES = 3 * S, /* c1, c2, c3 */

    PK_B1_BYTES = k1 * N * d_b / 8,
    PK_B2_BYTES = k2 * N * N * d_b / 8,
    PK_BYTES = S + PK_B1_BYTES + PK_B2_BYTES,

    CT_u_BYTES = k1 * N * d_u / 8,
    CT_U_BYTES = k2 * N * N * d_u / 8,
    CT_V_BYTES = N * N * d_v / 8,
    CT_BYTES = CT_u_BYTES + CT_U_BYTES + CT_V_BYTES,

    PKE_SK_BYTES = (k1 + k2) * N * 4 / 8,
    SK_BYTES = PKE_SK_BYTES + PK_BYTES + SM3_BYTES + S
};

#endif
