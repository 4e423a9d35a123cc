/*
 * kem.c - the Fujisaki-Okamoto wrapper that makes a KEM of pke.c.
 *
 * sk = pke_sk || pk || SM3(pk) || salt. It knows the encryption only as a function of its coins.
 *
 * Why so: two oddities of the submission are reproduced on purpose, because the aim is its exact
 * behaviour and not a repaired one. They are marked below. Do not build anything on this KEM.
 */
#include "kem.h"

#include <string.h>

#include "helpers.h"
#include "pke.h"

enum { G_BYTES = L + COINS_BYTES }; /* G: the shared secret, then the coins */

static int hash_to_G(unsigned char G[G_BYTES], const unsigned char m[M_BYTES],
                     const unsigned char h[SM3_BYTES])
{
    unsigned char m_h[M_BYTES + SM3_BYTES];

    memcpy(m_h, m, M_BYTES);
    memcpy(m_h + M_BYTES, h, SM3_BYTES);
    return XOF(G, G_BYTES, m_h, sizeof m_h);
}

int loong_keygen(unsigned char pk[PK_BYTES], unsigned char sk[SK_BYTES])
{
    unsigned char *const sk_pk = sk + PKE_SK_BYTES;
    unsigned char *const sk_h = sk_pk + PK_BYTES;
    unsigned char *const sk_salt = sk_h + SM3_BYTES;
    int rc = pke_keygen(pk, sk);

    if (rc == 0) {
        memcpy(sk_pk, pk, PK_BYTES);
        rc = SM3(sk_h, pk, PK_BYTES);
    }
    if (rc == 0) {
        rc = DRNG_get(sk_salt, S);
    }
    return rc;
}

int loong_enc(const unsigned char pk[PK_BYTES], unsigned char ss[L], unsigned char ct[CT_BYTES])
{
    unsigned char m[M_BYTES], h[SM3_BYTES], G[G_BYTES];
    int rc = DRNG_get(m, M_BYTES);

    if (rc == 0) {
        rc = SM3(h, pk, PK_BYTES);
    }
    if (rc == 0) {
        rc = hash_to_G(G, m, h);
    }
    if (rc == 0) {
        rc = pke_encrypt(ct, pk, m, G + L);
    }
    if (rc == 0) {
        memcpy(ss, G, L);
    }
    return rc;
}

/* Rejection is implicit: a wrong ciphertext gives another secret, and the code is 0 all the same. */
int loong_dec(const unsigned char sk[SK_BYTES], const unsigned char ct[CT_BYTES],
              unsigned char ss[L])
{
    const unsigned char *const pk = sk + PKE_SK_BYTES;
    const unsigned char *const h = pk + PK_BYTES;
    const unsigned char *const salt = h + SM3_BYTES;
    unsigned char m[M_BYTES], G[G_BYTES], Kbar[L];
    unsigned char salt_c[S + CT_BYTES], *const c = salt_c + S; /* c: the re-encryption */
    unsigned f = 0, mask;
    int rc, i;

    pke_decrypt(m, sk, ct);
    rc = hash_to_G(G, m, h);
    if (rc == 0) {
        rc = pke_encrypt(c, pk, m, G + L);
    }
    if (rc == 0) {
        /* First oddity: the rejection key comes from the re-encryption, not from what was received. */
        memcpy(salt_c, salt, S);
        rc = XOF(Kbar, L, salt_c, sizeof salt_c);
    }
    if (rc != 0) {
        return rc;
    }

    /* Second oddity, a published defect: mask is all ones only if f is 1. Other differences replace only
     * some bits of each byte of the secret, f = 2 all but the lowest, f = 128 the top one alone. */
    for (i = 0; i < CT_BYTES; i++) {
        f |= (unsigned)(ct[i] ^ c[i]);
    }
    mask = (0U - f) & 0xffU;
    for (i = 0; i < L; i++) {
        ss[i] = (unsigned char)(G[i] ^ (mask & (unsigned)(Kbar[i] ^ G[i])));
    }
    return 0;
}
