/* ext_rollout.c - the type Rollout: many runs of a model in one call, on threads.
 *
 * Arrays come from linkwork/_rollout.py in their final shapes, flattened; here they are used as they are. The
 * lock is released for the whole call, and Ctrl-C is looked for in the caller's thread.
 */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

typedef struct rollout_object {
    PyObject_HEAD model_object *model;
    lw_rollout *rollout;
    run_context context; /* its options; the runs ask it whether to stop */
    bool filled, busy;
} rollout_object;

static PyObject *rollout_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "options", "threads", "forces", "vectors", NULL};
    PyObject *model_arg, *given = NULL;
    model_object *model;
    int threads = 0, forces = 0, vectors = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O!ipp", names, &model_arg, &PyDict_Type, &given,
                                     &threads, &forces, &vectors) ||
        !is_model(model_arg, &model))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    rollout_object *self = (rollout_object *)allocate(type, 0);
    if (!self) return NULL;
    self->model = model;
    Py_INCREF((PyObject *)model);
    self->filled = true;
    if (!run_context_fill(&self->context, model, given)) {
        Py_DECREF(self);
        return NULL;
    }
    lw_rollout_options options;
    lw_rollout_defaults(model->model, &options);
    options.run = self->context.options;
    options.threads = threads, options.forces = forces, options.vectors = vectors;
    lw_error error = {0};
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status = lw_rollout_create(model->model, &options, NULL, &self->rollout, &error);
    Py_END_ALLOW_THREADS if (status != LW_OK || self->context.failed) {
        run_context_raise(&self->context, status, &error);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void rollout_dealloc(PyObject *object) {
    rollout_object *self = (rollout_object *)object;
    lw_rollout_destroy(self->rollout);
    if (self->filled) run_context_release(&self->context);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

/* The statuses as bytes and the first failure as a text, or None. */
static PyObject *told(rollout_object *self, const lw_status *status, Py_ssize_t count, lw_status whole,
                      const lw_error *error) {
    if (self->context.failed || whole == LW_ERROR_ARGUMENT || whole == LW_ERROR_MEMORY ||
        whole == LW_ERROR_STOPPED)
        return run_context_raise(&self->context, whole, error);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, count);
    if (!bytes) return NULL;
    char *each = PyBytes_AsString(bytes);
    for (Py_ssize_t k = 0; k < count; k++) each[k] = (char)status[k];
    char text[1400];
    lw_error_format(error, text, sizeof text);
    return Py_BuildValue("(Nz)", bytes, whole == LW_OK ? NULL : text);
}

/* (count, times, q, v, states, inputs, tau, then places for q, v, states, outputs), all flat or None. */
static PyObject *rollout_run(PyObject *object, PyObject *args) {
    rollout_object *self = (rollout_object *)object;
    const lw_model *m = self->model->model;
    int count, instants;
    PyObject *given[6], *places[4], *result = NULL;
    if (!PyArg_ParseTuple(args, "iiOOOOOOOOOO", &count, &instants, &given[0], &given[1], &given[2], &given[3],
                          &given[4], &given[5], &places[0], &places[1], &places[2], &places[3]))
        return NULL;
    if (count < 0 || instants < 0) {
        PyErr_SetString(PyExc_ValueError, "the number of runs and of instants cannot be negative");
        return NULL;
    }
    const Py_ssize_t n = count, rows = n * instants, nq = lw_model_q_size(m), nv = lw_model_v_size(m),
                     states = lw_model_state_count(m);
    static const char *const names[] = {"times", "q0", "v0", "states", "inputs", "tau"};
    const Py_ssize_t sizes[] = {instants, n * nq, n * nv, n * states, rows * lw_model_input_count(m),
                                rows * nv};
    static const char *const place_names[] = {"q", "v", "states", "outputs"};
    const Py_ssize_t place_sizes[] = {rows * nq, rows * nv, rows * states, rows * lw_model_output_count(m)};
    numbers in[6], out[4];
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    bool fine = true;
    for (int k = 0; k < 6 && fine; k++) fine = numbers_read(given[k], names[k], sizes[k], k > 0, &in[k]);
    for (int k = 0; k < 4 && fine; k++)
        if (places[k] != Py_None) fine = numbers_write(places[k], place_names[k], place_sizes[k], 0, &out[k]);
    for (int k = 0; k < 4 && fine; k++)
        for (int j = 0; j < 6 && fine && out[k].at; j++)
            fine = numbers_apart(&out[k], place_sizes[k], &in[j], sizes[j], names[j]);
    lw_status *status = fine ? calloc((size_t)count + 1, sizeof *status) : NULL;
    if (fine && !status) PyErr_NoMemory();
    if (status && object_enter(&self->busy, "rollout")) {
        const lw_rollout_runs runs = {.count = count,
                                      .instants = instants,
                                      .times = in[0].at,
                                      .q = in[1].at,
                                      .v = in[2].at,
                                      .states = in[3].at,
                                      .inputs = in[4].at,
                                      .tau = in[5].at,
                                      .q_out = out[0].at,
                                      .v_out = out[1].at,
                                      .states_out = out[2].at,
                                      .outputs_out = out[3].at,
                                      .status = status};
        lw_error error = {0};
        lw_status whole;
        Py_BEGIN_ALLOW_THREADS whole = lw_rollout_run(self->rollout, &runs, &error);
        Py_END_ALLOW_THREADS self->busy = false;
        result = told(self, status, n, whole, &error);
    }
    free(status);
    for (int k = 0; k < 6; k++) numbers_release(&in[k]);
    for (int k = 0; k < 4; k++) numbers_release(&out[k]);
    return result;
}

static PyObject *rollout_text(PyObject *self, void *integrator) {
    const lw_rollout *rollout = ((rollout_object *)self)->rollout;
    return PyUnicode_FromString(integrator ? lw_rollout_integrator(rollout) : lw_rollout_method(rollout));
}

static PyObject *rollout_number(PyObject *self, void *lanes) {
    const lw_rollout *rollout = ((rollout_object *)self)->rollout;
    return PyLong_FromLong(lanes ? lw_rollout_lanes(rollout) : lw_rollout_threads(rollout));
}

static PyObject *rollout_start(PyObject *self, void *closure) {
    (void)closure;
    return PyFloat_FromDouble(((rollout_object *)self)->context.options.start);
}

static PyObject *rollout_model(PyObject *object, void *closure) {
    (void)closure;
    PyObject *model = (PyObject *)((rollout_object *)object)->model;
    Py_INCREF(model);
    return model;
}

static PyMethodDef rollout_methods[] = {{"_run", rollout_run, METH_VARARGS, "All runs of a call."},
                                        {NULL, NULL, 0, NULL}};

static PyGetSetDef rollout_getset[] = {
    {"method", rollout_text, NULL, "The name of its method.", NULL},
    {"integrator", rollout_text, NULL, "The name of its integrator.", (void *)1},
    {"threads", rollout_number, NULL, "Threads that work.", NULL},
    {"lanes", rollout_number, NULL, "Runs side by side in vectors; 1: one by one.", (void *)1},
    {"start", rollout_start, NULL, "The time at which runs start, s.", NULL},
    {"model", rollout_model, NULL, "Its model.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot rollout_slots[] = {{Py_tp_new, rollout_new},
                                      {Py_tp_dealloc, rollout_dealloc},
                                      {Py_tp_methods, rollout_methods},
                                      {Py_tp_getset, rollout_getset},
                                      {Py_tp_doc, "Many runs of a model in one call."},
                                      {0, NULL}};
PyType_Spec rollout_spec = {"linkwork._core.Rollout", sizeof(rollout_object), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, rollout_slots};
