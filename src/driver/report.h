/*
 * A driver's way out: its own copy of stdout, clean text, and one exit.
 *
 * Does not know: what is reported. See report.c for the reasons.
 */
#ifndef NGCC_DRIVER_REPORT_H
#define NGCC_DRIVER_REPORT_H

#include <stdio.h>

/* Takes stdout away from the submission: what it prints goes to stderr from here on. NULL on failure. */
FILE *report_open(void);

/* `key = text` and `META key text` lines; control characters of the text become '?'. */
void report_text(FILE *out, const char *text);
void report_meta(FILE *out, const char *key, const char *text);
void report_meta_number(FILE *out, const char *key, unsigned long long number);

/* Reads a whole decimal number of at most `limit`. 0 when it is one. */
int report_number(const char *text, unsigned long long limit, unsigned long long *number);

/* From here to report_exit a call of exit() is the submission's doing: it ends with `code`, after
 * `last_words` or, when that is NULL, a line on stderr. */
void report_guard_exit(int code, void (*last_words)(void));

/* Flushes nothing: the caller has. Skips destructors, which are code of the submission. */
void report_exit(int code);

#endif
