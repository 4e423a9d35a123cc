/* pke.h - the public-key encryption under the KEM. All functions return 0 or a negative code. */
#ifndef LOONG_PKE_H
#define LOONG_PKE_H

#include "sizes.h"

int pke_keygen(unsigned char pk[PK_BYTES], unsigned char sk[PKE_SK_BYTES]);
int pke_encrypt(unsigned char ct[CT_BYTES], const unsigned char pk[PK_BYTES],
                const unsigned char m[M_BYTES], const unsigned char coins[COINS_BYTES]);
void pke_decrypt(unsigned char m[M_BYTES], const unsigned char sk[PKE_SK_BYTES],
                 const unsigned char ct[CT_BYTES]);

#endif
