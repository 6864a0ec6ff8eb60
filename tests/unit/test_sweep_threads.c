/* A sweep by one thread and by four gives the same rows, bit by bit, also with runs side by side in lanes; one that is stopped
 * and gone on with, too. */
#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static const char pendulum[] =
    "linkwork: 1\n"
    "parameters: {L: 1, m: 1}\n"
    "bodies:\n"
    "  bob: {kind: point, mass: m, com: [L, 0, 0]}\n"
    "joints:\n"
    "  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}\n"
    "run: {end: 0.2}\n";

enum { RUNS = 60, COLUMNS = 4 };

typedef struct table {
    double rows[RUNS][COLUMNS];
    int seen[RUNS], count, most;
} table;

static void keep(const lw_sweep *sweep, const lw_sweep_row *row, void *context) {
    table *t = context;
    (void)sweep;
    memcpy(t->rows[row->run], row->values, sizeof t->rows[0]);
    t->seen[row->run]++;
    t->count++;
}

static bool enough(void *context) {
    const table *t = context;
    return t->count >= t->most;
}

static void fixed_steps(lw_run_options *options, void *context) {
    (void)context;
    options->step = 1e-3;
}

static lw_sweep *new_sweep(bool lanes) {
    static const char *const vary[] = {"L = 0.5..1.5 : 6", "m ~ uniform(1, 2)"};
    static const char *const measures[] = {"final(pin.q)", "max(reaction(pin).force)"};
    const lw_sweep_options plan = {.vary = vary,
                                   .vary_count = 2,
                                   .measures = measures,
                                   .measure_count = 2,
                                   .draws = 10,
                                   .seed = 3,
                                   .lanes = lanes,
                                   .settle = lanes ? fixed_steps : NULL};
    lw_spec *spec = NULL;
    lw_sweep *sweep = NULL;
    assert_int_equal(lw_read_model_text(pendulum, sizeof pendulum - 1, "text", NULL, 0, NULL, &spec), LW_OK);
    assert_int_equal(lw_sweep_create(spec, &plan, &sweep, NULL), LW_OK);
    lw_spec_destroy(spec); /* The sweep has its own. */
    assert_int_equal(lw_sweep_count(sweep), RUNS);
    return sweep;
}

static void by_threads(bool lanes) {
    static table one, four;
    one = four = (table){.count = 0};
    lw_sweep *sweep = new_sweep(lanes);
    lw_sweep_summary summary;
    one.most = four.most = RUNS + 1;
    const lw_sweep_call alone = {.jobs = 1, .row = keep, .interrupted = enough, .context = &one},
                        along = {.jobs = 4, .row = keep, .interrupted = enough, .context = &four};
    assert_int_equal(lw_sweep_run(sweep, &alone, &summary, NULL), LW_OK);
    assert_int_equal(summary.done, RUNS);
    assert_int_equal(lw_sweep_run(sweep, &along, &summary, NULL), LW_OK);
    assert_int_equal(summary.done, RUNS);
    assert_memory_equal(one.rows, four.rows, sizeof one.rows);
    for (int k = 0; k < RUNS; k++) assert_true(one.seen[k] == 1 && four.seen[k] == 1);

    /* A worker of its own gives the same row, whatever it did before. */
    lw_sweep_worker *worker = NULL;
    double values[COLUMNS];
    lw_sweep_row row = {.values = values};
    assert_int_equal(lw_sweep_worker_create(sweep, &worker, NULL), LW_OK);
    for (int k = 7; k >= 0; k--) {
        assert_int_equal(lw_sweep_worker_run(worker, (uint64_t)(7 * k), &row, NULL, NULL, NULL), LW_OK);
        assert_memory_equal(values, one.rows[7 * k], sizeof values);
    }
    lw_sweep_worker_destroy(worker);
    lw_sweep_destroy(sweep);
}

static void threads(void **state) {
    (void)state;
    by_threads(false);
}

static void lanes(void **state) {
    (void)state;
    by_threads(true);
}

static void stopped(void **state) {
    (void)state;
    static table t;
    lw_sweep *sweep = new_sweep(false);
    lw_sweep_summary summary;
    t.most = 20;
    const lw_sweep_call call = {.jobs = 4, .row = keep, .interrupted = enough, .context = &t};
    assert_int_equal(lw_sweep_run(sweep, &call, &summary, NULL), LW_ERROR_STOPPED);
    assert_true(summary.done >= 20 && summary.done < RUNS && summary.stopped);
    lw_sweep_destroy(sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads), cmocka_unit_test(lanes),
                                       cmocka_unit_test(stopped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
