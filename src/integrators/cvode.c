/* cvode.c - what adams and bdf share: SUNDIALS' CVODE, linear multistep formulas in Nordsieck form with
 * variable step and order.
 *
 * After a step the history array holds h^j y^(j) / j!; its row 0 is the state. Projection replaces that row,
 * as CVODE's own projection (which it has for BDF only) does; the change is of the size of the local error,
 * so the higher rows need none.
 */
#include "integrators/cvode.h"

#include <cvode/cvode.h>
#include <float.h>
#include <math.h>

static int derivative(double t, N_Vector y, N_Vector ydot, void *data) {
    return lw_sundials_derivative(data, t, y, ydot);
}

static void *memory_of(lw_sundials *run) { return ((lw_cvode *)run)->memory; }

/* CVODE keeps an earlier stop time until it has come there, even when it starts anew beyond it. */
static int start(lw_sundials *run, double t_stop) {
    return CVodeSetStopTime(memory_of(run), fmin(t_stop, DBL_MAX));
}

static int restart(lw_sundials *run, double t_stop) {
    int flag = CVodeReInit(memory_of(run), run->end, run->y);
    return flag < 0 ? flag : start(run, t_stop);
}

static int step(lw_sundials *run, double t_stop, double *end) {
    return CVode(memory_of(run), t_stop, run->y, end, CV_ONE_STEP);
}

static int dense(lw_sundials *run, double t, N_Vector y) { return CVodeGetDky(memory_of(run), t, 0, y); }

static double step_size(lw_sundials *run) {
    double h = 0;
    CVodeGetCurrentStep(memory_of(run), &h);
    return h;
}

static int bound(lw_sundials *run, double longest) { return CVodeSetMaxStep(memory_of(run), longest); }

static int order(lw_sundials *run) {
    int last = 0;
    CVodeGetLastOrder(memory_of(run), &last);
    return last;
}

/* Between steps the predicted state that CVODE shows to nonlinear solvers is row 0 of the history. */
static N_Vector history(lw_sundials *run) {
    N_Vector predicted, y, f, row1;
    double t, gamma, rl1;
    void *data;
    CVodeGetNonlinearSystemData(memory_of(run), &t, &predicted, &y, &f, &gamma, &rl1, &row1, &data);
    return predicted;
}

/* Messages go to run->text: by the context from version 7 on. */
static bool listens(lw_cvode *run) {
#if SUNDIALS_VERSION_MAJOR < 7
    return CVodeSetErrHandlerFn(run->memory, lw_sundials_message, &run->base) == CV_SUCCESS;
#else
    return run->memory != NULL;
#endif
}

lw_status lw_cvode_create(const lw_integrator *integrator, size_t size, int formula,
                          bool (*attach)(lw_cvode *run), lw_system *system,
                          const lw_integrator_options *options, double t, const double *y,
                          lw_integration **integration, lw_error *error) {
    *integration = NULL;
    lw_sundials *base;
    lw_status status = lw_sundials_create(integrator, size, system, options, t, y, &base, error);
    if (status) return status;

    lw_cvode *run = (lw_cvode *)base;
    base->careful = true;
    base->start = start;
    base->restart = restart;
    base->step = step;
    base->dense = dense;
    base->step_size = step_size;
    base->bound = bound;
    base->history = history;
    base->order = order;
    run->memory = CVodeCreate(formula, base->context);
    if (!run->memory || !listens(run) || CVodeSetUserData(run->memory, base) ||
        CVodeInit(run->memory, derivative, t, base->y) ||
        CVodeWFtolerances(run->memory, lw_sundials_weights) ||
        CVodeSetMaxStep(run->memory, base->largest_step) || !attach(run)) {
        lw_cvode_destroy(&base->base);
        return lw_fail(error, LW_ERROR_MEMORY, NULL, NULL, "no memory for %d states", system->size);
    }
    *integration = &base->base;
    return LW_OK;
}

void lw_cvode_destroy(lw_integration *integration) {
    if (!integration) return;
    lw_cvode *run = (lw_cvode *)integration;
    if (run->memory) CVodeFree(&run->memory);
    lw_sundials_destroy(&run->base);
}

void lw_cvode_statistics(const lw_integration *integration, lw_integrator_statistics *statistics) {
    const lw_cvode *run = (const lw_cvode *)integration;
    *statistics = (lw_integrator_statistics){.evaluations = run->base.evaluations};
    CVodeGetNumSteps(run->memory, &statistics->steps);
    CVodeGetNumErrTestFails(run->memory, &statistics->rejected);
    lw_sundials_add_before(&run->base, statistics);
}
