/*
 * The generator of a library with the NIST API, under every name it goes by.
 *
 * What: `randombytes` as NIST packages call it, `PQCLEAN_randombytes` as PQClean's header renames it, and the
 * shim's ngcc_seed and ngcc_random, all over the one generator that is linked.
 * Does not know: which generator that is, or any header of the package. Packages declare `randombytes` with
 * different types for the length; a definition that saw such a declaration would not compile.
 * Why: NIST leaves the generator to the caller, and known answers depend on it byte for byte.
 */
#include "nist_random.h"

int randombytes(unsigned char *out, size_t bytes);
int PQCLEAN_randombytes(unsigned char *out, size_t bytes);
int ngcc_seed(const unsigned char *seed, unsigned long long bytes);
int ngcc_random(unsigned char *out, unsigned long long bits);

int randombytes(unsigned char *out, size_t bytes)
{
    ngcc_nist_bytes(out, bytes);
    return 0;
}

int PQCLEAN_randombytes(unsigned char *out, size_t bytes)
{
    ngcc_nist_bytes(out, bytes);
    return 0;
}

int ngcc_seed(const unsigned char *seed, unsigned long long bytes)
{
    return ngcc_nist_seed(seed, bytes);
}

/* As get_random_number: the unused low bits of the last byte are cleared. */
int ngcc_random(unsigned char *out, unsigned long long bits)
{
    size_t bytes = (size_t)(bits / 8 + (bits % 8 != 0));
    ngcc_nist_bytes(out, bytes);
    if (bits % 8 != 0)
        out[bytes - 1] = (unsigned char)(out[bytes - 1] & (0xFF00u >> (bits % 8)));
    return 0;
}
