/*
 * Accounts for the time an instance spends in the ICCS helpers, from inside its library.
 *
 * What: replacements for pseudohash, pseudoXOF, sm3hash and get_random_number that count calls and ticks by
 * function, input bits and output bits. Linked with `-Wl,--wrap=NAME`, which turns calls of NAME into
 * calls of __wrap_NAME and leaves the original as __real_NAME.
 * Does not know: which operation runs, what share of it the helpers have, or which calls escape: calls
 * within one object file, inlined ones and private copies cannot be wrapped.
 * Why: only the outermost helper counts, so that a hash inside the generator is the generator's time and
 * shares add up to at most one. Only what the instance's objects define may be wrapped (the linker would
 * otherwise find no original), hence one macro each: NGCC_WRAP_PSEUDOHASH, NGCC_WRAP_PSEUDOXOF,
 * NGCC_WRAP_SM3HASH, NGCC_WRAP_DRNG. Compile with -fPIC and without -flto: link-time optimisation
 * resolves the calls before the linker could wrap them, and silently counts nothing. One thread only.
 */
#define _GNU_SOURCE 1
#include "hashprof.h"

#include "ticks.h"

#include <stddef.h>
#include <string.h>

enum { SLOTS = 8192 };

enum function { PSEUDOHASH, PSEUDOXOF, SM3HASH, DRNG, EMPTY };

static const char *const names[] = {"pseudohash", "pseudoXOF", "sm3hash", "drng", "empty"};

/* Rows are filled in order of appearance; `slots` finds them by hash and holds the row number plus 1. */
static struct ngcc_prof_line rows[SLOTS];
static uint16_t slots[SLOTS];
static unsigned row_count;
static uint64_t overflow;
static int accounting, depth;

static void book(enum function function, uint64_t in_bits, uint64_t out_bits, uint64_t taken)
{
    uint64_t hash = (in_bits * 31 + out_bits) * 31 + (uint64_t)function;
    unsigned slot = (unsigned)((hash * 0x9E3779B97F4A7C15u) >> 51); /* the upper 13 bits */
    unsigned tries;
    struct ngcc_prof_line *row;
    for (tries = 0; tries < SLOTS; tries++, slot = (slot + 1) % SLOTS) {
        if (slots[slot] == 0) {
            slots[slot] = (uint16_t)(row_count + 1);
            row = &rows[row_count++];
            row->function = names[function];
            row->in_bits = in_bits;
            row->out_bits = out_bits;
            row->calls = 1;
            row->ticks = taken;
            return;
        }
        row = &rows[slots[slot] - 1];
        if (row->function == names[function] && row->in_bits == in_bits && row->out_bits == out_bits) {
            row->calls++;
            row->ticks += taken;
            return;
        }
    }
    overflow++;
}

/* Wrapped calls enter and leave in pairs also while accounting is off, so that the depth is always right. */
static uint64_t enter(void)
{
    return depth++ == 0 && accounting ? ticks() : 0;
}

static void leave(enum function function, uint64_t in_bits, uint64_t out_bits, uint64_t start)
{
    if (--depth == 0 && accounting)
        book(function, in_bits, out_bits, ticks() - start);
}

#define HASH_ARGUMENTS int bits, const unsigned char *msg, unsigned long long msg_bits, unsigned char *out

#define WRAP_HASH(name, function)                                  \
    int __real_##name(HASH_ARGUMENTS);                             \
    int __wrap_##name(HASH_ARGUMENTS);                             \
    int __wrap_##name(HASH_ARGUMENTS)                              \
    {                                                              \
        uint64_t start = enter();                                  \
        int result = __real_##name(bits, msg, msg_bits, out);      \
        leave(function, msg_bits, (uint64_t)(int64_t)bits, start); \
        return result;                                             \
    }

#ifdef NGCC_WRAP_PSEUDOHASH
WRAP_HASH(pseudohash, PSEUDOHASH)
#endif

#ifdef NGCC_WRAP_SM3HASH
WRAP_HASH(sm3hash, SM3HASH)
#endif

#ifdef NGCC_WRAP_PSEUDOXOF
#define XOF_ARGUMENTS \
    unsigned long long bits, const unsigned char *msg, unsigned long long msg_bits, unsigned char *out
int __real_pseudoXOF(XOF_ARGUMENTS);
int __wrap_pseudoXOF(XOF_ARGUMENTS);
int __wrap_pseudoXOF(XOF_ARGUMENTS)
{
    uint64_t start = enter();
    int result = __real_pseudoXOF(bits, msg, msg_bits, out);
    leave(PSEUDOXOF, msg_bits, bits, start);
    return result;
}
#endif

#ifdef NGCC_WRAP_DRNG
/* The context is passed on unseen, so its type does not matter here. */
int __real_get_random_number(void *drng, unsigned char *out, unsigned long long bits);
int __wrap_get_random_number(void *drng, unsigned char *out, unsigned long long bits);
int __wrap_get_random_number(void *drng, unsigned char *out, unsigned long long bits)
{
    uint64_t start = enter();
    int result = __real_get_random_number(drng, out, bits);
    leave(DRNG, 0, bits, start);
    return result;
}
#endif

void ngcc_prof_reset(void)
{
    memset(slots, 0, sizeof slots);
    row_count = 0;
    overflow = 0;
}

void ngcc_prof_on(int on)
{
    accounting = on;
}

unsigned ngcc_prof_row_count(void)
{
    return row_count;
}

int ngcc_prof_row(unsigned index, struct ngcc_prof_line *line)
{
    if (index >= row_count)
        return -1;
    *line = rows[index];
    return 0;
}

uint64_t ngcc_prof_overflow_count(void)
{
    return overflow;
}

const char *ngcc_prof_wrapped(void)
{
    static const char list[] = ""
#ifdef NGCC_WRAP_PSEUDOHASH
                               ",pseudohash"
#endif
#ifdef NGCC_WRAP_PSEUDOXOF
                               ",pseudoXOF"
#endif
#ifdef NGCC_WRAP_SM3HASH
                               ",sm3hash"
#endif
#ifdef NGCC_WRAP_DRNG
                               ",drng"
#endif
        ;
    return list[0] == ',' ? list + 1 : list;
}

__attribute__((noinline)) static int empty_call(int bits)
{
    __asm__ __volatile__("" : "+r"(bits));
    return bits;
}

__attribute__((noinline)) static int wrapped_empty_call(int bits)
{
    uint64_t start = enter();
    int result = empty_call(bits);
    leave(EMPTY, 0, (uint64_t)bits, start);
    return result;
}

void ngcc_prof_cost(double *booked, double *total)
{
    enum { BATCHES = 64, CALLS = 256 };
    int batch, i;
    ngcc_prof_reset();
    accounting = 1;
    *booked = *total = 1e18;
    for (batch = 0; batch < BATCHES; batch++) {
        uint64_t start, with, without;
        double batch_booked, batch_total;
        rows[0].ticks = 0;
        start = ticks();
        for (i = 0; i < CALLS; i++)
            wrapped_empty_call(1);
        with = ticks() - start;
        start = ticks();
        for (i = 0; i < CALLS; i++)
            empty_call(1);
        without = ticks() - start;
        batch_booked = (double)rows[0].ticks / CALLS;
        batch_total = with > without ? (double)(with - without) / CALLS : 0.0;
        if (batch_booked < *booked)
            *booked = batch_booked;
        if (batch_total < *total)
            *total = batch_total;
    }
    accounting = 0;
    ngcc_prof_reset();
}
