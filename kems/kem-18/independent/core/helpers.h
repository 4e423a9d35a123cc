/* helpers.h - the official helpers under the description's names, counted in bytes. */
#ifndef LOONG_HELPERS_H
#define LOONG_HELPERS_H

#include <stddef.h>

/* All return 0 or the negative code of the helper. */
int XOF(unsigned char *out, size_t out_bytes, const unsigned char *x, size_t x_bytes);
int SM3(unsigned char digest[32], const unsigned char *x, size_t x_bytes);
int DRNG_get(unsigned char *out, size_t bytes);

#endif
