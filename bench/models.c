/* models.c - the mechanisms of the benchmarks and random states of them.
 */
#include "models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void *bench_allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "bench: out of memory (%zu x %zu bytes)\n", count, size);
        exit(1);
    }
    return memory;
}

/* --- building ------------------------------------------------------------------------------------- */

static bench_model *create(const char *name, int capacity) {
    bench_model *model = bench_allocate(1, sizeof *model);
    snprintf(model->name, sizeof model->name, "%s", name);
    model->bodies = bench_allocate((size_t)capacity + 1, sizeof *model->bodies);
    return model;
}

void bench_model_destroy(bench_model *model) {
    if (!model) return;
    free(model->bodies);
    free(model->closures);
    free(model);
}

/* Gives the next body its number and its places in q and v. */
static int add(bench_model *model, bench_body body) {
    body.q = model->q_size;
    body.v = model->v_size;
    body.q_count = lw_joint_type_q(body.type, body.axis_count);
    body.v_count = lw_joint_type_v(body.type, body.axis_count);
    model->q_size += body.q_count;
    model->v_size += body.v_count;
    model->bodies[++model->count] = body;
    return model->count;
}

bench_model *bench_chain(int joints) {
    char name[32];
    snprintf(name, sizeof name, "chain %d", joints);
    bench_model *model = create(name, joints);
    for (int i = 0; i < joints; i++) {
        bench_body link = {.parent = i,
                           .type = LW_JOINT_REVOLUTE,
                           .axis_count = 1,
                           .point = {0, 0, i > 0 ? 1 : 0},
                           .mass = 1,
                           .com = {0, 0, 0.5},
                           .inertia = {0.1, 0.1, 0.02}};
        link.axes[0][i % 3] = 1;
        add(model, link);
    }
    return model;
}

/* One link of a limb: its axis 'x', 'y' or 'z', its joint's point on the link before, its mass, and where its
 * end is along z (a ball of radius 0.06 drawn out up to there). */
typedef struct limb_link {
    char axis;
    double point[3], mass, end;
} limb_link;

static int add_limb(bench_model *model, int parent, double side, const limb_link *links, int count) {
    const double radius = 0.06;
    for (int k = 0; k < count; k++) {
        const limb_link *link = &links[k];
        double along = 0.4 * link->mass * radius * radius; /* a ball drawn out along z */
        double across = along + link->mass * link->end * link->end / 12;
        bench_body body = {.parent = parent,
                           .type = LW_JOINT_REVOLUTE,
                           .axis_count = 1,
                           .point = {link->point[0], side * link->point[1], link->point[2]},
                           .mass = link->mass,
                           .com = {0, 0, link->end / 2},
                           .inertia = {across, across, along}};
        body.axes[0][link->axis - 'x'] = 1;
        parent = add(model, body);
    }
    return parent;
}

bench_model *bench_humanoid(void) {
    static const limb_link waist[] = {{'z', {0, 0, 0.05}, 1, 0.1}, {'y', {0, 0, 0.1}, 14, 0.5}};
    static const limb_link head[] = {{'z', {0, 0, 0.5}, 0.5, 0.1}, {'y', {0, 0, 0.1}, 3, 0.2}};
    static const limb_link leg[] = {{'z', {0, 0.1, -0.05}, 1, -0.1}, {'x', {0, 0, -0.1}, 1, 0},
                                    {'y', {0, 0, 0}, 6, -0.4},       {'y', {0, 0, -0.4}, 4, -0.4},
                                    {'y', {0, 0, -0.4}, 0.5, 0},     {'x', {0, 0, 0}, 1, -0.1}};
    static const limb_link arm[] = {
        {'y', {0, 0.2, 0.45}, 1, 0},   {'x', {0, 0, 0}, 1, 0},         {'z', {0, 0, 0}, 2, -0.3},
        {'y', {0, 0, -0.3}, 1, -0.05}, {'z', {0, 0, -0.05}, 1, -0.25}, {'y', {0, 0, -0.25}, 0.3, 0},
        {'x', {0, 0, 0}, 0.5, -0.15},
    };
    bench_model *model = create("humanoid", 31);
    int pelvis = add(model, (bench_body){.type = LW_JOINT_FREE, .mass = 8, .inertia = {0.06, 0.05, 0.07}});
    int torso = add_limb(model, pelvis, 1, waist, 2);
    add_limb(model, torso, 1, head, 2);
    for (int side = -1; side <= 1; side += 2) add_limb(model, torso, side, arm, 7);
    for (int side = -1; side <= 1; side += 2) add_limb(model, pelvis, side, leg, 6);
    return model;
}

bench_model *bench_mixed(bool screws) {
    /* type, its number of axes; planar: normal and x direction */
    static const struct {
        lw_joint_type type;
        int axes;
    } joints[9] = {{LW_JOINT_PLANAR, 2},      {LW_JOINT_REVOLUTE, 1}, {LW_JOINT_PRISMATIC, 1},
                   {LW_JOINT_SPHERICAL, 0},   {LW_JOINT_WELD, 0},     {LW_JOINT_UNIVERSAL, 2},
                   {LW_JOINT_CYLINDRICAL, 1}, {LW_JOINT_SCREW, 1},    {LW_JOINT_TRANSLATION, 3}};
    /* two right-handed sets of axes */
    static const double straight[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    static const double skew[3][3] = {
        {2.0 / 3, 2.0 / 3, 1.0 / 3}, {-2.0 / 3, 1.0 / 3, 2.0 / 3}, {1.0 / 3, -2.0 / 3, 2.0 / 3}};
    bench_model *model = create(screws ? "mixed" : "mixed, no screw", 27);
    for (int i = 1; i <= 27; i++) {
        bench_body body = {.parent = i / 2,
                           .type = joints[i % 9].type,
                           .axis_count = joints[i % 9].axes,
                           .point = {0.1, i % 2 ? 0.3 : -0.3, 0.5},
                           .mass = 1 + 0.1 * (i % 5),
                           .com = {0.05, -0.02, 0.3},
                           .inertia = {0.1, 0.12, 0.05}};
        if (body.type == LW_JOINT_SCREW) {
            if (screws)
                body.lead = 0.2;
            else
                body.type = LW_JOINT_REVOLUTE;
        }
        memcpy(body.axes, i % 2 ? straight : skew, sizeof body.axes);
        add(model, body);
    }
    return model;
}

bench_model *bench_ladder(int cells) {
    const double height = 1, width = 0.5, radius = 0.03; /* of problems/ladder/model.yaml */
    const double rungs = 12, bars = 6;                   /* kg in all */
    char name[32];
    snprintf(name, sizeof name, "ladder %d", cells);
    bench_model *model = create(name, 2 * cells + 1);
    model->closures = bench_allocate((size_t)cells, sizeof *model->closures);

    double mass = rungs / (cells + 1); /* round bars */
    double along = mass * radius * radius / 2, across = mass * (3 * radius * radius + height * height) / 12;
    for (int i = 0; i <= cells; i++)
        add(model, (bench_body){.type = LW_JOINT_UNIVERSAL,
                                .axes = {{1, 0, 0}, {0, 1, 0}},
                                .axis_count = 2,
                                .point = {i * width, 0, 0},
                                .mass = mass,
                                .com = {0, 0, -height / 2},
                                .inertia = {across, across, along}});
    mass = bars / cells;
    along = mass * radius * radius / 2;
    across = mass * (3 * radius * radius + width * width) / 12;
    for (int i = 1; i <= cells; i++) {
        int rung = i, next = i + 1;
        int bar = add(model, (bench_body){.parent = rung,
                                          .type = LW_JOINT_REVOLUTE,
                                          .axes = {{0, 1, 0}},
                                          .axis_count = 1,
                                          .point = {0, 0, -height},
                                          .mass = mass,
                                          .com = {width / 2, 0, 0},
                                          .inertia = {along, across, across}});
        model->closures[model->closure_count++] = (bench_closure){
            .bodies = {bar, next}, .points = {{width, 0, 0}, {0, 0, -height}}, .axis = {0, 1, 0}};
    }
    return model;
}

/* --- Linkwork ------------------------------------------------------------------------------------- */

static void body_name(int body, char name[16]) {
    if (body == 0)
        snprintf(name, 16, "%s", LW_GROUND);
    else
        snprintf(name, 16, "b%d", body);
}

lw_model *bench_compile(const bench_model *model) {
    lw_spec *spec = lw_spec_create(model->name);
    lw_report *report = lw_report_create();
    if (!spec || !report) exit(1);
    lw_spec_set_gravity(spec, (double[3]){0, 0, BENCH_GRAVITY});
    for (int i = 1; i <= model->count; i++) {
        const bench_body *body = &model->bodies[i];
        char parent[16], child[16], name[16];
        body_name(body->parent, parent);
        body_name(i, child);
        snprintf(name, sizeof name, "j%d", i);
        lw_body_spec b = {.name = child, .mass = body->mass};
        memcpy(b.com, body->com, sizeof b.com);
        memcpy(b.inertia, body->inertia, sizeof body->inertia);
        lw_joint_spec j = {.name = name,
                           .type = body->type,
                           .bodies = {parent, child},
                           .frame = LW_GEOMETRY_BODY,
                           .lead = body->lead};
        for (int side = 0; side < 2; side++) {
            j.geometry[side].axis_count = body->axis_count;
            memcpy(j.geometry[side].axes, body->axes, sizeof body->axes);
        }
        memcpy(j.geometry[0].point, body->point, sizeof body->point);
        if (lw_spec_add_body(spec, &b) != LW_OK || lw_spec_add_joint(spec, &j) != LW_OK) exit(1);
    }
    for (int k = 0; k < model->closure_count; k++) {
        const bench_closure *closure = &model->closures[k];
        char bodies[2][16], name[16];
        snprintf(name, sizeof name, "c%d", k);
        lw_joint_spec j = {.name = name, .type = LW_JOINT_REVOLUTE, .frame = LW_GEOMETRY_BODY, .cut = true};
        for (int side = 0; side < 2; side++) {
            body_name(closure->bodies[side], bodies[side]);
            j.bodies[side] = bodies[side];
            j.geometry[side].axis_count = 1;
            memcpy(j.geometry[side].axes[0], closure->axis, sizeof closure->axis);
            memcpy(j.geometry[side].point, closure->points[side], sizeof closure->points[side]);
        }
        if (lw_spec_add_joint(spec, &j) != LW_OK) exit(1);
    }
    lw_model *compiled;
    if (lw_model_compile(spec, NULL, report, &compiled) != LW_OK) {
        for (size_t i = 0; i < lw_report_size(report); i++) {
            char text[1024];
            lw_error_format(lw_report_get(report, i), text, sizeof text);
            fprintf(stderr, "bench: %s\n", text);
        }
        exit(1);
    }
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return compiled;
}

void bench_to_linkwork(const bench_model *model, const lw_model *compiled, const double *q, const double *v,
                       double *lw_q, double *lw_v) {
    for (int i = 1; i <= model->count; i++) { /* joint i - 1 of the spec carries body i */
        const bench_body *body = &model->bodies[i];
        lw_joint_info info = lw_model_joint_info(compiled, i - 1);
        if (q) memcpy(lw_q + info.q, q + body->q, (size_t)body->q_count * sizeof *q);
        if (v) memcpy(lw_v + info.v, v + body->v, (size_t)body->v_count * sizeof *v);
    }
}

void bench_from_linkwork(const bench_model *model, const lw_model *compiled, const double *lw_v, double *v) {
    for (int i = 1; i <= model->count; i++) {
        const bench_body *body = &model->bodies[i];
        memcpy(v + body->v, lw_v + lw_model_joint_info(compiled, i - 1).v, (size_t)body->v_count * sizeof *v);
    }
}

/* --- states --------------------------------------------------------------------------------------- */

/* Uniform in [-1, 1): xorshift64*, the upper 53 bits. */
static double uniform(unsigned long long *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)(*seed * 0x2545f4914f6cdd1dULL >> 11) * 0x1p-52 - 1;
}

static void random_quaternion(unsigned long long *seed, double *q) {
    double norm;
    do {
        norm = 0;
        for (int k = 0; k < 4; k++) {
            q[k] = uniform(seed);
            norm += q[k] * q[k];
        }
    } while (norm > 1 || norm < 0.01);
    for (int k = 0; k < 4; k++) q[k] /= sqrt(norm);
}

static bench_states *allocate_states(const bench_model *model, int count) {
    bench_states *states = bench_allocate(1, sizeof *states);
    size_t nq = (size_t)model->q_size, nv = (size_t)model->v_size;
    states->count = count;
    states->q = bench_allocate((size_t)count * nq, sizeof(double));
    states->v = bench_allocate((size_t)count * nv, sizeof(double));
    states->tau = bench_allocate((size_t)count * nv, sizeof(double));
    states->vdot = bench_allocate((size_t)count * nv, sizeof(double));
    return states;
}

bench_states *bench_states_create(const bench_model *model, int count, unsigned long long seed) {
    bench_states *states = allocate_states(model, count);
    size_t nq = (size_t)model->q_size, nv = (size_t)model->v_size;
    for (int s = 0; s < count; s++) {
        for (int i = 1; i <= model->count; i++) {
            const bench_body *body = &model->bodies[i];
            double *q = states->q + (size_t)s * nq + body->q;
            bool turns = body->type == LW_JOINT_REVOLUTE || body->type == LW_JOINT_SCREW ||
                         body->type == LW_JOINT_UNIVERSAL;
            bool quaternion = body->q_count > body->v_count;
            for (int k = 0; k < body->q_count; k++) q[k] = uniform(&seed) * (turns ? pi : 1);
            if (quaternion) random_quaternion(&seed, q + body->q_count - 4);
        }
        for (size_t k = 0; k < nv; k++) {
            states->v[(size_t)s * nv + k] = uniform(&seed);
            states->tau[(size_t)s * nv + k] = uniform(&seed);
            states->vdot[(size_t)s * nv + k] = uniform(&seed);
        }
    }
    return states;
}

bench_states *bench_ladder_states(const bench_model *model, int count, double speed,
                                  unsigned long long seed) {
    const double step = 0.01; /* rad */
    bench_states *states = allocate_states(model, count);
    size_t n = (size_t)model->v_size;
    for (int s = 0; s < count; s++) {
        double angle[2] = {0.7 + step * s, 0.5 - step * s};
        double rate[2] = {speed * uniform(&seed), speed * uniform(&seed)};
        for (int i = 1; i <= model->count; i++) {
            const bench_body *body = &model->bodies[i];
            double *q = states->q + (size_t)s * n + body->q, *v = states->v + (size_t)s * n + body->v;
            bool rung = body->v_count == 2; /* a bar keeps its direction in the plane of the ladder */
            for (int k = 0; k < body->v_count; k++) {
                q[k] = rung ? angle[k] : -angle[1];
                v[k] = rung ? rate[k] : -rate[1];
                states->tau[(size_t)s * n + (size_t)(body->v + k)] = body->mass * uniform(&seed);
            }
        }
    }
    return states;
}

void bench_states_destroy(bench_states *states) {
    if (!states) return;
    free(states->q);
    free(states->v);
    free(states->tau);
    free(states->vdot);
    free(states);
}
