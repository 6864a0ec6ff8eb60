/* ext_solver.c - the types Solver (one state at a time) and Batch (many states in one call).
 *
 * Both release the interpreter's lock while they work. Since a solver belongs to one thread, a second thread
 * that comes meanwhile gets an exception instead of a wrong number.
 */
#include "extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver_object {
    PyObject_HEAD model_object *model;
    lw_solver *solver;
    double *inputs, *states; /* which the solver reads at every call; NULL: the defaults */
    int nq, nv, joints;
    bool busy;
} solver_object;

bool object_enter(bool *busy, const char *what) {
    if (*busy) {
        PyErr_Format(PyExc_RuntimeError, "this %s is at work in another thread; give every thread its own",
                     what);
        return false;
    }
    *busy = true;
    return true;
}

/* A copy of numbers that are given, or NULL; false with an exception. */
bool numbers_copy(PyObject *object, const char *name, int size, double **copy) {
    numbers n;
    *copy = NULL;
    if (!numbers_read(object, name, size, true, &n)) return false;
    if (!n.at) return true;
    *copy = malloc(((size_t)size + 1) * sizeof **copy);
    if (*copy) memcpy(*copy, n.at, (size_t)size * sizeof **copy);
    numbers_release(&n);
    if (!*copy) PyErr_NoMemory();
    return *copy;
}

static PyObject *solver_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "method", "inputs", "states", "checked", "driven", "penalty", NULL};
    PyObject *model_arg, *inputs = NULL, *states = NULL, *driven = NULL;
    const char *method = NULL;
    int checked = 1;
    double penalty = 0;
    model_object *model;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|z$OOpOd", names, &model_arg, &method, &inputs,
                                     &states, &checked, &driven, &penalty) ||
        !is_model(model_arg, &model))
        return NULL;
    lw_solver_options options;
    lw_solver_defaults(model->model, &options);
    if (method) options.method = strcmp(method, "auto") == 0 ? NULL : method;
    options.unchecked = !checked;
    options.penalty = penalty;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    solver_object *self = (solver_object *)allocate(type, 0);
    PyObject *list = NULL;
    const char **driven_names = NULL;
    lw_error error = {0};
    lw_status status = LW_OK;
    if (!self) return NULL;
    self->nq = lw_model_q_size(model->model), self->nv = lw_model_v_size(model->model);
    self->joints = lw_model_joint_count(model->model);
    if (!numbers_copy(inputs, "inputs", lw_model_input_count(model->model), &self->inputs) ||
        !numbers_copy(states, "states", lw_model_state_count(model->model), &self->states))
        goto fail;
    options.inputs = self->inputs, options.states = self->states;
    if (driven && driven != Py_None) {
        list = PySequence_List(driven);
        if (!list) goto fail;
        options.driven_count = (int)PyList_Size(list);
        driven_names = calloc((size_t)options.driven_count + 1, sizeof *driven_names);
        if (!driven_names) goto fail;
        for (int k = 0; k < options.driven_count; k++) {
            driven_names[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, k), NULL);
            if (!driven_names[k]) goto fail;
        }
        options.driven = driven_names;
    }
    Py_BEGIN_ALLOW_THREADS status = lw_solver_create(model->model, &options, NULL, &self->solver, &error);
    Py_END_ALLOW_THREADS if (status != LW_OK) {
        raise_error(status, &error);
        goto fail;
    }
    Py_XDECREF(list);
    free(driven_names);
    self->model = model;
    Py_INCREF((PyObject *)model);
    return (PyObject *)self;
fail:
    if (!PyErr_Occurred()) PyErr_NoMemory();
    Py_XDECREF(list);
    free(driven_names);
    Py_DECREF(self);
    return NULL;
}

static void solver_dealloc(PyObject *object) {
    solver_object *self = (solver_object *)object;
    lw_solver_destroy(self->solver);
    free(self->inputs);
    free(self->states);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

/* Arguments of a call by position or by keyword; what is not given is NULL. */
static bool arguments(PyObject *const *args, Py_ssize_t count, PyObject *keywords, const char *const *names,
                      int most, int positional, PyObject **out) {
    for (int k = 0; k < most; k++) out[k] = NULL;
    if (count > positional) {
        PyErr_Format(PyExc_TypeError, "%zd arguments by position, at most %d are taken so", count,
                     positional);
        return false;
    }
    for (Py_ssize_t k = 0; k < count; k++) out[k] = args[k];
    const Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    for (Py_ssize_t j = 0; j < named; j++) {
        PyObject *keyword = PyTuple_GetItem(keywords, j);
        int k = 0;
        while (k < most && PyUnicode_CompareWithASCIIString(keyword, names[k]) != 0) k++;
        if (k == most || out[k]) {
            PyErr_Format(PyExc_TypeError, k == most ? "there is no argument \"%U\"" : "\"%U\" is given twice",
                         keyword);
            return false;
        }
        out[k] = args[count + j];
    }
    return true;
}

static bool number_of(PyObject *object, const char *name, double *value) {
    if (!object) {
        PyErr_Format(PyExc_TypeError, "%s is missing; give a number", name);
        return false;
    }
    *value = PyFloat_AsDouble(object);
    if (isfinite(*value)) return *value != -1 || !PyErr_Occurred();
    PyErr_Format(PyExc_ValueError, "%s is %s, expected a finite number", name,
                 isnan(*value) ? "nan" : "infinite");
    return false;
}

/* After a failure: the first number that is not finite, which then is the reason. */
static bool all_finite(const char *name, const numbers *n, int size) {
    for (int k = 0; n->at && k < size; k++)
        if (!isfinite(n->at[k])) {
            PyErr_Format(PyExc_ValueError, "%s[%d] is %s; the numbers of a state have to be finite", name, k,
                         isnan(n->at[k]) ? "nan" : "infinite");
            return false;
        }
    return true;
}

/* Both calls take t, q, v, one more vector of nv, which accelerations may lack, and out. */
static PyObject *dynamics(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords,
                          bool inverse) {
    static const char *const forward_names[] = {"t", "q", "v", "tau", "out"};
    static const char *const inverse_names[] = {"t", "q", "v", "vdot", "out"};
    const char *const *names = inverse ? inverse_names : forward_names;
    solver_object *self = (solver_object *)object;
    PyObject *given[5];
    double t;
    numbers q = {0}, v = {0}, other = {0}, out = {0};
    PyObject *result = NULL;
    if (!arguments(args, count, keywords, names, 5, 4, given) || !number_of(given[0], "t", &t)) return NULL;
    if (numbers_read(given[1], "q", self->nq, false, &q) &&
        numbers_read(given[2], "v", self->nv, false, &v) &&
        numbers_read(given[3], names[3], self->nv, !inverse, &other) &&
        numbers_write(given[4], "out", self->nv, 0, &out) &&
        numbers_apart(&out, self->nv, &q, self->nq, "q") &&
        numbers_apart(&out, self->nv, &v, self->nv, "v") &&
        numbers_apart(&out, self->nv, &other, self->nv, names[3]) && object_enter(&self->busy, "solver")) {
        lw_error error;
        error.message[0] = '\0';
        lw_status status;
        Py_BEGIN_ALLOW_THREADS status =
            inverse ? lw_solver_inverse_dynamics(self->solver, t, q.at, v.at, other.at, out.at, &error)
                    : lw_solver_accelerations(self->solver, t, q.at, v.at, other.at, out.at, &error);
        Py_END_ALLOW_THREADS self->busy = false;
        if (status == LW_OK || (all_finite("q", &q, self->nq) && all_finite("v", &v, self->nv) &&
                                all_finite(names[3], &other, self->nv)))
            result = numbers_result(&out, status, &error);
    }
    numbers_release(&q);
    numbers_release(&v);
    numbers_release(&other);
    numbers_release(&out);
    return result;
}

static PyObject *solver_accelerations(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                      PyObject *keywords) {
    return dynamics(self, args, count, keywords, false);
}

static PyObject *solver_inverse(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    return dynamics(self, args, count, keywords, true);
}

static PyObject *solver_reactions(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"out", NULL};
    solver_object *self = (solver_object *)object;
    PyObject *given = NULL;
    numbers out;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O", names, &given) ||
        !numbers_write(given, "out", self->joints, 6, &out))
        return NULL;
    if (!object_enter(&self->busy, "solver")) {
        numbers_release(&out);
        return NULL;
    }
    lw_error error = {0};
    const lw_status status = lw_solver_reactions(self->solver, out.at, NULL, &error);
    self->busy = false;
    return numbers_result(&out, status, &error);
}

static PyObject *flags(solver_object *self, Py_ssize_t rows, Py_ssize_t columns, bool forces) {
    bool *unique = calloc((size_t)(rows * (columns ? columns : 1)) + 1, sizeof *unique);
    if (!unique) return PyErr_NoMemory();
    if (!object_enter(&self->busy, "solver")) {
        free(unique);
        return NULL;
    }
    lw_error error = {0};
    const lw_status status = forces ? lw_solver_unique_forces(self->solver, unique, &error)
                                    : lw_solver_reactions(self->solver, NULL, unique, &error);
    self->busy = false;
    PyObject *result = status == LW_OK ? array_of_flags(unique, rows, columns) : raise_error(status, &error);
    free(unique);
    return result;
}

static PyObject *solver_unique(PyObject *self, PyObject *ignored) {
    (void)ignored;
    return flags((solver_object *)self, ((solver_object *)self)->joints, 6, false);
}

static PyObject *solver_unique_forces(PyObject *self, PyObject *ignored) {
    (void)ignored;
    return flags((solver_object *)self, ((solver_object *)self)->nv, 0, true);
}

static PyObject *solver_balance(PyObject *object, PyObject *ignored) {
    (void)ignored;
    solver_object *self = (solver_object *)object;
    if (!object_enter(&self->busy, "solver")) return NULL;
    lw_error error = {0};
    double amount = NAN;
    const lw_status status = lw_solver_balance(self->solver, &amount, &error);
    self->busy = false;
    return status == LW_OK ? PyFloat_FromDouble(amount) : raise_error(status, &error);
}

static PyObject *solver_mobility(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"t", "q", NULL};
    solver_object *self = (solver_object *)object;
    PyObject *q_object;
    double t;
    numbers q;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "dO", names, &t, &q_object) ||
        !numbers_read(q_object, "q", self->nq, false, &q))
        return NULL;
    int mobility = 0;
    lw_error error = {0};
    lw_status status = LW_ERROR_ARGUMENT;
    const bool entered = object_enter(&self->busy, "solver");
    if (entered) {
        Py_BEGIN_ALLOW_THREADS status = lw_solver_mobility(self->solver, t, q.at, &mobility, &error);
        Py_END_ALLOW_THREADS self->busy = false;
    }
    numbers_release(&q);
    if (!entered) return NULL;
    return status == LW_OK ? PyLong_FromLong(mobility) : raise_error(status, &error);
}

static PyObject *solver_tangent(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"t", "q", "out", NULL};
    solver_object *self = (solver_object *)object;
    PyObject *q_object, *out_object = NULL, *result = NULL;
    double t;
    numbers q, out;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "dO|$O", names, &t, &q_object, &out_object) ||
        !numbers_read(q_object, "q", self->nq, false, &q))
        return NULL;
    if (object_enter(&self->busy, "solver")) {
        int mobility = 0;
        lw_error error = {0};
        lw_status status = lw_solver_mobility(self->solver, t, q.at, &mobility, &error);
        if (status != LW_OK)
            raise_error(status, &error);
        else if (mobility == 0)
            result = PyObject_CallFunction(the_module.empty, "((ii))", self->nv, 0);
        else if (numbers_write(out_object, "out", self->nv, mobility, &out)) {
            const bool apart = numbers_apart(&out, (Py_ssize_t)self->nv * mobility, &q, self->nq, "q");
            if (apart) {
                Py_BEGIN_ALLOW_THREADS status =
                    lw_solver_tangent_basis(self->solver, t, q.at, mobility, out.at, NULL, &error);
                Py_END_ALLOW_THREADS result = numbers_result(&out, status, &error);
            } else
                numbers_release(&out);
        }
        self->busy = false;
    }
    numbers_release(&q);
    return result;
}

/* basis' M basis; without a basis the mass matrix of the tree's speeds. */
static PyObject *solver_mass(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"t", "q", "basis", "out", NULL};
    solver_object *self = (solver_object *)object;
    PyObject *q_object, *basis_object = NULL, *out_object = NULL, *result = NULL;
    double t;
    numbers q, basis = {0}, out;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "dO|O$O", names, &t, &q_object, &basis_object,
                                     &out_object) ||
        !numbers_read(q_object, "q", self->nq, false, &q))
        return NULL;
    Py_ssize_t columns = self->nv;
    double *unit = NULL;
    bool fine = true;
    if (basis_object && basis_object != Py_None) {
        /* The transpose in order F is the matrix in order C, so that a basis is read like states. */
        PyObject *transpose = PyObject_GetAttrString(basis_object, "T");
        fine = transpose && numbers_read_states(transpose, "basis (its transpose)", self->nv, &basis);
        Py_XDECREF(transpose);
        columns = fine ? basis.rows : 0;
    } else {
        unit = calloc((size_t)self->nv * (size_t)self->nv + 1, sizeof *unit);
        fine = unit;
        for (int k = 0; fine && k < self->nv; k++) unit[k * self->nv + k] = 1;
        if (!unit) PyErr_NoMemory();
    }
    if (fine && columns == 0) {
        PyErr_SetString(PyExc_ValueError, "basis has no columns");
        fine = false;
    }
    if (fine && numbers_write(out_object, "out", columns, columns, &out)) {
        lw_error error = {0};
        lw_status status;
        if (object_enter(&self->busy, "solver")) {
            Py_BEGIN_ALLOW_THREADS status = lw_solver_mass_matrix(self->solver, t, q.at, (int)columns,
                                                                  unit ? unit : basis.at, out.at, &error);
            Py_END_ALLOW_THREADS self->busy = false;
            result = numbers_result(&out, status, &error);
        } else
            numbers_release(&out);
    }
    free(unit);
    numbers_release(&q);
    numbers_release(&basis);
    return result;
}

static PyObject *solver_closures(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"t", "q", "v", "out", NULL};
    solver_object *self = (solver_object *)object;
    PyObject *q_object, *v_object = NULL, *places = NULL, *result = NULL;
    double t;
    numbers q, v = {0}, jacobian = {0}, bias = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "dO|O$O", names, &t, &q_object, &v_object, &places))
        return NULL;
    const bool given = places && places != Py_None;
    if (given && (!PyTuple_Check(places) || PyTuple_Size(places) != 2)) {
        PyErr_SetString(PyExc_TypeError, "out has to be a tuple of two arrays, (J, b); b may be None");
        return NULL;
    }
    if (!numbers_read(q_object, "q", self->nq, false, &q)) return NULL;
    const int rows = lw_solver_row_count(self->solver);
    const Py_ssize_t size = (Py_ssize_t)rows * self->nv;
    bool fine =
        numbers_read(v_object, "v", self->nv, true, &v) &&
        numbers_write(given ? PyTuple_GetItem(places, 0) : NULL, "out[0]", rows, self->nv, &jacobian) &&
        (!v.at || numbers_write(given ? PyTuple_GetItem(places, 1) : NULL, "out[1]", rows, 0, &bias)) &&
        numbers_apart(&jacobian, size, &q, self->nq, "q") &&
        numbers_apart(&jacobian, size, &v, self->nv, "v") &&
        (!v.at ||
         (numbers_apart(&bias, rows, &q, self->nq, "q") && numbers_apart(&bias, rows, &v, self->nv, "v") &&
          numbers_apart(&bias, rows, &jacobian, size, "out[0]")));
    if (fine && object_enter(&self->busy, "solver")) {
        lw_error error = {0};
        lw_status status = LW_OK;
        if (rows > 0) {
            Py_BEGIN_ALLOW_THREADS status = lw_solver_closure_jacobian(
                self->solver, t, q.at, v.at, jacobian.at, v.at ? bias.at : NULL, &error);
            Py_END_ALLOW_THREADS
        }
        self->busy = false;
        result = status == LW_OK ? PyTuple_Pack(2, jacobian.array, v.at ? bias.array : Py_None)
                                 : raise_error(status, &error);
    }
    numbers_release(&q);
    numbers_release(&v);
    numbers_release(&jacobian);
    numbers_release(&bias);
    return result;
}

static PyObject *solver_rows(PyObject *object, void *closure) {
    (void)closure;
    const lw_solver *solver = ((solver_object *)object)->solver;
    const int count = lw_solver_row_count(solver);
    PyObject *rows = PyTuple_New(count);
    for (int k = 0; rows && k < count; k++) {
        PyObject *name = PyUnicode_FromString(lw_solver_row_name(solver, k));
        if (!name || PyTuple_SetItem(rows, k, name) != 0) Py_CLEAR(rows);
    }
    return rows;
}

static PyObject *solver_method(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(lw_solver_method(((solver_object *)self)->solver));
}

static PyObject *solver_reason(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(lw_solver_method_reason(((solver_object *)self)->solver));
}

static PyObject *solver_model(PyObject *self, void *closure) {
    (void)closure;
    PyObject *model = (PyObject *)((solver_object *)self)->model;
    Py_INCREF((PyObject *)model);
    return model;
}

/* The numbers of the inputs that the next calls take. */
static PyObject *solver_set(PyObject *object, PyObject *given, bool states) {
    solver_object *self = (solver_object *)object;
    const int size =
        states ? lw_model_state_count(self->model->model) : lw_model_input_count(self->model->model);
    double *to = states ? self->states : self->inputs;
    numbers n;
    if (!to) {
        PyErr_Format(PyExc_RuntimeError,
                     "this solver was made with the defaults of the %s; give %s= when it is made",
                     states ? "states" : "inputs", states ? "states" : "inputs");
        return NULL;
    }
    if (!numbers_read(given, states ? "states" : "inputs", size, false, &n)) return NULL;
    if (object_enter(&self->busy, "solver")) {
        memcpy(to, n.at, (size_t)size * sizeof *to);
        self->busy = false;
    }
    numbers_release(&n);
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *solver_set_inputs(PyObject *self, PyObject *given) { return solver_set(self, given, false); }
static PyObject *solver_set_states(PyObject *self, PyObject *given) { return solver_set(self, given, true); }

static PyMethodDef solver_methods[] = {
    {"accelerations", (PyCFunction)(void (*)(void))solver_accelerations, METH_FASTCALL | METH_KEYWORDS,
     "accelerations($self, t, q, v, tau=None, *, out=None)\n--\n\n"
     "Accelerations vdot, (nv,), of a state under the model's forces and additional joint forces tau, (nv,), "
     "N or N m.\n"
     "Loops and constraints are included, and the answer has passed the balance check unless checked=False."},
    {"inverse_dynamics", (PyCFunction)(void (*)(void))solver_inverse, METH_FASTCALL | METH_KEYWORDS,
     "inverse_dynamics($self, t, q, v, vdot, *, out=None)\n--\n\n"
     "Joint forces tau, (nv,), that make the mechanism accelerate by vdot, loops included: of the driven "
     "joints, or of\n"
     "all joints of the tree. Where several do the same, the smallest ones (see unique_forces)."},
    {"reactions", (PyCFunction)(void (*)(void))solver_reactions, METH_VARARGS | METH_KEYWORDS,
     "reactions($self, *, out=None)\n--\n\n"
     "Of the last accelerations or inverse dynamics: force and torque of the first body on the second "
     "through each\n"
     "joint, (joints, 6), world axes, N and N m."},
    {"unique_reactions", solver_unique, METH_NOARGS,
     "unique_reactions($self)\n--\n\nWhether the model determines each component of the reactions, (joints, "
     "6)."},
    {"unique_forces", solver_unique_forces, METH_NOARGS,
     "unique_forces($self)\n--\n\nOf the last inverse dynamics: whether each force is the only one that does "
     "it, (nv,)."},
    {"balance", solver_balance, METH_NOARGS,
     "balance($self)\n--\n\nWhat the balance check found in the last answer, relative to what acts in the "
     "worst place."},
    {"mobility", (PyCFunction)(void (*)(void))solver_mobility, METH_VARARGS | METH_KEYWORDS,
     "mobility($self, t, q)\n--\n\nHow many speeds can be chosen at this position."},
    {"tangent_basis", (PyCFunction)(void (*)(void))solver_tangent, METH_VARARGS | METH_KEYWORDS,
     "tangent_basis($self, t, q, *, out=None)\n--\n\nA basis of the admissible speeds, (nv, mobility)."},
    {"mass_matrix", (PyCFunction)(void (*)(void))solver_mass, METH_VARARGS | METH_KEYWORDS,
     "mass_matrix($self, t, q, basis=None, *, out=None)\n--\n\n"
     "basis' M basis; without a basis the mass matrix of the speeds of the tree, (nv, nv)."},
    {"closure_jacobian", (PyCFunction)(void (*)(void))solver_closures, METH_VARARGS | METH_KEYWORDS,
     "closure_jacobian($self, t, q, v=None, *, out=None)\n--\n\n"
     "Rows of closures and constraints, (rows, nv), J v = 0, and with v the right side b, (rows,), of J vdot "
     "= b."},
    {"set_inputs", solver_set_inputs, METH_O,
     "set_inputs($self, values)\n--\n\nOther values of the inputs, for the calls that follow."},
    {"set_states", solver_set_states, METH_O,
     "set_states($self, values)\n--\n\nOther values of the user states, for the calls that follow."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef solver_getset[] = {
    {"method", solver_method, NULL, "The name of its method.", NULL},
    {"reason", solver_reason, NULL, "Why this method: a sentence.", NULL},
    {"rows", solver_rows, NULL, "Names of the rows of closure_jacobian.", NULL},
    {"model", solver_model, NULL, "Its model.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot solver_slots[] = {
    {Py_tp_new, solver_new},
    {Py_tp_dealloc, solver_dealloc},
    {Py_tp_methods, solver_methods},
    {Py_tp_getset, solver_getset},
    {Py_tp_doc,
     "Solver(model, method=None, *, inputs=None, states=None, checked=True, driven=None, penalty=0)\n--\n\n"
     "Accelerations, reactions and forces of single states: one method on one model for one thread."},
    {0, NULL}};
PyType_Spec solver_spec = {"linkwork._core.Solver", sizeof(solver_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, solver_slots};

/* --- many states --------------------------------------------------------------------------------- */

typedef struct batch_object {
    PyObject_HEAD model_object *model;
    lw_solver_batch *batch;
    double *inputs, *states;
    int nq, nv;
    bool busy;
} batch_object;

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"model", "method", "threads", "checked", "inputs", "states", NULL};
    PyObject *model_arg, *inputs = NULL, *states = NULL;
    const char *method = NULL;
    int threads = 0, checked = 0;
    model_object *model;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|z$ipOO", names, &model_arg, &method, &threads,
                                     &checked, &inputs, &states) ||
        !is_model(model_arg, &model))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    batch_object *self = (batch_object *)allocate(type, 0);
    if (!self) return NULL;
    lw_solver_options options;
    lw_solver_batch_defaults(model->model, &options);
    if (method) options.method = strcmp(method, "auto") == 0 ? NULL : method;
    options.unchecked = !checked;
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
        lw_solver_batch_create(model->model, &options, threads, NULL, &self->batch, &error);
    Py_END_ALLOW_THREADS if (status != LW_OK) {
        Py_DECREF(self);
        return raise_error(status, &error);
    }
    self->model = model;
    Py_INCREF((PyObject *)model);
    return (PyObject *)self;
}

static void batch_dealloc(PyObject *object) {
    batch_object *self = (batch_object *)object;
    lw_solver_batch_destroy(self->batch);
    free(self->inputs);
    free(self->states);
    Py_XDECREF((PyObject *)self->model);
    object_free(object);
}

static PyObject *batch_accelerations(PyObject *object, PyObject *const *args, Py_ssize_t count,
                                     PyObject *keywords) {
    static const char *const names[] = {"t", "q", "v", "tau", "out"};
    batch_object *self = (batch_object *)object;
    PyObject *given[5], *result = NULL;
    double t;
    numbers q = {0}, v = {0}, tau = {0}, out = {0};
    if (!arguments(args, count, keywords, names, 5, 4, given) || !number_of(given[0], "t", &t)) return NULL;
    bool fine = numbers_read_states(given[1], "q", self->nq, &q) &&
                numbers_read_states(given[2], "v", self->nv, &v) &&
                (!given[3] || given[3] == Py_None || numbers_read_states(given[3], "tau", self->nv, &tau));
    if (fine && (v.rows != q.rows || (tau.at && tau.rows != q.rows))) {
        PyErr_Format(PyExc_ValueError, "q has %zd states, v %zd, tau %zd; give as many of each", q.rows,
                     v.rows, tau.at ? tau.rows : q.rows);
        fine = false;
    }
    if (fine && q.rows > 2147483647) {
        PyErr_SetString(PyExc_ValueError, "more than 2^31 - 1 states; give them in several calls");
        fine = false;
    }
    const Py_ssize_t size = q.rows * self->nv;
    if (fine && numbers_write_states(given[4], "out", q.rows, self->nv, &out) &&
        numbers_apart(&out, size, &q, q.rows * self->nq, "q") && numbers_apart(&out, size, &v, size, "v") &&
        numbers_apart(&out, size, &tau, size, "tau") && object_enter(&self->busy, "batch")) {
        lw_error error = {0};
        lw_status status = LW_OK;
        Py_BEGIN_ALLOW_THREADS if (q.rows > 0) status =
            lw_solver_batch_accelerations(self->batch, (int)q.rows, t, q.at, v.at, tau.at, out.at, &error);
        Py_END_ALLOW_THREADS self->busy = false;
        /* States without accelerations have NaN; the others are right, so that this is no exception. */
        if (status == LW_ERROR_SINGULAR) status = LW_OK;
        result = numbers_result(&out, status, &error);
    }
    numbers_release(&q);
    numbers_release(&v);
    numbers_release(&tau);
    numbers_release(&out);
    return result;
}

static PyObject *batch_number(PyObject *self, void *which) {
    const lw_solver_batch *batch = ((batch_object *)self)->batch;
    return PyLong_FromLong(which ? lw_solver_batch_threads(batch) : lw_solver_batch_lanes(batch));
}

static PyObject *batch_method(PyObject *self, void *closure) {
    (void)closure;
    return PyUnicode_FromString(lw_solver_batch_method(((batch_object *)self)->batch));
}

static PyObject *batch_model(PyObject *object, void *closure) {
    (void)closure;
    PyObject *model = (PyObject *)((batch_object *)object)->model;
    Py_INCREF(model);
    return model;
}

static PyMethodDef batch_methods[] = {
    {"accelerations", (PyCFunction)(void (*)(void))batch_accelerations, METH_FASTCALL | METH_KEYWORDS,
     "accelerations($self, t, q, v, tau=None, *, out=None)\n--\n\n"
     "Accelerations, (N, nv), of N states q, (N, nq), v and tau, (N, nv). Arrays in Fortran order are used "
     "as they are,\n"
     "others are copied; the result is in Fortran order. A state that has no accelerations has NaN."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef batch_getset[] = {
    {"method", batch_method, NULL, "The name of its method.", NULL},
    {"lanes", batch_number, NULL, "States that are solved side by side.", NULL},
    {"threads", batch_number, NULL, "Threads that work.", (void *)1},
    {"model", batch_model, NULL, "Its model.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot batch_slots[] = {
    {Py_tp_new, batch_new},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, batch_methods},
    {Py_tp_getset, batch_getset},
    {Py_tp_doc, "Batch(model, method=None, *, threads=0, checked=False, inputs=None, states=None)\n--\n\n"
                "Accelerations of many states in one call, on vectors of the processor and on threads."},
    {0, NULL}};
PyType_Spec batch_spec = {"linkwork._core.Batch", sizeof(batch_object), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, batch_slots};
