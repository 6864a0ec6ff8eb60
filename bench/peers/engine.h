/* engine.h - one engine as the comparison sees it: a model, a list of states, forward and inverse dynamics.
 *
 * Every engine converts the states to its own order and conventions when it is opened. A timed call then
 * gives it the next state the way its documentation recommends for repeated evaluation, and reads the result.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "models.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct engine engine; /* each adapter has its own */

typedef struct engine_kind {
    const char *name;
    const char *(*version)(void);
    /* NULL if the engine cannot express the model; reason then says why. */
    engine *(*open)(const bench_model *model, const bench_states *states, const char **reason);
    void (*close)(engine *e);
    /* Accelerations from q, v, tau of a state; returns one of them. */
    double (*forward)(engine *e, int state);
    /* Generalised forces from q, v, vdot of a state; returns one of them. NULL: not offered. */
    double (*inverse)(engine *e, int state);
    /* The results of the last call for that state, in the order and conventions of bench_model. */
    void (*get_vdot)(engine *e, int state, double *vdot);
    void (*get_tau)(engine *e, int state, double *tau);
} engine_kind;

extern const engine_kind engine_linkwork, engine_mujoco, engine_simbody, engine_kdl, engine_dart,
    engine_bullet;

#ifdef __cplusplus
}
#endif
#endif
