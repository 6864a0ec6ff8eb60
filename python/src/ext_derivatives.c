/* ext_derivatives.c - the type Derivatives: exact derivatives of accelerations and of joint forces. */
#include "extension.h"

#include <stdlib.h>
#include <string.h>

typedef struct derivatives_object {
    PyObject_HEAD model_object *model;
    lw_derivatives *derivatives;
    double *inputs, *states; /* which it reads at every call; NULL: the defaults */
    int nq, nv;
    bool busy;
} derivatives_object;

static PyObject *derivatives_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "method", "inputs", "states", "checked", NULL};
    PyObject *model_arg, *inputs = NULL, *states = NULL;
    const char *method = NULL;
    int checked = 1;
    model_object *model;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|z$OOp", names, &model_arg, &method, &inputs, &states,
                                     &checked) ||
        !is_model(model_arg, &model))
        return NULL;
    lw_solver_options options;
    lw_solver_defaults(model->model, &options);
    if (method) options.method = strcmp(method, "auto") == 0 ? NULL : method;
    options.unchecked = !checked;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    derivatives_object *self = (derivatives_object *)allocate(type, 0);
    if (!self) return NULL;
    self->nq = lw_model_q_size(model->model), self->nv = lw_model_v_size(model->model);
    if (!numbers_copy(inputs, "inputs", lw_model_input_count(model->model), &self->inputs) ||
        !numbers_copy(states, "states", lw_model_state_count(model->model), &self->states)) {
        Py_DECREF(self);
        return NULL;
    }
    options.inputs = self->inputs, options.states = self->states;
    lw_error error = {0};
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status =
        lw_derivatives_create(model->model, &options, NULL, &self->derivatives, &error);
    Py_END_ALLOW_THREADS if (status != LW_OK) {
        Py_DECREF(self);
        return raise_error(status, &error);
    }
    self->model = model;
    Py_INCREF((PyObject *)model);
    return (PyObject *)self;
}

static void derivatives_dealloc(PyObject *object) {
    derivatives_object *self = (derivatives_object *)object;
    lw_derivatives_destroy(self->derivatives);
    free(self->inputs);
    free(self->states);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

/* A place for a matrix, of which a side may be zero. */
static bool place(PyObject *given, const char *name, Py_ssize_t rows, Py_ssize_t columns, numbers *out) {
    if (rows > 0 && columns > 0) return numbers_write(given, name, rows, columns, out);
    memset(out, 0, sizeof *out);
    out->array = PyObject_CallFunction(the_module.empty, "((nn))", rows, columns);
    return out->array;
}

enum { MOST = 6 };

/* The results as a tuple, or the exception of the status. */
static PyObject *answer(numbers *out, int count, lw_status status, const lw_error *error) {
    if (status != LW_OK) return raise_error(status, error);
    PyObject *all = PyTuple_New(count);
    for (int k = 0; all && k < count; k++) {
        Py_INCREF(out[k].array);
        if (PyTuple_SetItem(all, k, out[k].array) != 0) Py_CLEAR(all);
    }
    return all;
}

/* (t, q, v, tau or vdot, places): places is None or a tuple of arrays. */
static PyObject *derive(PyObject *object, PyObject *args, bool forces) {
    derivatives_object *self = (derivatives_object *)object;
    PyObject *q_object, *v_object, *other_object, *places, *result = NULL;
    double t;
    if (!PyArg_ParseTuple(args, "dOOOO", &t, &q_object, &v_object, &other_object, &places)) return NULL;
    const int count = forces ? 3 : MOST, nv = self->nv;
    const int inputs = lw_model_input_count(self->model->model),
              states = lw_model_state_count(self->model->model);
    static const char *const names[2][MOST] = {{"vdot", "dq", "dv", "dtau", "dinputs", "dstates"},
                                               {"dq", "dv", "mass"}};
    const int columns[2][MOST] = {{0, nv, nv, nv, inputs, states}, {nv, nv, nv}};
    if (places != Py_None && (!PyTuple_Check(places) || PyTuple_Size(places) != count)) {
        PyErr_Format(PyExc_TypeError, "out has to be a tuple of %d arrays, as this call returns it", count);
        return NULL;
    }
    numbers q = {0}, v = {0}, other = {0}, out[MOST];
    memset(out, 0, sizeof out);
    bool fine = numbers_read(q_object, "q", self->nq, false, &q) &&
                numbers_read(v_object, "v", nv, false, &v) &&
                numbers_read(other_object, forces ? "vdot" : "tau", nv, !forces, &other);
    for (int k = 0; k < count && fine; k++) {
        PyObject *given = places == Py_None ? NULL : PyTuple_GetItem(places, k);
        const bool vector = !forces && k == 0;
        fine = vector ? numbers_write(given, names[forces][k], nv, 0, &out[k])
                      : place(given, names[forces][k], nv, columns[forces][k], &out[k]);
        const Py_ssize_t size = (Py_ssize_t)nv * (vector ? 1 : columns[forces][k]);
        if (fine && out[k].at)
            fine = numbers_apart(&out[k], size, &q, self->nq, "q") &&
                   numbers_apart(&out[k], size, &v, nv, "v") &&
                   numbers_apart(&out[k], size, &other, nv, "tau");
    }
    if (fine && object_enter(&self->busy, "object")) {
        lw_error error = {0};
        lw_status status;
        const lw_acceleration_derivatives to = {out[0].at, out[1].at, out[2].at,
                                                out[3].at, out[4].at, out[5].at};
        Py_BEGIN_ALLOW_THREADS status =
            forces ? lw_derivatives_of_forces(self->derivatives, t, q.at, v.at, other.at, out[0].at,
                                              out[1].at, out[2].at, &error)
                   : lw_derivatives_of_accelerations(self->derivatives, t, q.at, v.at, other.at, &to, &error);
        Py_END_ALLOW_THREADS self->busy = false;
        result = answer(out, count, status, &error);
    }
    for (int k = 0; k < MOST; k++) numbers_release(&out[k]);
    numbers_release(&q);
    numbers_release(&v);
    numbers_release(&other);
    return result;
}

static PyObject *derivatives_accelerations(PyObject *self, PyObject *args) {
    return derive(self, args, false);
}
static PyObject *derivatives_forces(PyObject *self, PyObject *args) { return derive(self, args, true); }

static PyObject *derivatives_model(PyObject *object, void *closure) {
    (void)closure;
    PyObject *model = (PyObject *)((derivatives_object *)object)->model;
    Py_INCREF(model);
    return model;
}

static PyObject *derivatives_method(PyObject *self, void *closure) {
    (void)closure;
    lw_solver *solver = lw_derivatives_solver(((derivatives_object *)self)->derivatives);
    return PyUnicode_FromString(lw_solver_method(solver));
}

static PyMethodDef derivatives_methods[] = {
    {"_accelerations", derivatives_accelerations, METH_VARARGS, "Of accelerations."},
    {"_forces", derivatives_forces, METH_VARARGS, "Of joint forces."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef derivatives_getset[] = {
    {"model", derivatives_model, NULL, "Its model.", NULL},
    {"method", derivatives_method, NULL, "The name of the method that finds accelerations.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot derivatives_slots[] = {{Py_tp_new, derivatives_new},
                                          {Py_tp_dealloc, derivatives_dealloc},
                                          {Py_tp_methods, derivatives_methods},
                                          {Py_tp_getset, derivatives_getset},
                                          {Py_tp_doc, "Exact derivatives of the dynamics."},
                                          {0, NULL}};
PyType_Spec derivatives_spec = {"linkwork._core.Derivatives", sizeof(derivatives_object), 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, derivatives_slots};
