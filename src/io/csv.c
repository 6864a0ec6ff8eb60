/* csv.c - the results of a run as comma-separated values (RFC 4180), one row per sample.
 *
 *     # linkwork <version>
 *     # model: <name> (<file>)
 *     # method: <method>           and integrator, step, tolerance, as far as they are given
 *     t [s],<joints>,<bodies>,<ledger>
 *     0,...
 *
 * Joints, in the order of the model file, cut ones left out; the coordinates of one joint, then its speeds:
 *     revolute, screw   J.q [rad]                     J.v [rad/s]
 *     prismatic         J.q [m]                       J.v [m/s]
 *     cylindrical       J.d [m], J.angle [rad]        J.vd [m/s], J.vangle [rad/s]
 *     universal         J.a1 [rad], J.a2 [rad]        J.va1 [rad/s], J.va2 [rad/s]
 *     spherical         J.qw .. J.qz [1]              J.wx .. J.wz [rad/s]
 *     planar            J.x, J.y [m], J.angle [rad]   J.vx, J.vy [m/s], J.vangle [rad/s]
 *     translation       J.q1 .. [m] (J.q if one)      J.v1 .. [m/s] (J.v if one)
 *     free              J.x .. J.z [m], J.qw .. [1]   J.vx .. J.vz [m/s], J.wx .. J.wz [rad/s]
 * Bodies, in the model's order: the origin of the body's frame, body.B.x, body.B.y, body.B.z [m]; the prefix
 * keeps a body apart from a joint of the same name. Ledger: kinetic, potential, drives, forces, dissipation,
 * unaccounted [J].
 *
 * Numbers have the fewest digits (15 to 17) that read back equal. Rows are collected in a buffer, which goes
 * out when it is full or a second old, always at the end of a row: a run that is killed leaves a readable
 * file.
 */
#include "core/core.h"
#include "io/number.h"
#include "model/data.h"

#include <linkwork/io.h>
#include <linkwork/version.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BUFFER_SIZE = 1 << 16 };

struct lw_csv {
    const lw_model *model;
    lw_data *data;
    lw_arena *arena;
    const char *path;
    FILE *file;
    int fault; /* errno of the first write that failed, 0 so far none */

    char *buffer;
    size_t used, capacity; /* capacity: a row always fits after a flush */
    time_t flushed;
};

/* --- column names
 * ------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *q[LW_JOINT_MAX_Q], *v[LW_JOINT_MAX_V];
} joint_columns;

static const joint_columns columns_of[LW_JOINT_TYPES] = {
    [LW_JOINT_REVOLUTE] = {{"q [rad]"}, {"v [rad/s]"}},
    [LW_JOINT_SCREW] = {{"q [rad]"}, {"v [rad/s]"}},
    [LW_JOINT_PRISMATIC] = {{"q [m]"}, {"v [m/s]"}},
    [LW_JOINT_CYLINDRICAL] = {{"d [m]", "angle [rad]"}, {"vd [m/s]", "vangle [rad/s]"}},
    [LW_JOINT_UNIVERSAL] = {{"a1 [rad]", "a2 [rad]"}, {"va1 [rad/s]", "va2 [rad/s]"}},
    [LW_JOINT_SPHERICAL] = {{"qw [1]", "qx [1]", "qy [1]", "qz [1]"},
                            {"wx [rad/s]", "wy [rad/s]", "wz [rad/s]"}},
    [LW_JOINT_PLANAR] = {{"x [m]", "y [m]", "angle [rad]"}, {"vx [m/s]", "vy [m/s]", "vangle [rad/s]"}},
    [LW_JOINT_TRANSLATION] = {{"q1 [m]", "q2 [m]", "q3 [m]"}, {"v1 [m/s]", "v2 [m/s]", "v3 [m/s]"}},
    [LW_JOINT_FREE] = {{"x [m]", "y [m]", "z [m]", "qw [1]", "qx [1]", "qy [1]", "qz [1]"},
                       {"vx [m/s]", "vy [m/s]", "vz [m/s]", "wx [rad/s]", "wy [rad/s]", "wz [rad/s]"}},
};

static const joint_columns *joint_columns_of(const lw_joint_info *joint) {
    bool single = joint->type == LW_JOINT_TRANSLATION && joint->q_count == 1;
    return &columns_of[single ? LW_JOINT_PRISMATIC : joint->type];
}

static const char *const ledger_columns = ",kinetic [J],potential [J],drives [J],forces [J],dissipation [J],"
                                          "unaccounted [J]\n";

/* --- output; faults are kept for later
 * ----------------------------------------------------------------------------- */

static void flush(lw_csv *csv) {
    if (csv->fault == 0 && csv->used > 0) {
        errno = 0;
        if (fwrite(csv->buffer, 1, csv->used, csv->file) != csv->used || fflush(csv->file) != 0) {
            csv->fault = errno ? errno : EIO;
        }
    }
    csv->used = 0;
}

static void put(lw_csv *csv, const char *bytes, size_t size) {
    while (size > 0) {
        if (csv->used == csv->capacity) flush(csv);
        size_t room = csv->capacity - csv->used, part = size < room ? size : room;
        memcpy(csv->buffer + csv->used, bytes, part);
        csv->used += part;
        bytes += part;
        size -= part;
    }
}

static void put_text(lw_csv *csv, const char *text) { put(csv, text, strlen(text)); }

/* One line of metadata; what would end the line becomes a blank. */
static void put_line_text(lw_csv *csv, const char *text) {
    for (; *text; text++) put(csv, (unsigned char)*text < ' ' ? " " : text, 1);
}

/* ",object.suffix", with quotes if the object's name needs them. */
static void put_header(lw_csv *csv, const char *prefix, const char *object, const char *suffix) {
    bool quoted = strpbrk(object, ",\"\n\r") != NULL;
    put_text(csv, quoted ? ",\"" : ",");
    put_text(csv, prefix);
    for (const char *c = object; *c; c++) {
        if (*c == '"') put(csv, c, 1); /* doubled */
        put(csv, c, 1);
    }
    put_text(csv, ".");
    put_text(csv, suffix);
    if (quoted) put_text(csv, "\"");
}

static void put_number(lw_csv *csv, double value) {
    char text[LW_NUMBER_SIZE + 1] = ",";
    put(csv, text, (size_t)lw_number_print(value, text + 1) + 1);
}

static void put_metadata(lw_csv *csv, const char *key, const char *value) {
    if (!value || !value[0]) return;
    put_text(csv, "# ");
    put_text(csv, key);
    put_text(csv, ": ");
    put_line_text(csv, value);
    put_text(csv, "\n");
}

static void put_metadata_number(lw_csv *csv, const char *key, double value) {
    char text[LW_NUMBER_SIZE];
    if (!(value > 0)) return;
    (void)lw_number_print(value, text);
    put_metadata(csv, key, text);
}

static void put_head(lw_csv *csv, const lw_csv_options *options) {
    const lw_model *model = csv->model;
    const char *name = lw_model_name(model), *file = lw_model_file(model);
    put_text(csv, "# linkwork " LW_VERSION "\n# model: ");
    put_line_text(csv, name ? name : "");
    if (file && file[0]) {
        put_text(csv, " (");
        put_line_text(csv, file);
        put_text(csv, ")");
    }
    put_text(csv, "\n");
    put_metadata(csv, "method", options->method);
    put_metadata(csv, "integrator", options->integrator);
    put_metadata_number(csv, "step", options->step);
    put_metadata_number(csv, "tolerance", options->tolerance);

    put_text(csv, "t [s]");
    for (int k = 0; k < lw_model_joint_count(model); k++) {
        lw_joint_info joint = lw_model_joint_info(model, k);
        if (joint.cut) continue;
        const joint_columns *columns = joint_columns_of(&joint);
        for (int i = 0; i < joint.q_count; i++) put_header(csv, "", joint.name, columns->q[i]);
        for (int i = 0; i < joint.v_count; i++) put_header(csv, "", joint.name, columns->v[i]);
    }
    for (int body = 1; body <= lw_model_body_count(model); body++) {
        const char *body_name = lw_model_body_name(model, body);
        put_header(csv, "body.", body_name, "x [m]");
        put_header(csv, "body.", body_name, "y [m]");
        put_header(csv, "body.", body_name, "z [m]");
    }
    put_text(csv, ledger_columns);
}

/* --- public
 * ------------------------------------------------------------------------------------------------------- */

static lw_status file_fault(lw_error *error, const char *path, const char *remedy, const char *action,
                            int fault) {
    char object[sizeof error->object];
    snprintf(object, sizeof object, "results file \"%s\"", path);
    return lw_fail(error, LW_ERROR_FILE, object, remedy, "cannot be %s: %s", action, strerror(fault));
}

static void release(lw_csv *csv) {
    lw_data_destroy(csv->data);
    lw_arena_destroy(csv->arena);
}

static lw_csv *create(const lw_model *model, const char *path) {
    lw_arena *arena = lw_arena_create(NULL);
    if (!arena) return NULL;
    lw_csv *csv = LW_NEW(arena, lw_csv, 1);
    if (!csv) {
        lw_arena_destroy(arena);
        return NULL;
    }
    size_t columns = 1 + (size_t)lw_model_q_size(model) + (size_t)lw_model_v_size(model) +
                     3 * (size_t)lw_model_body_count(model) + sizeof(lw_ledger) / sizeof(double);
    csv->arena = arena;
    csv->model = model;
    csv->path = lw_arena_text(arena, path);
    csv->capacity = BUFFER_SIZE + columns * (LW_NUMBER_SIZE + 1);
    csv->buffer = LW_NEW(arena, char, csv->capacity);
    if (!csv->path || !csv->buffer || lw_data_create(model, NULL, &csv->data) != LW_OK) {
        release(csv);
        return NULL;
    }
    return csv;
}

lw_status lw_csv_open(const lw_model *model, const lw_csv_options *options, lw_csv **result,
                      lw_error *error) {
    *result = NULL;
    if (!options->path || !options->path[0]) {
        return lw_fail(error, LW_ERROR_ARGUMENT, "results file", "give a path, or \"-\" for standard output",
                       "it has no name");
    }
    lw_csv *csv = create(model, options->path);
    if (!csv) return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");
    errno = 0;
    bool standard_output = strcmp(csv->path, "-") == 0;
    csv->file = standard_output ? stdout : fopen(csv->path, "wb");
    if (!csv->file) {
        int fault = errno;
        release(csv);
        return file_fault(error, options->path, "give a path in an existing folder where you may write",
                          "opened", fault);
    }
    /* Our own buffer is enough: whole rows go to the system. */
    if (!standard_output) (void)setvbuf(csv->file, NULL, _IONBF, 0);
    put_head(csv, options);
    flush(csv);
    csv->flushed = time(NULL);
    if (csv->fault) return lw_csv_close(csv, error);
    *result = csv;
    return LW_OK;
}

lw_status lw_csv_write(lw_csv *csv, const lw_sample *sample) {
    const lw_model *model = csv->model;
    char text[LW_NUMBER_SIZE];

    put(csv, text, (size_t)lw_number_print(sample->t, text));
    for (int k = 0; k < lw_model_joint_count(model); k++) {
        lw_joint_info joint = lw_model_joint_info(model, k);
        if (joint.cut) continue;
        for (int i = 0; i < joint.q_count; i++) put_number(csv, sample->q[joint.q + i]);
        for (int i = 0; i < joint.v_count; i++) put_number(csv, sample->v[joint.v + i]);
    }
    /* What lw_body_pose does, but once for all bodies. */
    lw_take_state(model, csv->data, sample->t, sample->q, NULL);
    lw_positions(model, csv->data);
    lw_world_poses(model, csv->data);
    for (int body = 1; body <= model->body_count; body++) {
        double position[3];
        lw_pose_point(csv->data->world[body].R, csv->data->world[body].p, model->links[body].frame.p,
                      position);
        for (int i = 0; i < 3; i++) put_number(csv, position[i]);
    }
    const lw_ledger *ledger = sample->ledger;
    if (ledger) {
        put_number(csv, ledger->kinetic);
        put_number(csv, ledger->potential);
        put_number(csv, ledger->drives);
        put_number(csv, ledger->forces);
        put_number(csv, ledger->dissipation);
        put_number(csv, ledger->unaccounted);
    } else {
        put_text(csv, ",,,,,,");
    }
    put_text(csv, "\n");

    time_t now = time(NULL);
    if (csv->used >= BUFFER_SIZE || now != csv->flushed) {
        flush(csv);
        csv->flushed = now;
    }
    return csv->fault ? LW_ERROR_FILE : LW_OK;
}

lw_status lw_csv_close(lw_csv *csv, lw_error *error) {
    if (!csv) return LW_OK;
    flush(csv);
    errno = 0;
    if (csv->file != stdout && fclose(csv->file) != 0 && csv->fault == 0) csv->fault = errno ? errno : EIO;
    lw_status status = LW_OK;
    if (csv->fault) {
        status = file_fault(error, csv->path, "make room or write to another place; the rows so far are kept",
                            "written", csv->fault);
    }
    release(csv);
    return status;
}
