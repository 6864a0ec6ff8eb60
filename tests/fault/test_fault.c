/* test_fault.c - bad models and bad files: each must give its messages, all of them, and nothing else.
 *
 * Every tests/fault/NAME.yaml starts with lines  # expect: LINE:COLUMN: message  in the order of the report;
 * a message must begin with what is expected. What cannot be a text file in a repository (folders, pipes,
 * devices, huge files, broken copies of good models) is made here.
 */
#define _POSIX_C_SOURCE 200809L

#include "random_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- help ----------------------------------------------------------------------------------------- */

typedef struct outcome {
    lw_report *report;
    lw_status status;
} outcome;

static void compile(lw_spec *spec, outcome *out) {
    lw_model *model = NULL;
    if (!spec) return;
    out->status = lw_model_compile(spec, NULL, out->report, &model);
    assert_int_equal(out->status == LW_OK, model != NULL);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
}

static outcome try_file(const char *path) {
    outcome out = {lw_report_create(), LW_OK};
    lw_spec *spec = NULL;
    out.status = lw_read_model(path, NULL, 0, out.report, &spec);
    assert_int_equal(out.status == LW_OK, spec != NULL);
    compile(spec, &out);
    return out;
}

static outcome try_text(const char *text, size_t length) {
    outcome out = {lw_report_create(), LW_OK};
    lw_spec *spec = NULL;
    out.status = lw_read_model_text(text, length, "text", NULL, 0, out.report, &spec);
    assert_int_equal(out.status == LW_OK, spec != NULL);
    compile(spec, &out);
    return out;
}

/* Message number index without the file's name; empty if there is none. */
static void message(const outcome *out, size_t index, const char *file, char text[1200]) {
    text[0] = '\0';
    if (index >= lw_report_size(out->report)) return;
    lw_error_format(lw_report_get(out->report, index), text, 1200);
    size_t length = strlen(file);
    if (strncmp(text, file, length) == 0 && text[length] == ':')
        memmove(text, text + length + 1, 1200 - length - 1);
}

static void expect_file_fault(const char *path, lw_status status, const char *wanted) {
    char text[1200];
    clock_t start = clock();
    outcome out = try_file(path);
    message(&out, 0, path, text);
    if (out.status != status || lw_report_size(out.report) != 1 || !strstr(text, wanted)) {
        fail_msg("%s: wanted \"%s\", got %zu messages, first \"%s\"", path, wanted,
                 lw_report_size(out.report), text);
    }
    /* "quickly": 64 MiB are read and scanned in well under a second; sanitizers and a busy machine cost up to
     * 10 s */
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
    lw_report_destroy(out.report);
}

static void expect_text_fault(const char *text, size_t length, const char *wanted) {
    char space[1200];
    outcome out = try_text(text, length);
    message(&out, 0, "text", space);
    if (out.status != LW_ERROR_MODEL || lw_report_size(out.report) != 1 || !strstr(space, wanted)) {
        fail_msg("wanted \"%s\", got %zu messages, first \"%s\"", wanted, lw_report_size(out.report), space);
    }
    lw_report_destroy(out.report);
}

static char *read_all(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*length + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *length, file), *length);
    text[*length] = '\0';
    fclose(file);
    return text;
}

/* --- the models in this folder -------------------------------------------------------------------- */

static size_t check_one(const char *path) {
    char line[1200], space[1200];
    size_t count = 0, bad = 0;
    outcome out = try_file(path);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && strncmp(line, "# expect: ", 10) == 0) {
        const char *wanted = line + 10;
        message(&out, count, path, space);
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(space, wanted, strlen(wanted)) != 0) {
            print_error("%s\n    wanted: %s\n    got:    %s\n", path, wanted, space);
            bad++;
        }
        count++;
    }
    fclose(file);
    for (size_t k = count; k < lw_report_size(out.report); k++) {
        message(&out, k, path, space);
        print_error("%s\n    not expected: %s\n", path, space);
    }
    bad += count == 0 || lw_report_size(out.report) != count || lw_report_errors(out.report) != count;
    bad += out.status == LW_OK;
    lw_report_destroy(out.report);
    return bad;
}

static void models_give_their_messages(void **state) {
    (void)state;
    glob_t files;
    size_t bad = 0;
    assert_int_equal(glob(LW_SOURCE_DIR "/tests/fault/*.yaml", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 60);
    for (size_t k = 0; k < files.gl_pathc; k++) bad += check_one(files.gl_pathv[k]);
    globfree(&files);
    assert_int_equal(bad, 0);
}

static void nothing_is_printed(void **state) {
    (void)state;
    char name[] = "/tmp/linkwork-fault-XXXXXX";
    int capture = mkstemp(name), out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO);
    assert_true(capture >= 0 && out >= 0 && error >= 0);
    fflush(stdout);
    fflush(stderr);
    glob_t files;
    assert_int_equal(glob(LW_SOURCE_DIR "/tests/fault/*.yaml", 0, NULL, &files), 0);
    dup2(capture, STDOUT_FILENO);
    dup2(capture, STDERR_FILENO);
    for (size_t k = 0; k < files.gl_pathc; k++) {
        outcome result = try_file(files.gl_pathv[k]);
        lw_report_destroy(result.report);
    }
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    struct stat about;
    assert_int_equal(fstat(capture, &about), 0);
    close(capture);
    close(out);
    close(error);
    unlink(name);
    globfree(&files);
    assert_int_equal(about.st_size, 0);
}

/* --- things that are no model files --------------------------------------------------------------- */

static void files_that_cannot_be_read(void **state) {
    (void)state;
    char folder[] = "/tmp/linkwork-fault-XXXXXX", path[64], longer[96];
    assert_non_null(mkdtemp(folder));
    expect_file_fault("no/such/file.yaml", LW_ERROR_FILE, "there is no such file; check the path");
    expect_file_fault(folder, LW_ERROR_FILE, "this is a folder; name a model file in it");
    expect_file_fault("/dev/zero", LW_ERROR_FILE, "this is a device, pipe or socket");

    snprintf(path, sizeof path, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_file_fault(path, LW_ERROR_FILE, "this is a device, pipe or socket");
    unlink(path);

    snprintf(path, sizeof path, "%s/empty", folder);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(file >= 0);
    expect_file_fault(path, LW_ERROR_MODEL, "1:1: the file is empty; a model starts with");
    assert_int_equal(ftruncate(file, 60 * 1024 * 1024), 0); /* zeros, within the limit of size */
    expect_file_fault(path, LW_ERROR_MODEL, "1:1: control character 0x00");
    assert_int_equal(ftruncate(file, 100 * 1000 * 1000), 0);
    expect_file_fault(path, LW_ERROR_FILE, "the file is larger than 64 MiB");
    close(file);
    snprintf(longer, sizeof longer, "%s/model.yaml", path);
    expect_file_fault(longer, LW_ERROR_FILE, "a part of the path is not a folder; check the path");
    unlink(path);

    snprintf(path, sizeof path, "%s/loop", folder);
    assert_int_equal(symlink("loop", path), 0);
    expect_file_fault(path, LW_ERROR_FILE,
                      "symbolic links in the path lead back to themselves; check the path");
    unlink(path);
    rmdir(folder);
}

/* Root may read everything, so a child without root's rights has to try. No assertions in it: a failing one
 * would go on with the parent's tests. */
static bool child_is_refused(const char *path) {
    enum { NOBODY = 65534, REFUSED = 17 };
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char space[1200];
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) _exit(2);
        lw_report *report = lw_report_create();
        lw_spec *spec = NULL;
        outcome out = {report, lw_read_model(path, NULL, 0, report, &spec)};
        message(&out, 0, path, space);
        bool refused = out.status == LW_ERROR_FILE && !spec && lw_report_size(report) == 1 &&
                       strstr(space, "the file may not be read; check the file's permissions");
        _exit(refused ? REFUSED : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == REFUSED;
}

static void files_without_permission(void **state) {
    (void)state;
    char folder[] = "/tmp/linkwork-fault-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("linkwork: 1\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(folder, 0755) | chmod(path, 0644), 0);
    assert_false(child_is_refused(path)); /* so it is the permission that matters */
    assert_int_equal(chmod(path, 0), 0);
    assert_true(child_is_refused(path));
    assert_int_equal(chmod(path, 0644) | chmod(folder, 0), 0); /* the folder must not be entered */
    assert_true(child_is_refused(path));
    assert_int_equal(chmod(folder, 0700), 0);
    unlink(path);
    rmdir(folder);
}

static void texts_that_are_no_models(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    char *text = malloc(MANY + 32);
    assert_non_null(text);
    expect_text_fault("", 0, "1:1: the file is empty");
    expect_text_fault("# nothing\n", 10, "1:1: the file is empty");
    expect_text_fault("\xEF\xBB\xBF", 3, "1:1: the file is empty");
    expect_text_fault("\xFF\xFEl\0i\0", 6, "1:1: byte 0xFF is not UTF-8 text");
    expect_text_fault("linkwork: 1\nname: \xC0\x80\n", 21, "2:7: byte 0xC0 is not UTF-8 text");
    expect_text_fault("linkwork: 1\nname: \xED\xA0\x80\n", 22,
                      "2:7: byte 0xED is not UTF-8 text"); /* surrogate */

    memcpy(text, "linkwork: 1\nx: ", 15);
    memset(text + 15, '[', MANY);
    expect_text_fault(text, MANY + 15,
                      "2:100004: line 2 has more than 100000 brackets, commas, quotes and signs & * !; break "
                      "it into several lines");
    expect_text_fault(text, 100000 + 15, "more than 64 levels");
    memcpy(text, "linkwork: 1\nx: ", 15);
    memset(text + 15, 'a', MANY); /* a long word is no fault by itself */
    expect_text_fault(text, MANY + 15, "2:1: unknown key \"x\"");
    free(text);
}

/* Lines on which libfyaml would spend gigabytes; bounded memory is what a process of its own can show. A
 * sanitizer's own address space is beyond any bound. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void refuse_line(const char *piece) {
    enum { SIZE = 60000000 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    size_t length = strlen(piece), used = 15;
    memcpy(text, "linkwork: 1\nx: ", 15);
    text[used++] = '[';
    for (; used + length <= SIZE; used += length) memcpy(text + used, piece, length);
    if (SANITIZED) {
        expect_text_fault(text, used, "line 2 has more than 100000 brackets, commas");
        free(text);
        return;
    }
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* no assertions here: a failing one would go on with the parent's tests */
        const struct rlimit memory = {1000000000, 1000000000}, seconds = {5, 5};
        char space[1200];
        if (setrlimit(RLIMIT_AS, &memory) != 0 || setrlimit(RLIMIT_CPU, &seconds) != 0) _exit(2);
        lw_report *report = lw_report_create();
        lw_spec *spec = NULL;
        outcome out = {report, lw_read_model_text(text, used, "text", NULL, 0, report, &spec)};
        message(&out, 0, "text", space);
        _exit(out.status == LW_ERROR_MODEL && strstr(space, "brackets, commas") ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    free(text);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg("many \"%s\": status %d", piece, status);
}

static void lines_that_cost_too_much(void **state) {
    (void)state;
    refuse_line("[");
    refuse_line("[1],");
    refuse_line("{");
    refuse_line("]}");
    refuse_line("\"a\" ");
    refuse_line("*a ");
    refuse_line("&a ");
    refuse_line("!a ");
}

/* More faults than a report takes: it says so, and reading ends in reasonable time. */
static void very_many_faults(void **state) {
    (void)state;
    enum { BODIES = 20000 };
    size_t size = 64 + 40 * BODIES, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    used += (size_t)snprintf(text, size, "linkwork: 1\nbodies:\n");
    for (int k = 0; k < BODIES; k++)
        used += (size_t)snprintf(text + used, size - used, "  b%d: {masss: 1}\n", k);
    outcome out = try_text(text, used);
    assert_int_equal(out.status, LW_ERROR_MODEL);
    assert_in_range(lw_report_size(out.report), 1000, 1002);
    lw_report_destroy(out.report);
    free(text);
}

/* One entry after the other counts like a repeat; one message says so. */
static void very_many_objects(void **state) {
    (void)state;
    enum { BODIES = 250010 };
    size_t size = 64 + 24 * BODIES, used = 0;
    char *text = malloc(size);
    assert_non_null(text);
    used += (size_t)snprintf(text, size, "linkwork: 1\nbodies:\n");
    for (int k = 0; k < BODIES; k++) used += (size_t)snprintf(text + used, size - used, "  b%d: ground\n", k);
    expect_text_fault(text, used, "250003:3: body \"b250000\": more than 250000 objects");
    free(text);
}

/* --- broken copies of good models ----------------------------------------------------------------- */

/* Whatever the text, reading ends with a spec or with messages that have places inside the text. */
static void check_outcome(const char *text, size_t length, const char *what, uint64_t seed) {
    int lines = 1;
    for (size_t k = 0; k < length; k++) lines += text[k] == '\n' || text[k] == '\r';
    outcome out = try_text(text, length);
    bool good = (out.status == LW_OK) == (lw_report_errors(out.report) == 0);
    for (size_t k = 0; k < lw_report_size(out.report); k++) {
        const lw_error *error = lw_report_get(out.report, k);
        good = good && error->message[0] && error->place.line <= lines + 1;
    }
    lw_report_destroy(out.report);
    if (!good) fail_msg("%s %llu: no message, or one out of place", what, (unsigned long long)seed);
}

/* Each example of the documentation, cut short and with characters replaced. */
static void broken_copies(void **state) {
    (void)state;
    size_t length;
    char *text = read_all(LW_SOURCE_DIR "/docs/model-format.md", &length);
    static const char pieces[] = "{}[]:,-\"'#&*!|>%@`~\n\t 0e.(+^\xC3\x01";
    for (char *start = strstr(text, "```yaml\nlinkwork: 1"); start;
         start = strstr(start, "```yaml\nlinkwork: 1")) {
        start += strlen("```yaml\n");
        char *end = strstr(start, "```");
        assert_non_null(end);
        size_t size = (size_t)(end - start);
        for (size_t cut = 0; cut < size; cut += 7) check_outcome(start, cut, "cut after", cut);
        for (uint64_t seed = 1; seed <= 150; seed++) {
            lw_random random = random_seed(seed);
            char *copy = malloc(size);
            assert_non_null(copy);
            memcpy(copy, start, size);
            for (int k = 1 + random_below(&random, 3); k > 0; k--)
                copy[random_below(&random, (int)size)] =
                    pieces[random_below(&random, (int)sizeof pieces - 1)];
            check_outcome(copy, size, "mutation", seed);
            free(copy);
        }
        start = end;
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_give_their_messages),
        cmocka_unit_test(nothing_is_printed),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(files_without_permission),
        cmocka_unit_test(texts_that_are_no_models),
        cmocka_unit_test(lines_that_cost_too_much),
        cmocka_unit_test(very_many_faults),
        cmocka_unit_test(very_many_objects),
        cmocka_unit_test(broken_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
