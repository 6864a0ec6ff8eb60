/* test_hdf5.c - results as HDF5: what comes back, what a kill at any moment leaves, faults of writing and
 * reading.
 *
 * A kill cannot come in the middle of a system call, so the states in which it can leave the file are those
 * after each write. This program puts its own write and clock in the place of the system's: every row is a
 * second later than the last and goes out at once, and after each write the file is copied. All copies must
 * open and hold every row written before.
 */
#define _GNU_SOURCE
#include "core/core.h"
#include "io/results/results_file.h"
#include "io/results/read_results.h"
#include "problems.h"
#include "random_model.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>
#include <linkwork/version.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

static const char path[] = "test_hdf5.h5", copy_path[] = "test_hdf5_copy.h5";

/* --- our own clock and write ---------------------------------------------------------------------- */

static time_t now = 1000000000;
static bool running; /* the clock */

time_t time(time_t *result) {
    if (running) now++;
    if (result) *result = now;
    return now;
}

enum { MOST_COPIES = 256 };
static struct copy {
    char *bytes;
    size_t size;
} copies[MOST_COPIES];
static int copy_count;
static bool copying;

static char *read_bytes(const char *name, size_t *size) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)length + 1);
    assert_non_null(bytes);
    *size = fread(bytes, 1, (size_t)length, file);
    bytes[*size] = '\0';
    fclose(file);
    return bytes;
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t place) {
    ssize_t done = syscall(SYS_pwrite64, file, bytes, size, place);
    if (copying) {
        assert_true(copy_count < MOST_COPIES);
        struct copy *copy = &copies[copy_count++];
        copy->bytes = read_bytes(path, &copy->size);
    }
    return done;
}

/* --- a file of numbers that can be told from each other ------------------------------------------- */

enum { COLUMNS = 256 };
static lw_record_column columns[COLUMNS];
static char names[COLUMNS][16];

static lw_head make_head(double expected_rows) {
    static const lw_entry entries[] = {{.key = "model", .kind = LW_ENTRY_TEXT, .text = "m\xC3\xBCll"},
                                       {.key = "method", .kind = LW_ENTRY_TEXT, .text = "tree"},
                                       {.key = "integrator", .kind = LW_ENTRY_TEXT, .text = "auto"},
                                       {.key = "end", .kind = LW_ENTRY_NUMBER, .number = 2.5}};
    for (int k = 0; k < COLUMNS; k++) {
        snprintf(names[k], sizeof names[k], k ? "c%d" : "t", k);
        columns[k] = (lw_record_column){names[k], k % 2 ? "m" : k ? "" : "s"};
    }
    return (lw_head){.path = path,
                     .entries = entries,
                     .entry_count = sizeof entries / sizeof *entries,
                     .model_text = "linkwork: 1\nname: m\xC3\xBCll\n",
                     .columns = columns,
                     .column_count = COLUMNS,
                     .expected_rows = expected_rows};
}

static const lw_entry summary[] = {{.key = "integrator", .kind = LW_ENTRY_TEXT, .text = "erk"},
                                   {.key = "steps", .kind = LW_ENTRY_INTEGER, .integer = 4711},
                                   {.key = "wall_s", .kind = LW_ENTRY_NUMBER, .number = 0.25}};
enum { SUMMARY = sizeof summary / sizeof *summary };

static double value(size_t row, size_t column) { return (double)row + 1e-3 * (double)column; }

static lw_status write_row(lw_results_writer *writer, size_t row) {
    double values[COLUMNS];
    for (size_t k = 0; k < COLUMNS; k++) values[k] = value(row, k);
    return writer->format->row(writer, values);
}

static lw_results_table *read_table(const char *name) {
    lw_results_table *table;
    lw_error error;
    if (lw_results_table_open(name, &table, &error) != LW_OK) fail_msg("%s: %s", name, error.message);
    for (size_t k = 0; k < table->column_count; k++) table->columns[k].wanted = true;
    if (lw_results_table_read(table, &error) != LW_OK) fail_msg("%s: %s", name, error.message);
    return table;
}

static void check_rows(const lw_results_table *table, size_t rows) {
    assert_int_equal(table->column_count, COLUMNS);
    assert_true(table->row_count >= rows);
    for (size_t k = 0; k < COLUMNS; k++) {
        assert_string_equal(table->columns[k].name, names[k]);
        assert_string_equal(table->columns[k].unit, columns[k].unit);
        for (size_t row = 0; row < rows; row++) assert_true(table->columns[k].values[row] == value(row, k));
    }
}

/* Every copy made since the last call opens and has the rows. */
static int check_copies(size_t rows) {
    int checked = copy_count;
    bool was_copying = copying;
    copying = false;
    for (int k = 0; k < copy_count; k++) {
        FILE *file = fopen(copy_path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(copies[k].bytes, 1, copies[k].size, file), copies[k].size);
        fclose(file);
        free(copies[k].bytes);
        lw_results_table *table;
        lw_error error = {0};
        lw_status status = lw_results_table_open(copy_path, &table, &error);
        if (status == LW_OK) {
            for (size_t i = 0; i < table->column_count; i++) table->columns[i].wanted = true;
            status = lw_results_table_read(table, &error);
        }
        bool none_yet = rows == 0 && strcmp(error.message, "the file has no rows") == 0;
        if (status != LW_OK && !none_yet)
            fail_msg("%zu rows, write %d of %d: %s", rows, k + 1, checked, error.message);
        check_rows(table, rows);
        lw_results_table_close(table);
    }
    copy_count = 0;
    copying = was_copying;
    return checked;
}

/* --- tests ---------------------------------------------------------------------------------------- */

enum { CHUNK = 32 }; /* rows of a chunk, when the run is not foretold to be long */

/* Writes rows, so many each second, and looks at the file after each write, for the first chunks always, then
 * around the beginning of a chunk. */
static void watch_run(size_t rows, size_t each_second) {
    lw_head head = make_head((double)rows);
    lw_results_writer *writer;
    lw_error error;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_OK);
    size_t committed = 0, watched = 0, writes = 0;
    for (size_t row = 0; row < rows; row++) {
        running = (row + 1) % each_second == 0;
        copying = running && (row < 2 * CHUNK || (row + 1) % CHUNK < 3 || each_second > 1);
        assert_int_equal(write_row(writer, row), LW_OK);
        watched += copying;
        writes += (size_t)check_copies(committed);
        if (running) committed = row + 1;
    }
    assert_true(writes >= 2 * watched); /* at least values and extent */
    copying = true;
    assert_int_equal(
        lw_format_hdf5.close(writer, &(lw_results_end){.entries = summary, .entry_count = SUMMARY}, &error),
        LW_OK);
    assert_true(check_copies(committed) > 0);
    copying = running = false;
    lw_results_table *table = read_table(path);
    assert_int_equal(table->row_count, rows);
    check_rows(table, rows);
    lw_results_table_close(table);

    /* what was reserved and not used is given back: the chunks, and less than one besides */
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    size_t chunks = (rows + CHUNK - 1) / CHUNK + 1;
    assert_true((size_t)about.st_size < chunks * CHUNK * COLUMNS * sizeof(double));
}

static void a_kill_at_any_write_leaves_a_readable_file(void **state) {
    (void)state;
    watch_run(66 * CHUNK + 5, 1);
    watch_run(2000, 50);
    watch_run(2000, 333); /* ten chunks at once */
    watch_run(3, 1);
}

/* A run that writes much: full buffers instead of seconds, many chunks. */
static void long_runs_come_back(void **state) {
    (void)state;
    enum { ROWS = 20000 }; /* 40 MB */
    lw_head head = make_head(ROWS);
    lw_results_writer *writer;
    lw_error error;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_OK);
    for (size_t row = 0; row < ROWS; row++) assert_int_equal(write_row(writer, row), LW_OK);
    assert_int_equal(
        lw_format_hdf5.close(writer, &(lw_results_end){.entries = summary, .entry_count = SUMMARY}, &error),
        LW_OK);
    lw_results_table *table = read_table(path);
    assert_int_equal(table->row_count, ROWS);
    check_rows(table, ROWS);
    lw_results_table_close(table);
}

static void metadata_come_back(void **state) {
    (void)state;
    lw_head head = make_head(0);
    lw_results_writer *writer;
    lw_error error;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_OK);
    assert_int_equal(write_row(writer, 0), LW_OK);
    assert_int_equal(
        lw_format_hdf5.close(writer, &(lw_results_end){.entries = summary, .entry_count = SUMMARY}, &error),
        LW_OK);
    lw_results_table *table = read_table(path);
    assert_string_equal(table->model, "m\xC3\xBCll");
    assert_string_equal(table->method, "tree");
    assert_string_equal(table->integrator, "erk"); /* the summary knows better */
    assert_string_equal(table->columns[1].header, "c1 [m]");
    assert_string_equal(table->columns[2].header, "c2");
    lw_results_table_close(table);
    /* texts and names stand in the file as they are */
    size_t size;
    char *bytes = read_bytes(path, &size);
    for (int k = 0; k < SUMMARY; k++)
        assert_non_null(memmem(bytes, size, summary[k].key, strlen(summary[k].key)));
    assert_non_null(memmem(bytes, size, head.model_text, strlen(head.model_text)));
    assert_non_null(memmem(bytes, size, "model_text", 10));
    free(bytes);
}

/* Both formats hold the same: names, units, values. */
static void both_formats_agree(void **state) {
    (void)state;
    static const char text[] =
        "linkwork: 1\nname: two\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 2, inertia: [1, 1, "
        "1]}}\n"
        "joints:\n  ball: {type: spherical, between: [ground, a], point: [0, 0, 1]}\n"
        "  slide: {type: prismatic, between: [a, b], point: [0, 0, 0], axis: [1, 0, 0]}\n";
    lw_model *model = compile_or_fail(read_text_spec(text));
    lw_error error;
    const char *const paths[] = {path, "test_hdf5.csv"};
    lw_results_table *tables[2];
    for (int k = 0; k < 2; k++) {
        lw_results *results;
        const lw_results_options options = {.path = paths[k], .record = "*", .method = "tree", .end = 1};
        assert_int_equal(lw_results_open(model, &options, &results, &error), LW_OK);
        assert_true(lw_results_want_accelerations(results) && lw_results_want_reactions(results));
        for (int row = 0; row < 50; row++) {
            double q[5] = {cos(row), sin(row), 0, 0, row / 3.0}, v[4] = {1, row, 3, 1e-300},
                   a[4] = {row, 2, 3};
            double reactions[12] = {1.0 / 3, row};
            const lw_ledger ledger = {1, 2, 3, 4, row, 1e-17};
            assert_int_equal(lw_results_write(results, &(lw_sample){.t = row,
                                                                    .q = q,
                                                                    .v = v,
                                                                    .vdot = row < 40 ? a : NULL,
                                                                    .reactions = reactions,
                                                                    .ledger = &ledger}),
                             LW_OK);
        }
        assert_int_equal(lw_results_close(results, &(lw_run_summary){.method = "tree"}, &error), LW_OK);
        tables[k] = read_table(paths[k]);
    }
    assert_int_equal(tables[0]->column_count, tables[1]->column_count);
    assert_int_equal(tables[0]->row_count, 50);
    assert_int_equal(tables[1]->row_count, 50);
    for (size_t k = 0; k < tables[0]->column_count; k++) {
        const lw_column *a = &tables[0]->columns[k], *b = &tables[1]->columns[k];
        assert_string_equal(a->header, b->header);
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->unit, b->unit);
        for (size_t row = 0; row < 50; row++)
            assert_true(a->values[row] == b->values[row] || (isnan(a->values[row]) && isnan(b->values[row])));
    }
    int acceleration = lw_results_table_column(tables[0], "slide.a");
    assert_true(acceleration > 0 && isnan(tables[0]->columns[acceleration].values[45]));
    lw_results_table_close(tables[0]);
    lw_results_table_close(tables[1]);
    lw_model_destroy(model);
    remove(paths[1]);
}

static void expect_open_fault(const char *name, const char *message) {
    lw_head head = make_head(0);
    lw_results_writer *writer;
    lw_error error;
    char text[1200];
    head.path = name;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_ERROR_FILE);
    lw_error_format(&error, text, sizeof text);
    if (!strstr(text, message)) fail_msg("\"%s\" does not contain \"%s\"", text, message);
}

static void faults_of_writing_are_told(void **state) {
    (void)state;
    expect_open_fault("no/such/folder/x.h5",
                      "results file \"no/such/folder/x.h5\": cannot be opened: No such file or directory");
    expect_open_fault(".", "cannot be opened: Is a directory");

    /* a disk that is full after 1 MB: the fault is told, and what is in the file stays readable */
    struct rlimit kept, small;
    lw_head head = make_head(100);
    lw_results_writer *writer;
    lw_error error;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
    signal(SIGXFSZ, SIG_IGN);
    small = kept;
    small.rlim_cur = 1 << 20;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    lw_status status = LW_OK;
    running = true;
    for (size_t row = 0; row < 2000 && status == LW_OK; row++) status = write_row(writer, row);
    running = false;
    assert_int_equal(status, LW_ERROR_FILE);
    assert_int_equal(write_row(writer, 0), LW_ERROR_FILE);
    status =
        lw_format_hdf5.close(writer, &(lw_results_end){.entries = summary, .entry_count = SUMMARY}, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &kept), 0);
    assert_int_equal(status, LW_ERROR_FILE);
    assert_non_null(strstr(error.message, "cannot be written: "));
    lw_results_table *table = read_table(path);
    check_rows(table, 256); /* at least those find room before the file must grow beyond the limit */
    lw_results_table_close(table);
}

static void expect_read_fault(const char *bytes, size_t size, const char *message) {
    FILE *file = fopen(copy_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    lw_results_table *table;
    lw_error error;
    char text[1200];
    lw_status status = lw_results_table_open(copy_path, &table, &error);
    if (status == LW_OK) {
        table->columns[0].wanted = true;
        status = lw_results_table_read(table, &error);
        lw_results_table_close(table);
    }
    assert_int_equal(status, LW_ERROR_FILE);
    lw_error_format(&error, text, sizeof text);
    if (!strstr(text, message)) fail_msg("\"%s\" does not contain \"%s\"", text, message);
}

static void faults_of_reading_are_told(void **state) {
    (void)state;
    lw_head head = make_head(0);
    lw_results_writer *writer;
    lw_error error;
    assert_int_equal(lw_format_hdf5.open(&head, &writer, &error), LW_OK);
    assert_int_equal(lw_format_hdf5.close(writer, NULL, &error), LW_OK);
    size_t size;
    char *bytes = read_bytes(path, &size);
    expect_read_fault(bytes, size, "test_hdf5_copy.h5: the file has no rows");
    expect_read_fault(bytes, size / 2, "test_hdf5_copy.h5: cannot be opened: ");
    expect_read_fault(bytes, 8, "cannot be opened: ");
    char *name = memmem(bytes, size, "columns", 7);
    assert_non_null(name);
    name[0] = 'k';
    expect_read_fault(bytes, size, "the HDF5 file has no datasets data, columns and units");
    free(bytes);
}

/* HDF5 prints its faults unless it is told not to. */
static void nothing_is_printed(void **state) {
    (void)state;
    struct stat about;
    lw_head head = make_head(0);
    lw_results_writer *writer;
    lw_results_table *table;
    lw_error error;
    FILE *garbage = fopen(copy_path, "wb");
    assert_non_null(garbage);
    fputs("\x89HDF\r\n\x1A\n and nothing else", garbage);
    fclose(garbage);
    const lw_entry twice[] = {summary[0], summary[0]}; /* HDF5 refuses an attribute that is there already */
    head.entries = twice;
    head.entry_count = 2;
    fflush(stderr);
    int kept = dup(2);
    FILE *file = fopen("test_hdf5.err", "wb");
    assert_true(file && dup2(fileno(file), 2) == 2);
    lw_status opened = lw_format_hdf5.open(&head, &writer, &error);
    lw_status read = lw_results_table_open(copy_path, &table, NULL);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    fclose(file);
    assert_int_equal(opened, LW_ERROR_FILE);
    assert_int_equal(read, LW_ERROR_FILE);
    assert_int_equal(stat("test_hdf5.err", &about), 0);
    assert_int_equal(about.st_size, 0);
}

static int remove_files(void **state) {
    (void)state;
    remove(path);
    remove(copy_path);
    remove("test_hdf5.err");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kill_at_any_write_leaves_a_readable_file),
        cmocka_unit_test(long_runs_come_back),
        cmocka_unit_test(metadata_come_back),
        cmocka_unit_test(both_formats_agree),
        cmocka_unit_test(faults_of_writing_are_told),
        cmocka_unit_test(faults_of_reading_are_told),
        cmocka_unit_test(nothing_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
