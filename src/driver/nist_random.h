/*
 * What a generator behind `randombytes` offers.
 *
 * Does not know: who draws. One of nist_drbg.c and nist_shake.c is linked.
 */
#ifndef NGCC_DRIVER_NIST_RANDOM_H
#define NGCC_DRIVER_NIST_RANDOM_H

#include <stddef.h>

/* Bytes of a seed as NIST's test driver gives it. */
#define NIST_SEED_BYTES 48

/* Starts again from a seed; 0, or -2 for a seed that is too long. */
int ngcc_nist_seed(const unsigned char *seed, unsigned long long bytes);

/* The next bytes. */
void ngcc_nist_bytes(unsigned char *out, size_t bytes);

#endif
