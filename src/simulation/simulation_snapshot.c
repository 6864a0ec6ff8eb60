/* simulation_snapshot.c - saving a simulation and restoring it, to the last bit.
 *
 * A method has no history: its results depend on (t, y), on inputs and, if it has events, on the state at its
 * last event, which is kept, so that the event can be repeated. A snapshot consists of the values of the
 * parameters, the present state, the inputs, the counts of the monitors, and the integrator. An integrator of
 * this library writes its state to the archive; those of SUNDIALS do not give access to theirs, and repeat
 * the steps since their last restart.
 *
 * Layout   header (which identifies the simulation), values of the parameters, members in the order of
 *          `walk`.
 */
#include "simulation/simulation_parts.h"
#include "core/checksum.h"

#include <stdint.h>
#include <string.h>

typedef struct header {
    char magic[8];
    uint32_t version, size;
    int32_t nq, nv, state, inputs, events, states; /* There is no padding: headers are compared as bytes. */
    char method[24], integrator[24];
    uint64_t model;   /* fingerprint of the model */
    uint64_t content; /* checksum of the data after the header */
} header;

/* The last letter behind the integrator's name where there is none at work: an event has set a parameter, and
 * the run has not gone on since. */
static const char not_begun = '-';

static header header_of(const lw_simulation *s, size_t size) {
    header h = {.magic = "lwstate",
                .version = 5,
                .size = (uint32_t)size,
                .nq = s->model->nq,
                .nv = s->model->nv,
                .state = s->method->state_size,
                .inputs = lw_model_input_count(s->model),
                .events = s->event_count,
                .states = s->model->values.state_count,
                .model = s->plan.model->kept.fingerprint};
    strncpy(h.method, s->plan.formulation->name, sizeof h.method - 1);
    strncpy(h.integrator, s->integrator->name, sizeof h.integrator - 1);
    h.integrator[sizeof h.integrator - 1] = s->integration ? 0 : not_begun;
    return h;
}

/* Reads or writes everything after the header and the values of the parameters. */
static void walk(lw_simulation *s, lw_archive *a) {
    const int n = s->system.base.size;
    LW_ARCHIVE_ONE(a, s->t);
    LW_ARCHIVE_MANY(a, s->y, n);
    LW_ARCHIVE_MANY(a, s->inputs, lw_model_input_count(s->model));
    LW_ARCHIVE_MANY(a, s->given, lw_model_input_count(s->model));
    LW_ARCHIVE_MANY(a, s->moving, lw_model_input_count(s->model));
    LW_ARCHIVE_ONE(a, s->inputs_move);
    LW_ARCHIVE_MANY(a, s->shown, s->model->nq);
    LW_ARCHIVE_ONE(a, s->t_stop);
    LW_ARCHIVE_ONE(a, s->span);
    LW_ARCHIVE_ONE(a, s->stale);
    LW_ARCHIVE_ONE(a, s->accepted);
    LW_ARCHIVE_ONE(a, s->anchor.t);
    LW_ARCHIVE_ONE(a, s->anchor.t_stop);
    LW_ARCHIVE_ONE(a, s->anchor.steps);
    LW_ARCHIVE_MANY(a, s->anchor.y, n);
    LW_ARCHIVE_MANY(a, s->anchor.decided, s->anchor.decided_size);
    LW_ARCHIVE_MANY(a, s->anchor.awaited, s->anchor.awaited_size);
    if (s->plan.formulation->archive) s->plan.formulation->archive(s->method, a);
    LW_ARCHIVE_ONE(a, s->crossed_t);
    LW_ARCHIVE_MANY(a, s->crossed_y, n);
    LW_ARCHIVE_ONE(a, s->system.base.root_count);
    LW_ARCHIVE_ONE(a, s->event);
    LW_ARCHIVE_ONE(a, s->deferred);
    lw_simulation_event_archive(s, a);
    lw_simulation_switch_archive(s, a);
    LW_ARCHIVE_ONE(a, s->system.effort);
    LW_ARCHIVE_MANY(a, s->system.times, LW_EFFORT_STATES);
    for (int k = 0; k < LW_EFFORT_STATES; k++) LW_ARCHIVE_MANY(a, s->system.states[k], n);
    LW_ARCHIVE_ONE(a, s->before);
    LW_ARCHIVE_ONE(a, s->looked);
    LW_ARCHIVE_ONE(a, s->checked_at);
    LW_ARCHIVE_ONE(a, s->passage.longest);
    LW_ARCHIVE_ONE(a, s->passage.shorts);
    LW_ARCHIVE_ONE(a, s->initial);
    LW_ARCHIVE_ONE(a, s->lowest);
    LW_ARCHIVE_ONE(a, s->worked);
    LW_ARCHIVE_ONE(a, s->warned);
    LW_ARCHIVE_ONE(a, s->told_jumps);
    bool changes = s->next != NULL; /* The next integrator is always bdf. */
    LW_ARCHIVE_ONE(a, changes);
    if (a->mode == LW_ARCHIVE_READ) s->next = changes ? lw_integrator_find("bdf") : NULL;
    LW_ARCHIVE_ONE(a, s->next_t);
    LW_ARCHIVE_MANY(a, s->next_y, n);
    if (s->integration && s->integrator->archive) s->integrator->archive(s->integration, a);
}

static size_t parameters_size(const lw_simulation *s) {
    return (size_t)lw_model_parameter_count(s->model) * sizeof *s->model->parameter_values;
}

static size_t filled_size(const lw_simulation *s) {
    lw_archive a = {.mode = LW_ARCHIVE_MEASURE};
    walk((lw_simulation *)s, &a);
    return sizeof(header) + parameters_size(s) + a.used;
}

/* A buffer that fits where no integrator is at work is to fit later, too. */
size_t lw_simulation_snapshot_size(const lw_simulation *s) {
    return s ? filled_size(s) + (s->integration ? 0 : s->retired_size) : 0;
}

lw_status lw_simulation_save(const lw_simulation *s, void *buffer, size_t size) {
    if (!s || !buffer || size < lw_simulation_snapshot_size(s)) return LW_ERROR_ARGUMENT;
    const size_t needed = lw_simulation_snapshot_size(s), filled = filled_size(s);
    header h = header_of(s, needed);
    unsigned char *content = (unsigned char *)buffer + sizeof h;
    memcpy(content, s->model->parameter_values, parameters_size(s));
    lw_archive a = {.mode = LW_ARCHIVE_WRITE,
                    .bytes = content + parameters_size(s),
                    .size = needed - sizeof h - parameters_size(s)};
    walk((lw_simulation *)s, &a);
    memset((unsigned char *)buffer + filled, 0, needed - filled);
    h.content = lw_hash(LW_HASH_OF_NOTHING, content, needed - sizeof h);
    memcpy(buffer, &h, sizeof h);
    return LW_OK;
}

/* Brings an integrator that gives no access to its state to the saved state by repeating its steps. */
static lw_status repeat_steps(lw_simulation *s, lw_error *error) {
    const lw_simulation_anchor anchor = s->anchor;
    const lw_effort effort = s->system.effort;
    const double accepted = s->accepted;
    const lw_formulation *f = s->plan.formulation;
    lw_archive decided = {.mode = LW_ARCHIVE_READ, .bytes = anchor.decided, .size = anchor.decided_size};
    /* What is known of events grows with the steps; that of the snapshot is kept behind that of the start. */
    lw_archive awaited = {.mode = LW_ARCHIVE_READ, .bytes = anchor.awaited, .size = anchor.awaited_size};
    lw_archive present = {
        .mode = LW_ARCHIVE_WRITE, .bytes = anchor.awaited + anchor.awaited_size, .size = anchor.awaited_size};
    lw_simulation_event_archive(s, &present);
    lw_simulation_event_archive(s, &awaited);
    s->repeating = true;
    if (f->archive) f->archive(s->method, &decided);
    unsigned char bytes[LW_BEGINNING];
    lw_archive begun = {.mode = LW_ARCHIVE_WRITE, .bytes = bytes, .size = sizeof bytes};
    if (s->integrator->archive) s->integrator->archive(s->integration, &begun);
    begun.size = begun.used, begun.used = 0, begun.mode = LW_ARCHIVE_READ;
    lw_status status = s->integrator->restart(s->integration, anchor.t, anchor.y, error);
    if (s->integrator->archive) s->integrator->archive(s->integration, &begun);
    for (long k = 0; k < anchor.steps && status == LW_OK; k++) {
        double t;
        status = s->integrator->step(s->integration, anchor.t_stop, &t, s->work, error);
    }
    s->repeating = false;
    present.mode = LW_ARCHIVE_READ, present.used = 0;
    lw_simulation_event_archive(s, &present);
    s->anchor = anchor;
    s->system.effort = effort;
    s->accepted = accepted;
    return status;
}

static lw_status change_to(lw_simulation *s, const char *name, bool begun, lw_error *error) {
    if (s->integration && begun && strcmp(name, s->integrator->name) == 0) return LW_OK;
    const lw_integrator *other = lw_integrator_find(name);
    if (!other)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "this library has no integrator of that name");
    lw_simulation_retire_integrator(s);
    s->integrator = other;
    s->summary.integrator = other->name;
    if (!begun) return LW_OK;
    return other->create(&s->system.base, &s->plan.integrator_options, s->t, s->y, NULL, &s->integration,
                         error);
}

static lw_status take_parameters(lw_simulation *s, const unsigned char *content, size_t size,
                                 lw_error *error) {
    if (size < parameters_size(s))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "the snapshot is damaged");
    memcpy(s->parameters, content, parameters_size(s));
    return lw_simulation_tune(s, s->parameters, error);
}

lw_status lw_simulation_restore(lw_simulation *s, const void *buffer, size_t size, lw_error *error) {
    if (!s || !buffer)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "there is no simulation, or no snapshot");
    header h;
    if (size < sizeof h)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "%zu bytes are not a snapshot", size);
    memcpy(&h, buffer, sizeof h);
    header own = header_of(s, h.size);
    memcpy(own.integrator, h.integrator, sizeof own.integrator);
    if (size >= h.size && h.size >= sizeof h)
        own.content =
            lw_hash(LW_HASH_OF_NOTHING, (const unsigned char *)buffer + sizeof h, h.size - sizeof h);
    if (memcmp(&h, &own, sizeof h) != 0 || size < h.size)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "restore it into a simulation of the same model, method and options",
                       "the snapshot is of another simulation, or damaged");
    const bool begun = h.integrator[sizeof h.integrator - 1] != not_begun;
    h.integrator[sizeof h.integrator - 1] = '\0';
    lw_status status = take_parameters(s, (const unsigned char *)buffer + sizeof h, h.size - sizeof h, error);
    if (status == LW_OK) status = change_to(s, h.integrator, begun, error);
    if (status != LW_OK) return status;
    if (begun ? h.size != filled_size(s) : h.size < filled_size(s))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, NULL, "the snapshot is damaged");
    lw_archive a = {.mode = LW_ARCHIVE_READ,
                    .bytes = (unsigned char *)buffer + sizeof h + parameters_size(s),
                    .size = h.size - sizeof h - parameters_size(s)};
    walk(s, &a);
    const lw_formulation *f = s->plan.formulation;
    if (s->system.base.root_count > s->system.base.watched) {
        memcpy(s->kept, s->crossed_y, (size_t)s->system.base.size * sizeof *s->y);
        lw_simulation_see(s, s->kept);
        s->repeating = true;
        status = f->cross(s->method, s->crossed_t, s->kept, NULL, error);
        s->repeating = false;
    }
    if (!s->integration) s->stale = true;
    const bool repeats = !s->integrator->archive || s->integrator->repeats;
    if (status == LW_OK && repeats && !s->stale) status = repeat_steps(s, error);
    if (status != LW_OK) s->stale = true;
    return status;
}
