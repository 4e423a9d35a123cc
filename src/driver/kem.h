/*
 * A loaded KEM instance with its buffers, and its three operations.
 *
 * Does not know: clocks, protocols, files. See kem.c for the reasons.
 */
#ifndef NGCC_DRIVER_KEM_H
#define NGCC_DRIVER_KEM_H

#include "meta.h"

#include <stdint.h>

#define KEM_GUARD_BYTES 64
#define KEM_GUARD_VALUE 0xA5
#define KEM_MAX_BYTES (1ull << 29)
#define KEM_TEXT 512

typedef int kem_keygen_call(unsigned char *, unsigned long long *, unsigned char *, unsigned long long *);
typedef int kem_enc_call(unsigned char *, unsigned long long, unsigned char *, unsigned long long *,
                         unsigned char *, unsigned long long *);
typedef int kem_dec_call(unsigned char *, unsigned long long, unsigned char *, unsigned long long,
                         unsigned char *, unsigned long long *);

struct kem_buffer {
    unsigned char *bytes;
    unsigned long long capacity; /* claimed by the library */
    unsigned long long length;   /* returned by the last call */
};

struct kem {
    void *library;
    const struct ngcc_meta_block *meta;
    const char *build_flags;
    int (*seed)(const unsigned char *, unsigned long long);
    int (*random)(unsigned char *, unsigned long long); /* NULL when the library does not export it */
    kem_keygen_call *keygen;
    kem_enc_call *enc;
    kem_dec_call *dec;
    struct kem_buffer pk, sk, ct, ss, again; /* again: the secret that kem_dec returns */
    int result;                              /* of the last API call */
};

enum kem_outcome { KEM_OK, KEM_ERROR, KEM_TOO_LONG, KEM_DAMAGE, KEM_WRONG_SECRET };

struct kem_op {
    const char *name;
    const char *symbol;
    enum kem_outcome (*run)(struct kem *);
};

enum { KEM_KEYGEN, KEM_ENC, KEM_DEC, KEM_OPS };
extern const struct kem_op kem_ops[KEM_OPS];

/* NULL for an unknown name. */
const struct kem_op *kem_op_find(const char *name);

/* Loads and checks a library. 0, or -1 with the reason in `why` (KEM_TEXT bytes). */
int kem_load(struct kem *kem, const char *path, char *why);

/* Allocates the guarded buffers. 0, or -1 with the reason. */
int kem_allocate(struct kem *kem, char *why);

/* Looks at every guard byte. KEM_OK, or KEM_DAMAGE with the place in `why`. */
enum kem_outcome kem_check_guards(const struct kem *kem, char *why);

/* KEM_OK when the secret of kem_dec is that of kem_enc, length included. */
enum kem_outcome kem_check_secret(const struct kem *kem);

/* Says in `why` what an outcome of `op` means. */
void kem_explain(const struct kem *kem, const struct kem_op *op, enum kem_outcome outcome, char *why);

#endif
