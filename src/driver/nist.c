/*
 * The ICCS API over the NIST API, compiled into a library whose sources have the latter.
 *
 * What: kem_keygen, kem_enc, kem_dec and the four length functions over crypto_kem_keypair, crypto_kem_enc,
 * crypto_kem_dec and the CRYPTO_*BYTES constants, each with a prefix in front.
 * Does not know: where random bytes come from, or what a result other than 0 means; it is passed on.
 * Why: with it the drivers, the known-answer test and every figure are the same for both kinds of libraries. A
 * prefix may be empty, and a name may itself be a macro of the package's header (mlkem-native): it
 * is expanded before the prefix is put in front.
 *
 * Defines:
 *   NGCC_INSTANCE_HEADER   the package's header, required (a C string literal)
 *   NGCC_NIST_PREFIX       what its names begin with, e.g. PQCLEAN_MLKEM768_CLEAN_; may be empty
 */
#include NGCC_INSTANCE_HEADER

/* Names begin with NGCC_ here, to be none of the package's macros. */
#define NGCC_JOINED(prefix, name) prefix##name
#define NGCC_PREFIXED(prefix, name) NGCC_JOINED(prefix, name)
#define NGCC_NAME(name) NGCC_PREFIXED(NGCC_NIST_PREFIX, name)

enum {
    NGCC_PK = NGCC_NAME(CRYPTO_PUBLICKEYBYTES),
    NGCC_SK = NGCC_NAME(CRYPTO_SECRETKEYBYTES),
    NGCC_CT = NGCC_NAME(CRYPTO_CIPHERTEXTBYTES),
    NGCC_SS = NGCC_NAME(CRYPTO_BYTES)
};

/* The code for a length that is not the one announced. */
enum { NGCC_WRONG_LENGTH = -2 };

unsigned long long kem_get_pk_len_bytes(void);
unsigned long long kem_get_sk_len_bytes(void);
unsigned long long kem_get_ct_len_bytes(void);
unsigned long long kem_get_ss_len_bytes(void);
int kem_keygen(unsigned char *pk, unsigned long long *pk_bytes, unsigned char *sk, unsigned long long *sk_bytes);
int kem_enc(unsigned char *pk, unsigned long long pk_bytes, unsigned char *ss, unsigned long long *ss_bytes,
            unsigned char *ct, unsigned long long *ct_bytes);
int kem_dec(unsigned char *sk, unsigned long long sk_bytes, unsigned char *ct, unsigned long long ct_bytes,
            unsigned char *ss, unsigned long long *ss_bytes);

unsigned long long kem_get_pk_len_bytes(void)
{
    return NGCC_PK;
}

unsigned long long kem_get_sk_len_bytes(void)
{
    return NGCC_SK;
}

unsigned long long kem_get_ct_len_bytes(void)
{
    return NGCC_CT;
}

unsigned long long kem_get_ss_len_bytes(void)
{
    return NGCC_SS;
}

int kem_keygen(unsigned char *pk, unsigned long long *pk_bytes, unsigned char *sk, unsigned long long *sk_bytes)
{
    *pk_bytes = NGCC_PK;
    *sk_bytes = NGCC_SK;
    return NGCC_NAME(crypto_kem_keypair)(pk, sk);
}

int kem_enc(unsigned char *pk, unsigned long long pk_bytes, unsigned char *ss, unsigned long long *ss_bytes,
            unsigned char *ct, unsigned long long *ct_bytes)
{
    if (pk_bytes != NGCC_PK)
        return NGCC_WRONG_LENGTH;
    *ss_bytes = NGCC_SS;
    *ct_bytes = NGCC_CT;
    return NGCC_NAME(crypto_kem_enc)(ct, ss, pk);
}

int kem_dec(unsigned char *sk, unsigned long long sk_bytes, unsigned char *ct, unsigned long long ct_bytes,
            unsigned char *ss, unsigned long long *ss_bytes)
{
    if (sk_bytes != NGCC_SK || ct_bytes != NGCC_CT)
        return NGCC_WRONG_LENGTH;
    *ss_bytes = NGCC_SS;
    return NGCC_NAME(crypto_kem_dec)(ss, ct, sk);
}
