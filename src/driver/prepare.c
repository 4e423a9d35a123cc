/*
 * Brings one operation of one instance to the point where it can be repeated.
 *
 * What: loads the library, seeds it with the bytes 00..2f, and makes the keys, the ciphertext and (for
 * dec) one checked decapsulation that the operation needs.
 * Does not know: clocks beyond the first call, warm-ups, trials, profiles.
 * Why: the timing and the profiling driver must start from the same state, byte for byte, so that their
 * figures are about the same inputs. There is no re-seeding afterwards: warm-ups and trials go on in the
 * same random stream. The inputs are remembered as a hash and not as a copy, to leave memory figures alone.
 */
#define _GNU_SOURCE 1
#include "prepare.h"

#include "ticks.h"

#include <string.h>

enum { SEED_BYTES = 48 };

/* FNV-1a: enough to notice a change, which is all it is for. */
static uint64_t mix(uint64_t hash, const struct kem_buffer *buffer)
{
    unsigned long long i;
    for (i = 0; i < buffer->length; i++)
        hash = (hash ^ buffer->bytes[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t fingerprint(const struct subject *subject)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (subject->op == &kem_ops[KEM_ENC])
        hash = mix(hash, &subject->kem.pk);
    if (subject->op == &kem_ops[KEM_DEC])
        hash = mix(mix(hash, &subject->kem.sk), &subject->kem.ct);
    return hash;
}

static int call(struct subject *subject, const struct kem_op *op, char *why)
{
    uint64_t start = nanoseconds();
    enum kem_outcome outcome = op->run(&subject->kem);
    uint64_t taken = nanoseconds() - start;
    if (op == subject->op && subject->first_ns == 0)
        subject->first_ns = taken > 0 ? taken : 1;
    if (outcome == KEM_OK && op == &kem_ops[KEM_DEC])
        outcome = kem_check_secret(&subject->kem);
    if (outcome == KEM_OK)
        return 0;
    kem_explain(&subject->kem, op, outcome, why);
    return -1;
}

int subject_call(struct subject *subject, char *why)
{
    return call(subject, subject->op, why);
}

int prepare(struct subject *subject, const char *path, const char *operation, char *why)
{
    unsigned char seed[SEED_BYTES];
    int i, result;

    memset(subject, 0, sizeof *subject);
    subject->op = kem_op_find(operation);
    if (subject->op == NULL) {
        snprintf(why, KEM_TEXT, "unknown operation %.64s (keygen, enc and dec are known)", operation);
        return PREPARE_USAGE;
    }
    if (kem_load(&subject->kem, path, why) != 0 || kem_allocate(&subject->kem, why) != 0)
        return PREPARE_USAGE;
    for (i = 0; i < SEED_BYTES; i++)
        seed[i] = (unsigned char)i;
    result = subject->kem.seed(seed, SEED_BYTES);
    if (result != 0) {
        snprintf(why, KEM_TEXT, "ngcc_seed returned %d", result);
        return PREPARE_FAILED;
    }
    if (subject->op != &kem_ops[KEM_KEYGEN] &&
        (call(subject, &kem_ops[KEM_KEYGEN], why) != 0 || call(subject, &kem_ops[KEM_ENC], why) != 0))
        return PREPARE_FAILED;
    if (subject->op == &kem_ops[KEM_DEC] && call(subject, &kem_ops[KEM_DEC], why) != 0)
        return PREPARE_FAILED;
    subject->fingerprint = fingerprint(subject);
    return PREPARED;
}

int subject_inputs_changed(const struct subject *subject)
{
    return subject->fingerprint != fingerprint(subject);
}
