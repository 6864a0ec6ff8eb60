/* director_joints.c - every joint and constraint in director coordinates: rows, coordinates and motions.
 *
 * With the joint's frames (x, y, z, p) on its first and second body, numbers 1 and 2, and e_k the world's
 * axes:
 *
 *   spherical      e_k.(p2 - p1)                                          (80)
 *   cylindrical    x1.(p2 - p1), y1.(p2 - p1), z1.x2, z1.y2               (100)
 *   revolute       e_k.(p2 - p1), z1.x2, z1.y2                            (119)
 *   prismatic      x1.(p2 - p1), y1.(p2 - p1), x1.y2, y1.z2, z1.x2        (129)
 *   planar         z1.(p2 - p1), z1.x2, z1.y2                             (139)
 *   universal      e_k.(p2 - p1), x1.y2
 *   screw          as cylindrical, and z1.(p2 - p1) - pitch angle
 *   translation    across.(p2 - p1), x1.y2, y1.z2, z1.x2
 *   weld           e_k.(p2 - p1), x1.y2, y1.z2, z1.x2
 *   coordinates    of a slide a1.(p2 - p1); of a turn the angle with cosine b1.b2 and sine c1.b2
 *
 * Source   Betsch and Leyendecker (2006), section 4.5; the last four follow their pattern
 *          (docs/theory/director.md, 4); any other type has the rows of its slides and those of its turns in
 *          the same way.
 * Cost     once, O(bodies + joints + elements).
 */
#include "formulations/director/director_parts.h"
#include "model/joint.h"

#include <string.h>

/* Counts measures, rows and so on; writes them if `writes` is set. */
typedef struct builder {
    lw_director *d;
    int measures, rows, terms, angles, aims;
    bool writes;
    lw_director_row nowhere; /* takes rows while they are counted */
} builder;

/* A joint's frames as combinations of its bodies' coordinates. */
typedef struct frames {
    int bodies[2];
    double axis[2][3][4], point[2][4];
} frames;

static void frames_of(const lw_director *d, const int bodies[2], const lw_pose poses[2], frames *f) {
    for (int side = 0; side < 2; side++) {
        const lw_director_body *body = &d->bodies[bodies[side]];
        f->bodies[side] = bodies[side];
        lw_director_point(body, poses[side].p, f->point[side]);
        for (int k = 0; k < 3; k++) {
            const double column[3] = {poses[side].R[k], poses[side].R[3 + k], poses[side].R[6 + k]};
            lw_director_vector(body, column, f->axis[side][k]);
        }
    }
}

static void copy(const double from[4], double factor, double to[4]) {
    for (int k = 0; k < 4; k++) to[k] = factor * from[k];
}

static int add_measure(builder *b, const lw_measure *measure) {
    if (b->writes) {
        b->d->measures[b->measures] = *measure;
        lw_measure_finish(&b->d->measures[b->measures]);
    }
    return b->measures++;
}

/* Sets a factor of a product to p2 - p1. */
static void put_gap(const frames *f, double out[2][4]) {
    copy(f->point[0], -1, out[0]);
    copy(f->point[1], 1, out[1]);
}

static lw_measure blank(lw_measure_kind kind, const frames *f) {
    return (lw_measure){.kind = kind,
                        .bodies = {f->bodies[0], f->bodies[1]},
                        .sign = 1,
                        .angle = -1,
                        .block = {-1, -1, -1, -1}};
}

/* The measure: a vector on the first body times p2 - p1. */
static int along(builder *b, const frames *f, const double vector[4]) {
    lw_measure m = blank(LW_MEASURE_PRODUCT, f);
    copy(vector, 1, m.c.a[0]);
    put_gap(f, m.c.b);
    return add_measure(b, &m);
}

/* The measure: axis k of the first frame times axis l of the second. */
static int across(builder *b, const frames *f, int k, int l) {
    lw_measure m = blank(LW_MEASURE_PRODUCT, f);
    copy(f->axis[0][k], 1, m.c.a[0]);
    copy(f->axis[1][l], 1, m.c.b[1]);
    return add_measure(b, &m);
}

/* The measure: component k of p2 - p1 in the world. */
static int world(builder *b, const frames *f, int k) {
    lw_measure m = blank(LW_MEASURE_PRODUCT, f);
    m.c.fixed[k] = 1;
    put_gap(f, m.c.b);
    return add_measure(b, &m);
}

/* The measure: the angle with cosine k1.l2 and sine m1.n2, axes of the first and second frame. */
static int angle(builder *b, const frames *f, double sign, int k, int l, int m, int n) {
    lw_measure a = blank(LW_MEASURE_ANGLE, f);
    a.sign = sign;
    a.angle = b->angles;
    copy(f->axis[0][k], 1, a.c.a[0]), copy(f->axis[1][l], 1, a.c.b[1]);
    copy(f->axis[0][m], 1, a.s.a[0]), copy(f->axis[1][n], 1, a.s.b[1]);
    if (b->writes) b->d->angle_measure[b->angles] = b->measures;
    b->angles++;
    return add_measure(b, &a);
}

static lw_director_row *add_row(builder *b, lw_director_row_kind kind, int joint, int constraint,
                                int component) {
    lw_director_row *row = b->writes ? &b->d->rows[b->rows] : &b->nowhere;
    *row = (lw_director_row){.kind = kind,
                             .joint = joint,
                             .constraint = constraint,
                             .component = component,
                             .term = b->terms,
                             .target = -1};
    b->rows++;
    return row;
}

static void add_term(builder *b, lw_director_row *row, int measure, double factor) {
    if (b->writes)
        b->d->terms[b->terms] = (lw_director_term){.measure = measure, .factor = factor, .end = factor};
    b->terms++;
    row->terms++;
}

static void simple_row(builder *b, lw_director_row_kind kind, int joint, int *component, bool length,
                       int measure) {
    lw_director_row *row = add_row(b, kind, joint, -1, (*component)++);
    row->length = length;
    add_term(b, row, measure, 1);
}

/* A vector with these components in the first frame. */
static void combine_axes(const frames *f, const double components[3], double out[4]) {
    for (int i = 0; i < 4; i++)
        out[i] = components[0] * f->axis[0][0][i] + components[1] * f->axis[0][1][i] +
                 components[2] * f->axis[0][2][i];
}

/* The coordinate axes perpendicular to axis a. */
static int next_axis(int a) { return (a + 1) % 3; }
static int last_axis(int a) { return (a + 2) % 3; }

/* Components in the first frame of the forces that a joint's slides are dual to, and of those across the
 * slides: a basis that measures slides, and what is kept from sliding. */
static void slide_basis(const lw_joint *joint, double basis[3][3]) {
    if (lw_joint_describe(joint->type)->axes_are_slides) {
        double W[36];
        lw_joint_dual(joint, NULL,
                      W); /* The first wrenches are the forces of the basis reciprocal to the axes. */
        for (int k = 0; k < 3; k++) lw_v3_copy(W + 6 * k + 3, basis[k]);
        return;
    }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) basis[k][i] = i == k;
}

/* Which vector of the slide basis measures slide k. */
static int slide_index(const lw_joint *joint, int k) {
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    if (about->axes_are_slides) return k;
    return joint->nv == 1 ? joint->axis : about->axis[k];
}

/* How many slides a joint has. */
static int slide_count(const lw_joint *joint) {
    int slides = lw_joint_describe(joint->type)->slides;
    return joint->nv < slides ? joint->nv : slides;
}

/* The coordinate axis of turn k of a joint. */
static int turn_axis(const lw_joint *joint, int k) {
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    return joint->nv == 1 ? joint->axis : about->axis[about->slides + k];
}

/* A measure of p2 - p1 along vector k of the slide basis. */
static int along_basis(builder *b, const frames *f, const lw_joint *joint, int k, double sign) {
    double basis[3][3], vector[4];
    slide_basis(joint, basis);
    if (lw_joint_describe(joint->type)->axes_are_slides)
        combine_axes(f, basis[k], vector);
    else
        copy(f->axis[0][k], sign, vector);
    return along(b, f, vector);
}

/* Measures of a joint's coordinates into out (LW_JOINT_MAX_Q; -1 for quaternions). */
static void add_coordinates(builder *b, const lw_joint *joint, const frames *f, int *out) {
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    int slides = slide_count(joint);
    double sign = joint->nv == 1 ? joint->sign : 1;
    for (int k = 0; k < LW_JOINT_MAX_Q; k++) out[k] = -1;
    for (int k = 0; k < slides; k++) out[k] = along_basis(b, f, joint, slide_index(joint, k), sign);
    if (about->turns == 1) {
        int a = turn_axis(joint, 0);
        out[slides] = angle(b, f, sign, next_axis(a), next_axis(a), last_axis(a), next_axis(a));
    }
    if (about->turns ==
        2) { /* R = Ra(q0) Rb(q1): b2 = cos q0 b1 + sin q0 (a x b)1, a1 = cos q1 a2 + sin q1 (a x b)2 */
        int first = turn_axis(joint, 0), second = turn_axis(joint, 1), third = 3 - first - second;
        double sense = second == next_axis(first) ? 1 : -1;
        out[slides] = angle(b, f, sense, second, second, third, second);
        out[slides + 1] = angle(b, f, sense, first, first, first, third);
    }
}

/* Rows that keep the second body from sliding: all of them, or those across the slides. */
static void add_position_rows(builder *b, lw_director_row_kind kind, int index, const frames *f,
                              int *component) {
    const lw_joint *joint = &b->d->model->joints[index].joint;
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    int slides = slide_count(joint);
    if (slides == 0 && !about->screws) {
        for (int k = 0; k < 3; k++) simple_row(b, kind, index, component, true, world(b, f, k));
        return;
    }
    bool slid[3] = {false, false, false};
    int last = about->screws ? joint->axis : slide_index(joint, slides - 1);
    slid[last] = true;
    for (int k = 0; k < slides; k++) slid[slide_index(joint, k)] = true;
    for (int k = 1; k < 3; k++) { /* in the order of lw_joint_dual */
        int a = (last + k) % 3;
        if (!slid[a]) simple_row(b, kind, index, component, true, along_basis(b, f, joint, a, 1));
    }
}

/* Rows that keep the second body from turning: all of them, or those across the turns. */
static void add_rotation_rows(builder *b, lw_director_row_kind kind, int index, const frames *f,
                              int *component) {
    const lw_joint *joint = &b->d->model->joints[index].joint;
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    if (about->ball) return;
    if (about->turns == 0)
        for (int k = 0; k < 3; k++)
            simple_row(b, kind, index, component, false, across(b, f, k, (k + 1) % 3));
    if (about->turns == 1) {
        int a = turn_axis(joint, 0);
        simple_row(b, kind, index, component, false, across(b, f, a, next_axis(a)));
        simple_row(b, kind, index, component, false, across(b, f, a, last_axis(a)));
    }
    if (about->turns == 2)
        simple_row(b, kind, index, component, false, across(b, f, turn_axis(joint, 0), turn_axis(joint, 1)));
}

/* The rows of a joint; coordinates are the measures of its coordinates. */
static void add_joint_rows(builder *b, lw_director_row_kind kind, int index, const frames *f,
                           const int *coordinates) {
    const lw_joint *joint = &b->d->model->joints[index].joint;
    int component = joint->nv;
    add_position_rows(b, kind, index, f, &component);
    if (lw_joint_describe(joint->type)->screws) {
        lw_director_row *row = add_row(b, kind, index, -1, component++);
        row->length = true;
        add_term(b, row, along(b, f, f->axis[0][joint->axis]), 1);
        add_term(b, row, coordinates[0], -joint->pitch);
    }
    add_rotation_rows(b, kind, index, f, &component);
}

/* Rows of prescribed motions: one coordinate each, or a rotation as a whole. */
static void add_prescribed_rows(builder *b, int index, const frames *f, const int *coordinates) {
    const lw_joint_entry *entry = &b->d->model->joints[index];
    const lw_joint_info *info = &entry->info;
    for (int k = 0; k < entry->joint.nv; k++) {
        if (!(info->prescribed >> k & 1)) continue;
        int component = k, coordinate = lw_joint_coordinate_of_speed(entry->joint.type, k);
        if (coordinate >= 0) {
            lw_director_row *row = add_row(b, LW_DIRECTOR_PRESCRIBED, index, -1, k);
            row->target = info->q + coordinate;
            row->length = !lw_joint_speed_turns(entry->joint.type, k);
            add_term(b, row, coordinates[coordinate], 1);
            continue;
        }
        if (b->writes) b->d->aims[b->aims] = (lw_director_aim){index, b->measures};
        b->aims++;
        for (int i = 0; i < 3; i++) {
            lw_measure m = blank(LW_MEASURE_MOVING, f);
            copy(f->axis[1][(i + 1) % 3], 1, m.c.b[1]);
            copy(f->axis[1][(i + 1) % 3], 1, m.s.b[1]);
            simple_row(b, LW_DIRECTOR_PRESCRIBED, index, &component, false, add_measure(b, &m));
        }
        break;
    }
}

/* Describes how each speed of a joint of the tree moves the body that the joint carries. */
static void describe_moves(const lw_director *d, int body, const frames *f, const int *coordinates,
                           lw_director_joint *out) {
    const lw_joint_entry *entry = &d->model->joints[d->model->bodies[body].joint_index];
    const lw_joint *joint = &entry->joint;
    const lw_joint_descriptor *about = lw_joint_describe(joint->type);
    *out = (lw_director_joint){.type = joint->type,
                               .ball = about->ball,
                               .free = lw_joint_is_free(joint->type),
                               .screws = about->screws,
                               .crossed = about->turns == 2,
                               .side = entry->info.bodies[1] == body,
                               .prescribed = entry->info.prescribed};
    memcpy(out->point, f->point, sizeof out->point);
    memcpy(out->basis, f->axis[0], sizeof out->basis);
    if (about->axes_are_slides) {
        double basis[3][3];
        slide_basis(joint, basis);
        for (int k = 0; k < 3; k++) combine_axes(f, basis[k], out->basis[k]);
    }
    for (int k = 0; k < joint->nv && !about->ball; k++) {
        bool turns = lw_joint_speed_turns(joint->type, k);
        lw_director_move *move = &out->move[out->moves++];
        *move = (lw_director_move){
            .turns = turns, .speed = entry->info.v + k, .measure = coordinates[k], .angle = -1, .factor = 1};
        if (turns && d->measures) move->angle = d->measures[coordinates[k]].angle;
        move->index = turns ? turn_axis(joint, k - about->slides) : slide_index(joint, k);
        move->sense = joint->nv == 1 && !about->axes_are_slides ? joint->sign : 1;
        move->side =
            turns && k > about->slides; /* The second of two turns is about an axis of the second body. */
        if (about->axes_are_slides)
            combine_axes(f, joint->axes + 3 * k, move->vector);
        else
            copy(f->axis[move->side][move->index], move->sense, move->vector);
        if (about->screws) {
            out->move[out->moves] = *move;
            out->move[out->moves].turns = false;
            out->move[out->moves++].factor = joint->pitch;
        }
    }
}

static void add_rigid(builder *b, int body) { /* (24) */
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int k = 0; k < 6; k++) {
        lw_measure m = {.kind = LW_MEASURE_PRODUCT, .bodies = {body, 0}, .sign = 1, .angle = -1};
        m.c.a[0][1 + pairs[k][0]] = k < 3 ? 0.5 : 1;
        m.c.b[0][1 + pairs[k][1]] = 1;
        lw_director_row *row = add_row(b, LW_DIRECTOR_RIGID, -1, -1, k);
        row->constant = k < 3 ? 0.5 : 0;
        add_term(b, row, add_measure(b, &m), 1);
    }
}

static int gap_measure(builder *b, lw_measure_kind kind, const frames *f) {
    lw_measure m = blank(kind, f);
    put_gap(f, m.c.a);
    put_gap(f, m.c.b);
    return add_measure(b, &m);
}

static void add_constraint(builder *b, int index) {
    const lw_director *d = b->d;
    const lw_constraint *constraint = &d->model->constraints[index];
    if (constraint->type == LW_CONSTRAINT_DISTANCE) {
        lw_pose poses[2] = {0};
        frames f;
        for (int k = 0; k < 2; k++) lw_v3_copy(constraint->points[k], poses[k].p);
        frames_of(d, constraint->bodies, poses, &f);
        lw_director_row *row = add_row(b, LW_DIRECTOR_CONSTRAINT, -1, index, 0);
        double length = constraint->length;
        row->length = true;
        row->constant = 0.5 * length; /* (|p2 - p1|^2 - length^2) / (2 length) */
        add_term(b, row, gap_measure(b, LW_MEASURE_PRODUCT, &f), 0.5 / length);
    } else if (constraint->type == LW_CONSTRAINT_COUPLING) {
        lw_director_row *row = add_row(b, LW_DIRECTOR_CONSTRAINT, -1, index, 0);
        row->constant = constraint->offset;
        for (int k = 0; k < constraint->terms; k++) {
            add_term(b, row, d->coordinate[constraint->coordinates[k]], constraint->factors[k]);
            if (!b->writes || !constraint->curves) continue;
            d->terms[b->terms - 1].curved = constraint;
            d->terms[b->terms - 1].number = k;
        }
    }
}

static void add_force(builder *b, int index) {
    const lw_force *force = &b->d->model->forces[index];
    frames f;
    int first = -1;
    frames_of(b->d, force->bodies, force->frames, &f);
    if (force->type == LW_FORCE_SPRING) first = gap_measure(b, LW_MEASURE_LENGTH, &f);
    if (force->type == LW_FORCE_BUSHING)
        for (int k = 0; k < 3; k++) {
            int measure = along(b, &f, f.axis[0][k]);
            if (k == 0) first = measure;
        }
    b->d->force_measure[index] = first;
}

static void build(builder *b) {
    lw_director *d = b->d;
    const lw_model *model = d->model;
    int coordinates[LW_JOINT_MAX_Q];
    frames f;
    for (int i = 1; i <= d->n && d->full; i++) add_rigid(b, i);
    for (int i = 1; i <= d->n; i++) {
        int j = model->bodies[i].joint_index;
        const lw_joint_entry *entry = &model->joints[j];
        frames_of(d, entry->info.bodies, entry->frames, &f);
        add_coordinates(b, &entry->joint, &f, coordinates);
        memcpy(d->coordinate + entry->info.q, coordinates, (size_t)entry->joint.nq * sizeof *coordinates);
        add_joint_rows(b, LW_DIRECTOR_JOINT, j, &f, coordinates);
        add_prescribed_rows(b, j, &f, coordinates);
        describe_moves(d, i, &f, coordinates, &d->joints[i]);
    }
    d->first_loop_row = b->rows;
    for (int k = 0; k < model->closure_count; k++) {
        const lw_joint_entry *entry = &model->joints[model->closures[k]];
        frames_of(d, entry->info.bodies, entry->frames, &f);
        int *own = d->cut_coordinate + LW_JOINT_MAX_Q * k;
        add_coordinates(b, &entry->joint, &f, own);
        for (int i = 0; i < entry->joint.nq; i++)
            if (entry->winding[i] >= 0) d->coordinate[entry->winding[i]] = own[i];
        add_joint_rows(b, LW_DIRECTOR_CLOSURE, model->closures[k], &f, own);
    }
    for (int k = 0; k < model->constraint_count; k++) add_constraint(b, k);
    for (int k = 0; k < model->force_count; k++) add_force(b, k);
}

void lw_director_own_slopes(lw_director *d) {
    for (int k = 0; k < d->measure_count; k++) {
        lw_measure *m = &d->measures[k];
        m->D = d->slopes + 72 * (size_t)k, m->slope = m->D + 24, m->bend = m->D + 48;
    }
}

bool lw_director_build(lw_director *d) {
    lw_arena *arena = d->arena;
    builder count = {.d = d}, write = {.d = d, .writes = true};
    build(&count);
    d->measure_count = count.measures, d->row_count = count.rows;
    d->angle_count = count.angles, d->aim_count = count.aims;
    d->measures = LW_NEW(arena, lw_measure, count.measures + 1);
    d->rows = LW_NEW(arena, lw_director_row, count.rows + 1);
    d->terms = LW_NEW(arena, lw_director_term, count.terms + 1);
    d->aims = LW_NEW(arena, lw_director_aim, count.aims + 1);
    d->slopes = LW_NEW(arena, double, 72 * (size_t)count.measures + 1);
    d->angle_measure = LW_NEW(arena, int, count.angles + 1);
    d->step.angles = LW_NEW(arena, double, count.angles + 1);
    if (lw_arena_failed(arena)) return false;
    build(&write);
    lw_director_own_slopes(d);
    return true;
}
