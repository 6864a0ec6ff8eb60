/* idle_spins.c - motions that move no inertia and on which nothing acts: a rod that spins about the line of
 * its two ball joints.
 *
 *   M n = 0,  J n = 0,  h n = 0      n: motion; J: rows of joints and constraints; h: rates of the lengths
 *                                    and angles on which force elements act
 *
 * M n = 0 says that every body with regular inertia is at rest. The unknowns are therefore the twists of the
 * other bodies that move no mass; they separate into small systems without common rows, however large the
 * mechanism. Of a force element only the directions in which it acts matter, not its law. A motion must be
 * idle in every position, which is tested at two random ones (a rank that is low there is low everywhere).
 *
 * For each such motion a body gets a moment of inertia B about an axis u, without any other effect:
 *
 *   body's torque   B u (u.wdot) + w x B u (u.w)  =  lw_idle_loads + ...,    lw_idle_loads = w x B u (u.w)
 *
 * so that u.wdot = 0, and the spin u.w keeps its value. Energy, momentum and mass matrix do not count B.
 *
 * Source   docs/theory/idle.md.
 * Cost     O(joints + elements), and the cube of the bodies that one motion may move together; nothing where
 *          all inertias are regular.
 * Limits   rotations only (slides without mass are not held); SYSTEM_MAX unknowns in one system.
 */
#include "linalg/small.h"
#include "model/compile/compile.h"
#include "model/data.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SYSTEM_MAX = 120, POSITIONS = 3 };
/* Row entries up to this, with lengths in units of the mechanism's, are zero; their rounding is some
 * 1e-16. */
static const double nothing = 1e-11;
/* Pivots up to this are zero; those that are not exactly zero show that a singular position is near. */
static const double small_pivot = 1e-9;

/* The rate of a row is the sum of wrench . twist over its parts, in internal axes of the bodies. */
typedef struct part {
    int body;
    double wrench[6];
} part;
typedef struct row {
    int first, count; /* index of its first part; number of parts */
    /* The row is that of a force element; otherwise a joint, constraint or motion keeps its rate zero. */
    bool element;
    int next; /* next row of the same system, or -1 */
} row;

/* A joint, element or constraint between two bodies. */
typedef struct bond {
    int bodies[2];
} bond;

typedef struct survey {
    lw_compiler *compiler;
    lw_model *model;
    lw_data *data;
    double length;
    int *first; /* body, 0 .. n + 1 -> its first unknown */
    int *owner; /* unknown -> body */
    double (*basis)[6];
    bool *gyroscopic; /* body -> w x J w has a component about an axis without inertia */
    double *q;        /* LW_JOINT_MAX_Q per joint */
    row *rows;
    part *parts;
    int row_count, part_count, unknowns;
    bond *bonds; /* those at bodies with unknowns */
    int bond_count;
    int *system; /* unknown -> another of its system; a union-find forest */
    uint64_t random;
} survey;

/* --- bodies without inertia in some direction --------------------------------------------------------- */

/* Writes the twists of body i that move no mass, at most six, into out; returns their number. */
static int still_twists(survey *s, int i, double out[6][6]) {
    const lw_model *model = s->model;
    const lw_body *body = &model->bodies[i];
    const double *c = body->com;
    double J[6], e[3], A[9];
    int count = 0, turning;
    lw_compile_central(s->compiler, i, J);
    lw_s3_axes_ascending(J, e, A);
    for (turning = 0; turning < 3 && e[turning] <= 1e-13 * e[2]; turning++) { /* all if e[2] = 0 */
        double *V = out[count++];
        for (int k = 0; k < 3; k++) V[k] = A[3 * k + turning];
        lw_v3_cross(c, V, V + 3); /* about the centre of mass */
    }
    /* With principal moments 0, a, b the torque about the first axis is (b - a) times two speeds. */
    s->gyroscopic[i] = turning > 0 && turning < 3 && fabs(e[2] - e[1]) > 1e-9 * e[2];
    if (model->links[i].inertia.mass > 0) return count;
    for (int k = 0; k < 3; k++) {
        memset(out[count], 0, sizeof out[count]);
        out[count++][3 + k] = s->length;
    }
    return count;
}

/* --- rows -------------------------------------------------------------------------------------------- */

static void add_row(survey *s, bool element) {
    s->rows[s->row_count++] = (row){s->part_count, 0, element, -1};
}

/* Adds a wrench, given in a frame with pose (R, p) in the body's internal frame, to the last row. */
static void add_part(survey *s, int body, double factor, const double R[9], const double p[3],
                     const double wrench[6]) {
    if (s->first[body] == s->first[body + 1]) return; /* The body is at rest. */
    part *own = &s->parts[s->part_count++];
    own->body = body;
    lw_wrench_to_parent(R, p, wrench, own->wrench);
    for (int k = 0; k < 6; k++) own->wrench[k] *= factor;
    s->rows[s->row_count - 1].count++;
}

/* Adds the rate on which wrench k of the six of a joint (lw_joint_dual) does work. */
static void add_joint_rate(survey *s, int joint, int k, double factor) {
    const lw_joint_entry *entry = &s->model->joints[joint];
    const double *q = s->q + (size_t)joint * LW_JOINT_MAX_Q;
    double W[36], S[36], R[9], p[3], moved[6];
    lw_joint_dual(&entry->joint, q, W);
    lw_joint_motion(&entry->joint, q, NULL, R, p, S, NULL);
    lw_wrench_to_parent(R, p, W + 6 * k, moved);
    add_part(s, entry->info.bodies[1], factor, entry->frames[1].R, entry->frames[1].p, W + 6 * k);
    add_part(s, entry->info.bodies[0], -factor, entry->frames[0].R, entry->frames[0].p, moved);
}

static int joint_of_speed(const lw_model *model, int speed, int *k) {
    int low = 1, high = model->body_count;
    while (low < high) { /* Find the last body whose speeds begin at or before this one. */
        int middle = (low + high + 1) / 2;
        if (model->links[middle].v <= speed)
            low = middle;
        else
            high = middle - 1;
    }
    while (model->links[low].joint.nv == 0) low--; /* Skip bodies without speeds. */
    *k = speed - model->links[low].v;
    return model->bodies[low].joint_index;
}

/* Adds a wrench, given in world axes at a world point, to the last row. */
static void add_world_part(survey *s, int body, double factor, const double at[3], const double wrench[6]) {
    const lw_pose *world = &s->data->world[body];
    double R[9], p[3], arm[3];
    lw_m3_transpose(world->R, R);
    lw_v3_sub(at, world->p, arm);
    lw_m3_tmul_v(world->R, arm, p);
    add_part(s, body, factor, R, p, wrench);
}

static void add_line(survey *s, const int bodies[2], const double a[3], const double b[3], bool element) {
    double x[3], y[3], wrench[6] = {0};
    lw_pose_point(s->data->world[bodies[0]].R, s->data->world[bodies[0]].p, a, x);
    lw_pose_point(s->data->world[bodies[1]].R, s->data->world[bodies[1]].p, b, y);
    lw_v3_sub(y, x, wrench + 3);
    double length = lw_v3_norm(wrench + 3);
    if (length > 0)
        for (int k = 3; k < 6; k++) wrench[k] /= length;
    add_row(s, element);
    add_world_part(s, bodies[1], 1, y, wrench);
    add_world_part(s, bodies[0], -1, x, wrench);
}

static void add_force(survey *s, const lw_force *force) {
    const lw_pose *world = s->data->world;
    const int *bodies = force->bodies;
    int k, joint;
    double at[3];
    switch (force->type) {
    case LW_FORCE_SPRING:
        add_line(s, bodies, force->frames[0].p, force->frames[1].p, true);
        break;
    case LW_FORCE_CONTACT: /* Wherever it will touch, it may resist any motion. */
    case LW_FORCE_BUSHING: /* It acts on the second body at its point, and opposite on the first. */
        lw_pose_point(world[bodies[1]].R, world[bodies[1]].p, force->frames[1].p, at);
        for (k = 0; k < 6; k++) {
            double wrench[6] = {0};
            wrench[k] = 1;
            add_row(s, true);
            add_world_part(s, bodies[1], 1, at, wrench);
            add_world_part(s, bodies[0], -1, at, wrench);
        }
        break;
    case LW_FORCE_APPLIED:
        lw_pose_point(world[bodies[0]].R, world[bodies[0]].p, force->frames[0].p, at);
        for (k = 0; k < 6; k++) {
            double wrench[6] = {0}, unit[3] = {0}, R[9], *to = wrench + (k < 3 ? 3 : 0);
            if (!force->components[k]) continue;
            unit[k % 3] = 1;
            lw_m3_mul(world[bodies[0]].R, force->frames[0].R, R);
            if (force->follows_body)
                lw_m3_mul_v(R, unit, to);
            else
                lw_v3_copy(unit, to);
            add_row(s, true);
            add_world_part(s, bodies[0], 1, at, wrench);
            add_world_part(s, bodies[1], -1, at, wrench);
        }
        break;
    default: /* The element acts in a joint. */
        if (force->closure >= 0)
            joint = s->model->closures[force->closure], k = force->v;
        else
            joint = joint_of_speed(s->model, force->v, &k);
        add_row(s, true);
        add_joint_rate(s, joint, k, 1);
    }
}

static void add_constraint(survey *s, const lw_constraint *constraint) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, origin[3] = {0, 0, 0};
    int k;
    switch (constraint->type) {
    case LW_CONSTRAINT_DISTANCE:
        add_line(s, constraint->bodies, constraint->points[0], constraint->points[1], false);
        break;
    case LW_CONSTRAINT_COUPLING:
        add_row(s, false);
        for (int term = 0; term < constraint->terms; term++) {
            int joint = joint_of_speed(s->model, constraint->speeds[term], &k);
            add_joint_rate(s, joint, k, constraint->factors[term]);
        }
        break;
    default: /* A body that rolls does not spin idly. */
        for (int side = 0; side < 2; side++)
            for (k = 0; k < 6; k++) {
                double wrench[6] = {0};
                wrench[k] = 1;
                add_row(s, false);
                add_part(s, constraint->bodies[side], 1, identity, origin, wrench);
            }
    }
}

/* Makes all rows with parts at bodies with unknowns, at the position in q and data. */
static void make_rows(survey *s) {
    const lw_model *model = s->model;
    s->row_count = s->part_count = 0;
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        const int *bodies = entry->info.bodies;
        if (s->first[bodies[0]] == s->first[bodies[0] + 1] && s->first[bodies[1]] == s->first[bodies[1] + 1])
            continue;
        int child = bodies[model->bodies[bodies[1]].joint_index == j && bodies[1] > 0 ? 1 : 0];
        bool in_tree = child > 0 && model->bodies[child].joint_index == j;
        unsigned held = in_tree ? model->links[child].prescribed | lw_rotor_speeds(model, child) : 0;
        for (int k = 0; k < 6; k++) {
            if (k < entry->joint.nv && !(held >> k & 1)) continue;
            add_row(s, false);
            add_joint_rate(s, j, k, 1);
        }
    }
    for (int k = 0; k < model->constraint_count; k++) add_constraint(s, &model->constraints[k]);
    for (int k = 0; k < model->force_count; k++) add_force(s, &model->forces[k]);
}

/* The entry of a row at an unknown, with lengths in units of the mechanism's. */
static double entry_at(const survey *s, const row *r, int unknown) {
    double sum = 0, force = 0;
    for (int k = r->first; k < r->first + r->count; k++) {
        const part *own = &s->parts[k];
        force = fmax(force, lw_v3_norm(own->wrench + 3));
        if (own->body == s->owner[unknown]) sum += lw_v6_dot(own->wrench, s->basis[unknown]);
    }
    return force > 0.5 ? sum / s->length : sum; /* unit force, or else torque */
}

/* --- positions --------------------------------------------------------------------------------------- */

static double random_unit(survey *s) { /* -1 .. 1 */
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(s->random >> 11) / 4503599627370496.0 - 1;
}

/* Position 0 is the start. In the others every joint has random coordinates, also those that close loops; the
 * loops are then open, which does not matter. */
static void take_position(survey *s, int position) {
    const lw_model *model = s->model;
    lw_take_state(model, s->data, 0, model->q0, model->v0);
    for (int j = 0; j < model->joint_count; j++) {
        const lw_joint_entry *entry = &model->joints[j];
        double *q = s->q + (size_t)j * LW_JOINT_MAX_Q;
        memcpy(q, entry->initial, sizeof entry->initial);
        if (position == 0) continue;
        int at = lw_joint_quaternion(entry->joint.type);
        for (int k = 0; k < entry->joint.nv; k++) {
            int c = lw_joint_coordinate_of_speed(entry->joint.type, k);
            double x = random_unit(s);
            if (c >= 0) q[c] += lw_joint_speed_turns(entry->joint.type, k) ? 3 * x : s->length * x;
        }
        if (at < 0) continue;
        double turn[4] = {random_unit(s), random_unit(s), random_unit(s), random_unit(s)};
        lw_quat_normalise(turn);
        memcpy(q + at, turn, sizeof turn);
    }
    for (int i = 1; i <= model->body_count; i++) {
        const lw_link *link = &model->links[i];
        double *q = s->q + (size_t)model->bodies[i].joint_index * LW_JOINT_MAX_Q;
        size_t size = (size_t)link->joint.nq * sizeof *q;
        if (position == 0)
            memcpy(q, s->data->q + link->q, size);
        else
            memcpy(s->data->q + link->q, q, size);
    }
    lw_positions(model, s->data);
    lw_world_poses(model, s->data);
    make_rows(s);
}

/* --- systems ----------------------------------------------------------------------------------------- */

static int find(int *set, int x) {
    while (set[x] != x) x = set[x] = set[set[x]];
    return x;
}

static void join_systems(survey *s) {
    for (int r = 0; r < s->row_count; r++) {
        int before = -1;
        for (int k = s->rows[r].first; k < s->rows[r].first + s->rows[r].count; k++) {
            int body = s->parts[k].body;
            for (int u = s->first[body]; u < s->first[body + 1]; u++) {
                if (fabs(entry_at(s, &s->rows[r], u)) <= nothing) continue;
                if (before >= 0) s->system[find(s->system, u)] = find(s->system, before);
                before = u;
            }
        }
    }
}

/* Computes an orthonormal basis of the null space of the m x n matrix A (row by row, overwritten), n entries
 * of N per vector, by elimination with complete pivoting; returns its dimension. */
static int null_space(int m, int n, double *A, double *N) {
    int at[SYSTEM_MAX], rank = 0; /* columns in the order of pivots */
    for (int c = 0; c < n; c++) at[c] = c;
    for (; rank < n && rank < m; rank++) {
        int best = rank, column = rank;
        double most = 0;
        for (int r = rank; r < m; r++)
            for (int c = rank; c < n; c++)
                if (fabs(A[r * n + at[c]]) > most) most = fabs(A[r * n + at[c]]), best = r, column = c;
        if (!(most > small_pivot)) break;
        int other = at[rank];
        at[rank] = at[column], at[column] = other;
        for (int c = 0; c < n; c++) {
            double x = A[best * n + c];
            A[best * n + c] = A[rank * n + c], A[rank * n + c] = x;
        }
        double inverse = 1 / A[rank * n + at[rank]];
        for (int c = 0; c < n; c++) A[rank * n + c] *= inverse;
        for (int r = 0; r < m; r++) {
            double factor = A[r * n + at[rank]];
            if (r == rank || factor == 0) continue;
            for (int c = 0; c < n; c++) A[r * n + c] -= factor * A[rank * n + c];
            A[r * n + at[rank]] = 0;
        }
    }
    for (int k = 0; k < n - rank; k++) {
        double *own = N + k * n, square = 0;
        memset(own, 0, (size_t)n * sizeof *own);
        own[at[rank + k]] = 1;
        for (int r = 0; r < rank; r++) own[at[r]] = -A[r * n + at[rank + k]];
        for (int pass = 0; pass < 2; pass++)
            for (int e = 0; e < k; e++) {
                double dot = 0;
                for (int c = 0; c < n; c++) dot += own[c] * N[e * n + c];
                for (int c = 0; c < n; c++) own[c] -= dot * N[e * n + c];
            }
        for (int c = 0; c < n; c++) square += own[c] * own[c];
        for (int c = 0; c < n; c++) own[c] /= sqrt(square);
    }
    return n - rank;
}

/* The motions of a system that its constraint rows allow or, with rows of elements, the idle ones. */
typedef struct motions {
    int unknowns[SYSTEM_MAX], n; /* the unknowns of the system, and their number */
    int count;
    double *N; /* n per motion */
} motions;

static bool find_motions(survey *s, int first_row, bool elements, motions *out) {
    int m = 0, n = out->n;
    for (int r = first_row; r >= 0; r = s->rows[r].next) m += elements || !s->rows[r].element;
    double *A = calloc((size_t)m * (size_t)n + 1, sizeof *A);
    if (!A) return false;
    m = 0;
    for (int r = first_row; r >= 0; r = s->rows[r].next) {
        if (s->rows[r].element && !elements) continue;
        for (int c = 0; c < n; c++) {
            double x = entry_at(s, &s->rows[r], out->unknowns[c]);
            A[m * n + c] = fabs(x) > nothing ? x : 0;
        }
        m++;
    }
    out->count = null_space(m, n, A, out->N);
    free(A);
    return true;
}

/* Computes the angular velocity of a body in motion k, in internal axes. */
static void spin_of(const survey *s, const motions *of, int k, int body, double w[3]) {
    lw_v3_set(w, 0, 0, 0);
    for (int c = 0; c < of->n; c++)
        if (s->owner[of->unknowns[c]] == body) lw_v3_axpy(of->N[k * of->n + c], s->basis[of->unknowns[c]], w);
}

/* --- added moments of inertia ------------------------------------------------------------------------ */

/* The added moment as a part of suitable_moment: the largest moment of the body, or that of the neighbouring
 * masses at its length. Its size matters only for rounding and for Newton's method of director. */
static const double share = 1.0 / 64;

static double suitable_moment(const survey *s, int body) {
    const lw_model *model = s->model;
    const lw_body_spec *spec = &s->compiler->spec->bodies[model->graph.body[body] - 1];
    double J[6], e[3] = {0}, square = 0, mass = model->links[body].inertia.mass, greatest = 0;
    if (s->compiler->merge) lw_compile_central(s->compiler, body, J), lw_principal_moments(J, e);
    if (!s->compiler->merge && spec->kind == LW_BODY_SPATIAL) lw_principal_moments(spec->inertia, e);
    if (e[2] > 0) return e[2];
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++) {
            const lw_joint_entry *entry = &model->joints[j];
            if (entry->info.bodies[side] != body) continue;
            mass = fmax(mass, model->links[entry->info.bodies[!side]].inertia.mass);
            square = fmax(square, lw_v3_dot(entry->frames[side].p, entry->frames[side].p));
        }
    if (mass * square > 0) return mass * square;
    for (int i = 1; i <= model->body_count; i++) {
        const lw_rigid_inertia *I = &model->links[i].inertia;
        greatest =
            fmax(greatest, fmax(I->mass * s->length * s->length, I->second[0] + I->second[1] + I->second[2]));
    }
    return greatest > 0 ? greatest : 1;
}

static void hold(survey *s, int body, const double axis[3]) {
    lw_model *model = s->model;
    lw_link *link = &model->links[body];
    lw_idle *idle = &model->idle[model->idle_count++];
    idle->body = body;
    idle->moment = share * suitable_moment(s, body);
    lw_v3_copy(axis, idle->axis);
    double *J = link->inertia.second, *held = model->bodies[body].held, B = idle->moment;
    const double own[6] = {B * axis[0] * axis[0], B * axis[1] * axis[1], B * axis[2] * axis[2],
                           B * axis[0] * axis[1], B * axis[0] * axis[2], B * axis[1] * axis[2]};
    for (int k = 0; k < 6; k++) J[k] += own[k], held[k] += own[k];
    link->principal = J[3] == 0 && J[4] == 0 && J[5] == 0;
    model->forces_need_world = true; /* lw_idle_loads acts on bodies. */
}

/* Finds the body, and its axis, with the largest rotation in the remaining motions; 0 if no body rotates. */
static int most_spun(const survey *s, const motions *of, double axis[3]) {
    double most = 1e-6;
    int best = 0, before = 0;
    for (int c = 0; c < of->n; c++) {
        int body = s->owner[of->unknowns[c]];
        double S[6] = {0}, e[3], A[9], w[3];
        if (body == before) continue;
        before = body;
        for (int k = 0; k < of->count; k++) {
            spin_of(s, of, k, body, w);
            S[0] += w[0] * w[0], S[1] += w[1] * w[1], S[2] += w[2] * w[2];
            S[3] += w[0] * w[1], S[4] += w[0] * w[2], S[5] += w[1] * w[2];
        }
        lw_s3_axes_ascending(S, e, A);
        if (!(e[2] > most * (1 + 1e-9))) continue;
        most = e[2], best = body;
        for (int k = 0; k < 3; k++) axis[k] = A[3 * k + 2];
    }
    return best;
}

/* Removes one motion, so that the body does not rotate about the axis in any of the remaining ones. */
static void take_spin(const survey *s, motions *of, int body, const double axis[3]) {
    double rate[SYSTEM_MAX], w[3];
    int n = of->n, pivot = 0;
    for (int k = 0; k < of->count; k++) {
        spin_of(s, of, k, body, w);
        rate[k] = lw_v3_dot(axis, w);
        if (fabs(rate[k]) > fabs(rate[pivot])) pivot = k;
    }
    for (int k = 0; k < of->count; k++)
        for (int c = 0; k != pivot && c < n; c++)
            of->N[k * n + c] -= rate[k] / rate[pivot] * of->N[pivot * n + c];
    memmove(of->N + pivot * n, of->N + (of->count - 1) * n, (size_t)n * sizeof *of->N);
    of->count--;
}

/* Holds all motions of a system, or none if some of them are slides, which remain undetermined and are
 * reported. */
static void hold_spins(survey *s, motions *of) {
    double axis[SYSTEM_MAX][3];
    int body[SYSTEM_MAX], count = 0;
    while (of->count > 0 && (body[count] = most_spun(s, of, axis[count])) > 0) {
        take_spin(s, of, body[count], axis[count]);
        count++;
    }
    for (int k = 0; k < count && of->count == 0; k++) hold(s, body[k], axis[k]);
}

/* --- messages ---------------------------------------------------------------------------------------- */

/* Writes "[x, y, z] in its own axes, the line through joints "a" and "b"" for the axis of a motion. */
static void describe(const survey *s, int body, const double axis[3], char *text, size_t size) {
    const lw_model *model = s->model;
    const lw_pose *frame = &model->bodies[body].frame;
    double own[3], big = 0;
    const char *names[2] = {NULL, NULL};
    const double *from = NULL;
    lw_m3_tmul_v(frame->R, axis, own);
    for (int k = 0; k < 3; k++) {
        if (fabs(own[k]) > fabs(big) + 1e-9) big = own[k];
        if (fabs(own[k]) < 1e-12) own[k] = 0;
    }
    for (int k = 0; k < 3; k++) own[k] = big < 0 && own[k] != 0 ? -own[k] : own[k];
    for (int j = 0; j < model->joint_count && !names[1]; j++)
        for (int side = 0; side < 2; side++) {
            const lw_joint_entry *entry = &model->joints[j];
            double arm[3], off[3];
            if (entry->info.bodies[side] != body) continue;
            if (!from) {
                from = entry->frames[side].p, names[0] = entry->name;
                continue;
            }
            lw_v3_sub(entry->frames[side].p, from, arm);
            lw_v3_cross(arm, axis, off);
            if (lw_v3_norm(off) < 1e-9 * s->length) names[1] = entry->name;
        }
    int used = snprintf(text, size, "[%.4g, %.4g, %.4g] in its own axes", own[0], own[1], own[2]);
    if (used < 0 || (size_t)used >= size) return;
    if (names[1])
        snprintf(text + used, size - (size_t)used, ", the line through joints \"%.60s\" and \"%.60s\"",
                 names[0], names[1]);
    else if (names[0])
        snprintf(text + used, size - (size_t)used, " (joint \"%.60s\")", names[0]);
}

static void tell(survey *s) {
    const lw_model *model = s->model;
    char line[256], others[200] = "";
    if (model->idle_count == 0) return;
    const lw_body *body = &model->bodies[model->idle[0].body];
    describe(s, model->idle[0].body, model->idle[0].axis, line, sizeof line);
    int used = 0, bodies = 1, before = model->idle[0].body;
    for (int k = 1; k < model->idle_count; k++) { /* Entries of a body are adjacent. */
        if (model->idle[k].body == before) continue;
        before = model->idle[k].body;
        if (used < 120)
            used += snprintf(others + used, sizeof others - (size_t)used, "%s\"%.40s\"",
                             bodies > 1 ? ", " : "", model->bodies[before].name);
        bodies++;
    }
    char more[260] = "";
    if (bodies > 1)
        snprintf(more, sizeof more, "; the same holds for %d more: %s%s", bodies - 1, others,
                 used >= 120 ? ", ..." : "");
    lw_compile_warning(
        s->compiler, "body", body->name, body->place, "give it inertia about that line if its spin matters",
        "spins idly about %s: no inertia resists that, nothing acts on it, and nothing else feels "
        "it; the spin keeps its speed%s",
        line, more);
}

static void complain_of_gyroscope(survey *s, int body, const double w[3]) {
    const lw_body *own = &s->model->bodies[body];
    double axis[3] = {w[0], w[1], w[2]}, length = lw_v3_norm(w);
    char line[256];
    for (int k = 0; k < 3; k++) axis[k] /= length;
    describe(s, body, axis, line, sizeof line);
    lw_compile_error(
        s->compiler, "body", own->name, own->place,
        "give it a moment of inertia there, at least the difference of the other two, or hold it by "
        "another joint",
        "is free to turn about %s, where it has no inertia, while its other moments of inertia differ: "
        "their gyroscopic torque acts there and nothing resists it",
        line);
}

/* --- the search -------------------------------------------------------------------------------------- */

/* Lists the rows of each system; head[root] is the first row of the system whose root is this unknown. */
static void list_rows(survey *s, int *head) {
    for (int u = 0; u < s->unknowns; u++) head[u] = -1;
    for (int r = s->row_count - 1; r >= 0; r--)
        for (int k = s->rows[r].first, found = 0; k < s->rows[r].first + s->rows[r].count && !found; k++) {
            int body = s->parts[k].body;
            for (int u = s->first[body]; u < s->first[body + 1] && !found; u++) {
                if (fabs(entry_at(s, &s->rows[r], u)) <= nothing) continue;
                int root = find(s->system, u);
                s->rows[r].next = head[root], head[root] = r, found = 1;
            }
        }
}

/* Returns whether the system consists of bodies without mass and inertia that only one joint, element or
 * constraint connects to others. Their mass was probably forgotten, so that they remain an error. */
static bool is_dead_end(const survey *s, const motions *of) {
    int bonds = 0;
    for (int c = 0; c < of->n; c++) {
        const lw_rigid_inertia *I = &s->model->links[s->owner[of->unknowns[c]]].inertia;
        if (I->mass > 0 || I->second[0] + I->second[1] + I->second[2] > 0) return false;
    }
    for (int r = 0; r < s->bond_count; r++) {
        bool inside[2] = {false, false};
        for (int side = 0; side < 2; side++)
            for (int c = 0; c < of->n; c++)
                inside[side] |= s->owner[of->unknowns[c]] == s->bonds[r].bodies[side];
        bonds += inside[0] != inside[1];
    }
    return bonds < 2;
}

/* Computes the twist of a body in motion k at the world's origin, with lengths in units of the
 * mechanism's. */
static void twist_of(const survey *s, const motions *of, int k, int body, double out[6]) {
    double V[6] = {0};
    for (int c = 0; c < of->n; c++)
        if (s->owner[of->unknowns[c]] == body) lw_v6_axpy(of->N[k * of->n + c], s->basis[of->unknowns[c]], V);
    lw_twist_to_parent(s->data->world[body].R, s->data->world[body].p, V, out);
    for (int i = 3; i < 6; i++) out[i] /= s->length;
}

/* Returns whether the motions move one body only, or rotate all bodies about one common line. Such motions
 * change the poses of these bodies only. A massless linkage with mobility of its own moves no mass either,
 * but it changes its shape and thereby its effect on others. */
static bool are_spins(const survey *s, const motions *of) {
    double line[6] = {0}, square = 0;
    bool single = true;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < of->count; k++)
            for (int c = 0; c < of->n; c++) {
                double V[6];
                single &= s->owner[of->unknowns[c]] == s->owner[of->unknowns[0]];
                twist_of(s, of, k, s->owner[of->unknowns[c]], V);
                double size = lw_v6_dot(V, V);
                if (pass == 0) {
                    if (size > square) memcpy(line, V, sizeof line), square = size;
                    continue;
                }
                double along = lw_v6_dot(V, line) / square;
                for (int i = 0; i < 6; i++)
                    if (!(fabs(V[i] - along * line[i]) < 1e-7)) return single;
            }
    return true;
}

/* The systems of unknowns. The root of a system is the unknown that represents it. */
typedef struct systems {
    int *end, *list; /* unknowns of a system: list[end[root - 1]] .. list[end[root] - 1] */
    int *head;       /* root -> first row of the system, or -1 */
    int *idle;       /* root -> least number of idle motions at the positions so far */
    bool *bad;       /* body -> its gyroscopic torque has been reported */
} systems;

static void sort_systems(const survey *s, systems *all) {
    int n = s->unknowns;
    for (int u = 0; u < n; u++) all->end[find(s->system, u) + 1]++, all->idle[u] = INT32_MAX;
    for (int u = 0; u < n; u++) all->end[u + 1] += all->end[u];
    for (int u = 0; u < n; u++) all->list[all->end[find(s->system, u)]++] = u;
}

/* Reports every body that could spin freely if no gyroscopic torque acted on it. */
static void find_gyroscopes(survey *s, const motions *of, bool *bad) {
    for (int k = 0; k < of->count; k++)
        for (int c = 0; c < of->n; c++) {
            int body = s->owner[of->unknowns[c]];
            double w[3];
            if (!s->gyroscopic[body] || bad[body]) continue;
            spin_of(s, of, k, body, w);
            if (!(lw_v3_norm(w) > 1e-6)) continue;
            bad[body] = true;
            complain_of_gyroscope(s, body, w);
        }
}

/* Examines one system at position p. Its idle motions are counted at the random positions, and held at the
 * start; if the start is a singular position with more motions, they are held at a random position. */
static lw_status look_at_system(survey *s, int p, int root, systems *all, motions *of) {
    if (p > 0) {
        if (!find_motions(s, all->head[root], false, of)) return LW_ERROR_MEMORY;
        find_gyroscopes(s, of, all->bad);
    }
    if (!find_motions(s, all->head[root], true, of)) return LW_ERROR_MEMORY;
    if (p > 0) {
        all->idle[root] = of->count < all->idle[root] ? of->count : all->idle[root];
        if (!are_spins(s, of)) all->idle[root] = 0;
        return LW_OK;
    }
    if (p == 0 && of->count != all->idle[root]) return LW_OK;
    if (!is_dead_end(s, of)) hold_spins(s, of);
    all->idle[root] = 0;
    return LW_OK;
}

/* Examines all systems. What holds at two random positions holds wherever the ranks are full; the axes are
 * those at the start if the ranks are full there. */
static lw_status look_at_systems(survey *s) {
    lw_arena *scratch = s->compiler->scratch;
    int n = s->unknowns, room = n > SYSTEM_MAX ? SYSTEM_MAX : n;
    systems all = {.end = LW_NEW(scratch, int, n + 2),
                   .list = LW_NEW(scratch, int, n + 1),
                   .head = LW_NEW(scratch, int, n + 1),
                   .idle = LW_NEW(scratch, int, n + 1),
                   .bad = LW_NEW(scratch, bool, s->model->body_count + 1)};
    motions of = {.N = LW_NEW(scratch, double, room *room + 1)};
    if (lw_arena_failed(scratch)) return LW_ERROR_MEMORY;
    for (int p = 0; p < POSITIONS; p++) {
        take_position(s, p);
        join_systems(s);
    }
    sort_systems(s, &all);
    /* The order is: random positions, the start, and the first random position for remaining motions. */
    for (int p = POSITIONS - 1; p >= -1; p--) {
        take_position(s, p < 0 ? 1 : p);
        list_rows(s, all.head);
        for (int root = 0; root < n; root++) {
            of.n = all.end[root] - (root ? all.end[root - 1] : 0);
            if (of.n == 0 || of.n > SYSTEM_MAX || (all.idle[root] == 0 && p <= 0)) continue;
            memcpy(of.unknowns, all.list + all.end[root] - of.n, (size_t)of.n * sizeof *all.list);
            if (look_at_system(s, p, root, &all, &of) != LW_OK) return LW_ERROR_MEMORY;
        }
    }
    tell(s);
    return LW_OK;
}

static void add_bond(survey *s, const int bodies[2]) {
    for (int side = 0; side < 2; side++)
        if (s->first[bodies[side]] < s->first[bodies[side] + 1]) {
            s->bonds[s->bond_count++] = (bond){{bodies[0], bodies[1]}};
            return;
        }
}

static void list_bonds(survey *s) {
    const lw_model *model = s->model;
    for (int j = 0; j < model->joint_count; j++)
        if (model->joints[j].joint.nv < 6) add_bond(s, model->joints[j].info.bodies);
    for (int f = 0; f < model->force_count; f++) {
        lw_force_type type = model->forces[f].type;
        if (!lw_force_type_in_joint(type)) add_bond(s, model->forces[f].bodies);
    }
    for (int c = 0; c < model->constraint_count; c++)
        if (model->constraints[c].type != LW_CONSTRAINT_COUPLING) add_bond(s, model->constraints[c].bodies);
}

static double size_of(const lw_model *model) {
    double size = 0;
    for (int j = 0; j < model->joint_count; j++)
        for (int side = 0; side < 2; side++) size = fmax(size, lw_v3_norm(model->joints[j].frames[side].p));
    for (int i = 1; i <= model->body_count; i++) size = fmax(size, lw_v3_norm(model->bodies[i].com));
    return size > 0 && isfinite(size) ? size : 1;
}

lw_status lw_compile_idle(lw_compiler *compiler) {
    lw_model *model = compiler->model;
    lw_arena *scratch = compiler->scratch;
    size_t bodies = (size_t)model->body_count + 2;
    survey s = {.compiler = compiler, .model = model, .length = size_of(model), .random = 19};
    double twists[6][6];
    s.first = LW_NEW(scratch, int, bodies + 1);
    s.gyroscopic = LW_NEW(scratch, bool, bodies);
    if (lw_arena_failed(scratch)) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) s.first[i + 1] = s.unknowns += still_twists(&s, i, twists);
    if (s.unknowns == 0) return LW_OK;

    size_t terms = 0;
    for (int c = 0; c < model->constraint_count; c++) terms += (size_t)model->constraints[c].terms;
    size_t rows = 6 * (size_t)model->joint_count + 12 * (size_t)model->constraint_count +
                  6 * (size_t)model->force_count;
    s.owner = LW_NEW(scratch, int, s.unknowns + 1);
    s.system = LW_NEW(scratch, int, s.unknowns + 1);
    s.basis = (double(*)[6])LW_NEW(scratch, double, 6 * (size_t)s.unknowns + 1);
    s.q = LW_NEW(scratch, double, LW_JOINT_MAX_Q *(size_t)model->joint_count + 1);
    s.rows = LW_NEW(scratch, row, rows + 1);
    s.parts = LW_NEW(scratch, part, 2 * (rows + terms) + 1);
    s.bonds = LW_NEW(scratch, bond, model->joint_count + model->force_count + model->constraint_count + 1);
    model->idle = LW_NEW(model->arena, lw_idle, s.unknowns);
    if (lw_arena_failed(scratch) || !s.basis || !model->idle) return LW_ERROR_MEMORY;
    for (int i = 1; i <= model->body_count; i++) {
        int count = still_twists(&s, i, twists);
        for (int k = 0; k < count; k++) {
            int u = s.first[i] + k;
            s.owner[u] = i, s.system[u] = u;
            memcpy(s.basis[u], twists[k], sizeof twists[k]);
        }
    }
    list_bonds(&s);
    lw_status status = lw_data_create(model, NULL, &s.data);
    if (status != LW_OK) return status;
    status = look_at_systems(&s);
    lw_data_destroy(s.data);
    return status;
}
