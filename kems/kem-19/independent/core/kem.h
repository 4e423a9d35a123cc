/* The KEM over buffers of the instance's exact lengths; see kem.c. */
#ifndef LORE_KEM_H
#define LORE_KEM_H

#include <stdint.h>

#include "sizes.h"

int lore_kem_keygen(uint8_t pk[LORE_PK_BYTES], uint8_t sk[LORE_SK_BYTES]);
int lore_kem_enc(const uint8_t pk[LORE_PK_BYTES], uint8_t ss[LORE_SS_BYTES],
                 uint8_t ct[LORE_CT_BYTES]);
int lore_kem_dec(const uint8_t sk[LORE_SK_BYTES], const uint8_t ct[LORE_CT_BYTES],
                 uint8_t ss[LORE_SS_BYTES]);

#endif
