#define _GNU_SOURCE
#include "fmu_importer.h"

#include <linkwork/linkwork.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- unpacking -------------------------------------------------------------------------------------- */

static unsigned number(const unsigned char *at, int bytes) {
    unsigned value = 0;
    for (int k = 0; k < bytes; k++) value |= (unsigned)at[k] << 8 * k;
    return value;
}

static unsigned char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    fseek(file, 0, SEEK_SET);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = 0;
    fclose(file);
    return bytes;
}

static void write_file(const char *folder, const char *name, const unsigned char *bytes, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Stored files only, from their local headers. */
static void unpack(const char *archive, const char *folder) {
    size_t size, at = 0;
    unsigned char *bytes = read_file(archive, &size);
    while (at + 30 < size && number(bytes + at, 4) == 0x04034b50) {
        char name[256];
        const unsigned length = number(bytes + at + 26, 2), extra = number(bytes + at + 28, 2);
        const unsigned stored = number(bytes + at + 18, 4);
        assert_int_equal(number(bytes + at + 8, 2), 0);
        snprintf(name, sizeof name, "%.*s", (int)length, (const char *)bytes + at + 30);
        write_file(folder, name, bytes + at + 30 + length + extra, stored);
        at += 30 + length + extra + stored;
    }
    free(bytes);
}

/* --- the description -------------------------------------------------------------------------------- */

unsigned importer_reference(const importer *fmu, const char *name) {
    char value[32] = "";
    const char *at = importer_variable(fmu, name);
    if (!at) fail_msg("there is no variable %s", name);
    assert_true(importer_attribute(at, NULL, "valueReference", value, sizeof value));
    return (unsigned)strtoul(value, NULL, 10);
}

double importer_start(const importer *fmu, const char *name) {
    char value[64];
    const char *at = importer_variable(fmu, name);
    if (!at) fail_msg("there is no variable %s", name);
    return importer_attribute(at, strchr(at, '\n'), "start", value, sizeof value) ? strtod(value, NULL)
                                                                                  : (double)NAN;
}

/* --- opening ---------------------------------------------------------------------------------------- */

void importer_load(importer *fmu) {
    char path[1024], fault[1200];
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", fmu->folder,
             fmu->version == 2 ? "linux64" : "x86_64-linux", fmu->identifier);
    if (!importer_load_library(fmu, path, fault, sizeof fault)) fail_msg("%s", fault);
}

void importer_unload(importer *fmu) { assert_true(importer_unload_library(fmu)); }

void importer_open(importer *fmu, const char *model, int version, const char *settings) {
    static int made;
    char archive[600];
    lw_setting list[8];
    size_t setting_count = 0;
    char text[512] = "";
    *fmu = (importer){.version = version};
    if (settings) snprintf(text, sizeof text, "%s", settings);
    for (char *at = strtok(text, ","); at; at = strtok(NULL, ",")) {
        char *equals = strchr(at, '=');
        *equals = 0;
        list[setting_count++] = (lw_setting){at, equals + 1};
    }
    lw_spec *spec = NULL;
    lw_error error = {0};
    lw_fmu_options options;
    assert_int_equal(lw_read_model(model, list, setting_count, NULL, &spec), LW_OK);
    char *here = getcwd(NULL, 0);
    snprintf(fmu->folder, sizeof fmu->folder, "%s/fmu-test-%d-%d", here, (int)getpid(), made++);
    free(here);
    snprintf(archive, sizeof archive, "%s.fmu", fmu->folder);
    lw_fmu_defaults(&options);
    options.version = version;
    options.reactions = "*";
    options.runtime = LW_FMU_RUNTIME;
    if (lw_export_fmu(spec, archive, &options, &error) != LW_OK) fail_msg("%s", error.message);
    lw_spec_destroy(spec);
    unpack(archive, fmu->folder);
    remove(archive);
    char path[700];
    size_t size;
    snprintf(path, sizeof path, "%s/modelDescription.xml", fmu->folder);
    fmu->description = (char *)read_file(path, &size);
    assert_true(importer_describe(fmu));
    importer_load(fmu);
}

void importer_close(importer *fmu) {
    importer_unload(fmu);
    free(fmu->description);
    char path[1200];
    snprintf(path, sizeof path, "%s/binaries/%s/%s.so", fmu->folder,
             fmu->version == 2 ? "linux64" : "x86_64-linux", fmu->identifier);
    remove(path);
    snprintf(path, sizeof path, "%s/binaries/%s/%s.dll", fmu->folder,
             fmu->version == 2 ? "win64" : "x86_64-windows", fmu->identifier);
    remove(path);
    const char *const rest[] = {"resources/model.linkwork",
                                "documentation/licenses/license.txt",
                                "documentation/licenses",
                                "documentation",
                                "modelDescription.xml",
                                "binaries/linux64",
                                "binaries/x86_64-linux",
                                "binaries/win64",
                                "binaries/x86_64-windows",
                                "binaries",
                                "resources",
                                ""};
    for (size_t k = 0; k < sizeof rest / sizeof rest[0]; k++) {
        snprintf(path, sizeof path, "%s/%s", fmu->folder, rest[k]);
        remove(path);
    }
}
