/* rcr_auxiliary_inertia.c - auxiliary inertia of bodies whose joints move none, for the elimination of the
 * method rcr.
 *
 * Where a loop is cut beside a body without mass, a joint of the open tree moves no inertia although the
 * closed loop determines its motion: its pivot D of the recursion vanishes. The elimination is then made with
 *
 *   M + e B  instead of M,  B the inertia of a body like its neighbours at the position of the massless one,
 *
 * and its result is corrected by the residual of the true equations (rcr_rows.c). With Z a basis of the
 * motions that the rows allow, each correction reduces the error to e (Z'M Z + e Z'B Z)^-1 Z'B Z of itself.
 * So the corrections converge, with about five digits each, if and only if the closed mechanism has inertia
 * in all its motions; otherwise the method refuses.
 *
 * Source   docs/theory/rcr.md, (21).
 * Cost     one recursion of the tree, once.
 */
#include "formulations/rcr/rcr_parts.h"
#include "dynamics/tree_dynamics.h"

#define LANES 1
#include "dynamics/tree_forward.h"

#include <math.h>
#include <string.h>

/* The share e of the smallest inertia in the loop. The elimination loses as many digits as e has, and a
 * correction gains as many. */
static const double share = 1e-5;
/* Of a link: bodies that reach no farther than this are a point; rounding of inertia leaves 1e-8. */
static const double point = 1e-6;

/* The bodies with inertia on the path of a loop, at the position in data: the mean of their centres, their
 * extent from there, and the smallest of their masses, or inertia over length^2. */
typedef struct neighbours {
    double centre[3], length, mass;
    int count;
} neighbours;

static void world_centre(const lw_model *model, const lw_data *data, int i, double at[3]) {
    lw_pose_point(data->world[i].R, data->world[i].p, model->bodies[i].com, at);
}

/* Half the trace of the inertia about the centre: m r^2 for a radius of gyration r. */
static double spread(const lw_model *model, int i) {
    const lw_rigid_inertia *I = &model->links[i].inertia;
    const double *c = model->bodies[i].com;
    return fmax(0, (I->second[0] + I->second[1] + I->second[2]) / 2 - I->mass * lw_v3_dot(c, c));
}

static void add_centre(const lw_model *model, const lw_data *data, int i, neighbours *near) {
    double at[3];
    if (!(model->links[i].inertia.mass > 0)) return;
    world_centre(model, data, i, at);
    lw_v3_add(near->centre, at, near->centre);
    near->count++;
}

static void add_length(const lw_model *model, const lw_data *data, int i, neighbours *near) {
    double at[3], mass = model->links[i].inertia.mass;
    if (!(mass > 0)) return;
    world_centre(model, data, i, at);
    lw_v3_sub(at, near->centre, at);
    near->length = fmax(near->length, lw_v3_norm(at) + sqrt(spread(model, i) / mass));
}

static void add_mass(const lw_model *model, const lw_data *data, int i, neighbours *near) {
    (void)data;
    double mass = fmax(model->links[i].inertia.mass, spread(model, i) / (near->length * near->length));
    if (mass > 0) near->mass = fmin(near->mass, mass);
}

typedef void (*look)(const lw_model *, const lw_data *, int, neighbours *);

/* Visits every body on the path of each loop, including its base. */
static void look_along(const lw_rcr *m, look at, neighbours *of_loop) {
    const lw_model *model = m->loop_base.base.model;
    const lw_loop_constraints *loops = m->loops;
    for (int i = 1; i <= model->body_count; i++)
        for (int k = loops->segment_start[i]; k < loops->segment_start[i + 1]; k++)
            at(model, m->loop_base.data, i, &of_loop[loops->segments[k].loop]);
    for (int t = 0; t < loops->count; t++)
        if (loops->loops[t].base) at(model, m->loop_base.data, loops->loops[t].base, &of_loop[t]);
}

static void survey_loops(const lw_rcr *m, neighbours *of_loop) {
    int count = m->loops->count;
    for (int t = 0; t < count; t++) of_loop[t] = (neighbours){.mass = HUGE_VAL};
    look_along(m, add_centre, of_loop);
    for (int t = 0; t < count; t++)
        for (int k = 0; k < 3 && of_loop[t].count > 0; k++) of_loop[t].centre[k] /= of_loop[t].count;
    look_along(m, add_length, of_loop);
    for (int t = 0; t < count; t++) /* of a single point, whose spread is rounding */
        if (!(of_loop[t].length > point * m->system->length)) of_loop[t].length = m->system->length;
    look_along(m, add_mass, of_loop);
}

/* Adds auxiliary inertia to body i; false if no loop that passes it has any. */
static bool add_inertia(const lw_rcr *m, const neighbours *of_loop, int i, lw_link *link) {
    const lw_loop_constraints *loops = m->loops;
    const lw_pose *world = &m->loop_base.data->world[i];
    const neighbours *best = NULL;
    double arm[3], c[3];
    for (int k = loops->segment_start[i]; k < loops->segment_start[i + 1]; k++) {
        const neighbours *near = &of_loop[loops->segments[k].loop];
        if (near->mass < HUGE_VAL && (!best || near->mass < best->mass)) best = near;
    }
    if (!best) return false;
    double mass = share * best->mass, turning = mass * best->length * best->length;
    lw_v3_sub(best->count ? best->centre : world->p, world->p, arm);
    lw_m3_tmul_v(world->R, arm, c);
    double square = lw_v3_dot(c, c), *J = link->inertia.second;
    link->inertia.mass += mass;
    for (int k = 0; k < 3; k++) {
        link->inertia.moment[k] += mass * c[k];
        J[k] += turning + mass * (square - c[k] * c[k]);
    }
    J[3] -= mass * c[0] * c[1], J[4] -= mass * c[0] * c[2], J[5] -= mass * c[1] * c[2];
    link->principal = false;
    return true;
}

lw_status lw_rcr_add_inertia(lw_rcr *m, lw_error *error) {
    const lw_model *model = m->loop_base.base.model;
    lw_data *data = m->loop_base.data;
    int n = model->body_count;
    m->auxiliary = false;
    neighbours *of_loop = LW_NEW(m->loop_base.arena, neighbours, m->loops->count + 1);
    lw_model *augmented = LW_NEW(m->loop_base.arena, lw_model, 1);
    lw_link *links = LW_NEW(m->loop_base.arena, lw_link, n + 1);
    if (lw_arena_failed(m->loop_base.arena)) return lw_out_of_memory(error);
    memcpy(links, model->links, ((size_t)n + 1) * sizeof *links);
    *augmented = *model;
    augmented->links = links;
    lw_take_state(model, data, 0, model->q0, NULL);
    memset(data->tau, 0, (size_t)model->nv * sizeof *data->tau);
    recursion r = recursion_of(augmented, data);
    r.v = m->zero;
    r.load = NULL;
    velocities(&r);
    for (int i = n; i >= 1; i--) {
        int bad = 0, parent = links[i].parent;
        /* The terms that its siblings have handed over. */
        sum before = r.sums[parent ? links[parent].slot : 0];
        BY_JOINT(&links[i], eliminate, &r, i, &bad)
        if (!bad) continue;
        if (!m->auxiliary) {
            lw_positions(model, data);
            lw_world_poses(model, data);
            survey_loops(m, of_loop);
        }
        if (!add_inertia(m, of_loop, i, &links[i])) return lw_undetermined(model, i, bad, error);
        m->auxiliary = true;
        bad = 0;
        if (parent) r.sums[links[parent].slot] = before;
        BY_JOINT(&links[i], eliminate, &r, i, &bad)
        if (bad) return lw_undetermined(model, i, bad, error);
    }
    if (m->auxiliary) m->system->model = augmented;
    return LW_OK;
}
