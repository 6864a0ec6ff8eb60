/* compile.c - from spec to model: names, reference configuration, joint frames, tree, loops, initial state.
 *
 * The order: names
 *     -> each body and joint by itself (validate.c)
 *     -> pose of every body in the reference configuration
 *     -> frames of every joint on both its bodies
 *     -> graph (graph.c)
 *     -> links and closures in regular labelling
 *     -> motions, forces, constraints (compile_forces.c)
 *     -> initial state.
 * Every stage reports all its errors; a stage whose input is broken is left out.
 *
 * Reference configuration: a body's pose is what the user gave; else, if a joint given in body frames leads
 * to it from a body with a pose, what that joint says at q = 0; else body frame = world frame.
 *
 * Cost     O((n + joints) log), plus the length of the loops.
 */
#include "model/compile.h"
#include "model/data.h"

#include <stdio.h>
#include <string.h>

/* --- complaints ----------------------------------------------------------------------------------- */

static void complain(lw_compiler *compiler, lw_severity severity, const char *kind, const char *name,
                     lw_place place, const char *remedy, const char *format, va_list arguments) {
    char object[sizeof((lw_error *)0)->object] = "", message[sizeof((lw_error *)0)->message];
    if (kind && name) snprintf(object, sizeof object, "%s \"%s\"", kind, name);
    vsnprintf(message, sizeof message, format, arguments);
    lw_complain(compiler->report, severity, compiler->spec->file, place, object, remedy, "%s", message);
}

void lw_compile_error(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                      const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(compiler, LW_SEVERITY_ERROR, kind, name, place, remedy, format, arguments);
    va_end(arguments);
    compiler->errors++;
}

void lw_compile_warning(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                        const char *remedy, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain(compiler, LW_SEVERITY_WARNING, kind, name, place, remedy, format, arguments);
    va_end(arguments);
}

static int find(lw_compiler *compiler, const lw_names *names, const char *what, const char *kind,
                const char *name, lw_place place, const char *wanted) {
    if (!wanted) wanted = "";
    int index = lw_names_find(names, wanted);
    if (index >= 0) return index;
    char remedy[160];
    const char *close = lw_names_closest(names, wanted);
    if (close)
        snprintf(remedy, sizeof remedy, "did you mean \"%s\"?", close);
    else
        snprintf(remedy, sizeof remedy, "name a %s of this model", what);
    lw_compile_error(compiler, kind, name, place, remedy, "unknown %s \"%s\"", what, wanted);
    return -1;
}

int lw_compile_body(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                    const char *body) {
    return find(compiler, &compiler->bodies, "body", kind, name, place, body);
}

int lw_compile_joint(lw_compiler *compiler, const char *kind, const char *name, lw_place place,
                     const char *joint) {
    return find(compiler, &compiler->joints, "joint", kind, name, place, joint);
}

const lw_function *lw_compile_function(lw_compiler *compiler, const char *kind, const char *name,
                                       lw_place place, const char *what, const char *text,
                                       const char *const *variables, size_t variable_count) {
    lw_syntax syntax;
    const lw_function *function =
        lw_function_compile(compiler->model->arena, text, compiler->constants,
                            compiler->spec->parameter_count, variables, variable_count, &syntax);
    if (!function)
        lw_compile_error(compiler, kind, name, place, syntax.remedy, "%s \"%s\": %s", what, text,
                         syntax.message);
    return function;
}

/* --- names ---------------------------------------------------------------------------------------- */

static void complain_of_duplicates(lw_compiler *compiler, const lw_names *names, const char *kind,
                                   lw_place (*place_of)(const lw_spec *, int)) {
    for (int k = 0; k < names->count; k++) {
        int index = names->order[k];
        const char *name = names->names[index];
        if (name[0] == '\0')
            lw_compile_error(compiler, kind, name, place_of(compiler->spec, index), "give it a name",
                             "has no name");
        else if (k > 0 && strcmp(name, names->names[names->order[k - 1]]) == 0)
            lw_compile_error(compiler, kind, name, place_of(compiler->spec, index), "rename one of them",
                             strcmp(name, LW_GROUND) == 0 ? "the name belongs to ground"
                                                          : "the name is taken twice");
    }
}

static lw_place body_place(const lw_spec *spec, int index) {
    return index > 0 ? spec->bodies[index - 1].place : (lw_place){0, 0};
}
static lw_place joint_place(const lw_spec *spec, int index) { return spec->joints[index].place; }
static lw_place force_place(const lw_spec *spec, int index) { return spec->forces[index].place; }
static lw_place constraint_place(const lw_spec *spec, int index) { return spec->constraints[index].place; }

static const char *or_empty(const char *text) { return text ? text : ""; }

static lw_status compile_names(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    lw_names forces, constraints;
    if (lw_names_create(compiler->scratch, nb + 1, &compiler->bodies) != LW_OK ||
        lw_names_create(compiler->scratch, nj, &compiler->joints) != LW_OK ||
        lw_names_create(compiler->scratch, (int)spec->force_count, &forces) != LW_OK ||
        lw_names_create(compiler->scratch, (int)spec->constraint_count, &constraints) != LW_OK)
        return LW_ERROR_MEMORY;
    compiler->bodies.names[0] = LW_GROUND;
    for (int k = 0; k < nb; k++) compiler->bodies.names[k + 1] = or_empty(spec->bodies[k].name);
    for (int k = 0; k < nj; k++) compiler->joints.names[k] = or_empty(spec->joints[k].name);
    for (size_t k = 0; k < spec->force_count; k++) forces.names[k] = or_empty(spec->forces[k].name);
    for (size_t k = 0; k < spec->constraint_count; k++)
        constraints.names[k] = or_empty(spec->constraints[k].name);
    lw_names_sort(&compiler->bodies);
    lw_names_sort(&compiler->joints);
    lw_names_sort(&forces);
    lw_names_sort(&constraints);
    complain_of_duplicates(compiler, &compiler->bodies, "body", body_place);
    complain_of_duplicates(compiler, &compiler->joints, "joint", joint_place);
    complain_of_duplicates(compiler, &forces, "force", force_place);
    complain_of_duplicates(compiler, &constraints, "constraint", constraint_place);
    return LW_OK;
}

/* --- joint frames --------------------------------------------------------------------------------- */

void lw_unit(const double a[3], double out[3]) {
    /* by the largest first, so that no square over- or underflows */
    double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    for (int k = 0; k < 3; k++) out[k] = a[k] / largest;
    double n = lw_v3_norm(out);
    for (int k = 0; k < 3; k++) out[k] /= n;
}

/* out = the part of a perpendicular to the unit vector z, as a unit vector; false if there is none. */
static bool perpendicular_part(const double a[3], const double z[3], double out[3]) {
    lw_v3_copy(a, out);
    lw_v3_axpy(-lw_v3_dot(a, z), z, out);
    double n = lw_v3_norm(out);
    if (!(n > 1e-9 * lw_v3_norm(a))) return false;
    for (int k = 0; k < 3; k++) out[k] /= n;
    return true;
}

/* Axes of a joint frame from the axes a user gave, in the same coordinates; x_hint (may be NULL) is the
 * wished x direction where the user left it open. */
static void frame_axes(lw_joint_type type, const lw_joint_geometry *geometry, const double *x_hint,
                       double R[9]) {
    double z[3], x[3];
    if (type == LW_JOINT_TRANSLATION || geometry->axis_count == 0) {
        lw_m3_identity(R);
        return;
    }
    if (type == LW_JOINT_UNIVERSAL) { /* x and y are the axes */
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

/* Frames of a joint on both bodies, in their user frames. */
static void joint_frames(const lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft) {
    const lw_pose *a = &compiler->reference[draft->bodies[0]], *b = &compiler->reference[draft->bodies[1]];
    lw_pose inverse;
    if (spec->frame == LW_GEOMETRY_WORLD) {
        lw_pose world;
        frame_axes(spec->type, &spec->geometry[0], NULL, world.R);
        lw_v3_copy(spec->geometry[0].point, world.p);
        lw_pose_invert(a->R, a->p, inverse.R, inverse.p);
        lw_pose_compose(inverse.R, inverse.p, world.R, world.p, draft->frames[0].R, draft->frames[0].p);
        lw_pose_invert(b->R, b->p, inverse.R, inverse.p);
        lw_pose_compose(inverse.R, inverse.p, world.R, world.p, draft->frames[1].R, draft->frames[1].p);
        return;
    }
    /* Body geometry. Where both poses are explicit, directions left open are those that coincide in the
     * reference configuration; otherwise those that coincide when the body axes do. */
    bool aligned = compiler->posed[draft->bodies[0]] && compiler->posed[draft->bodies[1]];
    lw_joint_type type = spec->type;
    frame_axes(type, &spec->geometry[0], NULL, draft->frames[0].R);
    lw_v3_copy(spec->geometry[0].point, draft->frames[0].p);
    lw_v3_copy(spec->geometry[1].point, draft->frames[1].p);
    double world[9], seen[9];
    lw_m3_mul(a->R, draft->frames[0].R, world);
    lw_m3_tmul(b->R, world, seen); /* the first frame's axes in the second body, reference configuration */
    const double x[3] = {seen[0], seen[3], seen[6]};
    bool open = type == LW_JOINT_TRANSLATION || (spec->geometry[1].axis_count == 0 && type == LW_JOINT_WELD);
    if (aligned && open)
        memcpy(draft->frames[1].R, seen, sizeof seen);
    else
        frame_axes(type, &spec->geometry[1], aligned ? x : NULL, draft->frames[1].R);
}

/* Warns of poses that say where two bodies are, and a joint in body frames that says otherwise. */
static void compare_with_poses(lw_compiler *compiler, const lw_joint_spec *spec,
                               const lw_joint_draft *draft) {
    bool point_is_shared = spec->type == LW_JOINT_REVOLUTE || spec->type == LW_JOINT_UNIVERSAL ||
                           spec->type == LW_JOINT_SPHERICAL || spec->type == LW_JOINT_WELD;
    if (spec->frame != LW_GEOMETRY_BODY || !point_is_shared) return;
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

static lw_status draft_joint(lw_compiler *compiler, const lw_joint_spec *spec, lw_joint_draft *draft) {
    lw_joint *joint = &draft->joint;
    joint->type = spec->type;
    joint->pitch = spec->lead / (2 * LW_PI);
    joint->nq = lw_joint_type_q(spec->type, spec->geometry[0].axis_count);
    joint->nv = lw_joint_type_v(spec->type, spec->geometry[0].axis_count);
    joint_frames(compiler, spec, draft);
    joint->axis = 2; /* z of the joint's frame */
    joint->sign = 1;
    if (spec->type == LW_JOINT_TRANSLATION) {
        double *axes = LW_NEW(compiler->model->arena, double, 9);
        if (!axes) return LW_ERROR_MEMORY;
        for (int k = 0; k < joint->nv; k++) lw_unit(spec->geometry[0].axes[k], axes + 3 * k);
        joint->axes = axes;
    }
    lw_joint_zero(spec->type, draft->q);
    if (spec->has_q) {
        for (int k = 0; k < joint->nq; k++) draft->q[k] = spec->q[k];
    } else if ((spec->type == LW_JOINT_FREE || spec->type == LW_JOINT_SPHERICAL) &&
               spec->frame == LW_GEOMETRY_BODY) { /* starts where the poses say */
        lw_pose first, second, inverse, relative;
        const lw_pose *a = &compiler->reference[draft->bodies[0]],
                      *b = &compiler->reference[draft->bodies[1]];
        lw_pose_compose(a->R, a->p, draft->frames[0].R, draft->frames[0].p, first.R, first.p);
        lw_pose_compose(b->R, b->p, draft->frames[1].R, draft->frames[1].p, second.R, second.p);
        lw_pose_invert(first.R, first.p, inverse.R, inverse.p);
        lw_pose_compose(inverse.R, inverse.p, second.R, second.p, relative.R, relative.p);
        if (spec->type == LW_JOINT_FREE) lw_v3_copy(relative.p, draft->q);
        lw_quat_rot(relative.R, draft->q + lw_joint_quaternion(spec->type));
    }
    compare_with_poses(compiler, spec, draft);
    int at = lw_joint_quaternion(spec->type);
    if (at >= 0) lw_quat_normalise(draft->q + at);
    if (spec->has_v)
        for (int k = 0; k < joint->nv; k++) draft->v[k] = spec->v[k];
    for (int k = 0; k < joint->nv; k++)
        if (spec->motion[k]) draft->prescribed |= 1u << k;
    return LW_OK;
}

/* --- reference configuration ---------------------------------------------------------------------- */

/* Pose of the second body of a body-frame joint from that of the first at q = 0, or the other way round. */
static void pose_across(const lw_compiler *compiler, int joint, int from_side, lw_pose *to) {
    const lw_joint_spec *spec = &compiler->spec->joints[joint];
    const lw_joint_geometry *g = spec->geometry;
    const lw_pose *from = &compiler->reference[compiler->drafts[joint].bodies[from_side]];
    int other = 1 - from_side;
    lw_pose near, far, inverse, world;
    frame_axes(spec->type, &g[from_side], NULL, near.R);
    frame_axes(spec->type, &g[other], NULL, far.R);
    lw_v3_copy(g[from_side].point, near.p);
    lw_v3_copy(g[other].point, far.p);
    lw_pose_compose(from->R, from->p, near.R, near.p, world.R, world.p);
    lw_pose_invert(far.R, far.p, inverse.R, inverse.p);
    lw_pose_compose(world.R, world.p, inverse.R, inverse.p, to->R, to->p);
}

/* Does a joint say where one body is from where the other is? */
static bool leads_on(const lw_compiler *compiler, int joint) {
    const lw_joint_spec *spec = &compiler->spec->joints[joint];
    return compiler->drafts[joint].usable && spec->frame == LW_GEOMETRY_BODY && spec->type != LW_JOINT_FREE;
}

static lw_status compile_reference(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    bool *known = LW_NEW(compiler->scratch, bool, nb + 1);
    bool *in_world = LW_NEW(compiler->scratch, bool, nb + 1);
    int *queue = LW_NEW(compiler->scratch, int, nb + 1);
    int *start = LW_NEW(compiler->scratch, int, nb + 2), *at = LW_NEW(compiler->scratch, int, 2 * nj + 1);
    if (!known || !in_world || !queue || !start || !at) return LW_ERROR_MEMORY;
    int tail = 0;
    for (int i = 0; i <= nb; i++) {
        lw_pose *pose = &compiler->reference[i];
        lw_m3_identity(pose->R);
        bool given = i == 0 || spec->bodies[i - 1].has_pose;
        if (i > 0 && given) {
            double q[4];
            memcpy(q, spec->bodies[i - 1].rotation, sizeof q);
            lw_quat_normalise(q);
            lw_rot_quat(q, pose->R);
            lw_v3_copy(spec->bodies[i - 1].position, pose->p);
        }
        compiler->posed[i] = known[i] = given;
        if (given) queue[tail++] = i;
    }
    /* body-frame joints by body, in compressed rows: at[start[i]] .. at[start[i + 1] - 1] */
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && leads_on(compiler, j); side++)
            start[compiler->drafts[j].bodies[side]]++;
    for (int i = 1; i <= nb; i++) start[i] += start[i - 1];
    start[nb + 1] = start[nb];
    for (int j = nj - 1; j >= 0; j--)
        for (int side = 0; side < 2 && leads_on(compiler, j); side++)
            at[--start[compiler->drafts[j].bodies[side]]] = j;
    for (int j = 0; j < nj; j++)
        for (int side = 0; side < 2 && compiler->drafts[j].usable; side++)
            if (spec->joints[j].frame == LW_GEOMETRY_WORLD) in_world[compiler->drafts[j].bodies[side]] = true;
    /* first from what is given; then from bodies that a joint in the world places, then from
     * any that is left */
    for (int head = 0, pass = 0, next = 1;; head++) {
        for (; head == tail && pass < 2; next = 1, pass++)
            for (; head == tail && next <= nb; next++)
                if (!known[next] && (pass == 1 || in_world[next])) known[next] = true, queue[tail++] = next;
        if (head == tail) break;
        int body = queue[head];
        for (int k = start[body]; k < start[body + 1]; k++) {
            int side = compiler->drafts[at[k]].bodies[0] == body ? 0 : 1;
            int other = compiler->drafts[at[k]].bodies[1 - side];
            if (known[other]) continue;
            pose_across(compiler, at[k], side, &compiler->reference[other]);
            known[other] = true;
            queue[tail++] = other;
        }
    }
    return LW_OK;
}

/* --- bodies and joints by themselves -------------------------------------------------------------- */

static lw_status compile_parts(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    for (size_t k = 0; k < spec->body_count; k++) lw_validate_body(compiler, &spec->bodies[k]);
    for (size_t k = 0; k < spec->joint_count; k++) {
        const lw_joint_spec *joint = &spec->joints[k];
        lw_joint_draft *draft = &compiler->drafts[k];
        for (int side = 0; side < 2; side++)
            draft->bodies[side] =
                lw_compile_body(compiler, "joint", joint->name, joint->place, joint->bodies[side]);
        bool sound = lw_validate_joint(compiler, joint);
        if (draft->bodies[0] >= 0 && draft->bodies[0] == draft->bodies[1]) {
            lw_compile_error(compiler, "joint", joint->name, joint->place, "name two different bodies",
                             "joins body \"%s\" to itself", joint->bodies[0]);
            sound = false;
        }
        draft->usable = sound && draft->bodies[0] >= 0 && draft->bodies[1] >= 0;
    }
    return LW_OK;
}

/* --- tree ----------------------------------------------------------------------------------------- */

static lw_status compile_graph(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    bool *massless = LW_NEW(compiler->scratch, bool, nb + 1);
    lw_edge *edges = LW_NEW(compiler->scratch, lw_edge, nj + 1);
    if (!massless || !edges) return LW_ERROR_MEMORY;
    for (int i = 0; i < nb; i++) massless[i + 1] = spec->bodies[i].mass == 0;
    for (int j = 0; j < nj; j++) {
        const lw_joint_draft *draft = &compiler->drafts[j];
        edges[j].bodies[0] = draft->bodies[0];
        edges[j].bodies[1] = draft->bodies[1];
        edges[j].freedom = draft->joint.nv;
        edges[j].keep = draft->prescribed || spec->joints[j].has_q || spec->joints[j].has_v;
        edges[j].wish_cut = spec->joints[j].cut;
    }
    for (size_t k = 0; k < spec->force_count; k++) {
        lw_force_type type = spec->forces[k].type;
        bool in_joint = type == LW_FORCE_TORSION || type == LW_FORCE_DRIVE || type == LW_FORCE_FRICTION;
        int joint =
            in_joint && spec->forces[k].joint ? lw_names_find(&compiler->joints, spec->forces[k].joint) : -1;
        if (joint >= 0) edges[joint].keep = true;
    }
    for (size_t k = 0; k < spec->constraint_count; k++)
        for (int i = 0; i < spec->constraints[k].terms && i < LW_COUPLING_MAX; i++) {
            const char *name = spec->constraints[k].joints[i];
            int joint = name ? lw_names_find(&compiler->joints, name) : -1;
            if (joint >= 0) edges[joint].keep = true;
        }
    lw_graph *graph = &compiler->model->graph;
    lw_status status = lw_graph_analyse(compiler->model->arena, nb, massless, nj, edges, graph);
    if (status != LW_OK) return status;
    for (int i = 1; i <= nb && graph->unreached; i++)
        if (graph->label[i] < 0 && lw_names_find(&compiler->bodies, compiler->bodies.names[i]) == i)
            lw_compile_error(compiler, "body", spec->bodies[i - 1].name, spec->bodies[i - 1].place,
                             "join it to ground or to a body that is; a joint of type free lets it float",
                             "is not connected to ground");
    for (int k = 0; k < graph->loop_count; k++) {
        const lw_joint_spec *cut = &spec->joints[graph->loop_edge[graph->loop_start[k]]];
        if (graph->loop_cut_at_massless[k])
            lw_compile_warning(
                compiler, "joint", cut->name, cut->place,
                "give one body of the loop mass, or weld massless bodies to their neighbours",
                "closes a loop at a massless body, because every joint of the loop touches one");
    }
    return LW_OK;
}

/* Inertia of a body in its internal frame. */
static void link_inertia(const lw_body_spec *body, lw_link *link, lw_body *own) {
    const lw_pose *f = &own->frame;
    double about[6] = {0}, c[3];
    lw_pose_point(f->R, f->p, body->com, c);
    if (body->kind == LW_BODY_SPATIAL) memcpy(about, body->inertia, sizeof about);
    if (body->kind == LW_BODY_PLANAR) about[2] = body->inertia[2];
    double m = body->mass, *J = link->inertia.second;
    lw_s3_rotate(f->R, about, J);
    double square = lw_v3_dot(c, c);
    for (int k = 0; k < 3; k++) {
        J[k] += m * (square - c[k] * c[k]);
        link->inertia.moment[k] = m * c[k];
    }
    J[3] -= m * c[0] * c[1], J[4] -= m * c[0] * c[2], J[5] -= m * c[1] * c[2];
    link->inertia.mass = m;
    link->principal = J[3] == 0 && J[4] == 0 && J[5] == 0;
    for (int k = 0; k < 6; k++) link->spread[k] = (k < 3 ? 0.5 * (J[0] + J[1] + J[2]) : 0) - J[k];
    lw_v3_copy(c, own->com);
}

/* Turns a pose's axes by half a turn about x: z and y change sign. */
static void flip(lw_pose *pose) {
    for (int i = 0; i < 9; i += 3) pose->R[i + 1] = -pose->R[i + 1], pose->R[i + 2] = -pose->R[i + 2];
}

/* Makes a joint ready to be evaluated from its second body to its first. */
static void reverse_joint(lw_joint *joint, lw_pose frames[2]) {
    switch (joint->type) {
    case LW_JOINT_WELD:
        break;
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_PRISMATIC:
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL: /* about and along -z it is the same motion with the same coordinates */
        flip(&frames[0]);
        flip(&frames[1]);
        break;
    case LW_JOINT_TRANSLATION:
        joint->sign = -1;
        break;
    default:
        joint->inverse = true;
    }
}

/* Where a revolute or prismatic joint moves about or along a coordinate axis of the parent, gives the child
 * the parent's axes at q = 0: then the joint's base is not turned (model.h). mine is the joint's frame on the
 * child. */
static void align(lw_link *link, lw_pose *mine) {
    const double *B = link->R;
    link->kernel = LW_KERNEL_GENERAL;
    if (!link->prescribed && !link->joint.inverse) {
        if (link->joint.type == LW_JOINT_SPHERICAL) link->kernel = LW_KERNEL_SPHERICAL;
        if (link->joint.type == LW_JOINT_FREE) link->kernel = LW_KERNEL_FREE;
    }
    if (link->joint.type != LW_JOINT_REVOLUTE && link->joint.type != LW_JOINT_PRISMATIC) return;
    for (int k = 0; k < 3; k++) {
        double along = B[3 * k + 2], across = fabs(B[3 * ((k + 1) % 3) + 2]) + fabs(B[3 * ((k + 2) % 3) + 2]);
        if (across > 1e-15) continue;
        double R[9];
        link->joint.axis = k;
        link->joint.sign = along > 0 ? 1 : -1;
        if (!link->prescribed)
            link->kernel = (signed char)(k + (link->joint.type == LW_JOINT_REVOLUTE ? LW_KERNEL_REVOLUTE
                                                                                    : LW_KERNEL_PRISMATIC));
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) R[3 * i + j] = lw_v3_dot(mine->R + 3 * i, B + 3 * j); /* mine base' */
        memcpy(mine->R, R, sizeof R);
        lw_m3_identity(link->R);
        return;
    }
}

/* Gives each body that carries others a slot for the inertia that they hand over in a backward pass, and
 * takes it back when the pass has reached the body: a chain needs two, whatever its length, and they stay in
 * the cache. */
static lw_status assign_slots(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    int *vacant = LW_NEW(compiler->scratch, int, model->body_count + 1), vacancies = 0;
    if (!vacant) return LW_ERROR_MEMORY;
    for (int i = 0; i <= model->body_count; i++) model->links[i].slot = -1;
    for (int i = model->body_count; i >= 1; i--) {
        lw_link *link = &model->links[i], *parent = &model->links[link->parent];
        link->first = link->parent > 0 && parent->slot < 0;
        if (link->first) parent->slot = vacancies ? vacant[--vacancies] : model->slot_count++;
        if (link->slot >= 0) vacant[vacancies++] = link->slot;
    }
    return LW_OK;
}

static lw_status compile_tree(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    const lw_graph *graph = &model->graph;
    int nb = model->body_count, nj = model->joint_count;
    model->links = LW_NEW(model->arena, lw_link, nb + 1);
    model->bodies = LW_NEW(model->arena, lw_body, nb + 1);
    model->joints = LW_NEW(model->arena, lw_joint_entry, nj + 1);
    model->closures = LW_NEW(model->arena, lw_closure, graph->loop_count + 1);
    if (!model->links || !model->bodies || !model->joints || !model->closures) return LW_ERROR_MEMORY;
    lw_body *ground = &model->bodies[0];
    ground->name = LW_GROUND;
    model->links[0].parent = ground->joint_index = -1;
    lw_m3_identity(ground->frame.R);
    for (int j = 0; j < nj; j++) {
        lw_joint_entry *entry = &model->joints[j];
        entry->name = lw_arena_text(model->arena, spec->joints[j].name);
        if (!entry->name) return LW_ERROR_MEMORY;
        entry->place = spec->joints[j].place;
        entry->info =
            (lw_joint_info){.name = entry->name, .type = spec->joints[j].type, .child = -1, .q = -1, .v = -1};
        for (int side = 0; side < 2; side++)
            entry->info.bodies[side] = graph->label[compiler->drafts[j].bodies[side]];
    }
    for (int i = 1; i <= nb; i++) {
        const lw_body_spec *body = &spec->bodies[graph->body[i] - 1];
        int j = graph->edge[i];
        lw_joint_draft draft = compiler->drafts[j];
        lw_link *link = &model->links[i];
        lw_body *own = &model->bodies[i];
        lw_joint_info *info = &model->joints[j].info;
        info->reversed = info->bodies[0] == i;
        link->parent = graph->parent[i];
        own->joint_index = j;
        own->name = lw_arena_text(model->arena, body->name);
        if (!own->name) return LW_ERROR_MEMORY;
        own->kind = body->kind;
        own->shape = body->shape;
        own->place = body->place;
        link->prescribed = (unsigned char)draft.prescribed;
        if (info->reversed) reverse_joint(&draft.joint, draft.frames);
        link->joint = draft.joint;
        link->q = model->nq, link->v = model->nv;
        model->nq += draft.joint.nq, model->nv += draft.joint.nv;
        info->child = i;
        info->q = link->q, info->v = link->v;
        info->q_count = draft.joint.nq, info->v_count = draft.joint.nv;
        info->prescribed = draft.prescribed;
        lw_pose *mine = &draft.frames[info->reversed ? 0 : 1],
                *theirs = &draft.frames[info->reversed ? 1 : 0];
        const lw_pose *parent = &model->bodies[link->parent].frame;
        lw_pose_compose(parent->R, parent->p, theirs->R, theirs->p, link->R, link->p);
        align(link, mine);
        link->sign = (float)link->joint.sign;
        lw_pose_invert(mine->R, mine->p, own->frame.R, own->frame.p);
        link_inertia(body, link, own);
    }
    if (lw_names_create(model->arena, nb + 1, &model->body_names) != LW_OK ||
        lw_names_create(model->arena, nj, &model->joint_names) != LW_OK)
        return LW_ERROR_MEMORY;
    for (int i = 0; i <= nb; i++) model->body_names.names[i] = model->bodies[i].name;
    for (int j = 0; j < nj; j++) model->joint_names.names[j] = model->joints[j].name;
    lw_names_sort(&model->body_names);
    lw_names_sort(&model->joint_names);
    lw_status status = assign_slots(compiler);
    if (status != LW_OK) return status;
    model->turns = LW_NEW(model->arena, lw_turn, nb + 1);
    if (!model->turns) return LW_ERROR_MEMORY;
    for (int i = 1; i <= nb; i++) {
        const lw_link *link = &model->links[i];
        if (link->kernel >= LW_KERNEL_REVOLUTE && link->kernel < LW_KERNEL_PRISMATIC)
            model->turns[model->turn_count++] = (lw_turn){link->q, link->v, link->sign};
    }
    for (int j = 0; j < nj; j++) {
        lw_joint_entry *entry = &model->joints[j];
        const lw_pose *frame = &model->bodies[entry->info.bodies[1]].frame,
                      *second = &compiler->drafts[j].frames[1];
        lw_pose_compose(frame->R, frame->p, second->R, second->p, entry->second.R, entry->second.p);
    }
    model->closure_count = graph->loop_count;
    for (int k = 0; k < graph->loop_count; k++) {
        int j = graph->loop_edge[graph->loop_start[k]];
        const lw_joint_draft *draft = &compiler->drafts[j];
        lw_joint_entry *entry = &model->joints[j];
        lw_closure *closure = &model->closures[k];
        entry->info.cut = true;
        entry->info.rows = 6 - draft->joint.nv;
        closure->joint_index = j;
        closure->joint = draft->joint;
        for (int side = 0; side < 2; side++) {
            closure->bodies[side] = entry->info.bodies[side];
            const lw_pose *frame = &model->bodies[closure->bodies[side]].frame;
            lw_pose_compose(frame->R, frame->p, draft->frames[side].R, draft->frames[side].p,
                            closure->frames[side].R, closure->frames[side].p);
        }
        if (draft->prescribed)
            lw_compile_error(
                compiler, "joint", entry->name, entry->place, "move the motion to another joint of the loop",
                "its motion is prescribed, but every joint of its loop must be kept, so it would be cut");
    }
    return LW_OK;
}

/* --- initial state -------------------------------------------------------------------------------- */

/* A lower bound of what body i alone contributes to the pivot of speed k, 0 if it contributes nothing for
 * sure. Exact for one speed; for several, the speeds before it may take away all but the least moment about
 * the centre of mass m c, or the mass that is felt at the origin, and oblique axes a little more. */
static double own_pivot(const lw_model *model, const double *S, int i, int k) {
    const lw_link *link = &model->links[i];
    const lw_rigid_inertia *I = &link->inertia;
    if (link->joint.nv == 1) {
        double f[6];
        lw_rigid_mul(I, S, f);
        return lw_v6_dot(S, f);
    }
    const double *c = model->bodies[i].com;
    double J[6], e[3], square = lw_v3_dot(c, c);
    memcpy(J, I->second, sizeof J);
    for (int l = 0; l < 3; l++) J[l] -= I->mass * (square - c[l] * c[l]);
    J[3] += I->mass * c[0] * c[1], J[4] += I->mass * c[0] * c[2], J[5] += I->mass * c[1] * c[2];
    lw_principal_moments(J, e);
    if (!(e[0] > 1e-9 * e[2])) return 0;
    if (lw_joint_speed_turns(link->joint.type, k)) return 1e-3 * e[0];
    return I->mass > 0 ? 1e-3 / (1 / I->mass + square / e[0]) : 0;
}

/* A pivot of the articulated recursion is zero if it is below 1e-12 of the composite inertia that the joint
 * carries: some thousand roundings of the quantities it is the difference of. But what the body alone
 * contributes cannot be lost, so that half of it is a floor, too, and the lower one counts: in a long chain
 * the composite inertia grows with the cube of the length, and its 1e-12 may exceed a sound pivot. */
static lw_status compile_floors(lw_model *model, lw_data *data) {
    model->pivot_floor = LW_NEW(model->arena, double, model->nv + 1);
    if (!model->pivot_floor) return LW_ERROR_MEMORY;
    lw_take_state(model, data, 0, model->q0, model->v0);
    lw_positions(model, data);
    for (int i = 1; i <= model->body_count; i++) data->composite[i] = model->links[i].inertia;
    for (int i = model->body_count; i >= 1; i--) {
        const lw_link *link = &model->links[i];
        const lw_rigid_inertia *I = &data->composite[i];
        for (int k = 0; k < link->joint.nv; k++) {
            bool turns = lw_joint_speed_turns(link->joint.type, k);
            double trace = I->second[0] + I->second[1] + I->second[2];
            double own = own_pivot(model, data->S + 6 * link->v, i, k),
                   *floor = &model->pivot_floor[link->v + k];
            *floor = 1e-12 * (turns ? trace : 3 * I->mass);
            if (own > 0) *floor = fmin(*floor, 0.5 * own);
        }
        if (link->parent)
            lw_rigid_add_to_parent(data->motion[i].R, data->motion[i].p, I, &data->composite[link->parent]);
    }
    return LW_OK;
}

static lw_status compile_state(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    model->q0 = LW_NEW(model->arena, double, model->nq + 1);
    model->v0 = LW_NEW(model->arena, double, model->nv + 1);
    if (!model->q0 || !model->v0) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        const lw_joint_draft *draft = &compiler->drafts[model->bodies[i].joint_index];
        memcpy(model->q0 + link->q, draft->q, (size_t)link->joint.nq * sizeof *model->q0);
        memcpy(model->v0 + link->v, draft->v, (size_t)link->joint.nv * sizeof *model->v0);
    }
    lw_data *data;
    lw_status status = lw_data_create(model, NULL, &data);
    if (status != LW_OK) return status;
    lw_take_state(model, data, 0, model->q0, model->v0); /* prescribed entries */
    memcpy(model->q0, data->q, (size_t)model->nq * sizeof *model->q0);
    memcpy(model->v0, data->v, (size_t)model->nv * sizeof *model->v0);
    if (!lw_finite(model->q0, model->nq) || !lw_finite(model->v0, model->nv))
        lw_compile_error(compiler, NULL, NULL, (lw_place){0, 0}, "check the prescribed motions at t = 0",
                         "the initial state is not finite");
    status = compile_floors(model, data);
    lw_data_destroy(data);
    return status;
}

/* --- all of it ------------------------------------------------------------------------------------ */

static lw_status compile_header(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    model->name = lw_arena_text(model->arena, spec->name);
    model->file = lw_arena_text(model->arena, spec->file);
    model->run = spec->run;
    model->run.method = lw_arena_text(model->arena, spec->run.method);
    model->run.integrator = lw_arena_text(model->arena, spec->run.integrator);
    model->run.drift = lw_arena_text(model->arena, spec->run.drift);
    lw_v3_copy(spec->gravity, model->gravity);
    if (!lw_finite(spec->gravity, 3))
        lw_compile_error(compiler, NULL, NULL, (lw_place){0, 0}, "give three finite numbers",
                         "gravity is not finite");
    model->body_count = (int)spec->body_count;
    model->joint_count = (int)spec->joint_count;
    for (size_t k = 0; k < spec->parameter_count; k++)
        compiler->constants[k] = (lw_constant){spec->parameters[k].name, spec->parameters[k].value};
    return model->name && model->file ? LW_OK : LW_ERROR_MEMORY;
}

static lw_status compile(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    compiler->reference = LW_NEW(compiler->scratch, lw_pose, spec->body_count + 1);
    compiler->posed = LW_NEW(compiler->scratch, bool, spec->body_count + 1);
    compiler->drafts = LW_NEW(compiler->scratch, lw_joint_draft, spec->joint_count + 1);
    compiler->constants = LW_NEW(compiler->scratch, lw_constant, spec->parameter_count + 1);
    if (!compiler->reference || !compiler->posed || !compiler->drafts || !compiler->constants)
        return LW_ERROR_MEMORY;
    lw_status status = compile_header(compiler);
    if (status == LW_OK) status = compile_names(compiler);
    if (status == LW_OK) status = compile_parts(compiler);
    if (status == LW_OK) status = compile_reference(compiler);
    if (status != LW_OK) return status;
    bool usable = true;
    for (size_t j = 0; j < spec->joint_count; j++) {
        usable &= compiler->drafts[j].usable;
        if (!compiler->drafts[j].usable) continue;
        status = draft_joint(compiler, &spec->joints[j], &compiler->drafts[j]);
        if (status != LW_OK) return status;
    }
    if (!usable) { /* no tree without all joints; still look at what the rest says */
        status = lw_compile_forces(compiler);
        return status == LW_OK ? lw_compile_constraints(compiler) : status;
    }
    status = compile_graph(compiler);
    if (status != LW_OK) return status;
    if (compiler->model->graph.unreached) {
        status = lw_compile_forces(compiler);
        return status == LW_OK ? lw_compile_constraints(compiler) : status;
    }
    status = compile_tree(compiler);
    if (status == LW_OK) status = lw_compile_motions(compiler);
    if (status == LW_OK) status = lw_compile_forces(compiler);
    if (status == LW_OK) status = lw_compile_constraints(compiler);
    if (status != LW_OK || compiler->errors) return status;
    lw_validate_planar(compiler);
    status = compile_state(compiler);
    if (status == LW_OK) status = lw_compile_lengths(compiler);
    return status;
}

void lw_spec_check_parts(const lw_spec *spec, lw_report *report) {
    lw_compiler compiler = {.spec = spec, .report = report};
    for (size_t k = 0; k < spec->body_count; k++) lw_validate_body(&compiler, &spec->bodies[k]);
    for (size_t k = 0; k < spec->joint_count; k++) lw_validate_joint(&compiler, &spec->joints[k]);
}

lw_status lw_model_compile(const lw_spec *spec, const lw_allocator *allocator, lw_report *report,
                           lw_model **out) {
    *out = NULL;
    lw_arena *arena = lw_arena_create(allocator), *scratch = lw_arena_create(allocator);
    lw_model *model = arena ? LW_NEW(arena, lw_model, 1) : NULL;
    lw_status status = LW_ERROR_MEMORY;
    lw_compiler compiler = {.spec = spec, .report = report, .scratch = scratch, .model = model};
    if (model && scratch) {
        model->arena = arena;
        status = compile(&compiler);
    }
    lw_arena_destroy(scratch);
    if (status == LW_OK && compiler.errors) status = LW_ERROR_MODEL;
    if (status == LW_ERROR_MEMORY)
        lw_complain(report, LW_SEVERITY_ERROR, spec->file, (lw_place){0, 0}, NULL, NULL, "out of memory");
    if (status == LW_OK)
        *out = model;
    else
        lw_arena_destroy(arena);
    return status;
}
