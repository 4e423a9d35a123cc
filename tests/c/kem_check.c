/*
 * kem_check.c - drives one instance of LoongKEM for the tests.
 *
 *   kat              the ten records of the published KAT text, on standard output
 *   honest N         N keys from one seed, each used once; both sides must agree
 *   tamper           changed, random and wrong-length inputs, and the two documented rejections
 *   calls            one line per call of an official helper, per operation
 *
 * It does not judge figures or digests; the Rust side does. Whatever the C side must know to judge, such
 * as where the salt lies, is taken from the parameters. Buffers are allocated at their exact size, so
 * that the address sanitizer sees the first byte written or read too far. `calls` needs the linker's
 * --wrap for the four helpers; the wrappers are silent otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "KEM_Loong.h"
#include "auxfunc.h"
#include "drng.h"
#include "params.h"

DRNG_ctx drng_algorithm;

static int print_calls = 0;

int __real_sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                   unsigned char *digest);
int __real_pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                      unsigned char *digest);
int __real_pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg,
                     unsigned long long bits, unsigned char *output);
int __real_get_random_number(DRNG_ctx *drng, unsigned char *out, unsigned long long bits);
int __wrap_sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                   unsigned char *digest);
int __wrap_pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                      unsigned char *digest);
int __wrap_pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg,
                     unsigned long long bits, unsigned char *output);
int __wrap_get_random_number(DRNG_ctx *drng, unsigned char *out, unsigned long long bits);

int __wrap_sm3hash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                   unsigned char *digest)
{
    if (print_calls) {
        printf("sm3hash %llu %d\n", bits, digest_len_bits);
    }
    return __real_sm3hash(digest_len_bits, msg, bits, digest);
}

int __wrap_pseudohash(int digest_len_bits, const unsigned char *msg, unsigned long long bits,
                      unsigned char *digest)
{
    if (print_calls) {
        printf("pseudohash %llu %d\n", bits, digest_len_bits);
    }
    return __real_pseudohash(digest_len_bits, msg, bits, digest);
}

int __wrap_pseudoXOF(unsigned long long output_len_bits, const unsigned char *msg,
                     unsigned long long bits, unsigned char *output)
{
    if (print_calls) {
        printf("pseudoXOF %llu %llu\n", bits, output_len_bits);
    }
    return __real_pseudoXOF(output_len_bits, msg, bits, output);
}

int __wrap_get_random_number(DRNG_ctx *drng, unsigned char *out, unsigned long long bits)
{
    if (print_calls) {
        printf("get_random_number %llu\n", bits);
    }
    return __real_get_random_number(drng, out, bits);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", ALGORITHM_INSTANCE, what);
    exit(1);
}

static unsigned long long pk_len, sk_len, ct_len, ss_len;
static unsigned char *pk, *sk, *ct, *ss, *ss2;

static unsigned char *bytes(unsigned long long n)
{
    unsigned char *p = calloc(n, 1);

    if (p == NULL) {
        fail("no memory");
    }
    return p;
}

static void seed(const unsigned char *value, unsigned long long n)
{
    if (init_random_number(&drng_algorithm, value, n) != 0) {
        fail("the generator cannot be seeded");
    }
}

static void keygen(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_keygen(pk, &a, sk, &b) != 0 || a != pk_len || b != sk_len) {
        fail("kem_keygen failed or returned other lengths");
    }
}

static void enc(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_enc(pk, pk_len, ss, &a, ct, &b) != 0 || a != ss_len || b != ct_len) {
        fail("kem_enc failed or returned other lengths");
    }
}

/* Decapsulates `what` into ss2. */
static void dec(unsigned char *what)
{
    unsigned long long a = 0;

    if (kem_dec(sk, sk_len, what, ct_len, ss2, &a) != 0 || a != ss_len) {
        fail("kem_dec did not return 0, or another length");
    }
}

static int agree(void)
{
    return memcmp(ss, ss2, ss_len) == 0;
}

static void print_value(const char *name, const unsigned char *value, unsigned long long n)
{
    unsigned long long i;

    printf("%s_Len = %llu\n%s = ", name, n, name);
    for (i = 0; i < n; i++) {
        printf("%02X", value[i]);
    }
    printf("\n");
}

static void kat(void)
{
    DRNG_ctx seeds;
    unsigned char value[64];
    int i;

    for (i = 0; i < 64; i += 4) {
        memcpy(value + i, "seed", 4);
    }
    init_random_number(&seeds, value, 64);
    for (i = 0; i < 10; i++) {
        get_random_number(&seeds, value, 512);
        seed(value, 64);
        keygen();
        enc();
        dec(ct);
        if (!agree()) {
            fail("the two secrets of a record differ");
        }
        printf("Count = %d\n", i);
        print_value("Seed", value, 64);
        print_value("PK", pk, pk_len);
        print_value("SK", sk, sk_len);
        print_value("CT", ct, ct_len);
        print_value("SS", ss, ss_len);
        printf("\n");
    }
}

/* The seed of the documented rejections: bytes 00, 01, ..., 2f. */
static void seed_counting(void)
{
    unsigned char value[48];
    unsigned char i;

    for (i = 0; i < 48; i++) {
        value[i] = i;
    }
    seed(value, sizeof value);
}

static void honest(int n)
{
    int i;

    seed((const unsigned char *)"honest", 6);
    for (i = 0; i < n; i++) {
        keygen();
        enc();
        dec(ct);
        if (!agree()) {
            fail("an honest decapsulation gave another secret");
        }
    }
    printf("%d\n", n);
}

static void wrong_lengths(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_enc(pk, pk_len - 1, ss2, &a, ct, &b) != -2 ||
        kem_dec(sk, sk_len - 1, ct, ct_len, ss2, &a) != -2 ||
        kem_dec(sk, sk_len, ct, ct_len - 1, ss2, &a) != -2 ||
        kem_dec(sk, sk_len, ct, ct_len + 1, ss2, &a) != -2) {
        fail("a wrong length was not refused with -2");
    }
}

/* Flips one bit and says what the secret became: the honest one, Kbar, its top bits, or another. */
static const char *flipped(unsigned long long byte, unsigned bit)
{
    unsigned char *changed = bytes(ct_len), *salt_c = bytes(S + ct_len), *Kbar = bytes(ss_len);
    int is_Kbar = 1, is_top = 1;
    unsigned long long i;

    /* As long as the message stays right, the re-encryption is the honest ciphertext. */
    memcpy(salt_c, sk + sk_len - S, S);
    memcpy(salt_c + S, ct, ct_len);
    pseudoXOF(8 * ss_len, salt_c, 8 * (S + ct_len), Kbar);

    memcpy(changed, ct, ct_len);
    changed[byte] = (unsigned char)(changed[byte] ^ (1U << bit));
    dec(changed);
    for (i = 0; i < ss_len; i++) {
        is_Kbar &= ss2[i] == Kbar[i];
        is_top &= ss2[i] == ((ss[i] & 0x7f) | (Kbar[i] & 0x80));
    }
    free(changed);
    free(salt_c);
    free(Kbar);
    return agree() ? "honest" : is_Kbar ? "Kbar" : is_top ? "top bits of Kbar" : "other";
}

static void tamper(void)
{
    unsigned char *changed = bytes(ct_len);
    unsigned long long at;
    int i;

    seed_counting();
    keygen();
    enc();
    dec(ct);
    if (!agree()) {
        fail("the honest decapsulation gave another secret");
    }
    wrong_lengths();
    printf("byte 5 bit 0: %s\n", flipped(5, 0));
    printf("byte 5 bit 7: %s\n", flipped(5, 7));

    for (i = 0; i < 40; i++) { /* all parts of the ciphertext, all bits of a byte */
        at = (unsigned long long)i * (ct_len - 1) / 39;
        if (strcmp(flipped(at, (unsigned)i % 8), "honest") == 0) {
            fail("a flipped bit gave the honest secret");
        }
    }
    for (i = 0; i < 4; i++) { /* all 0, all 1, random; then a random secret key */
        if (i < 2) {
            memset(changed, i == 0 ? 0 : 0xff, ct_len);
        } else {
            get_random_number(&drng_algorithm, changed, 8 * ct_len);
        }
        if (i == 3) {
            get_random_number(&drng_algorithm, sk, 8 * sk_len);
        }
        dec(changed);
        if (agree()) {
            fail("a foreign ciphertext gave the honest secret");
        }
    }
    memset(sk, 0xff, sk_len); /* the largest coefficients a key can hold */
    memset(changed, 0xff, ct_len);
    dec(changed);
    memset(pk, 0xff, pk_len);
    enc();
    free(changed);
}

static void calls(void)
{
    seed_counting();
    print_calls = 1;
    printf("keygen\n");
    keygen();
    printf("enc\n");
    enc();
    printf("dec\n");
    dec(ct);
}

int main(int argc, char **argv)
{
    pk_len = kem_get_pk_len_bytes();
    sk_len = kem_get_sk_len_bytes();
    ct_len = kem_get_ct_len_bytes();
    ss_len = kem_get_ss_len_bytes();
    pk = bytes(pk_len);
    sk = bytes(sk_len);
    ct = bytes(ct_len);
    ss = bytes(ss_len);
    ss2 = bytes(ss_len);

    if (argc == 2 && strcmp(argv[1], "kat") == 0) {
        kat();
    } else if (argc == 3 && strcmp(argv[1], "honest") == 0) {
        honest(atoi(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "tamper") == 0) {
        tamper();
    } else if (argc == 2 && strcmp(argv[1], "calls") == 0) {
        calls();
    } else {
        fail("usage: kem_check kat | honest N | tamper | calls");
    }
    free(pk);
    free(sk);
    free(ct);
    free(ss);
    free(ss2);
    return 0;
}
