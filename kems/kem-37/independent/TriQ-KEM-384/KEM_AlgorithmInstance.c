/* TriQ-KEM-384: the claimed lengths. The operations are in core/kem.c. */
#include "KEM_AlgorithmInstance.h"

#include "sizes.h"

/* The claims stand here as numbers; a build whose parameters give others stops. */
typedef char pk_length_is_as_claimed[PK_BYTES == 12255 ? 1 : -1];
typedef char sk_length_is_as_claimed[SK_BYTES == 12399 ? 1 : -1];
typedef char ss_length_is_as_claimed[K_BYTES == 48 ? 1 : -1];
typedef char ct_length_is_as_claimed[CT_BYTES == 24335 ? 1 : -1];

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
    return K_BYTES;
}

unsigned long long kem_get_ct_len_bytes(void)
{
    return CT_BYTES;
}
