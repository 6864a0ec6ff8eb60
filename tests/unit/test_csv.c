/* test_csv.c - the results file of a model with every kind of joint: columns, units, values, quoting, faults
 * of writing.
 *
 * The file is read back by the reader of plots, and every value must come back exactly: the writer promises
 * the shortest text that does.
 */
#define _POSIX_C_SOURCE 200809L
#include "core/core.h"
#include "io/results/read_results.h"

#include <linkwork/dynamics.h>
#include <linkwork/io.h>
#include <linkwork/version.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <cmocka.h>

static const char path[] = "test_csv.csv";

/* A body on each kind of joint, all from ground; names that need quotes; a weld has no columns. */
static lw_model *every_joint(void) {
    lw_spec *spec = lw_spec_create("every, \"joint\"\nhere");
    assert_non_null(spec);
    assert_int_equal(lw_spec_set_file(spec, "every.yaml"), LW_OK);
    for (int type = 0; type < LW_JOINT_TYPES; type++) {
        char body[32], name[48];
        snprintf(body, sizeof body, "b%d", type);
        snprintf(name, sizeof name, type == LW_JOINT_PLANAR ? "a,\"%s\"" : "%s",
                 lw_joint_type_name((lw_joint_type)type));
        assert_int_equal(lw_spec_add_body(spec, &(lw_body_spec){.name = body,
                                                                .mass = 1 + type,
                                                                .inertia = {1, 1, 1, 0, 0, 0},
                                                                .has_pose = true,
                                                                .position = {type, 0.5, 0},
                                                                .rotation = {1, 0, 0, 0}}),
                         LW_OK);
        lw_joint_spec joint = {
            .name = name, .type = (lw_joint_type)type, .bodies = {LW_GROUND, body}, .lead = 0.01};
        memcpy(joint.geometry[0].point, (double[3]){type, 0, 0}, sizeof joint.geometry[0].point);
        joint.geometry[0].axes[0][2] = 1;
        joint.geometry[0].axes[1][0] = 1;
        if (type == LW_JOINT_UNIVERSAL || type == LW_JOINT_TRANSLATION)
            joint.geometry[0].axis_count = 2;
        else if (type != LW_JOINT_WELD && type != LW_JOINT_SPHERICAL && type != LW_JOINT_FREE)
            joint.geometry[0].axis_count = 1;
        assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    }
    lw_report *report = lw_report_create();
    lw_model *model = NULL;
    if (lw_model_compile(spec, NULL, report, &model) != LW_OK) {
        char text[1024] = "";
        if (lw_report_size(report)) lw_error_format(lw_report_get(report, 0), text, sizeof text);
        fail_msg("%s", text);
    }
    lw_report_destroy(report);
    lw_spec_destroy(spec);
    return model;
}

static lw_results_table *read_all(void) {
    lw_results_table *table;
    lw_error error;
    assert_int_equal(lw_results_table_open(path, &table, &error), LW_OK);
    for (size_t k = 0; k < table->column_count; k++) table->columns[k].wanted = true;
    assert_int_equal(lw_results_table_read(table, &error), LW_OK);
    return table;
}

static double value_of(const lw_results_table *table, const char *header, size_t row) {
    int column = lw_results_table_column(table, header);
    if (column < 0) fail_msg("no column %s", header);
    assert_string_equal(table->columns[column].header, header);
    return table->columns[column].values[row];
}

static void all_columns_come_back(void **state) {
    (void)state;
    static const char *const headers[] = {"t [s]",
                                          "revolute.q [rad]",
                                          "revolute.v [rad/s]",
                                          "prismatic.q [m]",
                                          "prismatic.v [m/s]",
                                          "screw.q [rad]",
                                          "screw.v [rad/s]",
                                          "cylindrical.d [m]",
                                          "cylindrical.angle [rad]",
                                          "cylindrical.vd [m/s]",
                                          "cylindrical.vangle [rad/s]",
                                          "universal.a1 [rad]",
                                          "universal.a2 [rad]",
                                          "universal.va1 [rad/s]",
                                          "universal.va2 [rad/s]",
                                          "spherical.qw [1]",
                                          "spherical.qx [1]",
                                          "spherical.qy [1]",
                                          "spherical.qz [1]",
                                          "spherical.wx [rad/s]",
                                          "spherical.wy [rad/s]",
                                          "spherical.wz [rad/s]",
                                          "a,\"planar\".x [m]",
                                          "a,\"planar\".y [m]",
                                          "a,\"planar\".angle [rad]",
                                          "a,\"planar\".vx [m/s]",
                                          "a,\"planar\".vy [m/s]",
                                          "a,\"planar\".vangle [rad/s]",
                                          "translation.q1 [m]",
                                          "translation.q2 [m]",
                                          "translation.v1 [m/s]",
                                          "translation.v2 [m/s]",
                                          "free.x [m]",
                                          "free.y [m]",
                                          "free.z [m]",
                                          "free.qw [1]",
                                          "free.qx [1]",
                                          "free.qy [1]",
                                          "free.qz [1]",
                                          "free.vx [m/s]",
                                          "free.vy [m/s]",
                                          "free.vz [m/s]",
                                          "free.wx [rad/s]",
                                          "free.wy [rad/s]",
                                          "free.wz [rad/s]"};
    static const char *const ledger_headers[] = {"kinetic [J]", "potential [J]",   "drives [J]",
                                                 "forces [J]",  "dissipation [J]", "unaccounted [J]"};
    enum { HEADERS = sizeof headers / sizeof *headers, ROWS = 5000 };

    lw_model *model = every_joint();
    lw_data *data;
    assert_int_equal(lw_data_create(model, NULL, &data), LW_OK);
    int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    double *q = calloc((size_t)nq, sizeof *q), *v = calloc((size_t)nv, sizeof *v);
    assert_true(q && v);
    lw_error error;
    lw_results *csv;
    const lw_results_options options = {.path = path,
                                        .record = "joint(*), position(*), ledger",
                                        .method = "tree",
                                        .integrator = "rk4",
                                        .step = 0.1};
    assert_int_equal(lw_results_open(model, &options, &csv, &error), LW_OK);
    for (int row = 0; row < ROWS; row++) { /* enough to fill the buffer several times */
        for (int k = 0; k < nq; k++) q[k] = 1.0 / (k + row + 3);
        for (int k = 0; k < nv; k++) v[k] = -1e-7 / (k + row + 3);
        lw_normalise_q(model, q);
        const lw_ledger ledger = {row, 2, 3, 4, 5, 1.0 / (row + 1)};
        assert_int_equal(
            lw_results_write(csv, &(lw_sample){.t = 0.1 * row, .q = q, .v = v, .ledger = &ledger}), LW_OK);
    }
    assert_int_equal(lw_results_write(csv, &(lw_sample){.t = 1000, .q = q, .v = v}), LW_OK); /* no ledger */
    assert_int_equal(lw_results_close(csv, NULL, &error), LW_OK);

    lw_results_table *table = read_all();
    assert_string_equal(table->model, "every, \"joint\" here");
    assert_string_equal(table->method, "tree");
    assert_string_equal(table->integrator, "rk4");
    assert_int_equal(table->row_count, ROWS + 1);
    int bodies = lw_model_body_count(model);
    assert_int_equal(table->column_count, HEADERS + 3 * bodies + 6);
    assert_int_equal(HEADERS, 1 + nq + nv);
    for (size_t k = 0; k < HEADERS; k++) assert_string_equal(table->columns[k].header, headers[k]);
    for (size_t k = 0; k < 6; k++) {
        assert_string_equal(table->columns[table->column_count - 6 + k].header, ledger_headers[k]);
    }

    for (size_t row = 0; row < ROWS; row += 499) {
        for (int k = 0; k < nq; k++) q[k] = 1.0 / (k + (int)row + 3);
        lw_normalise_q(model, q);
        double t = 0.1 * (int)row;
        assert_true(table->columns[0].values[row] == t);
        size_t at = 1;
        for (int j = 0; j < lw_model_joint_count(model); j++) {
            lw_joint_info joint = lw_model_joint_info(model, j);
            for (int i = 0; i < joint.q_count; i++)
                assert_true(table->columns[at++].values[row] == q[joint.q + i]);
            for (int i = 0; i < joint.v_count; i++) {
                assert_true(table->columns[at++].values[row] == -1e-7 / (joint.v + i + (int)row + 3));
            }
        }
        for (int body = 1; body <= bodies; body++) {
            double position[3], rotation[9];
            lw_body_pose(model, data, t, q, body, position, rotation);
            for (int i = 0; i < 3; i++) {
                char header[64];
                snprintf(header, sizeof header, "body.%s.%c [m]", lw_model_body_name(model, body), "xyz"[i]);
                assert_true(value_of(table, header, row) == position[i]);
            }
        }
        assert_true(value_of(table, "kinetic [J]", row) == (double)row);
        assert_true(value_of(table, "unaccounted [J]", row) == 1.0 / ((double)row + 1));
    }
    double empty = value_of(table, "unaccounted [J]", ROWS);
    assert_true(empty != empty);
    lw_results_table_close(table);
    free(q);
    free(v);
    lw_data_destroy(data);
    lw_model_destroy(model);
}

/* The text of the file, without the line of the model as bytes, which must be there. */
static void read_text(char *text, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(text, 1, size - 1, file);
    assert_true(length > 0 && length < size - 1);
    text[length] = '\0';
    fclose(file);
    char *spec = strstr(text, "\n#= "), *rest = spec ? strchr(spec + 1, '\n') : NULL;
    assert_non_null(rest);
    memmove(spec, rest, strlen(rest) + 1);
}

static lw_model *pendulum(const char *file) {
    lw_spec *spec = lw_spec_create("pendulum");
    lw_body_spec body = {.name = "bob", .kind = LW_BODY_POINT, .mass = 1, .com = {1, 0, 0}};
    assert_int_equal(lw_spec_set_file(spec, file), LW_OK);
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
    lw_joint_spec joint = {.name = "pin", .type = LW_JOINT_REVOLUTE, .bodies = {LW_GROUND, "bob"}};
    joint.geometry[0].axes[0][1] = 1;
    joint.geometry[0].axis_count = 1;
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    lw_model *model = NULL;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);
    return model;
}

/* The whole file, as a person sees it: what is told of the run, the model's text, rows, what is told of its
 * end. Head and model are there before the first row. */
static void metadata_come_first_and_last(void **state) {
    (void)state;
    FILE *model_file = fopen("test_csv.yaml", "wb");
    assert_non_null(model_file);
    fputs("linkwork: 1\r\n\nname: pendulum # \"quoted\", \xC3\xBC\nend", model_file);
    fclose(model_file);
    lw_model *model = pendulum("test_csv.yaml");
    const char *const settings[] = {"l=2", "m = 3 kg"};
    const lw_results_options options = {.path = path,
                                        .record = "pin.q,\n energy*, kinetic",
                                        .method = "tree",
                                        .integrator = "auto",
                                        .drift = "project",
                                        .end = 2.5,
                                        .tolerance = 1e-9,
                                        .output = 0.5,
                                        .settings = settings,
                                        .setting_count = 2};
    lw_results_options good = options;
    lw_error error;
    lw_results *csv;
    assert_int_equal(lw_results_open(model, &options, &csv, &error), LW_ERROR_ARGUMENT); /* no energy* */
    assert_null(csv);
    good.record = "pin.q,\n kinetic";
    assert_int_equal(lw_results_open(model, &good, &csv, &error), LW_OK);
    char text[4096];
    read_text(text, sizeof text);
    static const char head[] = "# linkwork: " LW_VERSION "\n# model: pendulum\n# file: test_csv.yaml\n"
                               "# set: l=2, m = 3 kg\n# method: tree\n# integrator: auto\n# drift: project\n"
                               "# start: 0\n# end: 2.5\n# tolerance: 1e-09\n# output: 0.5\n"
                               "# record: pin.q,  kinetic\n"
                               "#| linkwork: 1\n#|\n#| name: pendulum # \"quoted\", \xC3\xBC\n#| end\n"
                               "t [s],pin.q [rad],kinetic [J]\n";
    assert_string_equal(text, head);
    double q = 0.25, v = 0;
    const lw_ledger ledger = {1, 2, 3, 4, 5, 6};
    assert_int_equal(lw_results_write(csv, &(lw_sample){.q = &q, .v = &v, .ledger = &ledger}), LW_OK);
    assert_int_equal(lw_results_write(csv, &(lw_sample){.t = 0.5, .q = &q, .v = &v}), LW_OK);
    const lw_run_summary summary = {.method = "tree",
                                    .integrator = "erk",
                                    .t_end = 0.5,
                                    .steps = 3,
                                    .evaluations = 22,
                                    .rejected = 1,
                                    .samples = 2,
                                    .wall_s = 0.125,
                                    .energy_initial = 3,
                                    .energy_final = 4,
                                    .energy_max_drift = 1e-9,
                                    .position_max = 1e-12,
                                    .velocity_max = 1e-11,
                                    .ledger = ledger,
                                    .balance_max = 1e-8,
                                    .verdict = {.ok = false, .reason_count = 1, .reasons = {"energy: lost"}}};
    assert_int_equal(lw_results_close(csv, &summary, &error), LW_OK);
    read_text(text, sizeof text);
    assert_string_equal(
        text + strlen(head),
        "0,0.25,1\n0.5,0.25,0\n# method: tree\n# integrator: erk\n# t_end: 0.5\n# samples: 2\n"
        "# steps: 3\n# rejected: 1\n# evaluations: 22\n# wall_s: 0.125\n"
        "# energy_initial: 3\n# energy_final: 4\n# energy_max_drift: 1e-09\n"
        "# position_violation_max: 1e-12\n# velocity_violation_max: 1e-11\n# kinetic: 1\n"
        "# potential: 2\n# drives: 3\n# forces: 4\n# dissipation: 5\n# unaccounted: 6\n"
        "# balance_max: 1e-08\n# verdict: doubtful\n# reason: energy: lost\n");
    lw_results_table *table = read_all();
    assert_int_equal(table->row_count, 2);
    assert_string_equal(table->integrator, "erk"); /* the end knows better */
    lw_results_table_close(table);
    remove("test_csv.yaml");

    /* without the model's file there is no text; other keys are left out where there is nothing to tell */
    assert_int_equal(lw_results_open(model, &(lw_results_options){.path = path, .record = "t"}, &csv, &error),
                     LW_OK);
    assert_int_equal(lw_results_close(csv, NULL, &error), LW_OK);
    read_text(text, sizeof text);
    assert_string_equal(text, "# linkwork: " LW_VERSION "\n# model: pendulum\n# file: test_csv.yaml\n"
                              "# record: t\nt [s]\n");
    lw_model_destroy(model);
}

/* A cut joint closes a loop; its coordinates follow from the bodies' places. A translation along one axis has q
 * and v. The centre of mass is what the usual record has of a body. */
static void cut_joints_have_columns(void **state) {
    (void)state;
    lw_spec *spec = lw_spec_create("loop");
    lw_body_spec body = {.name = "bar", .mass = 1, .inertia = {1, 1, 1, 0, 0, 0}};
    assert_int_equal(lw_spec_add_body(spec, &body), LW_OK);
    lw_joint_spec joint = {.name = "slide", .type = LW_JOINT_TRANSLATION, .bodies = {LW_GROUND, "bar"}};
    joint.geometry[0].axes[0][0] = 1;
    joint.geometry[0].axis_count = 1;
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    joint.name = "guide";
    joint.type = LW_JOINT_PRISMATIC;
    joint.cut = true;
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
    lw_model *model = NULL;
    assert_int_equal(lw_model_compile(spec, NULL, NULL, &model), LW_OK);
    lw_spec_destroy(spec);

    lw_error error;
    lw_results *csv;
    assert_int_equal(lw_results_open(model, &(lw_results_options){.path = path}, &csv, &error), LW_OK);
    double q = 0.25, v = 0.5;
    assert_int_equal(lw_results_write(csv, &(lw_sample){.q = &q, .v = &v}), LW_OK);
    assert_int_equal(lw_results_close(csv, NULL, &error), LW_OK);
    lw_results_table *table = read_all();
    assert_int_equal(table->column_count, 1 + 4 + 3 + 6);
    assert_true(fabs(value_of(table, "guide.q [m]", 0) - 0.25) < 1e-15);
    assert_true(value_of(table, "slide.q [m]", 0) == 0.25 && value_of(table, "slide.v [m/s]", 0) == 0.5);
    assert_true(value_of(table, "com(bar).x [m]", 0) == 0.25);
    lw_results_table_close(table);
    lw_model_destroy(model);
}

static void faults_of_writing_are_reported(void **state) {
    (void)state;
    lw_model *model = every_joint();
    lw_error error;
    lw_results *csv;
    assert_int_equal(
        lw_results_open(model, &(lw_results_options){.path = "no/such/folder/x.csv"}, &csv, &error),
        LW_ERROR_FILE);
    assert_null(csv);
    assert_string_equal(error.object, "results file \"no/such/folder/x.csv\"");
    assert_non_null(strstr(error.message, "cannot be opened: "));
    assert_int_equal(lw_results_open(model, &(lw_results_options){.path = NULL}, &csv, &error),
                     LW_ERROR_ARGUMENT);
    assert_int_equal(lw_results_close(NULL, NULL, &error), LW_OK);

    assert_int_equal(lw_results_open(model, &(lw_results_options){.path = "x.mat"}, &csv, &error),
                     LW_ERROR_ARGUMENT);
    assert_string_equal(error.object, "results file \"x.mat\"");
    assert_non_null(strstr(error.remedy, ".h5"));

    /* a full disk, where the system has one to try: the header does not fit already */
    FILE *full = fopen("/dev/full", "wb");
    if (full) {
        fclose(full);
        remove(path);
        assert_int_equal(symlink("/dev/full", path), 0);
        assert_int_equal(lw_results_open(model, &(lw_results_options){.path = path}, &csv, &error),
                         LW_ERROR_FILE);
        assert_null(csv);
        assert_non_null(strstr(error.message, "cannot be written: "));
    }
    lw_model_destroy(model);
}

static int remove_file(void **state) {
    (void)state;
    remove(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns_come_back),
        cmocka_unit_test(metadata_come_first_and_last),
        cmocka_unit_test(cut_joints_have_columns),
        cmocka_unit_test(faults_of_writing_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
