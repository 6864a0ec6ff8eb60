/* mesh_file.c - triangles from a file: its bytes, and the mesh that grows from its corners.
 *
 * STL repeats the coordinates of a corner in every triangle, and OBJ along seams of textures; which
 * triangles meet follows from corners with the same coordinates, to the last bit (-0 counts as 0). Any bytes
 * are safe: sizes and counts are bounded, and what is no such file is refused with line or byte and remedy.
 *
 * Cost     O(bytes), some 0.2 s for 10^5 triangles of text; memory about 100 bytes for each triangle.
 */
#define _XOPEN_SOURCE 700

#include "io/mesh/mesh_file.h"

#include "io/mesh/mesh_file_parts.h"
#include "io/number.h"
#include "model/mesh_inertia.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool lw_mesh_fault(lw_mesh_builder *b, size_t line, const char *remedy, const char *format, ...) {
    char message[sizeof b->error->message];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)lw_fail(b->error, LW_ERROR_FILE, NULL, remedy, "%s", message);
    if (b->error) {
        (void)snprintf(b->error->file, sizeof b->error->file, "%s", b->path);
        b->error->place.line = line < 1000000000 ? (int)line : 0;
    }
    return false;
}

bool lw_mesh_no_memory(lw_mesh_builder *b) {
    (void)lw_out_of_memory(b->error);
    return false;
}

/* --- the mesh ------------------------------------------------------------------------------------- */

static size_t slot_of(const lw_mesh_builder *b, const double at[3]) {
    uint64_t hash = 0, bits;
    for (int k = 0; k < 3; k++) {
        memcpy(&bits, &at[k], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    size_t slot = (size_t)hash & (b->slot_count - 1);
    while (b->slots[slot] != 0 &&
           memcmp(b->vertices + 3 * (size_t)(b->slots[slot] - 1), at, 3 * sizeof *at) != 0)
        slot = (slot + 1) & (b->slot_count - 1);
    return slot;
}

/* Twice as many slots as vertices, or more. */
static bool make_slots(lw_mesh_builder *b) {
    size_t count = b->slot_count ? 2 * b->slot_count : 1024;
    int *slots = calloc(count, sizeof *slots);
    if (!slots) return lw_mesh_no_memory(b);
    free(b->slots);
    b->slots = slots;
    b->slot_count = count;
    for (size_t v = 0; v < b->vertex_count; v++) b->slots[slot_of(b, b->vertices + 3 * v)] = (int)v + 1;
    return true;
}

bool lw_mesh_vertex(lw_mesh_builder *b, const double at[3], int *vertex) {
    double point[3];
    for (int k = 0; k < 3; k++) point[k] = at[k] == 0 ? 0 : at[k];
    if (2 * (b->vertex_count + 1) > b->slot_count && !make_slots(b)) return false;
    size_t slot = slot_of(b, point);
    if (b->slots[slot] == 0) {
        if (b->vertex_count == b->vertex_room) {
            size_t room = 2 * b->vertex_room + 256;
            double *longer = realloc(b->vertices, 3 * room * sizeof *longer);
            if (!longer) return lw_mesh_no_memory(b);
            b->vertices = longer;
            b->vertex_room = room;
        }
        memcpy(b->vertices + 3 * b->vertex_count, point, sizeof point);
        b->slots[slot] = (int)++b->vertex_count;
    }
    *vertex = b->slots[slot] - 1;
    return true;
}

bool lw_mesh_triangle(lw_mesh_builder *b, int i, int j, int k) {
    if (i == j || j == k || k == i) return true;
    if (b->triangle_count == LW_MESH_MOST_TRIANGLES)
        return lw_mesh_fault(b, 0, "simplify the mesh in the program that made it",
                             "the file has more than 2 million triangles");
    if (b->triangle_count == b->triangle_room) {
        size_t room = 2 * b->triangle_room + 256;
        int *longer = realloc(b->triangles, 3 * room * sizeof *longer);
        if (!longer) return lw_mesh_no_memory(b);
        b->triangles = longer;
        b->triangle_room = room;
    }
    int *at = b->triangles + 3 * b->triangle_count++;
    at[0] = i, at[1] = j, at[2] = k;
    return true;
}

/* --- words ---------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

void lw_mesh_word(lw_mesh_text *text, char word[LW_MESH_WORD]) {
    size_t length = 0;
    while (text->at < text->end && is_blank(*text->at)) text->at++;
    for (; text->at < text->end && !is_blank(*text->at) && *text->at != '\n'; text->at++)
        if (length < LW_MESH_WORD - 1) word[length++] = *text->at;
    word[length] = '\0';
}

void lw_mesh_skip_line(lw_mesh_text *text) {
    while (text->at < text->end && *text->at != '\n') text->at++;
    if (text->at < text->end) text->at++, text->line++;
}

bool lw_mesh_next_word(lw_mesh_text *text, char word[LW_MESH_WORD]) {
    for (;;) {
        lw_mesh_word(text, word);
        if (word[0]) return true;
        if (text->at >= text->end) return false;
        lw_mesh_skip_line(text);
    }
}

bool lw_mesh_point(lw_mesh_builder *b, lw_mesh_text *text, const char *what, double at[3]) {
    for (int k = 0; k < 3; k++) {
        char word[LW_MESH_WORD], shown[2 * LW_MESH_WORD];
        lw_mesh_word(text, word);
        if (word[0] && strlen(word) < LW_MESH_WORD - 1 && lw_number_read(word, &at[k]) && fabs(at[k]) <= 1e30)
            continue;
        lw_escape(word, shown, sizeof shown);
        return word[0] ? lw_mesh_fault(b, text->line, "give three finite numbers: x, y and z",
                                       "coordinate %c of the %s is no number of at most 1e30: \"%s\"",
                                       "xyz"[k], what, shown)
                       : lw_mesh_fault(b, text->line, "give three finite numbers: x, y and z",
                                       "the %s has no coordinate %c", what, "xyz"[k]);
    }
    return true;
}

/* --- the file ------------------------------------------------------------------------------------- */

static const char *reason(int fault) {
    return fault == ENOENT   ? "there is no such file"
           : fault == EACCES ? "the file may not be read"
                             : strerror(fault);
}

/* All bytes, with a zero behind them. */
static unsigned char *load(lw_mesh_builder *b, size_t *size) {
    struct stat about;
    errno = 0;
    if (stat(b->path, &about) != 0) {
        (void)lw_mesh_fault(b, 0, "check the path", "%s", reason(errno));
        return NULL;
    }
    if (!S_ISREG(about.st_mode)) {
        (void)lw_mesh_fault(b, 0, "give a file in STL, OBJ or MSH format",
                            S_ISDIR(about.st_mode) ? "this is a folder" : "this is a device, pipe or socket");
        return NULL;
    }
    if (about.st_size == 0) {
        (void)lw_mesh_fault(b, 0, "give a file in STL, OBJ or MSH format", "the file is empty");
        return NULL;
    }
    if (about.st_size > LW_MESH_MOST_BYTES) {
        (void)lw_mesh_fault(b, 0, "simplify the mesh in the program that made it",
                            "the file has more than 512 MiB");
        return NULL;
    }
    *size = (size_t)about.st_size;
    unsigned char *bytes = malloc(*size + 1);
    FILE *file = bytes ? fopen(b->path, "rb") : NULL;
    if (!bytes)
        (void)lw_mesh_no_memory(b);
    else if (!file)
        (void)lw_mesh_fault(b, 0, "check the path", "%s", reason(errno));
    else if (fread(bytes, 1, *size, file) == *size)
        bytes[*size] = 0;
    else {
        (void)lw_mesh_fault(b, 0, "look whether another program is writing it", "the file cannot be read");
        (void)fclose(file);
        file = NULL;
    }
    if (file) {
        (void)fclose(file);
        return bytes;
    }
    free(bytes);
    return NULL;
}

static bool ends_with(const char *path, const char *end) {
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcasecmp(path + length - tail, end) == 0;
}

static bool take(lw_mesh_builder *b, lw_arena *arena, lw_mesh_spec *mesh) {
    if (b->triangle_count == 0)
        return lw_mesh_fault(b, 0, "export the surface as triangles", "the file has no triangles");
    double *vertices = LW_NEW(arena, double, 3 * b->vertex_count);
    int *triangles = LW_NEW(arena, int, 3 * b->triangle_count);
    if (!vertices || !triangles) return lw_mesh_no_memory(b);
    memcpy(vertices, b->vertices, 3 * b->vertex_count * sizeof *vertices);
    memcpy(triangles, b->triangles, 3 * b->triangle_count * sizeof *triangles);
    *mesh = (lw_mesh_spec){.vertex_count = (int)b->vertex_count,
                           .triangle_count = (int)b->triangle_count,
                           .vertices = vertices,
                           .triangles = triangles};
    lw_mesh_turn_outward(mesh, triangles);
    return true;
}

static bool has_format(lw_mesh_builder *b) {
    return ends_with(b->path, ".stl") || ends_with(b->path, ".obj") || ends_with(b->path, ".msh") ||
           lw_mesh_fault(b, 0, "give a file whose name ends with .stl, .obj or .msh",
                         "the format of the mesh is not known by its name");
}

lw_status lw_mesh_file_bytes(const char *path, const unsigned char *bytes, size_t size, lw_arena *arena,
                             lw_mesh_spec *mesh, lw_error *error) {
    lw_error own;
    lw_mesh_builder b = {.path = path, .error = error ? error : &own};
    *mesh = (lw_mesh_spec){0};
    *b.error = (lw_error){.status = LW_OK};
    bool good = has_format(&b) &&
                (ends_with(path, ".stl")   ? lw_mesh_read_stl(&b, bytes, size)
                 : ends_with(path, ".msh") ? lw_mesh_read_msh(&b, bytes, size)
                                           : lw_mesh_read_obj(&b, (const char *)bytes, size)) &&
                take(&b, arena, mesh);
    free(b.vertices);
    free(b.triangles);
    free(b.slots);
    return good ? LW_OK : b.error->status;
}

lw_status lw_mesh_file_read(const char *path, lw_arena *arena, lw_mesh_spec *mesh, lw_error *error) {
    lw_error own;
    lw_mesh_builder b = {.path = path, .error = error ? error : &own};
    size_t size = 0;
    *mesh = (lw_mesh_spec){0};
    *b.error = (lw_error){.status = LW_OK};
    unsigned char *bytes = has_format(&b) ? load(&b, &size) : NULL;
    if (!bytes) return b.error->status;
    lw_status status = lw_mesh_file_bytes(path, bytes, size, arena, mesh, b.error);
    free(bytes);
    return status;
}
