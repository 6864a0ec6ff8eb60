/* simulation.h - an initial-value problem that the caller advances.
 *
 * A simulation is one model in motion: it has a time, a state and values of the model's inputs. The caller
 * advances it to any later time, looks at it, changes it, saves it and goes back. It belongs to one thread;
 * any number of simulations may share a model, which must outlive them.
 *
 *   lw_run_options options;
 *   lw_run_defaults(model, &options);
 *   lw_simulation_create(model, &options, NULL, &simulation, &error);
 *   for (int k = 1; k <= 1000; k++) {
 *       lw_simulation_set_input(simulation, throttle, control(...));
 *       lw_simulation_advance(simulation, 1e-3 * k, &error);
 *       lw_simulation_state(simulation, q, v);
 *   }
 *
 * After creation nothing is allocated, with one exception: where nobody has named an integrator and the model
 * turns out to be stiff, the run goes on by another one.
 *
 * Pointers to simulations may be NULL: the calls then return LW_ERROR_ARGUMENT, NaN, NULL or 0.
 */
#ifndef LINKWORK_SIMULATION_H
#define LINKWORK_SIMULATION_H

#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Assembles the initial state, chooses method and integrator where the options leave that open, and stands at
 * options->start. options->end does not bound the simulation; it says for how long lw_simulation_run goes on,
 * and how long the run is that prospects are judged by. Texts among the options are copied. allocator may be
 * NULL. */
LW_API lw_status lw_simulation_create(const lw_model *model, const lw_run_options *options,
                                      const lw_allocator *allocator, lw_simulation **simulation,
                                      lw_error *error);
LW_API void lw_simulation_destroy(lw_simulation *simulation);

/* The model with the present parameters: the caller's, or one that lives until the next change of a parameter
 * or the end of the simulation. */
LW_API const lw_model *lw_simulation_model(const lw_simulation *simulation);
LW_API const char *lw_simulation_method(const lw_simulation *simulation);
/* Why this method: a sentence. */
LW_API const char *lw_simulation_method_reason(const lw_simulation *simulation);
LW_API const char *lw_simulation_integrator(const lw_simulation *simulation);

/* Exactly to t, also beyond options->end, or to an event before it: then LW_EVENT. The integrator's steps do
 * not depend on the times that are asked for; between their ends the state is dense output. They end where
 * the model's forces and motions switch by time (docs/theory/integrators.md, "Knots"). After an error the
 * simulation stands where the last successful call has left it. */
LW_API lw_status lw_simulation_advance(lw_simulation *simulation, double t, lw_error *error);
/* The same, but a step of the integrator ends at t, and it restarts there: for a caller who changes inputs at
 * t. A step that the caller has given is then not followed by another one for the sake of rounding. */
LW_API lw_status lw_simulation_step_to(lw_simulation *simulation, double t, lw_error *error);
/* To the end of the integrator's next step, or to an event before it: then LW_EVENT. */
LW_API lw_status lw_simulation_step(lw_simulation *simulation, lw_error *error);
/* The caller's event that has ended the last call with LW_EVENT, an index of options->events; -1: none. */
LW_API int lw_simulation_event(const lw_simulation *simulation);

/* The model's event (lw_model_event_name) that has ended it, by `do: stop`; -1: none. */
LW_API int lw_simulation_model_event(const lw_simulation *simulation);

/* The present time; NaN for NULL. */
LW_API double lw_simulation_time(const lw_simulation *simulation);
/* The present state; either may be NULL. */
LW_API lw_status lw_simulation_state(const lw_simulation *simulation, double *q, double *v);
/* Goes on from this state at this time; user states stay (lw_simulation_set_states). Loops that are open by
 * more than rounding are closed by the smallest change that the method's projection finds; a state that it
 * cannot close, or with another drift control does not close, is refused. The change of energy is booked as
 * work of forces. */
LW_API lw_status lw_simulation_set_state(lw_simulation *simulation, double t, const double *q,
                                         const double *v, lw_error *error);
/* Back to the state, the time, the inputs and the parameters that the simulation was created with. */
LW_API lw_status lw_simulation_reset(lw_simulation *simulation, lw_error *error);

/* User states of the model (lw_model_state), all of them: the present values, and others to go on from. */
LW_API lw_status lw_simulation_states(const lw_simulation *simulation, double *states);
LW_API lw_status lw_simulation_set_states(lw_simulation *simulation, const double *states);

/* The work that each force element of the model has done on the bodies since the start.
 * LW_ERROR_UNSUPPORTED unless lw_run_options.want_works or an output of the model asks for them. */
LW_API lw_status lw_simulation_works(const lw_simulation *simulation, double *works);

/* Inputs of the model (lw_model_input), one or all of them. A new value holds from the present time on; NaN
 * returns an input whose default is an expression to this default. */
LW_API lw_status lw_simulation_set_input(lw_simulation *simulation, int input, double value);
LW_API lw_status lw_simulation_set_inputs(lw_simulation *simulation, const double *values);
LW_API double lw_simulation_input(const lw_simulation *simulation, int input);
/* Parameters of the model (lw_model_parameter) that enter nothing but forces; the others are refused, with
 * the object that depends on them. What depends on the parameter follows, other parameters too, unless they
 * have been set themselves. The new value holds from the present time on; the state stays. Compiles the model
 * again, so that it takes far longer than a step, and allocates: use an input for what changes all the
 * time. */
LW_API lw_status lw_simulation_set_parameter(lw_simulation *simulation, int parameter, double value,
                                             lw_error *error);
LW_API double lw_simulation_parameter(const lw_simulation *simulation, int parameter);
/* Outputs of the model (lw_model_output) in the present state. */
LW_API lw_status lw_simulation_output(lw_simulation *simulation, int output, double *value);
LW_API lw_status lw_simulation_outputs(lw_simulation *simulation, double *values);

/* Accelerations and joint reactions (joint_count x 6, dynamics.h) of the present state, which have passed the
 * balance check; either may be NULL. */
LW_API lw_status lw_simulation_accelerations(lw_simulation *simulation, double *vdot, double *reactions,
                                             lw_error *error);
/* Energies of the present state, and where the energy went since the start. */
LW_API lw_status lw_simulation_ledger(lw_simulation *simulation, lw_ledger *ledger);
/* Steps, evaluations and the like so far. */
LW_API lw_status lw_simulation_summary(const lw_simulation *simulation, lw_run_summary *summary);

/* A snapshot is everything that the further motion depends on. After restoring it the same calls give the
 * same bits, for every integrator. A snapshot fits every simulation of the same model with the same method
 * and options, in this build of the library on this kind of machine; one that does not fit is refused with
 * LW_ERROR_ARGUMENT, and the simulation stays as it is. Integrators of SUNDIALS (adams, bdf, ida) keep their
 * history to themselves, and so do steps of method director: restoring takes their steps since the last
 * start, event or change of an input once more. */
LW_API size_t lw_simulation_snapshot_size(const lw_simulation *simulation);
LW_API lw_status lw_simulation_save(const lw_simulation *simulation, void *buffer, size_t size);
LW_API lw_status lw_simulation_restore(lw_simulation *simulation, const void *buffer, size_t size,
                                       lw_error *error);

/* From the present time to options->end with a sample for options->observe at every output interval: what
 * lw_simulate does with a simulation of its own. summary may be NULL. */
LW_API lw_status lw_simulation_run(lw_simulation *simulation, lw_run_summary *summary, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
