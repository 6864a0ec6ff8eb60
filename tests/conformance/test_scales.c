/* test_scales.c - units must not matter, and light bodies among heavy ones are moved right, by every method.
 *
 * On random mechanisms (trees, loops, redundant loops, constraints; some with rods and point masses):
 *
 *   units          all masses, inertias, stiffnesses and forces times 1e-9 .. 1e9, all lengths times 1e-6 .. 1e6. Each
 *                  method gives the same accelerations in the new unit, or refuses in both. Powers of four scale without rounding.
 *   light bodies   single bodies times 1e-12 .. 1. The truth is an elimination in extended precision (scaled.c). Each method is
 *                  right, or refuses.
 *
 * Tolerances: a part of 1e-8 of each joint's own acceleration or of 1 (what gravity and speeds of order one cause), far above
 * rounding times the conditions of the methods, far below any effect of a unit. The accuracy of an approximate method is a part of
 * the largest acceleration (docs/theory/penalty.md, 2). Where a mechanism is badly conditioned itself,
 * the truth moves when its numbers are disturbed in their last digits; a method may be off by a hundred times that.
 *
 * LINKWORK_LONG=1: 10^4 mechanisms instead of 640.
 */
#include "random_loops.h"
#include "scaled.h"
#include "formulations/formulation.h"
#include "formulations/common/checked_accelerations.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NV = 6 * LOOP_BODIES, MAX_NQ = 7 * LOOP_BODIES, MAX_METHODS = 40, DISTURBANCES = 3 };

static const double agreement = 1e-8;
static const double allowance = 100;
/* The rows of a loop are sums of the accelerations along it, so that rounding of the largest one (1e10 of a body of 1e-9 kg)
 * stands in all of them. */
static const double rounding = 1e-14;

/* Of the 10^4, mechanisms with which something was wrong once: a single point on a loop, which was lent next to no
 * inertia; a body that the sum J + H k H' of penalty lost; bodies without mass in
 * one unit only, or beside light ones. They are tried each time. */
static const int known[] = {4980, 9745, 8394, 7063, 4577, 1300, 2284, 2663, 5035,
                            5848, 5977, 6210, 7432, 7996, 676,  6304, 6576};
enum { MECHANISMS = 640, KNOWN = sizeof known / sizeof *known };

static int mechanisms(void) {
    const char *wish = getenv("LINKWORK_LONG");
    return wish && strcmp(wish, "1") == 0 ? 10000 : MECHANISMS + KNOWN;
}

static int seed_of(int number) {
    bool all = mechanisms() > MECHANISMS + KNOWN;
    return all || number < MECHANISMS ? number : known[number - MECHANISMS];
}

/* --- mechanisms ------------------------------------------------------------------------------------ */

typedef struct subject {
    random_loops loops;
    bool tree;
    lw_spec *spec;
    lw_model *model;
    double t, q[MAX_NQ], v[MAX_NV], tau[MAX_NV];
    int nv;
} subject;

/* Some bodies become points or thin rods; where the motion is then not determined, all methods refuse. */
static void thin_bodies(lw_spec *spec, lw_random *random) {
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        lw_body_spec *body = lw_spec_body(spec, k);
        if (random_below(random, 3)) continue;
        double moment = body->inertia[0];
        memset(body->inertia, 0, sizeof body->inertia);
        if (random_below(random, 2))
            body->kind = LW_BODY_POINT;
        else
            body->inertia[0] = body->inertia[1] = moment;
    }
}

/* The spec of a seed, the same each time. */
static void build(subject *s, int seed) {
    lw_random random = random_seed((uint64_t)seed + 310000);
    s->tree = seed % 4 == 0;
    if (s->tree) {
        random_tree options = {.bodies = 1 + random_below(&random, LOOP_BODIES - 2),
                               .forces = random_below(&random, 2),
                               .prescribed = random_below(&random, 2),
                               .reversed = random_below(&random, 2),
                               .joint = -1};
        s->spec = random_tree_spec(&random, &options);
        s->t = random_between(&random, 0, 2);
    } else {
        random_loops_build(&s->loops, seed);
        s->spec = s->loops.spec;
        s->t = s->loops.t;
    }
    if (seed % 3 == 1) thin_bodies(s->spec, &random);
}

static bool prescribed(const lw_model *model, int speed) {
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_info *info = &model->joints[j].info;
        int k = info->cut ? -1 : speed - info->v;
        if (k >= 0 && k < info->v_count) return info->prescribed >> k & 1;
    }
    return false;
}

static void set_up(subject *s, int seed) {
    build(s, seed);
    s->model = compile_or_fail(s->spec);
    s->nv = lw_model_v_size(s->model);
    assert_true(s->nv <= MAX_NV);
    if (s->tree) {
        lw_random random = random_seed((uint64_t)seed + 320000);
        random_state(&random, s->model, s->q, s->v);
    } else
        random_loops_state(&s->loops, s->model, seed % 5 < 3, s->q, s->v);
    lw_random random = random_seed((uint64_t)seed + 330000);
    random_vector(&random, s->nv, 3, s->tau);
    for (int k = 0; k < s->nv; k++)
        if (prescribed(s->model, k)) s->tau[k] = 0;
}

/* --- one method ------------------------------------------------------------------------------------ */

static lw_status ask(const lw_formulation *f, const lw_model *model, double t, const double *q,
                     const double *v, const double *tau, double *vdot, lw_error *error) {
    const lw_method_options options = {0};
    lw_method *method;
    memset(error, 0, sizeof *error);
    lw_status status = f->applies(model, error);
    if (status != LW_OK) return status;
    status = f->create(model, &options, &method, error);
    if (status != LW_OK) return status;
    lw_checked *checked = lw_checked_create(model); /* what a user gets to see */
    status = checked ? lw_checked_accelerations(checked, &(lw_checked_state){method, &options, t, q, v, tau},
                                                (lw_checked_answer){.vdot = vdot}, error)
                     : LW_ERROR_MEMORY;
    lw_checked_destroy(checked);
    f->destroy(method);
    return status;
}

/* How far the truth moves with the last digits of the numbers that go in; computed when it is first asked for. */
typedef struct certainty {
    bool known;
    double moves[MAX_NV];
} certainty;

static void find_certainty(certainty *c, const lw_model *model, double t, const double *q, const double *v,
                           const double *tau, const double *truth) {
    const double last_digits = 1e-15;
    if (c->known) return;
    memset(c->moves, 0, sizeof c->moves);
    for (unsigned k = 0; k < DISTURBANCES; k++) {
        double other[MAX_NV];
        bool regular = extended_accelerations(model, t, q, v, tau, last_digits, k, other);
        for (int i = 0; i < lw_model_v_size(model); i++)
            c->moves[i] = regular ? fmax(c->moves[i], fabs(other[i] - truth[i])) : HUGE_VAL;
    }
    c->known = true;
}

/* Does rounding of what goes in leave a digit of every acceleration? Where a direction has neither inertia nor a row, the
 * elimination divides by rounding, and nothing but `massless` has an answer, by other laws. */
static bool determined(const certainty *c, const double *truth, int count) {
    const double digit = 0.1;
    for (int k = 0; k < count; k++)
        if (!(c->moves[k] <= digit * (1 + fabs(truth[k])))) return false;
    return true;
}

/* Rotations of one joint, or its translations, are the parts of one vector, which share its size: what is small along one axis is
 * not along another. */
static double size_along(const lw_model *model, const double *x, int speed) {
    double square = 0;
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info *info = &model->joints[j].info;
        if (info->cut || speed < info->v || speed >= info->v + info->v_count) continue;
        bool turns = lw_joint_speed_turns(info->type, speed - info->v);
        for (int k = 0; k < info->v_count; k++)
            if (lw_joint_speed_turns(info->type, k) == turns) square += x[info->v + k] * x[info->v + k];
    }
    return sqrt(square);
}

/* The largest difference of any joint's acceleration from what it should be, of what is allowed. */
static double off(const lw_model *model, const double *should, const double *is, double tolerance,
                  double accuracy, const certainty *c) {
    double worst = 0, largest = 0;
    for (int k = 0; k < lw_model_v_size(model); k++) largest = fmax(largest, fabs(should[k]));
    for (int k = 0; k < lw_model_v_size(model); k++) {
        double difference = fabs(is[k] - should[k]);
        double allowed = tolerance * (1 + size_along(model, should, k)) + (rounding + accuracy) * largest +
                         (c ? allowance * c->moves[k] : 0);
        if (!(difference <= allowed * worst)) worst = isfinite(difference) ? difference / allowed : HUGE_VAL;
    }
    return worst;
}

typedef struct score {
    int asked, right, refused, wrong, changed;
    double worst;
} score;

static void tell(const char *what, const score *scores) {
    for (int k = 0; k < lw_formulation_count(); k++)
        print_message("%s, %s: %d asked, %d right (worst %.1e of the tolerance), %d refused, %d wrong, %d "
                      "refused in one "
                      "unit only\n",
                      what, lw_formulation_at(k)->name, scores[k].asked, scores[k].right, scores[k].worst,
                      scores[k].refused, scores[k].wrong, scores[k].changed);
}

/* --- units ----------------------------------------------------------------------------------------- */

static const double powers_of_mass[] = {0x1p-30, 0x1p30, 1e-9, 1e9, 1e-3, 1e6},
                    powers_of_length[] = {0x1p-20, 0x1p20, 1e-6, 1e6, 1e-3, 1e3};

static void compare_units(const subject *s, int seed, double mass, double length, score *scores) {
    static subject other;
    static scaled names;
    build(&other, seed);
    scale_spec(&names, other.spec, mass, length);
    other.model = compile_or_fail(other.spec);
    assert_int_equal(lw_model_v_size(other.model), s->nv);
    for (int j = 0; j < lw_model_joint_count(other.model); j++)
        if (lw_model_joint_info(other.model, j).cut != lw_model_joint_info(s->model, j).cut)
            fail_msg("seed %d: loops are cut elsewhere with masses times %g, lengths times %g", seed, mass,
                     length);
    double unit[MAX_NV], truth[MAX_NV];
    certainty certain = {0};
    for (int k = 0; k < s->nv; k++) unit[k] = 1;
    memcpy(other.q, s->q, sizeof other.q), memcpy(other.v, s->v, sizeof other.v);
    memcpy(other.tau, s->tau, sizeof other.tau);
    scale_state(other.model, mass, length, other.q, other.v, other.tau);
    scale_state(other.model, mass, length, NULL, unit, NULL);
    for (int k = 0; k < lw_formulation_count(); k++) {
        const lw_formulation *f = lw_formulation_at(k);
        double here[MAX_NV], there[MAX_NV];
        lw_error error[2];
        lw_status first = ask(f, s->model, s->t, s->q, s->v, s->tau, here, &error[0]);
        lw_status second = ask(f, other.model, s->t, other.q, other.v, other.tau, there, &error[1]);
        score *own = &scores[k];
        own->asked++;
        if (first != LW_OK || second != LW_OK) {
            bool both = first != LW_OK && second != LW_OK;
            own->refused += both;
            /* an approximate method judges its own rounding, which only powers of two leave as it is */
            int power;
            if (f->accuracy > 0 && (frexp(mass, &power) != 0.5 || frexp(length, &power) != 0.5)) continue;
            if (!both && own->changed++ < 3)
                print_error("seed %d, masses times %g, lengths times %g, %s: %s; %s\n", seed, mass, length,
                            f->name, first == LW_OK ? "answers" : error[0].message,
                            second == LW_OK ? "answers" : error[1].message);
            continue;
        }
        double back[MAX_NV];
        for (int i = 0; i < s->nv; i++) back[i] = there[i] / unit[i];
        double tolerance = fmax(agreement, 10 * f->accuracy),
               worst = off(s->model, here, back, tolerance, f->accuracy, NULL);
        if (worst > 1) {
            if (!certain.known) extended_accelerations(s->model, s->t, s->q, s->v, s->tau, 0, 0, truth);
            find_certainty(&certain, s->model, s->t, s->q, s->v, s->tau, truth);
            worst = off(s->model, here, back, tolerance, f->accuracy, &certain);
        }
        own->worst = fmax(own->worst, worst);
        own->right += worst <= 1;
        if (worst > 1 && own->wrong++ < 3)
            print_error("seed %d, masses times %g, lengths times %g, %s: off by %g of what is allowed\n",
                        seed, mass, length, f->name, worst);
    }
    lw_model_destroy(other.model);
}

static void units_do_not_matter(void **state) {
    (void)state;
    static subject s;
    static score scores[MAX_METHODS];
    assert_true(lw_formulation_count() <= MAX_METHODS);
    for (int number = 0; number < mechanisms(); number++) {
        const int seed = seed_of(number);
        set_up(&s, seed);
        bool of_mass = seed % 2;
        int which = seed / 2 % 6;
        compare_units(&s, seed, of_mass ? powers_of_mass[which] : 1, of_mass ? 1 : powers_of_length[which],
                      scores);
        lw_model_destroy(s.model);
    }
    tell("units", scores);
    int wrong = 0;
    for (int k = 0; k < lw_formulation_count(); k++) wrong += scores[k].wrong + scores[k].changed;
    if (wrong) fail_msg("%d answers depend on units", wrong);
}

/* --- light bodies ---------------------------------------------------------------------------------- */

/* The mass of the lightest body with a mass, as a part of the heaviest one's. */
static double lightest_part(lw_spec *spec) {
    double least = HUGE_VAL, most = 0;
    for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
        const double mass = lw_spec_body(spec, k)->mass;
        if (mass > 0) least = fmin(least, mass), most = fmax(most, mass);
    }
    return least / most;
}

static void light_bodies_are_moved_right(void **state) {
    (void)state;
    static subject s, light;
    static score scores[MAX_METHODS];
    /* What has passed the balance check is right to this part of each joint's acceleration. A body below 1e-9 of
     * its neighbours moves by forces that are rounding of theirs, where a motion of its own is concerned. */
    const double checked_to = 1e-5, beyond = 1e-9;
    int undetermined = 0, uncertain = 0, asked = 0;
    for (int number = 0; number < mechanisms(); number++) {
        const int seed = seed_of(number);
        double truth[MAX_NV], zero[MAX_NV] = {0};
        lw_random random = random_seed((uint64_t)seed + 340000);
        set_up(&s, seed);
        build(&light, seed);
        int bodies = (int)lw_spec_body_count(light.spec), count = 1 + random_below(&random, 2);
        for (int k = 0; k < count; k++) {
            int which = random_below(&random, bodies);
            lw_body_spec *body = lw_spec_body(light.spec, (size_t)which);
            double part = pow(10, -3.0 * (1 + random_below(&random, 4)));
            body->mass *= part;
            for (int i = 0; i < 6; i++) body->inertia[i] *= part;
        }
        const double lightest = lightest_part(light.spec);
        light.model = compile_or_fail(light.spec);
        bool same = true;
        for (int j = 0; j < lw_model_joint_count(light.model); j++)
            same = same && lw_model_joint_info(light.model, j).cut == lw_model_joint_info(s.model, j).cut;
        if (!same && !light.tree) { /* the state belongs to the other tree */
            random_loops_configuration(&light.loops, light.model, s.q);
            memset(s.v, 0, sizeof s.v);
            lw_data *data;
            assert_int_equal(lw_data_create(light.model, NULL, &data), LW_OK);
            lw_take_state(light.model, data, s.t, s.q, s.v);
            lw_data_destroy(data);
        }
        certainty certain = {0};
        bool regular = extended_accelerations(light.model, s.t, s.q, s.v, zero, 0, 0, truth);
        undetermined += !regular;
        for (int k = 0; k < lw_formulation_count() && regular; k++) {
            const lw_formulation *f = lw_formulation_at(k);
            double vdot[MAX_NV];
            lw_error error;
            score *own = &scores[k];
            own->asked++;
            asked++;
            if (ask(f, light.model, s.t, s.q, s.v, zero, vdot, &error) != LW_OK) {
                own->refused++;
                if (!*error.message) fail_msg("seed %d, %s: refused without a word", seed, f->name);
                continue;
            }
            double tolerance = fmax(checked_to, 1000 * f->accuracy),
                   worst = off(light.model, truth, vdot, tolerance, f->accuracy, NULL);
            if (worst > 1) {
                find_certainty(&certain, light.model, s.t, s.q, s.v, zero, truth);
                worst = off(light.model, truth, vdot, tolerance, f->accuracy, &certain);
                if (!determined(&certain, truth, s.nv)) {
                    undetermined++;
                    break;
                }
            }
            if (worst > 1 && lightest < beyond) { /* counted, not judged one by one */
                uncertain++;
                continue;
            }
            own->worst = fmax(own->worst, worst);
            own->right += worst <= 1;
            if (worst > 1 && own->wrong++ < 3)
                print_error("seed %d, %s, %s: off by %g of what is allowed\n", seed,
                            light.tree ? "tree" : loop_kind_name(light.loops.kind), f->name, worst);
        }
        lw_model_destroy(light.model);
        lw_model_destroy(s.model);
    }
    tell("light bodies", scores);
    print_message(
        "not determined: %d of %d; off with bodies below 1e-9 of their neighbours: %d of %d answers\n",
        undetermined, mechanisms(), uncertain, asked);
    assert_true(uncertain < 0.005 * asked);
    int wrong = 0;
    for (int k = 0; k < lw_formulation_count(); k++) wrong += scores[k].wrong;
    if (wrong) fail_msg("%d answers with light bodies are wrong", wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(light_bodies_are_moved_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
