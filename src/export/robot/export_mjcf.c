/* export_mjcf.c - a mechanism as MJCF, the format of MuJoCo.
 *
 * Bodies are nested as the spanning tree carries them, drawn with all coordinates zero, so that coordinates
 * are those of the model. Joints of several coordinates become several elementary ones. A body without mass
 * that carries one other body and nothing else becomes further joints of that one, since MuJoCo refuses
 * bodies without mass. Closures stand between sites, which need not coincide as drawn: a ball is a connect, a
 * weld a weld, a hinge two connects on its axis, of whose six rows one is redundant.
 */
#include "export/robot/export_mjcf.h"

#include "linalg/small.h"

#include <linkwork/assemble.h>
#include <linkwork/export.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void indent(FILE *file, int depth) { fprintf(file, "%*s", 2 * depth, ""); }

static void put_pose(FILE *file, const lw_pose *pose) {
    double position[3], rotation[4];
    lw_pose_parts(pose, position, rotation);
    if (position[0] != 0 || position[1] != 0 || position[2] != 0) lw_export_numbers(file, "pos", position, 3);
    if (rotation[1] != 0 || rotation[2] != 0 || rotation[3] != 0)
        lw_export_numbers(file, "quat", rotation, 4);
}

/* --- joints ----------------------------------------------------------------------------------------- */

/* Springs and dampers of a joint's coordinate that MJCF has as attributes of joints. */
typedef struct passive {
    double stiffness, free, viscous, coulomb;
    int springs;
} passive;

static passive passive_of(lw_export_tree *tree, int joint, int coordinate) {
    passive all = {0};
    const char *name = lw_spec_joint(tree->spec, (size_t)joint)->name;
    for (size_t k = 0; k < lw_spec_force_count(tree->spec); k++) {
        const lw_force_spec *force = lw_spec_force(tree->spec, k);
        if (!force->joint || strcmp(force->joint, name) != 0 || force->coordinate != coordinate) continue;
        if (lw_export_is_attribute(force)) {
            if (force->type == LW_FORCE_FRICTION)
                all.viscous += force->viscous, all.coulomb += force->coulomb;
            else {
                /* Two springs are one: k = k1 + k2 at the mean rest position. */
                const double sum = all.stiffness + force->stiffness;
                if (sum > 0)
                    all.free = (all.stiffness * all.free + force->stiffness * force->free_length) / sum;
                all.stiffness = sum;
                all.viscous += force->damping;
            }
        }
    }
    return all;
}

/* A free joint in MJCF moves the body's own frame in the world. */
static bool is_freejoint(const lw_export_tree *tree, int label) {
    const lw_export_body *body = &tree->bodies[label];
    const lw_joint_info *info = &tree->model->joints[body->joint].info;
    if (info->type != LW_JOINT_FREE || info->reversed || body->parent != 0) return false;
    for (int k = 0; k < 6; k++) {
        const passive all = passive_of((lw_export_tree *)tree, body->joint, k);
        if (all.stiffness != 0 || all.viscous != 0 || all.coulomb != 0) return false;
    }
    return lw_pose_is_none(&body->pose);
}

/* Writes the joints of one body of the tree, with axes and point in the frame of the body that has them in
 * the file, in which the tree's body lies at pose `at`. */
static void put_joints(lw_export_tree *tree, FILE *file, int depth, int label, const lw_pose *at) {
    const lw_export_body *body = &tree->bodies[label];
    const lw_joint_spec *spec = lw_spec_joint(tree->spec, (size_t)body->joint);
    double point[3], axis[3];
    lw_pose_point(at->R, at->p, body->point, point);
    if (is_freejoint(tree, label)) {
        indent(file, depth), fprintf(file, "<freejoint");
        lw_export_text(file, "name", "%s", spec->name);
        fprintf(file, "/>\n");
        return;
    }
    for (int k = 0; k < body->motion_count; k++) {
        const lw_export_motion *motion = &body->motions[k];
        const int c = motion->coordinate;
        const passive all = motion->pitch != 0 ? (passive){0} : passive_of(tree, body->joint, c);
        lw_m3_mul_v(at->R, motion->axis, axis);
        indent(file, depth), fprintf(file, "<joint");
        lw_export_text(file, "name", motion->suffix[0] ? "%s.%s" : "%s%s", spec->name, motion->suffix);
        lw_export_text(file, "type", "%s", motion->ball ? "ball" : motion->turns ? "hinge" : "slide");
        if (point[0] != 0 || point[1] != 0 || point[2] != 0) lw_export_numbers(file, "pos", point, 3);
        if (motion->ball) {
            const passive y = passive_of(tree, body->joint, c + 1), z = passive_of(tree, body->joint, c + 2);
            const bool even = y.viscous == all.viscous && z.viscous == all.viscous &&
                              y.coulomb == all.coulomb && z.coulomb == all.coulomb;
            if (!even || all.stiffness != 0 || y.stiffness != 0 || z.stiffness != 0)
                lw_export_note(tree, "friction of balls that differs by axis",
                               "that about x acts about all axes");
        } else
            lw_export_numbers(file, "axis", axis, 3);
        if (!motion->ball && motion->pitch == 0) {
            if (spec->armature[c] > 0) lw_export_numbers(file, "armature", &spec->armature[c], 1);
            if (spec->limits[c][0] != 0 || spec->limits[c][1] != 0) {
                double range[2];
                for (int s = 0; s < 2; s++) range[s] = fmin(1e10, fmax(-1e10, spec->limits[c][s]));
                lw_export_numbers(file, "range", range, 2);
            }
            if (all.stiffness != 0) {
                lw_export_numbers(file, "stiffness", &all.stiffness, 1);
                lw_export_numbers(file, "springref", &all.free, 1);
            }
        }
        if (all.viscous != 0) lw_export_numbers(file, "damping", &all.viscous, 1);
        if (all.coulomb != 0) {
            lw_export_numbers(file, "frictionloss", &all.coulomb, 1);
            lw_export_note(tree, "dry friction", "MuJoCo's sticks, and has no smoothing");
        }
        fprintf(file, "/>\n");
    }
    if (spec->stop != LW_STOP_NONE)
        lw_export_note(tree, "stops of joints", "limits have MuJoCo's own softness in place of these");
    for (int k = 0; k < LW_JOINT_MAX_V; k++)
        if (spec->motion[k])
            lw_export_note(tree, "prescribed motions", "left out: these coordinates move freely");
}

/* --- bodies ----------------------------------------------------------------------------------------- */

static void put_shape(lw_export_tree *tree, FILE *file, int depth, int label, const lw_shape *shape) {
    static const char *const names[LW_SHAPE_KINDS] = {
        [LW_SHAPE_BOX] = "box",         [LW_SHAPE_CYLINDER] = "cylinder",   [LW_SHAPE_SPHERE] = "sphere",
        [LW_SHAPE_CAPSULE] = "capsule", [LW_SHAPE_ELLIPSOID] = "ellipsoid", [LW_SHAPE_ROD] = "cylinder"};
    static const int sizes[LW_SHAPE_KINDS] = {
        [LW_SHAPE_BOX] = 3,     [LW_SHAPE_CYLINDER] = 2,  [LW_SHAPE_SPHERE] = 1,
        [LW_SHAPE_CAPSULE] = 2, [LW_SHAPE_ELLIPSOID] = 3, [LW_SHAPE_ROD] = 1};
    const lw_pose *user = &tree->bodies[label].user;
    if (shape->kind == LW_SHAPE_NONE) return;
    if (!names[shape->kind]) {
        lw_export_note(tree, "shapes: cones, tetrahedra and meshes",
                       "not drawn; mass and inertia are as before");
        return;
    }
    double size[3] = {shape->size[0], shape->size[1], shape->size[2]};
    indent(file, depth), fprintf(file, "<geom type=\"%s\"", names[shape->kind]);
    if (shape->kind == LW_SHAPE_ROD) {
        double ends[6];
        for (int k = 0; k < 2; k++) lw_pose_point(user->R, user->p, shape->points[k], ends + 3 * k);
        lw_export_numbers(file, "fromto", ends, 6);
        if (!(size[0] > 0)) size[0] = 0.005; /* A thin rod is drawn. */
    } else {
        lw_pose own = lw_pose_none();
        double q[4];
        memcpy(q, shape->rotation, sizeof q);
        lw_quat_normalise(q);
        lw_rot_quat(q, own.R);
        lw_v3_copy(shape->position, own.p);
        own = lw_pose_in(user, &own);
        put_pose(file, &own);
        if (shape->kind == LW_SHAPE_BOX)
            for (int k = 0; k < 3; k++) size[k] /= 2;
        if (shape->kind == LW_SHAPE_CYLINDER || shape->kind == LW_SHAPE_CAPSULE) size[1] /= 2;
    }
    lw_export_numbers(file, "size", size, sizes[shape->kind]);
    if (shape->colour) {
        const double rgba[4] = {(double)(shape->colour >> 16 & 255) / 255,
                                (double)(shape->colour >> 8 & 255) / 255, (double)(shape->colour & 255) / 255,
                                1};
        lw_export_numbers(file, "rgba", rgba, 4);
    }
    fprintf(file, " contype=\"0\" conaffinity=\"0\"/>\n");
}

/* Sites: named frames, and the ends of closures, springs and distances. */
static void put_sites(const lw_export_tree *tree, const lw_mjcf_sites *sites, FILE *file, int depth,
                      int label, const lw_pose *at) {
    for (int k = 0; k < sites->count; k++) {
        if (sites->items[k].body != label) continue;
        const lw_pose own = lw_export_pose(tree, label, &sites->items[k].pose);
        const lw_pose whole = lw_pose_in(at, &own);
        indent(file, depth), fprintf(file, "<site");
        lw_export_text(file, "name", "%s", sites->items[k].name);
        put_pose(file, &whole);
        fprintf(file, "/>\n");
    }
}

/* The only body that this one carries, if it has no mass, no site and no shape that would be lost; 0: it
 * stays a body of its own. */
static int folded_into(const lw_export_tree *tree, const lw_mjcf_sites *sites, int label) {
    double mass, com[3], inertia[6];
    int child = 0;
    if (label == 0) return 0;
    lw_export_inertia(tree, label, &mass, com, inertia);
    for (int k = 0; k < 6; k++)
        if (inertia[k] != 0) return 0;
    if (mass != 0 || lw_model_body_shape_count(tree->model, label) > 0) return 0;
    for (int k = 0; k < sites->count; k++)
        if (sites->items[k].body == label) return 0;
    for (int k = 1; k <= tree->model->body_count; k++) {
        if (tree->bodies[k].parent != label) continue;
        if (child > 0) return 0;
        child = k;
    }
    if (child > 0 && (is_freejoint(tree, label) || is_freejoint(tree, child))) return 0;
    return child;
}

static void put_children(lw_export_tree *tree, lw_mjcf_sites *sites, FILE *file, int depth, int label);

static void put_body(lw_export_tree *tree, lw_mjcf_sites *sites, FILE *file, int depth, int label) {
    int chain[64], count = 0, last = label;
    lw_pose pose = tree->bodies[label].pose, at[64];
    chain[count++] = label;
    while (count < 64 && folded_into(tree, sites, last) > 0) {
        last = folded_into(tree, sites, last);
        chain[count++] = last;
        pose = lw_pose_in(&pose, &tree->bodies[last].pose);
    }
    /* Where the frames of the folded ones lie in that of the last. */
    at[count - 1] = lw_pose_none();
    for (int k = count - 2; k >= 0; k--) {
        const lw_pose none = lw_pose_none(), back = lw_pose_between(&tree->bodies[chain[k + 1]].pose, &none);
        at[k] = lw_pose_in(&at[k + 1], &back);
    }
    const lw_export_body *body = &tree->bodies[last];
    indent(file, depth), fprintf(file, "<body");
    lw_export_text(file, "name", "%s", body->name);
    put_pose(file, &pose);
    fprintf(file, ">\n");
    for (int k = 0; k < count; k++) put_joints(tree, file, depth + 1, chain[k], &at[k]);
    double mass, com[3], inertia[6];
    lw_export_inertia(tree, last, &mass, com, inertia);
    indent(file, depth + 1), fprintf(file, "<inertial");
    lw_export_numbers(file, "pos", com, 3);
    lw_export_numbers(file, "mass", &mass, 1);
    lw_export_numbers(file, "fullinertia", inertia, 6);
    fprintf(file, "/>\n");
    double moments[3], axes[9];
    lw_s3_axes_ascending(inertia, moments, axes);
    if (!(mass > 0) || !(moments[0] > 1e-15))
        lw_export_note(tree, "bodies without mass or a moment of inertia",
                       "MuJoCo refuses them; the file is right for other readers");
    for (int k = 0; k < lw_model_body_shape_count(tree->model, last); k++)
        put_shape(tree, file, depth + 1, last, lw_model_body_shape_at(tree->model, last, k));
    const lw_pose none = lw_pose_none();
    put_sites(tree, sites, file, depth + 1, last, &none);
    put_children(tree, sites, file, depth + 1, last);
    indent(file, depth), fprintf(file, "</body>\n");
}

static void put_children(lw_export_tree *tree, lw_mjcf_sites *sites, FILE *file, int depth, int label) {
    for (int k = 1; k <= tree->model->body_count; k++)
        if (tree->bodies[k].parent == label) put_body(tree, sites, file, depth, k);
}

/* --- keyframes -------------------------------------------------------------------------------------- */

/* The joints in the order of the file, as an array of labels of bodies. */
static int order_of(const lw_export_tree *tree, int label, int *order, int count) {
    if (label > 0) order[count++] = label;
    for (int k = 1; k <= tree->model->body_count; k++)
        if (tree->bodies[k].parent == label) count = order_of(tree, k, order, count);
    return count;
}

static void put_key(const lw_export_tree *tree, FILE *file, const char *name, const double *q,
                    const double *v) {
    const lw_model *model = tree->model;
    int *order = LW_NEW(tree->importer.arena, int, model->body_count + 1);
    double *list = LW_NEW(tree->importer.arena, double, model->nq + model->nv + 8);
    if (!order || !list) return;
    const int bodies = order_of(tree, 0, order, 0);
    fprintf(file, "    <key");
    lw_export_text(file, "name", "%s", name);
    for (int speeds = 0; speeds < 2; speeds++) {
        int count = 0;
        for (int b = 0; b < bodies; b++) {
            const lw_export_body *body = &tree->bodies[order[b]];
            const lw_joint_info *info = &model->joints[body->joint].info;
            for (int k = 0; k < body->motion_count; k++) {
                const lw_export_motion *motion = &body->motions[k];
                if (motion->pitch != 0) {
                    list[count++] = motion->pitch * (speeds ? v[info->v] : q[info->q]);
                    continue;
                }
                if (!motion->ball) {
                    list[count++] =
                        speeds ? v[info->v + motion->coordinate] : q[info->q + motion->coordinate];
                    continue;
                }
                const int size = speeds ? 3 : 4;
                const double *from =
                    speeds ? v + info->v + motion->coordinate : q + info->q + motion->coordinate;
                for (int i = 0; i < size; i++) list[count + i] = from[i];
                if (info->reversed && !speeds)
                    for (int i = 1; i < 4; i++) list[count + i] = -from[i];
                if (info->reversed && speeds) {
                    /* The angular velocity of the first body in the second, in the first's axes. */
                    double R[9], turned[3];
                    lw_rot_quat(q + info->q + motion->coordinate, R);
                    lw_m3_mul_v(R, from, turned);
                    for (int i = 0; i < 3; i++) list[count + i] = -turned[i];
                }
                count += size;
            }
        }
        if (count > 0) lw_export_numbers(file, speeds ? "qvel" : "qpos", list, count);
    }
    fprintf(file, "/>\n");
}

/* The state in which a run begins, with the start of this name (NULL: none), all loops closed. False if there
 * is none: a start that does not close, or with other coordinates. */
static bool start_state(const lw_export_tree *tree, const char *name, double *q, double *v) {
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    bool fine = lw_export_copy_spec(tree->spec, &spec, NULL) == LW_OK &&
                lw_spec_begin(spec, name, NULL) == LW_OK &&
                lw_model_compile(spec, NULL, NULL, &model) == LW_OK && model->nq == tree->model->nq &&
                model->nv == tree->model->nv;
    for (int j = 0; fine && j < model->joint_count; j++) /* Cuts may follow the start. */
        fine = model->joints[j].info.q == tree->model->joints[j].info.q;
    if (fine) {
        lw_model_initial_state(model, q, v);
        fine = lw_assemble(model, 0, q, v, NULL, NULL) == LW_OK;
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return fine;
}

static void put_keys(lw_export_tree *tree, FILE *file) {
    const lw_model *model = tree->model;
    double *q = LW_NEW(tree->importer.arena, double, model->nq + 1);
    double *v = LW_NEW(tree->importer.arena, double, model->nv + 1);
    if (!q || !v || model->body_count == 0) return;
    fprintf(file, "  <keyframe>\n");
    if (start_state(tree, NULL, q, v))
        put_key(tree, file, "initial", q, v);
    else
        lw_export_note(tree, "initial states that do not close",
                       "left out: the file begins where it is drawn");
    const size_t count = lw_spec_start_count(tree->spec);
    for (size_t k = 0; k < count; k++) {
        const char *name = lw_spec_start(tree->spec, k)->name;
        bool before = false;
        for (size_t i = 0; i < k; i++) before |= strcmp(lw_spec_start(tree->spec, i)->name, name) == 0;
        if (before || strcmp(name, "initial") == 0) continue;
        if (start_state(tree, name, q, v))
            put_key(tree, file, name, q, v);
        else
            lw_export_note(tree, "starts that do not close", "left out");
    }
    fprintf(file, "  </keyframe>\n");
}

/* --- the file --------------------------------------------------------------------------------------- */

static void note_rest(lw_export_tree *tree) {
    const lw_spec *spec = tree->spec;
    if (lw_spec_event_count(spec) > 0) lw_export_note(tree, "events", "left out");
    for (size_t k = 0; k < lw_spec_state_count(spec); k++)
        lw_export_note(tree, "states of the user", "left out, with the forces that depend on them");
    for (size_t k = 0; k < lw_spec_output_count(spec); k++)
        lw_export_note(tree, "outputs", "left out; no effect on the motion");
}

lw_status lw_export_mjcf(const lw_spec *spec, const char *path, lw_import_notes *notes, lw_error *error) {
    if (!spec || !path) return lw_call_needs("a spec and a path", error);
    lw_export_tree tree;
    lw_mjcf_sites sites = {.count = 0};
    lw_status status = lw_export_tree_create(spec, false, notes, &tree, error);
    if (status == LW_OK) status = lw_mjcf_collect_sites(&tree, &sites, error);
    FILE *file = status == LW_OK ? lw_export_open(path, error) : NULL;
    if (status == LW_OK && !file) status = LW_ERROR_FILE;
    if (status == LW_OK) {
        fprintf(file, "<mujoco");
        lw_export_text(file, "model", "%s", lw_spec_name(tree.spec));
        fprintf(file, ">\n  <compiler angle=\"radian\" autolimits=\"true\"/>\n  <option");
        lw_export_numbers(file, "gravity", lw_spec_gravity(tree.spec), 3);
        fprintf(file, "/>\n  <worldbody>\n");
        const lw_pose none = lw_pose_none();
        put_sites(&tree, &sites, file, 2, 0, &none);
        put_children(&tree, &sites, file, 2, 0);
        fprintf(file, "  </worldbody>\n");
        lw_mjcf_put_forces(&tree, &sites, file);
        lw_mjcf_put_equality(&tree, &sites, file);
        put_keys(&tree, file);
        note_rest(&tree);
        fprintf(file, "</mujoco>\n");
        status = lw_export_close(file, path, error);
    }
    lw_export_tree_destroy(&tree);
    return status;
}
