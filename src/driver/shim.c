/*
 * The shim compiled into every instance library: metadata, seeding, build flags.
 *
 * What: defines the global DRNG context that ICCS submissions expect, and exports ngcc_meta, ngcc_seed,
 * ngcc_random and ngcc_build_flags so that a driver can drive any instance without its headers.
 * Does not know: the drivers, where it was built, or what the algorithm does.
 * Why: the official KAT driver defines `drng_algorithm` beside its `main`; as we replace that driver by
 * programs that load libraries, something inside the library must own the context. Lengths are asked
 * from the submission at run time because the API has no size macros.
 *
 * Defines (texts are C string literals with their quotes):
 *   NGCC_BUILD_KEM | _SIG | _KEX | _HASH   the type, required
 *   NGCC_ID                                submission id, required
 *   NGCC_ALG NGCC_VARIANT NGCC_SRCDIR NGCC_FLAGS
 *   NGCC_INSTANCE                          default ALGORITHM_INSTANCE of the instance header
 *   NGCC_INSTANCE_HEADER                   default <TYPE>_AlgorithmInstance.h
 *   NGCC_INSTANCE_HEADER_NONE              include none; NGCC_INSTANCE is then required
 *   NGCC_DIGEST_BITS                       default DIGEST_BIT_LENGTH (hash only)
 *   NGCC_NO_DRNG                           the submission defines drng_algorithm itself
 *   NGCC_NIST                              the API is NIST's: nist.c has the lengths, nist_random.c the
 *                                          generator with ngcc_seed and ngcc_random, and there is no DRNG
 */
#include "meta.h"

#ifndef NGCC_NIST
#include "drng.h"
#endif

#ifndef NGCC_ID
#error "NGCC_ID must be the submission id as a string literal"
#endif
#ifndef NGCC_ALG
#define NGCC_ALG ""
#endif
#ifndef NGCC_VARIANT
#define NGCC_VARIANT "Reference_Implementation"
#endif
#ifndef NGCC_SRCDIR
#define NGCC_SRCDIR ""
#endif
#ifndef NGCC_FLAGS
#define NGCC_FLAGS ""
#endif

#if defined(NGCC_BUILD_KEM)
#define SHIM_TYPE NGCC_TYPE_KEM
#define SHIM_LENGTHS NGCC_KEM_LENGTHS
#define SHIM_HEADER "KEM_AlgorithmInstance.h"
#elif defined(NGCC_BUILD_SIG)
#define SHIM_TYPE NGCC_TYPE_SIG
#define SHIM_LENGTHS NGCC_SIG_LENGTHS
#define SHIM_HEADER "SIG_AlgorithmInstance.h"
#elif defined(NGCC_BUILD_KEX)
#define SHIM_TYPE NGCC_TYPE_KEX
#define SHIM_LENGTHS NGCC_KEX_LENGTHS
#define SHIM_HEADER "KEX_AlgorithmInstance.h"
#elif defined(NGCC_BUILD_HASH)
#define SHIM_TYPE NGCC_TYPE_HASH
#define SHIM_LENGTHS NGCC_HASH_LENGTHS
#define SHIM_HEADER "CryptHash_AlgorithmInstance.h"
#else
#error "one of NGCC_BUILD_KEM, NGCC_BUILD_SIG, NGCC_BUILD_KEX, NGCC_BUILD_HASH must be defined"
#endif

#ifndef NGCC_INSTANCE_HEADER
#define NGCC_INSTANCE_HEADER SHIM_HEADER
#endif

#ifndef NGCC_INSTANCE_HEADER_NONE
#include NGCC_INSTANCE_HEADER
#elif defined(NGCC_BUILD_KEM)
unsigned long long kem_get_pk_len_bytes(void);
unsigned long long kem_get_sk_len_bytes(void);
unsigned long long kem_get_ct_len_bytes(void);
unsigned long long kem_get_ss_len_bytes(void);
#elif defined(NGCC_BUILD_SIG)
unsigned long long sig_get_pk_len_bytes(void);
unsigned long long sig_get_sk_len_bytes(void);
unsigned long long sig_get_sn_len_bytes(void);
#elif defined(NGCC_BUILD_KEX)
unsigned long long kex_get_passes_num(void);
unsigned long long kex_get_pk_len_bytes(void);
unsigned long long kex_get_sk_len_bytes(void);
unsigned long long kex_get_sta_len_bytes(void);
unsigned long long kex_get_stb_len_bytes(void);
unsigned long long kex_get_ss_len_bytes(void);
unsigned long long kex_get_total_msg_len_bytes(void);
#endif

#ifndef NGCC_INSTANCE
#ifndef ALGORITHM_INSTANCE
#error "the instance header defines no ALGORITHM_INSTANCE: define NGCC_INSTANCE"
#endif
#define NGCC_INSTANCE ALGORITHM_INSTANCE
#endif

#ifdef NGCC_NIST
/* No context of ours. */
#elif defined(NGCC_NO_DRNG)
extern DRNG_ctx drng_algorithm;
#else
DRNG_ctx drng_algorithm;
#endif

#ifdef __clang__
#define SHIM_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define SHIM_COMPILER "gcc " __VERSION__
#else
#define SHIM_COMPILER "unknown"
#endif

const struct ngcc_meta_block *ngcc_meta(void);
#ifndef NGCC_NIST
int ngcc_seed(const unsigned char *seed, unsigned long long bytes);
int ngcc_random(unsigned char *out, unsigned long long bits);
#endif
const char *ngcc_build_flags(void);

/* Not strncpy: cutting a long text is meant here, and gcc would warn about it. */
static void fill(char *field, size_t size, const char *text)
{
    size_t i;
    for (i = 0; i + 1 < size && text[i] != '\0'; i++)
        field[i] = text[i];
    for (; i < size; i++)
        field[i] = '\0';
}

static void fill_lengths(uint64_t *lengths)
{
#if defined(NGCC_BUILD_KEM)
    lengths[NGCC_KEM_PK] = kem_get_pk_len_bytes();
    lengths[NGCC_KEM_SK] = kem_get_sk_len_bytes();
    lengths[NGCC_KEM_CT] = kem_get_ct_len_bytes();
    lengths[NGCC_KEM_SS] = kem_get_ss_len_bytes();
#elif defined(NGCC_BUILD_SIG)
    lengths[NGCC_SIG_PK] = sig_get_pk_len_bytes();
    lengths[NGCC_SIG_SK] = sig_get_sk_len_bytes();
    lengths[NGCC_SIG_SN] = sig_get_sn_len_bytes();
#elif defined(NGCC_BUILD_KEX)
    lengths[NGCC_KEX_PASSES] = kex_get_passes_num();
    lengths[NGCC_KEX_PK] = kex_get_pk_len_bytes();
    lengths[NGCC_KEX_SK] = kex_get_sk_len_bytes();
    lengths[NGCC_KEX_STA] = kex_get_sta_len_bytes();
    lengths[NGCC_KEX_STB] = kex_get_stb_len_bytes();
    lengths[NGCC_KEX_SS] = kex_get_ss_len_bytes();
    lengths[NGCC_KEX_MSG] = kex_get_total_msg_len_bytes();
#else
#ifndef NGCC_DIGEST_BITS
#define NGCC_DIGEST_BITS DIGEST_BIT_LENGTH
#endif
    lengths[NGCC_HASH_BITS] = NGCC_DIGEST_BITS;
    lengths[NGCC_HASH_BYTES] = (NGCC_DIGEST_BITS + 7) / 8;
#endif
}

const struct ngcc_meta_block *ngcc_meta(void)
{
    static struct ngcc_meta_block block;
    if (block.magic == 0) {
        block.abi = NGCC_META_ABI;
        block.type = SHIM_TYPE;
        block.struct_size = NGCC_META_SIZE(SHIM_LENGTHS);
        fill(block.id, sizeof block.id, NGCC_ID);
        fill(block.algorithm, sizeof block.algorithm, NGCC_ALG);
        fill(block.instance, sizeof block.instance, NGCC_INSTANCE);
        fill(block.variant, sizeof block.variant, NGCC_VARIANT);
        fill(block.source_dir, sizeof block.source_dir, NGCC_SRCDIR);
        fill(block.compiler, sizeof block.compiler, SHIM_COMPILER);
        fill(block.build_flags, sizeof block.build_flags, NGCC_FLAGS);
        fill_lengths(block.lengths);
        block.magic = NGCC_META_MAGIC;
    }
    return &block;
}

#ifndef NGCC_NIST
int ngcc_seed(const unsigned char *seed, unsigned long long bytes)
{
    return init_random_number(&drng_algorithm, seed, bytes);
}

int ngcc_random(unsigned char *out, unsigned long long bits)
{
    return get_random_number(&drng_algorithm, out, bits);
}
#endif

const char *ngcc_build_flags(void)
{
    return NGCC_FLAGS;
}
