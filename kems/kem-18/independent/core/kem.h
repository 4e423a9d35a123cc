/* kem.h - the KEM on buffers of exact size. All functions return 0 or a negative code. */
#ifndef LOONG_KEM_H
#define LOONG_KEM_H

#include "sizes.h"

int loong_keygen(unsigned char pk[PK_BYTES], unsigned char sk[SK_BYTES]);
int loong_enc(const unsigned char pk[PK_BYTES], unsigned char ss[L], unsigned char ct[CT_BYTES]);
int loong_dec(const unsigned char sk[SK_BYTES], const unsigned char ct[CT_BYTES],
              unsigned char ss[L]);

#endif
