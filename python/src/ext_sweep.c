/* ext_sweep.c - sweeps and searches for the best: many runs of a model, with their table.
 *
 * Texts, lists and defaults are put in order by linkwork/_sweep.py. The lock is released for the whole call;
 * Ctrl-C is looked for ten times a second by the caller's thread.
 */
#define _POSIX_C_SOURCE 200809L
#include "extension.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A list of texts, which live as long as the list does. */
typedef struct texts {
    const char **items;
    size_t count;
} texts;

static bool take_texts(PyObject *list, texts *to) {
    const Py_ssize_t count = PyList_Size(list);
    to->items = count >= 0 ? calloc((size_t)count + 1, sizeof *to->items) : NULL;
    if (!to->items) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t k = 0; k < count; k++) {
        to->items[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, k), NULL);
        if (!to->items[k]) return false;
    }
    to->count = (size_t)count;
    return true;
}

/* What runs take instead of the model's own, and what the call-backs fill. */
typedef struct sweeping {
    const char *method, *integrator, *drift;
    double end, step, tolerance, output; /* NAN: the model's own */
    const lw_sweep *sweep;
    size_t columns;
    double *values;
    char *status, (*reasons)[LW_SWEEP_REASON];
    pthread_t caller;
    double next_look;
    PyObject *type, *value, *trace;
    bool failed;
} sweeping;

static void settle(lw_run_options *options, void *context) {
    const sweeping *s = context;
    if (s->method) options->method = strcmp(s->method, "auto") == 0 ? NULL : s->method;
    if (s->integrator) options->integrator = s->integrator;
    if (s->drift) options->drift = s->drift;
    if (!isnan(s->end)) options->end = s->end;
    if (!isnan(s->step)) options->step = s->step;
    if (!isnan(s->tolerance)) options->tolerance = s->tolerance;
    if (!isnan(s->output)) options->output = s->output;
}

static void take_row(const lw_sweep *sweep, const lw_sweep_row *row, void *context) {
    sweeping *s = context;
    (void)sweep;
    memcpy(s->values + row->run * s->columns, row->values, s->columns * sizeof *row->values);
    memcpy(s->reasons[row->run], row->reason, LW_SWEEP_REASON);
    s->status[row->run] = (char)(1 + row->status);
}

static bool interrupted(void *context) {
    sweeping *s = context;
    struct timespec t;
    if (!pthread_equal(pthread_self(), s->caller)) return false;
    if (s->failed) return true;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double time = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (time < s->next_look) return false;
    s->next_look = time + 0.1;
    PyGILState_STATE lock = PyGILState_Ensure();
    if (PyErr_CheckSignals() != 0) {
        PyErr_Fetch(&s->type, &s->value, &s->trace);
        s->failed = true;
    }
    PyGILState_Release(lock);
    return s->failed;
}

static bool make_room(sweeping *s, const lw_sweep *sweep) {
    const size_t count = (size_t)lw_sweep_count(sweep);
    s->sweep = sweep;
    s->columns = (size_t)(lw_sweep_variable_count(sweep) + lw_sweep_measure_count(sweep));
    s->values = malloc((count * s->columns + 1) * sizeof *s->values);
    s->status = calloc(count + 1, 1);
    s->reasons = calloc(count + 1, sizeof *s->reasons);
    for (size_t k = 0; s->values && k < count * s->columns; k++) s->values[k] = NAN;
    if (s->values && s->status && s->reasons) return true;
    PyErr_NoMemory();
    return false;
}

/* ([(name, unit, [texts] or None)], count of variables, values, statuses, {run: reason}) of the first rows. */
static PyObject *table_of(const sweeping *s, Py_ssize_t count) {
    PyObject *columns = PyList_New(0), *reasons = PyDict_New(), *values = NULL;
    bool done = columns && reasons;
    for (int k = 0; done && k < (int)s->columns; k++) {
        PyObject *names = lw_sweep_text(s->sweep, k, 0) ? PyList_New(0) : Py_None;
        if (names == Py_None) Py_INCREF(names);
        for (int i = 0; names && lw_sweep_text(s->sweep, k, i) && done; i++) {
            PyObject *text = PyUnicode_FromString(lw_sweep_text(s->sweep, k, i));
            done = text && PyList_Append(names, text) == 0;
            Py_XDECREF(text);
        }
        PyObject *column = names ? Py_BuildValue("(ssN)", lw_sweep_column_name(s->sweep, k),
                                                 lw_sweep_column_unit(s->sweep, k), names)
                                 : NULL;
        done = done && column && PyList_Append(columns, column) == 0;
        Py_XDECREF(column);
    }
    for (Py_ssize_t k = 0; done && k < count; k++) {
        if (!s->reasons[k][0]) continue;
        PyObject *run = PyLong_FromSsize_t(k),
                 *text = PyUnicode_DecodeUTF8(s->reasons[k], (Py_ssize_t)strlen(s->reasons[k]), "replace");
        done = run && text && PyDict_SetItem(reasons, run, text) == 0;
        Py_XDECREF(run);
        Py_XDECREF(text);
    }
    if (done) values = array_of(s->values, count, (Py_ssize_t)s->columns);
    if (values)
        return Py_BuildValue("(NiNy#N)", columns, lw_sweep_variable_count(s->sweep), values, s->status, count,
                             reasons);
    Py_XDECREF(columns);
    Py_XDECREF(reasons);
    return NULL;
}

static void release(sweeping *s) {
    free(s->values);
    free(s->status);
    free(s->reasons);
}

/* Raises what a call-back has raised, or the fault of the library. */
static void raise_fault(sweeping *s, lw_status status, const lw_error *error) {
    if (s->failed)
        PyErr_Restore(s->type, s->value, s->trace);
    else
        raise_error(status, error);
}

/* (model, vary, measures, correlations, design, runs, seed, method, integrator, drift, end, step, tolerance,
 * output, jobs, path, resume, failures, budget, lanes) */
static PyObject *sweep(PyObject *module, PyObject *args) {
    PyObject *model_arg, *lists[3];
    model_object *model;
    sweeping s = {.caller = pthread_self()};
    texts vary = {0}, measures = {0}, correlations = {0};
    lw_sweep_options plan = {.settle = settle, .context = &s};
    lw_sweep_call call = {.row = take_row, .interrupted = interrupted, .context = &s};
    unsigned long long runs, seed, failures;
    int resume, lanes;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O!O!zKKzzzddddizpKdp", &model_arg, &PyList_Type, &lists[0], &PyList_Type,
                          &lists[1], &PyList_Type, &lists[2], &plan.design, &runs, &seed, &s.method,
                          &s.integrator, &s.drift, &s.end, &s.step, &s.tolerance, &s.output, &call.jobs,
                          &call.path, &resume, &failures, &call.budget, &lanes) ||
        !is_model(model_arg, &model))
        return NULL;
    PyObject *result = NULL;
    lw_sweep *made = NULL;
    lw_error error = {0};
    lw_sweep_summary summary;
    call.resume = resume, call.most_failures = failures, plan.lanes = lanes;
    plan.draws = runs, plan.seed = seed;
    if (take_texts(lists[0], &vary) && take_texts(lists[1], &measures) &&
        take_texts(lists[2], &correlations)) {
        plan.vary = vary.items, plan.vary_count = vary.count;
        plan.measures = measures.items, plan.measure_count = measures.count;
        plan.correlations = correlations.items, plan.correlation_count = correlations.count;
        lw_status status = lw_sweep_create(model->spec, &plan, &made, &error);
        if (status != LW_OK) {
            raise_error(status, &error);
        } else if (make_room(&s, made)) {
            Py_BEGIN_ALLOW_THREADS status = lw_sweep_run(made, &call, &summary, &error);
            Py_END_ALLOW_THREADS if (status != LW_OK || s.failed) raise_fault(&s, status, &error);
            else result = Py_BuildValue("(Ndz)", table_of(&s, (Py_ssize_t)lw_sweep_count(made)),
                                        summary.wall_s, summary.stopped);
        }
    }
    free(vary.items), free(measures.items), free(correlations.items);
    release(&s);
    lw_sweep_destroy(made);
    return result;
}

/* (model, vary, minimise, maximise, subject, measures, algorithm, runs, seed, population, restarts, precision,
 * method, integrator, drift, end, step, tolerance, output, jobs, path, resume, failures, budget) */
static PyObject *optimise(PyObject *module, PyObject *args) {
    PyObject *model_arg, *lists[3];
    model_object *model;
    sweeping s = {.caller = pthread_self()};
    texts vary = {0}, subject = {0}, measures = {0};
    lw_optimise_options plan = {.settle = settle, .context = &s};
    lw_sweep_call call = {.row = take_row, .interrupted = interrupted, .context = &s};
    unsigned long long runs, seed, failures;
    int resume, maximise;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!spO!O!zKKiidzzzddddizpKd", &model_arg, &PyList_Type, &lists[0],
                          &plan.minimise, &maximise, &PyList_Type, &lists[1], &PyList_Type, &lists[2],
                          &plan.algorithm, &runs, &seed, &plan.population, &plan.restarts, &plan.tolerance,
                          &s.method, &s.integrator, &s.drift, &s.end, &s.step, &s.tolerance, &s.output,
                          &call.jobs, &call.path, &resume, &failures, &call.budget) ||
        !is_model(model_arg, &model))
        return NULL;
    PyObject *result = NULL;
    lw_optimisation *made = NULL;
    lw_error error = {0};
    lw_optimum best;
    call.resume = resume, call.most_failures = failures;
    plan.runs = runs, plan.seed = seed, plan.maximise = maximise;
    if (take_texts(lists[0], &vary) && take_texts(lists[1], &subject) && take_texts(lists[2], &measures)) {
        plan.vary = vary.items, plan.vary_count = vary.count;
        plan.subject = subject.items, plan.subject_count = subject.count;
        plan.measures = measures.items, plan.measure_count = measures.count;
        lw_status status = lw_optimise_create(model->spec, &plan, &made, &error);
        if (status != LW_OK) {
            raise_error(status, &error);
        } else if (make_room(&s, lw_optimise_sweep(made))) {
            Py_BEGIN_ALLOW_THREADS status = lw_optimise_run(made, &call, &best, NULL, &error);
            Py_END_ALLOW_THREADS if (status != LW_OK || s.failed) raise_fault(&s, status, &error);
            else result = Py_BuildValue("(NdziiK)", table_of(&s, (Py_ssize_t)best.done), best.wall_s,
                                        best.ended, best.converged, best.found, (unsigned long long)best.run);
        }
    }
    free(vary.items), free(subject.items), free(measures.items);
    release(&s);
    lw_optimise_destroy(made);
    return result;
}

PyMethodDef sweep_functions[] = {{"sweep", sweep, METH_VARARGS, "Many runs with other parameters."},
                                 {"optimise", optimise, METH_VARARGS, "The best parameters."},
                                 {NULL, NULL, 0, NULL}};
