/* sweep_hdf5.c - the rows of a sweep as HDF5.
 *
 *     /           attributes: linkwork-sweep (version), plan (its lines)
 *     /values     runs x (variables, measures), double, NaN where nothing was measured
 *     /status     of each run: 0 not done, 1 ok, 2 doubtful, 3 failed
 *     /reason     of each run, a text
 *     /columns    names of the columns of values     /units     their units
 *     /texts      "column: 0 = text" for variables that take texts
 *
 * The datasets are contiguous and have their places from the beginning, so that writing rows changes numbers
 * in place and nothing else of the file: whoever is killed at any moment leaves a file that can be opened.
 * Values and reasons of waiting rows are written first, then their status, which counts. Parts of the file
 * that no row has reached take no room on disks that know holes.
 *
 * Cost     three writes for each row that waits, once a second.
 */
#define _POSIX_C_SOURCE 200809L
#include "io/results/hdf5_library.h"
#include "sweep/sweep_parts.h"

#include <linkwork/version.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct hdf5_file {
    lw_sweep_file base;
    const lw_sweep *sweep;
    char *path;
    hid_t file, values, status, reason, text;
    unsigned char *done; /* one status for each run */
    lw_sweep_row *rows;  /* those that wait */
    double *numbers;
    size_t count, room;
} hdf5_file;

static int column_count(const lw_sweep *sweep) { return sweep->design.variable_count + sweep->measure_count; }

/* HDF5 prints its faults unless told not to, which is a setting of the whole process: it is given back. */
typedef struct silence {
    H5E_auto2_t print;
    void *context;
} silence;
static silence silence_begin(void) {
    silence s = {0};
    (void)H5Eget_auto2(H5E_DEFAULT, &s.print, &s.context);
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return s;
}
static void silence_end(const silence *s) { (void)H5Eset_auto2(H5E_DEFAULT, s->print, s->context); }

static lw_status fault(const hdf5_file *h, lw_error *error, const char *action) {
    return lw_sweep_file_fault(error, h->path, action, "HDF5 or the disk refuses",
                               "is the disk full, or the file damaged?");
}

/* --- creating ------------------------------------------------------------------------------------- */

static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    (void)H5Tset_size(type, size);
    (void)H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static hid_t create_set(hid_t file, const char *name, hid_t type, int rank, const hsize_t *size,
                        const void *fill) {
    hid_t space = H5Screate_simple(rank, size, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t set = H5I_INVALID_HID;
    /* Without times of writing files of the same rows are the same, byte by byte. */
    if (H5Pset_obj_track_times(properties, false) >= 0 && H5Pset_layout(properties, H5D_CONTIGUOUS) >= 0 &&
        H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) >= 0 &&
        (!fill || H5Pset_fill_value(properties, type, fill) >= 0) &&
        H5Pset_fill_time(properties, fill ? H5D_FILL_TIME_ALLOC : H5D_FILL_TIME_NEVER) >= 0)
        set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    (void)H5Pclose(properties);
    (void)H5Sclose(space);
    return set;
}

static bool put_texts(hid_t file, const char *name, const char *const *texts, size_t count) {
    size_t size = 1;
    for (size_t k = 0; k < count; k++)
        if (strlen(texts[k]) >= size) size = strlen(texts[k]) + 1;
    char *all = calloc(count + 1, size);
    if (!all) return false;
    for (size_t k = 0; k < count; k++) memcpy(all + k * size, texts[k], strlen(texts[k]));
    const hsize_t length = count;
    hid_t type = text_type(size), set = create_set(file, name, type, 1, &length, NULL);
    const bool done =
        set >= 0 && (count == 0 || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all) >= 0);
    if (set >= 0) (void)H5Dclose(set);
    (void)H5Tclose(type);
    free(all);
    return done;
}

static bool put_attribute(hid_t file, const char *name, const char *text) {
    hid_t type = text_type(strlen(text) + 1), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    return done;
}

static bool put_columns(hdf5_file *h) {
    const int columns = column_count(h->sweep);
    const char **names = calloc((size_t)columns + 1, sizeof *names);
    const char **units = calloc((size_t)columns + 1, sizeof *units);
    bool done = names && units;
    for (int k = 0; k < columns && done; k++) {
        names[k] = lw_sweep_column_name(h->sweep, k);
        units[k] = lw_sweep_column_unit(h->sweep, k);
    }
    done = done && put_texts(h->file, "columns", names, (size_t)columns) &&
           put_texts(h->file, "units", units, (size_t)columns);
    free(names);
    free(units);
    return done;
}

/* What the numbers of texts mean: "method: 0 = rcr, 1 = lagrange". */
static bool put_meanings(hdf5_file *h) {
    char **lines = calloc((size_t)LW_VARIABLES_MOST, sizeof *lines);
    size_t count = 0;
    bool done = lines != NULL;
    for (int k = 0; done && k < h->sweep->design.variable_count; k++) {
        if (!lw_sweep_text(h->sweep, k, 0)) continue;
        size_t size = strlen(lw_sweep_column_name(h->sweep, k)) + 8, used;
        for (int i = 0; lw_sweep_text(h->sweep, k, i); i++)
            size += strlen(lw_sweep_text(h->sweep, k, i)) + 24;
        char *line = lines[count] = malloc(size);
        if (!line) {
            done = false;
            break;
        }
        count++;
        used = (size_t)snprintf(line, size, "%s: ", lw_sweep_column_name(h->sweep, k));
        for (int i = 0; lw_sweep_text(h->sweep, k, i); i++)
            used += (size_t)snprintf(line + used, size - used, "%s%d = %s", i ? ", " : "", i,
                                     lw_sweep_text(h->sweep, k, i));
    }
    done = done && (count == 0 || put_texts(h->file, "texts", (const char *const *)lines, count));
    for (size_t k = 0; k < count; k++) free(lines[k]);
    free(lines);
    return done;
}

/* Is there room for all of the file but its rows? HDF5 itself does not survive a disk that is full while it
 * writes its own tables; rows, which are written in place, fail as they should. */
static bool has_room(const hdf5_file *h, const char *path) {
    const size_t size = (size_t)1 << 16;
    size_t wanted = 4 * size + 4 * strlen(h->sweep->head);
    for (int k = 0; k < column_count(h->sweep); k++) wanted += 4 * strlen(lw_sweep_column_name(h->sweep, k));
    char *block = malloc(size);
    FILE *file = block ? fopen(path, "wxb") : NULL;
    bool done = file != NULL;
    if (block) memset(block, 1, size);
    for (size_t k = 0; k < wanted && done; k += size)
        done = write(fileno(file), block, size) == (ssize_t)size;
    const int reason = errno;
    if (file) done = fclose(file) == 0 && done;
    if (file) (void)unlink(path);
    free(block);
    errno = reason;
    return done;
}

/* Fills a new file, which a kill may leave half done: under another name, until it is whole. */
static lw_status create(hdf5_file *h, hid_t access, lw_error *error) {
    const hsize_t size[2] = {h->sweep->design.count, (hsize_t)column_count(h->sweep)};
    const unsigned char nothing = 0;
    char *temporary = malloc(strlen(h->path) + 32);
    if (!temporary) return lw_out_of_memory(error);
    sprintf(temporary, "%s.%ld.new", h->path, (long)getpid());
    errno = 0;
    if (!has_room(h, temporary)) {
        free(temporary);
        return lw_sweep_file_fault(error, h->path, "created", strerror(errno ? errno : ENOSPC), NULL);
    }
    h->file = H5Fcreate(temporary, H5F_ACC_EXCL, H5P_DEFAULT, access);
    bool done = h->file >= 0;
    if (done) {
        h->values = create_set(h->file, "values", H5T_IEEE_F64LE, 2, size, NULL);
        h->status = create_set(h->file, "status", H5T_STD_U8LE, 1, size, &nothing);
        h->reason = create_set(h->file, "reason", h->text, 1, size, NULL);
        done = h->values >= 0 && h->status >= 0 && h->reason >= 0 &&
               put_attribute(h->file, "linkwork-sweep", LW_VERSION) &&
               put_attribute(h->file, "plan", h->sweep->head) && put_columns(h) && put_meanings(h) &&
               H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0 && rename(temporary, h->path) == 0;
        if (!done) (void)unlink(temporary);
    }
    free(temporary);
    return done ? LW_OK : fault(h, error, "created");
}

/* --- going on --------------------------------------------------------------------------------------- */

static lw_status open_again(hdf5_file *h, hid_t access, lw_error *error) {
    h->file = H5Fopen(h->path, H5F_ACC_RDWR, access);
    if (h->file < 0 || H5Aexists(h->file, "plan") <= 0)
        return lw_sweep_file_fault(error, h->path, "gone on with",
                                   "it is not the file of a sweep, or damaged", "give another name");
    hid_t attribute = H5Aopen(h->file, "plan", H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const size_t size = type >= 0 ? H5Tget_size(type) : 0;
    char *head = size > 0 && size < 1 << 28 ? calloc(size + 1, 1) : NULL;
    const bool read = head && H5Aread(attribute, type, head) >= 0;
    lw_status status = LW_OK;
    if (!read)
        status = fault(h, error, "read");
    else if (strcmp(head, h->sweep->head) != 0)
        status = lw_sweep_other_plan(h->sweep, h->path, head, error);
    free(head);
    if (type >= 0) (void)H5Tclose(type);
    if (attribute >= 0) (void)H5Aclose(attribute);
    if (status != LW_OK) return status;
    h->values = H5Dopen2(h->file, "values", H5P_DEFAULT);
    h->status = H5Dopen2(h->file, "status", H5P_DEFAULT);
    h->reason = H5Dopen2(h->file, "reason", H5P_DEFAULT);
    hid_t space = h->status >= 0 ? H5Dget_space(h->status) : H5I_INVALID_HID;
    const bool right = space >= 0 && h->values >= 0 && h->reason >= 0 &&
                       H5Sget_simple_extent_npoints(space) == (hssize_t)h->sweep->design.count;
    if (space >= 0) (void)H5Sclose(space);
    if (!right || H5Dread(h->status, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, h->done) < 0)
        return fault(h, error, "read");
    return LW_OK;
}

/* --- rows ------------------------------------------------------------------------------------------ */

/* Reads or writes one row of a dataset. */
static bool row_of(hid_t set, hid_t type, uint64_t run, hsize_t columns, void *data, bool write) {
    const hsize_t start[2] = {run, 0}, size[2] = {1, columns};
    const int rank = columns > 0 ? 2 : 1;
    hid_t space = H5Dget_space(set), memory = H5Screate_simple(rank, size, NULL);
    bool done = space >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0;
    if (done)
        done = (write ? H5Dwrite(set, type, memory, space, H5P_DEFAULT, data)
                      : H5Dread(set, type, memory, space, H5P_DEFAULT, data)) >= 0;
    if (memory >= 0) (void)H5Sclose(memory);
    if (space >= 0) (void)H5Sclose(space);
    return done;
}

static bool has(const lw_sweep_file *file, uint64_t run) {
    const hdf5_file *h = (const hdf5_file *)file;
    return run < h->sweep->design.count && h->done[run] != 0;
}

static lw_status get(lw_sweep_file *file, uint64_t run, lw_sweep_row *row) {
    hdf5_file *h = (hdf5_file *)file;
    const silence quiet = silence_begin();
    const hsize_t columns = (hsize_t)column_count(h->sweep);
    const bool done =
        (columns == 0 || row_of(h->values, H5T_NATIVE_DOUBLE, run, columns, row->values, false)) &&
        row_of(h->reason, h->text, run, 0, row->reason, false);
    silence_end(&quiet);
    row->run = run;
    row->reason[LW_SWEEP_REASON - 1] = '\0';
    row->status = h->done[run] == 3 ? LW_SWEEP_FAILED : h->done[run] == 2 ? LW_SWEEP_DOUBTFUL : LW_SWEEP_OK;
    return done ? LW_OK : LW_ERROR_FILE;
}

static lw_status flush(lw_sweep_file *file, lw_error *error) {
    hdf5_file *h = (hdf5_file *)file;
    const hsize_t columns = (hsize_t)column_count(h->sweep);
    bool done = true;
    if (h->count == 0) return LW_OK;
    const silence quiet = silence_begin();
    for (size_t k = 0; k < h->count && done; k++) {
        lw_sweep_row *row = &h->rows[k];
        row->values = h->numbers + k * columns;
        done = (columns == 0 || row_of(h->values, H5T_NATIVE_DOUBLE, row->run, columns, row->values, true)) &&
               row_of(h->reason, h->text, row->run, 0, row->reason, true);
    }
    done = done && H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0;
    for (size_t k = 0; k < h->count && done; k++) {
        unsigned char status = h->done[h->rows[k].run];
        done = row_of(h->status, H5T_NATIVE_UCHAR, h->rows[k].run, 0, &status, true);
    }
    done = done && H5Fflush(h->file, H5F_SCOPE_LOCAL) >= 0;
    silence_end(&quiet);
    if (!done) return fault(h, error, "written");
    h->count = 0;
    return LW_OK;
}

static lw_status add(lw_sweep_file *file, const lw_sweep_row *row, lw_error *error) {
    hdf5_file *h = (hdf5_file *)file;
    const size_t columns = (size_t)column_count(h->sweep);
    if (row->run >= h->sweep->design.count) return lw_call_needs("a row of this sweep", error);
    if (h->count == h->room) {
        const size_t room = 2 * h->room + 256;
        lw_sweep_row *rows = realloc(h->rows, room * sizeof *rows);
        if (rows) h->rows = rows;
        double *numbers = rows ? realloc(h->numbers, (room * columns + 1) * sizeof *numbers) : NULL;
        if (numbers) h->numbers = numbers;
        if (!rows || !numbers) return lw_out_of_memory(error);
        h->room = room;
    }
    memcpy(h->numbers + h->count * columns, row->values, columns * sizeof *row->values);
    lw_sweep_row *own = &h->rows[h->count++];
    *own = *row;
    memset(own->reason + strlen(own->reason), 0, LW_SWEEP_REASON - strlen(own->reason));
    h->done[row->run] = (unsigned char)(1 + row->status);
    return LW_OK;
}

/* --- the format ----------------------------------------------------------------------------------- */

static lw_status close_hdf5(lw_sweep_file *file, lw_error *error) {
    hdf5_file *h = (hdf5_file *)file;
    lw_status status = h->file >= 0 ? flush(file, error) : LW_OK;
    const silence quiet = silence_begin();
    const hid_t sets[] = {h->values, h->status, h->reason};
    for (int k = 0; k < 3; k++)
        if (sets[k] >= 0) (void)H5Dclose(sets[k]);
    if (h->text >= 0) (void)H5Tclose(h->text);
    if (h->file >= 0 && H5Fclose(h->file) < 0 && status == LW_OK) status = fault(h, error, "closed");
    silence_end(&quiet);
    free(h->rows);
    free(h->numbers);
    free(h->done);
    free(h->path);
    free(h);
    return status;
}

static lw_status open_hdf5(const lw_sweep *sweep, const char *path, bool resume, lw_sweep_file **file,
                           lw_error *error) {
    char why[160];
    if (!lw_hdf5_open(why, sizeof why))
        return lw_fail(error, LW_ERROR_FILE, NULL,
                       "install HDF5 (Debian's package is libhdf5-103-1), or take a .csv file",
                       "HDF5 cannot be loaded: %s", why);
    hdf5_file *h = calloc(1, sizeof *h);
    if (!h) return lw_out_of_memory(error);
    h->sweep = sweep;
    h->file = h->values = h->status = h->reason = h->text = H5I_INVALID_HID;
    h->path = strdup(path);
    h->done = calloc(sweep->design.count + 1, 1);
    lw_status status = h->path && h->done ? LW_OK : lw_out_of_memory(error);
    if (status == LW_OK) {
        const silence quiet = silence_begin();
        hid_t access = H5Pcreate(H5P_FILE_ACCESS);
        h->text = text_type(LW_SWEEP_REASON);
        if (H5Pset_file_locking(access, false, true) < 0 || H5Pset_sieve_buf_size(access, 0) < 0)
            status = fault(h, error, "opened");
        else
            status = resume ? open_again(h, access, error) : create(h, access, error);
        (void)H5Pclose(access);
        silence_end(&quiet);
    }
    if (status != LW_OK) {
        (void)close_hdf5(&h->base, NULL);
        return status;
    }
    *file = &h->base;
    return LW_OK;
}

const lw_sweep_format lw_sweep_hdf5 = {open_hdf5, has, get, add, flush, close_hdf5};
