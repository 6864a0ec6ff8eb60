/* misuse_support.h - runs wrong calls, each in a process of its own, so that one that crashes is told by its text
 * and does not hide the others.
 *
 * A file writes them as cases of a function: enum { BEFORE = __COUNTER__ + 1 }; bool misuse(int k) { switch (k +
 * BEFORE) { ARGUMENT(call) MISUSE(expression) ... } return false; } and counts them by __COUNTER__ - BEFORE.
 */
#ifndef MISUSE_SUPPORT_H
#define MISUSE_SUPPORT_H

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A call that returns nothing has done nothing. */
#define QUIET(call) ((call), true)

/* The text of a misuse goes to the parent before it happens, so that it is known after a crash. */
static int told;
static void tell(const char *what) {
    if (write(told, what, strlen(what)) < 0) _exit(2);
}

#define ARGUMENT(call) MISUSE((call) == LW_ERROR_ARGUMENT)
#define MISUSE(expression)                                                                                   \
    case __COUNTER__:                                                                                        \
        tell(#expression);                                                                                   \
        return (expression);

/* How many of the cases 0 .. count - 1 crash or are answered wrongly. */
static int misuses_failed(int count, bool (*misuse)(int number_of_case)) {
    int failed = 0;
    for (int k = 0; k < count; k++) {
        int said[2], end = 0;
        char name[256] = "";
        assert_int_equal(pipe(said), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
            for (size_t c = 0; c < sizeof crashes / sizeof *crashes; c++)
                signal(crashes[c], SIG_DFL); /* not cmocka's */
            told = said[1];
            _exit(misuse(k) ? 0 : 1);
        }
        close(said[1]);
        ssize_t length = read(said[0], name, sizeof name - 1);
        close(said[0]);
        assert_int_equal(waitpid(child, &end, 0), child);
        if (WIFEXITED(end) && WEXITSTATUS(end) == 0) continue;
        failed++;
        print_message("misuse %d, %s%s\n", k, length > 0 ? name : "",
                      WIFSIGNALED(end) ? " CRASHES" : " is answered wrongly");
    }
    return failed;
}

#endif
