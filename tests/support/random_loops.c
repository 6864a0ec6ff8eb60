/* random_loops.c - random mechanisms with closed loops (random_loops.h).
 *
 * A random tree of random_model.c gives bodies, topology, joint types and force elements; here its bodies get poses and
 * its joints frames, and closures and constraints are added.
 *
 * Mobility: a loop with fewer freedoms than rows is stuck. Closures are chosen so that the tree joints under them keep
 * freedoms in excess of all rows over them, in 6 dimensions, or in 3 for planar and spherical mechanisms; one in twelve is
 * taken as it comes. Prescribed joints count as having no freedom, so that their motion is possible.
 */
#include "random_loops.h"
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

static const char *const body_names[LOOP_BODIES + 1] = {"ground", "body1", "body2", "body3", "body4", "body5",
                                                        "body6",  "body7", "body8", "body9", "body10"};

const char *loop_kind_name(loop_kind kind) {
    static const char *const names[LOOP_KINDS] = {"single",  "coupled", "planar",  "spherical",
                                                  "doubled", "cranks",  "bennett", "constrained"};
    return names[kind];
}

const char *loop_base_name(loop_base base) {
    static const char *const names[LOOP_BASES] = {"fixed", "moving", "flying"};
    return names[base];
}

static int body_number(const char *name) {
    for (int i = 0; i <= LOOP_BODIES; i++)
        if (strcmp(name, body_names[i]) == 0) return i;
    fail_msg("no body %s", name);
    return -1;
}

/* --- places --------------------------------------------------------------------------------------- */

static void random_rotation(lw_random *random, double R[9]) {
    double axis[3];
    random_direction(random, axis);
    lw_rot_axis(axis, random_between(random, 0, 3), R);
}

static lw_pose random_pose(lw_random *random) {
    lw_pose pose;
    random_rotation(random, pose.R);
    random_vector(random, 3, 1, pose.p);
    return pose;
}

/* Unit vector across n. */
static void random_across(lw_random *random, const double n[3], double out[3]) {
    double any[3];
    do {
        random_direction(random, any);
        lw_v3_cross(n, any, out);
    } while (lw_v3_norm(out) < 0.1);
    double length = lw_v3_norm(out);
    for (int k = 0; k < 3; k++) out[k] /= length;
}

/* A pose at p with z along it and x in any direction across. */
static lw_pose pose_along(lw_random *random, const double z[3], const double p[3]) {
    lw_pose pose;
    double x[3];
    random_across(random, z, x);
    lw_rot_columns_zx(z, x, pose.R);
    lw_v3_copy(p, pose.p);
    return pose;
}

static void column(const double R[9], int k, double out[3]) {
    out[0] = R[k], out[1] = R[3 + k], out[2] = R[6 + k];
}

/* A joint's geometry seen from a frame: from the world, or from a body in its pose. */
static lw_joint_geometry seen_from(const lw_pose *viewer, lw_joint_type type, const lw_pose *frame,
                                   const double *axes, int axis_count) {
    lw_joint_geometry g = {.axis_count = axis_count};
    double arm[3], direction[3];
    lw_v3_sub(frame->p, viewer->p, arm);
    lw_m3_tmul_v(viewer->R, arm, g.point);
    for (int k = 0; k < (type == LW_JOINT_TRANSLATION ? axis_count : 2); k++) {
        if (type == LW_JOINT_TRANSLATION)
            lw_v3_copy(axes + 3 * k, direction);
        else if (type == LW_JOINT_UNIVERSAL)
            column(frame->R, k, direction); /* x, y */
        else
            column(frame->R, k == 0 ? 2 : 0, direction); /* z, x */
        lw_m3_tmul_v(viewer->R, direction, g.axes[k]);
    }
    return g;
}

static void random_coordinates(lw_random *random, lw_joint_type type, double *q) {
    lw_joint_zero(type, q);
    int at = lw_joint_quaternion(type), nv = lw_joint_type_v(type, 3);
    for (int k = 0; k < nv; k++)
        if (at < 0 || k < at)
            q[k] = random_between(random, -1, 1) * (lw_joint_speed_turns(type, k) ? 1.5 : 0.5);
    if (at < 0) return;
    double R[9];
    random_rotation(random, R);
    lw_quat_rot(R, q + at);
}

/* Gives joint j its type and its frames: `frame` on the first body, and on the second what coordinates q make of it.
 * axes: of translations, in the world. */
static void set_joint(random_loops *l, int j, lw_joint_type type, lw_pose frame, const double *axes,
                      int axis_count, const double *q) {
    static const lw_pose world = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)j);
    const lw_pose *first = &l->pose[body_number(joint->bodies[0])],
                  *second = &l->pose[body_number(joint->bodies[1])];
    double zero[LW_JOINT_MAX_Q], local[9], S[36], bias[6];
    lw_pose motion, moved;
    joint->type = type;
    lw_joint_zero(type, zero);
    bool in_world = !q;
    if (!q) q = zero;
    joint->frame = in_world && random_below(&l->random, 2) ? LW_GEOMETRY_WORLD : LW_GEOMETRY_BODY;
    if (type == LW_JOINT_TRANSLATION) { /* its frame has the axes of the world or of the first body */
        memcpy(frame.R, joint->frame == LW_GEOMETRY_WORLD ? world.R : first->R, sizeof frame.R);
        for (int k = 0; k < axis_count; k++) lw_m3_tmul_v(frame.R, axes + 3 * k, local + 3 * k);
        memcpy(l->axes[j], axes, 3 * (size_t)axis_count * sizeof *axes);
    } else
        axis_count = 2;
    const lw_joint law = {.type = type,
                          .axis = 2,
                          .sign = 1,
                          .pitch = joint->lead / (2 * LW_PI),
                          .axes = local,
                          .nq = lw_joint_type_q(type, axis_count),
                          .nv = lw_joint_type_v(type, axis_count)};
    lw_joint_motion(&law, q, NULL, motion.R, motion.p, S, bias);
    lw_pose_compose(frame.R, frame.p, motion.R, motion.p, moved.R, moved.p);
    if (joint->frame == LW_GEOMETRY_WORLD)
        joint->geometry[0] = joint->geometry[1] = seen_from(&world, type, &frame, axes, axis_count);
    else {
        joint->geometry[0] = seen_from(first, type, &frame, axes, axis_count);
        joint->geometry[1] = seen_from(second, type, &moved, axes, axis_count);
    }
    memcpy(l->q[j], q, sizeof l->q[j]);
    l->frames[j][0] = frame, l->frames[j][1] = moved;
}

/* --- freedoms ------------------------------------------------------------------------------------- */

/* The tree joints between two bodies, one bit each. */
static unsigned path(const random_loops *l, int a, int b) {
    unsigned mask = 0;
    for (; a > 0; a = l->parent[a]) mask ^= 1u << a;
    for (; b > 0; b = l->parent[b]) mask ^= 1u << b;
    return mask;
}

static int freedoms(const random_loops *l, unsigned mask) {
    int sum = 0;
    for (int i = 1; i <= l->bodies; i++)
        if (mask >> i & 1) sum += l->freedom[i - 1];
    return sum;
}

/* Do these joints still move with so many rows more over them? */
static bool leaves_motion(const random_loops *l, unsigned mask, int rows) {
    if (freedoms(l, mask) <= rows) return false;
    for (int k = 0; k < l->closures; k++)
        if (l->mask[k] & mask) mask |= l->mask[k], rows += l->rows[k];
    return freedoms(l, mask) > rows;
}

static void count_closure(random_loops *l, unsigned mask, int rows) {
    assert_true(l->closures < LOOP_CLOSURES);
    l->mask[l->closures] = mask;
    l->rows[l->closures++] = rows;
}

/* Adds a joint between two bodies, without type and frames yet; returns its index. */
static int new_joint(random_loops *l, int a, int b) {
    char name[32];
    bool swap = random_below(&l->random, 3) == 0;
    snprintf(name, sizeof name, "closure%d", l->joints);
    lw_joint_spec joint = {
        .name = name,
        .bodies = {body_names[swap ? b : a], body_names[swap ? a : b]},
        .geometry = {{.axes = {{0, 0, 1}}, .axis_count = 1}, {.axes = {{0, 0, 1}}, .axis_count = 1}},
        .lead = random_between(&l->random, -1, 1),
        .cut = random_below(&l->random, 4) == 0};
    assert_true(l->joints < LOOP_JOINTS);
    assert_int_equal(lw_spec_add_joint(l->spec, &joint), LW_OK);
    return l->joints++;
}

/* Two bodies to join; a mechanism on a base of its own stays off the ground unless it flies. */
static void random_pair(random_loops *l, int *a, int *b) {
    bool ground = l->base == LOOP_FIXED || (l->base == LOOP_FLYING && random_below(&l->random, 4) == 0);
    int low = ground ? 0 : 1;
    do {
        *a = low + random_below(&l->random, l->bodies + 1 - low);
        *b = low + random_below(&l->random, l->bodies + 1 - low);
    } while (*a == *b);
}

/* --- tree ----------------------------------------------------------------------------------------- */

static void random_poses(random_loops *l) {
    l->pose[0] = (lw_pose){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int i = 1; i <= l->bodies; i++) {
        lw_body_spec *body = lw_spec_body(l->spec, (size_t)i - 1);
        l->pose[i] = random_pose(&l->random);
        body->has_pose = true;
        lw_v3_copy(l->pose[i].p, body->position);
        lw_quat_rot(l->pose[i].R, body->rotation);
    }
}

/* Who carries whom, as random_model.c has drawn it; with a base of its own everything hangs on body 1. */
static void take_topology(random_loops *l) {
    for (int i = 1; i <= l->bodies; i++) {
        lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)i - 1);
        int side = body_number(joint->bodies[0]) == i ? 1 : 0;
        l->parent[i] = body_number(joint->bodies[side]);
        if (l->base != LOOP_FIXED && i > 1 && l->parent[i] == 0) {
            joint->bodies[side] = body_names[1];
            l->parent[i] = 1;
        }
    }
}

static void set_parent(random_loops *l, int child, int parent) {
    lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)child - 1);
    int side = body_number(joint->bodies[0]) == child ? 1 : 0;
    joint->bodies[side] = body_names[parent];
    l->parent[child] = parent;
}

static void random_axes(lw_random *random, int count, double axes[9]) {
    double volume = 0, normal[3];
    while (fabs(volume) < 0.3) { /* well apart */
        for (int k = 0; k < 3; k++) random_direction(random, axes + 3 * k);
        lw_v3_cross(axes, axes + 3, normal);
        volume = count < 3 ? lw_v3_norm(normal) : lw_v3_dot(normal, axes + 6);
    }
}

/* A joint of any type anywhere. */
static void set_spatial(random_loops *l, int j, lw_joint_type type, int translations, bool displaced) {
    double q[LW_JOINT_MAX_Q], axes[9];
    random_coordinates(&l->random, type, q);
    random_axes(&l->random, translations, axes);
    set_joint(l, j, type, random_pose(&l->random), axes, translations, displaced ? q : NULL);
}

static int joint_freedom(const random_loops *l, int j) {
    const lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)j);
    return lw_joint_type_v(joint->type, joint->geometry[0].axis_count);
}

static void spatial_joint(random_loops *l, int j) {
    lw_joint_type type = lw_spec_joint(l->spec, (size_t)j)->type; /* as random_model.c has drawn it */
    if (type == LW_JOINT_WELD && random_below(&l->random, 2)) type = LW_JOINT_UNIVERSAL;
    set_spatial(l, j, type, 1 + random_below(&l->random, 3), random_below(&l->random, 2));
    l->freedom[j] = joint_freedom(l, j);
}

/* The joint under body 1: free, or prescribed in whole or in part. */
static void base_joint(random_loops *l) {
    lw_random *random = &l->random;
    lw_joint_spec *joint = lw_spec_joint(l->spec, 0);
    if (l->base == LOOP_FLYING) {
        set_spatial(l, 0, LW_JOINT_FREE, 0, random_below(random, 2));
        l->freedom[0] = 6;
        return;
    }
    lw_joint_type type = (lw_joint_type)(1 + random_below(random, LW_JOINT_TYPES - 1));
    int translations = 1 + random_below(random, 3), nv = lw_joint_type_v(type, translations);
    int at = lw_joint_quaternion(type), prescribed = 0;
    double q[LW_JOINT_MAX_Q], angles[3], axes[9];
    random_coordinates(random, type, q);
    int must = random_below(random, nv);
    for (int k = 0; k < nv; k++) {
        double size = random_between(random, -1, 1), rate = random_between(random, 0.5, 2),
               phase = random_between(random, -1, 1);
        bool rotation = at >= 0 && k >= nv - 3; /* Cardan angles, all or none */
        bool wanted = rotation ? at == 0 || must >= nv - 3 : k == must || random_below(random, 2);
        if (!wanted) continue;
        snprintf(l->motion[k], sizeof l->motion[k], "%.17g*sin(%.17g*t + %.17g) + 0.1*t", size, rate, phase);
        joint->motion[k] = l->motion[k];
        double value = size * sin(rate * l->t + phase) + 0.1 * l->t;
        *(rotation ? &angles[k - nv + 3] : &q[k]) = value;
        prescribed++;
        if (rotation && k == nv - 1) {
            double R1[9], R2[9], R3[9], R12[9], R[9];
            lw_rot_axis((const double[3]){1, 0, 0}, angles[0], R1);
            lw_rot_axis((const double[3]){0, 1, 0}, angles[1], R2);
            lw_rot_axis((const double[3]){0, 0, 1}, angles[2], R3);
            lw_m3_mul(R1, R2, R12), lw_m3_mul(R12, R3, R);
            lw_quat_rot(R, q + at);
        }
    }
    random_axes(random, translations, axes);
    set_joint(l, 0, type, random_pose(random), axes, translations, q);
    l->freedom[0] = nv - prescribed;
}

/* --- kinds ---------------------------------------------------------------------------------------- */

static bool own_base(const random_loops *l, int j) { return j == 0 && l->base != LOOP_FIXED; }

static void spatial_tree(random_loops *l) {
    for (int j = 0; j < l->bodies; j++)
        if (!own_base(l, j)) spatial_joint(l, j);
}

static void spatial_closure(random_loops *l) {
    lw_random *random = &l->random;
    bool any = l->base != LOOP_MOVING && random_below(random, 12) == 0;
    for (int tries = 0; tries < 200; tries++) {
        int a, b;
        random_pair(l, &a, &b);
        int drawn =
            random_below(random, LW_JOINT_TYPES + 1); /* welds twice, for few loops have room for one */
        lw_joint_type type = drawn == LW_JOINT_TYPES ? LW_JOINT_WELD : (lw_joint_type)drawn;
        int translations = 1 + random_below(random, 3), rows = 6 - lw_joint_type_v(type, translations);
        unsigned mask = path(l, a, b);
        if (!any && !leaves_motion(l, mask, rows)) continue;
        set_spatial(l, new_joint(l, a, b), type, translations, random_below(random, 2));
        count_closure(l, mask, rows);
        return;
    }
    int a, b; /* there is no room for more: a joint that asks nothing */
    random_pair(l, &a, &b);
    set_spatial(l, new_joint(l, a, b), LW_JOINT_FREE, 0, true);
}

/* A joint of a planar mechanism with that normal; returns its freedom in the plane. */
static int planar_joint(random_loops *l, int j, const double n[3], bool may_lock) {
    lw_random *random = &l->random;
    double z[3], p[3], q[LW_JOINT_MAX_Q], axes[9];
    lw_joint_type type = LW_JOINT_REVOLUTE;
    int roll = random_below(random, 20);
    if (roll >= 12) type = LW_JOINT_PRISMATIC;
    if (roll >= 16) type = LW_JOINT_TRANSLATION;
    if (roll >= 18) type = LW_JOINT_PLANAR;
    if (roll == 19 && may_lock) type = LW_JOINT_WELD;
    double sign = random_below(random, 2) ? 1 : -1;
    for (int k = 0; k < 3; k++) z[k] = sign * n[k];
    if (type == LW_JOINT_PRISMATIC) random_across(random, n, z);
    random_across(random, n, axes);
    lw_v3_cross(n, axes, axes + 3);
    lw_v3_axpy(0.5, axes, axes + 3);
    for (int k = 3; k < 6; k++) axes[k] /= sqrt(1.25);
    random_vector(random, 3, 1, p);
    random_coordinates(random, type, q);
    set_joint(l, j, type, pose_along(random, z, p), axes, 2, random_below(random, 2) ? q : NULL);
    return joint_freedom(l, j);
}

/* A joint of a spherical mechanism about that centre; returns its freedom about it. */
static int spherical_joint(random_loops *l, int j, const double centre[3]) {
    lw_random *random = &l->random;
    double q[LW_JOINT_MAX_Q];
    lw_joint_type type = LW_JOINT_REVOLUTE;
    int roll = random_below(random, 10);
    if (roll >= 7) type = LW_JOINT_UNIVERSAL;
    if (roll >= 9) type = LW_JOINT_SPHERICAL;
    lw_pose frame = random_pose(random);
    lw_v3_copy(centre, frame.p);
    double z[3];
    column(frame.R, 2, z);
    if (type == LW_JOINT_REVOLUTE) lw_v3_axpy(random_between(random, -1, 1), z, frame.p);
    random_coordinates(random, type, q);
    set_joint(l, j, type, frame, NULL, 0, random_below(random, 2) ? q : NULL);
    return joint_freedom(l, j);
}

/* Planar or spherical: the same, but for the joints. centre is the normal, or the point. */
static void special_mechanism(random_loops *l, bool planar) {
    lw_random *random = &l->random;
    double centre[3];
    if (planar)
        random_direction(random, centre);
    else
        random_vector(random, 3, 1, centre);
    for (int j = 0; j < l->bodies; j++)
        if (!own_base(l, j))
            l->freedom[j] = planar ? planar_joint(l, j, centre, true) : spherical_joint(l, j, centre);
    for (int loops = 1 + random_below(random, 3), tries = 0; loops > 0 && tries < 200; tries++) {
        int a, b, low = l->base == LOOP_FIXED ? 0 : 1;
        a = low + random_below(random, l->bodies + 1 - low);
        b = low + random_below(random, l->bodies + 1 - low);
        if (a == b) continue;
        unsigned mask = path(l, a, b);
        if (tries < 150 && !leaves_motion(l, mask, 2)) continue;
        int j = new_joint(l, a, b);
        int freedom = planar ? planar_joint(l, j, centre, tries >= 150) : spherical_joint(l, j, centre);
        count_closure(l, mask, 3 - freedom);
        loops--;
    }
}

/* A second joint that allows what tree joint j does: beside it, or along its axis. */
static void double_joint(random_loops *l, int j) {
    lw_random *random = &l->random;
    lw_joint_type type = lw_spec_joint(l->spec, (size_t)j)->type;
    int translations = lw_spec_joint(l->spec, (size_t)j)->geometry[0].axis_count;
    double lead = lw_spec_joint(l->spec, (size_t)j)->lead, z[3];
    lw_pose frame = l->frames[j][1];
    int extra = new_joint(l, j + 1, l->parent[j + 1]);
    lw_spec_joint(l->spec, (size_t)extra)->lead = lead;
    column(frame.R, 2, z);
    switch (type) {
    case LW_JOINT_UNIVERSAL: { /* x of the first body, y of the second: its cross as it stands */
        double x[3], y[3];
        const lw_joint_spec *original = lw_spec_joint(l->spec, (size_t)j);
        bool turned = strcmp(original->bodies[0], lw_spec_joint(l->spec, (size_t)extra)->bodies[0]) != 0;
        column(l->frames[j][0].R, 0, x);
        column(frame.R, 1, y);
        lw_v3_cross(turned ? y : x, turned ? x : y, z);
        lw_rot_columns_zx(z, turned ? y : x, frame.R);
        break;
    }
    case LW_JOINT_SPHERICAL: /* at the same point, or at another, which makes a hinge of both */
        if (l->base != LOOP_MOVING && random_below(random, 2)) frame = random_pose(random);
        break;
    case LW_JOINT_PRISMATIC:
    case LW_JOINT_PLANAR:
    case LW_JOINT_TRANSLATION:
    case LW_JOINT_WELD:
        random_vector(random, 3, 1, frame.p);
        if (type != LW_JOINT_WELD) frame = pose_along(random, z, frame.p);
        break;
    default: /* about and along one axis */
        lw_v3_axpy(random_between(random, -1, 1), z, frame.p);
        frame = pose_along(random, z, frame.p);
        if (type == LW_JOINT_REVOLUTE && random_below(random, 4) == 0) type = LW_JOINT_CYLINDRICAL;
    }
    set_joint(l, extra, type, frame, l->axes[j], translations, NULL);
}

static void doubled_mechanism(random_loops *l) {
    spatial_tree(l);
    int first = own_base(l, 0) ? 1 : 0, count = 1 + random_below(&l->random, 2);
    for (int k = 0; k < count; k++) {
        int j = first + random_below(&l->random, l->bodies - first);
        double_joint(l, j);
        if (joint_freedom(l, j) == 3) l->freedom[j] = 1; /* two balls make a hinge */
    }
    if (random_below(&l->random, 2)) spatial_closure(l);
}

/* Cranks carry a platform: the last body. The ground or body 1 carries the cranks. */
static void crank_mechanism(random_loops *l) {
    lw_random *random = &l->random;
    double n[3], crank[3], p[3], q[LW_JOINT_MAX_Q];
    int foot = l->base == LOOP_FIXED ? 0 : 1, platform = l->bodies;
    random_direction(random, n);
    random_across(random, n, crank);
    for (int i = foot + 1; i < platform; i++) set_parent(l, i, foot);
    set_parent(l, platform, foot + 1);
    for (int i = foot + 1; i < platform; i++) {
        random_vector(random, 3, 1, p);
        random_coordinates(random, LW_JOINT_REVOLUTE, q);
        set_joint(l, i - 1, LW_JOINT_REVOLUTE, pose_along(random, n, p), NULL, 0,
                  random_below(random, 2) ? q : NULL);
        l->freedom[i - 1] = 1;
        lw_v3_add(p, crank, p);
        lw_v3_axpy(random_between(random, -0.5, 0.5), n, p);
        int j = i == foot + 1 ? platform - 1 : new_joint(l, i, platform);
        set_joint(l, j, LW_JOINT_REVOLUTE, pose_along(random, n, p), NULL, 0, NULL);
    }
    l->freedom[platform - 1] = 1;
}

/* Bennett's linkage: links (a, alpha), (b, beta), (a, alpha), (b, beta) with a / sin alpha = b / sin beta; and
 * tan(theta_1 / 2) tan(theta_2 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2). */
static void bennett_mechanism(random_loops *l) {
    lw_random *random = &l->random;
    double alpha = random_between(random, 0.4, 0.9), beta = random_between(random, 1.2, 1.8);
    double length[2] = {0.8, 0.8 * sin(beta) / sin(alpha)}, twist[2] = {alpha, beta};
    double theta[2] = {random_between(random, 0.6, 2.2), 0};
    theta[1] = 2 * atan(sin((beta + alpha) / 2) / sin((beta - alpha) / 2) / tan(theta[0] / 2));
    int foot = l->base == LOOP_FIXED ? 0 : 1;
    lw_pose axis = random_pose(random);
    for (int k = 0; k < 4; k++) {
        double q[LW_JOINT_MAX_Q], z[3], p[3], turn[9], x[3];
        int j = foot + k;
        if (k < 3)
            set_parent(l, foot + k + 1, foot + k);
        else
            j = new_joint(l, foot + 3, foot);
        column(axis.R, 2, z);
        lw_v3_copy(axis.p, p);
        lw_v3_axpy(random_between(random, -0.5, 0.5), z, p);
        random_coordinates(random, LW_JOINT_REVOLUTE, q);
        set_joint(l, j, LW_JOINT_REVOLUTE, pose_along(random, z, p), NULL, 0,
                  random_below(random, 2) ? q : NULL);
        /* on to the next axis: turn about z, then along and about the new x */
        lw_pose next;
        lw_rot_axis(z, k < 2 ? theta[k] : -theta[k - 2], turn);
        lw_m3_mul(turn, axis.R, next.R);
        column(next.R, 0, x);
        lw_v3_copy(axis.p, next.p);
        lw_v3_axpy(length[k % 2], x, next.p);
        lw_rot_axis(x, twist[k % 2], turn);
        lw_m3_mul(turn, next.R, axis.R);
        lw_v3_copy(next.p, axis.p);
    }
}

/* --- constraints ---------------------------------------------------------------------------------- */

static void in_body(const lw_pose *pose, const double x[3], double out[3]) {
    double arm[3];
    lw_v3_sub(x, pose->p, arm);
    lw_m3_tmul_v(pose->R, arm, out);
}

static bool add_distance(random_loops *l, int number) {
    char name[32];
    int a, b;
    double ends[2][3], line[3];
    random_pair(l, &a, &b);
    if (!leaves_motion(l, path(l, a, b), 1)) return false;
    snprintf(name, sizeof name, "distance%d", number);
    do {
        random_vector(&l->random, 6, 1, ends[0]);
        lw_v3_sub(ends[1], ends[0], line);
    } while (lw_v3_norm(line) < 0.3); /* a short rod turns fast */
    lw_constraint_spec c = {
        .name = name, .type = LW_CONSTRAINT_DISTANCE, .bodies = {body_names[a], body_names[b]}};
    c.length = lw_v3_norm(line);
    c.frame = random_below(&l->random, 2) ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
    memcpy(c.points, ends, sizeof ends);
    if (c.frame == LW_GEOMETRY_BODY)
        in_body(&l->pose[a], ends[0], c.points[0]), in_body(&l->pose[b], ends[1], c.points[1]);
    assert_int_equal(lw_spec_add_constraint(l->spec, &c), LW_OK);
    count_closure(l, path(l, a, b), 1);
    return true;
}

static bool add_coupling(random_loops *l, int number) {
    char name[32];
    snprintf(name, sizeof name, "coupling%d", number);
    lw_constraint_spec c = {.name = name, .type = LW_CONSTRAINT_COUPLING};
    unsigned mask = 0;
    for (int j = own_base(l, 0) && l->base == LOOP_MOVING ? 1 : 0; j < l->bodies && c.terms < 3; j++) {
        const lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)j);
        int nv = joint_freedom(l, j), k = nv ? random_below(&l->random, nv) : 0;
        if (nv == 0 || lw_joint_coordinate_of_speed(joint->type, k) < 0 || random_below(&l->random, 3) == 0)
            continue;
        c.joints[c.terms] = joint->name;
        c.coordinates[c.terms] = k;
        c.factors[c.terms] = random_between(&l->random, 0.3, 1.5) * (random_below(&l->random, 2) ? 1 : -1);
        c.offset += c.factors[c.terms++] * l->q[j][k];
        mask |= 1u << (j + 1);
    }
    if (c.terms < 2 || !leaves_motion(l, mask, 1)) return false;
    assert_int_equal(lw_spec_add_constraint(l->spec, &c), LW_OK);
    count_closure(l, mask, 1);
    return true;
}

/* A sphere or a disc on a plane: the plane is laid through where it touches. */
static bool add_rolling(random_loops *l, int number) {
    lw_random *random = &l->random;
    char name[32];
    int a, b;
    random_pair(l, &a, &b);
    if (a == 0 || !leaves_motion(l, path(l, a, b), 3)) return false;
    snprintf(name, sizeof name, "rolling%d", number);
    double centre[3], normal[3], axis[3], down[3], touch[3], across[3];
    random_vector(random, 3, 1, centre);
    random_direction(random, normal);
    lw_constraint_spec c = {
        .name = name, .type = LW_CONSTRAINT_ROLLING, .bodies = {body_names[a], body_names[b]}};
    c.radius = random_between(random, 0.2, 0.6);
    c.frame = random_below(random, 2) ? LW_GEOMETRY_BODY : LW_GEOMETRY_WORLD;
    lw_v3_copy(normal, down);
    lw_v3_set(axis, 0, 0, 0);
    if (random_below(random, 2)) { /* a disc: the steepest way down in its plane */
        do random_direction(random, axis);
        while (fabs(lw_v3_dot(axis, normal)) > 0.8);
        lw_v3_axpy(-lw_v3_dot(axis, normal), axis, down);
    }
    double length = lw_v3_norm(down);
    lw_v3_copy(centre, touch);
    lw_v3_axpy(-c.radius / length, down, touch);
    random_across(random, normal, across);
    lw_v3_axpy(random_between(random, -1, 1), across, touch); /* any point of the plane will do */
    lw_v3_copy(centre, c.points[0]), lw_v3_copy(touch, c.points[1]);
    lw_v3_copy(axis, c.axis), lw_v3_copy(normal, c.normal);
    if (c.frame == LW_GEOMETRY_BODY) {
        in_body(&l->pose[a], centre, c.points[0]), in_body(&l->pose[b], touch, c.points[1]);
        lw_m3_tmul_v(l->pose[a].R, axis, c.axis), lw_m3_tmul_v(l->pose[b].R, normal, c.normal);
    }
    assert_int_equal(lw_spec_add_constraint(l->spec, &c), LW_OK);
    count_closure(l, path(l, a, b), 3);
    return true;
}

static void constrained_mechanism(random_loops *l) {
    spatial_tree(l);
    int first = random_below(&l->random, 3), wanted = 1 + random_below(&l->random, 3);
    for (int tries = 0, number = 0; number < wanted && tries < 50; tries++) {
        int type = (first + number) % 3;
        number += type == 0   ? add_rolling(l, number)
                  : type == 1 ? add_distance(l, number)
                              : add_coupling(l, number);
    }
    if (random_below(&l->random, 2)) spatial_closure(l);
}

/* --- the whole ------------------------------------------------------------------------------------ */

/* Elements on joint coordinates were drawn for other types of joints: moves them to coordinates that exist. */
static void repair_forces(random_loops *l) {
    for (size_t k = 0; k < lw_spec_force_count(l->spec); k++) {
        lw_force_spec *force = lw_spec_force(l->spec, k);
        bool torsion = force->type == LW_FORCE_TORSION;
        if (!torsion && force->type != LW_FORCE_DRIVE && force->type != LW_FORCE_FRICTION) continue;
        int start = random_below(&l->random, l->bodies), found = -1;
        for (int i = 0; i < l->bodies && found < 0; i++) {
            int j = (start + i) % l->bodies;
            const lw_joint_spec *joint = lw_spec_joint(l->spec, (size_t)j);
            int nv = joint_freedom(l, j), speed = nv ? random_below(&l->random, nv) : 0;
            if (nv == 0 || (torsion && lw_joint_coordinate_of_speed(joint->type, speed) < 0)) continue;
            found = j;
            force->joint = joint->name;
            force->coordinate = speed;
        }
        if (found < 0) force->type = LW_FORCE_SPRING; /* nothing but balls and welds */
    }
}

void random_loops_build(random_loops *l, int seed) {
    *l = (random_loops){.seed = seed,
                        .kind = (loop_kind)(seed % LOOP_KINDS),
                        .base = (loop_base)(seed / LOOP_KINDS % LOOP_BASES),
                        .random = random_seed((uint64_t)seed + 70000)};
    lw_random *random = &l->random;
    static const int fewest[LOOP_KINDS] = {3, 4, 3, 3, 2, 4, 3, 3},
                     more[LOOP_KINDS] = {5, 5, 6, 5, 5, 3, 1, 5};
    int own = l->base != LOOP_FIXED;
    random_tree options = {.bodies = fewest[l->kind] + random_below(random, more[l->kind]) + own,
                           .forces = seed / (LOOP_KINDS * LOOP_BASES) % 2,
                           .reversed = random_below(random, 2),
                           .joint = -1};
    l->spec = random_tree_spec(random, &options);
    l->bodies = l->joints = options.bodies;
    l->t = random_between(random, 0, 2);
    random_poses(l);
    take_topology(l);
    if (own) base_joint(l);
    switch (l->kind) {
    case LOOP_SINGLE:
        spatial_tree(l);
        spatial_closure(l);
        break;
    case LOOP_COUPLED:
        spatial_tree(l);
        for (int k = 2 + random_below(random, 3); k > 0; k--) spatial_closure(l);
        break;
    case LOOP_PLANAR:
    case LOOP_SPHERICAL:
        special_mechanism(l, l->kind == LOOP_PLANAR);
        break;
    case LOOP_DOUBLED:
        doubled_mechanism(l);
        break;
    case LOOP_CRANKS:
        crank_mechanism(l);
        break;
    case LOOP_BENNETT:
        bennett_mechanism(l);
        break;
    case LOOP_CONSTRAINED:
    case LOOP_KINDS:
        constrained_mechanism(l);
        break;
    }
    if (options.forces) repair_forces(l);
}

void random_loops_configuration(const random_loops *l, const lw_model *model, double *q) {
    for (int j = 0; j < l->joints; j++) lw_put_coordinates(&model->joints[j], l->q[j], q);
}

static void consistent_speeds(random_loops *l, const lw_model *model, lw_projection *projection,
                              const double *q, double *v) {
    lw_violation left = {0};
    lw_error error = {0};
    random_vector(&l->random, lw_model_v_size(model), 1.5, v);
    for (int round = 0; round < 2; round++) /* the second for the rounding of the first */
        if (lw_project_velocities(projection, l->t, q, v, &left, &error) != LW_OK)
            fail_msg("seed %d, %s: %s", l->seed, loop_kind_name(l->kind), error.message);
    if (!(left.largest < 1e-9))
        fail_msg("seed %d, %s: no consistent speeds, %g is left", l->seed, loop_kind_name(l->kind),
                 left.largest);
}

bool random_loops_state(random_loops *l, const lw_model *model, bool move, double *q, double *v) {
    lw_projection *projection = lw_projection_create(model, LW_HOLD_NONE);
    lw_data *data;
    lw_violation left;
    lw_error error;
    bool moved = false;
    size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    double there[7 * LOOP_BODIES];
    assert_non_null(projection);
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    random_loops_configuration(l, model, q);
    consistent_speeds(l, model, projection, q, v);
    if (move) {
        double most = 1;
        for (size_t k = 0; k < nv; k++) most = fmax(most, fabs(v[k]));
        memcpy(there, q, nq * sizeof *q);
        lw_integrate_q(model, there, v, 0.3 / most);
        moved =
            lw_project_positions(projection, l->t, there, 50, &left, &error) == LW_OK && left.largest < 1e-12;
        if (moved) memcpy(q, there, nq * sizeof *q);
        consistent_speeds(l, model, projection, q, v);
    }
    lw_take_state(model, data, l->t, q, v); /* with prescribed values */
    memcpy(q, data->q, nq * sizeof *q);
    memcpy(v, data->v, nv * sizeof *v);
    lw_data_destroy(data);
    lw_projection_destroy(projection);
    return moved;
}
