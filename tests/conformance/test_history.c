/* test_history.c - what a method returns depends on its arguments only.
 *
 * The same states are visited in random order, with other states in between, good and bad ones, and every answer must be,
 * to the last bit, that of a method just created: accelerations, reactions, their uniqueness, the derivative and its power,
 * joint coordinates, violations. On all of problems/, on random mechanisms with closed loops, and on loops closed by every
 * type of joint that has turned many times, with elements that count its turns. There the answer is known otherwise, too:
 * from the same mechanism with that joint in the tree.
 *
 * Every instance begins a run at the same state (to_state), since a run may choose: coordinates, for one. It may choose
 * anew after accepted steps only (project, step), from that state alone: what the first one returns is compared, too.
 */
#include "build.h"
#include "problems.h"
#include "random_loops.h"
#include "random_massless.h"
#include "formulations/formulation.h"
#include "constraints/projection.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 5, OTHERS = 6, VISITS = 12, METHODS_MAX = 32 };
typedef enum answer_kind {
    ACCELERATIONS,
    REACTIONS,
    UNIQUE,
    DERIVATIVE,
    POWER,
    BACK,
    VIOLATION,
    PROJECTION,
    KINDS
} answer_kind;
static const char *const kind_names[KINDS] = {"accelerations", "reactions",   "uniqueness", "derivative",
                                              "power",         "coordinates", "violation",  "projection"};

static struct {
    const char *method;
    int visits, faults[KINDS];
    char first[KINDS][96];
} tally[METHODS_MAX];

typedef struct place {
    double t, *q, *v;
} place;

/* What a method says at one state. */
typedef struct answer {
    lw_status status[2];
    double *vdot, *reactions, *ydot, *q, *v, power[LW_POWERS], violation[2];
    bool *unique;
} answer;

static double *numbers(int count) {
    double *x = calloc((size_t)count + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static answer make_answer(const lw_model *model, int state_size) {
    answer a = {.vdot = numbers(model->nv),
                .reactions = numbers(6 * model->joint_count),
                .ydot = numbers(state_size),
                .q = numbers(model->nq),
                .v = numbers(model->nv)};
    a.unique = calloc(6 * (size_t)model->joint_count + 1, sizeof *a.unique);
    return a;
}

static void free_answer(answer *a) {
    free(a->vdot), free(a->reactions), free(a->ydot), free(a->q), free(a->v), free(a->unique);
}

static void ask(lw_method *method, const place *at, const double *y, answer *a) {
    const lw_formulation *f = method->formulation;
    lw_power power = {0, 0, 0};
    a->status[0] =
        f->accelerations(method, at->t, at->q, at->v, NULL, a->vdot, a->reactions, a->unique, NULL);
    a->status[1] = f->derivative ? f->derivative(method, at->t, y, a->ydot, &power, NULL) : LW_OK;
    a->power[0] = power.drives, a->power[1] = power.forces, a->power[2] = power.dissipation;
    f->from_state(method, at->t, y, a->q, a->v);
    a->violation[0] = a->violation[1] = 0;
    if (f->violation) f->violation(method, at->t, y, &a->violation[0], &a->violation[1]);
}

static void compare(const lw_model *model, int m, const char *name, int size, const answer *a,
                    const answer *b) {
    size_t number = sizeof(double);
    bool same[KINDS], fine = a->status[0] == LW_OK, run = a->status[1] == LW_OK;
    for (int k = 0; k < KINDS; k++) same[k] = true;
    same[ACCELERATIONS] =
        a->status[0] == b->status[0] && (!fine || memcmp(a->vdot, b->vdot, (size_t)model->nv * number) == 0);
    if (fine) {
        same[REACTIONS] = memcmp(a->reactions, b->reactions, 6 * (size_t)model->joint_count * number) == 0;
        same[UNIQUE] = memcmp(a->unique, b->unique, 6 * (size_t)model->joint_count) == 0;
    }
    same[DERIVATIVE] =
        a->status[1] == b->status[1] && (!run || memcmp(a->ydot, b->ydot, (size_t)size * number) == 0);
    if (run) same[POWER] = memcmp(a->power, b->power, sizeof a->power) == 0;
    same[BACK] = memcmp(a->q, b->q, (size_t)model->nq * number) == 0 &&
                 memcmp(a->v, b->v, (size_t)model->nv * number) == 0;
    same[VIOLATION] = memcmp(a->violation, b->violation, sizeof a->violation) == 0;
    tally[m].visits++;
    for (int k = 0; k < KINDS; k++)
        if (!same[k] && tally[m].faults[k]++ == 0)
            snprintf(tally[m].first[k], sizeof tally[m].first[k], "%s", name);
}

/* A method that begins its run at the first place; NULL where it does not apply. */
static lw_method *begin(const lw_formulation *f, const lw_model *model, lw_drift drift, const place *first,
                        double *y) {
    const lw_method_options options = {.drift = drift, .baumgarte_alpha = 5, .baumgarte_beta = 5};
    lw_method *method = NULL;
    if (drift == LW_DRIFT_CLOSED && !f->closing) return NULL;
    if (drift == LW_DRIFT_BAUMGARTE && f->no_baumgarte) return NULL;
    if (f->applies && f->applies(model, NULL) != LW_OK) return NULL;
    if (f->create(model, &options, &method, NULL) != LW_OK) return NULL;
    if (y) f->to_state(method, first->t, first->q, first->v, y);
    return method;
}

/* All methods on the states 0 .. good - 1, with the others in between. */
static void visit(const lw_model *model, const char *name, lw_drift drift, lw_random *random,
                  const place *places) {
    enum { good = STATES, all = STATES + OTHERS };
    for (int m = 0; m < lw_formulation_count(); m++) {
        const lw_formulation *f = lw_formulation_at(m);
        tally[m].method = f->name;
        double *y[STATES + OTHERS], *start = NULL;
        lw_method *method = begin(f, model, drift, places, NULL);
        if (!method) continue;
        int size = method->state_size;
        start = numbers(size);
        answer fresh[STATES], now = make_answer(model, size);
        for (int k = 0; k < all; k++) {
            y[k] = numbers(size);
            f->to_state(method, places[k].t, places[k].q, places[k].v, y[k]);
        }
        f->destroy(method);
        for (int k = 0; k < good; k++) {
            fresh[k] = make_answer(model, size);
            method = begin(f, model, drift, places, start);
            ask(method, &places[k], y[k], &fresh[k]);
            f->destroy(method);
        }
        method = begin(f, model, drift, places, start);
        for (int n = 0; n < VISITS; n++) {
            int other = random_below(random, all), here = random_below(random, good);
            ask(method, &places[other], y[other], &now);
            ask(method, &places[here], y[here], &now);
            compare(model, m, name, size, &fresh[here], &now);
        }
        if (f->project) { /* one step is accepted */
            int here = random_below(random, good);
            double *one = y[here], *two = numbers(size);
            memcpy(two, one, (size_t)size * sizeof *two);
            lw_status status = f->project(method, places[here].t, one, NULL);
            lw_method *other = begin(f, model, drift, places, start);
            bool same = f->project(other, places[here].t, two, NULL) == status;
            if (status == LW_OK) same &= memcmp(one, two, (size_t)size * sizeof *one) == 0;
            f->destroy(other);
            free(two);
            if (!same && tally[m].faults[PROJECTION]++ == 0)
                snprintf(tally[m].first[PROJECTION], sizeof tally[m].first[PROJECTION], "%s", name);
        }
        f->destroy(method);
        for (int k = 0; k < good; k++) free_answer(&fresh[k]);
        for (int k = 0; k < all; k++) free(y[k]);
        free_answer(&now), free(start);
    }
}

static void make_places(const lw_model *model, place *places, int count) {
    for (int k = 0; k < count; k++) places[k] = (place){0, numbers(model->nq), numbers(model->nv)};
}

static void free_places(place *places, int count) {
    for (int k = 0; k < count; k++) free(places[k].q), free(places[k].v);
}

/* Good states from the first on: along random speeds, back onto the constraints. Then bad ones: off the constraints, fast. */
static void scatter(const lw_model *model, lw_random *random, double far, place *places) {
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_error error;
    lw_violation left;
    assert_non_null(projection);
    double *speed = numbers(model->nv);
    for (int k = 0; k < STATES + OTHERS; k++) {
        const place *from = &places[k ? random_below(random, k < STATES ? k : STATES) : 0];
        place *to = &places[k];
        to->t = from->t;
        if (k) memcpy(to->q, from->q, (size_t)model->nq * sizeof *to->q);
        random_vector(random, model->nv, 1.5, to->v);
        if (lw_project_velocities(projection, to->t, to->q, to->v, &left, &error) != LW_OK) continue;
        if (k == 0) continue;
        memcpy(speed, to->v, (size_t)model->nv * sizeof *speed);
        lw_integrate_q(model, to->q, to->v, far);
        if (k < STATES) {
            if (lw_project_positions(projection, to->t, to->q, 50, &left, &error) != LW_OK ||
                !(left.largest < 1e-11))
                memcpy(to->q, from->q, (size_t)model->nq * sizeof *to->q);
            (void)lw_project_velocities(projection, to->t, to->q, to->v, &left, &error);
        } else {
            random_vector(random, model->nv, 1, speed);
            lw_integrate_q(model, to->q, speed, k % 2 ? 1 : 0.01);
            for (int i = 0; i < model->nv; i++) to->v[i] *= k % 3 ? 1 : 1e3;
        }
    }
    free(speed);
    lw_projection_destroy(projection);
}

/* --- the mechanisms ------------------------------------------------------------------------------- */

static void on_all_problems(void **state) {
    (void)state;
    DIR *folder = opendir(LW_SOURCE_DIR "/problems");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char file[512];
        snprintf(file, sizeof file, LW_SOURCE_DIR "/problems/%s/model.yaml", entry->d_name);
        lw_spec *spec = entry->d_name[0] == '.' ? NULL : read_problem_spec(entry->d_name, NULL, 0);
        if (!spec) continue;
        lw_model *model = compile_or_fail(spec);
        if (model->body_count <=
            40) { /* large ones have no other structure, and methods with dense matrices take long */
            place places[STATES + OTHERS];
            lw_random random = random_seed(7);
            lw_error error;
            make_places(model, places, STATES + OTHERS);
            lw_model_initial_state(model, places[0].q, places[0].v);
            assert_int_equal(lw_assemble(model, 0, places[0].q, places[0].v, NULL, &error), LW_OK);
            scatter(model, &random, 0.2, places);
            for (int drift = LW_DRIFT_PROJECT; drift <= LW_DRIFT_CLOSED; drift++)
                visit(model, entry->d_name, (lw_drift)drift, &random, places);
            free_places(places, STATES + OTHERS);
        }
        lw_model_destroy(model);
    }
    closedir(folder);
}

static void on_random_loops(void **state) {
    (void)state;
    int seeds = getenv("LINKWORK_LONG") ? 600 : 40;
    for (int seed = 0; seed < seeds; seed++) {
        char name[96];
        random_loops loops;
        random_loops_build(&loops, seed);
        lw_random random = random_seed((uint64_t)seed);
        for (size_t j = 0; seed % 2 && j < lw_spec_joint_count(loops.spec); j++) {
            lw_joint_spec *joint = lw_spec_joint(loops.spec, j);
            bool moved = joint->has_q || joint->has_v;
            for (int k = 0; k < LW_JOINT_MAX_V; k++) moved |= joint->motion[k] != NULL;
            for (size_t c = 0; c < lw_spec_constraint_count(loops.spec); c++)
                for (int k = 0; k < lw_spec_constraint(loops.spec, c)->terms; k++)
                    moved |= strcmp(lw_spec_constraint(loops.spec, c)->joints[k], joint->name) == 0;
            joint->cut = !moved && random_below(&random, 2); /* also where elements count turns */
        }
        snprintf(name, sizeof name, "random loops %d (%s)", seed, loop_kind_name(loops.kind));
        lw_model *model = compile_or_fail(loops.spec);
        place places[STATES + OTHERS];
        make_places(model, places, STATES + OTHERS);
        random_loops_state(&loops, model, false, places[0].q, places[0].v);
        places[0].t = loops.t;
        scatter(model, &random, 0.1, places);
        visit(model, name, seed % 5 ? LW_DRIFT_PROJECT : LW_DRIFT_CLOSED, &random, places);
        free_places(places, STATES + OTHERS);
        lw_model_destroy(model);
    }
}

static void on_bodies_without_mass(void **state) {
    (void)state;
    int seeds = getenv("LINKWORK_LONG") ? 300 : 30;
    for (int seed = 0; seed < seeds; seed++) {
        char name[96];
        random_loops loops;
        bool closed = seed % 2;
        lw_model *model = closed ? random_massless_loops(&loops, seed, 0)
                                 : random_massless_model((uint64_t)seed, 6, (massless_hold)(seed / 2 % 2), 0);
        lw_random random = random_seed((uint64_t)seed);
        place places[STATES + OTHERS];
        make_places(model, places, STATES + OTHERS);
        if (closed) {
            random_loops_state(&loops, model, false, places[0].q, places[0].v);
            places[0].t = loops.t;
        } else
            lw_model_initial_state(model, places[0].q, places[0].v);
        snprintf(name, sizeof name, "massless %s %d", closed ? "loops" : "tree", seed);
        scatter(model, &random, 0.1, places);
        visit(model, name, LW_DRIFT_PROJECT, &random, places);
        free_places(places, STATES + OTHERS);
        lw_model_destroy(model);
    }
}

/* A body on a joint of the type, and a free joint beside it; one of the two is cut. */
static lw_model *pair(lw_joint_type type, bool cut, lw_random random) {
    lw_spec *spec = lw_spec_create("pair");
    add_body(spec,
             (lw_body_spec){.name = "body", .mass = 2, .com = {0.1, 0.2, -0.1}, .inertia = {0.2, 0.3, 0.25}});
    lw_joint_spec joint = {
        .name = "pair", .type = type, .bodies = {LW_GROUND, "body"}, .cut = cut, .lead = 0.03};
    random_vector(&random, 3, 0.5, joint.geometry[0].point);
    lw_joint_spec loose = {
        .name = "loose", .type = LW_JOINT_FREE, .bodies = {LW_GROUND, "body"}, .cut = !cut};
    joint.geometry[0].axis_count = type == LW_JOINT_TRANSLATION ? 2 : 1;
    random_direction(&random, joint.geometry[0].axes[0]);
    lw_v3_perpendicular(joint.geometry[0].axes[0], joint.geometry[0].axes[1]);
    if (type == LW_JOINT_UNIVERSAL) joint.geometry[0].axis_count = 2;
    add_joint(spec, joint);
    add_joint(spec, loose);
    for (int k = 0; k < lw_joint_type_v(type, joint.geometry[0].axis_count); k++) {
        char spring[32], drive[32], damper[32];
        if (lw_joint_coordinate_of_speed(type, k) < 0) continue;
        snprintf(spring, sizeof spring, "spring%d", k);
        snprintf(drive, sizeof drive, "drive%d", k);
        snprintf(damper, sizeof damper, "damper%d", k);
        add_force(spec, (lw_force_spec){.name = spring,
                                        .type = LW_FORCE_TORSION,
                                        .joint = "pair",
                                        .coordinate = k,
                                        .stiffness = 0.3,
                                        .damping = 0.1});
        add_force(spec, (lw_force_spec){.name = drive,
                                        .type = LW_FORCE_DRIVE,
                                        .joint = "pair",
                                        .coordinate = k,
                                        .drive = "cos(0.1*q) - 0.02*v"});
        add_force(spec, (lw_force_spec){.name = damper,
                                        .type = LW_FORCE_FRICTION,
                                        .joint = "pair",
                                        .coordinate = k,
                                        .viscous = 0.05});
    }
    return compile_or_fail(spec);
}

/* The state of one model in the coordinates of the other, whose joints of the tree are cut in the first. */
static void convert(const lw_model *from, lw_data *data, const place *old, const lw_model *to, place *out) {
    double q[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
    lw_take_state(from, data, old->t, old->q, old->v);
    lw_velocities(from, data);
    lw_world_poses(from, data);
    lw_cut_joint(from, data, 0, q, v, W, at);
    const lw_joint_entry *entry = &to->joints[from->closures[0]];
    lw_put_coordinates(entry, q, out->q);
    memcpy(out->v + entry->info.v, v, (size_t)entry->joint.nv * sizeof *v);
    const lw_joint_entry *tree = &from->joints[from->bodies[1].joint_index];
    lw_put_coordinates(&to->joints[from->bodies[1].joint_index], old->q + tree->info.q, out->q);
}

/* (angular; of its origin) acceleration of the only body, by differences. */
static void accelerations_of(const lw_model *model, lw_data *data, const place *at, const double *vdot,
                             double *out) {
    const double h = 1e-6, origin[3] = {0, 0, 0};
    place moved;
    make_places(model, &moved, 1);
    for (int k = 0; k < 6; k++) out[k] = 0;
    for (int side = -1; side <= 1; side += 2) {
        double angular[3], linear[3];
        memcpy(moved.q, at->q, (size_t)model->nq * sizeof *moved.q);
        lw_integrate_q(model, moved.q, at->v, side * h);
        for (int k = 0; k < model->nv; k++) moved.v[k] = at->v[k] + side * h * vdot[k];
        lw_body_velocity(model, data, at->t, moved.q, moved.v, 1, origin, angular, linear);
        for (int k = 0; k < 3; k++)
            out[k] += side * angular[k] / (2 * h), out[3 + k] += side * linear[k] / (2 * h);
    }
    free_places(&moved, 1);
}

static void on_closures_of_many_turns(void **state) {
    (void)state;
    for (int type = 0; type < LW_JOINT_TYPES; type++) {
        if (type == LW_JOINT_WELD || type == LW_JOINT_FREE) continue;
        for (int seed = 0; seed < 3; seed++) {
            lw_random random = random_seed((uint64_t)(10 * type + seed));
            lw_model *tree = pair((lw_joint_type)type, false, random),
                     *loop = pair((lw_joint_type)type, true, random);
            lw_data *data, *other;
            assert_int_equal(lw_data_create(tree, NULL, &data), LW_OK);
            assert_int_equal(lw_data_create(loop, NULL, &other), LW_OK);
            assert_true(loop->joints[0].info.cut && tree->joints[1].info.cut);
            place places[STATES + OTHERS], own;
            make_places(tree, &own, 1);
            make_places(loop, places, STATES + OTHERS);
            char name[96];
            snprintf(name, sizeof name, "closure of type %s", lw_joint_type_name((lw_joint_type)type));
            for (int k = 0; k < STATES + OTHERS; k++) {
                random_vector(&random, tree->nq, 100, own.q);
                random_vector(&random, tree->nv, 20, own.v);
                lw_normalise_q(tree, own.q);
                convert(tree, data, &own, loop, &places[k]);
                if (k >= STATES) continue;
                /* the second way to the same accelerations, and to the energy */
                double expected[6], vdot[6], body[6], there[6];
                lw_error error;
                lw_energy one = lw_energy_of(tree, data, 0, own.q, own.v),
                          two = lw_energy_of(loop, other, 0, places[k].q, places[k].v);
                if (!(fabs(one.potential - two.potential) <= 1e-12 * (1 + fabs(one.potential))))
                    fail_msg("%s: potential %.17g instead of %.17g", name, two.potential, one.potential);
                assert_int_equal(
                    lw_tree_forward_dynamics(tree, data, 0, own.q, own.v, NULL, expected, &error), LW_OK);
                accelerations_of(tree, data, &own, expected, body);
                for (int m = 0; m < lw_formulation_count(); m++) {
                    const lw_formulation *f = lw_formulation_at(m);
                    lw_method *method = begin(f, loop, LW_DRIFT_PROJECT, &places[k], NULL);
                    if (!method) continue;
                    assert_int_equal(
                        f->accelerations(method, 0, places[k].q, places[k].v, NULL, vdot, NULL, NULL, &error),
                        LW_OK);
                    f->destroy(method);
                    accelerations_of(loop, other, &places[k], vdot, there);
                    double apart = relative_difference(body, there, 6);
                    if (!(apart <= fmax(1e-6, f->accuracy))) /* of differences; a turn lost is 0.1 and more */
                        fail_msg("%s by %s: accelerations differ by %g", name, f->name, apart);
                }
            }
            visit(loop, name, LW_DRIFT_PROJECT, &random, places);
            free_places(&own, 1), free_places(places, STATES + OTHERS);
            lw_data_destroy(data), lw_data_destroy(other);
            lw_model_destroy(tree), lw_model_destroy(loop);
        }
    }
}

static void nothing_depends_on_what_was_asked_before(void **state) {
    (void)state;
    int faults = 0;
    for (int m = 0; m < METHODS_MAX && tally[m].method; m++)
        for (int k = 0; k < KINDS; k++) {
            if (!tally[m].faults[k]) continue;
            print_message("%s: %d of %d answers on %s depend on those before, first at %s\n", tally[m].method,
                          tally[m].faults[k], tally[m].visits, kind_names[k], tally[m].first[k]);
            faults++;
        }
    assert_int_equal(faults, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_all_problems),
        cmocka_unit_test(on_random_loops),
        cmocka_unit_test(on_bodies_without_mass),
        cmocka_unit_test(on_closures_of_many_turns),
        cmocka_unit_test(nothing_depends_on_what_was_asked_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
