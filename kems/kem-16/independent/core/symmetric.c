/* HARE's hash functions over the official helper; symmetric.h says what they are. */
#include "symmetric.h"

#include <string.h>

#include "auxfunc.h"

/* The first byte of every hashed string. */
enum domain { DOMAIN_XOF = 0xB1, DOMAIN_H = 0xB2, DOMAIN_I = 0xB3, DOMAIN_G = 0xB4, DOMAIN_J = 0xB5 };

/* The helper counts in bits. */
static int pseudo_xof(uint8_t *output, size_t output_bytes, const uint8_t *input, size_t input_bytes)
{
    return pseudoXOF(8ull * output_bytes, input, 8ull * input_bytes, output);
}

void xof_start(struct xof *xof, const uint8_t seed[K_BYTES])
{
    xof->input[0] = DOMAIN_XOF;
    memcpy(xof->input + 1, seed, K_BYTES);
    xof->position = 0;
}

int xof_read(struct xof *xof, uint8_t *bytes, size_t count)
{
    uint8_t stream[XOF_LIMIT];
    size_t end = xof->position + count;

    if (end > sizeof stream || pseudo_xof(stream, end, xof->input, sizeof xof->input) != 0) {
        return -1;
    }
    memcpy(bytes, stream + xof->position, count);
    xof->position = end;
    return 0;
}

int hash_h(uint8_t h[K_BYTES], const uint8_t pk[PK_BYTES])
{
    uint8_t input[1 + PK_BYTES];

    input[0] = DOMAIN_H;
    memcpy(input + 1, pk, PK_BYTES);
    return pseudo_xof(h, K_BYTES, input, sizeof input);
}

int hash_i(uint8_t seed_dk[K_BYTES], uint8_t seed_ek[K_BYTES], const uint8_t seed[K_BYTES])
{
    uint8_t input[1 + K_BYTES];
    uint8_t output[2 * K_BYTES] = {0};
    int bad;

    input[0] = DOMAIN_I;
    memcpy(input + 1, seed, K_BYTES);
    bad = pseudo_xof(output, sizeof output, input, sizeof input);
    memcpy(seed_dk, output, K_BYTES);
    memcpy(seed_ek, output + K_BYTES, K_BYTES);
    return bad;
}

int hash_g(uint8_t key[K_BYTES], uint8_t theta[K_BYTES], const uint8_t h[K_BYTES], const uint8_t m[K_BYTES],
           const uint8_t salt[K_BYTES])
{
    uint8_t input[1 + 3 * K_BYTES];
    uint8_t output[2 * K_BYTES] = {0};
    int bad;

    input[0] = DOMAIN_G;
    memcpy(input + 1, h, K_BYTES);
    memcpy(input + 1 + K_BYTES, m, K_BYTES);
    memcpy(input + 1 + 2 * K_BYTES, salt, K_BYTES);
    bad = pseudo_xof(output, sizeof output, input, sizeof input);
    memcpy(key, output, K_BYTES);
    memcpy(theta, output + K_BYTES, K_BYTES);
    return bad;
}

int hash_j(uint8_t key[K_BYTES], const uint8_t h[K_BYTES], const uint8_t sigma[K_BYTES],
           const uint8_t ct[CT_BYTES])
{
    uint8_t input[1 + 2 * K_BYTES + CT_BYTES];

    input[0] = DOMAIN_J;
    memcpy(input + 1, h, K_BYTES);
    memcpy(input + 1 + K_BYTES, sigma, K_BYTES);
    memcpy(input + 1 + 2 * K_BYTES, ct, CT_BYTES);
    return pseudo_xof(key, K_BYTES, input, sizeof input);
}
