/* test_massless_sentences.c - what is said of a motion that nothing determines is true: the body that is named moves without mass in the
 * direction that is named, and each of the things that the sentence asks for, added just there, determines it.
 *
 * The same classification stands behind the sentence, linkwork info and the method itself: all three agree on every model.
 */
#include "random_loops.h"
#include "random_massless.h"
#include "build.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum remedy { ADD_DAMPER, ADD_SPRING, ADD_INERTIA, WELD, REMEDIES } remedy;
static const char *const remedy_names[] = {"a damper", "a spring", "inertia", "a weld"};

typedef struct count {
    int undetermined;
    lw_direction first; /* of these */
} count;

static count look(const lw_model *model) {
    lw_directions *directions;
    lw_error error;
    count found = {0};
    assert_int_equal(lw_directions_create(model, &directions, &error), LW_OK);
    for (int k = 0; k < lw_directions_count(directions); k++) {
        const lw_direction *d = lw_directions_at(directions, k);
        if (d->kind != LW_DIRECTION_UNDETERMINED) continue;
        if (!found.undetermined++) found.first = *d;
        assert_true(strstr(d->error.message, d->text) && strstr(d->error.message, d->joint_name));
        assert_non_null(strstr(d->error.object, d->body_name));
    }
    lw_directions_destroy(directions);
    return found;
}

/* What the method says, against what the classification does. */
static void must_agree(int seed, const lw_model *model, const count *found) {
    lw_error error = {0};
    lw_status status = lw_method_applies("massless", model, &error);
    bool loose = status != LW_OK && (strstr(error.message, "resists") || strstr(error.message, "driven")) &&
                 !strstr(error.message, "singular");
    if (loose != (found->undetermined > 0))
        fail_msg("seed %d: %d directions are undetermined, but the method says: %s", seed,
                 found->undetermined, status == LW_OK ? "it applies" : error.message);
}

/* Does what it says at the joint and body of a direction. False where that cannot be done, there being no coordinate for a spring, or is
 * not what it says: against a drive only damping helps. */
static bool follow(lw_spec *spec, const lw_direction *d, remedy what, int number) {
    char name[32];
    snprintf(name, sizeof name, "remedy_%d", number);
    lw_joint_spec *joint = lw_spec_joint(spec, (size_t)d->joint);
    lw_force_spec force = {.name = name, .joint = joint->name, .coordinate = d->speed};
    bool driven = strstr(d->error.message, "driven") != NULL;
    if (driven && (what == ADD_SPRING || what == WELD)) return false;
    if (what == ADD_DAMPER) force.type = LW_FORCE_FRICTION, force.viscous = driven ? 1000 : 1;
    if (what == ADD_SPRING) {
        if (joint->type == LW_JOINT_SPHERICAL || (joint->type == LW_JOINT_FREE && d->speed >= 3))
            return false;
        force.type = LW_FORCE_TORSION, force.stiffness = 10;
    }
    if (what == ADD_DAMPER || what == ADD_SPRING) {
        assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
        return true;
    }
    if (what == ADD_INERTIA) {
        for (size_t k = 0; k < lw_spec_body_count(spec); k++) {
            lw_body_spec *body = lw_spec_body(spec, k);
            if (strcmp(body->name, d->body_name) != 0) continue;
            body->mass = body->mass > 0 ? body->mass : 1;
            for (int c = 0; c < 6; c++) body->inertia[c] = c < 3 ? 1 : 0;
            return true;
        }
        fail_msg("there is no body %s", d->body_name);
    }
    for (int k = 0; k < LW_JOINT_MAX_V; k++)
        if (joint->motion[k]) return false; /* a weld has none */
    joint->type = LW_JOINT_WELD;
    joint->has_q = joint->has_v = false;
    joint->geometry[0].axis_count = joint->geometry[1].axis_count = 0;
    return true;
}

/* Follows the first sentence again and again: each time fewer directions are undetermined. */
static int follow_all(int seed, lw_spec *spec, remedy what) {
    int rounds = 0;
    for (int before = 1000;; rounds++) {
        lw_report *report = lw_report_create();
        lw_model *model;
        lw_status status = lw_model_compile(spec, NULL, report, &model);
        if (status != LW_OK) show_report(report);
        assert_int_equal(status, LW_OK);
        lw_report_destroy(report);
        count now = look(model);
        must_agree(seed, model, &now);
        if (now.undetermined >= before)
            fail_msg("seed %d: %s at joint %s did not help: still %d directions", seed, remedy_names[what],
                     now.first.joint_name, now.undetermined);
        before = now.undetermined;
        bool more = now.undetermined && follow(spec, &now.first, what, rounds);
        lw_model_destroy(model);
        if (!more) break;
    }
    return rounds;
}

static void trees_run_when_told(void **state) {
    (void)state;
    int rounds[REMEDIES] = {0};
    for (int seed = 1; seed <= 140; seed++)
        for (int what = 0; what < REMEDIES; what++) {
            lw_random random = random_seed((uint64_t)seed);
            lw_spec *spec =
                random_massless_spec((uint64_t)seed, 1 + random_below(&random, 6), HOLD_NOTHING, 0);
            rounds[what] += follow_all(seed, spec, (remedy)what);
            lw_spec_destroy(spec);
        }
    for (int what = 0; what < REMEDIES; what++) {
        print_message("%s helped %d times\n", remedy_names[what], rounds[what]);
        assert_true(rounds[what] > 40);
    }
}

static void loops_run_when_told(void **state) {
    (void)state;
    int rounds[REMEDIES] = {0};
    for (int seed = 0; seed < 40; seed++)
        for (int what = 0; what < WELD; what++) { /* a weld in a loop may lock it */
            static random_loops loops;
            random_loops_build(&loops, seed);
            lw_random random = random_seed((uint64_t)seed + 5000);
            for (size_t k = 0; k < lw_spec_body_count(loops.spec); k++) {
                lw_body_spec *body = lw_spec_body(loops.spec, k);
                if (!random_below(&random, 3)) continue;
                body->mass = 0;
                memset(body->inertia, 0, sizeof body->inertia);
            }
            rounds[what] += follow_all(seed, loops.spec, (remedy)what);
            lw_spec_destroy(loops.spec);
        }
    for (int what = 0; what < WELD; what++)
        print_message("%s helped %d times\n", remedy_names[what], rounds[what]);
    assert_true(rounds[ADD_DAMPER] > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_run_when_told),
        cmocka_unit_test(loops_run_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
