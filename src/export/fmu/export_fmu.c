/* export_fmu.c - a mechanism as an FMU: a ZIP archive of the description, the runtime and the model.
 *
 *     modelDescription.xml
 *     binaries/linux64/ID.so       in FMI 3.0 binaries/x86_64-linux/ID.so
 *     binaries/win64/ID.dll        in FMI 3.0 binaries/x86_64-windows/ID.dll; where that runtime is there
 *     resources/model.linkwork     the spec as bytes (src/fmu/fmu_content.c)
 *     documentation/licenses/license.txt
 *
 * The runtime is the same for all models and needs no compiler here; it is a shared object of its own for
 * each platform, built and installed with the program. The method is chosen here and entered in the spec, so
 * that the FMU's states and indicators are those of the description on every machine.
 *
 * Source   docs/fmu.md.
 * Cost     two starts of a run, and the bytes of the runtime.
 */
#define _GNU_SOURCE /* dladdr, readlink */
#include "core/core.h"
#include "export/fmu/model_description.h"
#include "export/fmu/zip_writer.h"
#include "model/spec/spec_storage.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef LW_LIBDIR
#define LW_LIBDIR "lib"
#endif

enum { PATH = 4096, LARGEST = 64 << 20 };

/* The platforms, the first of which every FMU has: their names in FMI 2.0 and 3.0, and their libraries. */
static const struct platform {
    const char *folders[2], *suffix, *runtime;
} platforms[] = {{{"linux64", "x86_64-linux"}, "so", "fmu-linux64.so"},
                 {{"win64", "x86_64-windows"}, "dll", "fmu-win64.dll"}};
enum { PLATFORMS = sizeof platforms / sizeof platforms[0] };
static const char *const runtime_name = "fmu-linux64.so";

void lw_fmu_defaults(lw_fmu_options *options) {
    if (options) *options = (lw_fmu_options){.version = 2, .model_exchange = true, .co_simulation = true};
}

/* --- the runtime ------------------------------------------------------------------------------------ */

/* path: of a file; the runtime in a folder beside it. */
static bool beside(char path[PATH], const char *between) {
    char file[PATH + 64];
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    const int length = (int)(slash - path);
    snprintf(file, sizeof file, "%.*s/%s%s", length, path, between, runtime_name);
    if (access(file, R_OK) != 0 || strlen(file) >= PATH) return false;
    memcpy(path, file, strlen(file) + 1);
    return true;
}

static bool near_file(char path[PATH]) {
    static const char *const places[] = {"", "linkwork/", "../" LW_LIBDIR "/linkwork/", "../lib/linkwork/"};
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++)
        if (beside(path, places[k])) return true;
    return false;
}

/* Beside this program, or beside the shared library that this code is in. */
static bool find_runtime(char path[PATH]) {
    const ssize_t length = readlink("/proc/self/exe", path, PATH - 1);
    path[length > 0 ? length : 0] = '\0';
    if (near_file(path)) return true;
    Dl_info info;
    void *address;
    void (*function)(lw_fmu_options *) = lw_fmu_defaults;
    memcpy(&address, &function, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname || strlen(info.dli_fname) >= PATH) return false;
    memcpy(path, info.dli_fname, strlen(info.dli_fname) + 1);
    return near_file(path);
}

static unsigned char *read_file(const char *path, size_t *size, lw_error *error) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) length = ftell(file);
    if (length > 0 && length < LARGEST && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)length);
    if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
        free(bytes);
        bytes = NULL;
    }
    if (file) fclose(file);
    if (!bytes) lw_fail(error, LW_ERROR_FILE, NULL, "install Linkwork again", "%s cannot be read", path);
    *size = bytes ? (size_t)length : 0;
    return bytes;
}

typedef struct runtimes {
    unsigned char *bytes[PLATFORMS]; /* NULL: that platform's is not there */
    size_t sizes[PLATFORMS];
    unsigned char *licenses; /* the terms of what they are linked from; NULL: not there */
    size_t licenses_size;
} runtimes;

static bool find_first(const char *given, char path[PATH], lw_error *error) {
    if (given && strlen(given) < PATH)
        memcpy(path, given, strlen(given) + 1);
    else if (!find_runtime(path)) {
        lw_fail(error, LW_ERROR_FILE, NULL,
                "install Linkwork (make install), or build the target linkwork-fmu beside the program",
                "the runtime of FMUs, %s, was not found beside the program nor in ../" LW_LIBDIR "/linkwork",
                runtime_name);
        return false;
    }
    return true;
}

/* The runtimes for other platforms lie beside the first: path becomes that of another file there. */
static bool find_other(char path[PATH], const char *name) {
    char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    if ((size_t)(last - path) + strlen(name) >= PATH) return false;
    memcpy(last, name, strlen(name) + 1);
    return access(path, F_OK) == 0;
}

static bool read_runtimes(const char *given, runtimes *r, lw_error *error) {
    char path[PATH];
    *r = (runtimes){0};
    if (!find_first(given, path, error)) return false;
    for (int k = 0; k < PLATFORMS; k++) {
        if (k > 0 && !find_other(path, platforms[k].runtime)) continue;
        r->bytes[k] = read_file(path, &r->sizes[k], error);
        if (!r->bytes[k]) return false;
    }
    if (find_other(path, "fmu-licenses.txt")) r->licenses = read_file(path, &r->licenses_size, NULL);
    return true;
}

const char *lw_fmu_platforms(const lw_fmu_options *options) {
    char path[PATH];
    if (!find_first(options ? options->runtime : NULL, path, NULL)) return "";
    return find_other(path, platforms[1].runtime) ? "64-bit Linux and Windows" : "64-bit Linux";
}

static void clear_runtimes(runtimes *r) {
    for (int k = 0; k < PLATFORMS; k++) free(r->bytes[k]);
    free(r->licenses);
}

/* --- the model -------------------------------------------------------------------------------------- */

static lw_status compile(const lw_spec *spec, lw_model **model, lw_error *error) {
    lw_report *report = lw_report_create();
    lw_status status = lw_model_compile(spec, NULL, report, model);
    for (size_t k = 0; status != LW_OK && error && k < lw_report_size(report); k++) {
        const lw_error *fault = lw_report_get(report, k);
        if (fault->severity != LW_SEVERITY_ERROR) continue;
        *error = *fault;
        break;
    }
    lw_report_destroy(report);
    return status;
}

/* An identifier of C from the model's name. */
static void make_identifier(const char *name, char *text, size_t size) {
    size_t used = 0;
    for (; *name && used + 1 < size && used < 60; name++) {
        const unsigned char c = (unsigned char)*name;
        const bool plain = c < 128 && isalnum(c);
        if (plain && used == 0 && isdigit(c)) text[used++] = '_';
        if (plain)
            text[used++] = (char)c;
        else if (used > 0 && text[used - 1] != '_')
            text[used++] = '_';
    }
    while (used > 0 && text[used - 1] == '_') used--;
    text[used] = '\0';
    if (used == 0) snprintf(text, size, "model");
}

/* Messages of the FMU name the files of the model without the folder in which they lie here, so that the same
 * model gives the same bytes wherever it is exported. */
static void forget_folder(lw_spec *spec) {
    const char *slash = strrchr(spec->file, '/');
    const size_t length = slash ? (size_t)(slash + 1 - spec->file) : 0;
    for (size_t k = 0; k < spec->part_count; k++) {
        const char **file = &spec->parts[k].file;
        if (*file && strncmp(*file, spec->file, length) == 0) *file += length;
    }
    spec->file += length;
}

/* The spec again, with the method that a run takes. */
static lw_status fix_method(const lw_spec *spec, const lw_fmu_options *options, lw_fmu_content *content,
                            lw_error *error) {
    size_t size = 0;
    lw_model *model = NULL;
    lw_simulation *simulation = NULL;
    lw_status status = lw_spec_save(spec, NULL, 0, &size);
    void *bytes = status == LW_OK ? malloc(size) : NULL;
    if (!bytes) return lw_out_of_memory(error);
    status = lw_spec_save(spec, bytes, size, NULL);
    if (status == LW_OK) status = lw_spec_load(bytes, size, &content->spec, error);
    free(bytes);
    if (status == LW_OK)
        status = compile(content->spec, &model, error); /* Faults here have the whole path. */
    if (status == LW_OK) forget_folder(content->spec);
    if (status == LW_OK) {
        lw_run_options run;
        lw_run_defaults(model, &run);
        status = lw_simulation_create(model, &run, NULL, &simulation, error);
    }
    if (status == LW_OK && options->model_exchange) status = lw_outside_possible(simulation, error);
    if (status == LW_OK) {
        lw_run_spec run = *lw_spec_run(content->spec);
        run.method = lw_simulation_method(simulation);
        content->exchange = options->model_exchange;
        content->indicators = options->model_exchange ? lw_outside_indicators(simulation) : 0;
        status = lw_spec_set_run(content->spec, &run);
    }
    lw_simulation_destroy(simulation);
    lw_model_destroy(model);
    return status;
}

/* --- the archive ------------------------------------------------------------------------------------ */

typedef struct messages {
    char text[1024];
} messages;

static void keep_message(void *context, lw_fmu_status status, const char *category, const char *text) {
    messages *m = context;
    (void)category;
    if (status > LW_FMU_WARNING) snprintf(m->text, sizeof m->text, "%s", text);
}

static lw_status pack(const char *path, const lw_description *d, const void *content, size_t size,
                      const lw_fmu_options *options, lw_error *error) {
    size_t length = 0;
    runtimes r = {0};
    char name[128];
    char *xml = lw_description_write(d, &length, error);
    lw_zip *zip = xml && read_runtimes(options->runtime, &r, error) ? lw_zip_open(path, error) : NULL;
    lw_status status = zip ? LW_OK : LW_ERROR_FILE;
    if (zip) {
        lw_zip_add(zip, "modelDescription.xml", xml, length, false);
        for (int k = 0; k < PLATFORMS; k++) {
            if (!r.bytes[k]) continue;
            snprintf(name, sizeof name, "binaries/%s/%s.%s", platforms[k].folders[d->version - 2],
                     d->identifier, platforms[k].suffix);
            lw_zip_add(zip, name, r.bytes[k], r.sizes[k], true);
        }
        lw_zip_add(zip, "resources/" LW_FMU_CONTENT_NAME, content, size, false);
        if (r.licenses)
            lw_zip_add(zip, "documentation/licenses/license.txt", r.licenses, r.licenses_size, false);
        status = lw_zip_close(zip, error);
    }
    clear_runtimes(&r);
    free(xml);
    return status;
}

lw_status lw_export_fmu(const lw_spec *spec, const char *path, const lw_fmu_options *options,
                        lw_error *error) {
    lw_fmu_options defaults;
    lw_fmu_defaults(&defaults);
    if (!options) options = &defaults;
    if (!spec || !path) return lw_call_needs("a spec and a path", error);
    if (options->version != 2 && options->version != 3)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give 2 or 3", "there is no FMI %d here",
                       options->version);
    if (!options->model_exchange && !options->co_simulation)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "give me, cs, or both", "an FMU needs a kind");
    lw_fmu_content content = {.reactions = (char *)(options->reactions ? options->reactions : "")};
    void *bytes = NULL;
    size_t size = 0;
    char token[LW_FMU_TOKEN], identifier[64];
    messages said = {""};
    lw_fmu *fmu = NULL;
    lw_model *model = NULL;
    lw_status status = fix_method(spec, options, &content, error);
    if (status == LW_OK) status = lw_fmu_content_write(&content, &bytes, &size, token, error);
    if (status == LW_OK) status = compile(content.spec, &model, error);
    if (status == LW_OK) {
        fmu = lw_fmu_create(bytes, size, token, options->model_exchange, keep_message, &said);
        if (!fmu) status = lw_fail(error, LW_ERROR_MODEL, NULL, NULL, "%s", said.text);
    }
    if (status == LW_OK) {
        make_identifier(lw_spec_name(spec), identifier, sizeof identifier);
        const lw_description description = {.version = options->version,
                                            .exchange = options->model_exchange,
                                            .co_simulation = options->co_simulation,
                                            .identifier = identifier,
                                            .token = token,
                                            .spec = spec,
                                            .model = model,
                                            .fmu = fmu};
        status = pack(path, &description, bytes, size, options, error);
        if (status != LW_OK && error && error->status != LW_OK) status = error->status;
    }
    lw_fmu_destroy(fmu);
    lw_model_destroy(model);
    lw_spec_destroy(content.spec);
    free(bytes);
    return status;
}
