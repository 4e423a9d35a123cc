/*
 * kem_check.c - asks an instance what any KEM can be asked, one question a run.
 *
 *   kat              the ten records of the published KAT text, on standard output
 *   honest N         N keys from one seed, each used once; both sides must agree
 *   calls            one line per call of an official helper, per operation
 *
 * It does not judge figures or digests; the Rust side does. `calls` needs the linker's --wrap for the four
 * helpers; the wrappers are silent otherwise.
 */
#include "auxfunc.h"
#include "kem_drive.h"

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
    setup();
    if (argc == 2 && strcmp(argv[1], "kat") == 0) {
        kat();
    } else if (argc == 3 && strcmp(argv[1], "honest") == 0) {
        honest(atoi(argv[2]));
    } else if (argc == 2 && strcmp(argv[1], "calls") == 0) {
        calls();
    } else {
        fail("usage: kem_check kat | honest N | calls");
    }
    teardown();
    return 0;
}
