/* sweep_hdf5_read.c - all of a sweep's HDF5 file, for whoever draws it.
 */
#include "io/results/hdf5_library.h"
#include "io/results/read_results.h"
#include "sweep/sweep_parts.h"

#include <stdlib.h>
#include <string.h>

bool lw_sweep_hdf5_is(const char *path) {
    H5E_auto2_t print;
    void *context;
    char why[160];
    if (!lw_is_hdf5(path) || !lw_hdf5_open(why, sizeof why)) return false;
    (void)H5Eget_auto2(H5E_DEFAULT, &print, &context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const bool is = file >= 0 && H5Aexists(file, "linkwork-sweep") > 0;
    if (file >= 0) (void)H5Fclose(file);
    (void)H5Eset_auto2(H5E_DEFAULT, print, context);
    return is;
}

/* The texts of a dataset of fixed length, of `size` bytes each with a zero at the end. */
static char *read_texts(hid_t file, const char *name, size_t *size, size_t *count) {
    hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t type = set >= 0 ? H5Dget_type(set) : H5I_INVALID_HID, space = set >= 0 ? H5Dget_space(set) : set;
    char *all = NULL;
    *size = type >= 0 ? H5Tget_size(type) : 0;
    const hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    *count = points > 0 ? (size_t)points : 0;
    if (*size > 0 && *size < 1 << 20 && *count < 1 << 20) all = calloc(*count + 1, *size);
    if (all && *count > 0 && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) < 0) *count = 0;
    for (size_t k = 0; all && k < *count; k++) all[(k + 1) * *size - 1] = '\0';
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    if (set >= 0) (void)H5Dclose(set);
    return all;
}

static char *read_plan(hid_t file) {
    hid_t attribute = H5Aexists(file, "plan") > 0 ? H5Aopen(file, "plan", H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    char *text = size > 0 && size < 1 << 28 ? calloc(size + 1, 1) : NULL;
    if (text && H5Aread(attribute, type, text) < 0) text[0] = '\0';
    if (type >= 0) (void)H5Tclose(type);
    if (attribute >= 0) (void)H5Aclose(attribute);
    return text;
}

/* A dataset of numbers with this many of them. */
static bool read_numbers(hid_t file, const char *name, hid_t type, size_t wanted, void *to) {
    hid_t set = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : H5I_INVALID_HID;
    hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    bool done = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)wanted;
    if (done && wanted > 0) done = H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) >= 0;
    if (space >= 0) (void)H5Sclose(space);
    if (set >= 0) (void)H5Dclose(set);
    return done;
}

lw_status lw_sweep_hdf5_read(const char *path, lw_sweep_contents *c, lw_error *error) {
    char why[160];
    hid_t file = lw_hdf5_open(why, sizeof why) ? H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT) : H5I_INVALID_HID;
    size_t units = 0;
    *c = (lw_sweep_contents){0};
    bool done = file >= 0;
    if (done) {
        c->plan = read_plan(file);
        c->names = read_texts(file, "columns", &c->name_size, &c->columns);
        c->units = read_texts(file, "units", &c->unit_size, &units);
        c->texts = read_texts(file, "texts", &c->text_size, &c->text_count);
        hid_t set = H5Dopen2(file, "status", H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : set;
        c->count = space >= 0 ? (size_t)H5Sget_simple_extent_npoints(space) : 0;
        if (space >= 0) (void)H5Sclose(space);
        if (set >= 0) (void)H5Dclose(set);
        c->values = calloc(c->count * c->columns + 1, sizeof *c->values);
        c->status = calloc(c->count + 1, 1);
        done = c->plan && c->names && c->units && units == c->columns && c->values && c->status &&
               read_numbers(file, "values", H5T_NATIVE_DOUBLE, c->count * c->columns, c->values) &&
               read_numbers(file, "status", H5T_NATIVE_UCHAR, c->count, c->status);
        (void)H5Fclose(file);
    }
    return done ? LW_OK
                : lw_sweep_file_fault(error, path, "read", "it is not the whole file of a sweep",
                                      "give a file that linkwork sweep --out has written");
}
