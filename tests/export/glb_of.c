/* glb_of.c - runs a model and writes its motion as .glb. Call: glb-of MODEL FILE.glb [grid]. */
#include <linkwork/linkwork.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const lw_model *model;
    lw_data *data;
    double *t, *poses;
    size_t count, room, width;
} motion;

static bool observe(const lw_sample *sample, void *context) {
    motion *m = context;
    if (m->count == m->room) {
        m->room = m->room ? 2 * m->room : 1024;
        m->t = realloc(m->t, m->room * sizeof *m->t);
        m->poses = realloc(m->poses, (m->room * m->width + 1) * sizeof *m->poses);
        if (!m->t || !m->poses) return false;
    }
    m->t[m->count] = sample->t;
    return lw_gltf_poses(m->model, m->data, sample->t, sample->q, m->poses + m->count++ * m->width) == LW_OK;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    lw_spec *spec = NULL;
    lw_model *model = NULL;
    lw_error error = {0};
    lw_run_options options;
    lw_gltf_summary summary;
    motion m = {0};
    lw_status status = lw_read_model(argv[1], NULL, 0, NULL, &spec);
    if (status == LW_OK) status = lw_model_compile(spec, NULL, NULL, &model);
    if (status == LW_OK) status = lw_data_create(model, NULL, &m.data);
    if (status == LW_OK) {
        lw_run_defaults(model, &options);
        m.model = model;
        m.width = 7 * (size_t)lw_model_body_count(model);
        options.observe = observe;
        options.context = &m;
        status = lw_simulate(model, &options, NULL, NULL, NULL, &error);
    }
    const lw_gltf_options how = {.grid = argc > 3};
    if (status == LW_OK)
        status = lw_export_gltf(model, m.t, m.poses, m.count, argv[2], &how, &summary, &error);
    if (status == LW_OK)
        printf("%zu bytes, %zu nodes, %zu keys of %zu samples\n", summary.bytes, summary.nodes, summary.keys,
               summary.samples);
    else
        fprintf(stderr, "%s: %s\n", argv[1], error.message[0] ? error.message : lw_status_text(status));
    free(m.t);
    free(m.poses);
    lw_data_destroy(m.data);
    lw_model_destroy(model);
    lw_spec_destroy(spec);
    return status == LW_OK ? 0 : 1;
}
