/* random_model.c - seeded random numbers (splitmix64) and random mechanisms.
 */
#include "random_model.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

lw_random random_seed(uint64_t seed) { return (lw_random){seed * 0x9E3779B97F4A7C15u + 1}; }

static uint64_t next(lw_random *random) {
    uint64_t z = (random->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double random_unit(lw_random *random) { return (double)(next(random) >> 11) * 0x1p-53; }
double random_between(lw_random *random, double low, double high) {
    return low + (high - low) * random_unit(random);
}
int random_below(lw_random *random, int count) { return (int)(next(random) % (uint64_t)count); }

void random_direction(lw_random *random, double out[3]) {
    double n;
    do {
        for (int k = 0; k < 3; k++) out[k] = random_between(random, -1, 1);
        n = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2]);
    } while (n > 1 || n < 0.1);
    for (int k = 0; k < 3; k++) out[k] /= n;
}

void random_vector(lw_random *random, int count, double scale, double *out) {
    for (int k = 0; k < count; k++) out[k] = random_between(random, -scale, scale);
}

static void random_quaternion(lw_random *random, double q[4]) {
    double axis[3], half = random_between(random, 0, 3);
    random_direction(random, axis);
    q[0] = cos(half);
    for (int k = 0; k < 3; k++) q[1 + k] = sin(half) * axis[k];
}

/* Inertia of a random solid: diag(b + c, a + c, a + b) turned, which satisfies every rule. */
static void random_inertia(lw_random *random, double inertia[6]) {
    double a[3], x[3], y[3], z[3], n = 0;
    for (int k = 0; k < 3; k++) a[k] = random_between(random, 0.05, 1);
    random_direction(random, x);
    do {
        random_direction(random, y);
        double d = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        for (int k = 0; k < 3; k++) y[k] -= d * x[k];
        n = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
    } while (n < 0.1);
    for (int k = 0; k < 3; k++) y[k] /= n;
    z[0] = x[1] * y[2] - x[2] * y[1], z[1] = x[2] * y[0] - x[0] * y[2], z[2] = x[0] * y[1] - x[1] * y[0];
    double e[3] = {a[1] + a[2], a[0] + a[2], a[0] + a[1]};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        int i = row[k], j = column[k];
        inertia[k] = e[0] * x[i] * x[j] + e[1] * y[i] * y[j] + e[2] * z[i] * z[j];
    }
}

static void random_geometry(lw_random *random, lw_joint_type type, bool along_coordinates,
                            lw_joint_geometry *g) {
    random_vector(random, 3, 1, g->point);
    for (int k = 0; k < 3; k++) random_direction(random, g->axes[k]);
    double *a = g->axes[0], *b = g->axes[1], *c = g->axes[2], d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    for (int k = 0; k < 3; k++) b[k] -= d * a[k]; /* perpendicular; c independent of both */
    if (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] < 0.01) {
        b[0] = -a[1] + a[2], b[1] = a[0] + a[2],
        b[2] = -a[0] - a[1]; /* a x (1, -1, 1)-like: never parallel to a */
        d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        for (int k = 0; k < 3; k++) b[k] -= d * a[k];
    }
    for (int k = 0; k < 3; k++) c[k] = 0.5 * c[k] + 0.3 * a[k];
    double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    for (int k = 0; k < 3; k++) c[k] += n[k];
    if (along_coordinates) { /* a signed permutation of x, y, z */
        int first = random_below(random, 3);
        for (int k = 0; k < 3; k++) {
            double sign = random_below(random, 2) ? 1 : -1;
            for (int i = 0; i < 3; i++) g->axes[k][i] = i == (first + k) % 3 ? sign : 0;
        }
    }
    switch (type) {
    case LW_JOINT_TRANSLATION:
        g->axis_count = 1 + random_below(random, 3);
        break;
    case LW_JOINT_UNIVERSAL:
        g->axis_count = 2;
        break;
    case LW_JOINT_WELD:
    case LW_JOINT_SPHERICAL:
    case LW_JOINT_FREE:
        g->axis_count = random_below(random, 2) ? 2 : 0;
        break;
    default:
        g->axis_count = 1 + random_below(random, 2);
    }
}

static void random_joint(lw_random *random, const random_tree *options, int child, lw_spec *spec) {
    char name[32], bodies[2][32];
    lw_joint_spec joint = {.name = name};
    int parent = random_below(random, child); /* 0 is ground */
    if (random_below(random, 2)) parent = child - 1;
    snprintf(name, sizeof name, "joint%d", child);
    bool reverse = options->reversed && random_below(random, 3) == 0;
    int ids[2] = {parent, child};
    for (int side = 0; side < 2; side++) {
        int id = ids[reverse ? 1 - side : side];
        if (id == 0)
            strcpy(bodies[side], "ground");
        else
            snprintf(bodies[side], sizeof bodies[side], "body%d", id);
        joint.bodies[side] = bodies[side];
    }
    joint.type = options->joint >= 0 ? (lw_joint_type)options->joint
                                     : (lw_joint_type)random_below(random, LW_JOINT_TYPES);
    joint.frame = random_below(random, 2) && !options->aligned ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
    random_geometry(random, joint.type, options->aligned, &joint.geometry[0]);
    random_geometry(random, joint.type, options->aligned, &joint.geometry[1]);
    joint.geometry[1].axis_count = joint.geometry[0].axis_count;
    joint.lead = random_between(random, -1, 1);
    int nv = lw_joint_type_v(joint.type, joint.geometry[0].axis_count);
    static char motions[LW_JOINT_MAX_V][64];
    if (options->prescribed && random_below(random, 3) == 0)
        for (int k = 0; k < nv; k++) {
            bool angle = joint.type == LW_JOINT_SPHERICAL || (joint.type == LW_JOINT_FREE && k >= 3);
            if (!angle && random_below(random, 2)) continue; /* Cardan angles all or none */
            snprintf(motions[k], sizeof motions[k], "%.3f*sin(%.3f*t + %.3f) + 0.1*t",
                     random_between(random, -1, 1), random_between(random, 0.5, 2),
                     random_between(random, -1, 1));
            joint.motion[k] = motions[k];
        }
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
}

/* The k-th speed of the tree's joints that an element may act on: returns false for joints without one. */
static bool random_coordinate(lw_random *random, lw_spec *spec, bool needs_angle, const char **joint,
                              int *coordinate) {
    for (int tries = 0; tries < 20; tries++) {
        lw_joint_spec *chosen =
            lw_spec_joint(spec, (size_t)random_below(random, (int)lw_spec_joint_count(spec)));
        int nv = lw_joint_type_v(chosen->type, chosen->geometry[0].axis_count);
        if (nv == 0) continue;
        *coordinate = random_below(random, nv);
        if (needs_angle &&
            (chosen->type == LW_JOINT_SPHERICAL || (chosen->type == LW_JOINT_FREE && *coordinate >= 3)))
            continue;
        *joint = chosen->name;
        return true;
    }
    return false;
}

/* Contacts, which begin and end, have a test of their own. */
enum { ORDINARY = LW_FORCE_CONTACT };

static void random_forces(lw_random *random, lw_spec *spec) {
    int bodies = (int)lw_spec_body_count(spec);
    static const double table_x[] = {-1, 0, 1, 3}, table_y[] = {-2, 0, 1, 7};
    for (int k = 0; k < 2 * ORDINARY; k++) {
        char name[32], first[32], second[32];
        snprintf(name, sizeof name, "force%d", k);
        lw_force_spec force = {
            .name = name, .type = (lw_force_type)(k % ORDINARY), .bodies = {first, second}};
        int a = random_below(random, bodies + 1), b = random_below(random, bodies + 1);
        if (a == b) a = (b + 1) % (bodies + 1);
        snprintf(first, sizeof first, a ? "body%d" : "ground", a);
        snprintf(second, sizeof second, b ? "body%d" : "ground", b);
        force.frame = random_below(random, 2) ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
        random_vector(random, 6, 1, force.points[0]);
        random_quaternion(random, force.rotation);
        force.stiffness = random_between(random, 0, 10);
        force.damping = random_between(random, 0, 2);
        force.free_length = random_between(random, 0, 1);
        force.has_free_length = random_below(random, 2);
        switch (random_below(random, 4)) {
        case 0:
            force.law.expression = "3*x^3 + sin(x)";
            break;
        case 1:
            force.law.expression = "2*x*v + 0.1*sin(t)";
            break;
        case 2:
            force.law =
                (lw_law_spec){.table_size = 4, .table_x = table_x, .table_y = table_y, .smooth = true};
            break;
        default:
            break;
        }
        random_vector(random, 6, 5, force.bushing_stiffness);
        for (int i = 0; i < 6; i++) {
            force.bushing_stiffness[i] = fabs(force.bushing_stiffness[i]);
            force.bushing_damping[i] = random_between(random, 0, 1);
        }
        force.force[0] = "2*sin(3*t)", force.force[2] = "1 + t", force.torque[1] = "0.5*cos(t)";
        force.follows_body = random_below(random, 2);
        force.drive = "0.3*cos(2*t) - 0.2*v";
        force.viscous = 0.4, force.coulomb = 0.3, force.smoothing = 0.5;
        bool in_joint =
            force.type == LW_FORCE_TORSION || force.type == LW_FORCE_DRIVE || force.type == LW_FORCE_FRICTION;
        if (in_joint &&
            !random_coordinate(random, spec, force.type == LW_FORCE_TORSION, &force.joint, &force.coordinate))
            continue;
        assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
    }
}

lw_spec *random_tree_spec(lw_random *random, const random_tree *options) {
    lw_spec *spec = lw_spec_create("random tree");
    double gravity[3];
    random_vector(random, 3, 10, gravity);
    lw_spec_set_gravity(spec, gravity);
    for (int i = 1; i <= options->bodies; i++) {
        char name[32];
        lw_body_spec body = {.name = name, .mass = random_between(random, 0.2, 3)};
        snprintf(name, sizeof name, "body%d", i);
        random_vector(random, 3, 0.5, body.com);
        random_inertia(random, body.inertia);
        body.has_pose = random_below(random, 2) && !options->aligned;
        random_vector(random, 3, 1, body.position);
        random_quaternion(random, body.rotation);
        assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
        random_joint(random, options, i, spec);
    }
    if (options->forces) random_forces(random, spec);
    return spec;
}

lw_model *compile_or_fail(lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_status status = lw_model_compile(spec, NULL, report, &model);
    if (status != LW_OK) {
        for (size_t k = 0; k < lw_report_size(report); k++) {
            char text[1200];
            lw_error_format(lw_report_get(report, k), text, sizeof text);
            print_error("%s\n", text);
        }
        fail_msg("the model does not compile");
    }
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return model;
}

lw_model *random_tree_model(lw_random *random, const random_tree *options) {
    return compile_or_fail(random_tree_spec(random, options));
}

void random_state(lw_random *random, const lw_model *model, double *q, double *v) {
    random_vector(random, lw_model_q_size(model), 2, q);
    random_vector(random, lw_model_v_size(model), 1.5, v);
    lw_normalise_q(model, q);
}

double relative_difference(const double *a, const double *b, int count) {
    double worst = 0, scale = 1;
    for (int k = 0; k < count; k++) {
        double d = fabs(a[k] - b[k]);
        if (isnan(d)) return NAN;
        worst = fmax(worst, d);
        scale = fmax(scale, fabs(a[k]));
    }
    return worst / scale;
}
