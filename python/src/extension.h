/* extension.h - what the types of the extension module linkwork._core share: numbers in and out of numpy
 * arrays, errors of the library as exceptions, the model behind every object.
 *
 * Everything is written in CPython's limited interface of 3.11, so that one file serves all later versions.
 * numpy is reached by a few of its functions and by the buffer protocol, or where the head of its arrays is
 * what it has always been (tried on import), directly. The module therefore does not depend on numpy's
 * version.
 */
#ifndef LINKWORK_EXTENSION_H
#define LINKWORK_EXTENSION_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>

#include <linkwork/linkwork.h>

#include <stdbool.h>

/* What the module keeps: numpy's functions, exceptions, its types. */
typedef struct extension {
    PyObject *empty, *asarray, *ascontiguousarray, *asfortranarray, *float64, *boolean;
    PyObject *plain_type,
        *plain_double; /* numpy's array, NULL if it is not known inside; the type of its doubles */
    PyObject *fault;   /* the type of faults, lw.Fault */
    PyObject *error, *model_error, *file_error, *unsupported_error, *singular_error, *integration_error;
    PyObject *model_type;
} extension;
extern extension the_module;

typedef struct model_object {
    PyObject_HEAD lw_spec *spec;
    lw_model *model;
    lw_data *data;              /* for kinematics, under the interpreter's lock */
    PyObject *warnings, *notes; /* of reading; what an import has left out */
} model_object;

/* --- numbers ------------------------------------------------------------------------------------- */

/* An array of doubles that is read or written: a view of the caller's memory wherever its layout allows that,
 * else of a copy. */
typedef struct numbers {
    Py_buffer view;
    bool held;
    PyObject *array; /* a copy, or the array that is returned; NULL: the caller's own */
    double *at;      /* NULL: none was given */
    Py_ssize_t rows; /* of a matrix of states */
} numbers;

/* A vector of this size to read; with `optional`, None leaves it away. */
bool numbers_read(PyObject *object, const char *name, Py_ssize_t size, bool optional, numbers *out);
/* A vector or matrix to write, of these sizes (columns 0: a vector): the given one, which has to be writable,
 * contiguous and of doubles, or a new one for NULL and None. `array` is then what the call returns. */
bool numbers_write(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t columns, numbers *out);
/* Many states: a matrix of N rows of this size, in memory with one coordinate behind another
 * (numpy's order F). */
bool numbers_read_states(PyObject *object, const char *name, Py_ssize_t size, numbers *out);
bool numbers_write_states(PyObject *object, const char *name, Py_ssize_t rows, Py_ssize_t size, numbers *out);
/* An array that is written must not be one that is read. */
bool numbers_apart(const numbers *written, Py_ssize_t size, const numbers *read, Py_ssize_t read_size,
                   const char *name);
void numbers_release(numbers *n);
/* The array that a call returns: a new reference, or NULL with an exception if the status says so. */
PyObject *numbers_result(numbers *n, lw_status status, const lw_error *error);
/* A copy of numbers that are given, or NULL; false with an exception. */
bool numbers_copy(PyObject *object, const char *name, int size, double **copy);
/* An array with these numbers: the given one, as in numbers_write, or a new one. */
PyObject *array_into(PyObject *given, const char *name, const double *values, Py_ssize_t rows,
                     Py_ssize_t columns);
/* A new array with a copy of these numbers. */
PyObject *array_of(const double *values, Py_ssize_t rows, Py_ssize_t columns);
PyObject *array_of_flags(const bool *values, Py_ssize_t rows, Py_ssize_t columns);

/* --- errors -------------------------------------------------------------------------------------- */

/* Sets the exception of a status and returns NULL. */
PyObject *raise_error(lw_status status, const lw_error *error);
PyObject *raise_report(lw_status status, const lw_report *report);
/* A list of the faults of a report with this severity, as tuples. */
PyObject *faults_of(const lw_report *report, bool warnings);

/* --- options of a run ---------------------------------------------------------------------------- */

/* Options of a run with what they point to, and what the call-backs need. */
typedef struct run_context {
    lw_run_options options;
    PyObject *kept; /* a list of what the options point to */
    numbers q, v, states, inputs;
    PyObject *force; /* a callable, or NULL */
    PyObject *force_q, *force_v;
    double *force_q_at, *force_v_at;
    Py_ssize_t nq, nv;
    PyObject *type, *value, *trace; /* an exception raised within a call-back */
    bool failed;
    long long next_look; /* when signals are looked at again */
} run_context;

/* From a dictionary whose keys are the names of lw_run_options. */
bool run_context_fill(run_context *context, const model_object *model, PyObject *options);
void run_context_release(run_context *context);
/* After the library has come back: raises what a call-back has raised, or the error of the status. */
PyObject *run_context_raise(run_context *context, lw_status status, const lw_error *error);
PyObject *summary_of(const lw_run_summary *summary);
PyObject *ledger_of(const lw_ledger *ledger);

/* --- types --------------------------------------------------------------------------------------- */

bool is_model(PyObject *object, model_object **model);
extern PyType_Spec model_spec, solver_spec, batch_spec, simulation_spec, recording_spec, rollout_spec,
    derivatives_spec;
extern PyMethodDef model_functions[], analysis_functions[], sweep_functions[];

/* Marks an object as being at work; if it is already, an exception says that `what` belongs to one thread. */
bool object_enter(bool *busy, const char *what);
/* Frees the memory of an object of one of our types and drops its reference to the type. */
void object_free(PyObject *self);

#endif
