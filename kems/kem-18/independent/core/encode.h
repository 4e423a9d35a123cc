/* encode.h - integers and messages as bytes, and the lossy compression of coefficients. */
#ifndef LOONG_ENCODE_H
#define LOONG_ENCODE_H

#include "ring.h"

/* pack_d: the low d bits of each value, least significant first, as one string of bits; bit t of it
 * is bit t mod 8 of byte t div 8. count * d is a multiple of 8. */
void pack(unsigned char *out, const coeff *values, size_t count, unsigned d);
void unpack(coeff *values, const unsigned char *in, size_t count, unsigned d);

/* Comp_d and Decomp_d of every value in place. */
void Comp(coeff *values, size_t count, unsigned d);
void Decomp(coeff *values, size_t count, unsigned d);

/* A secret: pack_4 of the coefficients + eta. */
void pack_secret(unsigned char *out, const coeff *s, size_t count);
void unpack_secret(coeff *s, const unsigned char *in, size_t count);

#endif
