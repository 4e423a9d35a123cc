/*
 * Turns a deadly signal, or an exit() by the submission, into one line and an exit code.
 *
 * Does not know: what was running beyond the words it was given. See crash.c for the reasons.
 */
#ifndef NGCC_DRIVER_CRASH_H
#define NGCC_DRIVER_CRASH_H

#define CRASH_EXIT 7

/* Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT from now on. `fd` takes the line. 0 on success. */
int crash_watch(int fd);

/* Names used in the line: `RESULT id instance CRASH signal=N in WORDS [at count COUNT][: out of stack, limit N KiB]`. */
void crash_name(const char *id, const char *instance);

/* Says what runs now. `doing` must be a static text; a negative count is left out. */
void crash_doing(const char *doing, long count);

#endif
