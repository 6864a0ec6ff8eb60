/* mesh_stl.c - triangles of an STL file, binary or text.
 *
 * Binary: 80 bytes of any contents, the number n of triangles as u32, and for each 50 bytes: normal and three
 * corners, 12 IEEE 754 binary32, and two bytes more; all little-endian. Text: `solid NAME`, triangles
 *     facet normal x y z  outer loop  vertex x y z  vertex x y z  vertex x y z  endloop  endfacet
 * and `endsolid NAME`, as often as there are solids. A binary file may begin with "solid", too: one whose
 * size is 84 + 50 n is binary. Normals are not used: the order of the corners says the same.
 *
 * Source   3D Systems, StereoLithography Interface Specification (1989).
 */
#include "io/mesh/mesh_file_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEAD = 84, RECORD = 50 };

/* --- binary --------------------------------------------------------------------------------------- */

static uint32_t u32_at(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool read_binary(lw_mesh_builder *b, const unsigned char *bytes, uint32_t count) {
    for (uint32_t t = 0; t < count; t++) {
        const unsigned char *record = bytes + HEAD + (size_t)RECORD * t;
        int corners[3];
        for (int c = 0; c < 3; c++) {
            double at[3];
            for (int k = 0; k < 3; k++) {
                size_t offset = 12 + 12 * (size_t)c + 4 * (size_t)k;
                uint32_t bits = u32_at(record + offset);
                float value;
                memcpy(&value, &bits, sizeof value);
                if (!(fabsf(value) <= 1e30f))
                    return lw_mesh_fault(
                        b, 0, "export the mesh again",
                        "coordinate %c of triangle %u, at byte %zu, is no number of at most 1e30", "xyz"[k],
                        t, HEAD + (size_t)RECORD * t + offset);
                at[k] = (double)value;
            }
            if (!lw_mesh_vertex(b, at, &corners[c])) return false;
        }
        if (!lw_mesh_triangle(b, corners[0], corners[1], corners[2])) return false;
    }
    return true;
}

/* --- text ----------------------------------------------------------------------------------------- */

static bool expect(lw_mesh_builder *b, lw_mesh_text *text, const char *wanted) {
    char word[LW_MESH_WORD], shown[2 * LW_MESH_WORD];
    if (!lw_mesh_next_word(text, word))
        return lw_mesh_fault(b, text->line, "export the mesh again, or copy the whole file",
                             "the file ends where \"%s\" should stand: it is cut off", wanted);
    if (strcasecmp(word, wanted) == 0) return true;
    lw_escape(word, shown, sizeof shown);
    return lw_mesh_fault(b, text->line,
                         "a triangle is: facet normal x y z, outer loop, three times vertex x y z, endloop, "
                         "endfacet",
                         "\"%s\" stands where \"%s\" should", shown, wanted);
}

static bool read_facet(lw_mesh_builder *b, lw_mesh_text *text) {
    int corners[3];
    if (!expect(b, text, "normal")) return false;
    lw_mesh_skip_line(text);
    if (!expect(b, text, "outer") || !expect(b, text, "loop")) return false;
    for (int c = 0; c < 3; c++) {
        double at[3];
        if (!expect(b, text, "vertex") || !lw_mesh_point(b, text, "vertex", at) ||
            !lw_mesh_vertex(b, at, &corners[c]))
            return false;
    }
    return expect(b, text, "endloop") && expect(b, text, "endfacet") &&
           lw_mesh_triangle(b, corners[0], corners[1], corners[2]);
}

static bool read_solid(lw_mesh_builder *b, lw_mesh_text *text) {
    char word[LW_MESH_WORD], shown[2 * LW_MESH_WORD];
    lw_mesh_skip_line(text); /* its name */
    while (lw_mesh_next_word(text, word)) {
        if (strcasecmp(word, "endsolid") == 0) {
            lw_mesh_skip_line(text);
            return true;
        }
        if (strcasecmp(word, "facet") != 0) {
            lw_escape(word, shown, sizeof shown);
            return lw_mesh_fault(b, text->line, "a solid has facets and ends with endsolid",
                                 "\"%s\" stands where \"facet\" or \"endsolid\" should", shown);
        }
        if (!read_facet(b, text)) return false;
    }
    return lw_mesh_fault(b, text->line, "export the mesh again, or copy the whole file",
                         "the file ends without endsolid: it is cut off");
}

static bool read_text(lw_mesh_builder *b, const char *bytes, size_t size) {
    lw_mesh_text text = {bytes, bytes + size, 1};
    char word[LW_MESH_WORD], shown[2 * LW_MESH_WORD];
    while (lw_mesh_next_word(&text, word)) {
        if (strcasecmp(word, "solid") != 0) {
            lw_escape(word, shown, sizeof shown);
            return lw_mesh_fault(b, text.line, "each solid begins with: solid NAME",
                                 "\"%s\" stands where \"solid\" should", shown);
        }
        if (!read_solid(b, &text)) return false;
    }
    return true;
}

bool lw_mesh_read_stl(lw_mesh_builder *b, const unsigned char *bytes, size_t size) {
    const uint32_t count = size >= HEAD ? u32_at(bytes + 80) : 0;
    const uint64_t wanted = HEAD + (uint64_t)RECORD * count;
    if (size >= HEAD && size == wanted) return read_binary(b, bytes, count);
    const size_t start = size < 512 ? size : 512;
    if (size > 5 && strncasecmp((const char *)bytes, "solid", 5) == 0 && !memchr(bytes, 0, start))
        return read_text(b, (const char *)bytes, size);
    if (size < HEAD)
        return lw_mesh_fault(b, 0, "give an STL file",
                             "the file is no STL file: text begins with \"solid\", and binary data have 84 "
                             "bytes at least, but there are %zu",
                             size);
    return lw_mesh_fault(
        b, 0, "export the mesh again, or copy the whole file",
        "the file is %s: byte 80 says %u triangles, which take %llu bytes, but there are %zu",
        size < wanted ? "cut off" : "longer than it says", count, (unsigned long long)wanted, size);
}
