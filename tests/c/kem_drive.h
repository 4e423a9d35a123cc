/*
 * kem_drive.h - one instance of a KEM in the hands of a check program: its buffers, its lengths and its
 * operations, each of which must work and return the claimed lengths.
 *
 * Included once a program. It does not know the KEM: a header of another name than the official one comes
 * in by -DKEM_HEADER. Buffers are allocated at their exact size, so that the address sanitizer sees the
 * first byte written or read too far.
 */
#ifndef KEM_DRIVE_H
#define KEM_DRIVE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef KEM_HEADER
#define KEM_HEADER "KEM_AlgorithmInstance.h"
#endif
#include KEM_HEADER
#include "drng.h"

DRNG_ctx drng_algorithm;

static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", ALGORITHM_INSTANCE, what);
    exit(1);
}

static unsigned long long pk_len, sk_len, ct_len, ss_len;
static unsigned char *pk, *sk, *ct, *ss, *ss2;

static inline unsigned char *bytes(unsigned long long n)
{
    unsigned char *p = calloc(n, 1);

    if (p == NULL) {
        fail("no memory");
    }
    return p;
}

static inline void setup(void)
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
}

static inline void teardown(void)
{
    free(pk);
    free(sk);
    free(ct);
    free(ss);
    free(ss2);
}

static inline void seed(const unsigned char *value, unsigned long long n)
{
    if (init_random_number(&drng_algorithm, value, n) != 0) {
        fail("the generator cannot be seeded");
    }
}

static inline void keygen(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_keygen(pk, &a, sk, &b) != 0 || a != pk_len || b != sk_len) {
        fail("kem_keygen failed or returned other lengths");
    }
}

static inline void enc(void)
{
    unsigned long long a = 0, b = 0;

    if (kem_enc(pk, pk_len, ss, &a, ct, &b) != 0 || a != ss_len || b != ct_len) {
        fail("kem_enc failed or returned other lengths");
    }
}

/* Decapsulates `what` into ss2. */
static inline void dec(unsigned char *what)
{
    unsigned long long a = 0;

    if (kem_dec(sk, sk_len, what, ct_len, ss2, &a) != 0 || a != ss_len) {
        fail("kem_dec did not return 0, or another length");
    }
}

static inline int agree(void)
{
    return memcmp(ss, ss2, ss_len) == 0;
}

/* The seed of the published measurements: bytes 00, 01, ..., 2f. */
static inline void seed_counting(void)
{
    unsigned char value[48];
    unsigned char i;

    for (i = 0; i < 48; i++) {
        value[i] = i;
    }
    seed(value, sizeof value);
}

#endif
