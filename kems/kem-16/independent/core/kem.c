/*
 * HARE as a KEM behind the official interface: a salted transform of the encryption, with a secret from
 * sigma for ciphertexts that re-encryption does not confirm.
 *
 * Knows no parameter by its value. Decapsulation takes the same steps for good and bad ciphertexts, but
 * says which it was by its return value, as the submission does. Secrets are not wiped from the stack.
 */
#include <string.h>

#include "KEM_AlgorithmInstance.h"
#include "drng.h"
#include "pke.h"
#include "symmetric.h"

/* What the operations return besides 0. */
enum { ERROR_DECAPSULATION = -1, ERROR_LENGTH = -2, ERROR_HELPER = -3 };

/* The driver defines and seeds it. */
extern DRNG_ctx drng_algorithm;

/* k random bytes, in one call. */
static int draw(uint8_t bytes[K_BYTES])
{
    return get_random_number(&drng_algorithm, bytes, 8ull * K_BYTES);
}

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes,
               unsigned char *sk, unsigned long long *sk_len_bytes)
{
    uint8_t *seed_dk = sk + PK_BYTES;
    uint8_t *sigma = seed_dk + K_BYTES;
    uint8_t *seed_kem = sigma + K_BYTES;
    uint8_t seed_pke[K_BYTES];
    struct xof xof;

    if (draw(seed_kem) != 0) {
        return ERROR_HELPER;
    }
    xof_start(&xof, seed_kem);
    if (xof_read(&xof, seed_pke, K_BYTES) != 0 || xof_read(&xof, sigma, K_BYTES) != 0 ||
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
    uint8_t *payload = u + N_BYTES;
    uint8_t *salt = payload + PAYLOAD_BYTES;
    uint8_t m[K_BYTES];
    uint8_t h[K_BYTES];
    uint8_t theta[K_BYTES];

    if (pk_len_bytes != PK_BYTES) {
        return ERROR_LENGTH;
    }
    if (draw(m) != 0 || draw(salt) != 0 || hash_h(h, pk) != 0 || hash_g(ss, theta, h, m, salt) != 0 ||
        pke_encrypt(u, payload, pk, m, theta) != 0) {
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
    const uint8_t *payload = u + N_BYTES;
    const uint8_t *salt = payload + PAYLOAD_BYTES;
    uint8_t m[K_BYTES];
    uint8_t h[K_BYTES];
    uint8_t theta[K_BYTES];
    uint8_t rejected[K_BYTES];
    uint8_t again[BODY_BYTES];
    unsigned differ;

    if (sk_len_bytes != SK_BYTES || ct_len_bytes != CT_BYTES) {
        return ERROR_LENGTH;
    }
    if (pke_decrypt(m, seed_dk, u, payload) != 0 || hash_h(h, pk) != 0 ||
        hash_g(ss, theta, h, m, salt) != 0 || pke_encrypt(again, again + N_BYTES, pk, m, theta) != 0 ||
        hash_j(rejected, h, sigma, ct) != 0) {
        return ERROR_HELPER;
    }
    /* The salt went into theta as it came, so there is nothing of it to compare. */
    differ = bytes_differ(again, ct, BODY_BYTES);
    bytes_choose(ss, rejected, K_BYTES, differ);
    *ss_len_bytes = K_BYTES;
    return differ ? ERROR_DECAPSULATION : 0;
}
