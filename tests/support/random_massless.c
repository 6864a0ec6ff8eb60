/* random_massless.c - seeded random trees of which some bodies have no mass, or inertia in some directions only.
 */
#include "random_massless.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

/* Takes away mass, inertia, or inertia about an axis, all but `little` of it. */
static void lighten(lw_random *random, lw_body_spec *body, double little) {
    int what = random_below(random, 4);
    double axis[3];
    random_direction(random, axis);
    if (what == 0 || what == 1) { /* nothing is left */
        body->mass *= little;
        for (int k = 0; k < 6; k++) body->inertia[k] *= little;
    } else if (what == 2) { /* a rod: J (1 - a a'), and little about its axis */
        static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
        double moment = body->inertia[0];
        for (int k = 0; k < 6; k++) {
            double along = axis[row[k]] * axis[column[k]];
            body->inertia[k] = moment * ((k < 3 ? 1 : 0) - (1 - little) * along);
        }
    } else /* a point with mass */
        for (int k = 0; k < 6; k++) body->inertia[k] *= little;
}

static void hold_joints(lw_random *random, lw_spec *spec, massless_hold hold) {
    for (size_t j = 0; j < lw_spec_joint_count(spec); j++) {
        const lw_joint_spec *joint = lw_spec_joint(spec, j);
        int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        for (int k = 0; k < nv; k++) {
            char name[48];
            bool sprung = hold == HOLD_SPRUNG,
                 coordinate = joint->type != LW_JOINT_SPHERICAL && !(joint->type == LW_JOINT_FREE && k >= 3);
            double stiffness = random_between(random, 5, 20), damping = random_between(random, 1, 4);
            bool both = random_below(random, 2);
            lw_force_spec force = {.name = name, .joint = joint->name, .coordinate = k};
            snprintf(name, sizeof name, "%s_%d_spring", joint->name, k);
            force.type = LW_FORCE_TORSION, force.stiffness = stiffness;
            if (coordinate) assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
            if (sprung && coordinate && !both) continue;
            snprintf(name, sizeof name, "%s_%d_damper", joint->name, k);
            force.type = LW_FORCE_FRICTION, force.stiffness = 0, force.viscous = damping;
            assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
        }
    }
}

lw_spec *random_massless_spec(uint64_t seed, int bodies, massless_hold hold, double little) {
    lw_random random = random_seed(seed);
    random_tree options = {.bodies = bodies,
                           .forces = seed % 4 == 3 && hold == HOLD_DAMPED,
                           .prescribed = seed % 3 == 1,
                           .reversed = seed % 4 < 2,
                           .aligned = seed % 5 < 3,
                           .joint = -1};
    lw_spec *spec = random_tree_spec(&random, &options);
    for (size_t k = 0; k < lw_spec_body_count(spec); k++)
        if (random_below(&random, 2)) lighten(&random, lw_spec_body(spec, k), little);
    if (hold != HOLD_NOTHING) hold_joints(&random, spec, hold);
    return spec;
}

lw_model *random_massless_model(uint64_t seed, int bodies, massless_hold hold, double little) {
    return compile_or_fail(random_massless_spec(seed, bodies, hold, little));
}

lw_model *random_massless_loops(random_loops *loops, int seed, double little) {
    random_loops_build(loops, seed);
    lw_random random = random_seed((uint64_t)seed + 5000);
    for (size_t k = 0; k < lw_spec_body_count(loops->spec); k++) {
        lw_body_spec *body = lw_spec_body(loops->spec, k);
        if (!random_below(&random, 2)) continue;
        body->mass *= little;
        for (int c = 0; c < 6; c++) body->inertia[c] *= little;
    }
    for (size_t j = 0; j < lw_spec_joint_count(loops->spec); j++) {
        const lw_joint_spec *joint = lw_spec_joint(loops->spec, j);
        int nv = lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
        for (int k = 0; k < nv; k++) {
            char name[48];
            snprintf(name, sizeof name, "damper_%zu_%d", j, k);
            lw_force_spec force = {
                .name = name, .type = LW_FORCE_FRICTION, .joint = joint->name, .coordinate = k, .viscous = 2};
            assert_int_equal(lw_spec_add_force(loops->spec, &force), LW_OK);
        }
    }
    return compile_or_fail(loops->spec);
}
