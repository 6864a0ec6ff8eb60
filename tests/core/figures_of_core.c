/* figures_of_core.c - a program that is linked with linkwork-core and libm alone: figures of models whose specs lie in
 * files as bytes.
 *
 * Call: figures-of-core NAME FILE [NAME FILE ...]
 */
#include "figures.h"

#include <stdlib.h>
#include <string.h>

static void *read_bytes(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    void *bytes = length > 0 ? malloc((size_t)length) : NULL;
    *size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
    fclose(file);
    return bytes;
}

/* What core does not have is refused with these words. */
static int write_refusal(const lw_spec *spec) {
    lw_model *model = NULL;
    lw_error error = {0};
    if (lw_model_compile(spec, NULL, NULL, &model) != LW_OK) return 1;
    lw_run_options options;
    lw_run_defaults(model, &options);
    options.method = "lagrange", options.integrator = "bdf", options.tolerance = 1e-6;
    const lw_status status = lw_run_check(model, &options, &error);
    fprintf(stderr, "%d %s; %s\n", (int)status, error.message, error.remedy);
    lw_model_destroy(model);
    return 0;
}

int main(int argc, char **argv) {
    for (int k = 1; k + 1 < argc; k += 2) {
        size_t size = 0;
        void *bytes = read_bytes(argv[k + 1], &size);
        lw_spec *spec = NULL;
        lw_error error = {0};
        if (lw_spec_load(bytes, size, &spec, &error) != LW_OK) {
            fprintf(stderr, "%s: %s\n", argv[k], error.message);
            return 1;
        }
        if (k == 1 && write_refusal(spec) != 0) return 1;
        if (!write_figures(argv[k], spec, stdout)) return 1;
        lw_spec_destroy(spec);
        free(bytes);
    }
    return 0;
}
