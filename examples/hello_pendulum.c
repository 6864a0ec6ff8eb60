/* hello_pendulum.c - a model as text, a run, its end: the smallest whole program. */
#include <linkwork/linkwork.h>
#include <stdio.h>
#include <string.h>

static const char model_text[] = "linkwork: 1\n"
                                 "name: pendulum\n"
                                 "bodies:\n"
                                 "  bob: {mass: 1 kg, com: [0, 0, -1 m], inertia: [0, 0, 0]}\n"
                                 "joints:\n"
                                 "  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0],\n"
                                 "        axis: [0, 1, 0], q: 30 deg}\n"
                                 "run: {end: 10 s}\n";

int main(void) {
    lw_report *report = lw_report_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_error error = {0};
    lw_status status = lw_read_model_text(model_text, strlen(model_text), "pendulum", NULL, 0, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    for (size_t k = 0; k < lw_report_size(report); k++) { /* every fault and every warning */
        char text[1024];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    if (status == LW_OK) {
        double q, v;
        lw_run_options options;
        lw_run_summary summary;
        lw_run_defaults(model, &options);
        status = lw_simulate(model, &options, &q, &v, &summary, &error);
        if (status == LW_OK)
            printf("t = %g s: %.9f rad, %.9f rad/s by %s and %s; energy is off by %.1e J\n", summary.t_end, q,
                   v, summary.method, summary.integrator, summary.energy_max_drift);
        else
            fprintf(stderr, "%s\n", error.message);
    }
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_report_destroy(report);
    return status == LW_OK ? 0 : 1;
}
