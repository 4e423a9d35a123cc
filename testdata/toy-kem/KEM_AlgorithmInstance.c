/*
 * The toy KEM: hides a random string under a mask made from the public key.
 *
 * Does not know: security. README.md says what it is for and lists the defines that break it.
 */
#include "KEM_AlgorithmInstance.h"

#include "auxfunc.h"
#include "drng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 32, PK = 40, SK = SEED + PK, CT = 48, SS = 32 };

extern DRNG_ctx drng_algorithm;

/* Not static, so that a test can see that it stays inside the library. */
int toy_secret(const unsigned char *pk, const unsigned char *hidden, unsigned char *ss);

int toy_secret(const unsigned char *pk, const unsigned char *hidden, unsigned char *ss)
{
    unsigned char text[PK + CT];
    memcpy(text, pk, PK);
    memcpy(text + PK, hidden, CT);
    return sm3hash(256, text, 8 * sizeof text, ss);
}

static int mask(const unsigned char *pk, const unsigned char *in, unsigned char *out)
{
    unsigned char pad[CT];
    int i, result = pseudoXOF(8 * CT, pk, 8 * PK, pad);
    for (i = 0; i < CT; i++)
        out[i] = in[i] ^ pad[i];
    return result;
}

#ifdef TOY_STACK
static volatile int bottomless = 1;

static int sink(int depth)
{
    volatile char page[4096];
    page[depth % 4096] = (char)depth;
    if (!bottomless)
        return depth;
    return sink(depth + 1) + page[(depth + 1) % 4096];
}
#endif

unsigned long long kem_get_pk_len_bytes()
{
#ifdef TOY_HUGE
    return 1ull << 30;
#else
    return PK;
#endif
}

unsigned long long kem_get_sk_len_bytes()
{
    return SK;
}

unsigned long long kem_get_ss_len_bytes()
{
    return SS;
}

unsigned long long kem_get_ct_len_bytes()
{
    return CT;
}

int kem_keygen(unsigned char *pk, unsigned long long *pk_len_bytes, unsigned char *sk,
               unsigned long long *sk_len_bytes)
{
#ifdef TOY_STACK
    if (sink(0) == 1)
        return -2;
#endif
    if (get_random_number(&drng_algorithm, sk, 8 * SEED) != 0 || pseudoXOF(8 * PK, sk, 8 * SEED, pk) != 0)
        return -1;
    memcpy(sk + SEED, pk, PK);
    *pk_len_bytes = PK;
    *sk_len_bytes = SK;
    return 0;
}

int kem_enc(unsigned char *pk, unsigned long long pk_len_bytes, unsigned char *ss,
            unsigned long long *ss_len_bytes, unsigned char *ct, unsigned long long *ct_len_bytes)
{
    unsigned char hidden[CT];
#ifdef TOY_HANG
    volatile int forever = 1;
    while (forever) {
    }
#endif
#ifdef TOY_PRINT
    printf("toy: encapsulating\n");
    fflush(stdout);
#endif
    if (pk_len_bytes != PK || get_random_number(&drng_algorithm, hidden, 8 * CT) != 0 ||
        mask(pk, hidden, ct) != 0 || toy_secret(pk, hidden, ss) != 0)
        return -1;
    *ss_len_bytes = SS;
    *ct_len_bytes = CT;
#ifdef TOY_OVERFLOW
    memset(ct + CT, 0, 8);
#endif
#ifdef TOY_UNDERFLOW
    ct[-1] = 0;
#endif
#ifdef TOY_LONG_LEN
    *ct_len_bytes = CT + 1;
#endif
    return 0;
}

int kem_dec(unsigned char *sk, unsigned long long sk_len_bytes, unsigned char *ct,
            unsigned long long ct_len_bytes, unsigned char *ss, unsigned long long *ss_len_bytes)
{
    unsigned char hidden[CT];
#ifdef TOY_CRASH
    volatile unsigned char *volatile nowhere = NULL;
    if (*nowhere == 0)
        return -3;
#endif
#ifdef TOY_EXIT
    exit(0);
#endif
#ifdef TOY_REFUSE
    return -1;
#endif
    if (sk_len_bytes != SK || ct_len_bytes != CT || mask(sk + SEED, ct, hidden) != 0 ||
        toy_secret(sk + SEED, hidden, ss) != 0)
        return -1;
    *ss_len_bytes = SS;
#ifdef TOY_WRONG_SS
    ss[SS - 1] ^= 1;
#endif
#ifdef TOY_SHORT_SS
    *ss_len_bytes = SS - 1;
#endif
    return 0;
}
