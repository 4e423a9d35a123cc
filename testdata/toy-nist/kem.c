/*
 * The toy KEM with the NIST API: hides a random string under a mask made from the public key.
 *
 * Does not know: security. README.md says what it is for.
 */
#include "api.h"
#include "randombytes.h"

#include <string.h>

enum { SEED = 32, PK = TOY_CRYPTO_PUBLICKEYBYTES, CT = TOY_CRYPTO_CIPHERTEXTBYTES, SS = TOY_CRYPTO_BYTES };

/* A stream from a text, by FNV-1a and a shift; anything that every compiler computes alike will do. */
static void stretch(unsigned char *out, int out_bytes, const unsigned char *in, int bytes)
{
    unsigned long state = 0x811c9dc5ul;
    int i;
    for (i = 0; i < bytes; i++)
        state = (state ^ in[i]) * 0x01000193ul & 0xfffffffful;
    for (i = 0; i < out_bytes; i++) {
        state = (state ^ (unsigned char)i) * 0x01000193ul & 0xfffffffful;
        out[i] = (unsigned char)(state >> 16 & 0xff);
    }
}

static void mask(unsigned char *out, const unsigned char *in, const unsigned char *pk)
{
    unsigned char pad[CT];
    int i;
    stretch(pad, CT, pk, PK);
    for (i = 0; i < CT; i++)
        out[i] = (unsigned char)(in[i] ^ pad[i]);
}

static void secret(unsigned char *ss, const unsigned char *hidden, const unsigned char *pk)
{
    unsigned char text[PK + CT];
    memcpy(text, pk, PK);
    memcpy(text + PK, hidden, CT);
    stretch(ss, SS, text, PK + CT);
}

int TOY_crypto_kem_keypair(unsigned char *pk, unsigned char *sk)
{
    if (randombytes(sk, SEED) != 0)
        return -1;
    stretch(pk, PK, sk, SEED);
    memcpy(sk + SEED, pk, PK);
    return 0;
}

int TOY_crypto_kem_enc(unsigned char *ct, unsigned char *ss, const unsigned char *pk)
{
    unsigned char hidden[CT];
    if (randombytes(hidden, CT) != 0)
        return -1;
    mask(ct, hidden, pk);
    secret(ss, hidden, pk);
    return 0;
}

int TOY_crypto_kem_dec(unsigned char *ss, const unsigned char *ct, const unsigned char *sk)
{
    unsigned char hidden[CT];
    mask(hidden, ct, sk + SEED);
    secret(ss, hidden, sk + SEED);
#ifdef TOY_WRONG_SS
    ss[SS - 1] ^= 1;
#endif
    return 0;
}
