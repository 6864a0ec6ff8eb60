/* compile_frames.c - frames: named markers on bodies, and names that mean a body or a frame on one.
 *
 * A frame F on body B has the pose (R_F, p_F) in B's frame. Where it stands for B, a point x and a direction
 * a that are given in F are the point p_F + R_F x and the direction R_F a of B (lw_mount). In the model its
 * pose is that in the internal frame of B, for quantities.
 *
 * Cost     O(frames log frames); a name is found in O(log(bodies + frames)).
 */
#include "model/compile/compile.h"

#include <stdio.h>
#include <string.h>

/* The lowest index of the name among bodies, or among frames. */
static const lw_pose *frame_named(const lw_compiler *compiler, const char *name, int *body) {
    const int index = compiler->spec->frame_count > 0 ? lw_names_find(&compiler->frames, name) : -1;
    if (index < 0) return NULL;
    *body = compiler->frame_bodies[index];
    return &compiler->frame_poses[index];
}

lw_mount lw_find_mount(const lw_compiler *compiler, const char *name) {
    lw_mount mount = {.body = -1, .frame = NULL};
    if (!name) return mount;
    mount.body = lw_names_find(&compiler->bodies, name);
    if (mount.body < 0) mount.frame = frame_named(compiler, name, &mount.body);
    return mount;
}

lw_mount lw_compile_mount(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                          const char *wanted) {
    if (!wanted) wanted = "";
    const lw_mount mount = lw_find_mount(compiler, wanted);
    /* A frame without a body has been reported. */
    if (mount.body >= 0 || mount.frame || compiler->partial) return mount;
    char remedy[160];
    lw_closest_search search = lw_closest_to(wanted);
    for (int k = 0; k < compiler->bodies.count; k++) lw_closest_try(&search, compiler->bodies.names[k]);
    for (int k = 0; k < compiler->frames.count; k++) lw_closest_try(&search, compiler->frames.names[k]);
    if (!lw_did_you_mean(search.name, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "name a body%s of this model",
                 compiler->spec->frame_count > 0 ? " or frame" : "");
    lw_compile_error(compiler, kind, name, place, remedy, "unknown body \"%s\"", wanted);
    return mount;
}

void lw_mount_point(const lw_mount *mount, const double point[3], double out[3]) {
    if (mount->frame)
        lw_pose_point(mount->frame->R, mount->frame->p, point, out);
    else
        lw_v3_copy(point, out);
}

/* --- names and poses ------------------------------------------------------------------------------ */

/* Reports a name that is missing or taken; one that two frames have is reported at the second. */
static void check_name(lw_compiler *compiler, int index) {
    const lw_frame_spec *frame = &compiler->spec->frames[index];
    const char *name = compiler->frames.names[index];
    if (name[0] == '\0')
        lw_compile_error(compiler, "frame", name, frame->place, "give it a name", "has no name");
    else if (strcmp(name, LW_GROUND) == 0)
        lw_compile_error(compiler, "frame", name, frame->place, "choose another name",
                         "the name belongs to ground");
    else if (lw_names_find(&compiler->bodies, name) >= 0)
        lw_compile_error(compiler, "frame", name, frame->place,
                         "rename one of them: both may stand where a body is asked for",
                         "a body has this name, too");
    else if (lw_names_find(&compiler->frames, name) != index)
        lw_compile_error(compiler, "frame", name, frame->place, "rename one of them",
                         "the name is taken twice");
}

/* The body that carries a frame, or -1 after an error. */
static int carrier(lw_compiler *compiler, const lw_frame_spec *frame) {
    const char *wanted = frame->body ? frame->body : "";
    const int body = lw_names_find(&compiler->bodies, wanted);
    if (body >= 0 || compiler->partial) return body;
    char remedy[160];
    const char *closest = lw_closest(wanted, compiler->bodies.names, (size_t)compiler->bodies.count);
    if (!lw_did_you_mean(closest, remedy, sizeof remedy))
        snprintf(remedy, sizeof remedy, "name a body of this model, or ground");
    if (wanted[0] && lw_names_find(&compiler->frames, wanted) >= 0)
        lw_compile_error(compiler, "frame", frame->name, frame->place,
                         "name the body, and give the place in the frame of the body",
                         "a frame is on a body, but \"%s\" is a frame", wanted);
    else
        lw_compile_error(compiler, "frame", frame->name, frame->place, remedy, "unknown body \"%s\"", wanted);
    return -1;
}

static void take_pose(lw_compiler *compiler, const lw_frame_spec *frame, lw_pose *pose) {
    double q[4];
    lw_m3_identity(pose->R);
    lw_v3_set(pose->p, 0, 0, 0);
    if (!lw_finite(frame->position, 3) || !lw_finite(frame->rotation, 4)) {
        lw_compile_error(compiler, "frame", frame->name, frame->place, "give finite numbers",
                         "its position or rotation is not finite");
        return;
    }
    lw_v3_copy(frame->position, pose->p);
    memcpy(q, frame->rotation, sizeof q);
    if (q[0] == 0 && q[1] == 0 && q[2] == 0 && q[3] == 0) return; /* No rotation is given. */
    lw_quat_normalise(q);
    lw_rot_quat(q, pose->R);
}

lw_status lw_compile_frame_names(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    const size_t count = spec->frame_count;
    if (count == 0) return LW_OK;
    compiler->frame_bodies = LW_NEW(compiler->scratch, int, count);
    compiler->frame_poses = LW_NEW(compiler->scratch, lw_pose, count);
    if (lw_arena_failed(compiler->scratch) ||
        lw_names_create(compiler->scratch, (int)count, &compiler->frames) != LW_OK)
        return LW_ERROR_MEMORY;
    for (size_t k = 0; k < count; k++)
        compiler->frames.names[k] = spec->frames[k].name ? spec->frames[k].name : "";
    lw_names_sort(&compiler->frames);
    for (size_t k = 0; k < count; k++) {
        if (!compiler->partial) check_name(compiler, (int)k);
        compiler->frame_bodies[k] = carrier(compiler, &spec->frames[k]);
        take_pose(compiler, &spec->frames[k], &compiler->frame_poses[k]);
    }
    return LW_OK;
}

/* --- the model's frames --------------------------------------------------------------------------- */

lw_status lw_compile_frames(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->frame_count = (int)spec->frame_count;
    model->frames = LW_NEW(model->arena, lw_frame, spec->frame_count + 1);
    if (!model->frames || lw_names_create(model->arena, model->frame_count, &model->frame_names) != LW_OK)
        return LW_ERROR_MEMORY;
    for (int k = 0; k < model->frame_count; k++) {
        lw_frame *frame = &model->frames[k];
        const int user = compiler->frame_bodies[k];
        frame->name = lw_arena_text(model->arena, compiler->frames.names[k]);
        if (!frame->name) return LW_ERROR_MEMORY;
        model->frame_names.names[k] = frame->name;
        frame->body = user > 0 ? model->graph.label[user] : 0;
        frame->own = compiler->frame_poses[k];
        const lw_pose *body = &model->bodies[frame->body].frame;
        lw_pose_compose(body->R, body->p, frame->own.R, frame->own.p, frame->pose.R, frame->pose.p);
    }
    lw_names_sort(&model->frame_names);
    return LW_OK;
}
