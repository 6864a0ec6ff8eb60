/* hdf5.c - writes and reads results as HDF5.
 *
 *     /               attributes: metadata of the run, by key
 *     /data           rows x columns, double, extendible, filled with NaN
 *     /columns        name of each column     /units   unit of each column
 *     /model_text     the text of the model
 *     /spec           the whole model as bytes (lw_spec_save)
 *     /summary        a group; attributes: the summary; absent from a run that was killed
 *
 * Rows are collected and written together when they fill the buffer or are a second old: extend, write,
 * flush; between flushes the library is not called, so that nothing is half-written. The file is readable at
 * every moment of a flush: the values are written before the extent that includes them, the chunks are within
 * the recorded end of the file (reserve), and their index is a single node, written in one piece, as long as
 * the run is not longer than expected. (SWMR mode, made for this purpose, marks the file as in use, and
 * readers refuse it after a kill.) The format is that of HDF5 1.8 and before, which every reader supports.
 * There is no compression, since a chunk grows in place.
 *
 * Faults of HDF5 are not printed but recorded: during each call of this file its messages are passed to
 * note_fault; afterwards the caller's setting is restored.
 */
#include "io/results/results_file.h"
#include "io/results/hdf5_library.h"
#include "io/results/read_results.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFER_BYTES = 1 << 20, SMALLEST_CHUNK = 1 << 16, LARGEST_CHUNK = 1 << 22, LONGEST_TEXT = 1 << 28 };

/* --- faults --------------------------------------------------------------------------------------- */

enum { REASON_SIZE = 160 };

/* Error handling during a call: the caller's function for printing faults with its argument, and the cause of
 * the first fault. */
typedef struct {
    H5E_auto2_t print;
    void *context;
    char reason[REASON_SIZE];
} watch;

/* Takes the cause of a fault; where HDF5 quotes a message of the system, this message. */
static herr_t take_reason(unsigned depth, const H5E_error2_t *entry, void *context) {
    static const char quotes[] = "error message = '";
    (void)depth;
    const char *text = entry->desc ? entry->desc : "", *quoted = strstr(text, quotes);
    if (quoted) text = quoted + strlen(quotes);
    int length = quoted ? (int)strcspn(text, "'") : (int)strlen(text);
    snprintf(context, REASON_SIZE, "%.*s", length, text);
    return 1; /* The first entry is the cause. */
}

static herr_t note_fault(hid_t stack, void *context) {
    watch *w = context;
    return w->reason[0] ? 0 : H5Ewalk2(stack, H5E_WALK_UPWARD, take_reason, w->reason);
}

static void watch_begin(watch *w) {
    *w = (watch){.print = NULL};
    (void)H5Eget_auto2(H5E_DEFAULT, &w->print, &w->context);
    (void)H5Eset_auto2(H5E_DEFAULT, note_fault, w);
}

static void watch_end(watch *w) { (void)H5Eset_auto2(H5E_DEFAULT, w->print, w->context); }

static lw_status library_fault(const char *path, const char *why, lw_error *error) {
    if (!error) return LW_ERROR_FILE;
    (void)lw_fail(error, LW_ERROR_FILE, NULL,
                  "install HDF5 (Debian's package is libhdf5-103-1), or take a .csv file",
                  "HDF5 cannot be loaded: %s", why);
    snprintf(error->file, sizeof error->file, "%s", path);
    return LW_ERROR_FILE;
}

/* --- texts, attributes and small datasets --------------------------------------------------------- */

/* The type of a text of this size, including the final zero, or H5T_VARIABLE. */
static hid_t text_type(size_t size) {
    hid_t type = H5Tcopy(H5T_C_S1);
    if (H5Tset_size(type, size) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0) {
        (void)H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

static bool put_attribute(hid_t place, const char *key, hid_t file_type, hid_t type, const void *value) {
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(place, key, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool done = attribute >= 0 && H5Awrite(attribute, type, value) >= 0;
    if (attribute >= 0) (void)H5Aclose(attribute);
    (void)H5Sclose(space);
    return done;
}

static bool put_entry(hid_t place, const lw_entry *entry) {
    if (entry->kind == LW_ENTRY_NUMBER)
        return put_attribute(place, entry->key, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &entry->number);
    if (entry->kind == LW_ENTRY_INTEGER)
        return put_attribute(place, entry->key, H5T_STD_I64LE, H5T_NATIVE_LONG, &entry->integer);
    hid_t type = text_type(H5T_VARIABLE); /* Python and MATLAB read it as a text, not as bytes. */
    bool done = type >= 0 && put_attribute(place, entry->key, type, type, &entry->text);
    if (type >= 0) (void)H5Tclose(type);
    return done;
}

/* Writes a dataset of texts of equal size; with count 0 it is a single text and not a list. */
static bool put_texts(hid_t file, const char *name, const char *texts, size_t size, size_t count) {
    hsize_t dims = count;
    hid_t type = text_type(size);
    hid_t space = count > 0 ? H5Screate_simple(1, &dims, NULL) : H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    if (type >= 0) (void)H5Tclose(type);
    return done;
}

static bool put_bytes(hid_t file, const char *name, const void *bytes, size_t size) {
    hsize_t dims = size;
    hid_t space = H5Screate_simple(1, &dims, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = set >= 0 && H5Dwrite(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0;
    if (set >= 0) (void)H5Dclose(set);
    if (space >= 0) (void)H5Sclose(space);
    return done;
}

/* --- writing -------------------------------------------------------------------------------------- */

typedef struct {
    lw_results_writer base;
    lw_arena *arena;
    const char *path;
    hid_t file, data;
    hsize_t chunk_rows;  /* number of rows of a chunk */
    hsize_t chunks_room; /* number of chunks, used or not, that fit before the recorded end of the file */
    hid_t tail;          /* dataset behind the reserved space (reserve) */
    hsize_t tail_chunks;
    size_t columns;
    double *rows; /* rows that are not yet in the file */
    size_t used, capacity;
    hsize_t written;
    time_t flushed;
    bool failed;
    char fault[REASON_SIZE]; /* cause of the first failure */
} hdf5_writer;

/* Restores the caller's error handling after calls that succeeded (done) or failed, and records a failure. */
static bool settle(hdf5_writer *w, watch *over, bool done) {
    watch_end(over);
    if (!done && !w->failed) {
        w->failed = true;
        snprintf(w->fault, sizeof w->fault, "%s", over->reason[0] ? over->reason : "memory is out");
    }
    return done;
}

static bool put_column_texts(hdf5_writer *w, const lw_head *head, const char *name, bool units) {
    size_t size = 1;
    for (size_t k = 0; k < head->column_count; k++) {
        size_t length = strlen(units ? head->columns[k].unit : head->columns[k].name);
        if (length >= size) size = length + 1;
    }
    char *texts = LW_NEW(w->arena, char, size * head->column_count);
    if (!texts) return false;
    for (size_t k = 0; k < head->column_count; k++) {
        const char *text = units ? head->columns[k].unit : head->columns[k].name;
        memcpy(texts + k * size, text, strlen(text) + 1);
    }
    return put_texts(w->file, name, texts, size, head->column_count);
}

/* Chooses the rows per chunk: few for short runs, and so many for long runs that there are not too many
 * chunks; a run of unknown length is treated as a long one. */
static size_t chunk_rows(const lw_head *head, size_t *chunks) {
    double row = (double)(head->column_count * sizeof(double)), total = head->expected_rows * row;
    if (!(total > 0)) total = 1 << 28;
    double bytes = fmin(fmax(total / 1024, SMALLEST_CHUNK), LARGEST_CHUNK),
           rows = fmax(floor(bytes / row), 1);
    *chunks = (size_t)fmin(total / (rows * row) + 2, 4096);
    return (size_t)rows;
}

/* Opens a file without a lock, since the results may be read during the run. */
static hid_t open_file(const char *path, unsigned intent) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    if (H5Pset_file_locking(access, false, true) >= 0) file = H5Fopen(path, intent, access);
    (void)H5Pclose(access);
    return file;
}

static hid_t create_file(const char *path, size_t chunks) {
    hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    unsigned half_node = chunks > 64 ? (unsigned)(chunks / 2 + 1) : 32;
    /* Small data get no block of their own: reserve relies on the order of allocations. */
    if (H5Pset_istore_k(creation, half_node) >= 0 && H5Pset_file_locking(access, false, true) >= 0 &&
        H5Pset_small_data_block_size(access, 0) >= 0)
        file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
    (void)H5Pclose(creation);
    (void)H5Pclose(access);
    return file;
}

static hid_t create_data(hid_t file, size_t columns, hsize_t rows) {
    const hsize_t none[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns}, chunk[2] = {rows, columns};
    const double fill = NAN;
    hid_t space = H5Screate_simple(2, none, most), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t data = H5I_INVALID_HID;
    if (H5Pset_chunk(properties, 2, chunk) >= 0 &&
        H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &fill) >= 0)
        data = H5Dcreate2(file, "data", H5T_IEEE_F64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    (void)H5Pclose(properties);
    (void)H5Sclose(space);
    return data;
}

/* Allocates space in the file as a dataset without a name, which is freed when the dataset is closed. */
static hid_t take_room(hid_t file, hsize_t bytes) {
    hid_t space = H5Screate_simple(1, &bytes, NULL), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t room = H5I_INVALID_HID;
    if (H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY) >= 0 &&
        H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER) >= 0)
        room = H5Dcreate_anon(file, H5T_STD_U8LE, space, properties, H5P_DEFAULT);
    (void)H5Pclose(properties);
    (void)H5Sclose(space);
    return room;
}

/* Reserves space for the next chunks. A flush writes the end of the file after the index; if a chunk were
 * beyond the recorded end, a kill in between would leave an index that points out of the file. Space is
 * therefore allocated and its end recorded first; then the space is freed for the chunks. A second dataset,
 * the tail, follows this space, because HDF5 truncates free space at the very end of the file; a tail is
 * freed when the next one has been allocated behind it. Both allocations are larger than the space that is
 * already free (the chunks that were reserved and not used, and the one of make_index), so that they are
 * placed behind it. */
static bool reserve(hdf5_writer *w, hsize_t rows) {
    enum { CHUNKS = 8 };
    hsize_t needed = (rows + w->chunk_rows - 1) / w->chunk_rows;
    if (needed <= w->chunks_room) return true;
    hsize_t bytes = w->chunk_rows * w->columns * sizeof(double);
    hsize_t in_use = (w->written + w->chunk_rows - 1) / w->chunk_rows, idle = w->chunks_room - in_use + 1;
    hsize_t chunks = idle + needed - w->chunks_room + CHUNKS, tail_chunks = idle + 1;
    hid_t room = take_room(w->file, chunks * bytes), tail = take_room(w->file, tail_chunks * bytes);
    bool done = room >= 0 && tail >= 0 && H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0;
    if (w->tail >= 0) (void)H5Dclose(w->tail);
    w->chunks_room += chunks + w->tail_chunks;
    w->tail = tail;
    w->tail_chunks = tail_chunks;
    return room >= 0 && H5Dclose(room) >= 0 && done;
}

/* Writes a first chunk, which creates the index before there are rows that could be lost, and removes it. */
static bool make_index(hdf5_writer *w) {
    const hsize_t one[2] = {1, w->columns}, none[2] = {0, w->columns};
    return H5Dset_extent(w->data, one) >= 0 &&
           H5Dwrite(w->data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, w->rows) >= 0 &&
           H5Dset_extent(w->data, none) >= 0;
}

static bool put_head(hdf5_writer *w, const lw_head *head) {
    size_t chunks;
    w->chunk_rows = chunk_rows(head, &chunks);
    w->file = create_file(w->path, chunks);
    if (w->file < 0) return false;
    for (size_t k = 0; k < head->entry_count; k++)
        if (!put_entry(w->file, &head->entries[k])) return false;
    if (head->model_text &&
        !put_texts(w->file, "model_text", head->model_text, strlen(head->model_text) + 1, 0))
        return false;
    if (head->spec && head->spec_size > 0 && !put_bytes(w->file, "spec", head->spec, head->spec_size))
        return false;
    if (!put_column_texts(w, head, "columns", false) || !put_column_texts(w, head, "units", true))
        return false;
    w->data = create_data(w->file, w->columns, w->chunk_rows);
    return w->data >= 0 && make_index(w) && H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0;
}

/* Writes the rows in the buffer to the file. */
static bool commit(hdf5_writer *w) {
    const hsize_t start[2] = {w->written, 0}, count[2] = {w->used, w->columns};
    const hsize_t extent[2] = {w->written + w->used, w->columns};
    if (w->used == 0) return true;
    if (!reserve(w, extent[0]) || H5Dset_extent(w->data, extent) < 0) return false;
    hid_t file_space = H5Dget_space(w->data), memory_space = H5Screate_simple(2, count, NULL);
    bool done = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
                H5Dwrite(w->data, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, w->rows) >= 0;
    (void)H5Sclose(file_space);
    (void)H5Sclose(memory_space);
    w->written += w->used;
    w->used = 0;
    return done && H5Fflush(w->file, H5F_SCOPE_GLOBAL) >= 0;
}

/* Writes the datasets event_times and event_names. */
static bool put_events(hid_t file, const lw_results_end *end) {
    const hsize_t count = end->event_count;
    size_t size = 1;
    if (count == 0) return true;
    for (size_t k = 0; k < count; k++) size = fmax(size, strlen(end->events[k].name) + 1);
    double *times = malloc(count * sizeof *times);
    char *names = calloc(count, size);
    bool done = times && names;
    for (size_t k = 0; done && k < count; k++) {
        times[k] = end->events[k].t;
        memcpy(names + k * size, end->events[k].name, strlen(end->events[k].name));
    }
    if (done) {
        hid_t space = H5Screate_simple(1, &count, NULL);
        hid_t set =
            H5Dcreate2(file, "event_times", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        done = set >= 0 && H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) >= 0;
        if (set >= 0) (void)H5Dclose(set);
        (void)H5Sclose(space);
        done = done && put_texts(file, "event_names", names, size, count);
    }
    free(times);
    free(names);
    return done;
}

/* Adds events and the summary of the run to the closed file. */
static bool put_summary(const char *path, const lw_results_end *end) {
    hid_t file = open_file(path, H5F_ACC_RDWR);
    if (file < 0) return false;
    hid_t group = H5Gcreate2(file, "summary", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool done = group >= 0;
    for (size_t k = 0; k < end->entry_count && done; k++) done = put_entry(group, &end->entries[k]);
    done = done && put_events(file, end);
    if (group >= 0) (void)H5Gclose(group);
    return H5Fclose(file) >= 0 && done;
}

/* Closing the file frees the unused part of the reserved space, since no data follow it. */
static lw_status close_hdf5(lw_results_writer *writer, const lw_results_end *end, lw_error *error) {
    hdf5_writer *w = (hdf5_writer *)writer;
    watch over;
    watch_begin(&over);
    bool done = w->failed || commit(w);
    if (w->tail >= 0 && H5Dclose(w->tail) < 0) done = false;
    if (w->data >= 0 && H5Dclose(w->data) < 0) done = false;
    if (w->file >= 0 && H5Fclose(w->file) < 0) done = false;
    if (!w->failed && done && end && end->entry_count > 0) done = put_summary(w->path, end);
    (void)settle(w, &over, done);
    lw_status status = LW_OK;
    if (w->failed) status = lw_results_fault(error, w->path, "written", w->fault);
    lw_arena_destroy(w->arena);
    return status;
}

static hdf5_writer *create(const lw_head *head) {
    lw_arena *arena = lw_arena_create(NULL);
    hdf5_writer *w = LW_NEW(arena, hdf5_writer, 1);
    if (w) {
        size_t fitting = BUFFER_BYTES / (head->column_count * sizeof(double));
        w->base.format = &lw_format_hdf5;
        w->arena = arena;
        w->path = lw_arena_text(arena, head->path);
        w->file = w->data = w->tail = H5I_INVALID_HID;
        w->columns = head->column_count;
        w->capacity = fitting > 0 ? fitting : 1;
        w->rows = LW_NEW(arena, double, w->capacity * w->columns);
    }
    if (w && w->path && w->rows) return w;
    lw_arena_destroy(arena);
    return NULL;
}

static lw_status open_hdf5(const lw_head *head, lw_results_writer **writer, lw_error *error) {
    char why[REASON_SIZE];
    if (!lw_hdf5_open(why, sizeof why)) return library_fault(head->path, why, error);
    hdf5_writer *w = create(head);
    if (!w) return lw_fail(error, LW_ERROR_MEMORY, "results file", NULL, "memory is out");
    /* Opening the file with fopen first gives the system's message for the most frequent faults. */
    errno = 0;
    FILE *file = fopen(w->path, "wb");
    if (!file) {
        int fault = errno;
        lw_arena_destroy(w->arena);
        return lw_results_fault(error, head->path, "opened", strerror(fault));
    }
    (void)fclose(file);
    watch over;
    watch_begin(&over);
    bool done = settle(w, &over, put_head(w, head));
    w->flushed = time(NULL);
    if (!done) return close_hdf5(&w->base, NULL, error);
    *writer = &w->base;
    return LW_OK;
}

static lw_status write_row(lw_results_writer *writer, const double *values) {
    hdf5_writer *w = (hdf5_writer *)writer;
    if (w->failed) return LW_ERROR_FILE;
    memcpy(w->rows + w->used * w->columns, values, w->columns * sizeof *values);
    w->used++;
    time_t now = time(NULL);
    if (w->used < w->capacity && now == w->flushed) return LW_OK;
    watch over;
    watch_begin(&over);
    bool done = settle(w, &over, commit(w));
    w->flushed = now;
    return done ? LW_OK : LW_ERROR_FILE;
}

const lw_format lw_format_hdf5 = {{".h5", ".hdf5"}, open_hdf5, write_row, close_hdf5};

/* --- reading -------------------------------------------------------------------------------------- */

/* A table and the state of its reader. */
typedef struct {
    lw_results_table table; /* the public part; it must be the first member */
    lw_arena *arena;
    const char *path;
    hid_t file, data;
    hsize_t dims[2];
} hdf5_table;

static lw_status read_fault(const hdf5_table *reader, lw_error *error, const char *remedy,
                            const char *message) {
    if (!error) return LW_ERROR_FILE;
    (void)lw_fail(error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    snprintf(error->file, sizeof error->file, "%s", reader->path);
    return LW_ERROR_FILE;
}

static lw_status not_ours(const hdf5_table *reader, lw_error *error) {
    return read_fault(reader, error, "give a results file as \"linkwork run --out\" writes it",
                      "the HDF5 file has no datasets data, columns and units of matching sizes");
}

static void close_table(lw_results_table *table) {
    hdf5_table *reader = (hdf5_table *)table;
    watch over;
    watch_begin(&over);
    if (reader->data >= 0) (void)H5Dclose(reader->data);
    if (reader->file >= 0) (void)H5Fclose(reader->file);
    watch_end(&over);
    for (size_t k = 0; k < table->column_count; k++) free(table->columns[k].values);
    lw_arena_destroy(reader->arena);
}

/* The text of an attribute, or "" if there is none. */
static const char *get_attribute(hdf5_table *reader, const char *place, const char *key) {
    const char *kept = NULL;
    char *text = NULL;
    hid_t attribute = H5Aopen_by_name(reader->file, place, key, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return "";
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    if (H5Tis_variable_str(type) > 0 && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, type, &text) >= 0 && text) {
        kept = lw_arena_text(reader->arena, text);
        (void)H5free_memory(text);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    return kept ? kept : "";
}

/* An attribute of either kind as text, "" if there is none. */
static const char *get_any_attribute(hdf5_table *reader, const char *place, const char *key) {
    if (H5Aexists_by_name(reader->file, place, key, H5P_DEFAULT) <= 0) return "";
    hid_t attribute = H5Aopen_by_name(reader->file, place, key, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0) return "";
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    H5T_class_t class = H5Tget_class(type);
    char text[40] = "";
    double number;
    if ((class == H5T_FLOAT || class == H5T_INTEGER) && H5Sget_simple_extent_npoints(space) == 1 &&
        H5Aread(attribute, H5T_NATIVE_DOUBLE, &number) >= 0)
        snprintf(text, sizeof text, "%.17g", number);
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
    const char *kept = text[0] ? lw_arena_text(reader->arena, text) : get_attribute(reader, place, key);
    return kept ? kept : "";
}

/* The model's text, a single text of any length; "" if there is none. */
static const char *get_model_text(hdf5_table *reader) {
    if (H5Lexists(reader->file, "model_text", H5P_DEFAULT) <= 0) return "";
    hid_t set = H5Dopen2(reader->file, "model_text", H5P_DEFAULT);
    if (set < 0) return "";
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const char *kept = NULL;
    if (H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_npoints(space) == 1) {
        if (H5Tis_variable_str(type) > 0) {
            char *text = NULL;
            if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) >= 0 && text) {
                kept = lw_arena_text(reader->arena, text);
                (void)H5free_memory(text);
            }
        } else {
            char *text = LW_NEW(reader->arena, char, H5Tget_size(type) + 1);
            if (text && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0) kept = text;
        }
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Dclose(set);
    return kept ? kept : "";
}

static const char *hdf5_text(lw_results_table *table, const char *key) {
    hdf5_table *reader = (hdf5_table *)table;
    watch over;
    watch_begin(&over);
    const char *text = "";
    if (strcmp(key, "model_text") == 0) {
        text = get_model_text(reader);
    } else {
        if (H5Lexists(reader->file, "summary", H5P_DEFAULT) > 0)
            text = get_any_attribute(reader, "summary", key);
        if (!text[0]) text = get_any_attribute(reader, "/", key);
    }
    watch_end(&over);
    return text;
}

/* The texts of a list with one text per column; text k starts at *size * k. NULL if there is no such list. */
static char *get_texts(hdf5_table *reader, const char *name, size_t *size) {
    char *texts = NULL;
    hid_t set = H5Dopen2(reader->file, name, H5P_DEFAULT);
    if (set < 0) return NULL;
    hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    *size = H5Tget_size(type) + 1;
    if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 && count > 0 &&
        (hsize_t)count == reader->dims[1] && *size < LONGEST_TEXT / (size_t)count) {
        /* The type has one more character, for the final zero. */
        hid_t longer = text_type(*size);
        texts = LW_NEW(reader->arena, char, *size *(size_t)count);
        if (texts && (H5Tset_cset(longer, H5Tget_cset(type)) < 0 ||
                      H5Dread(set, longer, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) < 0))
            texts = NULL;
        (void)H5Tclose(longer);
    }
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    (void)H5Dclose(set);
    return texts;
}

/* The events, if the file has some. */
static void get_events(hdf5_table *reader) {
    hid_t set = H5Lexists(reader->file, "event_times", H5P_DEFAULT) > 0
                    ? H5Dopen2(reader->file, "event_times", H5P_DEFAULT)
                    : H5I_INVALID_HID;
    if (set < 0) return;
    hid_t space = H5Dget_space(set);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const hsize_t columns = reader->dims[1];
    size_t size;
    if (count > 0 && count < LONGEST_TEXT) {
        double *times = LW_NEW(reader->arena, double, count);
        reader->dims[1] = (hsize_t)count;
        const char *names = get_texts(reader, "event_names", &size);
        reader->dims[1] = columns;
        lw_results_moment *events = names ? LW_NEW(reader->arena, lw_results_moment, count) : NULL;
        if (times && events && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times) >= 0) {
            for (hssize_t k = 0; k < count; k++)
                events[k] = (lw_results_moment){times[k], names + (size_t)k * size};
            reader->table.events = events, reader->table.event_count = (size_t)count;
        }
    }
    (void)H5Sclose(space);
    (void)H5Dclose(set);
}

static bool get_dims(hdf5_table *reader) {
    reader->data = H5Dopen2(reader->file, "data", H5P_DEFAULT);
    if (reader->data < 0) return false;
    hid_t space = H5Dget_space(reader->data), type = H5Dget_type(reader->data);
    bool done = H5Tget_class(type) == H5T_FLOAT && H5Sget_simple_extent_ndims(space) == 2 &&
                H5Sget_simple_extent_dims(space, reader->dims, NULL) == 2 && reader->dims[1] > 0;
    (void)H5Tclose(type);
    (void)H5Sclose(space);
    return done;
}

static const char *either(const char *text, const char *other) { return text[0] ? text : other; }

static lw_status get_head(hdf5_table *reader, const watch *over, lw_error *error) {
    lw_results_table *table = &reader->table;
    reader->file = open_file(reader->path, H5F_ACC_RDONLY);
    if (reader->file < 0) {
        char message[REASON_SIZE + 32];
        snprintf(message, sizeof message, "cannot be opened: %s", over->reason);
        return read_fault(reader, error, "give the path of a results file", message);
    }
    if (!get_dims(reader)) return not_ours(reader, error);
    size_t name_size, unit_size, count = (size_t)reader->dims[1];
    const char *names = get_texts(reader, "columns", &name_size);
    const char *units = get_texts(reader, "units", &unit_size);
    if (!names || !units) return not_ours(reader, error);
    table->columns = LW_NEW(reader->arena, lw_column, count);
    if (!table->columns) return lw_fail(error, LW_ERROR_MEMORY, reader->path, NULL, "memory is out");
    table->column_count = count;
    for (size_t k = 0; k < count; k++) {
        lw_column *column = &table->columns[k];
        column->name = names + k * name_size;
        column->unit = units + k * unit_size;
        size_t size = name_size + unit_size + 4;
        char *header = LW_NEW(reader->arena, char, size);
        if (!header) return lw_fail(error, LW_ERROR_MEMORY, reader->path, NULL, "memory is out");
        snprintf(header, size, column->unit[0] ? "%s [%s]" : "%s", column->name, column->unit);
        column->header = header;
    }
    get_events(reader);
    table->model = get_attribute(reader, "/", "model");
    table->method = get_attribute(reader, "/", "method");
    table->integrator =
        either(get_attribute(reader, "summary", "integrator"), get_attribute(reader, "/", "integrator"));
    return LW_OK;
}

/* Reads `count` rows from `first` on into the requested columns; block is the workspace. */
static bool read_block(hdf5_table *reader, hsize_t first, hsize_t count, double *block) {
    const hsize_t start[2] = {first, 0}, size[2] = {count, reader->dims[1]};
    hid_t file_space = H5Dget_space(reader->data), memory_space = H5Screate_simple(2, size, NULL);
    bool done = H5Sselect_hyperslab(file_space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                H5Dread(reader->data, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, block) >= 0;
    (void)H5Sclose(file_space);
    (void)H5Sclose(memory_space);
    for (size_t k = 0; k < reader->table.column_count && done; k++) {
        double *values = reader->table.columns[k].values;
        for (hsize_t row = 0; values && row < count; row++)
            values[first + row] = block[row * reader->dims[1] + k];
    }
    return done;
}

static lw_status read_rows(lw_results_table *table, lw_error *error) {
    hdf5_table *reader = (hdf5_table *)table;
    hsize_t rows = reader->dims[0], fitting = BUFFER_BYTES / (reader->dims[1] * sizeof(double)) + 1;
    if (rows == 0)
        return read_fault(reader, error, "let the run write at least one sample", "the file has no rows");
    bool room = rows < SIZE_MAX / sizeof(double);
    for (size_t k = 0; k < table->column_count && room; k++) {
        if (!table->columns[k].wanted) continue;
        table->columns[k].values = malloc((size_t)rows * sizeof(double));
        room = table->columns[k].values != NULL;
    }
    double *block = room ? malloc((size_t)(fitting * reader->dims[1]) * sizeof *block) : NULL;
    if (!block) return lw_fail(error, LW_ERROR_MEMORY, reader->path, NULL, "memory is out");
    watch over;
    watch_begin(&over);
    bool done = true;
    for (hsize_t first = 0; first < rows && done; first += fitting)
        done = read_block(reader, first, rows - first < fitting ? rows - first : fitting, block);
    watch_end(&over);
    free(block);
    table->row_count = (size_t)rows;
    if (done) return LW_OK;
    char message[REASON_SIZE + 32];
    snprintf(message, sizeof message, "the rows cannot be read: %s", over.reason);
    return read_fault(reader, error, NULL, message);
}

lw_status lw_results_table_open_hdf5(const char *path, lw_results_table **table, lw_error *error) {
    char why[REASON_SIZE];
    if (!lw_hdf5_open(why, sizeof why)) return library_fault(path, why, error);
    lw_arena *arena = lw_arena_create(NULL);
    hdf5_table *reader = LW_NEW(arena, hdf5_table, 1);
    if (reader) reader->path = lw_arena_text(arena, path);
    if (!reader || !reader->path) {
        lw_arena_destroy(arena);
        return lw_fail(error, LW_ERROR_MEMORY, path, NULL, "memory is out");
    }
    reader->arena = arena;
    reader->file = reader->data = H5I_INVALID_HID;
    reader->table.read = read_rows;
    reader->table.text = hdf5_text;
    reader->table.close = close_table;
    watch over;
    watch_begin(&over);
    lw_status status = get_head(reader, &over, error);
    watch_end(&over);
    if (status != LW_OK) {
        close_table(&reader->table);
        return status;
    }
    *table = &reader->table;
    return LW_OK;
}

lw_status lw_results_bytes_hdf5(const char *path, unsigned char **bytes, size_t *size, lw_error *error) {
    hdf5_table reader = {.path = path, .file = H5I_INVALID_HID, .data = H5I_INVALID_HID};
    lw_status status = LW_OK;
    watch over;
    char why[REASON_SIZE];
    if (!lw_hdf5_open(why, sizeof why)) return library_fault(path, why, error);
    watch_begin(&over);
    reader.file = open_file(path, H5F_ACC_RDONLY);
    hid_t set = reader.file >= 0 ? H5Dopen2(reader.file, "spec", H5P_DEFAULT) : H5I_INVALID_HID;
    if (reader.file < 0) {
        char message[REASON_SIZE + 32];
        snprintf(message, sizeof message, "cannot be opened: %s", over.reason);
        status = read_fault(&reader, error, "give the path of a results file", message);
    } else if (set >= 0) {
        hid_t space = H5Dget_space(set), type = H5Dget_type(set);
        hssize_t count = H5Sget_simple_extent_npoints(space);
        const bool right = H5Tget_class(type) == H5T_INTEGER && count > 0 && count < LONGEST_TEXT;
        *bytes = right ? malloc((size_t)count) : NULL;
        if (right && !*bytes)
            status = lw_fail(error, LW_ERROR_MEMORY, path, NULL, "memory is out");
        else if (!right || H5Dread(set, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, *bytes) < 0)
            status = read_fault(&reader, error, "give the file as the run has written it",
                                "its dataset spec, the model, cannot be read");
        else
            *size = (size_t)count;
        (void)H5Tclose(type);
        (void)H5Sclose(space);
        (void)H5Dclose(set);
    }
    if (reader.file >= 0) (void)H5Fclose(reader.file);
    watch_end(&over);
    return status;
}
