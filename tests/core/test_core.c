/* test_core.c - linkwork-core computes what the full library does: for every problem, accelerations and reactions by
 * every method and short runs by its integrators, in a program that is linked with nothing but libm.
 *
 * Both are compiled from the same sources but for large dense and for sparse systems. So recursions agree to the last
 * bit, and with them all that stays below the sizes from which the full library takes LAPACK; the rest agrees to
 * rounding, times the condition of the worst problem.
 */
#define _POSIX_C_SOURCE 200809L
#include "figures.h"
#include "problems.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the largest number of the line, or to a thousandth of an SI unit where all are smaller: at rest there
 * is nothing but rounding. */
static const double near = 1e-9, least = 1e-3;

typedef struct tally {
    int lines, same;
    double worst;
    char place[128];
} tally;

static int is_model(const struct dirent *entry) {
    char path[512];
    snprintf(path, sizeof path, "%s/problems/%s/model.yaml", LW_SOURCE_DIR, entry->d_name);
    return entry->d_name[0] != '.' && access(path, R_OK) == 0;
}

static void write_spec(const char *problem, const char *path) {
    lw_spec *spec = read_problem_spec(problem, NULL, 0);
    size_t size = 0;
    assert_int_equal(lw_spec_save(spec, NULL, 0, &size), LW_OK);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(lw_spec_save(spec, bytes, size, NULL), LW_OK);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(bytes);
    lw_spec_destroy(spec);
}

/* The words before the numbers; at: where the numbers begin. */
static void words_of(const char *line, char *words, size_t size, const char **at) {
    *at = line;
    for (int blank = 0; **at && **at != '\n' && blank < 5; (*at)++) blank += **at == ' ';
    snprintf(words, size, "%.*s", (int)(*at - line), line);
    words[strcspn(words, "\n")] = '\0';
}

static double line_difference(const char *a, const char *b) {
    double largest = least, difference = 0;
    while (*a && *a != '\n') {
        char *end_a, *end_b;
        const double x = strtod(a, &end_a), y = strtod(b, &end_b);
        assert_ptr_not_equal(a, end_a);
        assert_ptr_not_equal(b, end_b);
        largest = fmax(largest, fmax(fabs(x), fabs(y)));
        difference = fmax(difference, fabs(x - y));
        a = end_a, b = end_b;
    }
    return difference / largest;
}

static void compare(const char *full, const char *core, tally *t) {
    char words[160], others[160];
    const char *a, *b;
    words_of(full, words, sizeof words, &a);
    words_of(core, others, sizeof others, &b);
    assert_string_equal(words, others); /* The status is among them. */
    const double difference = line_difference(a, b);
    t->lines++;
    t->same += strcmp(a, b) == 0;
    if (difference > t->worst) {
        t->worst = difference;
        snprintf(t->place, sizeof t->place, "%.120s", words);
    }
    if (!(difference <= near)) fail_msg("%s: %g", words, difference);
    const bool recursion = strstr(words, " tree ") || strstr(words, " rcr ") || strstr(words, " assembled ");
    if (recursion && strcmp(a, b) != 0) fail_msg("%s: not to the last bit, by %g", words, difference);
    if (strstr(words, " again ") && !strstr(words, " 0 0"))
        fail_msg("%s: other bits after a snapshot", words);
}

static void problem_by_problem(void **state) {
    (void)state;
    struct dirent **problems;
    const int count = scandir(LW_SOURCE_DIR "/problems", &problems, is_model, alphasort);
    assert_true(count > 40);
    char path[] = "/tmp/linkwork-core-XXXXXX", command[1024];
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    tally t = {0};
    for (int p = 0; p < count; p++) {
        const char *problem = problems[p]->d_name;
        write_spec(problem, path);
        lw_spec *spec = read_problem_spec(problem, NULL, 0);
        FILE *full = tmpfile();
        assert_non_null(full);
        assert_true(write_figures(problem, spec, full));
        rewind(full);
        snprintf(command, sizeof command, "'%s' '%s' '%s' 2>&1", FIGURES_OF_CORE, problem, path);
        FILE *core = popen(command, "r");
        assert_non_null(core);
        char *a = NULL, *b = NULL;
        size_t room_a = 0, room_b = 0;
        assert_true(getline(&b, &room_b, core) > 0);
        if (!strstr(b, "integrator \"bdf\" is not part of linkwork-core")) fail_msg("%s: %s", problem, b);
        while (getline(&a, &room_a, full) > 0) {
            if (getline(&b, &room_b, core) <= 0) fail_msg("%s: core ends before %s", problem, a);
            compare(a, b, &t);
        }
        assert_true(getline(&b, &room_b, core) < 0);
        assert_int_equal(pclose(core), 0);
        fclose(full);
        free(a), free(b);
        lw_spec_destroy(spec);
        free(problems[p]);
    }
    free(problems);
    unlink(path);
    print_message("%d figures, %d of them to the last bit; the others differ by %g at most: %s\n", t.lines,
                  t.same, t.worst, t.place);
    assert_true(t.same > t.lines / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problem_by_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
