/* probe.c - states of an imported mechanism and its equations of motion, as JSON, for the judges.
 *
 * Call: import-probe FILE SEED STATES SIZE [base=free] [loops=joints] [key=NAME] [keep-fixed] [any-path] [method=NAME]
 *       [derivatives]
 * Random coordinates and speeds within +-SIZE of the initial ones, made to close loops; at each the mass
 * matrix of the spanning tree and the accelerations, and of these the derivatives, if they are asked for.
 */
#include "random_model.h"

#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(const char *name, const double *x, int count) {
    printf("\"%s\": [", name);
    for (int k = 0; k < count; k++) printf(isfinite(x[k]) ? "%s%.17g" : "%snull", k ? ", " : "", x[k]);
    printf("]");
}

static void put_joints(const lw_model *model) {
    printf("\"joints\": [");
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        lw_joint_info info = lw_model_joint_info(model, j);
        printf("%s\n  {\"name\": \"%s\", \"type\": \"%s\", \"cut\": %s, \"q\": %d, \"v\": %d, \"nv\": %d, "
               "\"rows\": %d}",
               j ? "," : "", info.name, lw_joint_type_name(info.type), info.cut ? "true" : "false", info.q,
               info.v, info.v_count, info.rows);
    }
    printf("],\n");
}

/* Random speeds in the order of the joints in the file, which does not depend on the tree. */
static void random_speeds(const lw_model *model, lw_random *random, double size, double *v) {
    for (int j = 0; j < lw_model_joint_count(model); j++) {
        const lw_joint_info joint = lw_model_joint_info(model, j);
        for (int k = 0; k < joint.v_count; k++) {
            const double speed = size * (2 * random_unit(random) - 1);
            if (!joint.cut) v[joint.v + k] = speed;
        }
    }
}

/* Random coordinates; quaternions stay of unit length. */
static void randomise(const lw_model *model, lw_random *random, double size, double *q, double *v) {
    lw_model_initial_state(model, q, v);
    random_speeds(model, random, size, v);
    (void)lw_integrate_q(model, q, v, 1);
    random_speeds(model, random, size, v);
}

static void put_derivatives(const lw_model *model, const lw_solver_options *options, const double *q,
                            const double *v) {
    const size_t nv = (size_t)lw_model_v_size(model);
    double *matrices = calloc(3 * nv * nv + 1, sizeof *matrices);
    lw_derivatives *derivatives = NULL;
    const lw_acceleration_derivatives out = {
        .dq = matrices, .dv = matrices + nv * nv, .dtau = matrices + 2 * nv * nv};
    if (lw_derivatives_create(model, options, NULL, &derivatives, NULL) != LW_OK ||
        lw_derivatives_of_accelerations(derivatives, 0, q, v, NULL, &out, NULL) != LW_OK)
        exit(1);
    printf(", "), put("dq", out.dq, (int)(nv * nv));
    printf(", "), put("dv", out.dv, (int)(nv * nv));
    printf(", "), put("dtau", out.dtau, (int)(nv * nv));
    lw_derivatives_destroy(derivatives);
    free(matrices);
}

static void put_states(const lw_model *model, const lw_solver_options *options, int seed, int states,
                       double size, bool derivatives) {
    const int nq = lw_model_q_size(model), nv = lw_model_v_size(model);
    double *q = calloc((size_t)nq + 1, sizeof *q), *v = calloc((size_t)nv + 1, sizeof *v),
           *a = calloc((size_t)nv + 1, sizeof *a), *mass = calloc((size_t)nv * (size_t)nv + 1, sizeof *mass);
    lw_random random = random_seed((uint64_t)seed);
    lw_data *data = NULL;
    lw_solver *solver = NULL;
    lw_error error = {0};
    if (lw_data_create(model, NULL, &data) != LW_OK) exit(1);
    const lw_status made = lw_solver_create(model, options, NULL, &solver, &error);
    printf("\"method\": \"%s\", \"fault\": \"%s\",\n", made == LW_OK ? lw_solver_method(solver) : "none",
           made == LW_OK ? "" : "no method");
    printf("\"states\": [");
    for (int s = 0, made_states = 0; s < 20 * states && made_states < states; s++) {
        randomise(model, &random, size, q, v);
        if (lw_assemble(model, 0, q, v, NULL, &error) != LW_OK) continue;
        memset(a, 0, (size_t)nv * sizeof *a);
        const lw_status status =
            made == LW_OK ? lw_solver_accelerations(solver, 0, q, v, NULL, a, &error) : LW_ERROR_UNSUPPORTED;
        if (lw_tree_mass_matrix(model, data, 0, q, mass) != LW_OK) exit(1);
        printf("%s\n  {\"status\": %d, ", made_states ? "," : "", (int)status);
        put("q", q, nq), printf(", "), put("v", v, nv), printf(", "), put("a", a, nv), printf(", ");
        put("mass", mass, nv * nv);
        if (derivatives) put_derivatives(model, options, q, v);
        printf("}");
        made_states++;
    }
    printf("]");
    lw_solver_destroy(solver);
    lw_data_destroy(data);
    free(q), free(v), free(a), free(mass);
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    lw_import_options options;
    lw_import_defaults(&options);
    const char *method = NULL;
    bool derivatives = false;
    for (int k = 5; k < argc; k++) {
        if (strcmp(argv[k], "base=free") == 0) options.base = LW_BASE_FREE;
        if (strcmp(argv[k], "loops=joints") == 0) options.loops = LW_LOOPS_JOINTS;
        if (strcmp(argv[k], "derivatives") == 0) derivatives = true;
        if (strcmp(argv[k], "keep-fixed") == 0) options.keep_fixed = true;
        if (strcmp(argv[k], "any-path") == 0) options.any_path = true;
        if (strncmp(argv[k], "key=", 4) == 0) options.key = argv[k] + 4;
        if (strncmp(argv[k], "method=", 7) == 0) method = argv[k] + 7;
    }
    lw_report *report = lw_report_create();
    lw_import_notes *notes = options.notes = lw_import_notes_create();
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_status status = lw_import(argv[1], &options, report, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, report, &model);
    for (size_t k = 0; k < lw_report_size(report) && status != LW_OK; k++) {
        char text[2048];
        lw_error_format(lw_report_get(report, k), text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
    if (status != LW_OK) return 1;
    printf("{\"bodies\": %zu, \"frames\": %zu, \"constraints\": %zu,\n", lw_spec_body_count(spec),
           lw_spec_frame_count(spec), lw_spec_constraint_count(spec));
    printf("\"left_out\": [");
    for (size_t k = 0; k < lw_import_notes_size(notes); k++)
        printf("%s\"%d %s\"", k ? ", " : "", lw_import_notes_get(notes, k)->count,
               lw_import_notes_get(notes, k)->kind);
    printf("],\n");
    put_joints(model);
    double *q = calloc((size_t)lw_model_q_size(model) + 1, sizeof *q),
           *v = calloc((size_t)lw_model_v_size(model) + 1, sizeof *v);
    lw_model_initial_state(model, q, v);
    lw_mobility *mobility = NULL;
    int freedom = -1;
    if (lw_assemble(model, 0, q, v, NULL, NULL) == LW_OK &&
        lw_mobility_create(model, 0, q, &mobility, NULL) == LW_OK)
        freedom = lw_mobility_freedom(mobility);
    printf("\"mobility\": %d, \"nv\": %d,\n", freedom, lw_model_v_size(model));
    lw_solver_options solving;
    lw_solver_defaults(model, &solving);
    solving.method = method;
    put_states(model, &solving, atoi(argv[2]), atoi(argv[3]), atof(argv[4]), derivatives);
    printf("}\n");
    lw_mobility_destroy(mobility);
    free(q), free(v);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    lw_import_notes_destroy(notes);
    lw_report_destroy(report);
    return 0;
}
