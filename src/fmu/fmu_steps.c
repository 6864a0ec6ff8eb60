/* fmu_steps.c - Co-Simulation: communication steps, what happens within them, and inputs that move.
 *
 * Source   docs/fmu.md.
 * Cost     that of the simulation; with updates, dense output in each step of the integrator on top.
 */
#include "fmu/fmu_instance_parts.h"

#include <math.h>

lw_fmu_status lw_fmu_move(lw_fmu *fmu, const unsigned *references, size_t count, const int *orders,
                          const double *values) {
    lw_fmu_status status = count ? lw_fmu_settle(fmu) : LW_FMU_OK;
    if (count && fmu->phase != LW_FMU_STEPPING)
        return lw_fmu_say(fmu, LW_FMU_WARNING, "inputs move from the first step on: derivatives are ignored");
    for (size_t k = 0; k < count && status <= LW_FMU_WARNING; k++) {
        const bool known = references[k] < (unsigned)fmu->table.count;
        const lw_fmu_variable *v = known ? &fmu->table.variables[references[k]] : NULL;
        if (!v || v->kind != LW_FMU_INPUT || fmu->exchange)
            return lw_fmu_say(fmu, LW_FMU_ERROR, "value reference %u is no input of Co-Simulation",
                              references[k]);
        if (lw_simulation_move_input(fmu->simulation, v->index, orders[k], values[k]) != LW_OK)
            return lw_fmu_say(fmu, LW_FMU_ERROR,
                              "derivative %d of input %s cannot be %g: orders are 1 to %d, and the input has "
                              "to be set",
                              orders[k], v->name, values[k], LW_INPUT_ORDER);
    }
    return status;
}

typedef struct watcher {
    lw_fmu *fmu;
    lw_fmu_update *update;
    void *context;
} watcher;

static void watch(void *context, double t, double *end) {
    watcher *w = context;
    lw_fmu_forget(w->fmu);
    w->update(w->context, t, end);
    lw_fmu_forget(w->fmu);
}

lw_fmu_status lw_fmu_step(lw_fmu *fmu, double from, double h, bool *terminated, lw_fmu_update *update,
                          void *context) {
    lw_simulation *s = fmu->simulation;
    lw_error error = {0};
    *terminated = fmu->ended;
    if (fmu->phase != LW_FMU_STEPPING)
        return lw_fmu_say(fmu, LW_FMU_ERROR, "a step was asked for outside of step mode");
    if (fmu->ended) return lw_fmu_say(fmu, LW_FMU_DISCARD, "an event of the model has ended the run");
    const double t = lw_simulation_time(s), to = from + h;
    if (!isfinite(to) || h < 0 || fabs(from - t) > 1e-9 * fmax(fmax(fabs(t), fabs(from)), fabs(h)))
        return lw_fmu_say(fmu, LW_FMU_ERROR, "a step from %.17g by %.17g does not begin at t = %.17g", from,
                          h, t);
    lw_fmu_drop_derivatives(fmu);
    watcher w = {fmu, update, context};
    lw_status status = !(to > t) ? LW_OK
                       : update  ? lw_simulation_advance_watched(s, to, watch, &w, &error)
                                 : lw_simulation_advance(s, to, &error);
    lw_fmu_forget(fmu);
    if (status == LW_EVENT) {
        const int event = lw_simulation_model_event(s);
        fmu->ended = *terminated = true;
        return lw_fmu_say(fmu, LW_FMU_DISCARD, "event \"%s\" has ended the run at t = %.9g",
                          event >= 0 ? lw_model_event_name(fmu->model, event) : "?", lw_simulation_time(s));
    }
    return lw_fmu_tell(fmu, status, &error);
}
