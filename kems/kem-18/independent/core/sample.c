/*
 * sample.c - uniform values by rejection and centred binomial noise.
 *
 * It does not know the roles of the matrices; it cuts them from one string in the order the
 * description gives.
 *
 * Why so: all 3n bytes are produced in one XOF call, although only about 2n are read. That call is most
 * of the cost of every operation, so producing fewer would give figures of another scheme. The
 * buffer is automatic: static memory would show up in the library's size.
 */
#include "sample.h"

#include "helpers.h"

/* The rest of the string the matrices are cut from. */
struct words {
    const unsigned char *next;
    const unsigned char *end;
};

enum {
    KEPT = 8 * q, /* 65528: words from here on are rejected, so that each residue is equally likely */
    TOO_FEW_WORDS = -3
};

/* The next n values from big-endian 16-bit words. That 3n bytes hold fewer than n kept words does not
 * happen in practice, as a third of the words would have to be among the 8 rejected ones. */
static int uniform(coeff *out, size_t n, struct words *words)
{
    size_t i = 0;

    while (i < n) {
        unsigned word;

        if (words->end - words->next < 2) {
            return TOO_FEW_WORDS;
        }
        word = (unsigned)words->next[0] << 8 | words->next[1];
        words->next += 2;
        if (word < KEPT) {
            out[i++] = (coeff)(word % q);
        }
    }
    return 0;
}

int sample_matrices(struct matrices *A, const unsigned char rho[S])
{
    unsigned char B[3 * MATRIX_VALUES];
    struct words words = {B, B + sizeof B};
    int rc = XOF(B, sizeof B, rho, S);

    if (rc == 0) {
        rc = uniform(A->A1, k1 * k1 * N, &words);
    }
    if (rc == 0) {
        rc = uniform(A->A2, k1 * k2 * N, &words);
    }
    if (rc == 0) {
        rc = uniform(A->A3, k2 * k1 * N, &words);
    }
    if (rc == 0) {
        rc = uniform(A->A4, k2 * N * k2 * N, &words);
    }
    return rc;
}

/* The number of ones among bits t .. t + eta - 1 of a string, least significant bit of a byte first. */
static int ones(const unsigned char *B, size_t t)
{
    int sum = 0;
    size_t i;

    for (i = t; i < t + eta; i++) {
        sum += (B[i / 8] >> (i % 8)) & 1;
    }
    return sum;
}

int noise(coeff *out, size_t n, const unsigned char seed[S])
{
    unsigned char B[2 * eta * NOISE_MAX / 8];
    const int rc = XOF(B, 2 * eta * n / 8, seed, S);
    size_t i;

    if (rc != 0) {
        return rc;
    }
    for (i = 0; i < n; i++) {
        out[i] = (coeff)(ones(B, 2 * eta * i) - ones(B, 2 * eta * i + eta));
    }
    return 0;
}
