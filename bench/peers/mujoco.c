/* mujoco.c - MuJoCo in the comparison, by the least work that gives the same answers.
 *
 *   forward   mj_kinematics, mj_comPos, mj_crb, mj_factorM (mass matrix and its factors), mj_comVel,
 *             mj_rne without accelerations (bias force), mj_solveM
 *   inverse   mj_kinematics, mj_comPos, mj_comVel, mj_rne with accelerations
 *
 * With closed loops, forward is mj_fwdPosition, mj_fwdVelocity, mj_fwdActuation, mj_fwdAcceleration, mj_fwdConstraint: all of
 * mj_forward but its checks, sensors and energies. A closure is a connect constraint, three rows, where a hinge would add
 * rows that are redundant in the ladder; as stiff as MuJoCo lets it be (solimp 0.9999), sparse Jacobian, Newton's method,
 * which needs one iteration. MuJoCo leaves the rate of the Jacobian out of its constraints. In the ladder nothing is lost by
 * that: its bars keep their direction in their plane, so that both points of a closure have the same such acceleration.
 *
 * No collisions, sensors, actuators, passive forces. Joints of several freedoms become several joints of one
 * body, as MJCF does it. MuJoCo has no screw. XML nesting is limited to about 100 elements; deeper trees are
 * given as files that include each other.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "engine.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING 40 /* bodies per file */

struct engine {
    const bench_model *model;
    mjModel *m;
    mjData *d;
    size_t nq, nv;
    double *q, *v, *tau, *vdot; /* in MuJoCo's order */
    int *q_place, *v_place;     /* per body: where its coordinates and speeds start in MuJoCo */
};

static const char *version(void) { return mj_versionString(); }

/* --- the model as MJCF ---------------------------------------------------------------------------- */

static void add_file(mjVFS *vfs, const char *name, const char *text, size_t size) {
    if (mj_makeEmptyFileVFS(vfs, name, (int)size) != 0) {
        fprintf(stderr, "bench-peers: MuJoCo's file system is full\n");
        exit(1);
    }
    memcpy(vfs->filedata[vfs->nfile - 1], text, size);
}

static void write_joint(FILE *out, const char *type, const double axis[3], int body, int *number) {
    fprintf(out, "<joint name='j%d_%d' type='%s'", body, (*number)++, type);
    if (axis) fprintf(out, " axis='%.17g %.17g %.17g'", axis[0], axis[1], axis[2]);
    fprintf(out, "/>");
}

static void write_joints(FILE *out, const bench_body *body, int i) {
    int number = 0;
    switch (body->type) {
    case LW_JOINT_REVOLUTE:
        write_joint(out, "hinge", body->axes[0], i, &number);
        break;
    case LW_JOINT_PRISMATIC:
        write_joint(out, "slide", body->axes[0], i, &number);
        break;
    case LW_JOINT_CYLINDRICAL:
        write_joint(out, "slide", body->axes[0], i, &number);
        write_joint(out, "hinge", body->axes[0], i, &number);
        break;
    case LW_JOINT_UNIVERSAL:
        write_joint(out, "hinge", body->axes[0], i, &number);
        write_joint(out, "hinge", body->axes[1], i, &number);
        break;
    case LW_JOINT_PLANAR: /* axes: normal, x; with y they are right-handed (models.h) */
        write_joint(out, "slide", body->axes[1], i, &number);
        write_joint(out, "slide", body->axes[2], i, &number);
        write_joint(out, "hinge", body->axes[0], i, &number);
        break;
    case LW_JOINT_TRANSLATION:
        for (int k = 0; k < 3; k++) write_joint(out, "slide", body->axes[k], i, &number);
        break;
    case LW_JOINT_SPHERICAL:
        write_joint(out, "ball", NULL, i, &number);
        break;
    case LW_JOINT_FREE:
        fprintf(out, "<freejoint name='j%d_0'/>", i);
        break;
    default:
        break; /* weld: no joint */
    }
}

typedef struct writer {
    const bench_model *model;
    const int *first_child, *sibling; /* per body; 0: none */
    mjVFS *vfs;
    int files;
} writer;

static void write_body(writer *w, FILE *out, int i, int depth) {
    const bench_body *body = &w->model->bodies[i];
    FILE *part = out;
    char *text = NULL, name[32];
    size_t size = 0;
    bool own_file = depth > 0 && depth % NESTING == 0;
    if (own_file) {
        snprintf(name, sizeof name, "part%d.xml", w->files++);
        fprintf(out, "<include file='%s'/>", name);
        part = open_memstream(&text, &size);
        fprintf(part, "<mujocoinclude>");
    }
    fprintf(part, "<body name='b%d' pos='%.17g %.17g %.17g'>", i, body->point[0], body->point[1],
            body->point[2]);
    fprintf(part, "<inertial pos='%.17g %.17g %.17g' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>",
            body->com[0], body->com[1], body->com[2], body->mass, body->inertia[0], body->inertia[1],
            body->inertia[2]);
    write_joints(part, body, i);
    for (int child = w->first_child[i]; child; child = w->sibling[child])
        write_body(w, part, child, depth + 1);
    fprintf(part, "</body>");
    if (own_file) {
        fprintf(part, "</mujocoinclude>");
        fclose(part);
        add_file(w->vfs, name, text, size);
        free(text);
    }
}

static void write_closures(FILE *out, const bench_model *model) {
    fprintf(out, "<equality>");
    for (int k = 0; k < model->closure_count; k++) {
        const bench_closure *closure = &model->closures[k];
        const double *anchor = closure->points[0];
        fprintf(out,
                "<connect body1='b%d' body2='b%d' anchor='%.17g %.17g %.17g' solimp='0.9999 0.9999 0.001'/>",
                closure->bodies[0], closure->bodies[1], anchor[0], anchor[1], anchor[2]);
    }
    fprintf(out, "</equality>");
}

static mjModel *load(const bench_model *model) {
    mjVFS *vfs = bench_allocate(1, sizeof *vfs);
    mj_defaultVFS(vfs);
    int *first_child = bench_allocate((size_t)model->count + 1, sizeof *first_child);
    int *sibling = bench_allocate((size_t)model->count + 1, sizeof *sibling);
    for (int i = model->count; i >= 1; i--) {
        sibling[i] = first_child[model->bodies[i].parent];
        first_child[model->bodies[i].parent] = i;
    }
    writer w = {.model = model, .first_child = first_child, .sibling = sibling, .vfs = vfs};
    char *text, error[1000];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "<mujoco><compiler inertiafromgeom='false'/>");
    if (model->closure_count) fprintf(out, "<size njmax='%d' nconmax='1'/>", 3 * model->closure_count);
    fprintf(out,
            "<option gravity='0 0 %.17g' jacobian='sparse' solver='Newton'><flag contact='disable'/></option>"
            "<worldbody>",
            BENCH_GRAVITY);
    for (int child = first_child[0]; child; child = sibling[child]) write_body(&w, out, child, 0);
    fprintf(out, "</worldbody>");
    if (model->closure_count) write_closures(out, model);
    fprintf(out, "</mujoco>");
    fclose(out);
    add_file(vfs, "model.xml", text, size);
    mjModel *m = mj_loadXML("model.xml", vfs, error, sizeof error);
    if (!m) {
        fprintf(stderr, "bench-peers: MuJoCo: %s\n", error);
        exit(1);
    }
    free(text);
    free(first_child);
    free(sibling);
    mj_deleteVFS(vfs);
    free(vfs);
    return m;
}

/* --- engine --------------------------------------------------------------------------------------- */

/* Speeds of all bodies into MuJoCo's order, or back. */
static void order_v(const engine *e, const double *from, double *to, bool back) {
    for (int i = 1; i <= e->model->count; i++) {
        const bench_body *body = &e->model->bodies[i];
        for (int k = 0; k < body->v_count; k++) {
            int own = body->v + k, theirs = e->v_place[i] + k;
            to[back ? own : theirs] = from[back ? theirs : own];
        }
    }
}

static engine *open_engine(const bench_model *model, const bench_states *states, const char **reason) {
    for (int i = 1; i <= model->count; i++)
        if (model->bodies[i].type == LW_JOINT_SCREW) {
            *reason = "no screw joint";
            return NULL;
        }
    if (model->count > 1000) {
        *reason = "its mass matrix grows as N^2";
        return NULL;
    }
    engine *e = bench_allocate(1, sizeof *e);
    e->model = model;
    e->m = load(model);
    e->d = mj_makeData(e->m);
    e->nq = (size_t)model->q_size;
    e->nv = (size_t)model->v_size;
    if (e->m->nq != model->q_size || e->m->nv != model->v_size) {
        fprintf(stderr, "bench-peers: MuJoCo has other coordinates than expected\n");
        exit(1);
    }
    e->q_place = bench_allocate((size_t)model->count + 1, sizeof(int));
    e->v_place = bench_allocate((size_t)model->count + 1, sizeof(int));
    for (int i = 1; i <= model->count; i++) {
        if (model->bodies[i].v_count == 0) continue;
        char name[32];
        snprintf(name, sizeof name, "j%d_0", i);
        int joint = mj_name2id(e->m, mjOBJ_JOINT, name);
        e->q_place[i] = e->m->jnt_qposadr[joint];
        e->v_place[i] = e->m->jnt_dofadr[joint];
    }
    size_t count = (size_t)states->count;
    e->q = bench_allocate(count * e->nq, sizeof(double));
    e->v = bench_allocate(count * e->nv, sizeof(double));
    e->tau = bench_allocate(count * e->nv, sizeof(double));
    e->vdot = bench_allocate(count * e->nv, sizeof(double));
    for (size_t s = 0; s < count; s++) {
        for (int i = 1; i <= model->count; i++) {
            const bench_body *body = &model->bodies[i];
            for (int k = 0; k < body->q_count; k++)
                e->q[s * e->nq + (size_t)(e->q_place[i] + k)] = states->q[s * e->nq + (size_t)(body->q + k)];
        }
        order_v(e, states->v + s * e->nv, e->v + s * e->nv, false);
        order_v(e, states->tau + s * e->nv, e->tau + s * e->nv, false);
        order_v(e, states->vdot + s * e->nv, e->vdot + s * e->nv, false);
    }
    return e;
}

static void close_engine(engine *e) {
    mj_deleteData(e->d);
    mj_deleteModel(e->m);
    free(e->q);
    free(e->v);
    free(e->tau);
    free(e->vdot);
    free(e->q_place);
    free(e->v_place);
    free(e);
}

static double forward(engine *e, int state) {
    const mjModel *m = e->m;
    mjData *d = e->d;
    const double *tau = e->tau + (size_t)state * e->nv;
    memcpy(d->qpos, e->q + (size_t)state * e->nq, e->nq * sizeof(double));
    memcpy(d->qvel, e->v + (size_t)state * e->nv, e->nv * sizeof(double));
    if (e->model->closure_count) {
        memcpy(d->qfrc_applied, tau, e->nv * sizeof(double));
        mj_fwdPosition(m, d);
        mj_fwdVelocity(m, d);
        mj_fwdActuation(m, d);
        mj_fwdAcceleration(m, d);
        mj_fwdConstraint(m, d);
        return d->qacc[e->nv - 1];
    }
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_crb(m, d);
    mj_factorM(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 0, d->qfrc_bias);
    for (size_t k = 0; k < e->nv; k++) d->qacc[k] = tau[k] - d->qfrc_bias[k];
    mj_solveM(m, d, d->qacc, d->qacc, 1);
    return d->qacc[e->nv - 1];
}

static double inverse(engine *e, int state) {
    const mjModel *m = e->m;
    mjData *d = e->d;
    memcpy(d->qpos, e->q + (size_t)state * e->nq, e->nq * sizeof(double));
    memcpy(d->qvel, e->v + (size_t)state * e->nv, e->nv * sizeof(double));
    memcpy(d->qacc, e->vdot + (size_t)state * e->nv, e->nv * sizeof(double));
    mj_kinematics(m, d);
    mj_comPos(m, d);
    mj_comVel(m, d);
    mj_rne(m, d, 1, d->qfrc_inverse);
    return d->qfrc_inverse[0];
}

static void get_vdot(engine *e, int state, double *vdot) {
    (void)state;
    order_v(e, e->d->qacc, vdot, true);
}

static void get_tau(engine *e, int state, double *tau) {
    (void)state;
    order_v(e, e->d->qfrc_inverse, tau, true);
}

const engine_kind engine_mujoco = {"MuJoCo", version, open_engine, close_engine,
                                   forward,  inverse, get_vdot,    get_tau};
