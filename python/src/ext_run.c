/* ext_run.c - options of runs, call-backs into Python, and whole runs as recordings.
 *
 * A run works without the interpreter's lock. It takes the lock for a force law that is a Python function,
 * and ten times a second to look for Ctrl-C; an exception raised there stops the run and then goes to the
 * caller.
 */
#define _POSIX_C_SOURCE 200809L
#include "extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- call-backs ---------------------------------------------------------------------------------- */

static void keep_exception(run_context *c) {
    if (c->failed)
        PyErr_Clear();
    else
        PyErr_Fetch(&c->type, &c->value, &c->trace);
    c->failed = true;
}

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool interrupted(void *context) {
    run_context *c = context;
    if (c->failed) return true;
    const long long time = now();
    if (time < c->next_look) return false;
    c->next_look = time + 100000000;
    PyGILState_STATE lock = PyGILState_Ensure();
    if (PyErr_CheckSignals() != 0) keep_exception(c);
    PyGILState_Release(lock);
    return c->failed;
}

/* tau += force(t, q, v). The arrays are the same at every call. */
static void force(double t, const double *q, const double *v, double *tau, void *context) {
    run_context *c = context;
    if (c->failed) return;
    PyGILState_STATE lock = PyGILState_Ensure();
    memcpy(c->force_q_at, q, (size_t)c->nq * sizeof *q);
    memcpy(c->force_v_at, v, (size_t)c->nv * sizeof *v);
    PyObject *time = PyFloat_FromDouble(t);
    PyObject *answer =
        time ? PyObject_CallFunctionObjArgs(c->force, time, c->force_q, c->force_v, NULL) : NULL;
    numbers n;
    if (answer && numbers_read(answer, "what force returns", c->nv, false, &n)) {
        for (Py_ssize_t k = 0; k < c->nv; k++) tau[k] += n.at[k];
        numbers_release(&n);
    } else
        keep_exception(c);
    Py_XDECREF(answer);
    Py_XDECREF(time);
    PyGILState_Release(lock);
}

/* --- options ------------------------------------------------------------------------------------- */

static bool take_text(run_context *c, PyObject *value, const char **to) {
    if (value == Py_None) return true;
    const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
    if (!text || PyList_Append(c->kept, value) != 0) return false;
    *to = text;
    return true;
}

static bool take_number(PyObject *value, double *to) {
    if (value == Py_None) return true;
    const double number = PyFloat_AsDouble(value);
    if (number == -1 && PyErr_Occurred()) return false;
    *to = number;
    return true;
}

static bool take_force(run_context *c, PyObject *value) {
    if (value == Py_None) return true;
    if (!PyCallable_Check(value)) {
        PyErr_SetString(PyExc_TypeError,
                        "force has to be a function force(t, q, v) that returns joint forces");
        return false;
    }
    numbers q, v;
    if (!numbers_write(NULL, "q", c->nq, 0, &q)) return false;
    c->force_q_at = q.at;
    c->force_q = numbers_result(&q, LW_OK, NULL);
    if (!numbers_write(NULL, "v", c->nv, 0, &v)) return false;
    c->force_v_at = v.at;
    c->force_v = numbers_result(&v, LW_OK, NULL);
    c->force = value;
    Py_INCREF(value);
    c->options.force = force;
    return true;
}

/* One option by its name. */
static bool take_option(run_context *c, const lw_model *model, const char *name, PyObject *value) {
    lw_run_options *o = &c->options;
    const struct {
        const char *name;
        const char **to;
    } texts[] = {{"method", &o->method},
                 {"integrator", &o->integrator},
                 {"drift", &o->drift},
                 {"independent", &o->independent},
                 {"reaction_scheme", &o->reactions}};
    const struct {
        const char *name;
        double *to;
    } values[] = {{"start", &o->start},
                  {"end", &o->end},
                  {"step", &o->step},
                  {"tolerance", &o->tolerance},
                  {"output", &o->output},
                  {"penalty", &o->penalty},
                  {"baumgarte_alpha", &o->baumgarte_alpha},
                  {"baumgarte_beta", &o->baumgarte_beta}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strcmp(name, texts[k].name) == 0) return take_text(c, value, texts[k].to);
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (strcmp(name, values[k].name) == 0) return take_number(value, values[k].to);
    if (strcmp(name, "max_steps") == 0) {
        double most = 0;
        if (!take_number(value, &most)) return false;
        o->max_steps = most < 1e18 ? (long)most : 1000000000000000000;
        return true;
    }
    if (strcmp(name, "force") == 0) return take_force(c, value);
    if (strcmp(name, "checked") == 0) {
        const int is = PyObject_IsTrue(value);
        o->unchecked = is == 0;
        return is >= 0;
    }
    if (strcmp(name, "as_given") == 0) {
        const int is = PyObject_IsTrue(value);
        o->as_given = is == 1;
        return is >= 0;
    }
    if (strcmp(name, "q") == 0) return numbers_read(value, "q", c->nq, true, &c->q);
    if (strcmp(name, "v") == 0) return numbers_read(value, "v", c->nv, true, &c->v);
    if (strcmp(name, "states") == 0)
        return numbers_read(value, "states", lw_model_state_count(model), true, &c->states);
    if (strcmp(name, "inputs") == 0)
        return numbers_read(value, "inputs", lw_model_input_count(model), true, &c->inputs);
    PyErr_Format(PyExc_TypeError, "there is no option \"%s\"", name);
    return false;
}

static bool given(PyObject *options, const char *name) {
    PyObject *key = PyUnicode_FromString(name);
    PyObject *value = key ? PyDict_GetItemWithError(options, key) : NULL;
    Py_XDECREF(key);
    return value && value != Py_None;
}

/* As the program decides: a tolerance asks for an adaptive integrator, whatever step the model gives; a step
 * alone asks for rk4, unless an integrator is named. */
static bool settle_steps(run_context *c, PyObject *options) {
    lw_run_options *o = &c->options;
    const bool step = given(options, "step"), tolerance = given(options, "tolerance"),
               integrator = given(options, "integrator");
    if (step && tolerance && !integrator) {
        PyErr_SetString(PyExc_ValueError,
                        "step and tolerance exclude each other: a step belongs to rk4, a tolerance to "
                        "the adaptive integrators; give one of them, or name the integrator whose "
                        "largest step `step` shall be");
        return false;
    }
    if (tolerance && !step) {
        o->step = 0;
        if (!integrator && o->integrator &&
            (strcmp(o->integrator, "rk4") == 0 || strcmp(o->integrator, "rosenbrock") == 0))
            o->integrator = NULL;
    }
    if (step && !tolerance && !o->integrator) o->tolerance = 0;
    return true;
}

bool run_context_fill(run_context *c, const model_object *model, PyObject *options) {
    memset(c, 0, sizeof *c);
    c->kept = PyList_New(0);
    if (!c->kept) return false;
    c->nq = lw_model_q_size(model->model), c->nv = lw_model_v_size(model->model);
    lw_run_defaults(model->model, &c->options);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (options && PyDict_Next(options, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        if (!name || !take_option(c, model->model, name, value)) return false;
    }
    if (options && !settle_steps(c, options)) return false;
    lw_run_options *o = &c->options;
    if (o->method && strcmp(o->method, "auto") == 0) o->method = NULL;
    if (o->integrator && strcmp(o->integrator, "auto") == 0) o->integrator = NULL;
    o->q = c->q.at, o->v = c->v.at, o->states = c->states.at, o->inputs = c->inputs.at;
    o->interrupted = interrupted;
    o->context = c;
    return true;
}

void run_context_release(run_context *c) {
    Py_CLEAR(c->kept);
    numbers_release(&c->q);
    numbers_release(&c->v);
    numbers_release(&c->states);
    numbers_release(&c->inputs);
    Py_CLEAR(c->force);
    Py_CLEAR(c->force_q);
    Py_CLEAR(c->force_v);
    Py_CLEAR(c->type);
    Py_CLEAR(c->value);
    Py_CLEAR(c->trace);
}

PyObject *run_context_raise(run_context *c, lw_status status, const lw_error *error) {
    if (!c->failed) return raise_error(status, error);
    PyErr_Restore(c->type, c->value, c->trace);
    c->type = c->value = c->trace = NULL;
    c->failed = false;
    return NULL;
}

/* --- summaries ----------------------------------------------------------------------------------- */

PyObject *ledger_of(const lw_ledger *l) {
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d}", "kinetic", l->kinetic, "potential", l->potential,
                         "drives", l->drives, "forces", l->forces, "dissipation", l->dissipation,
                         "unaccounted", l->unaccounted);
}

PyObject *summary_of(const lw_run_summary *s) {
    PyObject *reasons = PyList_New(0);
    for (int k = 0; reasons && k < s->verdict.reason_count; k++) {
        PyObject *reason = PyUnicode_FromString(s->verdict.reasons[k]);
        if (!reason || PyList_Append(reasons, reason) != 0) Py_CLEAR(reasons);
        Py_XDECREF(reason);
    }
    PyObject *ledger = ledger_of(&s->ledger);
    PyObject *summary =
        reasons && ledger
            ? Py_BuildValue("{s:s,s:s,s:d,s:l,s:l,s:l,s:l,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:O,s:O,s:O}", "method",
                            s->method, "integrator", s->integrator, "t_end", s->t_end, "steps", s->steps,
                            "evaluations", s->evaluations, "rejected", s->rejected, "samples", s->samples,
                            "wall_s", s->wall_s, "energy_initial", s->energy_initial, "energy_final",
                            s->energy_final, "energy_max_drift", s->energy_max_drift, "position_max",
                            s->position_max, "velocity_max", s->velocity_max, "balance_max", s->balance_max,
                            "ledger", ledger, "ok", s->verdict.ok ? Py_True : Py_False, "reasons", reasons)
            : NULL;
    Py_XDECREF(reasons);
    Py_XDECREF(ledger);
    return summary;
}

/* --- recordings ---------------------------------------------------------------------------------- */

typedef struct noted {
    double t;
    char kind[24], text[256];
} noted;

typedef struct recording_object {
    PyObject_HEAD model_object *model;
    lw_recording *samples;
    lw_record *record; /* evaluated while the run goes on, since events may change parameters */
    double *rows;
    size_t row_count, row_room, width;
    bool complete; /* `samples` has all of them */
    noted *events;
    size_t event_count, event_room;
    lw_run_summary summary;
    char method[32], integrator[32];
    lw_run_options told; /* numbers of the run, for results files */
    double *final_q, *final_v;
} recording_object;

/* What observes a run: the context of its call-backs first. */
typedef struct observer {
    run_context context;
    recording_object *to;
    lw_status status;
} observer;

static bool observe(const lw_sample *sample, void *context) {
    observer *o = context;
    recording_object *r = o->to;
    if (r->row_count == r->row_room) {
        const size_t room = r->row_room ? r->row_room + r->row_room / 2 : 1024;
        double *rows = realloc(r->rows, room * r->width * sizeof *rows);
        if (!rows) {
            o->status = LW_ERROR_MEMORY;
            return false;
        }
        r->rows = rows, r->row_room = room;
    }
    o->status = lw_record_row(r->record, sample, r->rows + r->row_count * r->width);
    r->row_count++;
    if (o->status == LW_OK && r->complete) {
        const lw_status kept = lw_recording_add(r->samples, sample);
        r->complete = kept == LW_OK;
        if (kept == LW_ERROR_MEMORY) o->status = kept;
    }
    return o->status == LW_OK && !o->context.failed;
}

static void hear(double t, const char *kind, const char *text, void *context) {
    recording_object *r = ((observer *)context)->to;
    if (r->event_count == r->event_room) {
        const size_t room = r->event_room ? 2 * r->event_room : 64;
        noted *more = realloc(r->events, room * sizeof *more);
        if (!more) return; /* The summary counts it. */
        r->events = more, r->event_room = room;
    }
    noted *e = &r->events[r->event_count++];
    e->t = t;
    snprintf(e->kind, sizeof e->kind, "%s", kind);
    snprintf(e->text, sizeof e->text, "%s", text);
}

static void recording_dealloc(PyObject *object) {
    recording_object *self = (recording_object *)object;
    lw_record_destroy(self->record);
    lw_recording_destroy(self->samples);
    free(self->rows);
    free(self->events);
    free(self->final_q);
    free(self->final_v);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

static PyObject *recording_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "options", "record", NULL};
    PyObject *model_arg, *options = NULL;
    const char *record = NULL;
    model_object *model;
    observer o;
    memset(&o, 0, sizeof o);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O!z", names, &model_arg, &PyDict_Type, &options,
                                     &record) ||
        !is_model(model_arg, &model))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    recording_object *self = (recording_object *)allocate(type, 0);
    if (!self) return NULL;
    self->model = model;
    Py_INCREF((PyObject *)model);
    if (!run_context_fill(&o.context, model, options)) {
        run_context_release(&o.context);
        Py_DECREF(self);
        return NULL;
    }
    o.to = self;
    lw_error error = {0};
    lw_run_options *ro = &o.context.options;
    ro->context = &o;
    ro->observe = observe;
    ro->event = hear;
    self->complete = true;
    lw_status status = lw_record_create(model->model, record, &self->record, &error);
    if (status == LW_OK) status = lw_recording_create(model->model, &self->samples, &error);
    if (status == LW_OK) {
        self->width = lw_record_count(self->record);
        ro->want_accelerations = lw_record_accelerations(self->record);
        ro->want_reactions = lw_record_reactions(self->record);
        ro->want_works = lw_record_works(self->record);
        self->final_q = calloc((size_t)o.context.nq + 1, sizeof(double));
        self->final_v = calloc((size_t)o.context.nv + 1, sizeof(double));
        if (!self->final_q || !self->final_v) status = LW_ERROR_MEMORY;
    }
    if (status == LW_OK) {
        Py_BEGIN_ALLOW_THREADS status =
            lw_simulate(model->model, ro, self->final_q, self->final_v, &self->summary, &error);
        Py_END_ALLOW_THREADS if (o.status != LW_OK) status = o.status, error = (lw_error){0};
    }
    if (status == LW_OK) {
        snprintf(self->method, sizeof self->method, "%s", self->summary.method);
        snprintf(self->integrator, sizeof self->integrator, "%s", self->summary.integrator);
        self->summary.method = self->method, self->summary.integrator = self->integrator;
        self->told = (lw_run_options){.start = ro->start,
                                      .end = ro->end,
                                      .step = ro->step,
                                      .tolerance = ro->tolerance,
                                      .output = ro->output};
    }
    if (status != LW_OK || o.context.failed) {
        run_context_raise(&o.context, status, &error);
        Py_CLEAR(self);
    }
    run_context_release(&o.context);
    return (PyObject *)self;
}

static PyObject *table_of(const double *rows, size_t count, size_t width) {
    if (width == 0) width = 1;
    return array_of(rows, (Py_ssize_t)count, (Py_ssize_t)width);
}

static PyObject *columns_of(const lw_record *record) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < lw_record_count(record); k++) {
        PyObject *pair = Py_BuildValue("(ss)", lw_record_name(record, k), lw_record_unit(record, k));
        if (!pair || PyList_Append(list, pair) != 0) Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* (columns, table) of what was recorded. */
static PyObject *recording_table(PyObject *object, PyObject *ignored) {
    (void)ignored;
    recording_object *self = (recording_object *)object;
    PyObject *columns = columns_of(self->record), *table = table_of(self->rows, self->row_count, self->width);
    PyObject *both = columns && table ? PyTuple_Pack(2, columns, table) : NULL;
    Py_XDECREF(columns);
    Py_XDECREF(table);
    return both;
}

static bool is_complete(const recording_object *self) {
    if (self->complete) return true;
    PyErr_SetString(PyExc_ValueError,
                    "an event has changed a parameter during this run, so that samples cannot be "
                    "evaluated afterwards; name the quantities in record= when the run is made");
    return false;
}

/* (columns, table) of other quantities, evaluated now. */
static PyObject *recording_evaluate(PyObject *object, PyObject *args) {
    recording_object *self = (recording_object *)object;
    const char *list;
    if (!PyArg_ParseTuple(args, "s", &list) || !is_complete(self)) return NULL;
    lw_record *record = NULL;
    lw_error error = {0};
    lw_status status = lw_record_create(self->model->model, list, &record, &error);
    if (status != LW_OK) return raise_error(status, &error);
    const size_t width = lw_record_count(record), count = lw_recording_count(self->samples);
    lw_sample sample;
    if (lw_recording_at(self->samples, 0, &sample) == LW_OK &&
        ((lw_record_reactions(record) && !sample.reactions) ||
         (lw_record_accelerations(record) && !sample.vdot) || (lw_record_works(record) && !sample.works))) {
        lw_record_destroy(record);
        PyErr_Format(PyExc_ValueError,
                     "%s needs accelerations, reactions or works, which this run has not kept; name it in "
                     "record= when the run is made",
                     list);
        return NULL;
    }
    double *rows = malloc((count * width + 1) * sizeof *rows);
    if (!rows) status = LW_ERROR_MEMORY;
    if (status == LW_OK) {
        Py_BEGIN_ALLOW_THREADS for (size_t k = 0; k < count && status == LW_OK; k++) {
            status = lw_recording_at(self->samples, k, &sample);
            if (status == LW_OK) status = lw_record_row(record, &sample, rows + k * width);
        }
        Py_END_ALLOW_THREADS
    }
    PyObject *columns = status == LW_OK ? columns_of(record) : NULL;
    PyObject *table = columns ? table_of(rows, count, width) : NULL;
    PyObject *both = table ? PyTuple_Pack(2, columns, table) : NULL;
    Py_XDECREF(columns);
    Py_XDECREF(table);
    free(rows);
    lw_record_destroy(record);
    return status == LW_OK ? both : raise_error(status, NULL);
}

/* Writes a results file from the samples. */
static PyObject *recording_save(PyObject *object, PyObject *args) {
    recording_object *self = (recording_object *)object;
    PyObject *path = NULL;
    const char *record = NULL;
    if (!PyArg_ParseTuple(args, "O&z", PyUnicode_FSConverter, &path, &record)) return NULL;
    if (!is_complete(self)) {
        Py_DECREF(path);
        return NULL;
    }
    const lw_results_options options = {.path = PyBytes_AsString(path),
                                        .record = record,
                                        .method = self->method,
                                        .integrator = self->integrator,
                                        .start = self->told.start,
                                        .end = self->told.end,
                                        .step = self->told.step,
                                        .tolerance = self->told.tolerance,
                                        .output = self->told.output};
    lw_results *results = NULL;
    lw_error error = {0};
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status = lw_results_open(self->model->model, &options, &results, &error);
    if (status == LW_OK) {
        lw_sample sample;
        for (size_t k = 0; k < lw_recording_count(self->samples) && status == LW_OK; k++) {
            status = lw_recording_at(self->samples, k, &sample);
            if (status == LW_OK) status = lw_results_write(results, &sample);
        }
        for (size_t k = 0; k < self->event_count && status == LW_OK; k++)
            if (strcmp(self->events[k].kind, "event") == 0)
                status = lw_results_event(results, self->events[k].t, self->events[k].text);
        const lw_status closed = lw_results_close(results, &self->summary, &error);
        if (status == LW_OK) status = closed;
    }
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != LW_OK) return raise_error(status, &error);
    Py_RETURN_NONE;
}

/* Writes the page of linkwork view. */
static PyObject *recording_view(PyObject *object, PyObject *args) {
    recording_object *self = (recording_object *)object;
    PyObject *path = NULL;
    const char *title = NULL;
    if (!PyArg_ParseTuple(args, "O&z", PyUnicode_FSConverter, &path, &title)) return NULL;
    if (!is_complete(self)) {
        Py_DECREF(path);
        return NULL;
    }
    lw_animation *animation = NULL;
    lw_error error = {0};
    lw_status status;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = lw_animation_create(self->model->model, NULL, &animation, &error);
    lw_sample sample;
    for (size_t k = 0; k < lw_recording_count(self->samples) && status == LW_OK; k++) {
        status = lw_recording_at(self->samples, k, &sample);
        if (status == LW_OK) status = lw_animation_sample(animation, &sample);
    }
    for (size_t k = 0; k < self->event_count && status == LW_OK; k++)
        status = lw_animation_event(animation, self->events[k].t, self->events[k].kind, self->events[k].text);
    if (status == LW_OK) status = lw_animation_finish(animation, &self->summary, NULL);
    const lw_view_options options = {.title = title};
    const lw_animation *const all[] = {animation};
    if (status == LW_OK) status = lw_view_write(all, 1, text, &options, &error);
    lw_animation_destroy(animation);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != LW_OK) return raise_error(status, &error);
    Py_RETURN_NONE;
}

static PyObject *recording_events(PyObject *object, PyObject *ignored) {
    (void)ignored;
    recording_object *self = (recording_object *)object;
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < self->event_count; k++) {
        PyObject *row = Py_BuildValue("(dss)", self->events[k].t, self->events[k].kind, self->events[k].text);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *recording_summary(PyObject *object, PyObject *ignored) {
    (void)ignored;
    return summary_of(&((recording_object *)object)->summary);
}

static PyObject *recording_final(PyObject *object, PyObject *ignored) {
    (void)ignored;
    recording_object *self = (recording_object *)object;
    PyObject *q = array_of(self->final_q, lw_model_q_size(self->model->model), 0);
    PyObject *v = array_of(self->final_v, lw_model_v_size(self->model->model), 0);
    PyObject *both = q && v ? PyTuple_Pack(2, q, v) : NULL;
    Py_XDECREF(q);
    Py_XDECREF(v);
    return both;
}

static PyMethodDef recording_methods[] = {
    {"table", recording_table, METH_NOARGS, "Columns (name, unit) and the table of what was recorded."},
    {"evaluate", recording_evaluate, METH_VARARGS, "Columns and table of other quantities."},
    {"save", recording_save, METH_VARARGS, "Writes a results file."},
    {"view", recording_view, METH_VARARGS, "Writes the page."},
    {"events", recording_events, METH_NOARGS, "What happened on the way: (t, kind, text)."},
    {"summary", recording_summary, METH_NOARGS, "What the run was."},
    {"final", recording_final, METH_NOARGS, "The final state (q, v)."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot recording_slots[] = {
    {Py_tp_new, recording_new},
    {Py_tp_dealloc, recording_dealloc},
    {Py_tp_methods, recording_methods},
    {Py_tp_doc, "A whole run, made by Recording(model, options, record)."},
    {0, NULL}};
PyType_Spec recording_spec = {"linkwork._core.Recording", sizeof(recording_object), 0, Py_TPFLAGS_DEFAULT,
                              recording_slots};
