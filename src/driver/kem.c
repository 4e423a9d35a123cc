/*
 * A loaded KEM instance with its buffers, and its three operations.
 *
 * What: opens an instance library, resolves and checks what it must export, allocates buffers between
 * guard bytes, runs keygen, enc and dec on them, and says in words what went wrong.
 * Does not know: clocks, output formats, or which driver it is linked into.
 * Why: the KAT driver and the timing driver must agree on what a correct call is. The operations are
 * reached through a function pointer that is looked up once; the harness whose figures are published
 * compares operation names inside its timed loop, a cost that this deviation leaves out.
 */
#define _GNU_SOURCE 1
#include "kem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum kem_outcome run_keygen(struct kem *kem)
{
    kem->pk.length = kem->pk.capacity;
    kem->sk.length = kem->sk.capacity;
    kem->result = kem->keygen(kem->pk.bytes, &kem->pk.length, kem->sk.bytes, &kem->sk.length);
    if (kem->result != 0)
        return KEM_ERROR;
    return kem->pk.length > kem->pk.capacity || kem->sk.length > kem->sk.capacity ? KEM_TOO_LONG : KEM_OK;
}

static enum kem_outcome run_enc(struct kem *kem)
{
    kem->ss.length = kem->ss.capacity;
    kem->ct.length = kem->ct.capacity;
    kem->result = kem->enc(kem->pk.bytes, kem->pk.length, kem->ss.bytes, &kem->ss.length, kem->ct.bytes,
                           &kem->ct.length);
    if (kem->result != 0)
        return KEM_ERROR;
    return kem->ss.length > kem->ss.capacity || kem->ct.length > kem->ct.capacity ? KEM_TOO_LONG : KEM_OK;
}

static enum kem_outcome run_dec(struct kem *kem)
{
    kem->again.length = kem->again.capacity;
    kem->result = kem->dec(kem->sk.bytes, kem->sk.length, kem->ct.bytes, kem->ct.length, kem->again.bytes,
                           &kem->again.length);
    if (kem->result != 0)
        return KEM_ERROR;
    return kem->again.length > kem->again.capacity ? KEM_TOO_LONG : KEM_OK;
}

const struct kem_op kem_ops[KEM_OPS] = {
    {"keygen", "kem_keygen", run_keygen},
    {"enc", "kem_enc", run_enc},
    {"dec", "kem_dec", run_dec},
};

const struct kem_op *kem_op_find(const char *name)
{
    int i;
    for (i = 0; i < KEM_OPS; i++)
        if (strcmp(name, kem_ops[i].name) == 0)
            return &kem_ops[i];
    return NULL;
}

/* ISO C has no cast from an object pointer to a function pointer; POSIX promises equal representations. */
static int resolve(const struct kem *kem, const char *name, void *function, char *why)
{
    void *symbol = dlsym(kem->library, name);
    if (symbol == NULL) {
        snprintf(why, KEM_TEXT, "the library does not export %s", name);
        return -1;
    }
    memcpy(function, &symbol, sizeof symbol);
    return 0;
}

static int terminated(const char *field, size_t size)
{
    return memchr(field, '\0', size) != NULL;
}

static int check_meta(const struct ngcc_meta_block *meta, char *why)
{
    if (meta == NULL)
        snprintf(why, KEM_TEXT, "ngcc_meta returned no block");
    else if (meta->magic != NGCC_META_MAGIC)
        snprintf(why, KEM_TEXT, "metadata magic is %08x, not %08x", meta->magic, NGCC_META_MAGIC);
    else if (meta->abi != NGCC_META_ABI)
        snprintf(why, KEM_TEXT, "metadata ABI is %u, not %u", meta->abi, NGCC_META_ABI);
    else if (meta->type != NGCC_TYPE_KEM)
        snprintf(why, KEM_TEXT, "metadata type is %u, not %d (kem)", meta->type, NGCC_TYPE_KEM);
    else if (meta->struct_size < NGCC_META_SIZE(NGCC_KEM_LENGTHS))
        snprintf(why, KEM_TEXT, "metadata block has %u bytes, fewer than %u", meta->struct_size,
                 NGCC_META_SIZE(NGCC_KEM_LENGTHS));
    else if (!terminated(meta->id, sizeof meta->id) || !terminated(meta->algorithm, sizeof meta->algorithm) ||
             !terminated(meta->instance, sizeof meta->instance) ||
             !terminated(meta->variant, sizeof meta->variant) ||
             !terminated(meta->source_dir, sizeof meta->source_dir) ||
             !terminated(meta->compiler, sizeof meta->compiler) ||
             !terminated(meta->build_flags, sizeof meta->build_flags))
        snprintf(why, KEM_TEXT, "a text in the metadata block has no end");
    else
        return 0;
    return -1;
}

int kem_load(struct kem *kem, const char *path, char *why)
{
    const struct ngcc_meta_block *(*meta)(void);
    const char *(*flags)(void);
    char *local = NULL;

    memset(kem, 0, sizeof *kem);
    if (strchr(path, '/') == NULL) { /* a bare name would be searched for in the system's directories */
        size_t size = strlen(path) + 3;
        local = malloc(size);
        if (local == NULL) {
            snprintf(why, KEM_TEXT, "out of memory");
            return -1;
        }
        snprintf(local, size, "./%s", path);
        path = local;
    }
    kem->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    free(local);
    if (kem->library == NULL) {
        snprintf(why, KEM_TEXT, "%s", dlerror());
        return -1;
    }
    if (resolve(kem, "ngcc_meta", &meta, why) != 0)
        return -1;
    if (check_meta(meta(), why) != 0)
        return -1;
    kem->meta = meta();
    kem->build_flags = kem->meta->build_flags;
    if (dlsym(kem->library, "ngcc_build_flags") != NULL && resolve(kem, "ngcc_build_flags", &flags, why) == 0 &&
        flags() != NULL)
        kem->build_flags = flags();
    if (dlsym(kem->library, "ngcc_random") != NULL && resolve(kem, "ngcc_random", &kem->random, why) != 0)
        return -1;
    if (resolve(kem, "ngcc_seed", &kem->seed, why) != 0 || resolve(kem, "kem_keygen", &kem->keygen, why) != 0 ||
        resolve(kem, "kem_enc", &kem->enc, why) != 0 || resolve(kem, "kem_dec", &kem->dec, why) != 0)
        return -1;
    return 0;
}

static int allocate(struct kem_buffer *buffer, const char *name, uint64_t capacity, char *why)
{
    unsigned char *block;
    if (capacity > KEM_MAX_BYTES) {
        snprintf(why, KEM_TEXT, "the library claims %llu bytes for %s, more than %llu",
                 (unsigned long long)capacity, name, KEM_MAX_BYTES);
        return -1;
    }
    block = calloc(1, (size_t)capacity + 2 * KEM_GUARD_BYTES);
    if (block == NULL) {
        snprintf(why, KEM_TEXT, "out of memory for %s (%llu bytes)", name, (unsigned long long)capacity);
        return -1;
    }
    memset(block, KEM_GUARD_VALUE, KEM_GUARD_BYTES);
    memset(block + KEM_GUARD_BYTES + capacity, KEM_GUARD_VALUE, KEM_GUARD_BYTES);
    buffer->bytes = block + KEM_GUARD_BYTES;
    buffer->capacity = capacity;
    buffer->length = capacity;
    return 0;
}

int kem_allocate(struct kem *kem, char *why)
{
    const uint64_t *lengths = kem->meta->lengths;
    if (allocate(&kem->pk, "pk", lengths[NGCC_KEM_PK], why) != 0 ||
        allocate(&kem->sk, "sk", lengths[NGCC_KEM_SK], why) != 0 ||
        allocate(&kem->ct, "ct", lengths[NGCC_KEM_CT], why) != 0 ||
        allocate(&kem->ss, "ss", lengths[NGCC_KEM_SS], why) != 0 ||
        allocate(&kem->again, "ss", lengths[NGCC_KEM_SS], why) != 0)
        return -1;
    return 0;
}

static int damaged(const struct kem_buffer *buffer, const char *name, char *why)
{
    int i;
    for (i = 0; i < KEM_GUARD_BYTES; i++) {
        if (buffer->bytes[buffer->capacity + (unsigned)i] != KEM_GUARD_VALUE) {
            snprintf(why, KEM_TEXT, "wrote past the end of %s (byte %llu of claimed %llu)", name,
                     buffer->capacity + (unsigned)i + 1, buffer->capacity);
            return 1;
        }
    }
    for (i = 1; i <= KEM_GUARD_BYTES; i++) {
        if (*(buffer->bytes - i) != KEM_GUARD_VALUE) {
            snprintf(why, KEM_TEXT, "wrote before the start of %s (%d bytes before)", name, i);
            return 1;
        }
    }
    return 0;
}

enum kem_outcome kem_check_guards(const struct kem *kem, char *why)
{
    return damaged(&kem->pk, "pk", why) || damaged(&kem->sk, "sk", why) || damaged(&kem->ct, "ct", why) ||
                   damaged(&kem->ss, "ss", why) || damaged(&kem->again, "ss", why)
               ? KEM_DAMAGE
               : KEM_OK;
}

enum kem_outcome kem_check_secret(const struct kem *kem)
{
    return kem->ss.length == kem->again.length &&
                   memcmp(kem->ss.bytes, kem->again.bytes, (size_t)kem->ss.length) == 0
               ? KEM_OK
               : KEM_WRONG_SECRET;
}

static int explain_length(const struct kem_buffer *buffer, const char *symbol, const char *name, char *why)
{
    if (buffer->length <= buffer->capacity)
        return 0;
    snprintf(why, KEM_TEXT, "%s returned length %llu > claimed %llu for %s", symbol, buffer->length,
             buffer->capacity, name);
    return 1;
}

void kem_explain(const struct kem *kem, const struct kem_op *op, enum kem_outcome outcome, char *why)
{
    char place[KEM_TEXT / 2];
    switch (outcome) {
    case KEM_OK:
        snprintf(why, KEM_TEXT, "%s succeeded", op->symbol);
        break;
    case KEM_ERROR:
        snprintf(why, KEM_TEXT, "%s returned %d", op->symbol, kem->result);
        break;
    case KEM_TOO_LONG:
        (void)(explain_length(&kem->pk, op->symbol, "pk", why) || explain_length(&kem->sk, op->symbol, "sk", why) ||
               explain_length(&kem->ct, op->symbol, "ct", why) || explain_length(&kem->ss, op->symbol, "ss", why) ||
               explain_length(&kem->again, op->symbol, "ss", why));
        break;
    case KEM_DAMAGE:
        snprintf(place, sizeof place, "%s", why);
        snprintf(why, KEM_TEXT, "%s %s", op->symbol, place);
        break;
    case KEM_WRONG_SECRET:
        if (kem->ss.length != kem->again.length)
            snprintf(why, KEM_TEXT, "kem_dec returned a secret of %llu bytes, kem_enc one of %llu",
                     kem->again.length, kem->ss.length);
        else
            snprintf(why, KEM_TEXT, "kem_dec returned another secret than kem_enc");
        break;
    }
}
