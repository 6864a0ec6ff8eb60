/* ext_simulation.c - the type Simulation: a model in motion that the caller advances, changes, saves.
 *
 * The lock is released while the simulation works; a second thread that comes meanwhile gets an exception. A
 * simulation that has been closed answers with an exception, too.
 */
#include "extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct simulation_object {
    PyObject_HEAD model_object *model;
    lw_simulation *simulation;
    run_context context; /* its options; call-backs use it as long as the simulation lives */
    bool filled, busy;
} simulation_object;

static PyObject *simulation_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "options", NULL};
    PyObject *model_arg, *options = NULL;
    model_object *model;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O!", names, &model_arg, &PyDict_Type, &options) ||
        !is_model(model_arg, &model))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    simulation_object *self = (simulation_object *)allocate(type, 0);
    if (!self) return NULL;
    self->model = model;
    Py_INCREF((PyObject *)model);
    self->filled = true;
    if (!run_context_fill(&self->context, model, options)) {
        Py_DECREF(self);
        return NULL;
    }
    lw_error error = {0};
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status =
        lw_simulation_create(model->model, &self->context.options, NULL, &self->simulation, &error);
    Py_END_ALLOW_THREADS if (status != LW_OK || self->context.failed) {
        run_context_raise(&self->context, status, &error);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void simulation_end(simulation_object *self) {
    lw_simulation_destroy(self->simulation);
    self->simulation = NULL;
    if (self->filled) run_context_release(&self->context);
    self->filled = false;
}

static void simulation_dealloc(PyObject *object) {
    simulation_object *self = (simulation_object *)object;
    simulation_end(self);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

/* Open, and nobody else is at work with it. */
static simulation_object *ready(PyObject *object) {
    simulation_object *self = (simulation_object *)object;
    if (!self->simulation)
        PyErr_SetString(PyExc_ValueError, "the simulation has been closed");
    else if (self->busy)
        PyErr_SetString(PyExc_RuntimeError,
                        "this simulation is at work in another thread, or is advancing; give every "
                        "thread its own");
    else
        return self;
    return NULL;
}

static PyObject *simulation_close(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = (simulation_object *)object;
    if (self->simulation && !ready(object)) return NULL;
    simulation_end(self);
    Py_RETURN_NONE;
}

/* A call that may evaluate a force of the caller's: what he does there must not meet the simulation at work,
 * and what he raises goes to the caller of the call. */
static simulation_object *begin(PyObject *object) {
    simulation_object *self = ready(object);
    if (self) self->busy = true;
    return self;
}

/* After such a call: false with an exception if it, or the force, has failed. */
static bool ended(simulation_object *self, lw_status status, const lw_error *error) {
    self->busy = false;
    if (status == LW_OK && !self->context.failed) return true;
    run_context_raise(&self->context, status, error);
    return false;
}

/* True: an event has stopped it before. */
static PyObject *finish(simulation_object *self, lw_status status, const lw_error *error) {
    if (self->context.failed || (status != LW_OK && status != LW_EVENT))
        return run_context_raise(&self->context, status, error);
    return PyBool_FromLong(status == LW_EVENT);
}

static PyObject *simulation_advance(PyObject *object, PyObject *time) {
    simulation_object *self = ready(object);
    const double t = self ? PyFloat_AsDouble(time) : 0;
    if (!self || (t == -1 && PyErr_Occurred())) return NULL;
    lw_error error;
    error.message[0] = '\0';
    lw_status status;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS status = lw_simulation_advance(self->simulation, t, &error);
    Py_END_ALLOW_THREADS self->busy = false;
    return finish(self, status, &error);
}

static PyObject *simulation_step_to(PyObject *object, PyObject *time) {
    simulation_object *self = ready(object);
    const double t = self ? PyFloat_AsDouble(time) : 0;
    if (!self || (t == -1 && PyErr_Occurred())) return NULL;
    lw_error error;
    error.message[0] = '\0';
    lw_status status;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS status = lw_simulation_step_to(self->simulation, t, &error);
    Py_END_ALLOW_THREADS self->busy = false;
    return finish(self, status, &error);
}

static PyObject *simulation_step(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    if (!self) return NULL;
    lw_error error;
    error.message[0] = '\0';
    lw_status status;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS status = lw_simulation_step(self->simulation, &error);
    Py_END_ALLOW_THREADS self->busy = false;
    return finish(self, status, &error);
}

/* Two arrays of a tuple that is given as out, or NULL. */
static bool two_places(PyObject *args, PyObject *keywords, PyObject *places[2]) {
    static char *names[] = {"out", NULL};
    PyObject *given = NULL;
    places[0] = places[1] = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O", names, &given)) return false;
    if (!given || given == Py_None) return true;
    if (!PyTuple_Check(given) || PyTuple_Size(given) != 2) {
        PyErr_SetString(PyExc_TypeError, "out has to be a tuple of two arrays, as this call returns it");
        return false;
    }
    places[0] = PyTuple_GetItem(given, 0), places[1] = PyTuple_GetItem(given, 1);
    return true;
}

static PyObject *two_results(simulation_object *self, numbers *first, numbers *second, lw_status status,
                             const lw_error *error) {
    PyObject *both = ended(self, status, error) ? PyTuple_Pack(2, first->array, second->array) : NULL;
    numbers_release(first);
    numbers_release(second);
    return both;
}

static PyObject *simulation_state(PyObject *object, PyObject *args, PyObject *keywords) {
    simulation_object *self = ready(object);
    PyObject *places[2];
    numbers q, v;
    if (!self || !two_places(args, keywords, places) ||
        !numbers_write(places[0], "out[0]", self->context.nq, 0, &q))
        return NULL;
    if (!numbers_write(places[1], "out[1]", self->context.nv, 0, &v)) {
        numbers_release(&q);
        return NULL;
    }
    self->busy = true;
    return two_results(self, &q, &v, lw_simulation_state(self->simulation, q.at, v.at), NULL);
}

static PyObject *simulation_set_state(PyObject *object, PyObject *args) {
    simulation_object *self = ready(object);
    PyObject *q_object, *v_object;
    double t;
    numbers q, v = {0};
    if (!self || !PyArg_ParseTuple(args, "dOO", &t, &q_object, &v_object) ||
        !numbers_read(q_object, "q", self->context.nq, false, &q))
        return NULL;
    lw_error error = {0};
    lw_status status = LW_ERROR_ARGUMENT;
    bool fine = numbers_read(v_object, "v", self->context.nv, false, &v);
    if (fine && (fine = begin(object))) {
        status = lw_simulation_set_state(self->simulation, t, q.at, v.at, &error);
        fine = ended(self, status, &error);
    }
    numbers_release(&v);
    numbers_release(&q);
    if (!fine) return NULL;
    Py_RETURN_NONE;
}

static PyObject *simulation_reset(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = begin(object);
    if (!self) return NULL;
    lw_error error = {0};
    if (!ended(self, lw_simulation_reset(self->simulation, &error), &error)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *input_not_finite(void) {
    PyErr_SetString(PyExc_ValueError, "the value of an input has to be finite; nan stands for a default that "
                                      "is an expression, where there is one");
    return NULL;
}

static PyObject *simulation_set_input(PyObject *object, PyObject *args) {
    simulation_object *self = ready(object);
    int input;
    double value;
    if (!self || !PyArg_ParseTuple(args, "id", &input, &value)) return NULL;
    if (lw_simulation_set_input(self->simulation, input, value) != LW_OK) return input_not_finite();
    Py_RETURN_NONE;
}

static PyObject *simulation_set_inputs(PyObject *object, PyObject *given) {
    simulation_object *self = ready(object);
    numbers n;
    if (!self || !numbers_read(given, "inputs", lw_model_input_count(self->model->model), false, &n))
        return NULL;
    const lw_status status = lw_simulation_set_inputs(self->simulation, n.at);
    numbers_release(&n);
    if (status != LW_OK) return input_not_finite();
    Py_RETURN_NONE;
}

static PyObject *simulation_inputs(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    numbers n;
    const int count = self ? lw_model_input_count(self->model->model) : 0;
    if (!self || !numbers_write(NULL, "out", count, 0, &n)) return NULL;
    for (int k = 0; k < count; k++) n.at[k] = lw_simulation_input(self->simulation, k);
    return numbers_result(&n, LW_OK, NULL);
}

static PyObject *simulation_set_parameter(PyObject *object, PyObject *args) {
    simulation_object *self = ready(object);
    const char *name;
    double value;
    if (!self || !PyArg_ParseTuple(args, "sd", &name, &value)) return NULL;
    lw_error error = {0};
    const int parameter = lw_model_parameter(self->model->model, name);
    if (parameter < 0) {
        PyErr_Format(PyExc_KeyError, "the model has no parameter \"%s\"", name);
        return NULL;
    }
    self->busy = true;
    if (!ended(self, lw_simulation_set_parameter(self->simulation, parameter, value, &error), &error))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *simulation_outputs(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    numbers n;
    const int count = self ? lw_model_output_count(self->model->model) : 0;
    if (!self || !numbers_write(NULL, "out", count, 0, &n)) return NULL;
    self->busy = true;
    PyObject *outputs = n.array;
    Py_INCREF(outputs);
    const lw_status status = count ? lw_simulation_outputs(self->simulation, n.at) : LW_OK;
    numbers_release(&n);
    if (!ended(self, status, NULL)) Py_CLEAR(outputs);
    return outputs;
}

static PyObject *simulation_states(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    numbers n;
    const int count = self ? lw_model_state_count(self->model->model) : 0;
    if (!self || !numbers_write(NULL, "out", count, 0, &n)) return NULL;
    return numbers_result(&n, count ? lw_simulation_states(self->simulation, n.at) : LW_OK, NULL);
}

static PyObject *simulation_set_states(PyObject *object, PyObject *given) {
    simulation_object *self = ready(object);
    numbers n;
    if (!self || !numbers_read(given, "states", lw_model_state_count(self->model->model), false, &n))
        return NULL;
    const lw_status status = lw_simulation_set_states(self->simulation, n.at);
    numbers_release(&n);
    if (status != LW_OK) return raise_error(status, NULL);
    Py_RETURN_NONE;
}

static PyObject *simulation_accelerations(PyObject *object, PyObject *args, PyObject *keywords) {
    simulation_object *self = ready(object);
    PyObject *places[2];
    numbers vdot, reactions;
    if (!self || !two_places(args, keywords, places) ||
        !numbers_write(places[0], "out[0]", self->context.nv, 0, &vdot))
        return NULL;
    if (!numbers_write(places[1], "out[1]", lw_model_joint_count(self->model->model), 6, &reactions)) {
        numbers_release(&vdot);
        return NULL;
    }
    lw_error error = {0};
    self->busy = true;
    const lw_status status = lw_simulation_accelerations(self->simulation, vdot.at, reactions.at, &error);
    return two_results(self, &vdot, &reactions, status, &error);
}

static PyObject *simulation_ledger(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    lw_ledger ledger;
    if (!self) return NULL;
    self->busy = true;
    return ended(self, lw_simulation_ledger(self->simulation, &ledger), NULL) ? ledger_of(&ledger) : NULL;
}

static PyObject *simulation_summary(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    lw_run_summary summary;
    if (!self) return NULL;
    const lw_status status = lw_simulation_summary(self->simulation, &summary);
    return status == LW_OK ? summary_of(&summary) : raise_error(status, NULL);
}

static PyObject *simulation_event(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    if (!self) return NULL;
    const int event = lw_simulation_model_event(self->simulation);
    if (event < 0) Py_RETURN_NONE;
    return PyUnicode_FromString(lw_model_event_name(self->model->model, event));
}

static PyObject *simulation_save(PyObject *object, PyObject *ignored) {
    (void)ignored;
    simulation_object *self = ready(object);
    if (!self) return NULL;
    const size_t size = lw_simulation_snapshot_size(self->simulation);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (!bytes) return NULL;
    const lw_status status = lw_simulation_save(self->simulation, PyBytes_AsString(bytes), size);
    if (status == LW_OK) return bytes;
    Py_DECREF(bytes);
    return raise_error(status, NULL);
}

static PyObject *simulation_restore(PyObject *object, PyObject *args) {
    simulation_object *self = ready(object);
    const char *bytes;
    Py_ssize_t size;
    if (!self || !PyArg_ParseTuple(args, "y#", &bytes, &size)) return NULL;
    lw_error error = {0};
    self->busy = true;
    if (!ended(self, lw_simulation_restore(self->simulation, bytes, (size_t)size, &error), &error))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *simulation_time(PyObject *object, void *closure) {
    (void)closure;
    simulation_object *self = ready(object);
    return self ? PyFloat_FromDouble(lw_simulation_time(self->simulation)) : NULL;
}

static PyObject *simulation_method(PyObject *object, void *closure) {
    simulation_object *self = ready(object);
    if (!self) return NULL;
    return PyUnicode_FromString(closure ? lw_simulation_integrator(self->simulation)
                                        : lw_simulation_method(self->simulation));
}

static PyObject *simulation_model(PyObject *object, void *closure) {
    (void)closure;
    PyObject *model = (PyObject *)((simulation_object *)object)->model;
    Py_INCREF((PyObject *)model);
    return model;
}

static PyObject *simulation_closed(PyObject *object, void *closure) {
    (void)closure;
    return PyBool_FromLong(!((simulation_object *)object)->simulation);
}

static PyMethodDef simulation_methods[] = {
    {"advance", simulation_advance, METH_O,
     "advance($self, t)\n--\n\nTo time t exactly, s. True: an event has stopped it before (see `event`)."},
    {"step_to", simulation_step_to, METH_O,
     "step_to($self, t)\n--\n\nAs advance, and a step of the integrator ends at t: for a control that "
     "changes "
     "inputs then."},
    {"step", simulation_step, METH_NOARGS,
     "step($self)\n--\n\nTo the end of the integrator's next step. True: an event has stopped it before."},
    {"close", simulation_close, METH_NOARGS, "close($self)\n--\n\nFrees its memory. May be called twice."},
    {"state", (PyCFunction)(void (*)(void))simulation_state, METH_VARARGS | METH_KEYWORDS,
     "state($self, *, out=None)\n--\n\nThe present q, (nq,), and v, (nv,)."},
    {"_set_state", simulation_set_state, METH_VARARGS, "Goes on from (t, q, v)."},
    {"reset", simulation_reset, METH_NOARGS,
     "reset($self)\n--\n\nBack to the state, time, inputs and parameters of the start."},
    {"_set_input", simulation_set_input, METH_VARARGS, "An input by its index."},
    {"_set_inputs", simulation_set_inputs, METH_O, "All inputs."},
    {"_inputs", simulation_inputs, METH_NOARGS, "Values of all inputs."},
    {"set_parameter", simulation_set_parameter, METH_VARARGS,
     "set_parameter($self, name, value)\n--\n\nAnother value of a parameter that enters nothing but forces. "
     "Compiles the "
     "model again; use an input for what changes all the time."},
    {"_outputs", simulation_outputs, METH_NOARGS, "Values of all outputs."},
    {"_states", simulation_states, METH_NOARGS, "Values of the user states."},
    {"_set_states", simulation_set_states, METH_O, "Other values of the user states."},
    {"accelerations", (PyCFunction)(void (*)(void))simulation_accelerations, METH_VARARGS | METH_KEYWORDS,
     "accelerations($self, *, out=None)\n--\n\nAccelerations, (nv,), and reactions, (joints, 6), of the "
     "present state."},
    {"ledger", simulation_ledger, METH_NOARGS,
     "ledger($self)\n--\n\nEnergies, and where the energy went, J."},
    {"summary", simulation_summary, METH_NOARGS, "summary($self)\n--\n\nSteps, evaluations, verdict so far."},
    {"event", simulation_event, METH_NOARGS,
     "event($self)\n--\n\nThe name of the model's event that has stopped the last call, or None."},
    {"save", simulation_save, METH_NOARGS,
     "save($self)\n--\n\nEverything that the further motion depends on, as bytes."},
    {"restore", simulation_restore, METH_VARARGS,
     "restore($self, snapshot)\n--\n\nBack to a snapshot; the same calls then give the same bits."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef simulation_getset[] = {
    {"time", simulation_time, NULL, "The present time, s.", NULL},
    {"method", simulation_method, NULL, "The name of its method.", NULL},
    {"integrator", simulation_method, NULL, "The name of its integrator.", (void *)1},
    {"model", simulation_model, NULL, "Its model.", NULL},
    {"closed", simulation_closed, NULL, "Whether it has been closed.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot simulation_slots[] = {
    {Py_tp_new, simulation_new},         {Py_tp_dealloc, simulation_dealloc},
    {Py_tp_methods, simulation_methods}, {Py_tp_getset, simulation_getset},
    {Py_tp_doc, "A model in motion."},   {0, NULL}};
PyType_Spec simulation_spec = {"linkwork._core.Simulation", sizeof(simulation_object), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, simulation_slots};
