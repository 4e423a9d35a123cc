/*
 * The metadata block that every instance library hands to the drivers.
 *
 * What: one struct, filled by shim.c inside the library and read by kem.c in the driver.
 * Does not know: who fills or reads it, or what the strings mean.
 * Why: the block is the ABI between separately compiled programs, so its layout is written once and
 * pinned below by compile-time checks. C99 has no static assertion; an array of negative size is one.
 */
#ifndef NGCC_DRIVER_META_H
#define NGCC_DRIVER_META_H

#include <stddef.h>
#include <stdint.h>

#define NGCC_META_MAGIC 0x4347474Eu
#define NGCC_META_ABI 1u

enum { NGCC_TYPE_UNKNOWN = 0, NGCC_TYPE_KEM = 1, NGCC_TYPE_SIG = 2, NGCC_TYPE_KEX = 3, NGCC_TYPE_HASH = 4 };

/* Places in `lengths`, by type. */
enum { NGCC_KEM_PK, NGCC_KEM_SK, NGCC_KEM_CT, NGCC_KEM_SS, NGCC_KEM_LENGTHS };
enum { NGCC_SIG_PK, NGCC_SIG_SK, NGCC_SIG_SN, NGCC_SIG_LENGTHS };
enum { NGCC_KEX_PASSES, NGCC_KEX_PK, NGCC_KEX_SK, NGCC_KEX_STA, NGCC_KEX_STB, NGCC_KEX_SS, NGCC_KEX_MSG, NGCC_KEX_LENGTHS };
enum { NGCC_HASH_BITS, NGCC_HASH_BYTES, NGCC_HASH_LENGTHS };

struct ngcc_meta_block {
    uint32_t magic;
    uint32_t abi;
    uint32_t type;
    uint32_t struct_size; /* bytes in use for this type: NGCC_META_SIZE(number of lengths) */
    char id[16];
    char algorithm[64];
    char instance[64];
    char variant[32];
    char source_dir[256];
    char compiler[64];
    char build_flags[128]; /* cut to 127 bytes; ngcc_build_flags() has all of them */
    uint64_t lengths[NGCC_KEX_LENGTHS];
};

#define NGCC_META_SIZE(count) ((uint32_t)(offsetof(struct ngcc_meta_block, lengths) + 8u * (count)))

#define NGCC_META_CHECK(name, condition) typedef char ngcc_meta_check_##name[(condition) ? 1 : -1]
NGCC_META_CHECK(id, offsetof(struct ngcc_meta_block, id) == 16);
NGCC_META_CHECK(algorithm, offsetof(struct ngcc_meta_block, algorithm) == 32);
NGCC_META_CHECK(instance, offsetof(struct ngcc_meta_block, instance) == 96);
NGCC_META_CHECK(variant, offsetof(struct ngcc_meta_block, variant) == 160);
NGCC_META_CHECK(source_dir, offsetof(struct ngcc_meta_block, source_dir) == 192);
NGCC_META_CHECK(compiler, offsetof(struct ngcc_meta_block, compiler) == 448);
NGCC_META_CHECK(build_flags, offsetof(struct ngcc_meta_block, build_flags) == 512);
NGCC_META_CHECK(lengths, offsetof(struct ngcc_meta_block, lengths) == 640);
NGCC_META_CHECK(size, sizeof(struct ngcc_meta_block) == 696);

#endif
