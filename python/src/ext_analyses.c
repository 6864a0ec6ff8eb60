/* ext_analyses.c - linear systems, positions of rest, modes and comparisons as dictionaries, for
 * _analyses.py.
 */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

/* Options with what they point to. */
typedef struct analysis {
    model_object *model;
    lw_linearise_options options;
    numbers q, v, inputs, states;
    PyObject *list, *method;
    const char **names;
} analysis;

static void analysis_release(analysis *a) {
    numbers_release(&a->q);
    numbers_release(&a->v);
    numbers_release(&a->inputs);
    numbers_release(&a->states);
    Py_CLEAR(a->list);
    free(a->names);
}

static bool take_coordinates(analysis *a, PyObject *coordinates) {
    if (!coordinates || coordinates == Py_None) return true;
    a->list = PySequence_List(coordinates);
    if (!a->list) return false;
    a->options.coordinate_count = (int)PyList_Size(a->list);
    a->names = calloc((size_t)a->options.coordinate_count + 1, sizeof *a->names);
    if (!a->names) {
        PyErr_NoMemory();
        return false;
    }
    for (int k = 0; k < a->options.coordinate_count; k++) {
        a->names[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(a->list, k), NULL);
        if (!a->names[k]) return false;
    }
    a->options.coordinates = a->names;
    return true;
}

/* (model, t, q, v, inputs, states, method, coordinates) */
static bool analysis_of(PyObject *args, analysis *a) {
    memset(a, 0, sizeof *a);
    PyObject *model, *q, *v, *inputs, *states, *coordinates;
    const char *method;
    double t;
    if (!PyArg_ParseTuple(args, "OdOOOOzO", &model, &t, &q, &v, &inputs, &states, &method, &coordinates) ||
        !is_model(model, &a->model))
        return false;
    const lw_model *m = a->model->model;
    lw_linearise_defaults(m, &a->options);
    if (!numbers_read(q, "q", lw_model_q_size(m), true, &a->q) ||
        !numbers_read(v, "v", lw_model_v_size(m), true, &a->v) ||
        !numbers_read(inputs, "inputs", lw_model_input_count(m), true, &a->inputs) ||
        !numbers_read(states, "states", lw_model_state_count(m), true, &a->states) ||
        !take_coordinates(a, coordinates)) {
        analysis_release(a);
        return false;
    }
    a->options.t = t;
    a->options.q = a->q.at, a->options.v = a->v.at;
    a->options.inputs = a->inputs.at, a->options.states = a->states.at;
    if (method) a->options.method = strcmp(method, "auto") == 0 ? NULL : method;
    return true;
}

/* Puts a value, whose reference is taken, into a dictionary. */
static bool put(PyObject *to, const char *name, PyObject *value) {
    const bool done = value && PyDict_SetItemString(to, name, value) == 0;
    Py_XDECREF(value);
    return done;
}

static PyObject *texts(const char *const *names, int count) {
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < count; k++) {
        PyObject *name = PyUnicode_FromString(names[k]);
        if (!name || PyList_Append(list, name) != 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* A matrix, also without rows or columns. */
static PyObject *matrix(const double *values, int rows, int columns) {
    if (rows > 0 && columns > 0) return array_of(values, rows, columns);
    return PyObject_CallFunction(the_module.empty, "((ii))", rows, columns);
}

static PyObject *linearise(PyObject *module, PyObject *args) {
    (void)module;
    analysis a;
    if (!analysis_of(args, &a)) return NULL;
    lw_linear_system *s = NULL;
    lw_error error = {0};
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status = lw_linearise(a.model->model, &a.options, &s, &error);
    Py_END_ALLOW_THREADS analysis_release(&a);
    if (status != LW_OK) return raise_error(status, &error);
    PyObject *d = PyDict_New();
    const bool fine = d && put(d, "states", texts(s->state_names, s->states)) &&
                      put(d, "inputs", texts(s->input_names, s->inputs)) &&
                      put(d, "outputs", texts(s->output_names, s->outputs)) &&
                      put(d, "left_out", texts(s->left_out, s->left_out_count)) &&
                      put(d, "A", matrix(s->A, s->states, s->states)) &&
                      put(d, "B", matrix(s->B, s->states, s->inputs)) &&
                      put(d, "C", matrix(s->C, s->outputs, s->states)) &&
                      put(d, "D", matrix(s->D, s->outputs, s->inputs)) &&
                      put(d, "eigenvalues", matrix(s->eigenvalues, s->states, 2)) &&
                      put(d, "rates", array_of(s->rates, s->states, 0)) &&
                      put(d, "controllable", PyLong_FromLong(s->controllable)) &&
                      put(d, "observable", PyLong_FromLong(s->observable));
    lw_linear_system_destroy(s);
    if (!fine) Py_CLEAR(d);
    return d;
}

static PyObject *equilibrium(PyObject *module, PyObject *args) {
    (void)module;
    analysis a;
    if (!analysis_of(args, &a)) return NULL;
    lw_equilibrium *e = NULL;
    lw_error error = {0};
    lw_status status;
    const lw_model *m = a.model->model;
    Py_BEGIN_ALLOW_THREADS status = lw_equilibrium_find(m, &a.options, &e, &error);
    Py_END_ALLOW_THREADS analysis_release(&a);
    if (status != LW_OK) return raise_error(status, &error);
    PyObject *d = PyDict_New();
    const bool fine = d && put(d, "converged", PyBool_FromLong(e->converged)) &&
                      put(d, "stable", PyBool_FromLong(e->stable)) &&
                      put(d, "neutral", PyLong_FromLong(e->neutral)) &&
                      put(d, "residual", PyFloat_FromDouble(e->residual)) &&
                      put(d, "q", array_of(e->q, lw_model_q_size(m), 0)) &&
                      put(d, "states", array_of(e->states, lw_model_state_count(m), 0)) &&
                      put(d, "reactions", matrix(e->reactions, lw_model_joint_count(m), 6)) &&
                      put(d, "unique", array_of_flags(e->unique, lw_model_joint_count(m), 6)) &&
                      put(d, "unbalanced", PyUnicode_FromString(e->unbalanced));
    lw_equilibrium_destroy(e);
    if (!fine) Py_CLEAR(d);
    return d;
}

static PyObject *modes(PyObject *module, PyObject *args) {
    (void)module;
    analysis a;
    if (!analysis_of(args, &a)) return NULL;
    lw_modes *all = NULL;
    lw_error error = {0};
    lw_status status;
    const int nv = lw_model_v_size(a.model->model);
    Py_BEGIN_ALLOW_THREADS status = lw_modes_find(a.model->model, &a.options, &all, &error);
    Py_END_ALLOW_THREADS analysis_release(&a);
    if (status != LW_OK) return raise_error(status, &error);
    PyObject *d = PyDict_New(), *list = PyList_New(0);
    bool fine = d && list;
    for (int k = 0; k < all->count && fine; k++) {
        const lw_mode *mode = &all->modes[k];
        PyObject *row = Py_BuildValue("(ddddNN)", mode->frequency, mode->damping_ratio, mode->eigenvalue[0],
                                      mode->eigenvalue[1], array_of(mode->shape, nv, 0),
                                      array_of(mode->imaginary, nv, 0));
        fine = row && PyList_Append(list, row) == 0;
        Py_XDECREF(row);
    }
    fine = fine && put(d, "rigid", PyLong_FromLong(all->rigid)) &&
           put(d, "imbalance", PyFloat_FromDouble(all->imbalance)) &&
           PyDict_SetItemString(d, "modes", list) == 0;
    lw_modes_destroy(all);
    Py_XDECREF(list);
    if (!fine) Py_CLEAR(d);
    return d;
}

/* --- comparison ---------------------------------------------------------------------------------- */

/* What a comparison tells of its progress: the context of its call-backs, and who is told. */
typedef struct onlooker {
    run_context *context;
    PyObject *tell; /* a function (method, work), or NULL */
} onlooker;

static bool look_on(const char *method, const char *work, void *context) {
    onlooker *o = context;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *answer = o->tell ? PyObject_CallFunction(o->tell, "ss", method, work) : PyLong_FromLong(0);
    const bool fine = answer && PyErr_CheckSignals() == 0;
    Py_XDECREF(answer);
    if (!fine && !o->context->failed) {
        PyErr_Fetch(&o->context->type, &o->context->value, &o->context->trace);
        o->context->failed = true;
    }
    PyGILState_Release(lock);
    return fine;
}

static PyObject *comparison_of(const lw_comparison *c) {
    static const char *const verdicts[] = {"refused",     "failed",  "agrees",
                                           "approximate", "differs", "declined"};
    PyObject *d = PyDict_New();
    const bool ran = c->run_status == LW_OK && c->run.method;
    const bool fine = d && put(d, "method", PyUnicode_FromString(c->method)) &&
                      put(d, "verdict", PyUnicode_FromString(verdicts[c->verdict])) &&
                      put(d, "reference", PyBool_FromLong(c->reference)) &&
                      put(d, "wrong", PyBool_FromLong(lw_comparison_wrong(c))) &&
                      put(d, "accuracy", PyFloat_FromDouble(c->accuracy)) &&
                      put(d, "reason", PyUnicode_FromString(c->reason)) &&
                      put(d, "states", PyLong_FromLong(c->states)) &&
                      put(d, "max_rel_diff", PyFloat_FromDouble(c->max_rel_diff)) &&
                      put(d, "reaction_diff", PyFloat_FromDouble(c->reaction_diff)) &&
                      put(d, "allowed", PyFloat_FromDouble(c->allowed)) &&
                      put(d, "balance", PyFloat_FromDouble(c->balance)) &&
                      put(d, "condition", PyFloat_FromDouble(c->condition)) &&
                      put(d, "ns_per_call", PyFloat_FromDouble(c->ns_per_call)) &&
                      put(d, "setup_s", PyFloat_FromDouble(c->setup_s)) &&
                      put(d, "run_reason", PyUnicode_FromString(c->run_reason)) &&
                      put(d, "run", ran ? summary_of(&c->run) : (Py_INCREF(Py_None), Py_None)) &&
                      put(d, "final_diff", PyFloat_FromDouble(c->final_diff)) &&
                      put(d, "final_allowed", PyFloat_FromDouble(c->final_allowed));
    if (!fine) Py_CLEAR(d);
    return d;
}

static bool names_given(PyObject *given, PyObject **list, const char ***names, int *count) {
    *list = NULL, *names = NULL, *count = 0;
    if (!given || given == Py_None) return true;
    *list = PySequence_List(given);
    if (!*list) return false;
    *count = (int)PyList_Size(*list);
    *names = calloc((size_t)*count + 1, sizeof **names);
    if (!*names) PyErr_NoMemory();
    for (int k = 0; *names && k < *count; k++) {
        (*names)[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(*list, k), NULL);
        if (!(*names)[k]) return false;
    }
    return *names;
}

/* (model, options of the run, methods, run, reactions, timing, patience, tell) */
static PyObject *compare(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *model_arg, *given, *methods, *tell, *list = NULL, *results = NULL;
    const char **names = NULL;
    int run, reactions, name_count;
    double timing, patience;
    model_object *model;
    if (!PyArg_ParseTuple(args, "OO!OppddO", &model_arg, &PyDict_Type, &given, &methods, &run, &reactions,
                          &timing, &patience, &tell) ||
        !is_model(model_arg, &model))
        return NULL;
    lw_compare_options options;
    lw_compare_defaults(model->model, &options);
    const double suggested = options.run.end;
    run_context context;
    lw_comparison *all = calloc((size_t)lw_method_count() + 1, sizeof *all);
    int count = 0;
    if (!all) PyErr_NoMemory();
    if (run_context_fill(&context, model, given) && all && names_given(methods, &list, &names, &name_count)) {
        onlooker who = {&context, tell == Py_None ? NULL : tell};
        PyObject *end = PyDict_GetItemString(given, "end");
        options.run = context.options;
        if (!end) options.run.end = suggested;
        options.run.interrupted = NULL, options.run.context = NULL;
        options.methods = names, options.method_count = name_count;
        options.no_run = !run, options.no_reactions = !reactions;
        options.timing = timing, options.patience = patience;
        options.observe = look_on, options.context = &who;
        lw_error error = {0};
        lw_status status;
        Py_BEGIN_ALLOW_THREADS status = lw_compare(model->model, &options, all, &count, &error);
        Py_END_ALLOW_THREADS if (status != LW_OK || context.failed)
            run_context_raise(&context, status, &error);
        else results = PyList_New(0);
        for (int k = 0; results && k < count; k++) {
            PyObject *one = comparison_of(&all[k]);
            if (!one || PyList_Append(results, one) != 0) Py_CLEAR(results);
            Py_XDECREF(one);
        }
    }
    run_context_release(&context);
    Py_XDECREF(list);
    free(names);
    free(all);
    return results;
}

/* (model, options of the run, parameters, record): a dictionary; derivatives have a row for every sample and
 * parameter. */
static PyObject *sensitivity(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *model_arg, *given, *parameters, *list = NULL, *d = NULL;
    const char **names = NULL, *record;
    int count;
    model_object *model;
    if (!PyArg_ParseTuple(args, "OO!Oz", &model_arg, &PyDict_Type, &given, &parameters, &record) ||
        !is_model(model_arg, &model))
        return NULL;
    lw_sensitivity_options options;
    lw_sensitivity_defaults(model->model, &options);
    const double tolerance = options.run.tolerance;
    run_context context;
    if (run_context_fill(&context, model, given) && names_given(parameters, &list, &names, &count)) {
        options.run = context.options;
        options.run.observe = NULL, options.run.interrupted = NULL, options.run.context = NULL;
        if (!PyDict_GetItemString(given, "tolerance")) options.run.tolerance = tolerance;
        if (!PyDict_GetItemString(given, "output"))
            options.run.output = (options.run.end - options.run.start) / 100;
        options.parameters = names, options.parameter_count = count, options.record = record;
        lw_sensitivity *s = NULL;
        lw_error error = {0};
        lw_status status;
        Py_BEGIN_ALLOW_THREADS status = lw_sensitivity_find(model->model, &options, &s, &error);
        Py_END_ALLOW_THREADS if (status != LW_OK || context.failed)
            run_context_raise(&context, status, &error);
        else d = PyDict_New();
        const int rows = s ? s->samples * s->parameters : 0;
        const bool fine = d && put(d, "parameters", texts(s->parameter_names, s->parameters)) &&
                          put(d, "columns", texts(s->names, s->columns)) &&
                          put(d, "t", array_of(s->t, s->samples, 0)) &&
                          put(d, "values", matrix(s->values, s->samples, s->columns)) &&
                          put(d, "derivatives", matrix(s->derivatives, rows, s->columns)) &&
                          put(d, "differences", matrix(s->differences, rows, s->columns)) &&
                          put(d, "disagreement", PyFloat_FromDouble(s->disagreement)) &&
                          put(d, "uncertainty", PyFloat_FromDouble(s->uncertainty));
        if (!fine) Py_CLEAR(d);
        lw_sensitivity_destroy(s);
    }
    run_context_release(&context);
    Py_XDECREF(list);
    free(names);
    return d;
}

PyMethodDef analysis_functions[] = {
    {"sensitivity", sensitivity, METH_VARARGS, "Derivatives of a run with respect to parameters."},
    {"compare", compare, METH_VARARGS, "Every method on one model."},
    {"linearise", linearise, METH_VARARGS, "The linear system near a state."},
    {"equilibrium", equilibrium, METH_VARARGS, "The position of rest near a state."},
    {"modes", modes, METH_VARARGS, "Vibrations about a position."},
    {NULL, NULL, 0, NULL}};
