/*
 * A driver's way out: its own copy of stdout, clean text, and one exit.
 *
 * What: report_open moves stdout to a private descriptor and points descriptor 1 at stderr;
 * report_guard_exit turns an exit() made by the submission into a failure; report_exit is the only
 * good way out.
 * Does not know: what is reported, nor to whom.
 * Why: a submission runs inside the driver. Some print debugging lines to stdout, which would end up in
 * the KAT text or between protocol lines; one that calls exit(0) would look like a complete run; and
 * destructors of a broken library must not turn a finished run into a crash.
 */
#define _GNU_SOURCE 1
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int guard_code;
static void (*guard_words)(void);

FILE *report_open(void)
{
    /* Static, so that the first line printed does not change the memory being measured. */
    static char buffer[8192];
    int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL)
        return NULL;
    setvbuf(out, buffer, _IOFBF, sizeof buffer);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
            return NULL;
    }
    return out;
}

void report_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
    }
}

void report_meta(FILE *out, const char *key, const char *text)
{
    fprintf(out, "META\t%s\t", key);
    report_text(out, text);
    fputc('\n', out);
}

void report_meta_number(FILE *out, const char *key, unsigned long long number)
{
    fprintf(out, "META\t%s\t%llu\n", key, number);
}

int report_number(const char *text, unsigned long long limit, unsigned long long *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno != 0 || *end != '\0' || *number > limit ? -1 : 0;
}

static void at_exit(void)
{
    if (guard_words != NULL)
        guard_words();
    else
        fputs("the library called exit\n", stderr);
    _exit(guard_code);
}

void report_guard_exit(int code, void (*last_words)(void))
{
    guard_code = code;
    guard_words = last_words;
    atexit(at_exit);
}

void report_exit(int code)
{
    _exit(code);
}
