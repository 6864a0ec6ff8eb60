/* test_assemble_start.c - start positions of loops that are not given completely: they depend neither on where loops are cut nor on
 * what bodies weigh, nor on the order of joints; given values stay, and of all closed positions it is the one nearest to the joints'
 * initial coordinates. What is determined starts where Gauss-Newton in the mass metric leads.
 */
#include "build.h"
#include "random_model.h"
#include "constraints/projection.h"
#include "model/data.h"
#include "model/joint.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const bodies[] = {"ground", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8"};
static const char *const joints[] = {"j0", "j1", "j2", "j3", "j4", "j5", "j6", "j7", "j8", "arm"};
enum { BODIES = 9, JOINTS = 10, MOST = 64 };

typedef enum shape { PLANAR, SLIDES, SPATIAL, TWO_LOOPS, SHAPES } shape;

/* What is varied: nothing of it may matter. */
typedef struct variant {
    int cut;       /* a wish, or -1 */
    int light;     /* body with another mass, or 0 */
    double mass;   /* of that body */
    bool reversed; /* the joints stand in the file in reverse order */
} variant;

typedef struct mechanism {
    int seed;
    shape kind;
    int bodies, joints;
    int given; /* joints whose q is given: this many from j0 on */
    bool arm;  /* a body that hangs on the first one, outside of all loops */
    lw_joint_spec joint[JOINTS];
    double mass[BODIES], com[BODIES][3];
} mechanism;

static lw_joint_spec hinge(int index, const char *first, const char *second, const double point[3],
                           const double axis[3]) {
    lw_joint_spec joint = {.name = joints[index], .type = LW_JOINT_REVOLUTE, .bodies = {first, second}};
    memcpy(joint.geometry[0].point, point, 3 * sizeof *point);
    memcpy(joint.geometry[0].axes[0], axis, 3 * sizeof *axis);
    joint.geometry[0].axis_count = 1;
    return joint;
}

/* Turns a hinge of a spatial loop into a joint of more freedom. */
static void widen(lw_random *random, lw_joint_spec *joint) {
    lw_joint_geometry *g = &joint->geometry[0];
    switch (random_below(random, 4)) {
    case 0:
        joint->type = LW_JOINT_SPHERICAL;
        g->axis_count = 0;
        break;
    case 1:
        joint->type = LW_JOINT_UNIVERSAL;
        g->axis_count = 2;
        lw_v3_perpendicular(g->axes[0], g->axes[1]);
        break;
    case 2:
        joint->type = LW_JOINT_CYLINDRICAL;
        break;
    default:
        break;
    }
}

/* A ring of bodies drawn in the world, closed there; j0 is turned from that by a given angle. */
static mechanism build(int seed, shape kind, int given, bool arm) {
    mechanism m = {.seed = seed, .kind = kind, .given = given, .arm = arm};
    lw_random random = random_seed((uint64_t)(77 * seed + (int)kind));
    int ring = kind == SPATIAL ? 5 + random_below(&random, 2) : 5 + random_below(&random, 2);
    double at[JOINTS][3], y[3] = {0, 1, 0};
    for (int j = 0; j < ring; j++) {
        double angle = 2 * LW_PI * (j + random_between(&random, -0.3, 0.3)) / ring;
        double radius = random_between(&random, 0.7, 1.3), axis[3] = {0, 1, 0};
        at[j][0] = 1 + radius * cos(angle), at[j][2] = 1 + radius * sin(angle);
        at[j][1] = kind == SPATIAL ? random_between(&random, -0.5, 0.5) : 0;
        if (kind == SPATIAL) random_direction(&random, axis);
        m.joint[j] = hinge(j, bodies[j], j == ring - 1 ? "ground" : bodies[j + 1], at[j], axis);
        if (kind == SPATIAL && j > 0) widen(&random, &m.joint[j]);
        if (kind == SLIDES && j > 0 && random_unit(&random) < 0.3) {
            double along = random_between(&random, 0, 6);
            m.joint[j].type = LW_JOINT_PRISMATIC;
            memcpy(m.joint[j].geometry[0].axes[0], (double[3]){cos(along), 0, sin(along)}, sizeof y);
        }
    }
    m.joints = ring, m.bodies = ring - 1;
    for (int k = 0; kind == TWO_LOOPS && k < 3; k++) { /* three more hinges across the ring */
        double point[3] = {1 + random_between(&random, -0.5, 0.5), 0, 1 + random_between(&random, -0.5, 0.5)};
        const char *first = k == 0 ? bodies[2] : bodies[m.bodies];
        const char *second = k == 2 ? bodies[ring - 1] : bodies[m.bodies + 1];
        m.joint[m.joints] = hinge(m.joints, first, second, point, y);
        m.joints++;
        if (k < 2) m.bodies++;
    }
    for (int j = 0; j < given; j++) {
        m.joint[j].has_q = true;
        m.joint[j].q[0] = j == 0 ? random_between(&random, -0.8, 0.8) : random_between(&random, -0.2, 0.2);
    }
    if (arm) {
        double point[3] = {2, 0.3, 1};
        m.joint[m.joints++] = hinge(JOINTS - 1, bodies[1], bodies[m.bodies + 1], point, y);
        m.bodies++;
    }
    for (int b = 1; b <= m.bodies; b++) {
        m.mass[b] = random_between(&random, 0.1, 3);
        for (int k = 0; k < 3; k++) m.com[b][k] = b < ring ? (at[b - 1][k] + at[b][k]) / 2 : 1;
    }
    return m;
}

/* NULL: a body without mass has its way, and the loop is cut at a joint whose q is given and does not count. */
static lw_model *compile(const mechanism *m, variant v) {
    lw_spec *spec = lw_spec_create("ring");
    lw_model *model = NULL;
    for (int b = 1; b <= m->bodies; b++) {
        lw_body_spec body = {.name = bodies[b], .mass = b == v.light ? v.mass : m->mass[b]};
        for (int k = 0; k < 3; k++) body.com[k] = m->com[b][k], body.inertia[k] = 0.1 * body.mass;
        add_body(spec, body);
    }
    for (int j = 0; j < m->joints; j++) {
        int index = v.reversed ? m->joints - 1 - j : j;
        lw_joint_spec joint = m->joint[index];
        joint.cut = index == v.cut;
        add_joint(spec, joint);
    }
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    bool lost = false;
    for (int j = 0; j < model->joint_count; j++)
        lost |= model->joints[j].info.cut && model->joints[j].given_q;
    if (!lost) return model;
    lw_model_destroy(model);
    return NULL;
}

typedef struct start {
    double pose[BODIES][12];
    double q[MOST], distance;
    bool fits; /* the given values do */
} start;

/* Squared distance of a joint from where it was drawn: written down once more, without the library's own. */
static double square(const lw_joint_entry *entry, const double *q, double length) {
    double sum = 0;
    if (entry->joint.type == LW_JOINT_SPHERICAL) {
        double angle = 2 * acos(fmin(fabs(q[0]), 1));
        return angle * angle;
    }
    for (int k = 0; k < entry->joint.nq; k++) {
        bool slides =
            entry->joint.type == LW_JOINT_PRISMATIC || (entry->joint.type == LW_JOINT_CYLINDRICAL && k == 0);
        double x = slides ? q[k] / length : remainder(q[k], 2 * LW_PI);
        sum += x * x;
    }
    return sum;
}

/* Twice the root mean square distance of a body's joints from their centre, of the body with the largest. */
static double length_of(const mechanism *m) {
    double most = 0;
    for (int b = 0; b <= m->bodies; b++) {
        double centre[3] = {0}, sum = 0;
        int count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < m->joints; j++)
                for (int side = 0; side < 2; side++) {
                    if (strcmp(m->joint[j].bodies[side], bodies[b]) != 0) continue;
                    const double *p = m->joint[j].geometry[0].point;
                    if (pass == 0) {
                        for (int k = 0; k < 3; k++) centre[k] = (count * centre[k] + p[k]) / (count + 1);
                        count++;
                    } else
                        for (int k = 0; k < 3; k++) sum += (p[k] - centre[k]) * (p[k] - centre[k]) / count;
                }
        most = fmax(most, 2 * sqrt(sum));
    }
    return most;
}

static double distance_at(const mechanism *m, const lw_model *model, lw_data *data, const double *q) {
    double sum = 0, length = length_of(m);
    lw_take_state(model, data, 0, q, NULL);
    lw_velocities(model, data);
    lw_world_poses(model, data);
    for (int k = 0; k < model->closure_count; k++) {
        double cut[LW_JOINT_MAX_Q], v[LW_JOINT_MAX_V], W[36], at[3];
        lw_cut_joint(model, data, k, cut, v, W, at);
        sum += square(&model->joints[model->closures[k]], cut, length);
    }
    for (int j = 0; j < model->joint_count; j++)
        if (!model->joints[j].info.cut && !model->joints[j].given_q)
            sum += square(&model->joints[j], q + model->joints[j].info.q, length);
    return sqrt(sum);
}

static start assembled(const mechanism *m, const lw_model *model) {
    start s = {.fits = true};
    double v[MOST];
    lw_assembly assembly;
    lw_error error = {0};
    lw_data *data;
    lw_model_initial_state(model, s.q, v);
    if (lw_assemble(model, 0, s.q, v, &assembly, &error) != LW_OK)
        fail_msg("seed %d, kind %d: %s", m->seed, m->kind, error.message);
    s.fits = assembly.moved_joint < 0;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int b = 1; b <= m->bodies; b++)
        lw_body_pose(model, data, 0, s.q, lw_model_body(model, bodies[b]), s.pose[b], s.pose[b] + 3);
    s.distance = distance_at(m, model, data, s.q);
    for (int j = 0; s.fits && j < model->joint_count; j++) { /* given values to the last digits */
        const lw_joint_info *info = &model->joints[j].info;
        if (model->joints[j].given_q) assert_true(fabs(s.q[info->q] - model->q0[info->q]) < 1e-15);
    }
    lw_data_destroy(data);
    return s;
}

static double difference(const mechanism *m, const start *a, const start *b) {
    double most = 0;
    for (int i = 1; i <= m->bodies; i++)
        for (int k = 0; k < 12; k++) most = fmax(most, fabs(a->pose[i][k] - b->pose[i][k]));
    return most;
}

/* How many freedoms the given values leave. */
static int freedom(const lw_model *model, const double *q) {
    lw_mobility *mobility;
    assert_int_equal(lw_mobility_create(model, 0, q, &mobility, NULL), LW_OK);
    int left = lw_mobility_freedom(mobility);
    lw_mobility_destroy(mobility);
    for (int j = 0; j < model->joint_count; j++)
        if (model->joints[j].given_q) left -= model->joints[j].joint.nv;
    return left;
}

/* No closed position beside it is nearer. Those are found by disturbing all coordinates that are not given and closing again. */
static void must_be_nearest(const mechanism *m, const lw_model *model, const start *s) {
    lw_random random = random_seed((uint64_t)m->seed);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_Q);
    lw_data *data;
    assert_non_null(projection);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    for (int k = 0; k < 20; k++) {
        double q[MOST], speed[MOST] = {0};
        lw_violation left;
        memcpy(q, s->q, sizeof q);
        for (int j = 0; j < model->joint_count; j++) {
            const lw_joint_info *info = &model->joints[j].info;
            for (int i = 0; i < info->v_count && !info->cut; i++)
                speed[info->v + i] = model->joints[j].given_q ? 0 : random_between(&random, -0.01, 0.01);
        }
        lw_integrate_q(model, q, speed, 1);
        assert_int_equal(lw_project_positions(projection, 0, q, 50, &left, NULL), LW_OK);
        if (left.largest > 1e-12) continue;
        /* 1e-7: what closing may have moved of the given values */
        if (!(distance_at(m, model, data, q) > s->distance - 1e-7))
            fail_msg("seed %d, kind %d: %.12g is nearer than %.12g", m->seed, m->kind,
                     distance_at(m, model, data, q), s->distance);
    }
    lw_data_destroy(data);
    lw_projection_destroy(projection);
}

/* All cuts, every body without mass or with next to none, another order: the same start. Returns whether it was one that is left open. */
static bool one_start(const mechanism *m) {
    start first = {.distance = -1};
    int count = m->joints + 2 * m->bodies + 1;
    for (int k = 0; k < count; k++) {
        int rest = k - m->joints;
        variant v = {.cut = k < m->joints ? k : -1, .reversed = k == count - 1};
        if (rest >= 0 && k < count - 1) v.light = 1 + rest / 2, v.mass = rest % 2 ? 1e-9 : 0;
        lw_model *model = compile(m, v);
        if (!model) continue;
        start s = assembled(m, model);
        if (first.distance < 0) {
            if (!s.fits || freedom(model, s.q) < 1) {
                lw_model_destroy(model);
                return false;
            }
            must_be_nearest(m, model, &s);
            first = s;
        }
        double off = difference(m, &first, &s);
        /* two solutions of the same equations, which a nearly singular position may make worse than rounding */
        if (!s.fits || !(off < 1e-9))
            fail_msg("seed %d, kind %d, cut %d, body %d of mass %g: %g away, distance %.9g and %.9g", m->seed,
                     m->kind, v.cut, v.light, v.mass, off, first.distance, s.distance);
        lw_model_destroy(model);
    }
    return true;
}

static void nothing_but_the_mechanism_matters(void **state) {
    (void)state;
    int open = 0;
    for (int seed = 0; seed < 4; seed++)
        for (int kind = 0; kind < SHAPES; kind++) {
            mechanism m = build(seed, (shape)kind, 1, false);
            open += one_start(&m);
        }
    assert_true(open >= 12); /* the others cannot be closed with the given value, or are determined by it */
}

/* An arm outside of the loop stays where it was drawn, whatever the loop does. */
static void joints_outside_of_loops_stay(void **state) {
    (void)state;
    mechanism m = build(1, PLANAR, 1, true);
    lw_model *model = compile(&m, (variant){.cut = -1});
    assert_non_null(model);
    start s = assembled(&m, model);
    assert_true(s.fits);
    assert_true(s.q[lw_model_joint_info(model, lw_model_joint(model, "arm")).q] == 0);
    lw_model_destroy(model);
}

/* As many values given as there are freedoms: what closes is where the projection leads, on its branch, as it always was. */
static void determined_starts_stay(void **state) {
    (void)state;
    int determined = 0;
    for (int seed = 0; seed < 12; seed++)
        for (int arm = 0; arm < 2; arm++) {
            mechanism m = build(seed, PLANAR, 0, arm);
            int ring = m.joints - arm;
            m = build(seed, PLANAR, ring - 3, arm);
            lw_model *model = compile(&m, (variant){.cut = -1});
            assert_non_null(model);
            start s = assembled(&m, model);
            lw_projection *projection = lw_projection_create(model, LW_HOLD_Q);
            assert_non_null(projection);
            double q[MOST], v[MOST];
            lw_violation left;
            lw_model_initial_state(model, q, v);
            assert_int_equal(lw_project_positions(projection, 0, q, 200, &left, NULL), LW_OK);
            lw_projection_destroy(projection);
            if (s.fits && left.largest < 1e-12 && freedom(model, s.q) == arm) {
                determined++;
                for (int j = 0; j < m.joints; j++) {
                    const lw_joint_info *info = &model->joints[j].info;
                    if (info->cut || strcmp(model->joints[j].name, "arm") == 0) continue;
                    /* rounding of the given value, which Gauss-Newton does not keep to the last digit */
                    assert_true(fabs(s.q[info->q] - q[info->q]) < 1e-10);
                }
            }
            lw_model_destroy(model);
        }
    assert_true(determined >= 12);
}

/* A caller's own position that closes is left alone, also where another one is nearer to the initial coordinates. */
static void own_positions_stay(void **state) {
    (void)state;
    mechanism m = build(2, PLANAR, 1, false);
    lw_model *model = compile(&m, (variant){.cut = -1});
    assert_non_null(model);
    start s = assembled(&m, model);
    lw_projection *projection = lw_projection_create(model, LW_HOLD_Q);
    assert_non_null(projection);
    double q[MOST], again[MOST], v[MOST] = {0};
    lw_violation left;
    memcpy(q, s.q, sizeof q);
    for (int k = 0; k < model->nq; k++) q[k] += 0.05 * (k % 3);
    assert_int_equal(lw_project_positions(projection, 0, q, 200, &left, NULL), LW_OK);
    assert_true(left.largest < 1e-12);
    memcpy(again, q, sizeof q);
    assert_int_equal(lw_assemble(model, 0, again, v, NULL, NULL), LW_OK);
    double away = 0;
    for (int k = 0; k < model->nq; k++) {
        assert_true(fabs(again[k] - q[k]) < 1e-12);
        away = fmax(away, fabs(q[k] - s.q[k]));
    }
    assert_true(away > 1e-3);
    lw_projection_destroy(projection);
    lw_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_but_the_mechanism_matters),
        cmocka_unit_test(joints_outside_of_loops_stay),
        cmocka_unit_test(determined_starts_stay),
        cmocka_unit_test(own_positions_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
