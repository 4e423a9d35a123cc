/*
 * hqc_check.c - what only an instance of HARE or TriQ-KEM can be asked: how it treats wrong input.
 *
 * Prints what the first changed ciphertext and wrong lengths give, then changes every part of the
 * ciphertext and the key. The Rust side compares what is printed with the description; that a changed
 * ciphertext gives another secret, twice the same one, with the same return value as the first, is judged
 * here. The keys are those of KAT record 0, since the description names the secret of a rejection for
 * them. What any KEM can be asked is in kem_check.c.
 */
#include "kem_drive.h"
#include "sizes.h"

static void check(int holds, const char *what)
{
    if (!holds) {
        fail(what);
    }
}

/* Decapsulates into `secret`. */
static int open_into(unsigned char *secret, unsigned char *ciphertext)
{
    unsigned long long length = 0;
    int result = kem_dec(sk, SK_BYTES, ciphertext, CT_BYTES, secret, &length);

    check(length == K_BYTES, "a secret is returned, whatever came in");
    return result;
}

/* Decapsulates a ciphertext that nobody made: another secret, the same one each time. */
static int rejected(unsigned char *ciphertext)
{
    unsigned char again[K_BYTES];
    int result = open_into(ss2, ciphertext);

    check(!agree(), "another secret for a changed ciphertext");
    check(open_into(again, ciphertext) == result && memcmp(again, ss2, K_BYTES) == 0,
          "the same answer twice");
    return result;
}

static int flipped(size_t byte, unsigned bit)
{
    int result;

    ct[byte] = (unsigned char)(ct[byte] ^ (1u << bit));
    result = rejected(ct);
    ct[byte] = (unsigned char)(ct[byte] ^ (1u << bit));
    return result;
}

/* The keys and the exchange of KAT record 0. */
static void record_0(void)
{
    unsigned char value[64];

    for (size_t i = 0; i < sizeof value; i += 4) {
        memcpy(value + i, "seed", 4);
    }
    seed(value, sizeof value);
    get_random_number(&drng_algorithm, value, 512);
    seed(value, sizeof value);
    keygen();
    enc();
    dec(ct);
    check(agree(), "the honest secret");
}

/* Lengths that are off by one; the buffers are not, and what is refused is not read. */
static void print_wrong_lengths(void)
{
    unsigned long long a = 0, b = 0;

    printf("enc pk %d\n", kem_enc(pk, PK_BYTES - 1, ss2, &a, ct, &b));
    printf("dec sk %d\n", kem_dec(sk, SK_BYTES - 1, ct, CT_BYTES, ss2, &a));
    printf("dec ct %d %d\n", kem_dec(sk, SK_BYTES, ct, CT_BYTES - 1, ss2, &a),
           kem_dec(sk, SK_BYTES, ct, CT_BYTES + 1, ss2, &a));
}

static void tamper(void)
{
    unsigned char *foreign = bytes(CT_BYTES);
    unsigned long long a = 0, b = 0;
    int usual;

    record_0();
    usual = flipped(0, 0);
    printf("flipped %d ", usual);
    for (size_t i = 0; i < 8; i++) {
        printf("%02x", ss2[i]);
    }
    printf("\n");
    print_wrong_lengths();

    for (size_t i = 0; i < 24; i++) { /* all parts, all bits of a byte */
        check(flipped(i * (CT_BYTES - 1) / 23, (unsigned)i % 8) == usual, "the usual return value");
    }
    /* A bit of u behind coefficient n - 1, and the last one before the salt: in HARE mostly filling too. */
    check(flipped(N_BYTES - 1, 7) == usual, "the usual return value for a bit of no coefficient");
    check(flipped(BODY_BYTES - 1, 7) == usual, "the usual return value for the last bit before the salt");

    for (int i = 0; i < 4; i++) { /* all 0, all 1, random; then a random secret key */
        memset(foreign, i == 1 ? 0xff : 0, CT_BYTES);
        if (i >= 2) {
            get_random_number(&drng_algorithm, foreign, 8ull * CT_BYTES);
        }
        if (i == 3) {
            get_random_number(&drng_algorithm, sk, 8ull * SK_BYTES);
        }
        check(rejected(foreign) == usual, "the usual return value for a foreign ciphertext");
    }
    memset(pk, 0xff, PK_BYTES); /* with unused bits set */
    check(kem_enc(pk, PK_BYTES, ss2, &a, foreign, &b) == 0, "enc to a foreign key");
    free(foreign);
}

int main(void)
{
    setup();
    tamper();
    teardown();
    return 0;
}
