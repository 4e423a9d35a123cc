/*
 * Brings one operation of one instance to the point where it can be repeated.
 *
 * Does not know: how it is measured. See prepare.c for the reasons.
 */
#ifndef NGCC_DRIVER_PREPARE_H
#define NGCC_DRIVER_PREPARE_H

#include "kem.h"

#include <stdint.h>
#include <stdio.h>

struct subject {
    struct kem kem;
    const struct kem_op *op;
    uint64_t first_ns;    /* the first call of the operation in this process; 0 until it was made */
    uint64_t fingerprint; /* of the inputs of the operation, after preparation */
};

enum { PREPARED = 0, PREPARE_USAGE = 2, PREPARE_FAILED = 3 };

/* Loads, seeds and prepares. PREPARED, or an exit code with the reason in `why` (KEM_TEXT bytes). */
int prepare(struct subject *subject, const char *path, const char *operation, char *why);

/* One call of the operation; 0, or -1 with the reason. Keeps first_ns if this is the first call. */
int subject_call(struct subject *subject, char *why);

/* Has the operation changed what it was given? */
int subject_inputs_changed(const struct subject *subject);

#endif
