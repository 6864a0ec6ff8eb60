/* ext_model.c - the type Model: a compiled mechanism, read from a file, a text or bytes.
 *
 * A model is constant. Kinematics (poses, velocities, energies) use one workspace of the model under the
 * interpreter's lock: they take microseconds, so that releasing it would cost more than it gives.
 */
#include "extension.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_model(PyObject *object, model_object **model) {
    const int is = PyObject_IsInstance(object, the_module.model_type);
    if (is == 1) {
        *model = (model_object *)object;
        return true;
    }
    if (is == 0) PyErr_SetString(PyExc_TypeError, "expected a linkwork.Model");
    return false;
}

/* --- creation ------------------------------------------------------------------------------------ */

typedef struct settings_list {
    lw_setting *items;
    Py_ssize_t count;
    PyObject *sequence;
} settings_list;

static bool settings_of(PyObject *object, settings_list *list) {
    memset(list, 0, sizeof *list);
    if (!object || object == Py_None) return true;
    list->sequence = PySequence_List(object);
    if (!list->sequence) return false;
    list->count = PyList_Size(list->sequence);
    list->items = calloc((size_t)list->count + 1, sizeof *list->items);
    if (!list->items) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t k = 0; k < list->count; k++)
        if (!PyArg_ParseTuple(PyList_GetItem(list->sequence, k), "ss;settings are pairs of a name and a text",
                              &list->items[k].name, &list->items[k].value))
            return false;
    return true;
}

static void settings_free(settings_list *list) {
    free(list->items);
    Py_XDECREF(list->sequence);
}

/* Another format: URDF, SDF, MJCF. */
static bool is_foreign(lw_import_format format) {
    return format != LW_FORMAT_UNKNOWN && format != LW_FORMAT_MODEL;
}

/* Options of an import with what they point to. */
typedef struct import_list {
    lw_import_options options;
    const char **folders;
    PyObject *sequence;
} import_list;

/* (free base, keep fixed, loops by joints, key, folders) */
static bool import_of(PyObject *given, import_list *list) {
    memset(list, 0, sizeof *list);
    lw_import_defaults(&list->options);
    if (!given || given == Py_None) return true;
    int free_base, keep_fixed, joints;
    PyObject *folders;
    if (!PyArg_ParseTuple(given, "pppzO;an import has (base, keep_fixed, loops, key, folders)", &free_base,
                          &keep_fixed, &joints, &list->options.key, &folders))
        return false;
    list->options.base = free_base ? LW_BASE_FREE : LW_BASE_FIXED;
    list->options.keep_fixed = keep_fixed;
    list->options.loops = joints ? LW_LOOPS_JOINTS : LW_LOOPS_AS_WRITTEN;
    list->sequence = PySequence_List(folders);
    if (!list->sequence) return false;
    list->options.folder_count = (size_t)PyList_Size(list->sequence);
    list->folders = calloc(list->options.folder_count + 1, sizeof *list->folders);
    if (!list->folders) {
        PyErr_NoMemory();
        return false;
    }
    list->options.folders = list->folders;
    for (size_t k = 0; k < list->options.folder_count; k++) {
        list->folders[k] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list->sequence, (Py_ssize_t)k), NULL);
        if (!list->folders[k]) return false;
    }
    return true;
}

static void import_free(import_list *list) {
    free(list->folders);
    Py_XDECREF(list->sequence);
}

/* What an import has left out, as tuples. */
static PyObject *notes_of(const lw_import_notes *notes) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list && k < lw_import_notes_size(notes); k++) {
        const lw_import_note *note = lw_import_notes_get(notes, k);
        PyObject *row = Py_BuildValue("(ssiii)", note->kind, note->meaning, note->count, note->place.line,
                                      note->place.column);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static lw_status read_spec(const char *path, const char *text, Py_ssize_t text_size, const char *bytes,
                           Py_ssize_t byte_count, const char *name, const settings_list *settings,
                           int any_path, const lw_import_options *import, lw_report *report, lw_spec **spec) {
    lw_error error = {0};
    const size_t count = (size_t)settings->count;
    const lw_import_format format = path   ? lw_import_format_of(path)
                                    : text ? lw_import_format_of_text(text, (size_t)text_size)
                                           : LW_FORMAT_MODEL;
    if (is_foreign(format)) {
        lw_import_options options = *import;
        options.any_path = any_path;
        lw_status status = path ? lw_import(path, &options, report, spec)
                                : lw_import_text(text, (size_t)text_size, name, &options, report, spec);
        for (size_t k = 0; k < count && status == LW_OK; k++) {
            double value;
            status = lw_read_number(settings->items[k].value, NULL, &value, &error);
            if (status == LW_OK)
                status = lw_spec_set_parameter(*spec, settings->items[k].name, value, &error);
            if (status != LW_OK) lw_report_add(report, &error);
        }
        return status;
    }
    if (path) {
        const lw_read_options options = {
            .settings = settings->items, .setting_count = count, .any_path = any_path};
        return lw_read_model_with(path, &options, report, spec);
    }
    if (text) return lw_read_model_text(text, (size_t)text_size, name, settings->items, count, report, spec);
    lw_status status = lw_spec_load(bytes, (size_t)byte_count, spec, &error);
    if (status != LW_OK) lw_report_add(report, &error);
    return status;
}

/* Values of parameters, which the spec takes in as numbers. */
static bool set_parameters(lw_spec *spec, PyObject *parameters) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (parameters && parameters != Py_None && PyDict_Next(parameters, &at, &key, &value)) {
        const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
        const double number = name ? PyFloat_AsDouble(value) : 0;
        if (PyErr_Occurred()) return false;
        lw_error error = {0};
        const lw_status status = lw_spec_set_parameter(spec, name, number, &error);
        if (status != LW_OK) {
            raise_error(status, &error);
            return false;
        }
    }
    return true;
}

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"path",     "text",  "data",       "name",     "settings",
                            "any_path", "begin", "parameters", "imported", NULL};
    PyObject *import_object = NULL;
    PyObject *path_object = NULL, *settings_object = NULL, *path = NULL, *parameters = NULL;
    const char *text = NULL, *bytes = NULL, *name = "text", *begin = NULL;
    Py_ssize_t text_size = 0, byte_count = 0;
    int any_path = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$Oz#z#sOpzOO", names, &path_object, &text, &text_size,
                                     &bytes, &byte_count, &name, &settings_object, &any_path, &begin,
                                     &parameters, &import_object))
        return NULL;
    if (path_object == Py_None) path_object = NULL;
    if (parameters && parameters != Py_None && !PyDict_Check(parameters)) {
        PyErr_SetString(PyExc_TypeError, "parameters is a dictionary");
        return NULL;
    }
    if (!path_object + !text + !bytes != 2) {
        PyErr_SetString(PyExc_TypeError,
                        "a model comes from a path, a text or data; use linkwork.load or loads");
        return NULL;
    }
    if (path_object && !PyUnicode_FSConverter(path_object, &path)) return NULL;
    settings_list settings;
    import_list import = {0};
    if (!settings_of(settings_object, &settings) || !import_of(import_object, &import)) {
        settings_free(&settings);
        import_free(&import);
        Py_XDECREF(path);
        return NULL;
    }
    lw_import_notes *notes = lw_import_notes_create();
    import.options.notes = notes;
    const char *path_text = path ? PyBytes_AsString(path) : NULL;
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_data *data = NULL;
    model_object *self = NULL;
    lw_status status = report ? LW_OK : LW_ERROR_MEMORY;
    if (status == LW_OK) {
        Py_BEGIN_ALLOW_THREADS status = read_spec(path_text, text, text_size, bytes, byte_count, name,
                                                  &settings, any_path, &import.options, report, &spec);
        Py_END_ALLOW_THREADS
    }
    bool raised = false;
    if (status == LW_OK && begin) {
        lw_error error = {0};
        if (lw_spec_begin(spec, begin, &error) != LW_OK)
            raise_error(LW_ERROR_ARGUMENT, &error), raised = true;
    }
    if (status == LW_OK && !raised) raised = !set_parameters(spec, parameters);
    if (status == LW_OK && !raised) {
        Py_BEGIN_ALLOW_THREADS status = lw_model_compile(spec, NULL, report, &model);
        if (status == LW_OK) status = lw_data_create(model, NULL, &data);
        Py_END_ALLOW_THREADS
    }
    if (status == LW_OK && !raised) {
        allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
        self = (model_object *)allocate(type, 0);
        if (self) {
            self->warnings = faults_of(report, true);
            self->notes = notes_of(notes);
            self->spec = spec, self->model = model, self->data = data;
        }
    } else if (!raised)
        raise_report(status, report);
    if (!self) {
        lw_data_destroy(data);
        lw_model_destroy(model);
        lw_spec_destroy(spec);
    }
    lw_report_destroy(report);
    lw_import_notes_destroy(notes);
    settings_free(&settings);
    import_free(&import);
    Py_XDECREF(path);
    return (PyObject *)self;
}

static void model_dealloc(PyObject *object) {
    model_object *self = (model_object *)object;
    lw_data_destroy(self->data);
    lw_model_destroy(self->model);
    lw_spec_destroy(self->spec);
    Py_XDECREF(self->warnings);
    Py_XDECREF(self->notes);
    object_free(object);
}

/* --- names --------------------------------------------------------------------------------------- */

static PyObject *names_of(const lw_model *model, int count, int first,
                          const char *(*name)(const lw_model *, int)) {
    PyObject *list = PyTuple_New(count);
    for (int k = 0; list && k < count; k++) {
        PyObject *text = PyUnicode_FromString(name(model, first + k));
        if (!text || PyTuple_SetItem(list, k, text) != 0) Py_CLEAR(list);
    }
    return list;
}

static const char *joint_name(const lw_model *model, int joint) {
    return lw_model_joint_info(model, joint).name;
}

#define MODEL (((model_object *)self)->model)
#define GETTER(field) static PyObject *get_##field(PyObject *self, void *closure)
GETTER(name) {
    (void)closure;
    return PyUnicode_FromString(lw_model_name(MODEL));
}
GETTER(file) {
    (void)closure;
    const char *file = lw_model_file(MODEL);
    return PyUnicode_DecodeFSDefault(file ? file : "");
}
GETTER(nq) {
    (void)closure;
    return PyLong_FromLong(lw_model_q_size(MODEL));
}
GETTER(nv) {
    (void)closure;
    return PyLong_FromLong(lw_model_v_size(MODEL));
}
GETTER(loop_count) {
    (void)closure;
    return PyLong_FromLong(lw_model_loop_count(MODEL));
}
GETTER(gravity) {
    (void)closure;
    return array_of(lw_model_gravity(MODEL), 3, 0);
}
GETTER(body_names) {
    (void)closure;
    return names_of(MODEL, lw_model_body_count(MODEL) + 1, 0, lw_model_body_name);
}
GETTER(frame_names) {
    (void)closure;
    return names_of(MODEL, lw_model_frame_count(MODEL), 0, lw_model_frame_name);
}
GETTER(joint_names) {
    (void)closure;
    return names_of(MODEL, lw_model_joint_count(MODEL), 0, joint_name);
}
GETTER(force_names) {
    (void)closure;
    return names_of(MODEL, lw_model_force_count(MODEL), 0, lw_model_force_name);
}
GETTER(constraint_names) {
    (void)closure;
    return names_of(MODEL, lw_model_constraint_count(MODEL), 0, lw_model_constraint_name);
}
GETTER(input_names) {
    (void)closure;
    return names_of(MODEL, lw_model_input_count(MODEL), 0, lw_model_input_name);
}
GETTER(state_names) {
    (void)closure;
    return names_of(MODEL, lw_model_state_count(MODEL), 0, lw_model_state_name);
}
GETTER(output_names) {
    (void)closure;
    return names_of(MODEL, lw_model_output_count(MODEL), 0, lw_model_output_name);
}
GETTER(event_names) {
    (void)closure;
    return names_of(MODEL, lw_model_event_count(MODEL), 0, lw_model_event_name);
}
GETTER(faults) {
    (void)closure;
    PyObject *list = ((model_object *)self)->warnings;
    Py_XINCREF(list);
    return list;
}

GETTER(notes) {
    (void)closure;
    PyObject *list = ((model_object *)self)->notes;
    Py_XINCREF(list);
    return list;
}

GETTER(parameters) {
    (void)closure;
    PyObject *all = PyDict_New();
    for (int k = 0; all && k < lw_model_parameter_count(MODEL); k++) {
        PyObject *value = PyFloat_FromDouble(lw_model_parameter_value(MODEL, k));
        if (!value || PyDict_SetItemString(all, lw_model_parameter_name(MODEL, k), value) != 0) Py_CLEAR(all);
        Py_XDECREF(value);
    }
    return all;
}

static PyGetSetDef model_getset[] = {
    {"name", get_name, NULL, "The model's name.", NULL},
    {"file", get_file, NULL, "The file it was read from.", NULL},
    {"nq", get_nq, NULL, "Number of coordinates q.", NULL},
    {"nv", get_nv, NULL, "Number of speeds v.", NULL},
    {"loop_count", get_loop_count, NULL, "Number of closed loops.", NULL},
    {"gravity", get_gravity, NULL, "Gravity, (3,), m/s^2.", NULL},
    {"body_names", get_body_names, NULL, "Names of the bodies; the first is ground.", NULL},
    {"frame_names", get_frame_names, NULL, "Names of the frames.", NULL},
    {"joint_names", get_joint_names, NULL, "Names of the joints.", NULL},
    {"force_names", get_force_names, NULL, "Names of the force elements.", NULL},
    {"constraint_names", get_constraint_names, NULL, "Names of the constraints.", NULL},
    {"input_names", get_input_names, NULL, "Names of the inputs.", NULL},
    {"state_names", get_state_names, NULL, "Names of the user states.", NULL},
    {"output_names", get_output_names, NULL, "Names of the outputs.", NULL},
    {"event_names", get_event_names, NULL, "Names of the events.", NULL},
    {"parameters", get_parameters, NULL, "Parameters with their values, SI units.", NULL},
    {"_notes", get_notes, NULL, "What an import has left out.", NULL},
    {"_warnings", get_faults, NULL, "Warnings of reading and compiling.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* --- objects ------------------------------------------------------------------------------------- */

static PyObject *model_joint_info(PyObject *self, PyObject *args) {
    int joint;
    if (!PyArg_ParseTuple(args, "i", &joint)) return NULL;
    if (joint < 0 || joint >= lw_model_joint_count(MODEL)) {
        PyErr_SetString(PyExc_IndexError, "there is no such joint");
        return NULL;
    }
    const lw_joint_info j = lw_model_joint_info(MODEL, joint);
    return Py_BuildValue("{s:s,s:s,s:(ii),s:O,s:i,s:i,s:i,s:i,s:i,s:I}", "name", j.name, "type",
                         lw_joint_type_name(j.type), "bodies", j.bodies[0], j.bodies[1], "cut",
                         j.cut ? Py_True : Py_False, "q", j.q, "q_count", j.q_count, "v", j.v, "v_count",
                         j.v_count, "rows", j.rows, "prescribed", j.prescribed);
}

static PyObject *model_body_mass(PyObject *self, PyObject *args) {
    int body;
    if (!PyArg_ParseTuple(args, "i", &body)) return NULL;
    const double mass = lw_model_body_mass(MODEL, body);
    if (isnan(mass)) {
        PyErr_SetString(PyExc_IndexError, "there is no such body");
        return NULL;
    }
    return PyFloat_FromDouble(mass);
}

static PyObject *model_output_unit(PyObject *self, PyObject *args) {
    int output;
    if (!PyArg_ParseTuple(args, "i", &output)) return NULL;
    double scale = 1;
    const char *unit = lw_model_output_unit(MODEL, output, &scale);
    if (!unit) {
        PyErr_SetString(PyExc_IndexError, "there is no such output");
        return NULL;
    }
    return Py_BuildValue("(sd)", unit, scale);
}

static PyObject *model_starts_of(PyObject *self, PyObject *ignored) {
    (void)ignored;
    PyObject *states = PyList_New(0);
    for (int k = 0; states && k < lw_model_state_count(MODEL); k++) {
        PyObject *value = PyFloat_FromDouble(lw_model_state_start(MODEL, k));
        if (!value || PyList_Append(states, value) != 0) Py_CLEAR(states);
        Py_XDECREF(value);
    }
    return states;
}

static PyObject *model_input_defaults(PyObject *self, PyObject *ignored) {
    (void)ignored;
    PyObject *inputs = PyList_New(0);
    for (int k = 0; inputs && k < lw_model_input_count(MODEL); k++) {
        PyObject *value = PyFloat_FromDouble(lw_model_input_default(MODEL, k));
        if (!value || PyList_Append(inputs, value) != 0) Py_CLEAR(inputs);
        Py_XDECREF(value);
    }
    return inputs;
}

/* The assembled initial state, as a run would start. */
static PyObject *model_start(PyObject *self, PyObject *ignored) {
    (void)ignored;
    numbers q, v;
    if (!numbers_write(NULL, "q", lw_model_q_size(MODEL), 0, &q)) return NULL;
    if (!numbers_write(NULL, "v", lw_model_v_size(MODEL), 0, &v)) {
        numbers_release(&q);
        return NULL;
    }
    lw_error error = {0};
    lw_run_options options;
    lw_run_defaults(MODEL, &options);
    lw_model_initial_state(MODEL, q.at, v.at);
    lw_status status;
    Py_BEGIN_ALLOW_THREADS status = lw_assemble(MODEL, options.start, q.at, v.at, NULL, &error);
    Py_END_ALLOW_THREADS PyObject *first = numbers_result(&q, status, &error);
    PyObject *second = first ? numbers_result(&v, status, &error) : NULL;
    if (!first) numbers_release(&v);
    PyObject *both = second ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

static PyObject *model_bytes(PyObject *self, PyObject *ignored) {
    (void)ignored;
    size_t needed = 0;
    const lw_spec *spec = ((model_object *)self)->spec;
    (void)lw_spec_save(spec, NULL, 0, &needed);
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)needed);
    if (!bytes) return NULL;
    const lw_status status = lw_spec_save(spec, PyBytes_AsString(bytes), needed, &needed);
    if (status == LW_OK) return bytes;
    Py_DECREF(bytes);
    return raise_error(status, NULL);
}

static PyObject *model_write(PyObject *self, PyObject *args) {
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    lw_error error = {0};
    lw_status status;
    const char *text = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = lw_write_model(((model_object *)self)->spec, text, &error);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != LW_OK) return raise_error(status, &error);
    Py_RETURN_NONE;
}

/* --- kinematics ---------------------------------------------------------------------------------- */

#define DATA (((model_object *)self)->data)

/* Takes q and, if wanted, v. */
static bool take_state(const lw_model *model, PyObject *q_object, PyObject *v_object, numbers *q,
                       numbers *v) {
    if (!numbers_read(q_object, "q", lw_model_q_size(model), false, q)) return false;
    if (!v || numbers_read(v_object, "v", lw_model_v_size(model), false, v)) return true;
    numbers_release(q);
    return false;
}

static PyObject *model_pose(PyObject *self, PyObject *args) {
    int body;
    double t, position[3], rotation[9];
    PyObject *q_object, *first = NULL, *second = NULL;
    numbers q;
    if (!PyArg_ParseTuple(args, "idO|OO", &body, &t, &q_object, &first, &second) ||
        !take_state(MODEL, q_object, NULL, &q, NULL))
        return NULL;
    const lw_status status = lw_body_pose(MODEL, DATA, t, q.at, body, position, rotation);
    numbers_release(&q);
    if (status != LW_OK) return raise_error(status, NULL);
    PyObject *p = array_into(first, "out[0]", position, 3, 0);
    PyObject *r = p ? array_into(second, "out[1]", rotation, 3, 3) : NULL;
    PyObject *both = p && r ? PyTuple_Pack(2, p, r) : NULL;
    Py_XDECREF(p);
    Py_XDECREF(r);
    return both;
}

static PyObject *model_velocity(PyObject *self, PyObject *args) {
    int body;
    double t, point[3], angular[3], linear[3];
    PyObject *q_object, *v_object, *first = NULL, *second = NULL;
    numbers q, v;
    if (!PyArg_ParseTuple(args, "idOO(ddd)|OO", &body, &t, &q_object, &v_object, &point[0], &point[1],
                          &point[2], &first, &second) ||
        !take_state(MODEL, q_object, v_object, &q, &v))
        return NULL;
    const lw_status status = lw_body_velocity(MODEL, DATA, t, q.at, v.at, body, point, angular, linear);
    numbers_release(&q);
    numbers_release(&v);
    if (status != LW_OK) return raise_error(status, NULL);
    PyObject *w = array_into(first, "out[0]", angular, 3, 0);
    PyObject *u = w ? array_into(second, "out[1]", linear, 3, 0) : NULL;
    PyObject *both = w && u ? PyTuple_Pack(2, w, u) : NULL;
    Py_XDECREF(w);
    Py_XDECREF(u);
    return both;
}

static PyObject *model_jacobian(PyObject *self, PyObject *args) {
    int body;
    double t, point[3];
    PyObject *q_object, *given = NULL;
    numbers q, out;
    if (!PyArg_ParseTuple(args, "idO(ddd)|O", &body, &t, &q_object, &point[0], &point[1], &point[2],
                          &given) ||
        !take_state(MODEL, q_object, NULL, &q, NULL))
        return NULL;
    const int nv = lw_model_v_size(MODEL);
    if (!numbers_write(given, "out", 6, nv, &out)) {
        numbers_release(&q);
        return NULL;
    }
    if (!numbers_apart(&out, (Py_ssize_t)6 * nv, &q, lw_model_q_size(MODEL), "q")) {
        numbers_release(&q);
        numbers_release(&out);
        return NULL;
    }
    lw_status status = lw_tree_body_jacobian(MODEL, DATA, t, q.at, body, out.at);
    if (status == LW_OK) status = lw_tree_point_jacobian(MODEL, DATA, t, q.at, body, point, out.at + 3 * nv);
    numbers_release(&q);
    return numbers_result(&out, status, NULL);
}

static PyObject *model_coordinates(PyObject *self, PyObject *args) {
    int joint;
    double t, coordinates[16], speeds[16];
    PyObject *q_object, *v_object;
    numbers q, v;
    if (!PyArg_ParseTuple(args, "idOO", &joint, &t, &q_object, &v_object) ||
        !take_state(MODEL, q_object, v_object, &q, &v))
        return NULL;
    const int count = lw_joint_coordinates(MODEL, DATA, t, q.at, v.at, joint, coordinates, speeds);
    numbers_release(&q);
    numbers_release(&v);
    if (count < 0) return raise_error(LW_ERROR_ARGUMENT, NULL);
    const lw_joint_info info = lw_model_joint_info(MODEL, joint);
    PyObject *a = array_of(coordinates, count, 0);
    PyObject *b = array_of(speeds, count ? lw_joint_type_v(info.type, count) : 0, 0);
    PyObject *both = a && b ? PyTuple_Pack(2, a, b) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return both;
}

static PyObject *model_energy(PyObject *self, PyObject *args) {
    double t;
    PyObject *q_object, *v_object;
    numbers q, v;
    if (!PyArg_ParseTuple(args, "dOO", &t, &q_object, &v_object) ||
        !take_state(MODEL, q_object, v_object, &q, &v))
        return NULL;
    const lw_energy energy = lw_energy_of(MODEL, DATA, t, q.at, v.at);
    numbers_release(&q);
    numbers_release(&v);
    if (isnan(energy.kinetic)) return raise_error(LW_ERROR_ARGUMENT, NULL);
    return Py_BuildValue("(dd)", energy.kinetic, energy.potential);
}

static PyObject *model_momentum(PyObject *self, PyObject *args) {
    double t, linear[3], angular[3];
    PyObject *q_object, *v_object, *first = NULL, *second = NULL;
    numbers q, v;
    if (!PyArg_ParseTuple(args, "dOO|OO", &t, &q_object, &v_object, &first, &second) ||
        !take_state(MODEL, q_object, v_object, &q, &v))
        return NULL;
    const lw_status status = lw_momentum(MODEL, DATA, t, q.at, v.at, linear, angular);
    numbers_release(&q);
    numbers_release(&v);
    if (status != LW_OK) return raise_error(status, NULL);
    PyObject *a = array_into(first, "out[0]", linear, 3, 0);
    PyObject *b = a ? array_into(second, "out[1]", angular, 3, 0) : NULL;
    PyObject *both = a && b ? PyTuple_Pack(2, a, b) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return both;
}

/* q moved along the speeds v for dt. */
static PyObject *model_integrate(PyObject *self, PyObject *args) {
    double dt;
    PyObject *q_object, *v_object, *given = NULL;
    numbers q, v, out;
    if (!PyArg_ParseTuple(args, "OOd|O", &q_object, &v_object, &dt, &given) ||
        !take_state(MODEL, q_object, v_object, &q, &v))
        return NULL;
    const int nq = lw_model_q_size(MODEL);
    lw_status status = LW_ERROR_MEMORY;
    bool room = numbers_write(given, "out", nq, 0, &out);
    if (room && !numbers_apart(&out, nq, &v, lw_model_v_size(MODEL), "v")) {
        numbers_release(&out);
        room = false;
    }
    if (room) {
        memmove(out.at, q.at, (size_t)nq * sizeof(double));
        status = lw_integrate_q(MODEL, out.at, v.at, dt);
    }
    numbers_release(&q);
    numbers_release(&v);
    return room ? numbers_result(&out, status, NULL) : NULL;
}

static PyMethodDef model_methods[] = {
    {"_joint_info", model_joint_info, METH_VARARGS, "What is known of a joint, by its index."},
    {"_body_mass", model_body_mass, METH_VARARGS, "Mass of a body, by its index."},
    {"_output_unit", model_output_unit, METH_VARARGS, "Unit of an output and the factor from SI to it."},
    {"_state_starts", model_starts_of, METH_NOARGS, "Start values of the user states."},
    {"_input_defaults", model_input_defaults, METH_NOARGS, "Defaults of the inputs; NaN: an expression."},
    {"_start", model_start, METH_NOARGS, "The assembled initial state (q, v)."},
    {"_pose", model_pose, METH_VARARGS, "Position and rotation of a body."},
    {"_velocity", model_velocity, METH_VARARGS, "Angular velocity of a body and velocity of a point of it."},
    {"_jacobian", model_jacobian, METH_VARARGS, "Angular and linear Jacobian of a point of a body, 6 x nv."},
    {"_coordinates", model_coordinates, METH_VARARGS, "Coordinates and speeds of any joint."},
    {"_energy", model_energy, METH_VARARGS, "Kinetic and potential energy."},
    {"_momentum", model_momentum, METH_VARARGS, "Linear and angular momentum."},
    {"_integrate", model_integrate, METH_VARARGS, "q moved along speeds."},
    {"to_bytes", model_bytes, METH_NOARGS,
     "to_bytes()\n--\n\nThe model as bytes, from which linkwork.from_bytes makes the same model again."},
    {"_write", model_write, METH_VARARGS, "Writes the model file."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot model_slots[] = {
    {Py_tp_new, model_new},       {Py_tp_dealloc, model_dealloc},       {Py_tp_methods, model_methods},
    {Py_tp_getset, model_getset}, {Py_tp_doc, "A compiled mechanism."}, {0, NULL}};
PyType_Spec model_spec = {"linkwork._core.Model", sizeof(model_object), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, model_slots};

/* --- functions of the module --------------------------------------------------------------------- */

static PyObject *methods_list(PyObject *module, PyObject *ignored) {
    (void)module, (void)ignored;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < lw_method_count(); k++) {
        const lw_method_info info = lw_method_at(k);
        PyObject *row = Py_BuildValue("(ss)", info.name, info.summary);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *integrators_list(PyObject *module, PyObject *ignored) {
    (void)module, (void)ignored;
    PyObject *list = PyList_New(0);
    for (int k = 0; list && k < lw_integrator_count(); k++) {
        PyObject *row = Py_BuildValue("(ss)", lw_integrator_name(k), lw_integrator_summary(k));
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* The format of a file by its content: "URDF", ..., or "" for a model file and for what is unknown. */
static PyObject *import_format(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *path = NULL;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path)) return NULL;
    const lw_import_format format = lw_import_format_of(PyBytes_AsString(path));
    Py_DECREF(path);
    return PyUnicode_FromString(is_foreign(format) ? lw_import_format_name(format) : "");
}

/* The same of a text. */
static PyObject *import_format_of_text(PyObject *module, PyObject *text) {
    (void)module;
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "text is no str; linkwork.load reads files");
        return NULL;
    }
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    if (!bytes) return NULL;
    const lw_import_format format = lw_import_format_of_text(bytes, (size_t)size);
    return PyUnicode_FromString(is_foreign(format) ? lw_import_format_name(format) : "");
}

PyMethodDef model_functions[] = {
    {"import_format", import_format, METH_VARARGS,
     "The format of a file of another program, or an empty text."},
    {"import_format_of_text", import_format_of_text, METH_O, "The same of a text."},
    {"methods", methods_list, METH_NOARGS, "Names and summaries of the methods."},
    {"integrators", integrators_list, METH_NOARGS, "Names and summaries of the integrators."},
    {NULL, NULL, 0, NULL}};
