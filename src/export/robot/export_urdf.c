/* export_urdf.c - a mechanism that is a tree as URDF.
 *
 * A link's frame is that of its joint, so that frames here lie at joints' points. Ground is the link "world".
 * Joints of several coordinates become chains with links without mass, NAME.x, NAME.y; a spherical one has
 * the type spherical, which some readers know, a free one in the world is floating. URDF has no springs,
 * rotors, forces or initial states: these are listed as left out.
 */
#include "export/robot/export_mjcf.h"

#include <linkwork/export.h>

#include <math.h>
#include <string.h>

static void put_origin(FILE *file, const lw_pose *pose) {
    /* R = Rz(yaw) Ry(pitch) Rx(roll) */
    const double *R = pose->R;
    const double level = hypot(R[0], R[3]);
    double rpy[3] = {atan2(R[7], R[8]), atan2(-R[6], level), atan2(R[3], R[0])};
    if (level < 1e-12) rpy[0] = atan2(-R[5], R[4]), rpy[2] = 0;
    fprintf(file, "    <origin");
    lw_export_numbers(file, "xyz", pose->p, 3);
    lw_export_numbers(file, "rpy", rpy, 3);
    fprintf(file, "/>\n");
}

static void put_link(lw_export_tree *tree, FILE *file, int label) {
    double mass, com[3], inertia[6];
    static const char *const names[] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    lw_pose centre = lw_pose_none();
    lw_export_inertia(tree, label, &mass, com, inertia);
    lw_v3_copy(com, centre.p);
    fprintf(file, "  <link");
    lw_export_text(file, "name", "%s", tree->bodies[label].name);
    fprintf(file, ">\n    <inertial>\n  ");
    put_origin(file, &centre);
    fprintf(file, "      <mass");
    lw_export_numbers(file, "value", &mass, 1);
    fprintf(file, "/>\n      <inertia");
    for (int k = 0; k < 6; k++) lw_export_numbers(file, names[k], &inertia[k], 1);
    fprintf(file, "/>\n    </inertial>\n");
    for (int k = 0; k < lw_model_body_shape_count(tree->model, label); k++) {
        const lw_shape *shape = lw_model_body_shape_at(tree->model, label, k);
        const bool box = shape->kind == LW_SHAPE_BOX, ball = shape->kind == LW_SHAPE_SPHERE;
        if (shape->kind == LW_SHAPE_NONE) continue;
        if (!box && !ball && shape->kind != LW_SHAPE_CYLINDER) {
            lw_export_note(tree, "shapes other than boxes, spheres and cylinders",
                           "not drawn; mass and inertia are as before");
            continue;
        }
        lw_pose own = lw_pose_none();
        double q[4];
        memcpy(q, shape->rotation, sizeof q);
        lw_quat_normalise(q);
        lw_rot_quat(q, own.R);
        lw_v3_copy(shape->position, own.p);
        own = lw_pose_in(&tree->bodies[label].user, &own);
        fprintf(file, "    <visual>\n  ");
        put_origin(file, &own);
        fprintf(file, "      <geometry><%s", box ? "box" : ball ? "sphere" : "cylinder");
        if (box)
            lw_export_numbers(file, "size", shape->size, 3);
        else
            lw_export_numbers(file, "radius", shape->size, 1);
        if (shape->kind == LW_SHAPE_CYLINDER) lw_export_numbers(file, "length", shape->size + 1, 1);
        fprintf(file, "/></geometry>\n    </visual>\n");
    }
    fprintf(file, "  </link>\n");
}

/* The coupling that follows this coordinate from another; its factors go into multiplier and offset. */
static const lw_constraint_spec *mimic_of(const lw_export_tree *tree, const char *joint, int coordinate,
                                          double *multiplier, double *offset) {
    for (size_t k = 0; k < lw_spec_constraint_count(tree->spec); k++) {
        const lw_constraint_spec *c = lw_spec_constraint(tree->spec, k);
        if (c->type != LW_CONSTRAINT_COUPLING || c->terms != 2) continue;
        if (c->polynomial_size[0] > 0 || c->polynomial_size[1] > 0 || c->tables[0] || c->tables[1]) continue;
        if (strcmp(c->joints[0], joint) != 0 || c->coordinates[0] != coordinate || c->factors[0] == 0)
            continue;
        *multiplier = -c->factors[1] / c->factors[0];
        *offset = (c->offset + c->factors[0] * c->about[0] + c->factors[1] * c->about[1]) / c->factors[0];
        return c;
    }
    return NULL;
}

static const char *motion_name(lw_export_tree *tree, int joint, int coordinate) {
    for (int b = 1; b <= tree->model->body_count; b++)
        for (int m = 0; tree->bodies[b].joint == joint && m < tree->bodies[b].motion_count; m++) {
            const lw_export_motion *motion = &tree->bodies[b].motions[m];
            if (motion->coordinate == coordinate && motion->pitch == 0)
                return lw_import_print(&tree->importer, motion->suffix[0] ? "%s.%s" : "%s%s",
                                       tree->model->joints[joint].name, motion->suffix);
        }
    return "";
}

/* Dynamics, limits and mimic of one coordinate. */
static void put_details(lw_export_tree *tree, FILE *file, const lw_joint_spec *spec, int c, bool turns) {
    double viscous = 0, coulomb = 0, multiplier, offset, effort = 0;
    for (size_t k = 0; k < lw_spec_force_count(tree->spec); k++) {
        const lw_force_spec *force = lw_spec_force(tree->spec, k);
        if (!force->joint || strcmp(force->joint, spec->name) != 0 || force->coordinate != c) continue;
        if (force->type == LW_FORCE_FRICTION)
            viscous += force->viscous, coulomb += force->coulomb;
        else if (force->type == LW_FORCE_TORSION && lw_export_is_attribute(force))
            viscous += force->damping;
        if (force->type == LW_FORCE_DRIVE) effort = fmax(effort, tree->limits[k]);
    }
    const bool limited = spec->limits[c][0] != 0 || spec->limits[c][1] != 0;
    if (limited || !turns) {
        double range[2] = {-1e6, 1e6};
        for (int s = 0; limited && s < 2; s++) range[s] = fmin(1e6, fmax(-1e6, spec->limits[c][s]));
        if (!(effort > 0)) effort = 1e6;
        const double speed = 1e6;
        fprintf(file, "    <limit");
        lw_export_numbers(file, "lower", &range[0], 1);
        lw_export_numbers(file, "upper", &range[1], 1);
        lw_export_numbers(file, "effort", &effort, 1);
        lw_export_numbers(file, "velocity", &speed, 1);
        fprintf(file, "/>\n");
    }
    if (viscous != 0 || coulomb != 0) {
        fprintf(file, "    <dynamics");
        lw_export_numbers(file, "damping", &viscous, 1);
        lw_export_numbers(file, "friction", &coulomb, 1);
        fprintf(file, "/>\n");
    }
    const lw_constraint_spec *mimic = mimic_of(tree, spec->name, c, &multiplier, &offset);
    if (mimic) {
        fprintf(file, "    <mimic");
        lw_export_text(
            file, "joint", "%s",
            motion_name(tree, lw_model_joint(tree->model, mimic->joints[1]), mimic->coordinates[1]));
        lw_export_numbers(file, "multiplier", &multiplier, 1);
        lw_export_numbers(file, "offset", &offset, 1);
        fprintf(file, "/>\n");
    }
    if (spec->armature[c] > 0)
        lw_export_note(tree, "armature of joints", "left out: these joints accelerate as without rotors");
    if (spec->motion[c])
        lw_export_note(tree, "prescribed motions", "left out: these coordinates move freely");
}

static void put_joint(lw_export_tree *tree, FILE *file, int label) {
    const lw_export_body *body = &tree->bodies[label];
    const lw_joint_spec *spec = lw_spec_joint(tree->spec, (size_t)body->joint);
    const char *parent = body->parent == 0 ? "world" : tree->bodies[body->parent].name;
    const bool floating = spec->type == LW_JOINT_FREE;
    const int count = floating || body->motion_count == 0 ? 1 : body->motion_count;
    for (int k = 0; k < count; k++) {
        const lw_export_motion *motion = &body->motions[k];
        const bool last = k == count - 1, whole = floating || body->motion_count == 0;
        const char *name = whole ? spec->name
                                 : lw_import_print(&tree->importer, motion->suffix[0] ? "%s.%s" : "%s%s",
                                                   spec->name, motion->suffix);
        const char *child = last ? body->name : lw_import_print(&tree->importer, "%s.link", name);
        const int c = motion->coordinate;
        const bool limited = spec->limits[c][0] != 0 || spec->limits[c][1] != 0;
        const char *type = body->motion_count == 0 ? "fixed"
                           : floating              ? "floating"
                           : motion->ball          ? "spherical"
                           : !motion->turns        ? "prismatic"
                           : limited               ? "revolute"
                                                   : "continuous";
        if (!last) {
            fprintf(file, "  <link");
            lw_export_text(file, "name", "%s", child);
            fprintf(file, "/>\n");
        }
        fprintf(file, "  <joint");
        lw_export_text(file, "name", "%s", name);
        lw_export_text(file, "type", "%s", type);
        fprintf(file, ">\n    <parent");
        lw_export_text(file, "link", "%s", parent);
        fprintf(file, "/>\n    <child");
        lw_export_text(file, "link", "%s", child);
        fprintf(file, "/>\n");
        const lw_pose none = lw_pose_none();
        put_origin(file, k == 0 ? &body->pose : &none);
        if (!whole && !motion->ball) {
            fprintf(file, "    <axis");
            lw_export_numbers(file, "xyz", motion->axis, 3);
            fprintf(file, "/>\n");
            if (motion->pitch != 0) {
                const double zero = 0;
                fprintf(
                    file,
                    "    <limit lower=\"-1e6\" upper=\"1e6\" effort=\"1e6\" velocity=\"1e6\"/>\n    <mimic");
                lw_export_text(file, "joint", "%s.angle", spec->name);
                lw_export_numbers(file, "multiplier", &motion->pitch, 1);
                lw_export_numbers(file, "offset", &zero, 1);
                fprintf(file, "/>\n");
            } else
                put_details(tree, file, spec, c, motion->turns);
        }
        if (motion->ball && !floating && !whole)
            lw_export_note(tree, "spherical joints",
                           "of type spherical, which not every reader of URDF knows");
        fprintf(file, "  </joint>\n");
        parent = child;
    }
}

static void note_rest(lw_export_tree *tree) {
    const double *g = lw_spec_gravity(tree->spec);
    for (size_t k = 0; k < lw_spec_force_count(tree->spec); k++) {
        const lw_force_spec *force = lw_spec_force(tree->spec, k);
        const bool damper =
            force->type == LW_FORCE_TORSION && lw_export_is_attribute(force) && force->stiffness == 0;
        if (force->type != LW_FORCE_FRICTION && !damper)
            lw_export_note(tree, "forces: springs, drives, applied ones", "left out: they do not act");
    }
    for (size_t k = 0; k < lw_spec_constraint_count(tree->spec); k++) {
        const lw_constraint_spec *c = lw_spec_constraint(tree->spec, k);
        double multiplier, offset;
        const bool said = c->type == LW_CONSTRAINT_COUPLING && c->terms == 2 &&
                          mimic_of(tree, c->joints[0], c->coordinates[0], &multiplier, &offset) == c;
        if (!said) lw_export_note(tree, "constraints that are no mimic", "left out: they do not hold");
    }
    if (g[0] != 0 || g[1] != 0 || fabs(g[2] + 9.81) > 1e-12)
        lw_export_note(tree, "gravity other than 9.81 m/s^2 downwards", "URDF does not say it");
    for (int k = 0; k < tree->model->frame_count; k++)
        lw_export_note(tree, "frames", "left out; no effect on the motion");
    for (int k = 0; k < tree->model->nq + tree->model->nv; k++)
        if ((k < tree->model->nq ? tree->model->q0[k] : tree->model->v0[k - tree->model->nq]) != 0 &&
            k >= tree->model->nq)
            lw_export_note(tree, "initial speeds", "URDF does not say them");
}

lw_status lw_export_urdf(const lw_spec *spec, const char *path, lw_import_notes *notes, lw_error *error) {
    if (!spec || !path) return lw_call_needs("a spec and a path", error);
    lw_export_tree tree;
    lw_status status = lw_export_tree_create(spec, true, notes, &tree, error);
    if (status == LW_OK && tree.model->closure_count > 0) {
        const char *name = tree.model->joints[tree.model->closures[0]].name;
        status = lw_fail(error, LW_ERROR_UNSUPPORTED, name, "export MJCF, which can say loops",
                         "the joint closes a loop, and URDF knows trees only");
    }
    FILE *file = status == LW_OK ? lw_export_open(path, error) : NULL;
    if (status == LW_OK && !file) status = LW_ERROR_FILE;
    if (status == LW_OK) {
        fprintf(file, "<?xml version=\"1.0\"?>\n<robot");
        lw_export_text(file, "name", "%s", lw_spec_name(tree.spec));
        fprintf(file, ">\n  <link name=\"world\"/>\n");
        for (int k = 1; k <= tree.model->body_count; k++) {
            put_link(&tree, file, k);
            put_joint(&tree, file, k);
        }
        note_rest(&tree);
        fprintf(file, "</robot>\n");
        status = lw_export_close(file, path, error);
    }
    lw_export_tree_destroy(&tree);
    return status;
}
