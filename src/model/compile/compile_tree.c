/* compile_tree.c - the spanning tree: graph, links and closures in regular labelling, internal frames, slots.
 *
 * Cost     O((n + joints) log), plus the length of the loops.
 */
#include "model/compile/compile.h"

#include <string.h>

/* --- tree ----------------------------------------------------------------------------------------- */

/* Explains why a requested cut is not made. Requests have priority over everything but the rule on massless
 * bodies (graph.c), so there are three reasons. */
static void explain_request(lw_compiler *compiler, int joint, const bool *massless, bool in_loop) {
    const lw_joint_spec *spec = &compiler->spec->joints[joint];
    const lw_joint_draft *draft = &compiler->drafts[joint];
    int light = -1;
    for (int side = 0; side < 2; side++)
        if (massless[draft->bodies[side]] && draft->joint.nv < 6) light = draft->bodies[side];
    if (!in_loop)
        lw_compile_warning(compiler, "joint", spec->name, spec->place, "remove cut: true",
                           "cut: true, but the joint is in no loop, so there is nothing to cut");
    else if (light >= 0)
        lw_compile_warning(compiler, "joint", spec->name, spec->place, "cut at another joint of the loop",
                           "cut: true is not followed, since body \"%s\" has no mass and a loop is closed "
                           "there only if it cannot "
                           "be closed elsewhere, or if that makes loops much shorter",
                           compiler->bodies.names[light]);
    else
        lw_compile_warning(
            compiler, "joint", spec->name, spec->place, "remove one cut: true of the loop",
            "cut: true is not followed, since all its loops are cut at other joints with cut: true");
}

static lw_status explain_requests(lw_compiler *compiler, const bool *massless) {
    const lw_graph *graph = &compiler->model->graph;
    bool *in_loop = LW_NEW(compiler->scratch, bool, graph->edge_count + 1);
    if (!in_loop) return LW_ERROR_MEMORY;
    for (int i = 0; i < graph->loop_start[graph->loop_count]; i++) in_loop[graph->loop_edge[i]] = true;
    for (int j = 0; j < graph->edge_count; j++) {
        bool reached = graph->label[compiler->drafts[j].bodies[0]] >= 0;
        if (compiler->spec->joints[j].cut && !graph->cut[j] && reached)
            explain_request(compiler, j, massless, in_loop[j]);
    }
    return LW_OK;
}

static bool has_rotor(const lw_joint_spec *joint) {
    for (int k = 0; k < LW_JOINT_MAX_V; k++)
        if (joint->armature[k] != 0) return true;
    return false;
}

static void keep(lw_edge *edge, lw_keep level) {
    if (level > edge->keep) edge->keep = level;
}

/* Returns what an element needs of the joint that it acts on. A slide has no revolutions to count. A drive
 * may depend on its angle; its expression is not examined here. */
static lw_keep element_needs(const lw_force_spec *force, const lw_joint *joint) {
    bool turns = force->coordinate >= 0 && force->coordinate < joint->nv &&
                 lw_joint_type_turns(joint->type, force->coordinate);
    return turns && force->type != LW_FORCE_FRICTION ? LW_KEEP_REVOLUTIONS : LW_KEEP_ELEMENT;
}

/* Describes the joints as edges of the graph, with the reasons not to cut them: given initial values, and
 * elements, constraints, rotors and motions that need their coordinates. */
static void describe_edges(const lw_compiler *compiler, lw_edge *edges) {
    const lw_spec *spec = compiler->spec;
    for (size_t j = 0; j < spec->joint_count; j++) {
        const lw_joint_draft *draft = &compiler->drafts[j];
        edges[j].bodies[0] = draft->bodies[0];
        edges[j].bodies[1] = draft->bodies[1];
        edges[j].freedom = draft->joint.nv;
        keep(&edges[j], spec->joints[j].has_q || spec->joints[j].has_v ? LW_KEEP_VALUES : LW_KEEP_NOT);
        if (draft->usable && lw_joint_describe(spec->joints[j].type)->screws)
            keep(&edges[j], LW_KEEP_REVOLUTIONS);
        if (draft->prescribed || has_rotor(&spec->joints[j])) keep(&edges[j], LW_KEEP_ALWAYS);
        for (int k = 0; k < draft->joint.nv; k++)
            if (spec->joints[j].limits[k][0] < spec->joints[j].limits[k][1])
                keep(&edges[j], LW_KEEP_REVOLUTIONS);
        edges[j].requested_cut = spec->joints[j].cut;
    }
    for (size_t k = 0; k < spec->force_count; k++) {
        lw_force_type type = spec->forces[k].type;
        bool in_joint = lw_force_type_in_joint(type);
        int joint =
            in_joint && spec->forces[k].joint ? lw_names_find(&compiler->joints, spec->forces[k].joint) : -1;
        if (joint >= 0) keep(&edges[joint], element_needs(&spec->forces[k], &compiler->drafts[joint].joint));
    }
    for (size_t k = 0; k < spec->constraint_count; k++)
        for (int i = 0; i < spec->constraints[k].terms && i < LW_COUPLING_MAX; i++) {
            const char *name = spec->constraints[k].joints[i];
            int joint = name ? lw_names_find(&compiler->joints, name) : -1;
            if (joint >= 0) keep(&edges[joint], LW_KEEP_ALWAYS);
        }
}

/* Reports errors for bodies without a connection to ground, and warnings for loops that are closed at a
 * massless body. */
static void judge_graph(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    const lw_graph *graph = &compiler->model->graph;
    for (int i = 1; i <= (int)spec->body_count && graph->unreached; i++)
        if (graph->label[i] < 0 && lw_names_find(&compiler->bodies, compiler->bodies.names[i]) == i)
            lw_compile_error(compiler, "body", spec->bodies[i - 1].name, spec->bodies[i - 1].place,
                             "join it to ground or to a body that is; a joint of type free lets it float",
                             "is not connected to ground");
    for (int k = 0; k < graph->loop_count; k++) {
        const lw_joint_spec *cut = &spec->joints[graph->loop_edge[graph->loop_start[k]]];
        if (graph->loop_cut_at_massless[k])
            lw_compile_warning(compiler, "joint", cut->name, cut->place,
                               "give one body of the loop mass, or weld massless bodies to their neighbours",
                               "closes a loop at a massless body, because every joint of the loop touches "
                               "one, or is prescribed "
                               "or coupled");
    }
}

/* A body without mass that is welded to one with mass moves with it, and is none without mass for a cut. */
static void share_mass(const lw_compiler *compiler, bool *massless) {
    const lw_spec *spec = compiler->spec;
    for (bool again = true; again;) {
        again = false;
        for (size_t j = 0; j < spec->joint_count; j++) {
            const int *bodies = compiler->drafts[j].bodies;
            if (spec->joints[j].type != LW_JOINT_WELD || spec->joints[j].cut || bodies[0] < 0 ||
                bodies[1] < 0)
                continue;
            if (massless[bodies[0]] == massless[bodies[1]]) continue;
            massless[bodies[0]] = massless[bodies[1]] = false;
            again = true;
        }
    }
}

lw_status lw_compile_graph(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    int nb = (int)spec->body_count, nj = (int)spec->joint_count;
    bool *massless = LW_NEW(compiler->scratch, bool, nb + 1);
    lw_edge *edges = LW_NEW(compiler->scratch, lw_edge, nj + 1);
    if (lw_arena_failed(compiler->scratch)) return LW_ERROR_MEMORY;
    for (int i = 0; i < nb; i++) massless[i + 1] = spec->bodies[i].mass == 0;
    if (spec->welds == LW_WELDS_MERGE) share_mass(compiler, massless);
    describe_edges(compiler, edges);
    lw_status status = lw_graph_analyse(model->arena, nb, massless, nj, edges, &model->graph);
    if (status != LW_OK) return status;
    judge_graph(compiler);
    return explain_requests(compiler, massless);
}

/* --- inertia and frames --------------------------------------------------------------------------- */

/* Removes products of inertia that are mere rounding: those that are negligible relative to the diagonal, and
 * those larger than the two moments allow, where validate.c has found both negligible. A remaining product
 * would count as inertia where there is none. */
static void drop_rounding(double I[6]) {
    static const int row[3] = {0, 0, 1}, column[3] = {1, 2, 2};
    double e[3];
    lw_principal_moments(I, e);
    bool negative = e[0] < -1e-9 * fmax(fabs(e[0]), fabs(e[2]));
    for (int k = 0; k < 3; k++) {
        double a = fabs(I[row[k]]), b = fabs(I[column[k]]), product = fabs(I[3 + k]);
        if (product <= 1e-16 * fmin(a, b) || (negative && product > sqrt(a) * sqrt(b))) I[3 + k] = 0;
    }
    for (int k = 0; k < 3 && negative; k++) I[k] = fmax(I[k], 0);
}

/* The moments of inertia of a body about its centre of mass, in its own axes. */
static void own_moments(const lw_body_spec *body, double about[6]) {
    for (int k = 0; k < 6; k++) about[k] = body->kind == LW_BODY_SPATIAL ? body->inertia[k] : 0;
    if (body->kind == LW_BODY_PLANAR) about[2] = body->inertia[2];
}

/* Computes the inertia of a body whose frame is f, and its centre of mass c. */
static void body_inertia(const lw_body_spec *body, const lw_pose *f, lw_rigid_inertia *I, double c[3]) {
    double about[6];
    lw_pose_point(f->R, f->p, body->com, c);
    own_moments(body, about);
    drop_rounding(about);
    double m = body->mass, *J = I->second;
    lw_s3_rotate(f->R, about, J);
    double square = lw_v3_dot(c, c);
    for (int k = 0; k < 3; k++) {
        J[k] += m * (square - c[k] * c[k]);
        I->moment[k] = m * c[k];
    }
    J[3] -= m * c[0] * c[1], J[4] -= m * c[0] * c[2], J[5] -= m * c[1] * c[2];
    I->mass = m;
}

/* The bodies that are merged with the carrier of a link. */
static int members_of(const lw_compiler *compiler, int link, const lw_member **members) {
    if (!compiler->merge) return 0;
    *members = compiler->merge->members + compiler->merge->first[link];
    return compiler->merge->first[link + 1] - compiler->merge->first[link];
}

/* Adds the inertias of the members of a group: the sums (2), (3) of docs/theory/welds.md. */
static void add_members(const lw_compiler *compiler, int i, lw_link *link, lw_body *own) {
    const lw_member *member = NULL;
    const int count = members_of(compiler, i, &member);
    lw_rigid_inertia *sum = &link->inertia;
    for (int k = 0; k < count; k++, member++) {
        lw_pose frame;
        lw_rigid_inertia I;
        double c[3];
        lw_pose_compose(own->frame.R, own->frame.p, member->in.R, member->in.p, frame.R, frame.p);
        body_inertia(member->body, &frame, &I, c);
        if (sum->mass == 0) lw_v3_copy(c, own->com); /* where no member has mass, any centre will do */
        sum->mass += I.mass;
        lw_v3_add(sum->moment, I.moment, sum->moment);
        for (int l = 0; l < 6; l++) sum->second[l] += I.second[l];
    }
    for (int l = 0; l < 3 && count > 0 && sum->mass > 0; l++) own->com[l] = sum->moment[l] / sum->mass;
}

/* Computes the inertia of a link in its internal frame. */
static void link_inertia(const lw_compiler *compiler, int i, const lw_body_spec *body) {
    lw_link *link = &compiler->model->links[i];
    lw_body *own = &compiler->model->bodies[i];
    body_inertia(body, &own->frame, &link->inertia, own->com);
    add_members(compiler, i, link, own);
    const double *J = link->inertia.second;
    link->principal = J[3] == 0 && J[4] == 0 && J[5] == 0;
}

/* Adds the moments of a body with this frame about the point c. */
static void add_central(const lw_body_spec *body, const lw_pose *f, const double c[3], double J[6]) {
    double about[6], turned[6], d[3], m = body->mass;
    own_moments(body, about);
    lw_s3_rotate(f->R, about, turned);
    lw_pose_point(f->R, f->p, body->com, d);
    lw_v3_sub(d, c, d);
    double square = lw_v3_dot(d, d);
    for (int k = 0; k < 3; k++) J[k] += turned[k] + m * (square - d[k] * d[k]);
    J[3] += turned[3] - m * d[0] * d[1];
    J[4] += turned[4] - m * d[0] * d[2];
    J[5] += turned[5] - m * d[1] * d[2];
}

void lw_compile_central(const lw_compiler *compiler, int link, double J[6]) {
    const lw_model *model = compiler->model;
    const lw_body *own = &model->bodies[link];
    const lw_body_spec *body = &compiler->spec->bodies[model->graph.body[link] - 1];
    const lw_member *member = NULL;
    const int count = members_of(compiler, link, &member);
    if (count == 0) {
        double about[6];
        own_moments(body, about);
        lw_s3_rotate(own->frame.R, about, J);
        return;
    }
    for (int k = 0; k < 6; k++) J[k] = 0;
    add_central(body, &own->frame, own->com, J);
    for (int k = 0; k < count; k++, member++) {
        lw_pose frame;
        lw_pose_compose(own->frame.R, own->frame.p, member->in.R, member->in.p, frame.R, frame.p);
        add_central(member->body, &frame, own->com, J);
    }
}

/* Rotates the axes of a pose by half a turn about x: y and z change sign. */
static void flip(lw_pose *pose) {
    for (int i = 0; i < 9; i += 3) pose->R[i + 1] = -pose->R[i + 1], pose->R[i + 2] = -pose->R[i + 2];
}

/* Reverses a joint, so that it is evaluated from its second body to its first. */
static void reverse_joint(lw_joint *joint, lw_pose frames[2]) {
    if (joint->nv == 0) return;
    if (lw_joint_has_one_axis(
            joint->type)) { /* The same coordinates describe the reversed motion about and along -z. */
        flip(&frames[0]);
        flip(&frames[1]);
    } else if (lw_joint_describe(joint->type)->axes_are_slides)
        joint->sign = -1;
    else
        joint->inverse = true;
}

/* If a revolute or prismatic joint moves about or along a coordinate axis of the parent, the child's internal
 * frame gets the parent's axes at q = 0, so that the joint's base is not rotated (compiled_model.h). `mine`
 * is the joint's frame on the child. rotor: the joint has a rotor, for which only the general kernel serves
 * (docs/theory/armature.md). */
static void align(lw_link *link, lw_pose *mine, bool rotor) {
    const double *B = link->R;
    const bool plain = !link->prescribed && !rotor;
    link->kernel = LW_KERNEL_GENERAL;
    if (link->joint.kernel != LW_KERNEL_REVOLUTE && link->joint.kernel != LW_KERNEL_PRISMATIC) {
        if (plain && !link->joint.inverse) link->kernel = (signed char)link->joint.kernel;
        return;
    }
    for (int k = 0; k < 3; k++) {
        double along = B[3 * k + 2], across = fabs(B[3 * ((k + 1) % 3) + 2]) + fabs(B[3 * ((k + 2) % 3) + 2]);
        if (across > 1e-15) continue;
        double R[9];
        link->joint.axis = k;
        link->joint.sign = along > 0 ? 1 : -1;
        if (plain) link->kernel = (signed char)(link->joint.kernel + k);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) R[3 * i + j] = lw_v3_dot(mine->R + 3 * i, B + 3 * j); /* mine base' */
        memcpy(mine->R, R, sizeof R);
        lw_m3_identity(link->R);
        return;
    }
}

/* Gives each body that carries others a slot for the inertia that they add in a backward pass. The slot is
 * free again when the pass has reached the body, so that a chain of any length needs only two slots, which
 * stay in the cache. A forward pass uses the slot from the body to its last child, which is the same range of
 * labels. Ground has the slot behind the others. */
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
    model->links[0].slot = model->slot_count;
    return LW_OK;
}

/* Assigns the columns of every branch. During the backward loop `end` is the width of a branch, and `first`
 * counts from the first column of the parent's branch; the forward loop makes both absolute. */
static lw_status assign_columns(lw_model *model) {
    lw_branch *branches = LW_NEW(model->arena, lw_branch, model->body_count + 1);
    if (!branches) return LW_ERROR_MEMORY;
    for (int i = model->body_count; i >= 1; i--) {
        lw_branch *own = &branches[i], *parent = &branches[model->links[i].parent];
        own->end += model->links[i].joint.nv;
        own->first = parent->end + parent->end % 2;
        parent->end = own->first + own->end;
    }
    int *speeds = LW_NEW(model->arena, int, branches[0].end + 1);
    if (!speeds) return LW_ERROR_MEMORY;
    for (int c = 0; c <= branches[0].end; c++) speeds[c] = -1;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        branches[i].first += branches[link->parent].first;
        branches[i].end += branches[i].first;
        for (int k = 0; k < link->joint.nv; k++) speeds[branches[i].end - link->joint.nv + k] = link->v + k;
    }
    model->branches = branches;
    model->column_speeds = speeds;
    return LW_OK;
}

/* --- links ---------------------------------------------------------------------------------------- */

static lw_status enter_joints(lw_compiler *compiler) {
    const lw_spec *spec = compiler->spec;
    lw_model *model = compiler->model;
    for (int j = 0; j < model->joint_count; j++) {
        lw_joint_entry *entry = &model->joints[j];
        entry->name = lw_arena_text(model->arena, spec->joints[j].name);
        if (!entry->name) return LW_ERROR_MEMORY;
        entry->place = spec->joints[j].place;
        entry->info =
            (lw_joint_info){.name = entry->name, .type = spec->joints[j].type, .child = -1, .q = -1, .v = -1};
        for (int side = 0; side < 2; side++)
            entry->info.bodies[side] = model->graph.label[compiler->drafts[j].bodies[side]];
        for (int k = 0; k < LW_JOINT_MAX_Q; k++) entry->winding[k] = -1;
    }
    return LW_OK;
}

static lw_status enter_body(const lw_compiler *compiler, const lw_body_spec *body, lw_body *own) {
    lw_model *model = compiler->model;
    own->name = lw_arena_text(model->arena, body->name);
    own->kind = body->kind;
    own->place = body->place;
    const lw_shape *shapes = body->shape_count > 0 ? body->shapes : &body->shape;
    own->shape_count = body->shape_count > 0 ? body->shape_count : body->shape.kind != LW_SHAPE_NONE;
    if (compiler->merge) own->shape_count = 0; /* They are drawn on the bodies of the whole model. */
    if (own->shape_count > 0) {
        own->shapes = lw_shapes_copy(&model->meshes, model->arena, shapes, own->shape_count);
        if (!own->shapes) return LW_ERROR_MEMORY;
    }
    return own->name ? LW_OK : LW_ERROR_MEMORY;
}

/* Gives a link the joint of its draft, and numbers the joint's coordinates and speeds. */
static void enter_coordinates(lw_model *model, int i, const lw_joint_draft *draft) {
    lw_link *link = &model->links[i];
    lw_joint_info *info = &model->joints[model->bodies[i].joint_index].info;
    link->joint = draft->joint;
    link->prescribed = (unsigned char)draft->prescribed;
    link->q = model->nq, link->v = model->nv;
    model->nq += draft->joint.nq, model->nv += draft->joint.nv;
    info->child = i;
    info->q = link->q, info->v = link->v;
    info->q_count = draft->joint.nq, info->v_count = draft->joint.nv;
    info->prescribed = draft->prescribed;
}

/* Chooses the internal frame of a body, whose parent already has one. `mine` and `theirs` are the joint's
 * frames on the body and on the parent. */
static void choose_frame(lw_model *model, int i, lw_pose *mine, const lw_pose *theirs, bool rotor) {
    lw_link *link = &model->links[i];
    lw_body *own = &model->bodies[i];
    const lw_pose *parent = &model->bodies[link->parent].frame;
    double identity[9];
    lw_pose_compose(parent->R, parent->p, theirs->R, theirs->p, link->R, link->p);
    align(link, mine, rotor);
    link->sign = (float)link->joint.sign;
    lw_m3_identity(identity);
    link->joint.straight = memcmp(link->R, identity, sizeof identity) == 0;
    lw_pose_invert(mine->R, mine->p, own->frame.R, own->frame.p);
}

static lw_status enter_link(lw_compiler *compiler, int i) {
    lw_model *model = compiler->model;
    const lw_graph *graph = &model->graph;
    const lw_body_spec *body = &compiler->spec->bodies[graph->body[i] - 1];
    int j = graph->edge[i];
    lw_joint_draft draft = compiler->drafts[j];
    bool reversed = model->joints[j].info.bodies[0] == i;
    model->joints[j].info.reversed = reversed;
    model->links[i].parent = graph->parent[i];
    model->bodies[i].joint_index = j;
    if (enter_body(compiler, body, &model->bodies[i]) != LW_OK) return LW_ERROR_MEMORY;
    if (reversed) reverse_joint(&draft.joint, draft.frames);
    enter_coordinates(model, i, &draft);
    choose_frame(model, i, &draft.frames[reversed ? 0 : 1], &draft.frames[reversed ? 1 : 0],
                 has_rotor(&compiler->spec->joints[j]));
    link_inertia(compiler, i, body);
    return LW_OK;
}

static lw_status sort_names(lw_model *model) {
    if (lw_names_create(model->arena, model->body_count + 1, &model->body_names) != LW_OK ||
        lw_names_create(model->arena, model->joint_count, &model->joint_names) != LW_OK)
        return LW_ERROR_MEMORY;
    for (int i = 0; i <= model->body_count; i++) model->body_names.names[i] = model->bodies[i].name;
    for (int j = 0; j < model->joint_count; j++) model->joint_names.names[j] = model->joints[j].name;
    lw_names_sort(&model->body_names);
    lw_names_sort(&model->joint_names);
    return LW_OK;
}

/* Lists the coordinates whose sine and cosine every evaluation needs: first those of revolute kernels, then
 * those of universal joints. */
static lw_status list_turns(lw_model *model) {
    model->turns = LW_NEW(model->arena, lw_turn, 2 * model->body_count + 2);
    if (!model->turns) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        if (link->kernel >= LW_KERNEL_REVOLUTE && link->kernel < LW_KERNEL_PRISMATIC)
            model->turns[model->turn_count++] = (lw_turn){link->q, link->v, link->sign};
    }
    model->revolute_count = model->turn_count;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        for (int k = 0; k < 2 && link->joint.kernel == LW_KERNEL_UNIVERSAL; k++)
            model->turns[model->turn_count++] = (lw_turn){link->q + k, link->v + k, 1};
    }
    return LW_OK;
}

/* Expresses the joints as the user gave them in the internal frames, for rows and reactions. */
static void find_relative_poses(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_draft *draft = &compiler->drafts[j];
        lw_joint_entry *entry = &model->joints[j];
        entry->joint = draft->joint;
        entry->given_q = compiler->spec->joints[j].has_q;
        entry->given_v = compiler->spec->joints[j].has_v;
        memcpy(entry->initial, draft->q, sizeof entry->initial);
        for (int side = 0; side < 2; side++) {
            const lw_pose *frame = &model->bodies[entry->info.bodies[side]].frame;
            lw_pose_compose(frame->R, frame->p, draft->frames[side].R, draft->frames[side].p,
                            entry->frames[side].R, entry->frames[side].p);
        }
    }
}

/* Reports values that the user gave to a cut joint and that a cut joint cannot have. */
static void explain_cut(lw_compiler *compiler, int j) {
    const lw_joint_spec *spec = &compiler->spec->joints[j];
    if (spec->has_q || spec->has_v)
        lw_compile_warning(compiler, "joint", spec->name, spec->place,
                           "give them to another joint of the loop, or cut elsewhere",
                           "closes a loop and has no coordinates of its own: its v has no effect, its q only "
                           "as a preference "
                           "where the loop leaves a choice");
    if (compiler->drafts[j].prescribed && spec->cut)
        lw_compile_error(
            compiler, "joint", spec->name, spec->place, "take out cut: true",
            "its motion is prescribed, but where a loop is cut there are no coordinates to prescribe");
    else if (compiler->drafts[j].prescribed)
        lw_compile_error(
            compiler, "joint", spec->name, spec->place, "move the motion to another joint of the loop",
            "its motion is prescribed, but every joint of its loop must be kept, so it would be cut");
    if (has_rotor(spec) && spec->cut)
        lw_compile_error(compiler, "joint", spec->name, spec->place, "take out cut: true",
                         "it has a rotor (armature), but where a loop is cut there is no coordinate that the "
                         "rotor could follow");
    else if (has_rotor(spec))
        lw_compile_error(compiler, "joint", spec->name, spec->place,
                         "take the armature from one joint of the loop, or make its rotor a body of its own, "
                         "geared to the joint by a coupling",
                         "it has a rotor (armature), but every joint of its loop must be kept, so it would "
                         "be cut, and a cut joint has no coordinate that the rotor could follow");
}

/* Enters the inertias of rotors by speed; nothing if there are none. */
static lw_status enter_rotors(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_joint_spec *spec = &compiler->spec->joints[model->bodies[i].joint_index];
        const lw_link *link = &model->links[i];
        if (!has_rotor(spec)) continue;
        if (!model->armature) model->armature = LW_NEW(model->arena, double, model->nv + 1);
        if (!model->armature) return LW_ERROR_MEMORY;
        memcpy(model->armature + link->v, spec->armature, (size_t)link->joint.nv * sizeof *model->armature);
    }
    return LW_OK;
}

/* Enters the compliance of joints; nothing if all are rigid. */
static lw_status enter_compliance(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    for (int j = 0; j < model->joint_count; j++) {
        const double *given = compiler->spec->joints[j].compliance;
        if (given[0] == 0 && given[1] == 0) continue;
        if (!model->compliance) model->compliance = LW_NEW(model->arena, double, 2 * model->joint_count);
        if (!model->compliance) return LW_ERROR_MEMORY;
        memcpy(model->compliance + 2 * j, given, 2 * sizeof *given);
    }
    return LW_OK;
}

static void enter_closures(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    const lw_graph *graph = &model->graph;
    model->closure_count = graph->loop_count;
    for (int k = 0; k < graph->loop_count; k++) {
        int j = graph->loop_edge[graph->loop_start[k]];
        lw_joint_entry *entry = &model->joints[j];
        entry->info.cut = true;
        entry->info.rows = 6 - entry->joint.nv;
        model->closures[k] = j;
        explain_cut(compiler, j);
    }
}

lw_status lw_compile_tree(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    int nb = model->body_count;
    model->links = LW_NEW(model->arena, lw_link, nb + 1);
    model->bodies = LW_NEW(model->arena, lw_body, nb + 1);
    model->joints = LW_NEW(model->arena, lw_joint_entry, model->joint_count + 1);
    model->closures = LW_NEW(model->arena, int, model->graph.loop_count + 1);
    if (lw_arena_failed(model->arena)) return LW_ERROR_MEMORY;
    lw_body *ground = &model->bodies[0];
    ground->name = LW_GROUND;
    model->links[0].parent = ground->joint_index = -1;
    lw_m3_identity(ground->frame.R);
    lw_status status = enter_joints(compiler);
    for (int i = 1; i <= nb && status == LW_OK; i++) status = enter_link(compiler, i);
    if (status == LW_OK) status = sort_names(model);
    if (status == LW_OK) status = assign_slots(compiler);
    if (status == LW_OK) status = assign_columns(model);
    if (status == LW_OK) status = list_turns(model);
    if (status == LW_OK) status = enter_rotors(compiler);
    if (status == LW_OK) status = enter_compliance(compiler);
    if (status != LW_OK) return status;
    find_relative_poses(compiler);
    enter_closures(compiler);
    return LW_OK;
}
