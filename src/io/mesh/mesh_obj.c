/* mesh_obj.c - triangles of an OBJ file (Wavefront): its vertices v and faces f.
 *
 * A face is a list of corners v, v/vt, v//vn or v/vt/vn, counted from 1, or from the last one backwards if
 * negative. A polygon becomes the triangles of its first corner with its other edges, which has the same
 * volume integrals if the polygon is flat. Textures, normals, groups and materials are passed over; curves
 * and free-form surfaces are refused, because without them the surface would be another one.
 *
 * Source   Wavefront, Object Files (.obj), Advanced Visualizer Manual, appendix B.
 */
#include "io/mesh/mesh_file_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vertices in the order of the file, of which faces take theirs. */
typedef struct {
    double (*at)[3];
    size_t count, room;
} vertex_list;

static bool add_vertex(lw_mesh_builder *b, lw_mesh_text *text, vertex_list *list) {
    if (list->count == 3 * (size_t)LW_MESH_MOST_TRIANGLES)
        return lw_mesh_fault(b, text->line, "simplify the mesh in the program that made it",
                             "the file has more than 6 million vertices");
    if (list->count == list->room) {
        size_t room = 2 * list->room + 256;
        void *longer = realloc(list->at, room * sizeof *list->at);
        if (!longer) {
            (void)lw_out_of_memory(b->error);
            return false;
        }
        list->at = longer;
        list->room = room;
    }
    return lw_mesh_point(b, text, "vertex", list->at[list->count++]);
}

/* The corner that a word of a face names. */
static bool read_corner(lw_mesh_builder *b, size_t line, const char *word, const vertex_list *list,
                        int *corner) {
    char *end, shown[2 * LW_MESH_WORD];
    long number = strtol(word, &end, 10);
    lw_escape(word, shown, sizeof shown);
    if (end == word || (*end != '\0' && *end != '/'))
        return lw_mesh_fault(b, line, "corners are v, v/vt, v//vn or v/vt/vn with whole numbers",
                             "\"%s\" is no corner of a face", shown);
    const long count = (long)list->count, index = number > 0 ? number - 1 : number + count;
    if (number == 0 || index < 0 || index >= count)
        return lw_mesh_fault(b, line, "vertices are counted from 1, or from the last one with -1",
                             "the face refers to vertex %.20s, but %ld stand before it", shown, count);
    return lw_mesh_vertex(b, list->at[index], corner);
}

static bool read_face(lw_mesh_builder *b, lw_mesh_text *text, const vertex_list *list) {
    int first = 0, last = 0, corner, count = 0;
    const size_t line = text->line;
    for (;;) {
        char word[LW_MESH_WORD];
        lw_mesh_word(text, word);
        if (strcmp(word, "\\") == 0) { /* The line goes on in the next one. */
            lw_mesh_skip_line(text);
            continue;
        }
        if (!word[0] || word[0] == '#') break;
        if (!read_corner(b, text->line, word, list, &corner)) return false;
        if (count >= 2 && !lw_mesh_triangle(b, first, last, corner)) return false;
        if (count == 0) first = corner;
        last = corner;
        count++;
    }
    return count >= 3 ||
           lw_mesh_fault(b, line, "give three corners or more", "the face has %d corners", count);
}

static bool read_lines(lw_mesh_builder *b, lw_mesh_text *text, vertex_list *list) {
    static const char *const passed[] = {"vt",       "vn",     "vp",         "o",         "g",
                                         "s",        "mg",     "l",          "p",         "usemtl",
                                         "mtllib",   "usemap", "maplib",     "bevel",     "c_interp",
                                         "d_interp", "lod",    "shadow_obj", "trace_obj", NULL};
    for (; text->at < text->end; lw_mesh_skip_line(text)) {
        char word[LW_MESH_WORD], shown[2 * LW_MESH_WORD];
        bool known = false;
        lw_mesh_word(text, word);
        if (!word[0] || word[0] == '#') continue;
        if (strcmp(word, "v") == 0) {
            if (!add_vertex(b, text, list)) return false;
            continue;
        }
        if (strcmp(word, "f") == 0 || strcmp(word, "fo") == 0) {
            if (!read_face(b, text, list)) return false;
            continue;
        }
        for (int k = 0; passed[k] && !known; k++) known = strcmp(word, passed[k]) == 0;
        if (known) continue;
        lw_escape(word, shown, sizeof shown);
        return lw_mesh_fault(b, text->line,
                             "export the surface as vertices (v) and polygons (f); curves and free-form "
                             "surfaces are not read",
                             "a line of an OBJ file cannot begin with \"%s\" here", shown);
    }
    return true;
}

bool lw_mesh_read_obj(lw_mesh_builder *b, const char *bytes, size_t size) {
    const bool marked = size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0; /* byte order mark of UTF-8 */
    lw_mesh_text text = {bytes + (marked ? 3 : 0), bytes + size, 1};
    vertex_list list = {0};
    bool good = read_lines(b, &text, &list);
    free(list.at);
    return good;
}
