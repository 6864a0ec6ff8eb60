/* lightness.c - the bodies that are coupled with each other, and the heaviest of them.
 *
 * Bodies are coupled by joints, by force elements between two bodies and by constraints; ground couples nothing. Sets of coupled
 * bodies are found by union with path halving. Per set M is the largest mass and J the largest principal moment of
 * inertia of a body about the point of its joint if that is a hinge (for a point at distance r: m r^2), else about its centre of
 * mass. Body b is measured against
 *
 *   its mass        M
 *   its moments     max(J, M k^2),  k^2 = (largest principal moment) / (mass)
 *
 * Cost     O(n log n), compiling included.
 */
#include "analyses/lightness.h"
#include "model/compile.h"
#include "model/spec.h"

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

/* --- what they weigh ------------------------------------------------------------------------------- */

static double moment_at_joint(const lw_model *model, int b) {
    const lw_link *link = &model->links[b];
    const double *c = model->bodies[b].com, m = link->inertia.mass;
    double J[6], e[3];
    memcpy(J, link->inertia.second, sizeof J);
    switch (link->joint.type) {
    case LW_JOINT_REVOLUTE:
    case LW_JOINT_SCREW:
    case LW_JOINT_CYLINDRICAL:
    case LW_JOINT_UNIVERSAL:
    case LW_JOINT_SPHERICAL:
        break;
    default: /* to the centre of mass: J - m (c.c E - c c') */
        for (int k = 0; k < 3; k++) J[k] -= m * (lw_v3_dot(c, c) - c[k] * c[k]);
        J[3] += m * c[0] * c[1], J[4] += m * c[0] * c[2], J[5] += m * c[1] * c[2];
    }
    lw_principal_moments(J, e);
    return e[2];
}

static void look_at(const lw_model *model, const lw_body_spec *body, lw_lightness *b) {
    b->label = lw_model_body(model, body->name);
    b->mass = body->mass;
    memcpy(b->inertia, body->inertia, sizeof b->inertia);
    b->moments = body->kind == LW_BODY_POINT ? 0 : body->kind == LW_BODY_PLANAR ? 1 : 3;
    if (b->moments == 1) b->principal[0] = b->principal[1] = b->principal[2] = body->inertia[2];
    if (b->moments == 3) lw_principal_moments(body->inertia, b->principal);
}

lw_status lw_weigh_bodies(const lw_spec *spec, lw_lightness **bodies, lw_error *error) {
    size_t count = lw_spec_body_count(spec);
    lw_model *model;
    *bodies = NULL;
    lw_status status = lw_compile_quietly(spec, &model, error);
    if (status != LW_OK) return status;
    size_t labels = (size_t)lw_model_body_count(model) + 1;
    lw_lightness *list = calloc(count + 1, sizeof *list);
    int *set = calloc(labels, sizeof *set);
    double *heaviest = calloc(labels, sizeof *heaviest), *greatest = calloc(labels, sizeof *greatest);
    if (!list || !set || !heaviest || !greatest) {
        free(list);
        status = lw_out_of_memory(error);
    } else {
        couple_all(model, set);
        for (int b = 1; b <= model->body_count; b++) {
            int root = find(set, b);
            heaviest[root] = fmax(heaviest[root], model->links[b].inertia.mass);
            greatest[root] = fmax(greatest[root], moment_at_joint(model, b));
        }
        for (size_t k = 0; k < count; k++) {
            lw_lightness *b = &list[k];
            look_at(model, &spec->bodies[k], b);
            int root = find(set, b->label);
            b->heaviest = heaviest[root];
            b->greatest = greatest[root];
            if (b->mass > 0) b->greatest = fmax(b->greatest, b->heaviest * b->principal[2] / b->mass);
        }
        *bodies = list;
    }
    free(set), free(heaviest), free(greatest);
    lw_model_destroy(model);
    return status;
}
