/* export_mjcf_forces.c - sites, tendons, actuators and equalities of an export to MJCF.
 *
 * A drive is an arbitrary expression; MJCF has F = g u + b0 + b1 q + b2 v. Which drives are of this kind is
 * told from their values: the four numbers follow from five, and 64 more at pseudo-random arguments of sizes
 * from 1e-3 to 1e3 have to agree to rounding. A drive that switches anywhere in that range is left out.
 */
#include "export/robot/export_mjcf.h"

#include "core/pseudo_random.h"
#include "model/joint.h"

#include <math.h>
#include <string.h>

static const double hinge_arm = 0.1; /* m, between the two points of a hinge */

/* --- sites ------------------------------------------------------------------------------------------ */

static void add_site(lw_export_tree *tree, lw_mjcf_sites *sites, int body, const lw_pose *pose,
                     const char *name) {
    if (sites->count == sites->room) {
        const int room = 2 * sites->room + 16;
        lw_mjcf_site *items = LW_NEW(tree->importer.arena, lw_mjcf_site, room);
        if (!items) return;
        if (sites->count > 0) memcpy(items, sites->items, (size_t)sites->count * sizeof *items);
        sites->items = items;
        sites->room = room;
    }
    sites->items[sites->count++] = (lw_mjcf_site){name, body, *pose};
}

static void add_ends(lw_export_tree *tree, lw_mjcf_sites *sites, const char *name, const int bodies[2],
                     const lw_pose poses[2], int index) {
    for (int side = 0; side < 2; side++)
        add_site(tree, sites, bodies[side], &poses[side],
                 lw_import_print(&tree->importer, "%s.%c%d", name, side ? 'b' : 'a', index));
}

static bool is_closed(lw_joint_type type) {
    return type == LW_JOINT_SPHERICAL || type == LW_JOINT_WELD || type == LW_JOINT_REVOLUTE;
}

lw_status lw_mjcf_collect_sites(lw_export_tree *tree, lw_mjcf_sites *sites, lw_error *error) {
    const lw_model *model = tree->model;
    for (int k = 0; k < model->frame_count; k++)
        add_site(tree, sites, model->frames[k].body, &model->frames[k].pose, model->frames[k].name);
    for (int k = 0; k < model->closure_count; k++) {
        const lw_joint_entry *entry = &model->joints[model->closures[k]];
        lw_pose poses[2] = {entry->frames[0], entry->frames[1]};
        double axis[3], along[3];
        if (!is_closed(entry->info.type)) continue;
        add_ends(tree, sites, entry->name, entry->info.bodies, poses, 1);
        if (entry->info.type != LW_JOINT_REVOLUTE) continue;
        lw_joint_direction(&entry->joint, 0, axis);
        for (int side = 0; side < 2; side++) {
            lw_m3_mul_v(poses[side].R, axis, along);
            lw_v3_axpy(hinge_arm, along, poses[side].p);
        }
        add_ends(tree, sites, entry->name, entry->info.bodies, poses, 2);
    }
    for (int k = 0; k < model->force_count; k++) {
        const lw_force *force = &model->forces[k];
        lw_pose poses[2] = {lw_pose_none(), lw_pose_none()};
        if (force->type != LW_FORCE_SPRING) continue;
        for (int side = 0; side < 2; side++) lw_v3_copy(force->frames[side].p, poses[side].p);
        add_ends(tree, sites, force->name, force->bodies, poses, 1);
    }
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint *constraint = &model->constraints[k];
        lw_pose poses[2] = {lw_pose_none(), lw_pose_none()};
        if (constraint->type != LW_CONSTRAINT_DISTANCE) continue;
        for (int side = 0; side < 2; side++) lw_v3_copy(constraint->points[side], poses[side].p);
        add_ends(tree, sites, constraint->name, constraint->bodies, poses, 1);
    }
    return lw_arena_failed(tree->importer.arena) ? lw_out_of_memory(error) : LW_OK;
}

/* --- forces ----------------------------------------------------------------------------------------- */

bool lw_export_is_attribute(const lw_force_spec *force) {
    if (force->type == LW_FORCE_FRICTION) return true;
    return force->type == LW_FORCE_TORSION && !force->law.expression && force->law.table_size == 0;
}

/* The name of a coordinate's joint in the file. */
static const char *joint_name(lw_export_tree *tree, int joint, int coordinate) {
    const lw_joint_entry *entry = &tree->model->joints[joint];
    for (int k = 1; k <= tree->model->body_count; k++)
        for (int m = 0; tree->bodies[k].joint == joint && m < tree->bodies[k].motion_count; m++) {
            const lw_export_motion *motion = &tree->bodies[k].motions[m];
            if (motion->coordinate == coordinate && !motion->ball && motion->pitch == 0)
                return lw_import_print(&tree->importer, motion->suffix[0] ? "%s.%s" : "%s%s", entry->name,
                                       motion->suffix);
        }
    return NULL;
}

typedef struct affine {
    double gain, bias[3];
    int input; /* -1: none */
} affine;

/* Is the drive affine in one input, q and v? */
static bool find_affine(const lw_export_tree *tree, const lw_force *force, affine *out) {
    const lw_model *model = tree->model;
    const int *entries = NULL;
    const size_t used = lw_function_inputs(force->drive, &entries);
    double *values = LW_NEW(tree->importer.arena, double, model->values.count + 1);
    if (!values || lw_function_uses(force->drive, 0) || used > 1) return false;
    out->input = used == 1 ? entries[0] : -1;
    if (out->input >= model->values.input_count) return false;
    double *u = &values[out->input >= 0 ? out->input : model->values.count], at[3] = {0, 0, 0};
    out->bias[0] = lw_function_value(force->drive, at, values);
    for (int k = 1; k < 3; k++) {
        at[k] = 1;
        out->bias[k] = lw_function_value(force->drive, at, values) - out->bias[0];
        at[k] = 0;
    }
    *u = 1;
    out->gain = lw_function_value(force->drive, at, values) - out->bias[0];
    uint64_t state = 20240711;
    for (int k = 0; k < 64; k++) {
        const double size = pow(10, (k % 7) - 3);
        for (int i = 1; i < 3; i++) at[i] = size * lw_pseudo_random(&state);
        *u = size * lw_pseudo_random(&state);
        const double sum = out->gain * *u + out->bias[0] + out->bias[1] * at[1] + out->bias[2] * at[2];
        const double scale = fabs(out->gain * *u) + fabs(out->bias[0]) + fabs(out->bias[1] * at[1]) +
                             fabs(out->bias[2] * at[2]);
        const double value = lw_function_value(force->drive, at, values);
        if (!(fabs(value - sum) <= 1e-12 * scale)) return false;
    }
    return true;
}

static bool put_actuator(lw_export_tree *tree, FILE *file, const lw_force *force, const lw_force_spec *spec,
                         double limit) {
    affine law;
    const int joint = lw_model_joint(tree->model, spec->joint);
    const char *name = joint < 0 ? NULL : joint_name(tree, joint, spec->coordinate);
    if (!name || tree->model->joints[joint].info.cut || !force->drive || !find_affine(tree, force, &law))
        return false;
    if (law.input >= 0 && tree->model->input_defaults[law.input] != 0)
        lw_export_note(tree, "defaults of inputs", "MuJoCo's controls begin at zero");
    fprintf(file, "    <general");
    lw_export_text(file, "name", "%s", spec->name);
    lw_export_text(file, "joint", "%s", name);
    fprintf(file, " biastype=\"affine\"");
    lw_export_numbers(file, "gainprm", &law.gain, 1);
    lw_export_numbers(file, "biasprm", law.bias, 3);
    if (limit > 0) {
        const double range[2] = {-limit, limit};
        lw_export_numbers(file, "forcerange", range, 2);
    }
    fprintf(file, "/>\n");
    return true;
}

static void put_tendon(FILE *file, const char *name, double stiffness, double damping, double length) {
    fprintf(file, "    <spatial");
    lw_export_text(file, "name", "%s", name);
    if (stiffness != 0 || damping != 0) {
        lw_export_numbers(file, "stiffness", &stiffness, 1);
        lw_export_numbers(file, "damping", &damping, 1);
        lw_export_numbers(file, "springlength", &length, 1);
    }
    fprintf(file, ">\n      <site");
    lw_export_text(file, "site", "%s.a1", name);
    fprintf(file, "/>\n      <site");
    lw_export_text(file, "site", "%s.b1", name);
    fprintf(file, "/>\n    </spatial>\n");
}

static bool is_many(const lw_constraint_spec *spec) {
    return spec->type == LW_CONSTRAINT_COUPLING && spec->terms > 2;
}

static bool has_curves(const lw_constraint_spec *spec) {
    for (int k = 0; k < spec->terms; k++)
        if (spec->polynomial_size[k] > 0 || spec->tables[k]) return true;
    return false;
}

static void put_tendons(lw_export_tree *tree, FILE *file) {
    const lw_model *model = tree->model;
    for (int k = 0; k < (int)lw_spec_force_count(tree->spec); k++) {
        const lw_force_spec *spec = lw_spec_force(tree->spec, (size_t)k);
        const lw_force *force = &model->forces[k];
        if (spec->type != LW_FORCE_SPRING) continue;
        if (spec->law.expression || spec->law.table_size > 0)
            lw_export_note(tree, "laws of springs", "left out: only their stiffness and damping act");
        put_tendon(file, spec->name, force->stiffness, force->damping, force->free_length);
    }
    for (size_t k = 0; k < lw_spec_constraint_count(tree->spec); k++) {
        const lw_constraint_spec *spec = lw_spec_constraint(tree->spec, k);
        if (spec->type == LW_CONSTRAINT_DISTANCE) put_tendon(file, spec->name, 0, 0, 0);
        if (!is_many(spec) || has_curves(spec)) continue;
        fprintf(file, "    <fixed");
        lw_export_text(file, "name", "%s", spec->name);
        fprintf(file, ">\n");
        for (int i = 0; i < spec->terms; i++) {
            const char *name = joint_name(tree, lw_model_joint(model, spec->joints[i]), spec->coordinates[i]);
            fprintf(file, "      <joint");
            lw_export_text(file, "joint", "%s", name ? name : "");
            lw_export_numbers(file, "coef", &spec->factors[i], 1);
            fprintf(file, "/>\n");
        }
        fprintf(file, "    </fixed>\n");
    }
}

void lw_mjcf_put_forces(lw_export_tree *tree, const lw_mjcf_sites *sites, FILE *file) {
    (void)sites;
    fprintf(file, "  <tendon>\n");
    put_tendons(tree, file);
    fprintf(file, "  </tendon>\n  <actuator>\n");
    for (size_t k = 0; k < lw_spec_force_count(tree->spec); k++) {
        const lw_force_spec *spec = lw_spec_force(tree->spec, k);
        const int joint = spec->joint ? lw_model_joint(tree->model, spec->joint) : -1;
        const bool cut = joint >= 0 && tree->model->joints[joint].info.cut;
        if (spec->type == LW_FORCE_SPRING) continue;
        if (spec->type == LW_FORCE_DRIVE) {
            if (!put_actuator(tree, file, &tree->model->forces[k], spec, tree->limits[k]))
                lw_export_note(tree, "drives that are no servo of one input",
                               "left out: they exert no force (MJCF knows g u + b0 + b1 q + b2 v)");
        } else if (cut)
            lw_export_note(tree, "forces in joints that close loops", "left out");
        else if (!lw_export_is_attribute(spec))
            lw_export_note(tree, "forces: bushings, laws, applied ones, contacts",
                           "left out: they do not act");
    }
    fprintf(file, "  </actuator>\n");
}

/* --- equalities ------------------------------------------------------------------------------------- */

static void put_closure(FILE *file, const char *tag, const char *name, int index) {
    fprintf(file, "    <%s", tag);
    lw_export_text(file, "name", index > 1 ? "%s.%d" : "%s", name, index);
    lw_export_text(file, "site1", "%s.a%d", name, index);
    lw_export_text(file, "site2", "%s.b%d", name, index);
    fprintf(file, "/>\n");
}

/* Coefficients of sum p_i (x - about)^i in powers of x. */
static void shift(const double *p, int size, double about, double out[LW_POLYNOMIAL_MAX]) {
    for (int i = 0; i < LW_POLYNOMIAL_MAX; i++) out[i] = 0;
    for (int i = size - 1; i >= 0; i--) {
        for (int k = LW_POLYNOMIAL_MAX - 1; k > 0; k--) out[k] = out[k - 1] - about * out[k];
        out[0] = p[i] - about * out[0];
    }
}

static void put_coupling(lw_export_tree *tree, FILE *file, const lw_constraint_spec *spec) {
    const char *names[2] = {NULL, NULL};
    double curve[LW_POLYNOMIAL_MAX] = {0, 0, 0, 0, 0}, x[LW_POLYNOMIAL_MAX];
    int straight = -1;
    for (int k = 0; k < spec->terms; k++) {
        if (k < 2)
            names[k] = joint_name(tree, lw_model_joint(tree->model, spec->joints[k]), spec->coordinates[k]);
        if (straight < 0 && spec->polynomial_size[k] == 0 && !spec->tables[k] && spec->factors[k] != 0)
            straight = k;
    }
    bool good = names[0] && (spec->terms < 2 || names[1]) && straight >= 0;
    if (spec->terms > 2) {
        if (has_curves(spec)) good = false;
        if (good) {
            fprintf(file, "    <tendon");
            lw_export_text(file, "name", "%s", spec->name);
            lw_export_text(file, "tendon1", "%s", spec->name);
            curve[0] = spec->offset;
            for (int k = 0; k < spec->terms; k++) curve[0] += spec->factors[k] * spec->about[k];
            lw_export_numbers(file, "polycoef", curve, 5);
            fprintf(file, "/>\n");
        }
    } else if (good) {
        /* factor y + other curve(x) = offset, with y = coordinate - about */
        const int other = 1 - straight;
        const double factor = spec->factors[straight];
        if (spec->terms == 2) {
            static const double line[2] = {0, 1};
            const bool bent = spec->polynomial_size[other] > 0;
            good = !spec->tables[other];
            shift(bent ? spec->polynomial[other] : line, bent ? spec->polynomial_size[other] : 2,
                  spec->about[other], x);
            for (int i = 0; i < LW_POLYNOMIAL_MAX; i++) curve[i] = -spec->factors[other] / factor * x[i];
        }
        curve[0] += spec->offset / factor + spec->about[straight];
        if (good) {
            fprintf(file, "    <joint");
            lw_export_text(file, "name", "%s", spec->name);
            lw_export_text(file, "joint1", "%s", names[straight]);
            if (spec->terms == 2) lw_export_text(file, "joint2", "%s", names[other]);
            lw_export_numbers(file, "polycoef", curve, 5);
            fprintf(file, "/>\n");
        }
    }
    if (!good)
        lw_export_note(tree, "couplings by tables or of several curves",
                       "left out: these coordinates move freely");
}

/* Keeps the distance of two sites: the length of the tendon between them, beside that as drawn. */
static void put_distance(const lw_export_tree *tree, FILE *file, const lw_constraint *constraint) {
    lw_pose world[2];
    double ends[2][3], d[3], curve[5] = {0, 0, 0, 0, 0};
    for (int side = 0; side < 2; side++) {
        world[side] = lw_pose_none();
        for (int b = constraint->bodies[side]; b > 0; b = tree->bodies[b].parent)
            world[side] = lw_pose_in(&tree->bodies[b].pose, &world[side]);
        lw_pose at = lw_pose_none();
        lw_v3_copy(constraint->points[side], at.p);
        at = lw_export_pose(tree, constraint->bodies[side], &at);
        lw_pose_point(world[side].R, world[side].p, at.p, ends[side]);
    }
    lw_v3_sub(ends[1], ends[0], d);
    curve[0] = constraint->length - lw_v3_norm(d);
    fprintf(file, "    <tendon");
    lw_export_text(file, "name", "%s", constraint->name);
    lw_export_text(file, "tendon1", "%s", constraint->name);
    lw_export_numbers(file, "polycoef", curve, 5);
    fprintf(file, "/>\n");
}

/* Screws are slides and hinges, of which the tree writes both, that are coupled by their lead. */
void lw_mjcf_put_equality(lw_export_tree *tree, const lw_mjcf_sites *sites, FILE *file) {
    const lw_model *model = tree->model;
    (void)sites;
    fprintf(file, "  <equality>\n");
    for (int k = 0; k < model->closure_count; k++) {
        const lw_joint_entry *entry = &model->joints[model->closures[k]];
        if (entry->info.type == LW_JOINT_WELD)
            put_closure(file, "weld", entry->name, 1);
        else if (entry->info.type == LW_JOINT_SPHERICAL || entry->info.type == LW_JOINT_REVOLUTE) {
            put_closure(file, "connect", entry->name, 1);
            if (entry->info.type == LW_JOINT_REVOLUTE) put_closure(file, "connect", entry->name, 2);
        } else
            lw_export_note(tree, "loops closed by other joints than balls, hinges and welds",
                           "left out: these loops are open");
    }
    for (int b = 1; b <= model->body_count; b++)
        for (int m = 0; m < tree->bodies[b].motion_count; m++) {
            const double curve[5] = {0, tree->bodies[b].motions[m].pitch, 0, 0, 0};
            const char *name = model->joints[tree->bodies[b].joint].name;
            if (curve[1] == 0) continue;
            fprintf(file, "    <joint");
            lw_export_text(file, "name", "%s.lead", name);
            lw_export_text(file, "joint1", "%s.displacement", name);
            lw_export_text(file, "joint2", "%s.angle", name);
            lw_export_numbers(file, "polycoef", curve, 5);
            fprintf(file, "/>\n");
        }
    for (int k = 0; k < model->constraint_count; k++) {
        const lw_constraint_spec *spec = lw_spec_constraint(tree->spec, (size_t)k);
        if (spec->type == LW_CONSTRAINT_COUPLING)
            put_coupling(tree, file, spec);
        else if (spec->type == LW_CONSTRAINT_DISTANCE)
            put_distance(tree, file, &model->constraints[k]);
        else
            lw_export_note(tree, "rolling without slip", "left out: the body is not held");
    }
    fprintf(file, "  </equality>\n");
}
