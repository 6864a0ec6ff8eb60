/* build.c - small models written in a few lines, and what a report must say.
 */
#include "build.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

void add_body(lw_spec *spec, lw_body_spec body) { assert_int_equal(lw_spec_add_body(spec, &body), LW_OK); }
void add_joint(lw_spec *spec, lw_joint_spec joint) {
    assert_int_equal(lw_spec_add_joint(spec, &joint), LW_OK);
}
void add_force(lw_spec *spec, lw_force_spec force) {
    assert_int_equal(lw_spec_add_force(spec, &force), LW_OK);
}
void add_constraint(lw_spec *spec, lw_constraint_spec constraint) {
    assert_int_equal(lw_spec_add_constraint(spec, &constraint), LW_OK);
}

void add_plain_body(lw_spec *spec, const char *name) {
    add_body(spec, (lw_body_spec){.name = name, .mass = 1, .inertia = {0.1, 0.2, 0.25}});
}

void add_plain_joint(lw_spec *spec, const char *name, lw_joint_type type, const char *first,
                     const char *second, const double point[3], const double axis[3]) {
    lw_joint_spec joint = {.name = name, .type = type, .bodies = {first, second}};
    for (int k = 0; k < 3; k++) {
        if (point) joint.geometry[0].point[k] = point[k];
        if (axis) joint.geometry[0].axes[0][k] = axis[k];
    }
    joint.geometry[0].axis_count = axis ? 1 : 0;
    add_joint(spec, joint);
}

void show_report(const lw_report *report) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        char text[1200];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        print_error("    %s\n", text);
    }
}

lw_report *compile_and_fail(lw_spec *spec) {
    lw_report *report = lw_report_create();
    lw_model *model;
    lw_status status = lw_model_compile(spec, NULL, report, &model);
    lw_spec_destroy(spec);
    assert_int_equal(status, LW_ERROR_MODEL);
    assert_null(model);
    assert_true(lw_report_errors(report) > 0);
    return report;
}

static bool has(const char *text, const char *part) { return !part || strstr(text, part); }

void must_say(const lw_report *report, lw_severity severity, const char *object, const char *message,
              const char *remedy) {
    for (size_t k = 0; k < lw_report_size(report); k++) {
        const lw_error *e = lw_report_get(report, k);
        if (e->severity == severity && (!object || strcmp(e->object, object) == 0) &&
            has(e->message, message) && has(e->remedy, remedy))
            return;
    }
    print_error("the report:\n");
    show_report(report);
    fail_msg("nobody says: %s: %s; %s", object ? object : "", message ? message : "", remedy ? remedy : "");
}
