/*
 * KEM_Loong.c - the KEM interface of the instance Loong512.
 *
 * Checks lengths and hands over to the core, which is compiled with this directory's params.h. It knows
 * no cryptography. Every instance has its own copy, so that a change here touches one instance.
 *
 * Why so: all real lengths equal the claimed ones, so an input of another length cannot come from
 * this instance. It is refused with -2, an error other than -1 (decapsulation failed), rather than read
 * beyond its end. A ciphertext of the right length is never refused, see loong_dec.
 */
#include "KEM_Loong.h"

#include "kem.h"

enum { WRONG_LENGTH = -2 };

unsigned long long kem_get_pk_len_bytes(void)
{
    return PK_BYTES;
}

unsigned long long kem_get_sk_len_bytes(void)
{
    return SK_BYTES;
}

unsigned long long kem_get_ss_len_bytes(void)
{
    return L;
}

unsigned long long kem_get_ct_len_bytes(void)
{
    return CT_BYTES;
}

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk,
               unsigned long long *sk_len_bytes)
{
    *pk_len_bytes = PK_BYTES;
    *sk_len_bytes = SK_BYTES;
    return loong_keygen(pk, sk);
}

int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *ss,
            unsigned long long *ss_len_bytes, unsigned char *ct,
            unsigned long long *ct_len_bytes)
{
    if (pk_len_bytes != PK_BYTES) {
        return WRONG_LENGTH;
    }
    *ss_len_bytes = L;
    *ct_len_bytes = CT_BYTES;
    return loong_enc(pk, ss, ct);
}

int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *ct,
            unsigned long long ct_len_bytes, unsigned char *ss,
            unsigned long long *ss_len_bytes)
{
    if (sk_len_bytes != SK_BYTES || ct_len_bytes != CT_BYTES) {
        return WRONG_LENGTH;
    }
    *ss_len_bytes = L;
    return loong_dec(sk, ct, ss);
}
