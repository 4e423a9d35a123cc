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
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned char alternate_stack[65536];
static char prefix[160] = "RESULT - - CRASH ";
static int line_fd = STDERR_FILENO;
static const char *volatile doing_now = "start";
static volatile long count_now = -1;

/*
 * The part of the address space that the kernel leaves free below the stack, so that nothing else is mapped there:
 * an access in it is the stack's. The stack itself ends at its limit; both count from a place near its start.
 */
enum { STACK_GAP = 128 << 20, STACK_GUARD = 1 << 20, STACK_SLACK = 64 << 10 };
static uintptr_t stack_start;
static uintptr_t stack_limit;

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

static int out_of_stack(int number, const siginfo_t *info)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    uintptr_t depth = stack_start - address;
    uintptr_t gap = stack_limit > STACK_GAP ? stack_limit + STACK_GUARD : STACK_GAP;
    return (number == SIGSEGV || number == SIGBUS) && stack_limit != 0 && address < stack_start &&
           depth + STACK_SLACK >= stack_limit && depth < gap;
}

static void write_line(const char *cause, long number, long stack_kib)
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
    if (stack_kib > 0) {
        used = append(line, sizeof line, used, ": out of stack, limit ");
        used = append_number(line, sizeof line, used, stack_kib);
        used = append(line, sizeof line, used, " KiB");
    }
    line[used++] = '\n';
    while (done < used) {
        ssize_t n = write(line_fd, line + done, used - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    write_line("signal=", number, out_of_stack(number, info) ? (long)(stack_limit / 1024) : 0);
    _exit(CRASH_EXIT);
}

static void on_exit_call(void)
{
    write_line("exit called", -1, 0);
}

int crash_watch(int fd)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    struct sigaction action;
    struct rlimit limit;
    stack_t stack;
    size_t i;

    line_fd = fd;
    stack_start = (uintptr_t)&stack;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        stack_limit = (uintptr_t)limit.rlim_cur;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = alternate_stack;
    stack.ss_size = sizeof alternate_stack;
    if (sigaltstack(&stack, NULL) != 0)
        return -1;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_ONSTACK | SA_SIGINFO;
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
