/*
 * lore_parts.c - questions to the parts of Lore below the KEM: Keccak, transform, codes, sampler.
 *
 * Each function is one question of lore_check.c. What has a definition is compared with a plain
 * transcription of it here; what has published values is printed.
 */
#include <string.h>

#include "bits.h"
#include "code.h"
#include "lore_check.h"
#include "secret.h"
#include "symmetric.h"
#include "transform.h"
#ifdef LORE_BCH_M
#include "bch.h"
#endif

void keccak(void)
{
#ifdef LORE_FAMILY_SHAKE
    static const size_t lengths[] = {0, 3, 135, 136, 137, 167, 168, 169, 400};
    uint8_t message[400];
    uint8_t out[500];

    for (size_t i = 0; i < sizeof message; i++) {
        message[i] = (uint8_t)i;
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        shake_state s;

        sha3_256(out, message, lengths[i]);
        print_hex(out, 32);
        shake256(out, 500, message, lengths[i]);
        print_hex(out, 500);
        shake128_absorb(&s, message, lengths[i]);
        shake_squeeze(&s, out, 168); /* in pieces, one of which ends a block */
        shake_squeeze(&s, out + 168, 1);
        shake_squeeze(&s, out + 169, 331);
        print_hex(out, 500);
    }
#else
    check(0, "this family has no Keccak");
#endif
}

/* ---- transform ---- */

static void random_poly(poly_q *p)
{
    for (unsigned x = 0; x < LORE_N; x++) {
        p->c[x] = (uint16_t)random_below(LORE_Q);
    }
}

/* The product modulo X^n + 1 as it is defined. */
static void plain_product(poly_q *r, const poly_q *a, const poly_q *b)
{
    static long sum[2 * LORE_N];

    memset(sum, 0, sizeof sum);
    for (unsigned i = 0; i < LORE_N; i++) {
        for (unsigned j = 0; j < LORE_N; j++) {
            sum[i + j] += (long)a->c[i] * b->c[j];
        }
    }
    for (unsigned x = 0; x < LORE_N; x++) {
        const long c = (sum[x] - sum[x + LORE_N]) % LORE_Q;

        r->c[x] = (uint16_t)(c < 0 ? c + LORE_Q : c);
    }
}

void transform(void)
{
    static const uint16_t first[8] = {3, 254, 209, 48, 192, 65, 12, 245};
    poly_q a, b, product, expected;

    memset(&a, 0, sizeof a);
    a.c[LORE_D] = 1;
    lore_transform(&a);
    for (unsigned x = 0; x < LORE_N; x++) {
        check(x % LORE_D == 0 ? x >= 8 * LORE_D || a.c[x] == first[x / LORE_D] : a.c[x] == 0,
              "the transform of X^d is not as described");
    }
    for (int i = 0; i < 6; i++) {
        random_poly(&a);
        random_poly(&b);
        if (i == 0) { /* the largest coefficients */
            for (unsigned x = 0; x < LORE_N; x++) {
                a.c[x] = b.c[x] = LORE_Q - 1;
            }
        }
        plain_product(&expected, &a, &b);
        lore_transform(&a);
        lore_transform(&b);
        memset(&product, 0, sizeof product);
        lore_multiply_add(&product, &a, &b);
        lore_inverse_transform(&product);
        check(memcmp(&product, &expected, sizeof product) == 0, "a product differs");
    }
}

/* ---- codes ---- */

void code(void)
{
    uint8_t message[LORE_MB];
    uint8_t word[LORE_BITS_BYTES];

    for (unsigned i = 0; i < LORE_MB; i++) {
        message[i] = (uint8_t)i;
    }
    lore_code_encode(word, message);
    print_hex(word, sizeof word);
    memset(message, 0, sizeof message);
    message[0] = 1;
    lore_code_encode(word, message);
    print_hex(word, sizeof word);
}

#ifdef LORE_BCH_M
/* Flips `errors` distinct bits of the word. */
static void inject(uint8_t *word, unsigned errors)
{
    uint8_t hit[LORE_BITS_BYTES] = {0};

    while (errors > 0) {
        const unsigned p = random_below(LORE_BCH_LENGTH);

        if (bit_at(hit, p) == 0) {
            flip_bit(hit, p, 1);
            flip_bit(word, p, 1);
            errors--;
        }
    }
}

static void bch_once(unsigned errors)
{
    uint8_t message[LORE_MB], sent[LORE_BITS_BYTES], got[LORE_BITS_BYTES], again[LORE_BITS_BYTES];
    int corrected;

    random_bytes(message, sizeof message);
    lore_code_encode(sent, message);
    for (unsigned p = LORE_BCH_LENGTH; p < LORE_N; p++) { /* not part of the word */
        flip_bit(sent, p, random_below(2));
    }
    memcpy(got, sent, sizeof got);
    inject(got, errors);
    memcpy(again, got, sizeof again);
    corrected = lore_bch_correct(got);
    if (errors <= LORE_BCH_T) {
        check(corrected == (int)errors, "a correctable word was not corrected");
        check(memcmp(got, sent, sizeof got) == 0, "a word was corrected to another");
    } else if (corrected < 0) {
        check(memcmp(got, again, sizeof got) == 0, "a word beyond repair was changed");
    } else {
        /* The word fell into the sphere of another code word: then it must be one. */
        check(corrected <= LORE_BCH_T, "more errors than the code corrects");
        check(lore_bch_correct(got) == 0, "the corrected word is not a code word");
        check(memcmp(got, sent, LORE_MB) != 0, "more errors corrected than the code can");
    }
}
#endif

void bch(void)
{
#ifdef LORE_BCH_M
    uint16_t d0[LORE_N], d1[LORE_N];
    uint8_t message[LORE_MB], zero[LORE_MB] = {0};
    uint8_t word[LORE_BITS_BYTES];

    for (unsigned errors = 0; errors <= LORE_BCH_T + 6; errors++) {
        for (int i = 0; i < 20; i++) {
            bch_once(errors);
        }
    }
    /* Half the bits wrong decode to nothing, and nothing is the zero message. */
    memset(message, 0x5a, sizeof message);
    lore_code_encode(word, message);
    inject(word, LORE_BCH_LENGTH / 2);
    for (unsigned x = 0; x < LORE_N; x++) {
        d0[x] = (uint16_t)bit_at(word, x);
        d1[x] = (uint16_t)(1 - d0[x]);
    }
    lore_code_decode(message, d0, d1);
    check(memcmp(message, zero, sizeof zero) == 0, "a failure is not the zero message");
#else
    check(0, "this instance repeats its bits");
#endif
}

/* ---- the sampler's words ---- */

#define INSERTED_AT 100 /* bytes */
#define INSERTED 140    /* bytes: 70 words, and 64 are spare */
static enum { REAL, ZEROS_INSERTED, ONLY_ZEROS } prf_mode = REAL;
static int prf_calls = 0;

int __real_lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce);
int __wrap_lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce);

int __wrap_lore_PRF(uint8_t *out, size_t length, const uint8_t key[LORE_SEED_BYTES], uint8_t nonce)
{
    const int status = __real_lore_PRF(out, length, key, nonce);

    prf_calls++;
    if (prf_mode == ZEROS_INSERTED) {
        memmove(out + INSERTED_AT + INSERTED, out + INSERTED_AT, length - INSERTED_AT - INSERTED);
        memset(out + INSERTED_AT, 0, INSERTED);
    } else if (prf_mode == ONLY_ZEROS) {
        memset(out, 0, length);
    }
    return status;
}

static int sample(secret_vector *s, const uint8_t seed[LORE_SEED_BYTES])
{
    prf_calls = 0;
    return lore_sample_secret(s, seed, 0);
}

/* The sampler skips a word of 0, so words of 0 may delay a secret and must not change it. */
void runout(void)
{
    secret_vector expected, got;
    uint8_t seed[LORE_SEED_BYTES];

    for (int i = 0; i < 20; i++) {
        random_bytes(seed, sizeof seed);
        prf_mode = REAL;
        check(sample(&expected, seed) == LORE_OK && prf_calls == 1, "not one call for a secret");
        prf_mode = ZEROS_INSERTED;
        check(sample(&got, seed) == LORE_OK && prf_calls == 2, "the sampler did not read on");
        check(memcmp(&expected, &got, sizeof got) == 0, "reading on changed the secret");
    }
    prf_mode = ONLY_ZEROS;
    check(sample(&got, seed) == LORE_NO_HASH && prf_calls == 2, "no end to reading on");
}
