/* The encryption scheme under the KEM; see pke.c. */
#ifndef LORE_PKE_H
#define LORE_PKE_H

#include <stdint.h>

#include "sizes.h"

/* Every output is written over its whole length, zero fill included. */
int lore_pke_keygen(uint8_t pk[LORE_PK_BYTES], uint8_t pke_sk[LORE_PKE_SK_BYTES],
                    const uint8_t seed[LORE_SEED_BYTES]);
int lore_pke_encrypt(uint8_t ct[LORE_CT_BYTES], const uint8_t pk[LORE_PK_BYTES],
                     const uint8_t m[LORE_MB], const uint8_t r[LORE_SEED_BYTES]);
int lore_pke_decrypt(uint8_t m[LORE_MB], const uint8_t pke_sk[LORE_PKE_SK_BYTES],
                     const uint8_t ct[LORE_CT_BYTES]);

#endif
