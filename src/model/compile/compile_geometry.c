/* compile_geometry.c - from points and axes of the user to frames: the reference configuration, and the frame
 * of every joint on both its bodies.
 *
 * Reference configuration. The pose of a body is the one that the user gave. Otherwise, if a joint given in
 * body frames connects the body to one whose pose is known, the pose follows from this joint at q = 0.
 * Otherwise the body's frame is that of the world, and the poses of its neighbours follow from the joints.
 *
 * A frame that stands for a body on the side of a joint takes the place of the body's frame: what the joint
 * gives in body frames is given in it, and its pose in the world is that of the body composed with its own.
 *
 * Cost     O(n + joints).
 */
#include "model/compile/compile.h"

#include <string.h>

/* --- joint frames --------------------------------------------------------------------------------- */

void lw_unit(const double a[3], double out[3]) {
    /* Dividing by the largest component first keeps the squares from over- and underflow. */
    double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    for (int k = 0; k < 3; k++) out[k] = a[k] / largest;
    double n = lw_v3_norm(out);
    for (int k = 0; k < 3; k++) out[k] /= n;
}

/* Computes the unit vector along the part of a that is perpendicular to the unit vector z; returns false if
 * this part is zero. */
static bool perpendicular_part(const double a[3], const double z[3], double out[3]) {
    lw_v3_copy(a, out);
    lw_v3_axpy(-lw_v3_dot(a, z), z, out);
    double n = lw_v3_norm(out);
    if (!(n > 1e-9 * lw_v3_norm(a))) return false;
    for (int k = 0; k < 3; k++) out[k] /= n;
    return true;
}

/* Computes the axes of a joint frame from the user's axes, in the same coordinates; x_hint (may be NULL) is
 * the x direction where the user has not given one. */
static void frame_axes(lw_joint_type type, const lw_joint_geometry *geometry, const double *x_hint,
                       double R[9]) {
    double z[3], x[3];
    lw_frame_rule rule = lw_joint_describe(type)->frame;
    if (rule == LW_FRAME_OF_BODY || geometry->axis_count == 0) {
        lw_m3_identity(R);
        return;
    }
    if (rule == LW_FRAME_X_Y) {
        double y[3];
        lw_unit(geometry->axes[0], x);
        if (!perpendicular_part(geometry->axes[1], x, y)) lw_v3_perpendicular(x, y);
        lw_v3_cross(x, y, z);
    } else {
        lw_unit(geometry->axes[0], z);
        bool found = geometry->axis_count > 1 && perpendicular_part(geometry->axes[1], z, x);
        if (!found && x_hint) found = perpendicular_part(x_hint, z, x);
        if (!found) lw_v3_perpendicular(z, x);
    }
    lw_rot_columns_zx(z, x, R);
}

/* Composes a pose on one side of a joint with the frame that stands for the body there. */
static void mount(const lw_joint_draft *draft, int side, lw_pose *pose) {
    const lw_pose *frame = draft->mounts[side], own = *pose;
    if (frame) lw_pose_compose(frame->R, frame->p, own.R, own.p, pose->R, pose->p);
}

/* The pose in the reference configuration of what the joint names on one side: a body, or a frame on one. */
static lw_pose side_pose(const lw_compiler *compiler, const lw_joint_draft *draft, int side) {
    const lw_pose *body = &compiler->reference[draft->bodies[side]], *frame = draft->mounts[side];
    lw_pose pose = *body;
    if (frame) lw_pose_compose(body->R, body->p, frame->R, frame->p, pose.R, pose.p);
    return pose;
}

/* Is the point of the joint on each side the origin of a frame? */
static bool between_frames(const lw_joint_spec *spec, const lw_joint_draft *draft) {
    return spec->frame == LW_GEOMETRY_WORLD && spec->at_frames && draft->mounts[0] && draft->mounts[1];
}

/* The frames of a joint whose geometry is given in the world. */
static void frames_from_world(const lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft) {
    lw_pose world, inverse;
    frame_axes(spec->type, &spec->geometry[0], NULL, world.R);
    lw_v3_copy(spec->geometry[0].point, world.p);
    if (spec->at_frames) {
        const lw_pose frame = side_pose(compiler, draft, draft->mounts[0] ? 0 : 1);
        lw_v3_copy(frame.p, world.p);
    }
    for (int side = 0; side < 2; side++) {
        const lw_pose *body = &compiler->reference[draft->bodies[side]];
        lw_pose *own = &draft->frames[side];
        lw_pose_invert(body->R, body->p, inverse.R, inverse.p);
        lw_pose_compose(inverse.R, inverse.p, world.R, world.p, own->R, own->p);
        if (spec->at_frames && draft->mounts[side]) lw_v3_copy(draft->mounts[side]->p, own->p);
    }
}

/* Computes the frames of a joint on both bodies, in the user's frames of the bodies. */
static void joint_frames(const lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft) {
    if (spec->frame == LW_GEOMETRY_WORLD) {
        frames_from_world(compiler, spec, draft);
        return;
    }
    const lw_pose first = side_pose(compiler, draft, 0), second = side_pose(compiler, draft, 1);
    const lw_pose *a = &first, *b = &second;
    /* The joint is given in body frames. If both poses are explicit, a direction that the user has not given
     * on the second body coincides with that on the first in the reference configuration; otherwise it
     * coincides when the axes of the bodies do. */
    bool aligned = compiler->posed[draft->bodies[0]] && compiler->posed[draft->bodies[1]];
    lw_joint_type type = spec->type;
    frame_axes(type, &spec->geometry[0], NULL, draft->frames[0].R);
    lw_v3_copy(spec->geometry[0].point, draft->frames[0].p);
    lw_v3_copy(spec->geometry[1].point, draft->frames[1].p);
    double world[9], seen[9];
    lw_m3_mul(a->R, draft->frames[0].R, world);
    lw_m3_tmul(b->R, world, seen); /* axes of the first frame in the second body, reference configuration */
    const double x[3] = {seen[0], seen[3], seen[6]};
    bool open = lw_joint_describe(type)->frame == LW_FRAME_OF_BODY ||
                (spec->geometry[1].axis_count == 0 && draft->joint.nv == 0);
    if (aligned && open)
        memcpy(draft->frames[1].R, seen, sizeof seen);
    else
        frame_axes(type, &spec->geometry[1], aligned ? x : NULL, draft->frames[1].R);
    for (int side = 0; side < 2; side++) mount(draft, side, &draft->frames[side]);
}

/* Warns of a joint in body frames whose zero angle is not defined: one axis on each side, and no x
 * direction. */
static void warn_of_open_angle(lw_compiler *compiler, const lw_joint_spec *spec,
                               const lw_joint_draft *draft) {
    const lw_joint_geometry *g = spec->geometry;
    double a[3], b[3];
    if (spec->frame != LW_GEOMETRY_BODY || lw_joint_describe(spec->type)->frame == LW_FRAME_OF_BODY ||
        g[0].axis_count != 1 || g[1].axis_count != 1 ||
        (compiler->posed[draft->bodies[0]] && compiler->posed[draft->bodies[1]]))
        return;
    lw_unit(g[0].axes[0], a);
    lw_unit(g[1].axes[0], b);
    lw_v3_sub(a, b, a);
    if (lw_v3_norm(a) > 1e-9)
        lw_compile_warning(
            compiler, "joint", spec->name, spec->place,
            "give x, a direction across the axis, on both sides, or poses to both bodies",
            "its axis has other components on the second body than on the first, so where its angle is "
            "zero is arbitrary");
}

/* Warns if the explicit poses of two bodies contradict a joint in body frames between them. */
static void compare_with_poses(lw_compiler *compiler, const lw_joint_spec *spec,
                               const lw_joint_draft *draft) {
    if (spec->frame != LW_GEOMETRY_BODY && !between_frames(spec, draft)) return;
    if (!lw_joint_keeps_point(spec->type)) return;
    double ends[2][3], size = 1;
    for (int side = 0; side < 2; side++) {
        if (!compiler->posed[draft->bodies[side]]) return;
        const lw_pose *pose = &compiler->reference[draft->bodies[side]];
        lw_pose_point(pose->R, pose->p, draft->frames[side].p, ends[side]);
        size = fmax(size, lw_v3_norm(ends[side]));
    }
    lw_v3_sub(ends[1], ends[0], ends[0]);
    double gap = lw_v3_norm(ends[0]);
    if (gap > 1e-6 * size)
        lw_compile_warning(compiler, "joint", spec->name, spec->place,
                           "correct a pose or a point; the run starts where the joint says",
                           "its points on the two bodies are %.6g m apart in the poses given to them", gap);
}

/* Composes a frame with the inverse of the joint's motion at coordinates z, or with the motion itself. */
static void shift_frame(const lw_joint *joint, const double *z, bool inverse, lw_pose *frame) {
    lw_pose moved, by;
    double S[6 * LW_JOINT_MAX_V];
    lw_joint_motion(joint, z, NULL, moved.R, moved.p, S, NULL);
    by = moved;
    if (inverse) lw_pose_invert(moved.R, moved.p, by.R, by.p);
    lw_pose_compose(frame->R, frame->p, by.R, by.p, moved.R, moved.p);
    *frame = moved;
}

/* The joint's coordinates are `zero` where its frames coincide, so that its motion is T(q - zero). With T =
 * slides, then turns, this is
 *     T(q - zero) = T(slides of zero)^-1 T(q) T(last turn of zero)^-1,
 * since slides commute; without slides the first turn goes where slides go. Moved into the frames
 * on both bodies it costs nothing. A screw's turn commutes with itself and goes there too, so that the
 * joint's point on the second body, where reactions are given, stays. */
static void move_zero(const lw_joint_spec *spec, lw_joint_draft *draft) {
    const lw_joint_descriptor *about = lw_joint_describe(spec->type);
    const lw_joint *joint = &draft->joint;
    double first[LW_JOINT_MAX_Q] = {0}, last[LW_JOINT_MAX_Q] = {0};
    bool moves_first = false, moves_last = false;
    if (about->ball) return;
    for (int k = 0; k < joint->nv; k++) {
        bool at_end = k == joint->nv - 1 && about->turns > 0 && !about->screws;
        if (spec->zero[k] == 0) continue;
        if (!spec->has_q) draft->q[k] = spec->zero[k];
        *(at_end ? &last[k] : &first[k]) = spec->zero[k];
        *(at_end ? &moves_last : &moves_first) = true;
    }
    if (moves_first) shift_frame(joint, first, true, &draft->frames[0]);
    if (moves_last) shift_frame(joint, last, false, &draft->frames[1]);
}

lw_status lw_compile_draft(lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft) {
    lw_joint *joint = &draft->joint;
    joint->type = spec->type;
    joint->kernel = lw_joint_describe(spec->type)->kernel;
    joint->pitch = spec->lead / (2 * LW_PI);
    joint->nq = lw_joint_type_q(spec->type, spec->geometry[0].axis_count);
    joint->nv = lw_joint_type_v(spec->type, spec->geometry[0].axis_count);
    joint_frames(compiler, spec, draft);
    joint->axis = 2; /* z of the joint's frame */
    joint->sign = 1;
    if (lw_joint_describe(spec->type)->axes_are_slides) {
        double *axes = LW_NEW(compiler->model->arena, double, 9);
        if (!axes) return LW_ERROR_MEMORY;
        for (int k = 0; k < joint->nv; k++) lw_unit(spec->geometry[0].axes[k], axes + 3 * k);
        joint->axes = axes;
    }
    lw_joint_zero(spec->type, draft->q);
    if (spec->has_q) {
        for (int k = 0; k < joint->nq; k++) draft->q[k] = spec->q[k];
    } else if (lw_joint_quaternion(spec->type) >= 0 &&
               spec->frame == LW_GEOMETRY_BODY) { /* The poses give the initial q. */
        lw_pose first, second, inverse, relative;
        const lw_pose *a = &compiler->reference[draft->bodies[0]],
                      *b = &compiler->reference[draft->bodies[1]];
        lw_pose_compose(a->R, a->p, draft->frames[0].R, draft->frames[0].p, first.R, first.p);
        lw_pose_compose(b->R, b->p, draft->frames[1].R, draft->frames[1].p, second.R, second.p);
        lw_pose_invert(first.R, first.p, inverse.R, inverse.p);
        lw_pose_compose(inverse.R, inverse.p, second.R, second.p, relative.R, relative.p);
        if (lw_joint_is_free(spec->type)) lw_v3_copy(relative.p, draft->q);
        lw_quat_rot(relative.R, draft->q + lw_joint_quaternion(spec->type));
    }
    compare_with_poses(compiler, spec, draft);
    warn_of_open_angle(compiler, spec, draft);
    int at = lw_joint_quaternion(spec->type);
    if (at >= 0) lw_quat_normalise(draft->q + at);
    move_zero(spec, draft);
    if (spec->has_v)
        for (int k = 0; k < joint->nv; k++) draft->v[k] = spec->v[k];
    for (int k = 0; k < joint->nv; k++)
        if (spec->motion[k]) draft->prescribed |= 1u << k;
    return LW_OK;
}

/* --- reference configuration ---------------------------------------------------------------------- */

/* Computes the pose of the second body of a body-frame joint at q = 0 from that of the first, or that of the
 * first from the second. Across a joint at two frames, these lie on each other. */
static void pose_across(const lw_compiler *compiler, int joint, int from_side, lw_pose *to) {
    const lw_joint_spec *spec = &compiler->spec->joints[joint];
    const lw_joint_geometry *g = spec->geometry;
    const lw_joint_draft *draft = &compiler->drafts[joint];
    const lw_pose *from = &compiler->reference[compiler->drafts[joint].bodies[from_side]];
    int other = 1 - from_side;
    lw_pose near, far, inverse, world;
    if (between_frames(spec, draft)) {
        near = *draft->mounts[from_side], far = *draft->mounts[other];
    } else {
        frame_axes(spec->type, &g[from_side], NULL, near.R);
        frame_axes(spec->type, &g[other], NULL, far.R);
        lw_v3_copy(g[from_side].point, near.p);
        lw_v3_copy(g[other].point, far.p);
        mount(draft, from_side, &near);
        mount(draft, other, &far);
    }
    lw_pose_compose(from->R, from->p, near.R, near.p, world.R, world.p);
    lw_pose_invert(far.R, far.p, inverse.R, inverse.p);
    lw_pose_compose(world.R, world.p, inverse.R, inverse.p, to->R, to->p);
}

/* Returns whether the pose of one body of the joint determines the pose of the other at q = 0. */
static bool leads_on(const lw_compiler *compiler, int joint) {
    const lw_joint_spec *spec = &compiler->spec->joints[joint];
    const lw_joint_draft *draft = &compiler->drafts[joint];
    return draft->usable && !lw_joint_is_free(spec->type) &&
           (spec->frame == LW_GEOMETRY_BODY || between_frames(spec, draft));
}

/* The search for reference poses: from bodies that have one, across joints, to their neighbours. */
typedef struct search {
    bool *known;      /* body -> its pose is given, derived or assumed */
    bool *in_world;   /* body -> some joint of it is given in the world */
    int *queue, tail; /* known bodies, in the order in which their poses became known */
    int *start, *at;  /* joints of body i that determine poses: at[start[i]] .. at[start[i + 1] - 1] */
} search;

static lw_status search_create(const lw_compiler *compiler, search *s) {
    int nb = (int)compiler->spec->body_count, nj = (int)compiler->spec->joint_count;
    *s = (search){.known = LW_NEW(compiler->scratch, bool, nb + 1),
                  .in_world = LW_NEW(compiler->scratch, bool, nb + 1),
                  .queue = LW_NEW(compiler->scratch, int, nb + 1),
                  .start = LW_NEW(compiler->scratch, int, nb + 2),
                  .at = LW_NEW(compiler->scratch, int, 2 * nj + 1)};
    return lw_arena_failed(compiler->scratch) ? LW_ERROR_MEMORY : LW_OK;
}

static void find_out(search *s, int body) {
    s->known[body] = true;
    s->queue[s->tail++] = body;
}

/* Starts the search with ground and the bodies whose poses the user gives. */
static void take_given_poses(lw_compiler *compiler, search *s) {
    for (int i = 0; i <= (int)compiler->spec->body_count; i++) {
        const lw_body_spec *body = i > 0 ? &compiler->spec->bodies[i - 1] : NULL;
        lw_pose *pose = &compiler->reference[i];
        lw_m3_identity(pose->R);
        compiler->posed[i] = !body || body->has_pose;
        if (!compiler->posed[i]) continue;
        find_out(s, i);
        if (!body) continue;
        double q[4];
        memcpy(q, body->rotation, sizeof q);
        lw_quat_normalise(q);
        lw_rot_quat(q, pose->R);
        lw_v3_copy(body->position, pose->p);
    }
}

static void sort_joints(const lw_compiler *compiler, search *s) {
    const lw_spec *spec = compiler->spec;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && leads_on(compiler, j); side++)
            s->start[compiler->drafts[j].bodies[side]]++;
    for (int i = 1; i <= nb; i++) s->start[i] += s->start[i - 1];
    s->start[nb + 1] = s->start[nb];
    for (int j = nj - 1; j >= 0; j--)
        for (int side = 0; side < 2 && leads_on(compiler, j); side++)
            s->at[--s->start[compiler->drafts[j].bodies[side]]] = j;
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && compiler->drafts[j].usable; side++)
            if (spec->joints[j].frame == LW_GEOMETRY_WORLD && !leads_on(compiler, j))
                s->in_world[compiler->drafts[j].bodies[side]] = true;
}

lw_status lw_compile_reference(lw_compiler *compiler) {
    int nb = (int)compiler->spec->body_count;
    search s;
    if (search_create(compiler, &s) != LW_OK) return LW_ERROR_MEMORY;
    take_given_poses(compiler, &s);
    sort_joints(compiler, &s);
    /* Poses spread from the given ones across joints. When no body can be reached any more, a body is given
     * the frame of the world: first those that have a joint given in the world, then any other. */
    for (int head = 0, pass = 0, next = 1;; head++) {
        for (; head == s.tail && pass < 2; next = 1, pass++)
            for (; head == s.tail && next <= nb; next++)
                if (!s.known[next] && (pass == 1 || s.in_world[next])) find_out(&s, next);
        if (head == s.tail) break;
        int body = s.queue[head];
        for (int k = s.start[body]; k < s.start[body + 1]; k++) {
            int joint = s.at[k], side = compiler->drafts[joint].bodies[0] == body ? 0 : 1;
            int other = compiler->drafts[joint].bodies[1 - side];
            if (s.known[other]) continue;
            pose_across(compiler, joint, side, &compiler->reference[other]);
            find_out(&s, other);
        }
    }
    return LW_OK;
}
