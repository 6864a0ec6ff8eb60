/* test_sdf_poses.c - where links, frames and joints of an SDF are, against another reader: libsdformat.
 *
 * tests/import/sdf/poses.txt has what judges/sdf_poses.cc writes with Debian's libsdformat; `make test-import`
 * writes it anew and calls this program with that file. Compared are the poses of links and frames, the
 * points of joints on both sides and their axes, as the mechanism is drawn, to 1e-12 of a metre and of a unit
 * vector: a dozen poses are composed in another order, and rounding is 1e-16 in each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER LW_SOURCE_DIR "/tests/import/sdf/"

static const double tolerance = 1e-12;
static const char *digests = FOLDER "poses.txt";

typedef struct drawn {
    lw_spec *spec;
    lw_model *model;
    lw_data *data;
    double *q;
} drawn;

static void close_file(drawn *d) {
    lw_data_destroy(d->data);
    lw_model_destroy(d->model);
    lw_spec_destroy(d->spec);
    free(d->q);
    *d = (drawn){.spec = NULL};
}

static void open_file(drawn *d, const char *name) {
    char path[600];
    lw_import_options options;
    lw_report *report = lw_report_create();
    close_file(d);
    lw_import_defaults(&options);
    options.keep_fixed = true;
    snprintf(path, sizeof path, FOLDER "%s", name);
    assert_int_equal(lw_import(path, &options, report, &d->spec), LW_OK);
    assert_int_equal(lw_model_compile(d->spec, NULL, report, &d->model), LW_OK);
    assert_int_equal(lw_data_create(d->model, NULL, &d->data), LW_OK);
    d->q = calloc((size_t)lw_model_q_size(d->model) + 1, sizeof *d->q);
    double *v = calloc((size_t)lw_model_v_size(d->model) + 1, sizeof *v);
    assert_non_null(d->q);
    assert_non_null(v);
    lw_model_initial_state(d->model, d->q, v);
    free(v);
    lw_report_destroy(report);
}

static void turn(const double q[4], double R[9]) {
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, rows, sizeof rows);
}

static void apply(const double R[9], const double a[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = R[3 * i] * a[0] + R[3 * i + 1] * a[1] + R[3 * i + 2] * a[2];
}

/* Where a body or frame lies; false if there is none of this name. */
static bool place(const drawn *d, const char *name, double p[3], double R[9]) {
    const int frame = lw_model_frame(d->model, name);
    int body = lw_model_body(d->model, name);
    double own[3] = {0, 0, 0}, rotation[4] = {1, 0, 0, 0}, inner[9], whole[9], at[3];
    if (frame >= 0) body = lw_model_frame_body(d->model, frame, own, rotation);
    if (body < 0) return false;
    assert_int_equal(lw_body_pose(d->model, d->data, 0, d->q, body, p, R), LW_OK);
    turn(rotation, inner);
    apply(R, own, at);
    for (int i = 0; i < 3; i++) {
        p[i] += at[i];
        for (int k = 0; k < 3; k++)
            whole[3 * i + k] =
                R[3 * i] * inner[k] + R[3 * i + 1] * inner[3 + k] + R[3 * i + 2] * inner[6 + k];
    }
    memcpy(R, whole, sizeof whole);
    return true;
}

/* The name here: without that of the only model of a file. */
static const char *own_name(const drawn *d, const char *full, bool joint) {
    for (const char *name = full; name; name = strstr(name, "::") ? strstr(name, "::") + 2 : NULL) {
        double p[3], R[9];
        if (joint ? lw_model_joint(d->model, name) >= 0 : place(d, name, p, R)) return name;
    }
    return NULL;
}

static void near(const double *a, const double *b, int count, const char *name) {
    for (int k = 0; k < count; k++) {
        if (fabs(a[k] - b[k]) > tolerance)
            print_message("%s: entry %d: %.17g, not %.17g\n", name, k, a[k], b[k]);
        assert_true(fabs(a[k] - b[k]) <= tolerance);
    }
}

static void compare_object(const drawn *d, const char *full, const double want[7]) {
    const char *name = own_name(d, full, false);
    double p[3], R[9], other[9];
    if (!name) print_message("nothing is called %s\n", full);
    assert_non_null(name);
    assert_true(place(d, name, p, R));
    near(p, want, 3, full);
    turn(want + 3, other);
    near(R, other, 9, full);
}

/* count: 3, 6 or 9 numbers, the point and what axes there are. */
static void compare_joint(drawn *d, const char *full, const double *want, int count) {
    const char *name = own_name(d, full, true);
    if (!name) { /* a gearbox, which is a coupling here */
        bool coupling = false;
        const char *end = strstr(full, "::");
        for (size_t k = 0; k < lw_spec_constraint_count(d->spec); k++)
            coupling |= strcmp(lw_spec_constraint(d->spec, k)->name, full) == 0 ||
                        strcmp(lw_spec_constraint(d->spec, k)->name, end ? end + 2 : full) == 0;
        if (!coupling) print_message("there is no joint %s\n", full);
        assert_true(coupling);
        return;
    }
    char more[320];
    snprintf(more, sizeof more, "%s.axis2", name);
    const bool two = lw_model_joint(d->model, more) >= 0; /* a revolute2 */
    for (int part = 0; part < (two ? 2 : 1); part++)
        for (size_t k = 0; k < lw_spec_joint_count(d->spec); k++) {
            const lw_joint_spec *joint = lw_spec_joint(d->spec, k);
            if (strcmp(joint->name, part ? more : name) != 0) continue;
            for (int side = 0; side < 2; side++) {
                double p[3], R[9], at[3], axis[3];
                assert_true(place(d, joint->bodies[side], p, R));
                apply(R, joint->geometry[side].point, at);
                for (int i = 0; i < 3; i++) at[i] += p[i];
                near(at, want, 3, full);
                if (joint->type == LW_JOINT_SPHERICAL || joint->type == LW_JOINT_WELD) continue;
                for (int a = 0; a < (count - 3) / 3; a++) {
                    if (two && a != part) continue;
                    const double *own = joint->geometry[side].axes[two ? 0 : a];
                    const double size = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
                    apply(R, own, axis);
                    for (int i = 0; i < 3; i++) axis[i] /= size;
                    near(axis, want + 3 + 3 * a, 3, full);
                }
            }
        }
}

static void test_poses(void **state) {
    (void)state;
    FILE *file = fopen(digests, "r");
    char line[1000], kind[20], name[300];
    int files = 0, objects = 0;
    drawn d = {.spec = NULL};
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        double x[9];
        int used = 0;
        if (sscanf(line, "> %299s", name) == 1) {
            open_file(&d, name);
            files++;
            continue;
        }
        assert_int_equal(sscanf(line, "%19s %299s%n", kind, name, &used), 2);
        int count = 0, step = 0;
        for (const char *at = line + used; count < 9 && sscanf(at, "%lf%n", &x[count], &step) == 1;
             at += step)
            count++;
        if (strcmp(kind, "joint") == 0)
            compare_joint(&d, name, x, count);
        else {
            assert_int_equal(count, 7);
            compare_object(&d, name, x);
        }
        objects++;
    }
    fclose(file);
    close_file(&d);
    print_message("%d objects of %d files\n", objects, files);
    assert_true(files >= 7 && objects >= 70);
}

int main(int argc, char **argv) {
    if (argc > 1) digests = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_poses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
