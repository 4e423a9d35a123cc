/* TriQ-KEM's hash functions over the official helpers; each ends its input with its own domain byte. */
#include "hashes.h"

#include <string.h>

#include "auxfunc.h"

enum domain { DOMAIN_G = 0x00, DOMAIN_H = 0x01, DOMAIN_I = 0x02, DOMAIN_J = 0x03 };

/* What SM3 yields, and the one length of pseudohash that is used. */
#define SM3_BYTES 32
#define PSEUDOHASH_BYTES 128

/* out(input, output_bytes): SM3, cut, as long as that is enough; otherwise pseudoXOF. */
static int hash_out(uint8_t *output, size_t output_bytes, const uint8_t *input, size_t input_bytes)
{
    uint8_t digest[SM3_BYTES];

    if (output_bytes > SM3_BYTES) {
        return pseudoXOF(8ull * output_bytes, input, 8ull * input_bytes, output);
    }
    if (sm3hash(8 * SM3_BYTES, input, 8ull * input_bytes, digest) != 0) {
        return -1;
    }
    memcpy(output, digest, output_bytes);
    return 0;
}

int hash_h(uint8_t h[K_BYTES], const uint8_t pk[PK_BYTES])
{
    uint8_t input[PK_BYTES + 1];

    memcpy(input, pk, PK_BYTES);
    input[PK_BYTES] = DOMAIN_H;
    return hash_out(h, K_BYTES, input, sizeof input);
}

int hash_i(uint8_t seed_dk[K_BYTES], uint8_t seed_ek[K_BYTES], const uint8_t seed[K_BYTES])
{
    uint8_t input[K_BYTES + 1];
    uint8_t output[2 * K_BYTES];

    memcpy(input, seed, K_BYTES);
    input[K_BYTES] = DOMAIN_I;
    if (hash_out(output, sizeof output, input, sizeof input) != 0) {
        return -1;
    }
    memcpy(seed_dk, output, K_BYTES);
    memcpy(seed_ek, output + K_BYTES, K_BYTES);
    return 0;
}

/* The one hash whose longer form is pseudohash, always in its variant of 1024 bits. */
int hash_g(uint8_t key[K_BYTES], uint8_t theta[K_BYTES], const uint8_t h[K_BYTES], const uint8_t m[K_BYTES],
           const uint8_t salt[SALT_BYTES])
{
    uint8_t input[2 * K_BYTES + SALT_BYTES + 1];
    uint8_t output[PSEUDOHASH_BYTES];
    int bad;

    memcpy(input, h, K_BYTES);
    memcpy(input + K_BYTES, m, K_BYTES);
    memcpy(input + 2 * K_BYTES, salt, SALT_BYTES);
    input[2 * K_BYTES + SALT_BYTES] = DOMAIN_G;
    if (2 * K_BYTES <= SM3_BYTES) {
        bad = sm3hash(8 * SM3_BYTES, input, 8ull * sizeof input, output);
    } else {
        bad = pseudohash(8 * PSEUDOHASH_BYTES, input, 8ull * sizeof input, output);
    }
    if (bad != 0) {
        return -1;
    }
    memcpy(key, output, K_BYTES);
    memcpy(theta, output + K_BYTES, K_BYTES);
    return 0;
}

int hash_j(uint8_t key[K_BYTES], const uint8_t h[K_BYTES], const uint8_t sigma[K_BYTES],
           const uint8_t ct[CT_BYTES])
{
    uint8_t input[2 * K_BYTES + CT_BYTES + 1];

    memcpy(input, h, K_BYTES);
    memcpy(input + K_BYTES, sigma, K_BYTES);
    memcpy(input + 2 * K_BYTES, ct, CT_BYTES);
    input[2 * K_BYTES + CT_BYTES] = DOMAIN_J;
    return hash_out(key, K_BYTES, input, sizeof input);
}
