/*
 * The official KEM calls for Lore-SHAKE-L2.  This file knows lengths and nothing of the
 * scheme: it refuses inputs of another length and reports the fixed lengths of
 * what core/kem.c wrote.  On an error no length is reported.
 */
#include "KEM_AlgorithmInstance.h"

#include "kem.h"
#include "params.h"

unsigned long long kem_get_pk_len_bytes() { return LORE_PK_BYTES; }
unsigned long long kem_get_sk_len_bytes() { return LORE_SK_BYTES; }
unsigned long long kem_get_ss_len_bytes() { return LORE_SS_BYTES; }
unsigned long long kem_get_ct_len_bytes() { return LORE_CT_BYTES; }

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes,
               unsigned char *sk, unsigned long long *sk_len_bytes)
{
    int status = lore_kem_keygen(pk, sk);

    if (status == LORE_OK) {
        *pk_len_bytes = LORE_PK_BYTES;
        *sk_len_bytes = LORE_SK_BYTES;
    }
    return status;
}

int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes,
            unsigned char *ct, unsigned long long *ct_len_bytes)
{
    int status;

    if (pk_len_bytes != LORE_PK_BYTES)
        return LORE_BAD_LENGTH;
    status = lore_kem_enc(pk, ss, ct);
    if (status == LORE_OK) {
        *ss_len_bytes = LORE_SS_BYTES;
        *ct_len_bytes = LORE_CT_BYTES;
    }
    return status;
}

int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes,
            unsigned char *ct, unsigned long long ct_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes)
{
    int status;

    if (sk_len_bytes != LORE_SK_BYTES || ct_len_bytes != LORE_CT_BYTES)
        return LORE_BAD_LENGTH;
    status = lore_kem_dec(sk, ct, ss);
    if (status == LORE_OK)
        *ss_len_bytes = LORE_SS_BYTES;
    return status;
}
