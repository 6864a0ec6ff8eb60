/* mjcf_springs.c - passive forces of MJCF's joints, and the compensation of weight.
 *
 *   hinge, slide   -(a x + b x^2 + c x^3), x = q - springref, and -(a v + b v |v| + c v^3): torsion, friction
 *   ball           -(a + b |x| + c |x|^2) x with the rotation vector x: a bushing, of a alone
 *   springdamper   time constant T and damping ratio z give, with the joint's inertia I in the drawn
 *                  configuration (the inverse of the mean of the diagonal of M^-1), k = I / (T z)^2 and
 *                  c = 2 I / T
 *   gravcomp       at the body's centre of mass, the weight times -gravcomp
 */
#include "io/import/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

static const char *force_name(mj_reader *reader, const mj_joint *joint, const char *what) {
    char name[200];
    (void)snprintf(name, sizeof name, joint->named ? "%.100s.%s" : "%.100s.%s",
                   joint->named ? joint->name : joint->spec_joint, what);
    return lw_import_own_name(reader->importer, &reader->importer->forces, name);
}

/* Coefficients of a polynomial without its linear term as a law of x; NULL if they are zero. */
static const char *law(mj_reader *reader, const double c[3], const char *square, const char *cube) {
    lw_importer *importer = reader->importer;
    const char *text = NULL;
    if (c[1] != 0) text = lw_import_print(importer, "%s*%s", mj_digits(reader, c[1]), square);
    if (c[2] != 0)
        text = lw_import_print(importer, "%s%s%s*%s", text ? text : "", text ? " + " : "",
                               mj_digits(reader, c[2]), cube);
    return text;
}

/* stiffness and damping from springdamper; false if there is none. */
static bool from_time_constant(mj_reader *reader, mj_joint *joint) {
    const double T = joint->springdamper[0], ratio = joint->springdamper[1];
    const int n = joint->type == MJ_FREE ? 6 : joint->type == MJ_BALL ? 3 : 1;
    double sum = 0;
    if (!(T > 0) || !(ratio > 0)) return false;
    const double *inverse = mj_weights(reader);
    if (!inverse) return false;
    for (int k = 0; k < n; k++) sum += inverse[joint->dof + k];
    if (!(sum > 0)) return false;
    const double inertia = n / sum;
    joint->stiffness[0] = inertia / (T * T * ratio * ratio);
    joint->damping[0] = 2 * inertia / T;
    joint->stiffness[1] = joint->stiffness[2] = joint->damping[1] = joint->damping[2] = 0;
    return true;
}

/* A spring along one coordinate of the spec's joint. */
static void coordinate_spring(mj_reader *reader, const mj_joint *joint, int coordinate, double free) {
    lw_force_spec spring = {.name = force_name(reader, joint, "spring"),
                            .type = LW_FORCE_TORSION,
                            .joint = joint->spec_joint,
                            .coordinate = coordinate,
                            .stiffness = joint->stiffness[0],
                            .free_length = free,
                            .has_free_length = true,
                            .place = joint->node->place};
    spring.law.expression = law(reader, joint->stiffness, "x^2", "x^3");
    lw_import_add_force(reader->importer, &spring);
}

/* The rotation of a ball, or of a free body: a bushing between the frames of the joint. */
static void ball_spring(mj_reader *reader, const mj_joint *joint) {
    const mj_body *body = MJ_BODY(reader, joint->body), *parent = MJ_BODY(reader, body->parent);
    const bool chained = body->joint_count > 1 && joint->spec_type != LW_JOINT_FREE;
    if (joint->stiffness[1] != 0 || joint->stiffness[2] != 0 || chained) {
        lw_import_note_of(reader->importer, joint->node->place,
                          "springs of ball joints beyond the linear ones",
                          "left out: these joints turn without that force");
        return;
    }
    lw_force_spec spring = {.name = force_name(reader, joint, "spring"),
                            .type = LW_FORCE_BUSHING,
                            .bodies = {MJ_BODY(reader, parent->host)->spec_name, body->spec_name},
                            .frame = LW_GEOMETRY_BODY,
                            .place = joint->node->place};
    const lw_pose local = lw_pose_in(&parent->in_host, &body->local);
    lw_pose_point(local.R, local.p, joint->pos, spring.points[0]);
    lw_v3_copy(joint->pos, spring.points[1]);
    lw_quat_rot(local.R, spring.rotation);
    for (int k = 0; k < 3; k++) spring.bushing_stiffness[3 + k] = joint->stiffness[0];
    lw_import_add_force(reader->importer, &spring);
}

static void add_springs(mj_reader *reader, const mj_joint *joint) {
    const double *k = joint->stiffness;
    if (k[0] == 0 && k[1] == 0 && k[2] == 0) return;
    if (joint->type <= MJ_SLIDE) {
        coordinate_spring(reader, joint, joint->coordinate, joint->springref);
        return;
    }
    const mj_body *body = MJ_BODY(reader, joint->body);
    for (int c = 0; joint->type == MJ_FREE && c < 3; c++)
        coordinate_spring(reader, joint, c, body->world.p[c]);
    ball_spring(reader, joint);
}

static void add_dampers(mj_reader *reader, const mj_joint *joint) {
    const int n = joint->type == MJ_FREE ? 6 : joint->type == MJ_BALL ? 3 : 1;
    const double dry = reader->no_frictionloss ? 0 : joint->frictionloss;
    const double viscous = reader->no_damper ? 0 : joint->damping[0];
    for (int k = 0; k < n; k++) {
        lw_import_add_friction(reader->importer, joint->spec_joint, joint->coordinate + k, viscous, dry,
                               joint->node->place);
        const char *more = reader->no_damper ? NULL : law(reader, joint->damping, "v*abs(v)", "v^3");
        if (!more) continue;
        const lw_force_spec drag = {.name = force_name(reader, joint, "drag"),
                                    .type = LW_FORCE_DRIVE,
                                    .joint = joint->spec_joint,
                                    .coordinate = joint->coordinate + k,
                                    .drive = lw_import_print(reader->importer, "-(%s)", more),
                                    .place = joint->node->place};
        lw_import_add_force(reader->importer, &drag);
    }
}

/* A part of the weight of a body that something holds. */
static void compensate(mj_reader *reader, const mj_body *body) {
    lw_importer *importer = reader->importer;
    if (body->gravcomp == 0 || !(body->mass > 0) || body->host == 0 || reader->no_gravcomp) return;
    lw_force_spec lift = {.name = lw_import_own_name(importer, &importer->forces,
                                                     lw_import_print(importer, "%.60s.gravcomp", body->name)),
                          .type = LW_FORCE_APPLIED,
                          .bodies = {MJ_BODY(reader, body->host)->spec_name, LW_GROUND},
                          .frame = LW_GEOMETRY_BODY,
                          .place = body->node->place};
    lw_pose_point(body->in_host.R, body->in_host.p, body->com, lift.points[0]);
    bool any = false;
    for (int k = 0; k < 3; k++) {
        const double force = -body->gravcomp * body->mass * reader->gravity[k];
        if (force == 0) continue;
        lift.force[k] = mj_digits(reader, force);
        any = true;
    }
    if (any) lw_import_add_force(importer, &lift);
}

void mj_make_springs(mj_reader *reader) {
    for (int k = 0; k < reader->joints.count; k++) {
        mj_joint *joint = MJ_JOINT(reader, k);
        (void)from_time_constant(reader, joint);
        if (!reader->no_spring) add_springs(reader, joint);
        add_dampers(reader, joint);
    }
    for (int k = 1; k < reader->bodies.count; k++) compensate(reader, MJ_BODY(reader, k));
}
