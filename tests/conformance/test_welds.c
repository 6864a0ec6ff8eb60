/* test_welds.c - bodies that welds join are computed as one (docs/theory/welds.md): the same model with its welds
 * merged and with its welds kept gives the same answers.
 *
 *   trees     random trees whose bodies, and ground, are split in two or three: joint forces, mass matrix, energies,
 *             accelerations, reactions and flags by every method that applies to both; batches
 *   loops     random loops of all kinds, split in the same way, some with doubled welds
 *   quantities  values and derivatives of quantities of bodies in expressions, and forces that depend on them
 *   runs      rk4 and the energy-momentum scheme; outputs, events
 *   rules     which welds are merged; a massless bracket on a heavy frame; planar bodies and points
 */
#include "build.h"
#include "random_loops.h"
#include "random_welds.h"
#include "model/data.h"
#include "model/quantity/quantity.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TREES = 300, LOOPS = 384, MAX_V = 6 * 40, MAX_Q = 7 * 40 + 40, JOINTS = 80, STATES = 5 };

typedef struct pair {
    lw_model *merged, *kept;
} pair;

static lw_model *compile(const char *what, const lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model = NULL;
    if (lw_model_compile(spec, NULL, report, &model) != LW_OK)
        for (size_t k = 0; k < lw_report_size(report); k++) {
            const lw_error *said = lw_report_get(report, k);
            if (said->severity == LW_SEVERITY_ERROR)
                fail_msg("%s: %s: %s", what, said->object, said->message);
        }
    lw_report_destroy(report);
    assert_non_null(model);
    return model;
}

static pair compile_both(const char *what, lw_spec *spec) {
    pair p;
    assert_int_equal(lw_spec_set_welds(spec, LW_WELDS_MERGE), LW_OK);
    p.merged = compile(what, spec);
    assert_int_equal(lw_spec_set_welds(spec, LW_WELDS_KEEP), LW_OK);
    p.kept = compile(what, spec);
    assert_int_equal(lw_model_merged_count(p.kept), 0);
    assert_null(p.kept->merged);
    return p;
}

static void destroy_both(pair p) { lw_model_destroy(p.merged), lw_model_destroy(p.kept); }

/* Both have the same bodies, joints and coordinates. */
static bool same_layout(pair p) {
    const lw_model *a = p.merged, *b = p.kept;
    if (a->nq != b->nq || a->nv != b->nv || a->closure_count != b->closure_count) return false;
    for (int j = 0; j < b->joint_count; j++) {
        const lw_joint_info x = lw_model_joint_info(a, j), y = lw_model_joint_info(b, j);
        if (x.cut != y.cut || x.q != y.q || x.v != y.v || x.child != y.child || x.bodies[0] != y.bodies[0] ||
            x.bodies[1] != y.bodies[1] || x.reversed != y.reversed)
            return false;
    }
    for (int i = 0; i <= b->body_count; i++)
        if (strcmp(lw_model_body_name(a, i), lw_model_body_name(b, i)) != 0 ||
            lw_model_body_mass(a, i) != lw_model_body_mass(b, i) ||
            lw_model_body_parent(a, i) != lw_model_body_parent(b, i))
            return false;
    return true;
}

/* The largest number of the vectors. */
static double largest(const double *a, int count) {
    double most = 0;
    for (int k = 0; k < count; k++) most = fmax(most, fabs(a[k]));
    return most;
}

static void same(const char *what, const char *which, const double *a, const double *b, int count,
                 double tolerance) {
    const double size = 1 + fmax(largest(a, count), largest(b, count));
    for (int k = 0; k < count; k++)
        if (!(fabs(a[k] - b[k]) <= tolerance * size))
            fail_msg("%s, %s: entry %d is %.17g merged and %.17g kept (%.2g of the largest)", what, which, k,
                     a[k], b[k], fabs(a[k] - b[k]) / size);
}

/* --- one state ------------------------------------------------------------------------------------- */

/* Figures over all states, for the summary of a test. */
typedef struct tally {
    int models, welds, answers, flags, open, refused;
} tally;

/* Accelerations, reactions and flags by one method. scale: how far rounding may take them apart. */
static void compare_method(const char *seed, pair p, const char *method, double t, const double *q,
                           const double *v, double tolerance, tally *sum) {
    const lw_model *models[2] = {p.merged, p.kept};
    double vdot[2][MAX_V], reactions[2][6 * JOINTS];
    bool unique[2][6 * JOINTS];
    char what[160];
    lw_error error[2] = {{0}, {0}};
    lw_status status[2];
    snprintf(what, sizeof what, "%s by %s", seed, method);
    for (int k = 0; k < 2; k++) {
        const lw_solver_options options = {.method = method};
        lw_solver *solver;
        status[k] = lw_solver_create(models[k], &options, NULL, &solver, &error[k]);
        if (status[k] == LW_OK)
            status[k] = lw_solver_accelerations(solver, t, q, v, NULL, vdot[k], &error[k]);
        if (status[k] == LW_OK) status[k] = lw_solver_reactions(solver, reactions[k], unique[k], &error[k]);
        lw_solver_destroy(solver);
    }
    if (status[1] != LW_OK) { /* Kept welds may be too much for it, merged ones never more. */
        sum->refused++;
        return;
    }
    if (status[0] != LW_OK)
        fail_msg("%s: kept it works, but merged: %s %s", what, error[0].object, error[0].message);
    same(what, "accelerations", vdot[0], vdot[1], p.kept->nv, tolerance);
    const double size = 1 + fmax(largest(reactions[0], 6 * p.kept->joint_count),
                                 largest(reactions[1], 6 * p.kept->joint_count));
    for (int k = 0; k < 6 * p.kept->joint_count; k++) {
        const char *joint = p.kept->joints[k / 6].name;
        if (unique[0][k] != unique[1][k])
            fail_msg("%s: component %d of joint %s is %s merged and %s kept", what, k % 6, joint,
                     unique[0][k] ? "unique" : "open", unique[1][k] ? "unique" : "open");
        sum->flags++;
        sum->open += !unique[0][k];
        if (unique[0][k] && !(fabs(reactions[0][k] - reactions[1][k]) <= tolerance * size))
            fail_msg("%s: component %d of joint %s is %.17g merged and %.17g kept (%.2g of the largest)",
                     what, k % 6, joint, reactions[0][k], reactions[1][k],
                     fabs(reactions[0][k] - reactions[1][k]) / size);
    }
    sum->answers++;
}

static void compare_methods(const char *seed, pair p, double t, const double *q, const double *v,
                            double tolerance, tally *sum) {
    for (int k = 0; k < lw_method_count(); k++) {
        const char *method = lw_method_at(k).name;
        /* Its error depends on its stiffness relative to single bodies, of which the two have different ones; where
         * rows depend on each other the penalties of all add up. */
        const double own = strcmp(method, "penalty") == 0 ? 1e-3 : tolerance;
        if (lw_method_applies(method, p.kept, NULL) != LW_OK) continue;
        if (lw_method_applies(method, p.merged, NULL) != LW_OK)
            fail_msg("%s: %s refuses merged welds", seed, method);
        compare_method(seed, p, method, t, q, v, own, sum);
    }
}

/* What needs no method: poses, velocities, energies, momenta. */
static void compare_kinematics(const char *what, pair p, double t, const double *q, const double *v) {
    const lw_model *models[2] = {p.merged, p.kept};
    lw_data *data[2];
    lw_energy energy[2];
    double momentum[2][6];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(lw_data_create(models[k], NULL, &data[k]), LW_OK);
        energy[k] = lw_energy_of(models[k], data[k], t, q, v);
        assert_int_equal(lw_momentum(models[k], data[k], t, q, v, momentum[k], momentum[k] + 3), LW_OK);
    }
    same(what, "momentum", momentum[0], momentum[1], 6, 1e-13);
    same(what, "kinetic energy", &energy[0].kinetic, &energy[1].kinetic, 1, 1e-13);
    same(what, "potential energy", &energy[0].potential, &energy[1].potential, 1, 1e-13);
    if (p.merged
            ->merged) { /* The energies of the merged form itself, which schemes with energies of their own use. */
        const lw_energy own = lw_energy_of(p.merged->merged, data[0]->merged, t, q, v);
        same(what, "kinetic energy of links", &own.kinetic, &energy[1].kinetic, 1, 1e-12);
        same(what, "potential energy of links", &own.potential, &energy[1].potential, 1, 1e-12);
    }
    for (int i = 0; i <= p.kept->body_count; i++) {
        double place[2][12], rate[2][6];
        const double point[3] = {0.1, 0.2, 0.3};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(lw_body_pose(models[k], data[k], t, q, i, place[k], place[k] + 3), LW_OK);
            assert_int_equal(lw_body_velocity(models[k], data[k], t, q, v, i, point, rate[k], rate[k] + 3),
                             LW_OK);
        }
        same(what, "pose", place[0], place[1], 12, 1e-13);
        same(what, "velocity", rate[0], rate[1], 6, 1e-13);
    }
    for (int k = 0; k < 2; k++) lw_data_destroy(data[k]);
}

/* The recursions on trees, one state and several. */
static void compare_tree(const char *what, lw_random *random, pair p, double t) {
    const lw_model *models[2] = {p.merged, p.kept};
    static double q[MAX_Q * STATES], v[MAX_V * STATES], tau[MAX_V * STATES], vdot[2][MAX_V * STATES],
        forces[2][MAX_V * STATES], many[2][MAX_V * STATES], M[2][MAX_V * MAX_V];
    const int nq = p.kept->nq, nv = p.kept->nv;
    double own_q[MAX_Q], own_v[MAX_V], own_tau[MAX_V];
    lw_error error;
    for (int s = 0; s < STATES; s++) {
        random_state(random, p.kept, own_q, own_v);
        random_vector(random, nv, 5, own_tau);
        for (int k = 0; k < nq; k++) q[k * STATES + s] = own_q[k];
        for (int k = 0; k < nv; k++) v[k * STATES + s] = own_v[k], tau[k * STATES + s] = own_tau[k];
    }
    for (int k = 0; k < 2; k++) {
        lw_data *data;
        lw_batch *batch;
        assert_int_equal(lw_data_create(models[k], NULL, &data), LW_OK);
        assert_int_equal(lw_batch_create(models[k], 1, NULL, &batch), LW_OK);
        if (lw_tree_forward_dynamics(models[k], data, t, own_q, own_v, own_tau, vdot[k], &error) != LW_OK)
            fail_msg("%s: %s %s", what, error.object, error.message);
        assert_int_equal(
            lw_tree_inverse_dynamics(models[k], data, t, own_q, own_v, vdot[0], forces[k], &error), LW_OK);
        assert_int_equal(lw_tree_mass_matrix(models[k], data, t, own_q, M[k]), LW_OK);
        if (lw_tree_forward_dynamics_batch(models[k], batch, STATES, t, q, v, tau, many[k], &error) != LW_OK)
            fail_msg("%s: %s %s", what, error.object, error.message);
        lw_data_destroy(data);
        lw_batch_destroy(batch);
    }
    same(what, "accelerations of the tree", vdot[0], vdot[1], nv, 1e-10);
    same(what, "joint forces", forces[0], forces[1], nv, 1e-11);
    same(what, "mass matrix", M[0], M[1], nv * nv, 1e-13);
    same(what, "accelerations of several states", many[0], many[1], nv * STATES, 1e-10);
}

/* --- trees and loops --------------------------------------------------------------------------------- */

static void trees_are_the_same(void **state) {
    (void)state;
    tally sum = {0};
    for (int seed = 1; seed <= TREES; seed++) {
        lw_random random = random_seed(9000u + (uint64_t)seed);
        const random_tree options = {.bodies = 1 + random_below(&random, 6),
                                     .forces = seed % 3 == 0,
                                     .prescribed = seed % 4 == 1,
                                     .reversed = true,
                                     .aligned = seed % 2 == 0,
                                     .joint = -1};
        const random_welds welds = {.bodies = 1 + random_below(&random, 4), .massless = seed % 5 < 2};
        lw_spec *spec = random_tree_spec(&random, &options);
        char what[80];
        double q[MAX_Q], v[MAX_V];
        random_welds_add(&random, &welds, spec);
        snprintf(what, sizeof what, "tree %d", seed);
        pair p = compile_both(what, spec);
        if (!same_layout(p)) fail_msg("%s: other coordinates", what);
        sum.models++;
        sum.welds += lw_model_merged_count(p.merged);
        random_state(&random, p.kept, q, v);
        compare_kinematics(what, p, 0.3, q, v);
        compare_tree(what, &random, p, 0.3);
        compare_methods(what, p, 0.3, q, v, 1e-9, &sum);
        lw_spec_destroy(spec);
        destroy_both(p);
    }
    print_message("%d trees with %d merged welds: %d answers\n", sum.models, sum.welds, sum.answers);
    assert_true(sum.welds > TREES && sum.answers > 5 * TREES && sum.open == 0);
}

static void loops_are_the_same(void **state) {
    (void)state;
    tally sum = {0};
    int others = 0;
    for (int seed = 0; seed < LOOPS; seed++) {
        random_loops l;
        char what[80];
        double q[MAX_Q], v[MAX_V];
        random_loops_build(&l, seed);
        lw_random random = random_seed(12000u + (uint64_t)seed);
        const random_welds welds = {
            .bodies = 1 + random_below(&random, 4), .massless = seed % 5 == 0, .doubled = seed % 4 == 1};
        random_welds_add(&random, &welds, l.spec);
        snprintf(what, sizeof what, "loops %d (%s)", seed, loop_kind_name(l.kind));
        pair p = compile_both(what, l.spec);
        lw_spec_destroy(l.spec);
        if (!same_layout(p)) { /* Massless pieces have moved a cut. */
            others++;
            destroy_both(p);
            continue;
        }
        sum.models++;
        sum.welds += lw_model_merged_count(p.merged);
        random_loops_state(&l, p.kept, true, q, v);
        compare_kinematics(what, p, l.t, q, v);
        compare_methods(what, p, l.t, q, v, 1e-8, &sum);
        destroy_both(p);
    }
    print_message("%d loops with %d merged welds: %d answers, %d of %d components open; %d with other cuts\n",
                  sum.models, sum.welds, sum.answers, sum.open, sum.flags, others);
    assert_true(sum.welds > LOOPS && sum.open > 0 && others < LOOPS / 10);
}

/* --- quantities -------------------------------------------------------------------------------------- */

/* Quantities of a body, in a form whose value has the unit of a force or, behind the first four, of a torque. */
static const char *const forms[] = {
    "com(%s).z*(1 N)/(1 m)",
    "momentum(%s).px/(1 s)",
    "body.%s.vy*(1 kg)/(1 s)",
    "point(%s, 0.1, -0.2, 0.3).x*(1 N)/(1 m)",
    "momentum(%s).lx/(1 s)",
    "momentum(%s).hy/(1 s)",
    "body.%s.wz*(1 N m s)",
    "body.%s.ry*(1 N m)",
    "momentum.hx/(1 s) + 0*body.%s.x*(1 N)",
};
enum { FORMS = sizeof forms / sizeof *forms, FORCE_FORMS = 4 };

/* Signals for some bodies, and applied forces by them. */
static void add_signals(lw_random *random, lw_spec *spec) {
    static char texts[64][160], names[64][16];
    const int bodies = (int)lw_spec_body_count(spec);
    for (int k = 0; k < 2 * FORMS; k++) {
        const int form = k % FORMS;
        const char *of = lw_spec_body(spec, (size_t)random_below(random, bodies))->name;
        const char *on = lw_spec_body(spec, (size_t)random_below(random, bodies))->name;
        snprintf(texts[k], sizeof texts[k], forms[form], of);
        snprintf(names[k], sizeof names[k], "signal%d", k);
        const lw_signal_spec signal = {.name = names[k], .value = texts[k]};
        assert_int_equal(lw_spec_add_signal(spec, &signal), LW_OK);
        char name[24];
        snprintf(name, sizeof name, "pushed%d", k);
        lw_force_spec force = {
            .name = name, .type = LW_FORCE_APPLIED, .bodies = {on, NULL}, .frame = LW_GEOMETRY_BODY};
        random_vector(random, 3, 0.3, force.points[0]);
        if (form < FORCE_FORMS)
            force.force[k % 3] = names[k];
        else
            force.torque[k % 3] = names[k];
        add_force(spec, force);
    }
}

/* Values and derivatives of all quantities, on the whole model and on its merged form. */
static int compare_quantities(const char *what, const lw_model *model, double t, const double *q,
                              const double *v) {
    const lw_model *forms_of[2] = {model, lw_merged(model)};
    lw_data *data[2];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        assert_int_equal(lw_data_create(forms_of[k], NULL, &data[k]), LW_OK);
        lw_take_state(forms_of[k], data[k], t, q, v);
        lw_velocities(forms_of[k], data[k]);
        lw_world_poses(forms_of[k], data[k]);
    }
    for (int n = 0; n < model->values.quantity_count; n++) {
        const lw_quantity_source source = {.t = t};
        double value[2], dq[2][MAX_V], dv[2][MAX_V];
        bool known[2];
        char name[LW_QUANTITY_NAME], which[LW_QUANTITY_NAME + 16];
        for (int k = 0; k < 2; k++) {
            const lw_state_quantity *quantity = &forms_of[k]->values.quantities[n];
            value[k] = lw_quantity_value(forms_of[k], data[k], &source, quantity);
            known[k] = lw_quantity_gradient(forms_of[k], data[k], quantity, dq[k], dv[k]);
        }
        lw_quantity_print(model, &model->values.quantities[n], name);
        lw_quantity_print(forms_of[1], &forms_of[1]->values.quantities[n], which);
        assert_string_equal(name, which);
        same(what, name, &value[1], &value[0], 1, 1e-12);
        assert_int_equal(known[0], known[1]);
        snprintf(which, sizeof which, "derivatives of %.600s", name);
        same(what, which, dq[1], dq[0], model->nv, 1e-11);
        same(what, which, dv[1], dv[0], model->nv, 1e-11);
        count++;
    }
    for (int k = 0; k < 2; k++) lw_data_destroy(data[k]);
    return count;
}

static void quantities_are_the_same(void **state) {
    (void)state;
    tally sum = {0};
    int count = 0;
    for (int seed = 1; seed <= 100; seed++) {
        lw_random random = random_seed(20000u + (uint64_t)seed);
        const random_tree options = {.bodies = 1 + random_below(&random, 5), .reversed = true, .joint = -1};
        const random_welds welds = {.bodies = 1 + random_below(&random, 4), .massless = seed % 3 == 0};
        lw_spec *spec = random_tree_spec(&random, &options);
        char what[80];
        double q[MAX_Q], v[MAX_V];
        random_welds_add(&random, &welds, spec);
        add_signals(&random, spec);
        snprintf(what, sizeof what, "signals %d", seed);
        pair p = compile_both(what, spec);
        lw_spec_destroy(spec);
        assert_true(same_layout(p));
        random_state(&random, p.kept, q, v);
        count += compare_quantities(what, p.merged, 0.2, q, v);
        compare_methods(what, p, 0.2, q, v, 1e-9, &sum);
        destroy_both(p);
    }
    print_message("%d quantities, %d answers with forces that depend on them\n", count, sum.answers);
    assert_true(count > 1000 && sum.answers > 200);
}

/* --- runs --------------------------------------------------------------------------------------------- */

enum { SAMPLES = 64, ROW = 400 };
typedef struct recording {
    const lw_model *model;
    int count, width;
    double rows[SAMPLES][ROW];
} recording;

static bool observe(const lw_sample *sample, void *context) {
    recording *r = context;
    const lw_model *model = r->model;
    double *row = r->rows[r->count < SAMPLES ? r->count++ : SAMPLES - 1];
    int at = 0;
    row[at++] = sample->t;
    for (int k = 0; k < model->nq; k++) row[at++] = sample->q[k];
    for (int k = 0; k < model->nv; k++) row[at++] = sample->v[k];
    for (int k = 0; k < model->nv; k++) row[at++] = sample->vdot[k];
    for (int k = 0; k < 6 * model->joint_count && sample->reactions; k++) row[at++] = sample->reactions[k];
    for (int k = 0; k < lw_model_output_count(model); k++) row[at++] = sample->outputs[k];
    row[at++] = sample->ledger->kinetic, row[at++] = sample->ledger->potential;
    row[at++] = sample->ledger->forces, row[at++] = sample->ledger->dissipation;
    assert_true(at <= ROW);
    r->width = at;
    return true;
}

static void record_run(const char *what, const lw_model *model, const char *method, const char *integrator,
                       double end, recording *r) {
    lw_run_options options;
    lw_run_summary summary;
    lw_error error = {0};
    *r = (recording){.model = model};
    lw_run_defaults(model, &options);
    options.method = method, options.integrator = integrator;
    options.end = end, options.step = end / 40, options.output = end / 10, options.tolerance = 0;
    options.want_accelerations = options.want_reactions = true;
    options.observe = observe;
    options.context = r;
    const lw_status status = lw_simulate(model, &options, NULL, NULL, &summary, &error);
    if (status != LW_OK && status != LW_EVENT)
        fail_msg("%s by %s: %s %s", what, method, error.object, error.message);
}

/* Components of reactions that are not unique need not be the same. */
static void forget_open_components(const lw_model *model, recording *a, recording *b) {
    double q[MAX_Q], v[MAX_V], vdot[MAX_V], reactions[6 * JOINTS];
    bool unique[6 * JOINTS];
    const int first = 1 + model->nq + 2 * model->nv;
    lw_model_initial_state(model, q, v);
    assert_int_equal(lw_assemble(model, 0, q, v, NULL, NULL), LW_OK);
    assert_int_equal(lw_accelerations(model, NULL, 0, q, v, vdot, reactions, unique, NULL), LW_OK);
    for (int s = 0; s < b->count; s++)
        for (int k = 0; k < 6 * model->joint_count; k++)
            if (!unique[k]) a->rows[s][first + k] = b->rows[s][first + k] = 0;
}

static void compare_runs(const char *what, pair p, const char *method, const char *integrator, double end,
                         double tolerance) {
    static recording merged, kept;
    record_run(what, p.merged, method, integrator, end, &merged);
    record_run(what, p.kept, method, integrator, end, &kept);
    assert_int_equal(merged.count, kept.count);
    assert_int_equal(merged.width, kept.width);
    assert_true(kept.count >= 2);
    forget_open_components(p.kept, &merged, &kept);
    for (int s = 0; s < kept.count; s++) {
        char which[64];
        snprintf(which, sizeof which, "sample %d by %s", s, method);
        same(what, which, merged.rows[s], kept.rows[s], kept.width, tolerance);
    }
}

static pair read_both(const char *what, const char *text) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    if (lw_read_model_text(text, strlen(text), "welds.yaml", NULL, 0, report, &spec) != LW_OK) {
        show_report(report);
        fail_msg("%s is not read", what);
    }
    lw_report_destroy(report);
    pair p = compile_both(what, spec);
    lw_spec_destroy(spec);
    assert_true(same_layout(p));
    return p;
}

/* A pendulum of welded parts, one of them on ground and one without mass, with everything that names bodies. */
static const char swinging[] =
    "linkwork: 1\nname: swinging\n"
    "inputs: {push: 1}\n"
    "bodies:\n"
    "  post: {mass: 5, inertia: [1, 1, 1], position: [0, 0, 1]}\n"
    "  arm: {mass: 2, com: [0.3, 0, 0], inertia: [0.02, 0.2, 0.2], position: [0, 0, 1]}\n"
    "  tip: {mass: 1, com: [0.1, 0.05, 0], inertia: [0.01, 0.02, 0.02], position: [0.6, 0, 1]}\n"
    "  hook: {mass: 0, position: [0.8, 0, 1]}\n"
    "  load: {mass: 1.5, com: [0, 0, -0.4], inertia: [0.1, 0.1, 0.02], position: [0.8, 0, 1]}\n"
    "  ballast: {kind: point, mass: 0.7, position: [0.8, 0.1, 0.5]}\n"
    "frames:\n"
    "  eye: {body: hook, position: [0.01, 0, 0.02]}\n"
    "joints:\n"
    "  foot: {type: weld, between: [ground, post], point: [0, 0, 0]}\n"
    "  pin: {type: revolute, between: [post, arm], point: [0, 0, 1], axis: [0, 1, 0], q: 0.4}\n"
    "  glue: {type: weld, between: [tip, arm], point: [0.6, 0, 1]}\n"
    "  bolt: {type: weld, between: [tip, hook], point: [0.8, 0, 1]}\n"
    "  ball: {type: spherical, between: [hook, load], point: [0.8, 0, 1], v: [0.3, -0.2, 0.5]}\n"
    "  clamp: {type: weld, between: [load, ballast], point: [0.8, 0.1, 0.5]}\n"
    "signals:\n"
    "  height: body.eye.z\n"
    "forces:\n"
    "  spring: {type: spring, between: [eye, post], points: [[0, 0, 0], [0.2, 0, 0.3]], stiffness: 80, "
    "length: 0.3}\n"
    "  wind: {type: applied, body: ballast, point: [0, 0, 0], force: [0.3*push, 0, 0.2*com(tip).z*(1 N)/(1 "
    "m)]}\n"
    "events:\n"
    "  low: {when: height - 0.8, do: {set: {push: 3}}}\n"
    "outputs:\n"
    "  glued: reaction(glue).ty\n"
    "  bolted: reaction(bolt at first in arm).fz\n"
    "  footed: reaction(foot).fz\n"
    "  clamped: reaction(clamp).force\n"
    "  turning: momentum(tip).ly + momentum(hook).ly\n"
    "  centre: com(ballast).z + com(arm).x\n"
    "  speed: body.ballast.ax\n"
    "  total: momentum.hx\n";

static void runs_are_the_same(void **state) {
    (void)state;
    pair p = read_both("swinging", swinging);
    assert_int_equal(lw_model_merged_count(p.merged), 4);
    assert_int_equal(p.merged->merged->body_count, 2);
    /* Two runs by the same steps differ by rounding, and in absolute coordinates by what projections leave. */
    compare_runs("swinging", p, "tree", "rk4", 0.4, 1e-10);
    compare_runs("swinging", p, "lagrange", "rk4", 0.4, 1e-8);
    compare_runs("swinging", p, "rcr", "rk4", 0.4, 1e-10);
    compare_runs("swinging", p, "partition", "rk4", 0.4, 1e-10);
    destroy_both(p);
}

/* A four-bar linkage in a plane whose coupler is two planar halves and whose rocker has a point on it. Its loop lies
 * across a weld; one weld is doubled, and one closes a loop because it is asked to. */
static const char linkage[] =
    "linkwork: 1\nname: linkage\n"
    "bodies:\n"
    "  crank: {kind: planar, mass: 1, com: [0.5, 0, 0], inertia: 0.1, position: [0, 0, 0], rotation: {axis: "
    "[1, 0, 0], angle: 90 deg}}\n"
    "  left: {kind: planar, mass: 1, com: [0.5, 0.1, 0], inertia: 0.2, position: [1, 0, 0], rotation: {axis: "
    "[1, 0, 0], angle: 90 deg}}\n"
    "  right: {kind: planar, mass: 2, com: [0.5, 0, 0], inertia: 0.3, position: [2, 0, 0.5], rotation: "
    "{axis: [1, 0, 0], angle: 90 deg}}\n"
    "  rocker: {kind: planar, mass: 1, com: [0, -0.5, 0], inertia: 0.2, position: [3, 0, 1], rotation: "
    "{axis: [1, 0, 0], angle: 90 deg}}\n"
    "  weight: {kind: point, mass: 3, position: [3, 0, 0.5]}\n"
    "joints:\n"
    "  a: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, -1, 0], v: 2}\n"
    "  b: {type: revolute, between: [crank, left], point: [1, 0, 0], axis: [0, -1, 0]}\n"
    "  seam: {type: weld, between: [left, right], point: [2, 0, 0.5]}\n"
    "  c: {type: revolute, between: [right, rocker], point: [3, 0, 1], axis: [0, -1, 0]}\n"
    "  hung: {type: weld, between: [rocker, weight], point: [3, 0, 0.5]}\n"
    "  d: {type: revolute, between: [ground, rocker], point: [3, 0, -1], axis: [0, -1, 0]}\n";

static void linkages_are_the_same(void **state) {
    (void)state;
    tally sum = {0};
    char text[4096];
    static const char *const more[] = {
        "", "  again: {type: weld, between: [right, left], point: [1.5, 0, 0]}\n",
        "  again: {type: weld, between: [right, left], point: [1.5, 0, 0], cut: true}\n"};
    static const int merged[] = {2, 1, 1};
    for (int k = 0; k < 3; k++) {
        char what[32];
        double q[MAX_Q], v[MAX_V];
        snprintf(text, sizeof text, "%s%s", linkage, more[k]);
        snprintf(what, sizeof what, "linkage %d", k);
        pair p = read_both(what, text);
        assert_int_equal(lw_model_merged_count(p.merged), merged[k]);
        lw_model_initial_state(p.kept, q, v);
        assert_int_equal(lw_assemble(p.kept, 0, q, v, NULL, NULL), LW_OK);
        compare_methods(what, p, 0, q, v, 1e-10, &sum);
        compare_runs(what, p, "lagrange", "rk4", 0.2, 1e-8);
        compare_runs(what, p, "rcr", "rk4", 0.2, 1e-9);
        destroy_both(p);
    }
    assert_true(sum.answers >= 24 && sum.open > 0);
}

/* A scheme with a step of its own: positions, speeds and energies of welded bodies. */
static void schemes_are_the_same(void **state) {
    (void)state;
    static const char top[] =
        "linkwork: 1\nname: top\n"
        "bodies:\n"
        "  stand: {mass: 4, inertia: [1, 1, 1], position: [0, 0, 0.5]}\n"
        "  disc: {mass: 2, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.2], position: [0, 0, 1]}\n"
        "  knob: {mass: 0.5, com: [0.1, 0, 0.8], inertia: [0.01, 0.01, 0.01], position: [0, 0, 1]}\n"
        "  tail: {mass: 0.4, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], position: [0.1, 0, 1.8]}\n"
        "joints:\n"
        "  foot: {type: weld, between: [ground, stand], point: [0, 0, 0]}\n"
        "  tip: {type: spherical, between: [stand, disc], point: [0, 0, 1], v: [0.5, 0, 8]}\n"
        "  stud: {type: weld, between: [disc, knob], point: [0.1, 0, 1.5]}\n"
        "  pin: {type: revolute, between: [knob, tail], point: [0.1, 0, 1.8], axis: [0, 1, 0]}\n"
        "forces:\n"
        "  spring: {type: spring, between: [tail, stand], points: [[0.4, 0, 1.8], [0.5, 0, 0.5]], stiffness: "
        "20}\n";
    static recording merged, kept;
    pair p = read_both("top", top);
    assert_int_equal(lw_model_merged_count(p.merged), 2);
    record_run("top", p.merged, "director", "energy-momentum", 0.4, &merged);
    record_run("top", p.kept, "director", "energy-momentum", 0.4, &kept);
    assert_int_equal(merged.count, kept.count);
    const int state_size = 1 + p.kept->nq + p.kept->nv, joints = state_size + p.kept->nv;
    const int foot = joints + 6 * lw_model_joint(p.kept, "foot"),
              stud = joints + 6 * lw_model_joint(p.kept, "stud");
    for (int s = 0; s < kept.count; s++) {
        double *a = merged.rows[s], *b = kept.rows[s];
        same("top", "state", a, b, state_size, 1e-9);
        same("top", "energies", a + kept.width - 4, b + kept.width - 4, 4, 1e-9);
        /* What a weld transmits follows from the motion when it is merged, and is a multiplier of the scheme, the mean
         * of a step, when it is kept: these differ by the error of a step, some 1e-2 of them here. */
        same("top", "foot", a + foot, b + foot, 6, 0.05);
        same("top", "stud", a + stud, b + stud, 6, 0.05);
    }
    destroy_both(p);
}

/* --- rules ---------------------------------------------------------------------------------------------- */

static void brackets_need_no_mass(void **state) {
    (void)state;
    static const char bracket[] =
        "linkwork: 1\nname: bracket\n"
        "bodies:\n"
        "  frame: {mass: 10, inertia: [1, 1, 1]}\n"
        "  bracket: {mass: 0}\n"
        "  wheel: {mass: 1, inertia: [0.1, 0.1, 0.2], position: [0.5, 0, 0]}\n"
        "joints:\n"
        "  slide: {type: prismatic, between: [ground, frame], point: [0, 0, 0], axis: [1, 0, 0]}\n"
        "  bolts: {type: weld, between: [frame, bracket], point: [0.4, 0, 0]}\n"
        "  axle: {type: revolute, between: [bracket, wheel], point: [0.5, 0, 0], axis: [0, 0, 1]}\n";
    pair p = read_both("bracket", bracket);
    lw_directions *directions;
    char why[200];
    /* A method that divides by masses, and those that ask for masses of all bodies. */
    assert_int_equal(lw_method_applies("schur", p.merged, NULL), LW_OK);
    assert_int_equal(lw_method_applies("schur", p.kept, NULL), LW_ERROR_UNSUPPORTED);
    assert_string_equal(lw_method_auto(p.merged, why, sizeof why, NULL), "tree");
    assert_int_equal(lw_directions_create(p.merged, &directions, NULL), LW_OK);
    assert_int_equal(lw_directions_count(directions), 0);
    lw_directions_destroy(directions);
    destroy_both(p);
}

/* Something between two members of a group keeps a weld between them. */
static void bonds_within_groups_stay(void **state) {
    (void)state;
    static const char block[] = "linkwork: 1\nname: block\n"
                                "bodies:\n"
                                "  a: {mass: 1, inertia: [1, 1, 1]}\n"
                                "  b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}\n"
                                "  c: {mass: 1, inertia: [1, 1, 1], position: [1, 1, 0]}\n"
                                "joints:\n"
                                "  free: {type: free, between: [ground, a]}\n"
                                "  ab: {type: weld, between: [a, b], point: [0.5, 0, 0]}\n"
                                "  bc: {type: weld, between: [b, c], point: [1, 0.5, 0]}\n";
    static const char *const more[] = {
        "",
        "forces:\n  s: {type: spring, between: [a, c], points: [[0, 0, 0], [1, 1, 0]], stiffness: 10, "
        "length: 1}\n",
        "constraints:\n  d: {type: distance, between: [a, b], points: [[0, 0, 0], [1, 0, 0]]}\n",
        "  pin: {type: revolute, between: [a, c], point: [0, 1, 0], axis: [0, 0, 1]}\n",
        "  ca: {type: weld, between: [c, a], point: [0, 1, 0]}\n",
        "forces:\n  f: {type: applied, body: a, against: c, point: [0, 0, 0], force: [3, 4, 5]}\n"};
    static const int merged[] = {2, 1, 1, 1, 1, 2};
    tally sum = {0};
    for (int k = 0; k < 6; k++) {
        char text[2048], what[32];
        double q[MAX_Q], v[MAX_V];
        lw_random random = random_seed(5);
        snprintf(text, sizeof text, "%s%s", block, more[k]);
        snprintf(what, sizeof what, "block %d", k);
        pair p = read_both(what, text);
        assert_int_equal(lw_model_merged_count(p.merged), merged[k]);
        random_state(&random, p.kept, q, v);
        compare_kinematics(what, p, 0, q, v);
        compare_methods(what, p, 0, q, v, 1e-10, &sum);
        destroy_both(p);
    }
    assert_true(sum.answers > 20);
}

/* Nothing moves: all bodies are ground. */
static void all_may_be_ground(void **state) {
    (void)state;
    static const char tower[] = "linkwork: 1\nname: tower\n"
                                "bodies:\n"
                                "  low: {mass: 1, inertia: [1, 1, 1]}\n"
                                "  high: {mass: 2, inertia: [1, 1, 1], position: [0.3, 0, 2]}\n"
                                "joints:\n"
                                "  foot: {type: weld, between: [ground, low], point: [0, 0, 0]}\n"
                                "  neck: {type: weld, between: [high, low], point: [0, 0, 1]}\n";
    tally sum = {0};
    double q[1] = {0}, v[1] = {0}, vdot[1], reactions[12];
    bool unique[12];
    lw_error error;
    pair p = read_both("tower", tower);
    assert_int_equal(lw_model_merged_count(p.merged), 2);
    assert_int_equal(lw_model_body_count(p.merged), 2);
    compare_methods("tower", p, 0, q, v, 1e-12, &sum);
    if (lw_accelerations(p.merged, NULL, 0, q, v, vdot, reactions, unique, &error) != LW_OK)
        fail_msg("%s", error.message);
    /* By hand: the weights 1 g and 2 g, of which the upper one has the arm 0.3 m. */
    assert_true(fabs(reactions[2] - 3 * 9.81) < 1e-12 && fabs(reactions[4] + 0.3 * 2 * 9.81) < 1e-12);
    assert_true(fabs(reactions[8] + 2 * 9.81) < 1e-12 && fabs(reactions[10] - 0.3 * 2 * 9.81) < 1e-12);
    destroy_both(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_the_same),      cmocka_unit_test(loops_are_the_same),
        cmocka_unit_test(quantities_are_the_same), cmocka_unit_test(runs_are_the_same),
        cmocka_unit_test(linkages_are_the_same),   cmocka_unit_test(schemes_are_the_same),
        cmocka_unit_test(brackets_need_no_mass),   cmocka_unit_test(bonds_within_groups_stay),
        cmocka_unit_test(all_may_be_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
