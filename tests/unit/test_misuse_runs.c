/* test_misuse_runs.c - what sweeps, rollouts and analyses answer to a wrong call; the other headers are in
 * test_misuse.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "misuse_support.h"

static const char pendulum[] =
    "linkwork: 1\n"
    "parameters: {L: 1}\n"
    "inputs: {u: 0}\n"
    "bodies:\n"
    "  one: {mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}\n"
    "  two: {mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, one], first: {point: [0, 0, 0], axis: [0, 1, 0]},"
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.3}\n"
    "  b: {type: revolute, between: [one, two], first: {point: [L, 0, 0], axis: [0, 1, 0]},"
    " second: {point: [0, 0, 0], axis: [0, 1, 0]}, q: 0.4}\n"
    "forces:\n"
    "  motor: {type: drive, joint: a, torque: u}\n"
    "run: {end: 0.1}\n";

static lw_spec *spec;
static lw_model *model;
static lw_report *report;
static lw_error error;
static lw_solver_options solving;
static lw_derivatives *derivatives;
static lw_linearise_options near;
static lw_simulation *simulation;
static lw_rollout *rollout;
static lw_rollout_options rolling;
static lw_sweep *sweep;
static lw_sweep_worker *worker;
static double q[2], v[2], nan2[2], out[64];
static const double now[1] = {0.01}, back[2] = {0.02, 0.01};
static const char *const vary[] = {"L = 1, 2"}, *const measures[] = {"final(a.q)"}, *const L[] = {"L"},
                         *const none[] = {NULL};
static const char *const bounds[] = {"L = 1..2"};
static const lw_optimise_options wanted = {.vary = bounds, .vary_count = 1, .minimise = "final(a.q)"};
static lw_drive_derivatives drives;
static lw_reaction_derivatives reactions;
static lw_inverse_options motion;
static const lw_sweep_options plan = {
    .vary = vary, .vary_count = 1, .measures = measures, .measure_count = 1};

static void set_up(void) {
    report = lw_report_create();
    assert_int_equal(lw_read_model_text(pendulum, sizeof pendulum - 1, "text", NULL, 0, report, &spec),
                     LW_OK);
    assert_int_equal(lw_model_compile(spec, NULL, report, &model), LW_OK);
    lw_run_options run;
    lw_run_defaults(model, &run);
    lw_solver_defaults(model, &solving);
    lw_linearise_defaults(model, &near);
    lw_inverse_defaults(model, &motion);
    lw_rollout_defaults(model, &rolling);
    rolling.threads = 1; /* Cases run in processes of their own, which have no other threads. */
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_derivatives_create(model, &solving, NULL, &derivatives, &error), LW_OK);
    assert_int_equal(lw_simulation_create(model, &run, NULL, &simulation, &error), LW_OK);
    assert_int_equal(lw_rollout_create(model, &rolling, NULL, &rollout, &error), LW_OK);
    assert_int_equal(lw_sweep_create(spec, &plan, &sweep, &error), LW_OK);
    assert_int_equal(lw_sweep_worker_create(sweep, &worker, &error), LW_OK);
    nan2[0] = NAN;
}

static void tear_down(void) {
    lw_sweep_worker_destroy(worker), lw_sweep_destroy(sweep), lw_rollout_destroy(rollout);
    lw_simulation_destroy(simulation), lw_derivatives_destroy(derivatives);
    lw_model_destroy(model), lw_spec_destroy(spec), lw_report_destroy(report);
}

static bool refuses_run(lw_rollout_runs runs) {
    return lw_rollout_run(rollout, &runs, &error) == LW_ERROR_ARGUMENT && error.message[0];
}
static bool refuses_inverse(lw_inverse_options wrong) {
    lw_inverse *made = NULL;
    return lw_inverse_find(model, &wrong, &made, &error) != LW_OK && !made && error.message[0];
}
static bool refuses_sweep(lw_sweep_options wrong) {
    lw_sweep *made = sweep;
    return lw_sweep_create(spec, &wrong, &made, &error) == LW_ERROR_ARGUMENT && !made && error.message[0];
}

enum { BEFORE = __COUNTER__ + 1 };
static bool misuse(int number_of_case) {
    switch (number_of_case + BEFORE) {
        /* --- spec.h, simulation.h, io.h --- */
        ARGUMENT(lw_spec_set_parameters(NULL, L, out, 1, &error))
        ARGUMENT(lw_spec_set_parameters(spec, NULL, out, 1, &error))
        ARGUMENT(lw_spec_set_parameters(spec, L, NULL, 1, NULL))
        ARGUMENT(lw_spec_set_parameters(spec, L, nan2, 1, &error))
        ARGUMENT(lw_spec_set_parameters(spec, none, out, 1, &error))
        MISUSE(lw_spec_set_parameters(spec, NULL, NULL, 0, NULL) == LW_OK)
        ARGUMENT(lw_simulation_step_to(NULL, 1, &error))
        ARGUMENT(lw_simulation_step_to(simulation, NAN, NULL))
        ARGUMENT(lw_write_with_start(NULL, spec, &(lw_new_start){.name = "x"}, "x.yaml", &error))
        ARGUMENT(lw_write_with_start("model.yaml", NULL, &(lw_new_start){.name = "x"}, "x.yaml", &error))
        ARGUMENT(lw_write_with_start("model.yaml", spec, NULL, "x.yaml", &error))
        ARGUMENT(lw_write_with_start("model.yaml", spec, &(lw_new_start){.name = "x"}, NULL, NULL))
        /* --- derivatives.h --- */
        ARGUMENT(lw_derivatives_of_drives(NULL, 0, q, v, v, &drives, &error))
        ARGUMENT(lw_derivatives_of_drives(derivatives, 0, q, v, NULL, &drives, &error))
        ARGUMENT(lw_derivatives_of_drives(derivatives, NAN, q, v, v, &drives, NULL))
        ARGUMENT(lw_derivatives_of_drives(derivatives, 0, nan2, v, v, &drives, &error))
        ARGUMENT(lw_derivatives_of_drives(derivatives, 0, q, v, v, NULL, &error))
        ARGUMENT(lw_derivatives_prepare_reactions(NULL, &error))
        ARGUMENT(lw_derivatives_of_reactions(NULL, 0, q, v, NULL, &reactions, &error))
        ARGUMENT(lw_derivatives_of_reactions(derivatives, 0, q, v, NULL, &reactions, NULL)) /* not prepared */
        ARGUMENT(lw_derivatives_of_reactions(derivatives, 0, q, NULL, NULL, &reactions, &error))
        ARGUMENT(lw_derivatives_of_reactions(derivatives, 0, q, v, NULL, NULL, &error))
        /* --- equilibrium.h --- */
        ARGUMENT(lw_equilibria_find(NULL, &near, 3, &(lw_equilibria *){NULL}, &error))
        ARGUMENT(lw_equilibria_find(model, NULL, 3, &(lw_equilibria *){NULL}, &error))
        ARGUMENT(lw_equilibria_find(model, &near, 0, &(lw_equilibria *){NULL}, &error))
        ARGUMENT(lw_equilibria_find(model, &near, 3, NULL, NULL))
        MISUSE(QUIET(lw_equilibria_destroy(NULL)))
        ARGUMENT(lw_trim_find(NULL, &(lw_trim_options){.state = near}, &(lw_trim *){NULL}, &error))
        ARGUMENT(lw_trim_find(model, NULL, &(lw_trim *){NULL}, &error))
        ARGUMENT(
            lw_trim_find(model, &(lw_trim_options){.state = near, .count = 1}, &(lw_trim *){NULL}, &error))
        ARGUMENT(
            lw_trim_find(model, &(lw_trim_options){.state = near, .count = -1}, &(lw_trim *){NULL}, NULL))
        MISUSE(QUIET(lw_trim_destroy(NULL)))
        ARGUMENT(lw_modes_lowest(NULL, &near, 3, &(lw_modes *){NULL}, &error))
        ARGUMENT(lw_modes_lowest(model, NULL, 3, &(lw_modes *){NULL}, &error))
        ARGUMENT(lw_modes_lowest(model, &near, 0, &(lw_modes *){NULL}, &error))
        ARGUMENT(lw_modes_lowest(model, &near, 3, NULL, NULL))
        /* --- frequency.h --- */
        MISUSE(QUIET(lw_frequency_defaults(NULL)))
        MISUSE(QUIET(lw_frequency_destroy(NULL)))
        ARGUMENT(
            lw_frequency_find(NULL, &(lw_frequency_options){0}, &(lw_frequency_response *){NULL}, &error))
        ARGUMENT(lw_frequency_write(NULL, "x.csv", &error))
        ARGUMENT(lw_frequency_write(&(lw_frequency_response){0}, NULL, NULL))
        /* --- inverse.h --- */
        MISUSE(QUIET(lw_sensitivity_defaults(NULL, &(lw_sensitivity_options){0})))
        MISUSE(QUIET(lw_sensitivity_defaults(model, NULL)))
        MISUSE(QUIET(lw_sensitivity_destroy(NULL)))
        ARGUMENT(lw_sensitivity_find(NULL, &(lw_sensitivity_options){0}, &(lw_sensitivity *){NULL}, &error))
        ARGUMENT(lw_sensitivity_find(model, NULL, &(lw_sensitivity *){NULL}, &error))
        ARGUMENT(lw_sensitivity_find(model, &(lw_sensitivity_options){0}, NULL, NULL))
        ARGUMENT(lw_parameter_changes_create(NULL, NULL, "x", &(lw_parameter_changes *){NULL}, &error))
        ARGUMENT(lw_parameter_changes_create(model, NULL, NULL, &(lw_parameter_changes *){NULL}, &error))
        ARGUMENT(lw_parameter_changes_create(model, NULL, "x", NULL, NULL))
        ARGUMENT(lw_parameter_changes_of_state(NULL, 0, out, out, &(lw_parameter_derivatives){0}, &error))
        MISUSE(QUIET(lw_parameter_changes_destroy(NULL)))
        ARGUMENT(lw_sensitivity_write(NULL, "x.csv", &error))
        ARGUMENT(lw_sensitivity_write(&(lw_sensitivity){0}, NULL, NULL))
        MISUSE(QUIET(lw_inverse_defaults(NULL, &motion)))
        MISUSE(QUIET(lw_inverse_defaults(model, NULL)))
        MISUSE(QUIET(lw_inverse_destroy(NULL)))
        MISUSE(QUIET(lw_motion_table_destroy(NULL)))
        ARGUMENT(lw_motion_table_read(NULL, model, &(lw_motion_table *){NULL}, &error))
        ARGUMENT(lw_motion_table_read("x.csv", NULL, &(lw_motion_table *){NULL}, &error))
        ARGUMENT(lw_motion_table_read("x.csv", model, NULL, NULL))
        ARGUMENT(lw_inverse_find(NULL, &motion, &(lw_inverse *){NULL}, &error))
        ARGUMENT(lw_inverse_find(model, NULL, &(lw_inverse *){NULL}, &error))
        ARGUMENT(lw_inverse_find(model, &motion, NULL, NULL))
        MISUSE(refuses_inverse((lw_inverse_options){.coordinate_count = 1, .end = 1}))
        MISUSE(refuses_inverse((lw_inverse_options){.drive_count = -1, .end = 1}))
        MISUSE(refuses_inverse(
            (lw_inverse_options){.coordinates = none, .expressions = none, .coordinate_count = 1}))
        ARGUMENT(lw_inverse_sample(NULL, 0, out, &(lw_ledger){0}, &(lw_sample){0}))
        /* --- rollout.h --- */
        MISUSE(QUIET(lw_rollout_defaults(NULL, &rolling)))
        MISUSE(QUIET(lw_rollout_defaults(model, NULL)))
        MISUSE(QUIET(lw_rollout_destroy(NULL)))
        MISUSE(lw_rollout_model(NULL) == NULL)
        MISUSE(lw_rollout_method(NULL) == NULL)
        MISUSE(lw_rollout_integrator(NULL) == NULL)
        MISUSE(lw_rollout_threads(NULL) == 0)
        MISUSE(lw_rollout_lanes(NULL) == 0)
        ARGUMENT(lw_rollout_create(NULL, &rolling, NULL, &(lw_rollout *){NULL}, &error))
        ARGUMENT(lw_rollout_create(model, NULL, NULL, &(lw_rollout *){NULL}, &error))
        ARGUMENT(lw_rollout_create(model, &rolling, NULL, NULL, NULL))
        ARGUMENT(lw_rollout_run(NULL, &(lw_rollout_runs){0}, &error))
        ARGUMENT(lw_rollout_run(rollout, NULL, NULL))
        MISUSE(refuses_run((lw_rollout_runs){.count = -1, .instants = 1, .times = now}))
        MISUSE(refuses_run((lw_rollout_runs){.count = 1, .instants = 1}))
        MISUSE(refuses_run((lw_rollout_runs){.count = 1, .instants = 1, .times = nan2}))
        MISUSE(refuses_run((lw_rollout_runs){.count = 1, .instants = 2, .times = back}))
        MISUSE(refuses_run((lw_rollout_runs){.count = 1, .instants = 1, .times = now, .q = nan2, .v = v}))
        /* --- optimise.h --- */
        ARGUMENT(lw_optimise_create(NULL, &wanted, &(lw_optimisation *){NULL}, &error))
        ARGUMENT(lw_optimise_create(spec, NULL, &(lw_optimisation *){NULL}, &error))
        ARGUMENT(lw_optimise_create(spec, &wanted, NULL, NULL))
        ARGUMENT(lw_optimise_create(spec, &(lw_optimise_options){.minimise = "kinetic"},
                                    &(lw_optimisation *){NULL}, &error))
        ARGUMENT(lw_optimise_create(spec, &(lw_optimise_options){.vary = bounds, .vary_count = 1},
                                    &(lw_optimisation *){NULL}, &error))
        MISUSE(QUIET(lw_optimise_destroy(NULL)))
        MISUSE(lw_optimise_sweep(NULL) == NULL)
        ARGUMENT(lw_optimise_run(NULL, &(lw_sweep_call){.jobs = 1}, NULL, NULL, &error))
        /* --- sweep.h --- */
        ARGUMENT(lw_sweep_create(NULL, &plan, &(lw_sweep *){NULL}, &error))
        ARGUMENT(lw_sweep_create(spec, NULL, &(lw_sweep *){NULL}, &error))
        ARGUMENT(lw_sweep_create(spec, &plan, NULL, NULL))
        MISUSE(refuses_sweep((lw_sweep_options){.vary = NULL, .vary_count = 1}))
        MISUSE(refuses_sweep((lw_sweep_options){.vary = none, .vary_count = 1}))
        MISUSE(refuses_sweep((lw_sweep_options){.measures = none, .measure_count = 1}))
        MISUSE(refuses_sweep((lw_sweep_options){.vary = vary, .vary_count = 1, .design = "nonsense"}))
        MISUSE(refuses_sweep((lw_sweep_options){.correlations = none, .correlation_count = 1}))
        MISUSE(QUIET(lw_sweep_destroy(NULL)))
        MISUSE(lw_sweep_count(NULL) == 0)
        MISUSE(lw_sweep_variable_count(NULL) == 0)
        MISUSE(lw_sweep_measure_count(NULL) == 0)
        MISUSE(lw_sweep_column_name(NULL, 0) == NULL)
        MISUSE(lw_sweep_column_name(sweep, 2) == NULL)
        MISUSE(lw_sweep_column_name(sweep, -1) == NULL)
        MISUSE(lw_sweep_column_unit(sweep, 2) == NULL)
        MISUSE(lw_sweep_column_unit(NULL, 0) == NULL)
        ARGUMENT(lw_sweep_values(NULL, 0, out))
        ARGUMENT(lw_sweep_values(sweep, 2, out))
        ARGUMENT(lw_sweep_values(sweep, 0, NULL))
        MISUSE(lw_sweep_text(NULL, 0, 0) == NULL)
        MISUSE(lw_sweep_text(sweep, 0, NAN) == NULL)
        MISUSE(lw_sweep_text(sweep, 9, 0) == NULL)
        MISUSE(!lw_sweep_is_sample(NULL) && !lw_sweep_is_sample(sweep))
        ARGUMENT(lw_sweep_sobol_index(NULL, 0, NULL, NULL, 0, 0, &(lw_sobol_index){0}, &error))
        ARGUMENT(lw_sweep_sobol_index(sweep, 0, NULL, NULL, 0, 0, &(lw_sobol_index){0}, NULL))
        ARGUMENT(lw_sweep_model(NULL, 0, &(lw_model *){NULL}, &(lw_run_options){0}, &error))
        ARGUMENT(lw_sweep_model(sweep, 2, &(lw_model *){NULL}, &(lw_run_options){0}, NULL))
        ARGUMENT(lw_sweep_table_read(NULL, &(lw_sweep_table *){NULL}, &error))
        ARGUMENT(lw_sweep_table_read("x.csv", NULL, NULL))
        MISUSE(lw_sweep_table_read("none.csv", &(lw_sweep_table *){NULL}, NULL) == LW_ERROR_FILE)
        MISUSE(!lw_sweep_table_is(NULL) && !lw_sweep_table_is("none.h5"))
        MISUSE(QUIET(lw_sweep_table_destroy(NULL)))
        MISUSE(!lw_sweep_is_drawn(NULL, 0) && !lw_sweep_is_drawn(sweep, 9))
        MISUSE(lw_sweep_status_name((lw_sweep_status)99) == NULL)
        MISUSE(lw_sweep_status_name((lw_sweep_status)-1) == NULL)
        ARGUMENT(lw_sweep_worker_create(NULL, &(lw_sweep_worker *){NULL}, &error))
        ARGUMENT(lw_sweep_worker_create(sweep, NULL, NULL))
        MISUSE(QUIET(lw_sweep_worker_destroy(NULL)))
        ARGUMENT(lw_sweep_worker_run(NULL, 0, &(lw_sweep_row){.values = out}, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run(worker, 2, &(lw_sweep_row){.values = out}, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run(worker, 0, NULL, NULL, NULL, NULL))
        ARGUMENT(lw_sweep_worker_run(worker, 0, &(lw_sweep_row){.values = NULL}, NULL, NULL, &error))
        MISUSE(lw_sweep_worker_width(NULL) == 0)
        MISUSE(lw_sweep_worker_width(worker) == 1)
        ARGUMENT(lw_sweep_worker_run_many(NULL, &(lw_sweep_row){.values = out}, 1, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run_many(worker, NULL, 1, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run_many(worker, &(lw_sweep_row){.values = out}, -1, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run_many(worker, &(lw_sweep_row){.values = out}, 2, NULL, NULL, &error))
        ARGUMENT(lw_sweep_worker_run_many(worker, &(lw_sweep_row){.values = NULL}, 1, NULL, NULL, NULL))
        ARGUMENT(
            lw_sweep_worker_run_many(worker, &(lw_sweep_row){.values = out, .run = 2}, 1, NULL, NULL, NULL))
        ARGUMENT(lw_sweep_file_open(NULL, "x.csv", false, &(lw_sweep_file *){NULL}, &error))
        ARGUMENT(lw_sweep_file_open(sweep, NULL, false, &(lw_sweep_file *){NULL}, &error))
        ARGUMENT(lw_sweep_file_open(sweep, "x.csv", false, NULL, NULL))
        MISUSE(!lw_sweep_file_has(NULL, 0))
        ARGUMENT(lw_sweep_file_add(NULL, &(lw_sweep_row){.values = out}, &error))
        ARGUMENT(lw_sweep_file_get(NULL, 0, &(lw_sweep_row){.values = out}))
        MISUSE(lw_sweep_file_tick(NULL, &error) == LW_OK)
        MISUSE(lw_sweep_file_close(NULL, &error) == LW_OK)
        ARGUMENT(lw_sweep_run(NULL, &(lw_sweep_call){0}, NULL, &error))
        ARGUMENT(lw_sweep_run(sweep, NULL, NULL, NULL))
        ARGUMENT(lw_sweep_plan_read(NULL, report, &(lw_sweep_plan *){NULL}))
        ARGUMENT(lw_sweep_plan_read("x.yaml", NULL, &(lw_sweep_plan *){NULL}))
        ARGUMENT(lw_sweep_plan_read("x.yaml", report, NULL))
        MISUSE(QUIET(lw_sweep_plan_destroy(NULL)))
        MISUSE(lw_sweep_plan_options(NULL) == NULL)
    }
    return false;
}
enum { MISUSES = __COUNTER__ - BEFORE };

static void every_misuse_has_an_answer(void **state) {
    (void)state;
    set_up();
    const int failed = misuses_failed(MISUSES, misuse);
    tear_down();
    print_message("%d misuses\n", (int)MISUSES);
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_misuse_has_an_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
