/* neglect_ratios.c - sets of coupled bodies, and the values to which the inertia of each body is compared.
 *
 * Bodies are coupled by joints, by force elements between two bodies and by constraints; ground couples
 * nothing. Sets of coupled bodies are found by union with path halving. Per set M is the largest mass and J
 * the largest principal moment of inertia of a body about the point of its joint if that is a hinge (for a
 * point at distance r: m r^2), otherwise about its centre of mass. The reference values of body b are
 *
 *   for its mass        M
 *   for its moments     R = J E + M' sum (r.r E - r r'),  r from its centre of mass to the points where it is
 *                       connected to others
 *
 * with M' the largest mass of another body. R is the inertia that such a mass attached at each of these
 * points would have. No ratio of the body's own numbers enters, so that it may have inertia without mass. The
 * ratio of all moments I is the largest eigenvalue of R^-1 I, that of the smallest one e about u alone is e /
 * u'R u.
 *
 * Cost     O(n log n), compiling included.
 */
#include "analyses/neglect_ratios.h"
#include "model/compile/compile.h"
#include "model/spec/parts.h"
#include "model/spec/spec_storage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lw_status lw_compile_quietly(const lw_spec *spec, lw_model **model, lw_error *error) {
    lw_report *report = lw_report_create();
    *model = NULL;
    if (!report) return lw_out_of_memory(error);
    lw_status status = lw_model_compile(spec, NULL, report, model);
    for (size_t k = lw_report_size(report); k-- > 0 && error && status != LW_OK;)
        if (lw_report_get(report, k)->severity == LW_SEVERITY_ERROR) *error = *lw_report_get(report, k);
    lw_report_destroy(report);
    return status;
}

/* --- sets of coupled bodies ------------------------------------------------------------------------ */

static int find(int *set, int b) {
    while (set[b] != b) b = set[b] = set[set[b]];
    return b;
}

static void couple(int *set, int a, int b) {
    if (a > 0 && b > 0) set[find(set, a)] = find(set, b);
}

static int body_of_speed(const lw_model *model, int speed) {
    int low = 1, high = model->body_count;
    while (low < high) { /* the last body whose speeds begin at or before this one */
        int middle = (low + high + 1) / 2;
        if (model->links[middle].v <= speed)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static void couple_all(const lw_model *model, int *set) {
    for (int b = 0; b <= model->body_count; b++) set[b] = b;
    for (int j = 0; j < model->joint_count; j++)
        couple(set, model->joints[j].info.bodies[0], model->joints[j].info.bodies[1]);
    for (int f = 0; f < model->force_count; f++)
        couple(set, model->forces[f].bodies[0], model->forces[f].bodies[1]);
    for (int c = 0; c < model->constraint_count; c++) {
        const lw_constraint *constraint = &model->constraints[c];
        if (constraint->type != LW_CONSTRAINT_COUPLING) {
            couple(set, constraint->bodies[0], constraint->bodies[1]);
            continue;
        }
        for (int k = 1; k < constraint->terms; k++)
            couple(set, body_of_speed(model, constraint->speeds[0]),
                   body_of_speed(model, constraint->speeds[k]));
    }
}

/* --- masses and moments -------------------------------------------------------------------------------- */

/* Of a set of coupled bodies: the largest mass and whose it is, the largest of another body, the largest
 * moment. */
typedef struct extremes {
    double heaviest, next, greatest;
    int heavy_body;
} extremes;

static double moment_at_joint(const lw_model *model, int b) {
    const lw_link *link = &model->links[b];
    const double *c = model->bodies[b].com, m = link->inertia.mass;
    double J[6], e[3];
    memcpy(J, link->inertia.second, sizeof J);
    if (!lw_joint_turns_in_place(link->joint.type)) { /* to the centre of mass: J - m (c.c E - c c') */
        for (int k = 0; k < 3; k++) J[k] -= m * (lw_v3_dot(c, c) - c[k] * c[k]);
        J[3] += m * c[0] * c[1], J[4] += m * c[0] * c[2], J[5] += m * c[1] * c[2];
    }
    lw_principal_moments(J, e);
    return e[2];
}

/* Adds r.r E - r r' for one point. */
static void add_point(double sums[6], const double com[3], const double point[3]) {
    double r[3];
    lw_v3_sub(point, com, r);
    for (int k = 0; k < 3; k++) sums[k] += lw_v3_dot(r, r) - r[k] * r[k];
    sums[3] -= r[0] * r[1], sums[4] -= r[0] * r[2], sums[5] -= r[1] * r[2];
}

/* The sums of all bodies over the points where they are connected to others, in their internal axes. */
static void add_points(const lw_model *model, double (*sums)[6]) {
    for (int side = 0; side < 2; side++) {
        for (int j = 0; j < model->joint_count; j++) {
            int b = model->joints[j].info.bodies[side];
            add_point(sums[b], model->bodies[b].com, model->joints[j].frames[side].p);
        }
        for (int f = 0; f < model->force_count; f++) {
            const lw_force *force = &model->forces[f];
            int b = force->bodies[side];
            if (!lw_force_type_in_joint(force->type) && force->type != LW_FORCE_APPLIED)
                add_point(sums[b], model->bodies[b].com, force->frames[side].p);
        }
        for (int c = 0; c < model->constraint_count; c++) {
            const lw_constraint *constraint = &model->constraints[c];
            int b = constraint->bodies[side];
            if (constraint->type == LW_CONSTRAINT_DISTANCE)
                add_point(sums[b], model->bodies[b].com, constraint->points[side]);
        }
    }
}

/* The direction of the smallest principal moment e: S - e E maps everything to the plane perpendicular to
 * it. */
static void thin_axis(const double S[6], double e, double u[3]) {
    const double rows[3][3] = {{S[0] - e, S[3], S[4]}, {S[3], S[1] - e, S[5]}, {S[4], S[5], S[2] - e}};
    double best = 0;
    u[0] = 1, u[1] = u[2] = 0;
    for (int k = 0; k < 3; k++) {
        double c[3];
        lw_v3_cross(rows[k], rows[(k + 1) % 3], c);
        double length = lw_v3_norm(c);
        if (length <= best) continue;
        best = length;
        for (int i = 0; i < 3; i++) u[i] = c[i] / length;
    }
}

/* The largest eigenvalue of R^-1 I, by R = L L': that of L^-1 I L^-T. */
static double largest_ratio(const double R[6], const double I[6]) {
    double l00 = sqrt(R[0]), l10 = R[3] / l00, l20 = R[4] / l00, l11 = sqrt(R[1] - l10 * l10);
    double l21 = (R[5] - l20 * l10) / l11, l22 = sqrt(R[2] - l20 * l20 - l21 * l21);
    double A[3][3] = {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}, e[3];
    for (int pass = 0; pass < 2; pass++) { /* rows, then columns: the transposed ones */
        for (int k = 0; k < 3; k++) {
            A[0][k] /= l00;
            A[1][k] = (A[1][k] - l10 * A[0][k]) / l11;
            A[2][k] = (A[2][k] - l20 * A[0][k] - l21 * A[1][k]) / l22;
        }
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < i; k++) {
                double other = A[i][k];
                A[i][k] = A[k][i], A[k][i] = other;
            }
    }
    const double S[6] = {A[0][0], A[1][1], A[2][2], A[0][1], A[0][2], A[1][2]};
    lw_principal_moments(S, e);
    return e[2];
}

static void look_at(const lw_model *model, const lw_body_spec *body, lw_neglect_ratios *b) {
    b->label = lw_model_body(model, body->name);
    b->mass = body->mass;
    memcpy(b->inertia, body->inertia, sizeof b->inertia);
    b->moments = body->kind == LW_BODY_POINT ? 0 : body->kind == LW_BODY_PLANAR ? 1 : 3;
    if (b->moments == 1) b->principal[0] = b->principal[1] = b->principal[2] = body->inertia[2];
    if (b->moments == 3) {
        lw_principal_moments(body->inertia, b->principal);
        thin_axis(body->inertia, b->principal[0], b->axis);
    }
}

/* The ratios relative to the largest mass, the largest moment, and the other mass attached at the points of
 * the body. */
static void measure(const lw_model *model, const extremes *of, const double second_moments[6],
                    const lw_placement *at, lw_neglect_ratios *b) {
    double other = b->label == of->heavy_body ? of->next : of->heaviest;
    double heaviest = of->heaviest, greatest = of->greatest;
    const double *axes = model->bodies[b->label].frame.R; /* the user's in the internal ones */
    double R[6], *own = b->reference, part[3];
    for (int k = 0; k < 6; k++) R[k] = other * second_moments[k] + (k < 3 ? greatest : 0);
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) { /* axes'R axes */
        const double x[3] = {axes[row[k]], axes[3 + row[k]], axes[6 + row[k]]};
        const double y[3] = {axes[column[k]], axes[3 + column[k]], axes[6 + column[k]]};
        lw_s3_mul_v(R, y, part);
        own[k] = lw_v3_dot(x, part);
        /* The spec has the inertia of a body of a mirrored part as it is before it is mirrored. */
        if (at) own[k] *= at->D[row[k]] * at->D[column[k]];
    }
    b->heaviest = heaviest;
    b->mass_ratio = heaviest > 0 ? b->mass / heaviest : 1;
    b->ratio = b->smallest_ratio = 1;
    if (!(greatest > 0) || b->moments == 0) return;
    if (b->moments == 1) {
        b->ratio = b->inertia[2] / own[2];
        return;
    }
    lw_s3_mul_v(own, b->axis, part);
    b->ratio = largest_ratio(own, b->inertia);
    b->smallest_ratio = b->principal[0] / lw_v3_dot(b->axis, part);
}

lw_status lw_weigh_bodies(const lw_spec *spec, lw_neglect_ratios **bodies, lw_error *error) {
    size_t count = lw_spec_body_count(spec);
    lw_model *model;
    *bodies = NULL;
    lw_status status = lw_compile_quietly(spec, &model, error);
    if (status != LW_OK) return status;
    size_t labels = (size_t)lw_model_body_count(model) + 1;
    lw_neglect_ratios *list = calloc(count + 1, sizeof *list);
    int *set = calloc(labels, sizeof *set);
    extremes *of = calloc(labels, sizeof *of);
    double(*second_moments)[6] = calloc(labels, sizeof *second_moments);
    lw_arena *scratch = lw_arena_create(NULL);
    lw_placements parts = {.items = NULL};
    if (!list || !set || !of || !second_moments || !scratch ||
        lw_placements_create(spec, scratch, &parts) != LW_OK) {
        free(list);
        status = lw_out_of_memory(error);
    } else {
        couple_all(model, set);
        for (int b = 1; b <= model->body_count; b++) {
            extremes *own = &of[find(set, b)];
            double mass = model->links[b].inertia.mass;
            own->next = fmax(own->next, fmin(mass, own->heaviest));
            if (mass > own->heaviest) own->heaviest = mass, own->heavy_body = b;
            own->greatest = fmax(own->greatest, moment_at_joint(model, b));
        }
        add_points(model, second_moments);
        for (size_t k = 0; k < count; k++) {
            lw_neglect_ratios *b = &list[k];
            look_at(model, &spec->bodies[k], b);
            measure(model, &of[find(set, b->label)], second_moments[b->label],
                    lw_placement_of(&parts, spec->bodies[k].name), b);
        }
        *bodies = list;
    }
    free(set), free(of), free(second_moments);
    if (scratch) lw_arena_destroy(scratch);
    lw_model_destroy(model);
    return status;
}
