/* test_drive_derivatives.c - exact derivatives of the forces of drives through loops against extrapolated
 * differences (support/differences.h), along random curves on the closures with accelerations that change, on
 * random mechanisms with as many driven coordinates as freedoms; and refusals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "allocations.h"
#include "differences.h"
#include "model/joint.h"
#include "random_loops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double tolerance = 1e-7;
static int compared, undecided;

/* The curve of differences.h, whose accelerations are those that forces tau + s more cause; then come the
 * forces of the drives. */
typedef struct drive_case {
    loop_case loop;
    lw_solver *drives;
    const double *more;
} drive_case;

static bool drive_curve(void *context, double s, double *out) {
    drive_case *c = context;
    const lw_model *model = c->loop.model;
    const int nv = lw_model_v_size(model);
    double tau[NV], q[2 * NV], v[NV];
    loop_case loop = c->loop;
    for (int k = 0; k < nv; k++) tau[k] = c->loop.tau[k] + s * c->more[k];
    loop.tau = tau;
    if (!loop_curve(&loop, s, out)) return false;
    memcpy(q, loop.q, (size_t)lw_model_q_size(model) * sizeof *q);
    lw_integrate_q(model, q, loop.along, s);
    for (int k = 0; k < nv; k++) v[k] = loop.v[k] + s * loop.faster[k];
    if (lw_assemble(model, loop.t, q, v, NULL, NULL) != LW_OK) return false;
    return lw_solver_inverse_dynamics(c->drives, loop.t, q, v, out, out + 3 * nv, NULL) == LW_OK;
}

static void speed_name(const lw_model *model, int speed, char *text, size_t size) {
    int i = model->body_count;
    while (model->links[i].v > speed) i--;
    const lw_joint_entry *entry = &model->joints[model->bodies[i].joint_index];
    const char *unit;
    const int k = speed - model->links[i].v;
    if (entry->joint.nv == 1)
        snprintf(text, size, "%s", entry->name);
    else
        snprintf(text, size, "%s.%s", entry->name,
                 lw_joint_column(entry->info.type, entry->joint.nv, 1, k, &unit));
}

static void one(int seed) {
    random_loops loops;
    random_loops_build(&loops, seed);
    lw_model *model = compile_or_fail(loops.spec);
    const int nv = lw_model_v_size(model);
    static double dq[NV * NV], dv[NV * NV], dvdot[NV * NV], basis[NV * NV], rates[DIFFERENCE_VALUES];
    double q[2 * NV], v[NV], tau[NV], more[NV], vdot[NV], along[NV] = {0}, faster[NV] = {0};
    char names[NV][96];
    const char *list[NV];
    int mobility, own[NV];
    lw_solver *solver;
    lw_derivatives *derivatives;
    lw_solver_options options;
    lw_error error = {0};
    random_loops_state(&loops, model, seed % 2, q, v);
    random_vector(&loops.random, nv, 1, tau);
    random_vector(&loops.random, nv, 1, more);
    lw_solver_defaults(model, &options);
    options.t = loops.t, options.q = q, options.v = v;
    assert_int_equal(lw_solver_create(model, &options, NULL, &solver, &error), LW_OK);
    assert_int_equal(lw_solver_mobility(solver, loops.t, q, &mobility, &error), LW_OK);
    assert_int_equal(lw_solver_tangent_basis(solver, loops.t, q, mobility, basis, own, &error), LW_OK);
    for (int j = 0; j < mobility; j++)
        speed_name(model, own[j], names[j], sizeof names[j]), list[j] = names[j];
    options.driven = list, options.driven_count = mobility;
    if (lw_derivatives_create(model, &options, NULL, &derivatives, &error) != LW_OK)
        fail_msg("seed %d: %s", seed, error.message);
    const lw_drive_derivatives out = {.dq = dq, .dv = dv, .dvdot = dvdot};
    lw_status status = lw_solver_accelerations(solver, loops.t, q, v, tau, vdot, &error);
    const long before = allocations;
    if (status == LW_OK && mobility > 0)
        status = lw_derivatives_of_drives(derivatives, loops.t, q, v, vdot, &out, &error);
    assert_true(!counting || allocations == before);
    for (int trial = 0; trial < 2 && status == LW_OK && mobility > 0; trial++) {
        for (int k = 0; k < nv; k++) along[k] = faster[k] = 0;
        for (int j = 0; j < mobility; j++) {
            const double x = random_between(&loops.random, -1, 1), y = random_between(&loops.random, -1, 1);
            for (int k = 0; k < nv; k++)
                along[k] += basis[k * mobility + j] * x, faster[k] += basis[k * mobility + j] * y;
        }
        drive_case c = {{model, solver, loops.t, q, v, tau, along, faster, false},
                        lw_derivatives_solver(derivatives),
                        more};
        const double error_of = ridders(drive_curve, &c, 4 * nv, 4e-3, rates);
        if (!(error_of < 1e-8)) {
            undecided++;
            continue;
        }
        compared++;
        double size = 0, worst = 0;
        for (int k = 0; k < nv; k++) {
            double exact = 0;
            if (isnan(dq[k * nv])) continue;
            for (int j = 0; j < nv; j++)
                exact += dq[k * nv + j] * rates[2 * nv + j] + dv[k * nv + j] * rates[nv + j] +
                         dvdot[k * nv + j] * rates[j];
            size = fmax(size, fabs(rates[3 * nv + k]));
            worst = fmax(worst, fabs(exact - rates[3 * nv + k]));
        }
        if (!(worst <= tolerance * (1 + size)))
            fail_msg("seed %d (%s, %s): %g of %g (differences are right to %g)", seed,
                     loop_kind_name(loops.kind), loop_base_name(loops.base), worst, size, error_of);
    }
    if (status == LW_OK && mobility > 0 && mobility < nv) { /* All joints driven: not unique. */
        lw_derivatives *all;
        bool prescribed = false;
        for (int i = 1; i <= model->body_count; i++) prescribed |= model->links[i].prescribed != 0;
        options.driven = NULL, options.driven_count = 0;
        assert_int_equal(lw_derivatives_create(model, &options, NULL, &all, &error), LW_OK);
        if (!prescribed)
            assert_int_equal(lw_derivatives_of_drives(all, loops.t, q, v, vdot, &out, &error),
                             LW_ERROR_UNSUPPORTED);
        lw_derivatives_destroy(all);
    }
    lw_derivatives_destroy(derivatives);
    lw_solver_destroy(solver);
    lw_model_destroy(model);
}

static void test_loops(void **state) {
    (void)state;
    for (int seed = 0; seed < 120; seed++) one(seed);
    print_message("%d curves compared, %d undecided\n", compared, undecided);
    assert_true(compared > 100 && compared > 4 * undecided);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
