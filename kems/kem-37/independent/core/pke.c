/* TriQ-KEM's public-key encryption; the letters are those of the description. */
#include "pke.h"

#include <string.h>

#include "hashes.h"
#include "sampling.h"

static const struct concatenated_code CODE = {PARAM_N1, K_BYTES, PARAM_MULT, CONCATENATED_NO_ERASURES};

/* product = dense * sparse in F2[X]/(X^n - 1). */
static void multiply(uint8_t product[N_BYTES], const uint8_t *dense, const uint32_t *support)
{
    uint64_t work[GF2X_WORK_WORDS(PARAM_N)];

    gf2x_mul_sparse(product, dense, support, PARAM_W, PARAM_N, work);
}

/* h, the public polynomial that seed_ek stands for. */
static int expand_h(uint8_t h[N_BYTES], const uint8_t seed_ek[K_BYTES])
{
    struct stream stream;

    stream_start_xof(&stream, seed_ek);
    return sample_uniform(h, &stream);
}

int pke_keygen(uint8_t ek[PK_BYTES], uint8_t seed_dk[K_BYTES], const uint8_t seed[K_BYTES])
{
    uint8_t *seed_ek = ek;
    uint8_t *s = ek + K_BYTES;
    uint32_t x[PARAM_W];
    uint32_t y[PARAM_W];
    uint8_t h[N_BYTES];
    struct stream stream;

    if (hash_i(seed_dk, seed_ek, seed) != 0) {
        return -1;
    }
    stream_start_xof(&stream, seed_dk);
    if (sample_secret(y, &stream) != 0 || sample_secret(x, &stream) != 0 || expand_h(h, seed_ek) != 0) {
        return -1;
    }
    /* s = x + h y */
    multiply(s, h, y);
    gf2x_add_support(s, x, PARAM_W, PARAM_N);
    return 0;
}

int pke_encrypt(uint8_t u[N_BYTES], uint8_t v[N12_BYTES], const uint8_t ek[PK_BYTES],
                const uint8_t m[K_BYTES], const uint8_t theta[K_BYTES])
{
    const uint8_t *seed_ek = ek;
    const uint8_t *s = ek + K_BYTES;
    uint32_t r1[PARAM_W];
    uint32_t r2[PARAM_W];
    uint32_t e[PARAM_WE];
    uint8_t h[N_BYTES];
    uint8_t noise[N_BYTES];
    struct stream stream;

    stream_start_xof(&stream, theta);
    if (sample_bounded(r2, &stream) != 0 || sample_error(e, &stream) != 0 ||
        sample_bounded(r1, &stream) != 0 || expand_h(h, seed_ek) != 0) {
        return -1;
    }
    /* u = r1 + h r2 */
    multiply(u, h, r2);
    gf2x_add_support(u, r1, PARAM_W, PARAM_N);

    /* v = Code(m) + the first N12 bits of s r2 + e */
    multiply(noise, s, r2);
    gf2x_add_support(noise, e, PARAM_WE, PARAM_N);
    concatenated_encode(v, m, &CODE);
    bytes_add(v, noise, N12_BYTES);
    return 0;
}

int pke_decrypt(uint8_t m[K_BYTES], const uint8_t seed_dk[K_BYTES], const uint8_t u[N_BYTES],
                const uint8_t v[N12_BYTES])
{
    uint32_t y[PARAM_W];
    uint8_t product[N_BYTES];
    uint8_t noisy[N12_BYTES];
    struct stream stream;

    stream_start_xof(&stream, seed_dk);
    if (sample_secret(y, &stream) != 0) {
        return -1;
    }
    multiply(product, u, y);
    memcpy(noisy, v, N12_BYTES);
    bytes_add(noisy, product, N12_BYTES);
    concatenated_decode(m, noisy, &CODE);
    return 0;
}
