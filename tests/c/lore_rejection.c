/*
 * lore_rejection.c - questions to Lore as a KEM: which inputs it refuses, and what a foreign or changed
 * ciphertext decapsulates to.
 *
 * The rejected secret is computed here from the definition.
 */
#include "kem_drive.h"

#include "bits.h"
#include "lore_check.h"
#include "symmetric.h"

void reject(void)
{
    DRNG_ctx seeds;
    uint8_t value[64];

    for (unsigned i = 0; i < 64; i += 4) {
        memcpy(value + i, "seed", 4);
    }
    init_random_number(&seeds, value, sizeof value);
    get_random_number(&seeds, value, 8 * sizeof value);
    seed(value, sizeof value);
    setup();
    keygen();
    enc();
    flip_bit(ct, 0, 1);
    dec(ct);
    print_hex(ss2, LORE_SS_BYTES);
    teardown();
}

/* Decapsulates a ciphertext that is not honest: the secret must be KDF(z || H(ct)). */
static void check_rejected(uint8_t *what, const char *name)
{
    uint8_t input[2 * LORE_HASH_BYTES], expected[LORE_SS_BYTES];

    memcpy(input, sk + LORE_SK_BYTES - LORE_HASH_BYTES, LORE_HASH_BYTES);
    lore_H(input + LORE_HASH_BYTES, what, LORE_CT_BYTES);
    lore_KDF(expected, input);
    dec(what);
    check(memcmp(ss2, expected, LORE_SS_BYTES) == 0, name);
    check(!agree(), name);
}

static void foreign_inputs(uint8_t *changed)
{
    memset(changed, 0, LORE_CT_BYTES);
    check_rejected(changed, "a ciphertext of zeros");
    memset(changed, 0xff, LORE_CT_BYTES);
    check_rejected(changed, "a ciphertext of ones");
    random_bytes(changed, LORE_CT_BYTES);
    check_rejected(changed, "a random ciphertext");

    memset(pk, 0xff, LORE_PK_BYTES);
    enc();
    random_bytes(pk, LORE_PK_BYTES);
    enc();
}

static void wrong_lengths(void)
{
    unsigned long long a = 77, b = 77;

    check(kem_enc(pk, LORE_PK_BYTES - 1, ss2, &a, ct, &b) == LORE_BAD_LENGTH, "a short public key");
    check(kem_enc(pk, LORE_PK_BYTES + 1, ss2, &a, ct, &b) == LORE_BAD_LENGTH, "a long public key");
    check(kem_dec(sk, LORE_SK_BYTES - 1, ct, LORE_CT_BYTES, ss2, &a) == LORE_BAD_LENGTH,
          "a short secret key");
    check(kem_dec(sk, LORE_SK_BYTES, ct, LORE_CT_BYTES - 1, ss2, &a) == LORE_BAD_LENGTH,
          "a short ciphertext");
    check(kem_dec(sk, LORE_SK_BYTES, ct, LORE_CT_BYTES + 1, ss2, &a) == LORE_BAD_LENGTH,
          "a long ciphertext");
    check(a == 77 && b == 77, "a refusal reported a length");
}

/* Writes a word into the secret key for one decapsulation, which must refuse the key. */
static void refuse_word(size_t at, unsigned word, const char *name)
{
    unsigned long long a = 77;
    uint8_t kept[2];

    memcpy(kept, sk + at, 2);
    sk[at] = (uint8_t)(word & 255);
    sk[at + 1] = (uint8_t)(word >> 8);
    check(kem_dec(sk, LORE_SK_BYTES, ct, LORE_CT_BYTES, ss2, &a) == LORE_BAD_KEY && a == 77, name);
    memcpy(sk + at, kept, 2);
}

static void malformed_keys(void)
{
    const unsigned count = sk[0] | (unsigned)sk[1] << 8;
    const size_t values = 2 * LORE_K + 2 * (size_t)count;

    refuse_word(0, count - 1, "too few values");
    refuse_word(0, count + 1, "too many values");
    refuse_word(0, 65535, "the largest count");
    refuse_word(2 * LORE_K, LORE_N, "the first position outside");
    refuse_word(2 * LORE_K, 65535, "the largest position");
    refuse_word(values, 0x0100, "a value of 0");
    refuse_word(values, 0x0103, "a value of 3");
    refuse_word(values, 0x0180, "a value of -128");
    dec(ct);
    check(agree(), "the restored key does not work");
}

void tamper(void)
{
    uint8_t *changed;

    setup();
    changed = bytes(LORE_CT_BYTES);
    keygen();
    enc();
    dec(ct);
    check(agree(), "the honest secret differs");
    wrong_lengths();
    malformed_keys();
    for (unsigned i = 0; i < 40; i++) { /* from the first byte to the zero fill at the end */
        const size_t byte = (size_t)i * (LORE_CT_BYTES - 1) / 39;

        memcpy(changed, ct, LORE_CT_BYTES);
        flip_bit(changed, 8 * byte + i % 8, 1);
        check_rejected(changed, "a flipped bit");
    }
    foreign_inputs(changed);
    free(changed);
    teardown();
}
