/* code_build.c - the state of a mechanism as nodes: arguments, constants of the model, motions, kinematics,
 * loads (code_build.h).
 */
#include "export/code/code_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void code_refuse(code_build *b, const char *object, const char *why) {
    if (b->refusal) return;
    b->refusal = why;
    (void)snprintf(b->refused, sizeof b->refused, "%s", object ? object : "");
}

static code_node *array_of(code_build *b, int count) {
    code_node *items = calloc((size_t)count + 1, sizeof *items);
    if (!items) b->g->failed = true;
    return items;
}

/* Geometry and inertia of a body. What is smaller than rounding is zero. */
static void take_body(code_build *b, int i) {
    const lw_link *link = &b->model->links[i];
    const lw_rigid_inertia *I = &link->inertia, own = lw_true_inertia(b->model, i);
    code_body *body = &b->bodies[i];
    code_graph *g = b->g;
    double size = 0;
    for (int k = 0; k < 3; k++) size = fmax(size, fabs(I->second[k]));
    for (int k = 0; k < 9; k++) body->link_R[k] = code_number(g, link->R[k], 1);
    code_numbers3(g, link->p, 0.1, body->link_p);
    body->mass = code_number(g, I->mass, 0);
    code_numbers3(g, I->moment, 0.1 * I->mass, body->moment);
    for (int k = 0; k < 6; k++) {
        body->second[k] = code_number(g, I->second[k], size);
        body->true_second[k] = code_number(g, own.second[k], size);
    }
}

static void create(code_build *b, code_graph *g, const lw_model *model, bool open) {
    *b = (code_build){.g = g, .model = model, .open = open};
    b->bodies = calloc((size_t)model->body_count + 1, sizeof *b->bodies);
    b->q = array_of(b, model->nq);
    b->v = array_of(b, model->nv);
    b->vdot = array_of(b, model->nv);
    b->tau = array_of(b, model->nv);
    b->armature = array_of(b, model->nv);
    b->values = array_of(b, model->values.count);
    if (!b->bodies) g->failed = true;
    if (g->failed) return;
    b->t = code_input(g, CODE_TIME, 0);
    for (int k = 0; k < model->nq; k++) b->q[k] = code_input(g, CODE_Q, k);
    for (int k = 0; k < model->nv; k++) {
        b->v[k] = code_input(g, CODE_V, k);
        b->vdot[k] = -1;
        b->armature[k] = model->armature ? code_number(g, model->armature[k], 0) : 0;
    }
    for (int k = 0; k < model->values.count; k++) b->values[k] = -1;
    code_numbers3(g, model->gravity, 1, b->gravity);
    for (int i = 1; i <= model->body_count; i++) take_body(b, i);
    if (!open) code_motions(b);
    code_kinematics(b);
    if (!open) code_forces(b);
}

void code_build_create(code_build *b, code_graph *g, const lw_model *model) { create(b, g, model, false); }
void code_build_create_open(code_build *b, code_graph *g, const lw_model *model) {
    create(b, g, model, true);
}

void code_build_destroy(code_build *b) {
    free(b->bodies);
    free(b->q);
    free(b->v);
    free(b->vdot);
    free(b->tau);
    free(b->armature);
    free(b->values);
}
