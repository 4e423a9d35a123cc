/*
 * helpers.c - the only place where this implementation meets the official helpers.
 *
 * Knows that they count bits and that all randomness comes from drng_algorithm, which whoever
 * drives the KEM defines and seeds. It does not know what is hashed or drawn, or why.
 *
 * Why so: a submission that once passes bytes for bits hashes an eighth of its input and still
 * agrees with itself. One multiplication in one file cannot be forgotten elsewhere.
 */
#include "helpers.h"

#include "auxfunc.h"
#include "drng.h"

extern DRNG_ctx drng_algorithm;

int XOF(unsigned char *out, size_t out_bytes, const unsigned char *x, size_t x_bytes)
{
    return pseudoXOF(8ULL * out_bytes, x, 8ULL * x_bytes, out);
}

int SM3(unsigned char digest[32], const unsigned char *x, size_t x_bytes)
{
    return sm3hash(256, x, 8ULL * x_bytes, digest);
}

int DRNG_get(unsigned char *out, size_t bytes)
{
    return get_random_number(&drng_algorithm, out, 8ULL * bytes);
}
