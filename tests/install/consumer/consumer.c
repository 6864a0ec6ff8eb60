/* consumer.c - uses every part of the installed library that has dependencies of its own: reads a model from
 * text (libfyaml), computes an acceleration, runs it by an adaptive integrator (SUNDIALS). A pendulum: mass 1
 * kg at the end of a massless rod of 1 m, horizontal at the start; its first angular acceleration is g / l.
 */
#include <linkwork/linkwork.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static lw_model *pendulum(void) {
    lw_spec *spec = lw_spec_create("pendulum");
    lw_body_spec bob = {.name = "bob", .kind = LW_BODY_POINT, .mass = 1, .com = {1, 0, 0}};
    lw_joint_spec pin = {.name = "pin", .type = LW_JOINT_REVOLUTE, .bodies = {LW_GROUND, "bob"}};
    pin.geometry[0].axes[0][1] = 1;
    pin.geometry[0].axis_count = 1;
    lw_model *model = NULL;
    if (spec && lw_spec_add_body(spec, &bob) == LW_OK && lw_spec_add_joint(spec, &pin) == LW_OK)
        lw_model_compile(spec, NULL, NULL, &model);
    lw_spec_destroy(spec);
    return model;
}

/* A file that is no model is refused with a reason: the reader is linked and works. */
static int reader_works(void) {
    static const char text[] = "bodies: [";
    lw_spec *spec = NULL;
    lw_report *report = lw_report_create();
    lw_status status = lw_read_model_text(text, sizeof text - 1, "broken.yaml", NULL, 0, report, &spec);
    int works = status != LW_OK && !spec && lw_report_errors(report) > 0;
    lw_report_destroy(report);
    return works;
}

int main(int argc, char **argv) {
    if (argc != 2 || strcmp(argv[1], LW_VERSION) != 0 || strcmp(lw_version(), LW_VERSION) != 0) {
        fprintf(stderr, "headers of version %s, library of %s; the program is of another\n", LW_VERSION,
                lw_version());
        return 1;
    }
    lw_model *model = pendulum();
    if (!model || !reader_works()) return 1;

    double q = 0, v = 0, vdot = 0;
    lw_error error = {0};
    if (lw_accelerations(model, NULL, 0, &q, &v, &vdot, NULL, NULL, &error) != LW_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.end = 1;
    options.tolerance = 1e-9;
    lw_run_summary summary;
    if (lw_simulate(model, &options, &q, &v, &summary, &error) != LW_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    lw_model_destroy(model);
    /* Axis y, gravity along -z: the bob at +x falls by a positive angle. The angle of a pendulum that starts
     * at rest grows by less than g t^2 / 2, and the energy of a frictionless one stays. */
    int right =
        fabs(fabs(vdot) - 9.81) < 1e-12 * 9.81 && fabs(q) > 1 && fabs(summary.energy_max_drift) < 1e-6;
    printf("qdd = %.12g, q(1 s) = %.9g, energy drift %.2g J: %s\n", vdot, q, summary.energy_max_drift,
           right ? "right" : "WRONG");
    return right ? 0 : 1;
}
