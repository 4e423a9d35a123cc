/*
 * The generator as sources for the NIST API know it.
 *
 * Does not know: which generator it is; src/driver/nist_random.c says that.
 * Why: last on the include path of such sources, for packages that expect the caller to provide it. A package
 * that brings a header of this name is compiled with its own, and PQClean's name for the function is
 * defined in any case.
 */
#ifndef NGCC_NIST_RANDOMBYTES_H
#define NGCC_NIST_RANDOMBYTES_H

#include <stddef.h>

/* Always 0. */
int randombytes(unsigned char *out, size_t bytes);

#endif
