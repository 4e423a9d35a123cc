/*
 * TriQ-KEM behind the official interface: a salted transform of the encryption, with a secret from sigma
 * for ciphertexts that re-encryption does not confirm.
 *
 * Knows no parameter by its value. Decapsulation takes the same steps and returns 0 for good and bad
 * ciphertexts alike. Secrets are not wiped from the stack.
 */
#include <string.h>

#include "KEM_AlgorithmInstance.h"
#include "hashes.h"
#include "pke.h"
#include "stream.h"

/* What the operations return besides 0. */
enum { ERROR_HELPER = -2, ERROR_ENC_PK = -31, ERROR_DEC_SK = -41, ERROR_DEC_CT = -42 };

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes,
               unsigned char *sk, unsigned long long *sk_len_bytes)
{
    uint8_t *seed_dk = sk + PK_BYTES;
    uint8_t *sigma = seed_dk + K_BYTES;
    uint8_t *seed_kem = sigma + K_BYTES;
    uint8_t seed_pke[K_BYTES];
    struct stream prng;
    struct stream xof;

    if (stream_start_prng(&prng) != 0 || stream_read(&prng, seed_kem, K_BYTES) != 0) {
        return ERROR_HELPER;
    }
    stream_start_xof(&xof, seed_kem);
    if (stream_read(&xof, seed_pke, K_BYTES) != 0 || stream_read(&xof, sigma, K_BYTES) != 0 ||
        pke_keygen(pk, seed_dk, seed_pke) != 0) {
        return ERROR_HELPER;
    }
    memcpy(sk, pk, PK_BYTES);
    *pk_len_bytes = PK_BYTES;
    *sk_len_bytes = SK_BYTES;
    return 0;
}

int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes,
            unsigned char *ct, unsigned long long *ct_len_bytes)
{
    uint8_t *u = ct;
    uint8_t *v = u + N_BYTES;
    uint8_t *salt = v + N12_BYTES;
    uint8_t m[K_BYTES];
    uint8_t h[K_BYTES];
    uint8_t theta[K_BYTES];
    struct stream prng;

    if (pk_len_bytes != PK_BYTES) {
        return ERROR_ENC_PK;
    }
    if (stream_start_prng(&prng) != 0 || stream_read(&prng, m, K_BYTES) != 0 ||
        stream_read(&prng, salt, SALT_BYTES) != 0 || hash_h(h, pk) != 0 ||
        hash_g(ss, theta, h, m, salt) != 0 || pke_encrypt(u, v, pk, m, theta) != 0) {
        return ERROR_HELPER;
    }
    *ss_len_bytes = K_BYTES;
    *ct_len_bytes = CT_BYTES;
    return 0;
}

int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes,
            unsigned char *ct, unsigned long long ct_len_bytes,
            unsigned char *ss, unsigned long long *ss_len_bytes)
{
    const uint8_t *pk = sk;
    const uint8_t *seed_dk = pk + PK_BYTES;
    const uint8_t *sigma = seed_dk + K_BYTES;
    const uint8_t *u = ct;
    const uint8_t *v = u + N_BYTES;
    const uint8_t *salt = v + N12_BYTES;
    uint8_t m[K_BYTES];
    uint8_t h[K_BYTES];
    uint8_t theta[K_BYTES];
    uint8_t rejected[K_BYTES];
    uint8_t again[BODY_BYTES];

    if (sk_len_bytes != SK_BYTES) {
        return ERROR_DEC_SK;
    }
    if (ct_len_bytes != CT_BYTES) {
        return ERROR_DEC_CT;
    }
    if (pke_decrypt(m, seed_dk, u, v) != 0 || hash_h(h, pk) != 0 || hash_g(ss, theta, h, m, salt) != 0 ||
        pke_encrypt(again, again + N_BYTES, pk, m, theta) != 0 || hash_j(rejected, h, sigma, ct) != 0) {
        return ERROR_HELPER;
    }
    /* The salt went into theta as it came, so there is nothing of it to compare. */
    bytes_choose(ss, rejected, K_BYTES, bytes_differ(again, ct, BODY_BYTES));
    *ss_len_bytes = K_BYTES;
    return 0;
}
