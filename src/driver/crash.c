/*
 * Turns a deadly signal, or an exit() by the submission, into one line and an exit code.
 *
 * What: handlers on their own stack that write a RESULT line with write() and leave with _exit().
 * Does not know: buffered output. It is lost in a crash, so callers flush before they call foreign code.
 * Why: a crash is a finding about a submission, and the finding needs the operation and the record. The
 * alternate stack is what lets a stack overflow be reported, the likeliest crash of a large scheme.
 * Everything the handler touches is prepared beforehand and only async-signal-safe calls are made.
 */
#define _GNU_SOURCE 1
#include "crash.h"

#include "report.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static unsigned char alternate_stack[65536];
static char prefix[160] = "RESULT - - CRASH ";
static int line_fd = STDERR_FILENO;
static const char *volatile doing_now = "start";
static volatile long count_now = -1;

static size_t append(char *line, size_t size, size_t used, const char *text)
{
    while (*text != '\0' && used + 1 < size)
        line[used++] = *text++;
    return used;
}

static size_t append_number(char *line, size_t size, size_t used, long number)
{
    char digits[24];
    size_t n = sizeof digits;
    digits[--n] = '\0';
    do {
        digits[--n] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return append(line, size, used, digits + n);
}

static void write_line(const char *cause, long number)
{
    char line[512];
    size_t used = append(line, sizeof line, 0, prefix);
    size_t done = 0;
    used = append(line, sizeof line, used, cause);
    if (number >= 0)
        used = append_number(line, sizeof line, used, number);
    used = append(line, sizeof line, used, " in ");
    used = append(line, sizeof line, used, doing_now);
    if (count_now >= 0) {
        used = append(line, sizeof line, used, " at count ");
        used = append_number(line, sizeof line, used, count_now);
    }
    line[used++] = '\n';
    while (done < used) {
        ssize_t n = write(line_fd, line + done, used - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
}

static void on_signal(int number)
{
    write_line("signal=", number);
    _exit(CRASH_EXIT);
}

static void on_exit_call(void)
{
    write_line("exit called", -1);
}

int crash_watch(int fd)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action;
    stack_t stack;
    size_t i;

    line_fd = fd;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = alternate_stack;
    stack.ss_size = sizeof alternate_stack;
    if (sigaltstack(&stack, NULL) != 0)
        return -1;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        if (sigaction(deadly[i], &action, NULL) != 0)
            return -1;
    report_guard_exit(CRASH_EXIT, on_exit_call);
    return 0;
}

void crash_name(const char *id, const char *instance)
{
    snprintf(prefix, sizeof prefix, "RESULT %s %s CRASH ", id, instance);
}

void crash_doing(const char *doing, long count)
{
    count_now = count;
    doing_now = doing;
}
