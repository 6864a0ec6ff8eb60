/* extension.c - the module linkwork._core: numpy's functions, exceptions, types. */
#include "extension.h"

#include <string.h>

extension the_module;

void object_free(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* --- numbers ------------------------------------------------------------------------------------- */

/* The head of numpy's array as its C interface lays it out, the same in numpy 1 and 2. A request by the
 * buffer protocol takes some 150 ns, most of it for a text that names the type, and a call has four arrays;
 * so plain arrays of doubles are looked at directly. Whether the head is what it is taken for is tried on
 * import, on arrays of which everything is known; otherwise, and for all other objects, the protocol
 * serves. */
typedef struct plain_array {
    PyObject_HEAD char *data;
    int dimensions;
    Py_ssize_t *shape, *strides;
    PyObject *base, *type;
    int flags;
} plain_array;

enum { IN_ROWS = 0x1, IN_COLUMNS = 0x2, ALIGNED = 0x100, WRITABLE = 0x400 };

static const plain_array *plain(PyObject *object, int flags) {
    if ((PyObject *)Py_TYPE(object) != the_module.plain_type) return NULL;
    const plain_array *array = (const plain_array *)object;
    flags |= ALIGNED;
    return array->type == the_module.plain_double && (array->flags & flags) == flags ? array : NULL;
}

/* A view of a plain array, which is kept alive. */
static bool take_plain(PyObject *object, int flags, numbers *out) {
    const plain_array *array = plain(object, flags);
    if (!array) return false;
    Py_INCREF(object);
    Py_XDECREF(out->array);
    out->array = object;
    out->view.buf = array->data;
    out->view.ndim = array->dimensions;
    out->view.shape = array->shape;
    return true;
}

/* Is the head of this array, of 2 x 3 doubles, what it is taken for? */
static bool head_is_known(PyObject *array, bool in_rows) {
    const plain_array *a = (const plain_array *)array;
    PyObject *address = PyObject_GetAttrString(array, "ctypes");
    PyObject *data = address ? PyObject_GetAttrString(address, "data") : NULL;
    const bool known =
        data && PyLong_AsVoidPtr(data) == a->data && a->dimensions == 2 &&
        a->type == the_module.plain_double && (a->flags & (ALIGNED | WRITABLE)) == (ALIGNED | WRITABLE) &&
        (a->flags & (IN_ROWS | IN_COLUMNS)) == (in_rows ? IN_ROWS : IN_COLUMNS) && a->shape[0] == 2 &&
        a->shape[1] == 3 && a->strides[0] == (in_rows ? 24 : 8) && a->strides[1] == (in_rows ? 8 : 16);
    Py_XDECREF(data);
    Py_XDECREF(address);
    return known;
}

static void try_heads(PyObject *numpy) {
    PyObject *type = PyObject_CallMethod(numpy, "dtype", "s", "float64");
    PyObject *rows = PyObject_CallMethod(numpy, "empty", "((ii))", 2, 3);
    PyObject *columns = rows ? PyObject_CallFunctionObjArgs(the_module.asfortranarray, rows, NULL) : NULL;
    the_module.plain_double = type;
    if (type && rows && columns && head_is_known(rows, true) && head_is_known(columns, false))
        the_module.plain_type = PyObject_GetAttrString(numpy, "ndarray");
    PyErr_Clear();
    Py_XDECREF(rows);
    Py_XDECREF(columns);
}

static bool is_double(const Py_buffer *view) {
    return view->itemsize == sizeof(double) && view->format && strcmp(view->format, "d") == 0;
}

static bool wrong_shape(const char *name, const Py_buffer *view, Py_ssize_t rows, Py_ssize_t columns) {
    char has[96] = "", wants[64];
    size_t used = 0;
    for (int k = 0; k < view->ndim && used < sizeof has - 24; k++)
        used += (size_t)snprintf(has + used, sizeof has - used, "%s%lld", k ? ", " : "",
                                 (long long)view->shape[k]);
    if (view->ndim == 1) snprintf(has + used, sizeof has - used, ",");
    if (columns < 0)
        snprintf(wants, sizeof wants, "%lld,", (long long)rows);
    else if (rows < 0)
        snprintf(wants, sizeof wants, "N, %lld", (long long)columns);
    else
        snprintf(wants, sizeof wants, "%lld, %lld", (long long)rows, (long long)columns);
    PyErr_Format(PyExc_ValueError, "%s has the shape (%s), expected (%s)", name, has, wants);
    return false;
}

/* A copy as doubles, by numpy's function for a layout: of real numbers, not of texts and complex numbers,
 * which numpy would take for numbers, too. */
static PyObject *converted(PyObject *object, const char *name, PyObject *to_layout) {
    PyObject *array = PyObject_CallFunctionObjArgs(the_module.asarray, object, NULL);
    PyObject *type = array ? PyObject_GetAttrString(array, "dtype") : NULL;
    PyObject *kind = type ? PyObject_GetAttrString(type, "kind") : NULL, *copy = NULL;
    const char *letter = kind ? PyUnicode_AsUTF8AndSize(kind, NULL) : NULL;
    if (letter && !strchr("fiubO", letter[0]))
        PyErr_Format(PyExc_TypeError, "%s has elements of type %S, expected real numbers (float64)", name,
                     type);
    else if (letter)
        copy = PyObject_CallFunctionObjArgs(to_layout, array, the_module.float64, NULL);
    Py_XDECREF(kind);
    Py_XDECREF(type);
    Py_XDECREF(array);
    return copy;
}

bool numbers_read(PyObject *object, const char *name, Py_ssize_t size, bool optional, numbers *out) {
    memset(out, 0, sizeof *out);
    if (!object || object == Py_None) {
        if (optional) return true;
        PyErr_Format(PyExc_TypeError, "%s is missing; give an array of %zd numbers", name, size);
        return false;
    }
    const int flags = PyBUF_ND | PyBUF_FORMAT | PyBUF_C_CONTIGUOUS;
    const bool as_it_is = take_plain(object, IN_ROWS, out);
    if (!as_it_is) out->held = PyObject_GetBuffer(object, &out->view, flags) == 0;
    if (!as_it_is &&
        (!out->held || !is_double(&out->view))) { /* Another type, another layout, a list: a copy serves. */
        PyErr_Clear();
        if (out->held) PyBuffer_Release(&out->view);
        out->held = false;
        out->array = converted(object, name, the_module.ascontiguousarray);
        if (!out->array) return false;
        out->held = PyObject_GetBuffer(out->array, &out->view, flags) == 0;
        if (!out->held) {
            numbers_release(out);
            return false;
        }
    }
    if (out->view.ndim != 1 || out->view.shape[0] != size) {
        wrong_shape(name, &out->view, size, -1);
        numbers_release(out);
        return false;
    }
    out->at = out->view.buf;
    return true;
}

static bool write_to(PyObject *object, const char *name, int flags, const char *layout, numbers *out) {
    if (take_plain(object, WRITABLE | (flags == PyBUF_C_CONTIGUOUS ? IN_ROWS : IN_COLUMNS), out)) return true;
    out->held = PyObject_GetBuffer(object, &out->view, PyBUF_ND | PyBUF_FORMAT | PyBUF_WRITABLE | flags) == 0;
    if (out->held && is_double(&out->view)) return true;
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError, "%s has to be a writable, %s contiguous array of float64", name, layout);
    numbers_release(out);
    return false;
}

bool numbers_write(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, numbers *out) {
    memset(out, 0, sizeof *out);
    if (!object || object == Py_None) {
        out->array = columns > 0 || rows == 0
                         ? PyObject_CallFunction(the_module.empty, "((nn))", rows, columns)
                         : PyObject_CallFunction(the_module.empty, "n", rows);
        if (columns == 0 && rows == 0) {
            Py_XDECREF(out->array);
            out->array = PyObject_CallFunction(the_module.empty, "n", rows);
        }
        if (!out->array) return false;
        object = out->array;
    } else {
        out->array = object;
        Py_INCREF(object);
    }
    if (!write_to(object, name, PyBUF_C_CONTIGUOUS, "C", out)) return false;
    const bool fits = columns > 0
                          ? out->view.ndim == 2 && out->view.shape[0] == rows && out->view.shape[1] == columns
                          : out->view.ndim == 1 && out->view.shape[0] == rows;
    if (!fits) {
        wrong_shape(name, &out->view, rows, columns > 0 ? columns : -1);
        numbers_release(out);
        return false;
    }
    out->at = out->view.buf;
    return true;
}

bool numbers_read_states(PyObject *object, const char *name, Py_ssize_t size, numbers *out) {
    memset(out, 0, sizeof *out);
    if (!object || object == Py_None) {
        PyErr_Format(PyExc_TypeError, "%s is missing; give an array of N times %zd numbers", name, size);
        return false;
    }
    const int flags = PyBUF_ND | PyBUF_FORMAT | PyBUF_F_CONTIGUOUS;
    const bool as_it_is = take_plain(object, IN_COLUMNS, out);
    if (!as_it_is) out->held = PyObject_GetBuffer(object, &out->view, flags) == 0;
    if (!as_it_is && (!out->held || !is_double(&out->view))) {
        PyErr_Clear();
        if (out->held) PyBuffer_Release(&out->view);
        out->held = false;
        out->array = converted(object, name, the_module.asfortranarray);
        if (!out->array) return false;
        out->held = PyObject_GetBuffer(out->array, &out->view, flags) == 0;
        if (!out->held) {
            numbers_release(out);
            return false;
        }
    }
    if (out->view.ndim != 2 || out->view.shape[1] != size) {
        wrong_shape(name, &out->view, -1, size);
        numbers_release(out);
        return false;
    }
    out->at = out->view.buf;
    out->rows = out->view.shape[0];
    return true;
}

bool numbers_write_states(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t size,
                          numbers *out) {
    memset(out, 0, sizeof *out);
    if (!object || object == Py_None) {
        out->array = PyObject_CallFunction(the_module.empty, "(nn)Os", rows, size, the_module.float64, "F");
        if (!out->array) return false;
    } else {
        out->array = object;
        Py_INCREF(object);
    }
    if (!write_to(out->array, name, PyBUF_F_CONTIGUOUS, "Fortran", out)) return false;
    if (out->view.ndim != 2 || out->view.shape[0] != rows || out->view.shape[1] != size) {
        wrong_shape(name, &out->view, rows, size);
        numbers_release(out);
        return false;
    }
    out->at = out->view.buf;
    out->rows = rows;
    return true;
}

bool numbers_apart(const numbers *written, Py_ssize_t size, const numbers *read, Py_ssize_t read_size,
                   const char *name) {
    if (!read->at || written->at + size <= read->at || read->at + read_size <= written->at) return true;
    PyErr_Format(PyExc_ValueError, "out shares memory with %s; give it memory of its own", name);
    return false;
}

void numbers_release(numbers *n) {
    if (n->held) PyBuffer_Release(&n->view);
    Py_CLEAR(n->array);
    n->held = false;
    n->at = NULL;
}

PyObject *numbers_result(numbers *n, lw_status status, const lw_error *error) {
    PyObject *result = n->array;
    Py_XINCREF(result);
    numbers_release(n);
    if (status == LW_OK) return result;
    Py_XDECREF(result);
    return raise_error(status, error);
}

PyObject *array_into(PyObject *given, const char *name, const double *values, Py_ssize_t rows,
                     Py_ssize_t columns) {
    numbers n;
    if (!numbers_write(given, name, rows, columns, &n)) return NULL;
    const size_t count = (size_t)rows * (size_t)(columns > 0 ? columns : 1);
    if (count > 0) memcpy(n.at, values, count * sizeof *values);
    return numbers_result(&n, LW_OK, NULL);
}

PyObject *array_of(const double *values, Py_ssize_t rows, Py_ssize_t columns) {
    return array_into(NULL, "out", values, rows, columns);
}

PyObject *array_of_flags(const bool *values, Py_ssize_t rows, Py_ssize_t columns) {
    PyObject *array =
        columns > 0 ? PyObject_CallFunction(the_module.empty, "(nn)O", rows, columns, the_module.boolean)
                    : PyObject_CallFunction(the_module.empty, "nO", rows, the_module.boolean);
    Py_buffer view;
    if (!array || PyObject_GetBuffer(array, &view, PyBUF_SIMPLE | PyBUF_WRITABLE) != 0) {
        Py_XDECREF(array);
        return NULL;
    }
    unsigned char *flags = view.buf;
    for (Py_ssize_t k = 0; k < view.len; k++) flags[k] = values[k];
    PyBuffer_Release(&view);
    return array;
}

/* --- errors -------------------------------------------------------------------------------------- */

static PyObject *text_of(const char *text) {
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *fault_of(const lw_error *e) {
    PyObject *file = text_of(e->file), *object = text_of(e->object), *message = text_of(e->message),
             *remedy = text_of(e->remedy), *fault = NULL;
    if (file && object && message && remedy)
        fault = Py_BuildValue("(OiiOOO)", file, e->place.line, e->place.column, object, message, remedy);
    Py_XDECREF(file);
    Py_XDECREF(object);
    Py_XDECREF(message);
    Py_XDECREF(remedy);
    if (!fault || !the_module.fault) return fault;
    PyObject *named = PyObject_CallObject(the_module.fault, fault);
    Py_DECREF(fault);
    return named;
}

static PyObject *use_fault(PyObject *module, PyObject *type) {
    (void)module;
    PyObject *before = the_module.fault;
    Py_INCREF(type);
    the_module.fault = type;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyMethodDef error_functions[] = {
    {"use_fault", use_fault, METH_O,
     "The type of faults: called with file, line, column, object, message, remedy."},
    {NULL, NULL, 0, NULL}};

PyObject *faults_of(const lw_report *report, bool warnings) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < lw_report_size(report); k++) {
        const lw_error *e = lw_report_get(report, k);
        if ((e->severity == LW_SEVERITY_WARNING) != warnings) continue;
        PyObject *fault = fault_of(e);
        if (!fault || PyList_Append(list, fault) != 0) Py_CLEAR(list);
        Py_XDECREF(fault);
    }
    return list;
}

static PyObject *class_of(lw_status status) {
    switch (status) {
    case LW_ERROR_MEMORY:
        return PyExc_MemoryError;
    case LW_ERROR_ARGUMENT:
        return PyExc_ValueError;
    case LW_ERROR_FILE:
        return the_module.file_error;
    case LW_ERROR_MODEL:
        return the_module.model_error;
    case LW_ERROR_UNSUPPORTED:
        return the_module.unsupported_error;
    case LW_ERROR_SINGULAR:
        return the_module.singular_error;
    case LW_ERROR_INTEGRATION:
        return the_module.integration_error;
    default:
        return the_module.error;
    }
}

/* Raises with a text and the faults, a list whose reference is taken. */
static PyObject *raise_with(PyObject *class, const char *text, PyObject *faults) {
    PyObject *message = text_of(text);
    PyObject *exception = message ? PyObject_CallFunctionObjArgs(class, message, NULL) : NULL;
    if (exception && faults && PyObject_SetAttrString(exception, "faults", faults) == 0)
        PyErr_SetObject(class, exception);
    Py_XDECREF(message);
    Py_XDECREF(exception);
    Py_XDECREF(faults);
    return NULL;
}

PyObject *raise_error(lw_status status, const lw_error *error) {
    char text[1400];
    if (status == LW_ERROR_MEMORY) return PyErr_NoMemory();
    if (!error || !error->message[0]) {
        PyErr_SetString(class_of(status), lw_status_text(status));
        return NULL;
    }
    lw_error_format(error, text, sizeof text);
    PyObject *fault = fault_of(error), *faults = PyList_New(0);
    if (!fault || !faults || PyList_Append(faults, fault) != 0) Py_CLEAR(faults);
    Py_XDECREF(fault);
    return faults ? raise_with(class_of(status), text, faults) : NULL;
}

PyObject *raise_report(lw_status status, const lw_report *report) {
    PyObject *faults = faults_of(report, false), *lines = PyList_New(0), *joined = NULL;
    if (faults && lines && status != LW_ERROR_MEMORY) {
        char text[1400];
        for (size_t k = 0; k < lw_report_size(report); k++) {
            const lw_error *e = lw_report_get(report, k);
            if (e->severity == LW_SEVERITY_WARNING) continue;
            lw_error_format(e, text, sizeof text);
            PyObject *line = text_of(text);
            if (line) PyList_Append(lines, line);
            Py_XDECREF(line);
        }
        PyObject *between = PyUnicode_FromString("\n");
        joined = between ? PyUnicode_Join(between, lines) : NULL;
        Py_XDECREF(between);
    }
    Py_XDECREF(lines);
    if (status == LW_ERROR_MEMORY || !joined) {
        Py_XDECREF(faults);
        Py_XDECREF(joined);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    const char *text = PyUnicode_AsUTF8AndSize(joined, NULL);
    raise_with(class_of(status), text && text[0] ? text : lw_status_text(status), faults);
    Py_DECREF(joined);
    return NULL;
}

/* --- the module ---------------------------------------------------------------------------------- */

static bool take_numpy(void) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy) return false;
    the_module.empty = PyObject_GetAttrString(numpy, "empty");
    the_module.asarray = PyObject_GetAttrString(numpy, "asarray");
    the_module.ascontiguousarray = PyObject_GetAttrString(numpy, "ascontiguousarray");
    the_module.asfortranarray = PyObject_GetAttrString(numpy, "asfortranarray");
    the_module.float64 = PyObject_GetAttrString(numpy, "float64");
    the_module.boolean = PyObject_GetAttrString(numpy, "bool_");
    if (the_module.asfortranarray) try_heads(numpy);
    Py_DECREF(numpy);
    return the_module.empty && the_module.asarray && the_module.ascontiguousarray &&
           the_module.asfortranarray && the_module.float64 && the_module.boolean;
}

static PyObject *exception(PyObject *module, const char *full, const char *doc, PyObject *base) {
    PyObject *class = PyErr_NewExceptionWithDoc(full, doc, base, NULL);
    if (class && PyModule_AddObjectRef(module, strrchr(full, '.') + 1, class) != 0) Py_CLEAR(class);
    return class;
}

static bool add_exceptions(PyObject *module) {
    the_module.error = exception(module, "linkwork.LinkworkError",
                                 "What Linkwork could not do; `faults` has the parts.", NULL);
    if (!the_module.error) return false;
    PyObject *bases = PyTuple_Pack(2, the_module.error, PyExc_ValueError);
    the_module.model_error = bases ? exception(module, "linkwork.ModelError",
                                               "The model is wrong: `faults` lists every fault with its "
                                               "place, object, message and remedy.",
                                               bases)
                                   : NULL;
    Py_XDECREF(bases);
    bases = PyTuple_Pack(2, the_module.error, PyExc_OSError);
    the_module.file_error =
        bases ? exception(module, "linkwork.FileError", "A file could not be opened, read or written.", bases)
              : NULL;
    Py_XDECREF(bases);
    the_module.unsupported_error =
        exception(module, "linkwork.UnsupportedError",
                  "The model is right, but the chosen method cannot do it.", the_module.error);
    the_module.singular_error = exception(module, "linkwork.SingularError",
                                          "The motion is not determined in this state.", the_module.error);
    the_module.integration_error =
        exception(module, "linkwork.IntegrationError", "The integrator gave up.", the_module.error);
    return the_module.model_error && the_module.file_error && the_module.unsupported_error &&
           the_module.singular_error && the_module.integration_error;
}

static bool add_type(PyObject *module, PyType_Spec *spec, const char *name, PyObject **kept) {
    PyObject *type = PyType_FromSpec(spec);
    if (!type) return false;
    const bool added = PyModule_AddObjectRef(module, name, type) == 0;
    if (kept && added) {
        *kept = type;
        Py_INCREF(type);
    }
    Py_DECREF(type);
    return added;
}

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                        "linkwork._core",
                                        "Models, solvers and simulations of liblinkwork.",
                                        -1,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL};

PyMODINIT_FUNC PyInit__core(void); /* the interpreter finds it by its name */
PyMODINIT_FUNC PyInit__core(void) {
    if (!take_numpy()) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (add_exceptions(module) && PyModule_AddFunctions(module, model_functions) == 0 &&
        PyModule_AddFunctions(module, analysis_functions) == 0 &&
        PyModule_AddFunctions(module, sweep_functions) == 0 &&
        PyModule_AddFunctions(module, error_functions) == 0 &&
        PyModule_AddStringConstant(module, "version", lw_version()) == 0 &&
        add_type(module, &model_spec, "Model", &the_module.model_type) &&
        add_type(module, &solver_spec, "Solver", NULL) && add_type(module, &batch_spec, "Batch", NULL) &&
        add_type(module, &simulation_spec, "Simulation", NULL) &&
        add_type(module, &recording_spec, "Recording", NULL) &&
        add_type(module, &rollout_spec, "Rollout", NULL) &&
        add_type(module, &derivatives_spec, "Derivatives", NULL))
        return module;
    Py_DECREF(module);
    return NULL;
}
