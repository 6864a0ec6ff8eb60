/* reactions.c - what the joints of a mechanism with loops carry, and which of that the model determines. */
#include <linkwork/linkwork.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "call: reactions MODEL.yaml\n"), 2;
    lw_spec *spec;
    lw_model *model;
    lw_solver *solver = NULL;
    lw_error error = {0};
    if (lw_read_model(argv[1], NULL, 0, NULL, &spec) != LW_OK) return 1;
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return 1;
    const size_t nq = (size_t)lw_model_q_size(model), nv = (size_t)lw_model_v_size(model);
    const int joints = lw_model_joint_count(model);
    double *q = calloc(nq + 2 * nv + 6 * (size_t)joints + 1, sizeof *q);
    bool *unique = calloc(6 * (size_t)joints + 1, sizeof *unique);
    if (!q || !unique) return 1;
    double *v = q + nq, *vdot = v + nv, *reactions = vdot + nv;
    lw_model_initial_state(model, q, v);
    lw_status status = lw_assemble(model, 0, q, v, NULL, &error); /* loops must be closed */
    lw_solver_options options;
    lw_solver_defaults(model, &options);
    if (status == LW_OK) status = lw_solver_create(model, &options, NULL, &solver, &error);
    if (status == LW_OK) status = lw_solver_accelerations(solver, 0, q, v, NULL, vdot, &error);
    if (status == LW_OK) status = lw_solver_reactions(solver, reactions, unique, &error);
    if (status != LW_OK) fprintf(stderr, "%s\n", error.message);
    for (int j = 0; j < joints && status == LW_OK; j++) {
        printf("%-12s", lw_model_joint_info(model, j).name);
        for (int k = 0; k < 6; k++) /* force x y z, torque x y z; * stands at what is not unique */
            printf(" %12.5g%c", reactions[6 * j + k], unique[6 * j + k] ? ' ' : '*');
        printf("\n");
    }
    lw_solver_destroy(solver);
    free(q);
    free(unique);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status == LW_OK ? 0 : 1;
}
