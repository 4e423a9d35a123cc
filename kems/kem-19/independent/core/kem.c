/*
 * The KEM: the encryption scheme made safe against chosen ciphertexts by re-encryption
 * with implicit rejection.  This is the only file that draws randomness.
 *
 * A ciphertext that is not what its own message encrypts to yields a secret derived from
 * z and the ciphertext, and success: a caller cannot tell.  Both secrets are computed in
 * either case, as the description wants, and the choice is made by masking.
 */
#include "kem.h"

#include <string.h>

#include "drng.h"
#include "pke.h"
#include "symmetric.h"

extern DRNG_ctx drng_algorithm;

/* sk = pke_sk || pk || H(pk) || z. */
#define SK_PK LORE_PKE_SK_BYTES
#define SK_HASH (SK_PK + LORE_PK_BYTES)
#define SK_Z (SK_HASH + LORE_HASH_BYTES)

static int draw(uint8_t *out, unsigned bytes)
{
    return get_random_number(&drng_algorithm, out, 8ULL * bytes) == 0 ? LORE_OK : LORE_NO_RANDOM;
}

int lore_kem_keygen(uint8_t pk[LORE_PK_BYTES], uint8_t sk[LORE_SK_BYTES])
{
    uint8_t coins[2 * LORE_SEED_BYTES]; /* the key's seed, then z */
    int status;

    if ((status = draw(coins, sizeof coins)) != LORE_OK)
        return status;
    if ((status = lore_pke_keygen(pk, sk, coins)) != LORE_OK)
        return status;
    memcpy(sk + SK_PK, pk, LORE_PK_BYTES);
    memcpy(sk + SK_Z, coins + LORE_SEED_BYTES, LORE_SEED_BYTES);
    return lore_H(sk + SK_HASH, pk, LORE_PK_BYTES);
}

/* Kb || r = G(H(m) || H(pk)). */
static int derive(uint8_t kb_r[LORE_HASH_BYTES + LORE_SEED_BYTES], const uint8_t m[LORE_MB],
                  const uint8_t hash_pk[LORE_HASH_BYTES])
{
    uint8_t hashes[2 * LORE_HASH_BYTES];
    int status = lore_H(hashes, m, LORE_MB);

    if (status != LORE_OK)
        return status;
    memcpy(hashes + LORE_HASH_BYTES, hash_pk, LORE_HASH_BYTES);
    return lore_G(kb_r, hashes);
}

/* KDF(key || H(ct)). */
static int shared_secret(uint8_t ss[LORE_SS_BYTES], const uint8_t key[LORE_HASH_BYTES],
                         const uint8_t hash_ct[LORE_HASH_BYTES])
{
    uint8_t input[2 * LORE_HASH_BYTES];

    memcpy(input, key, LORE_HASH_BYTES);
    memcpy(input + LORE_HASH_BYTES, hash_ct, LORE_HASH_BYTES);
    return lore_KDF(ss, input);
}

int lore_kem_enc(const uint8_t pk[LORE_PK_BYTES], uint8_t ss[LORE_SS_BYTES],
                 uint8_t ct[LORE_CT_BYTES])
{
    uint8_t m[LORE_MB];
    uint8_t hash[LORE_HASH_BYTES];
    uint8_t kb_r[LORE_HASH_BYTES + LORE_SEED_BYTES];
    int status;

    if ((status = draw(m, sizeof m)) != LORE_OK)
        return status;
    if ((status = lore_H(hash, pk, LORE_PK_BYTES)) != LORE_OK)
        return status;
    if ((status = derive(kb_r, m, hash)) != LORE_OK)
        return status;
    if ((status = lore_pke_encrypt(ct, pk, m, kb_r + LORE_HASH_BYTES)) != LORE_OK)
        return status;
    if ((status = lore_H(hash, ct, LORE_CT_BYTES)) != LORE_OK)
        return status;
    return shared_secret(ss, kb_r, hash);
}

/* 255 when all bytes are equal, else 0. */
static uint8_t equal_mask(const uint8_t *a, const uint8_t *b, size_t length)
{
    unsigned differ = 0;

    for (size_t i = 0; i < length; i++)
        differ |= (unsigned)(a[i] ^ b[i]);
    return (uint8_t)((differ - 1) >> 8 & 255);
}

int lore_kem_dec(const uint8_t sk[LORE_SK_BYTES], const uint8_t ct[LORE_CT_BYTES],
                 uint8_t ss[LORE_SS_BYTES])
{
    uint8_t m[LORE_MB];
    uint8_t kb_r[LORE_HASH_BYTES + LORE_SEED_BYTES];
    uint8_t again[LORE_CT_BYTES];
    uint8_t hash[LORE_HASH_BYTES];
    uint8_t accepted[LORE_SS_BYTES];
    uint8_t rejected[LORE_SS_BYTES];
    uint8_t equal;
    int status;

    if ((status = lore_pke_decrypt(m, sk, ct)) != LORE_OK)
        return status;
    if ((status = derive(kb_r, m, sk + SK_HASH)) != LORE_OK)
        return status;
    if ((status = lore_pke_encrypt(again, sk + SK_PK, m, kb_r + LORE_HASH_BYTES)) != LORE_OK)
        return status;

    if ((status = lore_H(hash, again, LORE_CT_BYTES)) != LORE_OK)
        return status;
    if ((status = shared_secret(accepted, kb_r, hash)) != LORE_OK)
        return status;
    if ((status = lore_H(hash, ct, LORE_CT_BYTES)) != LORE_OK)
        return status;
    if ((status = shared_secret(rejected, sk + SK_Z, hash)) != LORE_OK)
        return status;

    equal = equal_mask(again, ct, LORE_CT_BYTES);
    for (unsigned i = 0; i < LORE_SS_BYTES; i++)
        ss[i] = (uint8_t)((accepted[i] & equal) | (rejected[i] & ~equal));
    return LORE_OK;
}
