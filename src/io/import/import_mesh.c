/* import_mesh.c - meshes by their URIs: where package://, model:// and file:// lead, and relative paths.
 *
 * A package is looked for in the folders that the caller names, in those of ROS_PACKAGE_PATH,
 * AMENT_PREFIX_PATH (share of each), GZ_SIM_RESOURCE_PATH and GAZEBO_MODEL_PATH, and in the file's folder and
 * those above it; in each as FOLDER/package/path, and as FOLDER/path where FOLDER has the package's name. A
 * mesh is only drawn, so that one that is missing is a warning.
 */
#define _XOPEN_SOURCE 700

#include "io/import/import_spec.h"
#include "io/mesh/mesh_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_LEVELS = 8, MOST_PATH = 4096 };

typedef struct lw_mesh_search {
    const char *package, *path; /* package "": a plain path */
    char found[MOST_PATH];
} lw_mesh_search;

static bool try_path(lw_mesh_search *search, const char *folder, size_t length, const char *inner,
                     const char *path) {
    const int needed =
        snprintf(search->found, sizeof search->found, "%.*s%s%s%s%s", (int)length, folder,
                 length > 0 && folder[length - 1] != '/' ? "/" : "", inner, inner[0] ? "/" : "", path);
    if (needed > 0 && needed < MOST_PATH && access(search->found, R_OK) == 0) return true;
    search->found[0] = '\0';
    return false;
}

/* Looks in one folder. */
static bool try_folder(lw_mesh_search *search, const char *folder, size_t length) {
    while (length > 1 && folder[length - 1] == '/') length--;
    if (search->package[0] && try_path(search, folder, length, search->package, search->path)) return true;
    const size_t size = strlen(search->package);
    const bool is_package =
        size == 0 || (length >= size && strncmp(folder + length - size, search->package, size) == 0 &&
                      (length == size || folder[length - size - 1] == '/'));
    return is_package && try_path(search, folder, length, "", search->path);
}

static bool try_list(lw_mesh_search *search, const char *list, const char *inner) {
    while (list && *list) {
        const size_t length = strcspn(list, ":");
        char folder[MOST_PATH];
        const int needed = snprintf(folder, sizeof folder, "%.*s%s", (int)length, list, inner);
        if (length > 0 && needed > 0 && needed < MOST_PATH && try_folder(search, folder, (size_t)needed))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* The folder of the file and those above it. */
static bool try_above(lw_mesh_search *search, const char *file) {
    char *real = realpath(file, NULL);
    bool found = false;
    if (real) {
        size_t length = strlen(real);
        for (int level = 0; level < MOST_LEVELS && length > 1 && !found; level++) {
            while (length > 0 && real[length - 1] != '/') length--;
            if (length > 1) length--;
            found = try_folder(search, real, length);
        }
    }
    free(real);
    return found;
}

static bool find(lw_importer *importer, lw_mesh_search *search) {
    const lw_import_options *options = &importer->options;
    if (search->package[0] == '\0') {
        if (search->path[0] == '/') return try_path(search, "", 0, "", search->path);
        const char *slash = strrchr(importer->file, '/');
        if (try_path(search, importer->file, slash ? (size_t)(slash - importer->file) + 1 : 0, "",
                     search->path))
            return true;
    }
    for (size_t k = 0; k < options->folder_count; k++)
        if (try_folder(search, options->folders[k], strlen(options->folders[k]))) return true;
    return try_above(search, importer->file) || try_list(search, getenv("ROS_PACKAGE_PATH"), "") ||
           try_list(search, getenv("AMENT_PREFIX_PATH"), "/share") ||
           try_list(search, getenv("GZ_SIM_RESOURCE_PATH"), "") ||
           try_list(search, getenv("GAZEBO_MODEL_PATH"), "");
}

/* Splits a URI; false for a kind that cannot be a file here. */
static bool split(lw_importer *importer, const char *uri, lw_mesh_search *search) {
    static const char *const packages[] = {"package://", "model://"};
    *search = (lw_mesh_search){.package = "", .path = uri};
    for (int k = 0; k < 2; k++) {
        const size_t size = strlen(packages[k]);
        if (strncmp(uri, packages[k], size) != 0) continue;
        const size_t length = strcspn(uri + size, "/");
        search->package = lw_import_print(importer, "%.*s", (int)length, uri + size);
        search->path = uri + size + length + (uri[size + length] == '/');
        return true;
    }
    if (strncmp(uri, "file://", 7) == 0)
        search->path = uri + 7;
    else if (strstr(uri, "://"))
        return false;
    return true;
}

/* A path that leads elsewhere may go no further than to what lies beside the folder of the file, where meshes
 * often are, unless any path is allowed: a file from elsewhere shall not look at the files of its user. */
static bool is_near(const lw_importer *importer, const lw_mesh_search *search) {
    const bool leads_away = search->path[0] == '/' || strstr(search->path, "..");
    if (importer->options.any_path || !leads_away) return true;
    char *file = realpath(importer->file, NULL), *found = realpath(search->found, NULL);
    bool near = false;
    if (file && found) {
        size_t length = strlen(file);
        for (int level = 0; level < 2; level++) { /* the folder of the file, and that around it */
            while (length > 0 && file[length - 1] != '/') length--;
            if (level == 0 && length > 1) length--;
        }
        near = length > 1 && strncmp(file, found, length) == 0;
    }
    free(file), free(found);
    return near;
}

const lw_mesh_spec *lw_import_mesh(lw_importer *importer, const char *uri, lw_place place,
                                   const char *object) {
    lw_mesh_search *search = LW_NEW(importer->arena, lw_mesh_search, 1);
    if (!search) {
        importer->out_of_memory = true;
        return NULL;
    }
    const char *dot = strrchr(uri, '.');
    if (!dot ||
        (strcasecmp(dot, ".stl") != 0 && strcasecmp(dot, ".obj") != 0 && strcasecmp(dot, ".msh") != 0)) {
        lw_import_note_of(importer, place, "meshes of other formats than STL, OBJ and MSH",
                          "they are not drawn");
        return NULL;
    }
    if (!importer->has_folder) return NULL;
    if (!split(importer, uri, search) || !find(importer, search)) {
        lw_import_warning_once(importer, "mesh", place, object, "name its folder by --package-path",
                               "mesh \"%.200s\" was not found and is not drawn", uri);
        return NULL;
    }
    if (!is_near(importer, search)) {
        lw_import_warning_once(importer, "mesh outside", place, object, "allow other places by --allow-path",
                               "mesh \"%.200s\" lies outside the folder of the file and is not drawn", uri);
        return NULL;
    }
    lw_mesh_spec *mesh = LW_NEW(importer->arena, lw_mesh_spec, 1);
    lw_error error = {0};
    if (!mesh || lw_mesh_file_read(search->found, importer->arena, mesh, &error) != LW_OK) {
        if (!mesh || error.status == LW_ERROR_MEMORY)
            importer->out_of_memory = true;
        else
            lw_import_warning(importer, place, object, error.remedy, "mesh \"%.150s\" is not drawn: %.200s",
                              uri, error.message);
        return NULL;
    }
    return mesh;
}
