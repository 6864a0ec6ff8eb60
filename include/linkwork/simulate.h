/* simulate.h - run a model: formulation, integrator, energy ledger, samples at requested times.
 */
#ifndef LINKWORK_SIMULATE_H
#define LINKWORK_SIMULATE_H

#include <linkwork/assemble.h>
#include <linkwork/results.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Formulations and integrators known to the library. */
typedef struct lw_method_info {
    const char *name;        /* as in --method */
    const char *source;      /* paper and equations */
    const char *coordinates; /* joint, absolute, director */
    const char *cost;        /* per call */
    const char *summary;     /* one sentence */
} lw_method_info;

/* How many methods there are, and each of them, 0 .. count-1; a struct of zeros if there is none. */
LW_API int lw_method_count(void);
LW_API lw_method_info lw_method_at(int index);
/* Does the method of this name apply to the model? If not, why (and LW_ERROR_UNSUPPORTED) stands in error. */
LW_API lw_status lw_method_applies(const char *method, const lw_model *model, lw_error *error);
/* The method that auto takes, or NULL with a reason in error; why (may be NULL) becomes a sentence. It tries
 * methods that it considers on the assembled initial state. */
LW_API const char *lw_method_auto(const lw_model *model, char *why, size_t size, lw_error *error);
/* The same, tried on a given state. */
LW_API const char *lw_method_auto_at(const lw_model *model, double t, const double *q, const double *v,
                                     char *why, size_t size, lw_error *error);

/* The integrators, 0 .. count-1: name, and one sentence about it; NULL if there is none. */
LW_API int lw_integrator_count(void);
LW_API const char *lw_integrator_name(int index);
LW_API const char *lw_integrator_summary(int index);

/* Accelerations and joint reactions of one state by one method (NULL: auto): a solver (solver.h) that is
 * created, asked and destroyed. For more than one state, create it once. reactions: joint_count x 6 as in
 * dynamics.h, unique: joint_count x 6 flags (both may be NULL). The answer has passed the balance check:
 * Newton's and Euler's laws for every body, what every joint transmits, the acceleration of every closure and
 * constraint. One that does not pass is LW_ERROR_SINGULAR, which names the place and a method whose answer
 * does. */
LW_API lw_status lw_accelerations(const lw_model *model, const char *method, double t, const double *q,
                                  const double *v, double *vdot, double *reactions, bool *unique,
                                  lw_error *error);

/* The same; balance (may be NULL) receives the amount that the check has found, relative to what acts in the
 * worst place. */
LW_API lw_status lw_accelerations_checked(const lw_model *model, const char *method, double t,
                                          const double *q, const double *v, double *vdot, double *reactions,
                                          bool *unique, double *balance, lw_error *error);

typedef struct lw_simulation lw_simulation;

/* An event of the caller's own: the instant at which a value passes through zero. The value is a continuous
 * function of the state; that of a time event is t - (that time). */
typedef struct lw_event_function {
    double (*value)(double t, const double *q, const double *v, void *context);
    int direction; /* +1: from negative to positive; -1: from positive to negative; 0: both */
} lw_event_function;

typedef struct lw_run_options {
    const char *method; /* NULL: auto, or partition where independent or reactions ask for it */
    const char *
        /* NULL or auto: rk4 if a step is given and no tolerance; else erk, and bdf from where that pays */
        integrator;
    const char *drift; /* none, baumgarte, project, closed; NULL: project */
    double start, end;
    double step;      /* fixed step of rk4; largest step of the adaptive ones if > 0 */
    double tolerance; /* relative to the state, and to the mechanism's length, time and energy */
    double output;    /* interval between samples; 0: 1/1000 of the run */
    long max_steps;   /* a run that needs more is given up; 0: 1e6 max(1, sqrt(10 seconds)) */
    double penalty;   /* of method penalty, no unit; 0: its own choice */
    double baumgarte_alpha,
        baumgarte_beta; /* of drift control baumgarte: e'' + 2 alpha e' + beta^2 e = 0; 0: 10 1/s */
    const char
        *independent; /* coordinates of method partition, separated by commas; NULL: they choose themselves */
    const char *reactions; /* how method partition finds them: 35, 37 or 38 (blajer1994); NULL: 38 */
    const double *q, *v;   /* initial state; NULL: the model's */
    const double *states;  /* user states at the start, in the model's order; NULL: the model's */
    const double *inputs;  /* inputs at the start, NAN: the default; NULL: all have their defaults */
    bool as_given;         /* the initial state is taken as it is, not assembled */
    bool want_accelerations, want_reactions; /* samples carry them: one more evaluation each */
    bool
        /* samples are not put to the balance check, and the verdict does not know of it: for batches */
        unchecked;
    /* Called for every sample, the first at start; returning false stops the run. May be NULL. */
    bool (*observe)(const lw_sample *sample, void *context);
    /* Asked now and then between samples; true stops the run. May be NULL. */
    bool (*interrupted)(void *context);
    /* Told what the method did on the way that a user should know, in a word and a sentence: a change of
     * coordinates, a halved step, a warning. May be NULL. */
    void (*event)(double t, const char *kind, const char *text, void *context);
    /* Told of every accepted step: where it ends, its length, its order where that varies (else 0). May be
     * NULL. */
    void (*step_taken)(double t, double h, int order, void *context);
    /* A force of the caller's own: adds to the generalised forces tau, which are zero before. Its result may
     * depend on its arguments only, since an integrator asks for states that it then gives up. NULL: none.
     * Its work is booked with that of forces. */
    void (*force)(double t, const double *q, const double *v, double *tau, void *context);
    /* Events of the caller's own. When one has happened, the simulation stands at that instant, and
     * `happened` may look at it and change its state and inputs; true: it goes on. False, and if happened is
     * NULL: the call that was advancing it returns LW_EVENT. */
    const lw_event_function *events;
    int event_count;
    bool (*happened)(lw_simulation *simulation, int event, void *context);
    void *context;
    /* The work of each force element on the bodies is integrated and carried by samples, as for a model whose
     * outputs use force(F).work; not by energy-momentum, nor where bodies without mass jump. */
    bool want_works;
    const double *works; /* their values at the start, in the model's order; NULL: zeros */
} lw_run_options;

/* Fills options with the model's suggestions and the library's defaults. */
LW_API void lw_run_defaults(const lw_model *model, lw_run_options *options);
/* LW_ERROR_ARGUMENT if a name or number among the options is wrong, whatever the method says of the model. */
LW_API lw_status lw_run_check(const lw_model *model, const lw_run_options *options, lw_error *error);
/* Where a run with these options starts, and by which method, as lw_simulation_create decides it: the
 * assembled initial state of options or model, or the one given; the name of the method, and the reason for
 * it as a sentence. assembly, method and why may be NULL. A run whose options have this q, v and method, and
 * as_given, decides nothing again. */
LW_API lw_status lw_run_start(const lw_model *model, const lw_run_options *options, double *q, double *v,
                              lw_assembly *assembly, const char **method, char *why, size_t size,
                              lw_error *error);
/* Does one motion, and no more, lead out of this state at options->start? Otherwise the status and the error
 * are those with which a run from there ends, at once: the position is singular, and accelerations that
 * satisfy the equations there need be those of no motion. LW_OK, too, where it is not known: for models that
 * method rcr does not apply to. Creates the method rcr, and calls it a few times. */
LW_API lw_status lw_run_leads_on(const lw_model *model, const lw_run_options *options, const double *q,
                                 const double *v, lw_error *error);
/* The name of the integrator that a run with these options takes, or with auto begins with. */
LW_API const char *lw_run_integrator(const lw_run_options *options);
/* Does the integrator of this name work with the step of these options as a fixed one, without a
 * tolerance? */
LW_API bool lw_integrator_by_step(const char *name, const lw_run_options *options);
/* Runs; q and v (may be NULL) receive the final state. */
LW_API lw_status lw_simulate(const lw_model *model, const lw_run_options *options, double *q, double *v,
                             lw_run_summary *summary, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
