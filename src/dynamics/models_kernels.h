/* models_kernels.h - an lw_models_simd for one width: included by models_simd_2.c, models_simd_4.c and
 * models_simd_8.c, which differ in LANES and in the instructions that their compiler may use.
 *
 * The recursions are those of tree_recursion.h and tree_forward.h, with a vector for each number of a body in
 * the place of a constant. They round in each lane as they do for one model, so that an answer does not
 * depend on the models beside it. Force elements are evaluated model by model.
 *
 * Cost     that of one state on vectors (batch_kernels.h), and some 20 loads of vectors for each body.
 */
#define LW_MODELS_SIDE_BY_SIDE
#include "dynamics/models_simd.h"
#include "dynamics/simd_states_kernels.h"
#include "dynamics/tree_forward.h"

/* What all models have in common stands in the first; pivots must exceed the largest of the floors. */
typedef struct models_room {
    workspace w;
    body_numbers *numbers;
    number *gravity, *armature;
    double *floor;
} models_room;

static size_t arrange(const lw_model *model, double *memory, models_room *room) {
    double *at = memory + lay_out(model, memory, &room->w);
    room->numbers = (body_numbers *)(void *)take(&at, ((size_t)model->body_count + 1) *
                                                          (sizeof(body_numbers) / sizeof(REAL)));
    room->gravity = take(&at, 3);
    room->armature = take(&at, (size_t)model->nv + 1);
    room->floor = (double *)(void *)take(&at, (size_t)model->nv / LANES + 1);
    recursion *r = &room->w.r;
    r->numbers = room->numbers, r->gravity = room->gravity, r->floor = room->floor;
    r->armature = model->armature ? room->armature : NULL;
    return (size_t)(at - memory);
}

static size_t room_size(const lw_model *model) {
    static double origin[1]; /* arrange only counts */
    models_room room;
    return arrange(model, origin, &room);
}

static void take_numbers(const lw_model *const *models, double *memory) {
    const lw_model *model = models[0];
    models_room room;
    (void)arrange(model, memory, &room);
    for (int l = 0; l < LANES; l++) {
        for (int i = 0; i <= model->body_count; i++) {
            const lw_link *link = &models[l]->links[i];
            body_numbers *to = &room.numbers[i];
            for (int k = 0; k < 3; k++) to->p[k][l] = link->p[k];
            for (int k = 0; k < 9; k++) to->R[k][l] = link->R[k];
            to->inertia.mass[l] = link->inertia.mass;
            for (int k = 0; k < 3; k++) to->inertia.moment[k][l] = link->inertia.moment[k];
            for (int k = 0; k < 6; k++) to->inertia.second[k][l] = link->inertia.second[k];
        }
        for (int k = 0; k < 3; k++) room.gravity[k][l] = models[l]->gravity[k];
        for (int k = 0; k < model->nv; k++) {
            if (model->armature) room.armature[k][l] = models[l]->armature[k];
            const double floor = models[l]->pivot_floor[k];
            room.floor[k] = l == 0 ? floor : fmax(room.floor[k], floor);
        }
    }
}

/* Force elements, one model after another. */
static void take_forces(const lw_model *const *models, lw_data *const *datas, double t, workspace *w,
                        lw_power *powers) {
    for (int l = 0; l < LANES; l++) {
        const lw_model *model = models[l];
        lw_data *data = datas[l];
        for (int k = 0; k < model->nq; k++) data->q[k] = w->q[k][l];
        for (int k = 0; k < model->nv; k++) data->v[k] = w->v[k][l];
        lw_take_forces(model, data, t, NULL);
        for (int k = 0; k < model->nv; k++) w->tau[k][l] = data->tau[k];
        powers[l] = data->power;
        for (int k = 0; model->forces_need_world && k < 6 * (model->body_count + 1); k++)
            w->load[k][l] = data->load[k];
    }
}

static bool forward_of_models(const lw_model *const *models, lw_data *const *datas, double *memory, double t,
                              const double *q, const double *v, double *vdot, lw_power *powers) {
    const lw_model *model = models[0];
    models_room room;
    int speed;
    (void)arrange(model, memory, &room);
    workspace *w = &room.w;
    memcpy(w->q, q, (size_t)model->nq * sizeof *w->q);
    memcpy(w->v, v, (size_t)model->nv * sizeof *w->v);
    bool forces = false;
    for (int l = 0; l < LANES; l++) forces |= models[l]->force_count > 0, powers[l] = (lw_power){0};
    for (int k = 0; k < model->nv; k++) w->tau[k] = real(0);
    if (forces) take_forces(models, datas, t, w, powers);
    velocities(&w->r);
    if (eliminate(&w->r, &speed)) return false;
    accelerate(&w->r);
    memcpy(vdot, w->vdot, (size_t)model->nv * sizeof *w->vdot);
    return true;
}
