/*
 * The encryption scheme: Key generation, Encrypt and Decrypt of the description.
 *
 * It does not know where seeds and messages come from, nor what is done about a
 * ciphertext that decrypts to nonsense; that is kem.c.
 */
#include "pke.h"

#include <string.h>

#include "code.h"
#include "pack.h"
#include "product_t.h"
#include "round.h"
#include "symmetric.h"
#include "transform.h"

/* A compressed coefficient: one bit of the q part, and the t part adjusted for what that
 * bit lost. */
typedef struct {
    uint8_t b[LORE_N];
    uint8_t t[LORE_N];
} compressed;

/* What bit b of a compressed coefficient stands for in [0, 256]. */
#define LORE_BACK(b) (129 * (b))

/* A set message bit adds floor(257t/2): nothing modulo 257, and this modulo t. */
#define LORE_HALF (LORE_Q * LORE_T / 2)

static size_t pack_rounded(uint8_t *out, const rounded_vector *v)
{
    size_t at = lore_pack(out, v->q);

    for (unsigned j = 0; LORE_T == 4 && j < LORE_K; j++)
        at += lore_pack_bits(out + at, v->index[j].c, 1);
    return at;
}

static size_t unpack_rounded(rounded_vector *v, const uint8_t *in)
{
    size_t at = lore_unpack(v->q, in);

    memset(v->index, 0, sizeof v->index);
    for (unsigned j = 0; LORE_T == 4 && j < LORE_K; j++)
        at += lore_unpack_bits(v->index[j].c, in + at, 1);
    return at;
}

/* The product of a rounded vector and a secret, both halves in plain order. */
static void inner_product(poly_q *v_q, poly_t *v_t, const rounded_vector *a,
                          const secret_vector *s)
{
    memset(v_q, 0, sizeof *v_q);
    memset(v_t, 0, sizeof *v_t);
    for (unsigned j = 0; j < LORE_K; j++)
        lore_multiply_add(v_q, &a->q[j], &s->q[j]);
    lore_inverse_transform(v_q);

    if (LORE_T == 4) {
        wide_t wide;

        memset(&wide, 0, sizeof wide);
        for (unsigned j = 0; j < LORE_K; j++)
            lore_wide_multiply_add(&wide, &a->index[j], s, j);
        lore_wide_reduce(v_t, &wide);
        for (unsigned x = 0; x < LORE_N; x++)
            v_t->c[x] = mod_t(2 * v_t->c[x]);
    }
}

int lore_pke_keygen(uint8_t pk[LORE_PK_BYTES], uint8_t pke_sk[LORE_PKE_SK_BYTES],
                    const uint8_t seed[LORE_SEED_BYTES])
{
    uint8_t seeds[2 * LORE_SEED_BYTES]; /* seedA || seedS */
    secret_vector s;
    rounded_vector b;
    int status;

    if ((status = lore_Hgen(seeds, seed)) != LORE_OK)
        return status;
    if ((status = lore_sample_secret(&s, seeds + LORE_SEED_BYTES, 0)) != LORE_OK)
        return status;
    if ((status = lore_round_product(&b, seeds, LORE_A, &s)) != LORE_OK)
        return status;

    memset(pk, 0, LORE_PK_BYTES);
    memcpy(pk, seeds, LORE_SEED_BYTES);
    pack_rounded(pk + LORE_SEED_BYTES, &b);
    lore_encode_secret(pke_sk, &s);
    return LORE_OK;
}

/* Adds the noise of (r, nonce k) and the message to v. */
static int add_noise_and_message(poly_q *v_q, poly_t *v_t, const uint8_t m[LORE_MB],
                                 const uint8_t r[LORE_SEED_BYTES])
{
    uint8_t noise[2 * LORE_N]; /* the description draws twice what it uses */
    uint8_t word[LORE_BITS_BYTES];
    uint8_t bit[LORE_N];
    int status = lore_PRF(noise, sizeof noise, r, LORE_K);

    if (status != LORE_OK)
        return status;
    lore_code_encode(word, m);
    lore_unpack_bits(bit, word, 1);
    for (unsigned x = 0; x < LORE_N; x++) {
        const int residue = noise[x] % LORE_T;
        const int e = residue == 3 ? -1 : residue;

        v_q->c[x] = (uint16_t)((v_q->c[x] + LORE_Q + e) % LORE_Q);
        v_t->c[x] = mod_t(v_t->c[x] + e + LORE_HALF * bit[x]);
    }
    return LORE_OK;
}

static void compress(compressed *c, const poly_q *v_q, const poly_t *v_t)
{
    for (unsigned i = 0; i < LORE_N; i++) {
        const int x = v_q->c[i];
        const int b = (2 * x + LORE_Q / 2) / LORE_Q % 2;

        c->b[i] = (uint8_t)b;
        c->t[i] = mod_t(v_t->c[i] + centred_q(LORE_BACK(b) - x));
    }
}

int lore_pke_encrypt(uint8_t ct[LORE_CT_BYTES], const uint8_t pk[LORE_PK_BYTES],
                     const uint8_t m[LORE_MB], const uint8_t r[LORE_SEED_BYTES])
{
    secret_vector s;
    rounded_vector b;
    rounded_vector u;
    poly_q v_q;
    poly_t v_t;
    compressed v;
    size_t at;
    int status;

    if ((status = lore_sample_secret(&s, r, 0)) != LORE_OK)
        return status;
    if ((status = lore_round_product(&u, pk, LORE_A_TRANSPOSED, &s)) != LORE_OK)
        return status;
    unpack_rounded(&b, pk + LORE_SEED_BYTES);
    inner_product(&v_q, &v_t, &b, &s);
    if ((status = add_noise_and_message(&v_q, &v_t, m, r)) != LORE_OK)
        return status;
    compress(&v, &v_q, &v_t);

    memset(ct, 0, LORE_CT_BYTES);
    at = pack_rounded(ct, &u);
    at += lore_pack_bits(ct + at, v.b, 1);
    lore_pack_bits(ct + at, v.t, LORE_T_BITS);
    return LORE_OK;
}

int lore_pke_decrypt(uint8_t m[LORE_MB], const uint8_t pke_sk[LORE_PKE_SK_BYTES],
                     const uint8_t ct[LORE_CT_BYTES])
{
    secret_vector s;
    rounded_vector u;
    poly_q w_q;
    poly_t w_t;
    compressed v;
    uint16_t d0[LORE_N];
    uint16_t d1[LORE_N];
    size_t at;
    int status = lore_decode_secret(&s, pke_sk);

    if (status != LORE_OK)
        return status;
    at = unpack_rounded(&u, ct);
    at += lore_unpack_bits(v.b, ct + at, 1);
    lore_unpack_bits(v.t, ct + at, LORE_T_BITS);
    inner_product(&w_q, &w_t, &u, &s);

    for (unsigned x = 0; x < LORE_N; x++) {
        /* v - u*s as a residue pair (a, tt), and the number val below 257t it stands for. */
        const int a = centred_q(LORE_BACK(v.b[x]) - w_q.c[x]);
        const int tt = v.t[x] - w_t.c[x];
        const int h = mod_t(tt - a);
        const int val = (a + LORE_Q * h + LORE_Q * LORE_T) % (LORE_Q * LORE_T);
        const int opposite = LORE_Q * LORE_T - val;

        d0[x] = (uint16_t)(val < opposite ? val : opposite);
        d1[x] = (uint16_t)(val > LORE_HALF ? val - LORE_HALF : LORE_HALF - val);
    }
    lore_code_decode(m, d0, d1);
    return LORE_OK;
}
