/* test_loop_constraints.c - what rcr compiles and evaluates before its passes: segments, couplings and their order against the definition;
 * closures in body axes against the rows of the model; scales of rows that fall asleep and wake up.
 */
#include "build.h"
#include "constraints/closure_rows.h"
#include "formulations/common/loop_method_base.h"
#include "constraints/projection.h"
#include "formulations/rcr/rcr_solve.h"
#include "dynamics/tree_dynamics.h"
#include "random_loops.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TIES = 32, MAX_BODIES = LOOP_BODIES + 2, MAX_Q = 7 * MAX_BODIES };

/* --- structure --------------------------------------------------------------------------------------- */

static bool carries(const lw_model *model, int body, int beyond) {
    while (beyond > body) beyond = model->links[beyond].parent;
    return beyond == body;
}

/* The bodies that a tie acts on, ground included where the tie holds to it. */
static int bodies_of(const lw_model *model, const lw_rows *rows, const lw_loop_constraint *tie, int *bodies) {
    const lw_row *row = &rows->rows[tie->first];
    int count = 0;
    if (row->joint >= 0) {
        for (int side = 0; side < 2; side++) bodies[count++] = model->joints[row->joint].info.bodies[side];
        return count;
    }
    const lw_constraint *constraint = &model->constraints[row->constraint];
    if (constraint->type != LW_CONSTRAINT_COUPLING) {
        for (int side = 0; side < 2; side++) bodies[count++] = constraint->bodies[side];
        return count;
    }
    for (int k = 0; k < constraint->terms; k++)
        for (int i = 1; i <= model->body_count; i++) {
            int v = constraint->speeds[k] - model->links[i].v;
            if (v >= 0 && v < model->links[i].joint.nv)
                bodies[count++] = i, bodies[count++] = model->links[i].parent;
        }
    return count;
}

static void check_structure(const random_loops *loops, const lw_model *model) {
    lw_arena *arena = lw_arena_create(NULL);
    const lw_rows *rows = lw_rows_create_loops(model, arena);
    const lw_loop_constraints *ties = lw_loop_constraints_create(model, rows, arena);
    int n = model->body_count, seen = 0;
    static bool way[MAX_TIES][MAX_BODIES], coupled[MAX_TIES][MAX_TIES];
    memset(way, 0, sizeof way), memset(coupled, 0, sizeof coupled);
    assert_true(ties->count <= MAX_TIES && n < MAX_BODIES);
    for (int t = 0; t < ties->count; t++) {
        const lw_loop_constraint *tie = &ties->loops[t];
        int bodies[4 * LW_COUPLING_MAX], count = bodies_of(model, rows, tie, bodies);
        seen += tie->count;
        /* the base carries all its bodies, and no body beyond it does */
        for (int k = 0; k < count; k++) assert_true(carries(model, tie->base, bodies[k]));
        for (int i = tie->base + 1; i <= n; i++) {
            bool all = true;
            for (int k = 0; k < count; k++) all &= carries(model, i, bodies[k]);
            assert_false(all);
        }
        if (t > 0) assert_true(tie->base <= ties->loops[t - 1].base);
        assert_true(t >= ties->at_base[tie->base] && t < ties->at_base[tie->base] + ties->based[tie->base]);
        /* a segment wherever it passes on its way there, and nowhere else */
        for (int k = 0; k < count; k++)
            for (int i = bodies[k]; i != tie->base; i = model->links[i].parent) way[t][i] = true;
        for (int i = 1; i <= n; i++) {
            int segments = 0;
            for (int s = ties->segment_start[i]; s < ties->segment_start[i + 1]; s++) {
                const lw_segment *segment = &ties->segments[s];
                int parent = model->links[i].parent;
                if (segment->loop != t) continue;
                segments++;
                if (parent == tie->base)
                    assert_int_equal(segment->parent, -1);
                else {
                    assert_true(segment->parent >= ties->segment_start[parent]);
                    assert_true(segment->parent < ties->segment_start[parent + 1]);
                    assert_int_equal(ties->segments[segment->parent].loop, t);
                }
            }
            if (segments != way[t][i]) fail_msg("seed %d, tie %d, body %d", loops->seed, t, i);
        }
        for (int r = tie->first; r < tie->first + tie->count; r++) assert_int_equal(ties->loop_of_row[r], t);
    }
    assert_int_equal(seen, rows->count);
    /* couplings: those that share a joint, and the fill of the elimination in this order */
    for (int t = 0; t < ties->count; t++)
        for (int s = 0; s < ties->count; s++)
            for (int i = 1; i <= n; i++) coupled[t][s] |= s != t && way[t][i] && way[s][i];
    for (int t = 0; t < ties->count; t++) {
        const lw_loop_constraint *tie = &ties->loops[t];
        int count = 0, at = tie->target;
        for (int s = t + 1; s < ties->count; s++) {
            if (!coupled[t][s]) continue;
            const lw_coupling *near = &ties->couplings[tie->coupling + count++];
            assert_int_equal(near->loop, s);
            /* its wrenches at the base of t exist: it passes there or has its own base there */
            assert_true(way[s][tie->base] || ties->loops[s].base == tie->base);
            for (int u = t + 1; u < ties->count; u++) coupled[s][u] |= u != s && coupled[t][u];
        }
        assert_int_equal(count, tie->couplings);
        for (int j = 0; j < count; j++)
            for (int k = j; k < count; k++) {
                const lw_loop_constraint *first = &ties->loops[ties->couplings[tie->coupling + j].loop];
                int block = ties->targets[at++], found = j == k ? first->block : -1;
                for (int c = first->coupling; c < first->coupling + first->couplings; c++)
                    if (ties->couplings[c].loop == ties->couplings[tie->coupling + k].loop)
                        found = ties->couplings[c].block;
                assert_int_equal(block, found);
            }
    }
    /* each pair of segments at a joint once, with the block of its ties */
    for (int i = 1; i <= n; i++) {
        int segments = ties->segment_start[i + 1] - ties->segment_start[i];
        assert_int_equal(ties->pair_start[i + 1] - ties->pair_start[i], segments * (segments + 1) / 2);
        for (int p = ties->pair_start[i]; p < ties->pair_start[i + 1]; p++) {
            int t = ties->segments[ties->pairs[p].first].loop, s = ties->segments[ties->pairs[p].second].loop;
            assert_true(t <= s && ties->pairs[p].block >= 0 && ties->pairs[p].block < ties->block_size);
            if (t == s) assert_int_equal(ties->pairs[p].block, ties->loops[t].block);
        }
    }
    lw_arena_destroy(arena);
}

static void structure_by_definition(void **state) {
    (void)state;
    static random_loops loops; /* large */
    for (int seed = 1; seed <= 240; seed++) {
        random_loops_build(&loops, seed);
        lw_model *model = compile_or_fail(loops.spec);
        check_structure(&loops, model);
        lw_model_destroy(model);
    }
}

/* --- closures against rows --------------------------------------------------------------------------- */

/* A tree of any joints, and one more that closes a loop: between bodies or to ground, in both senses. It need not be closed: what is
 * compared does not ask for that. */
static lw_model *held_tree(lw_random *random, lw_joint_type type) {
    const random_tree options = {
        .bodies = 6, .reversed = true, .joint = -1, .aligned = random_below(random, 2)};
    lw_spec *spec = random_tree_spec(random, &options);
    int way = random_below(random, 3);
    const char *first = way == 0 ? LW_GROUND : lw_spec_body(spec, (size_t)random_below(random, 3))->name;
    const char *second = lw_spec_body(spec, (size_t)(3 + random_below(random, 3)))->name;
    lw_joint_spec joint = {.name = "hold",
                           .type = type,
                           .bodies = {way == 2 ? second : first, way == 2 ? first : second},
                           .cut = true};
    random_vector(random, 3, 1, joint.geometry[0].point);
    random_direction(random, joint.geometry[0].axes[0]);
    joint.geometry[0].axis_count = type == LW_JOINT_REVOLUTE;
    add_joint(spec, joint);
    return compile_or_fail(spec);
}

/* Of rows.c: the wrench of block b in internal axes about the internal origin. */
static void moved_block(const lw_rows *rows, const lw_data *data, int b, double w[6]) {
    const lw_pose *world = &data->world[rows->body[b]];
    const double *h = rows->H + 6 * b;
    double arm[3], moment[3];
    lw_v3_sub(rows->bodies[rows->body[b]].r, world->p, arm);
    lw_v3_cross(arm, h + 3, moment);
    lw_v3_add(moment, h, moment);
    lw_m3_tmul_v(world->R, moment, w);
    lw_m3_tmul_v(world->R, h + 3, w + 3);
}

static void check_closures(lw_model *model, lw_random *random, int seed) {
    lw_arena *arena = lw_arena_create(NULL);
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    lw_rows *rows = lw_rows_create_loops(model, arena);
    lw_loop_constraints *ties = lw_loop_constraints_create(model, rows, arena);
    lw_rcr_system *system = lw_rcr_system_create(model, data, ties, rows->count, 1, arena);
    lw_closures *closures;
    assert_int_equal(lw_closures_create(model, arena, &closures), LW_OK);
    assert_non_null(closures);
    double q[MAX_Q], v[MAX_Q], tau[MAX_Q] = {0}, bias[64], body[6 * MAX_BODIES], HV[64];
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_violation left;
    lw_error error;
    random_state(random, model, q, v);
    /* both say at acceleration level what holds without slip */
    assert_int_equal(lw_project_velocities(projection, 0, q, v, &left, &error), LW_OK);
    lw_projection_destroy(projection);
    if (!(left.largest < 1e-9)) fail_msg("seed %d: slip %g", seed, left.largest);
    lw_take_state(model, data, 0, q, v);
    /* the model's way */
    lw_loop_method looped = {.base.model = model, .data = data, .rows = rows};
    lw_loop_method_rows(&looped);
    lw_loop_method_bias(&looped, bias);
    lw_rows_velocities(model, rows, body);
    lw_rows_transposed(rows, body, HV);
    /* the method's */
    const lw_subject subject = {.v = data->v, .tau = tau, .gravity = true};
    lw_rcr_system_start(system, &subject);
    lw_closures_move(model, data, data->v, closures);
    for (int i = 1; i <= model->body_count; i++) random_vector(random, 6, 3, data->nodes[i].a);
    for (int t = 0; t < ties->count; t++) {
        const lw_loop_constraint *tie = &ties->loops[t];
        double first[48], second[48], l[6], velocity[6], size = 0, worst = 0, largest = 0;
        int row[6];
        for (int k = 0; k < tie->count; k++) row[k] = (k + seed) % tie->count; /* in any order */
        lw_closure_rows(closures, tie->closure, tie->count, row, second, first, l);
        lw_closure_velocity(data, closures, tie->closure, tie->count, velocity, &size);
        for (int k = 0; k < tie->count; k++) {
            int r = tie->first + row[k];
            double sum = bias[r];
            for (int b = rows->rows[r].block; b < rows->rows[r].block + rows->rows[r].count; b++) {
                double w[6], own[6];
                const double *list = rows->body[b] == tie->bodies[1] ? second : first;
                lw_wrench(list, k, own);
                moved_block(rows, data, b, w);
                /* the point of the joint is on the second body; lengths and velocities of some units */
                if (!(relative_difference(w, own, 6) < 1e-12)) fail_msg("seed %d: wrench of row %d", seed, r);
                sum += lw_v6_dot(w, data->nodes[rows->body[b]].a);
            }
            if (!(fabs(bias[r] - l[k]) < 1e-9 * (1 + fabs(bias[r]))))
                fail_msg("seed %d: bias %g, not %g", seed, l[k], bias[r]);
            if (!(fabs(HV[r] - velocity[row[k]]) < 1e-11))
                fail_msg("seed %d: velocity %g, not %g", seed, velocity[row[k]], HV[r]);
            size = 0;
            double off = lw_closure_defect(data, closures, tie->closure, 1, row + k, &size);
            bool is_length = lw_row_is_length(model, rows, r);
            assert_true(size > 0);
            if (!is_length && !(fabs(off - fabs(sum)) < 1e-10 * (1 + fabs(sum))))
                fail_msg("seed %d: defect %g, not %g", seed, off, fabs(sum));
            if (is_length) { /* in units of a length that is the same for all rows */
                if (largest > 0 && !(fabs(off / fabs(sum) / (worst / largest) - 1) < 1e-9))
                    fail_msg("seed %d: units of defects", seed);
                worst = off, largest = fabs(sum);
            }
        }
    }
    lw_data_destroy(data);
    lw_arena_destroy(arena);
}

static void closures_are_rows(void **state) {
    (void)state;
    static const lw_joint_type types[3] = {LW_JOINT_REVOLUTE, LW_JOINT_SPHERICAL, LW_JOINT_WELD};
    for (int seed = 1; seed <= 150; seed++) {
        lw_random random = random_seed((uint64_t)seed);
        lw_model *model = held_tree(&random, types[seed % 3]);
        assert_int_equal(model->closure_count, 1);
        check_closures(model, &random, seed);
        lw_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(structure_by_definition),
                                       cmocka_unit_test(closures_are_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
