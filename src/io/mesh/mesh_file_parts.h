/* mesh_file_parts.h - what the readers of the formats share: bytes, numbers, faults, and the mesh they build.
 */
#ifndef LW_MESH_FILE_PARTS_H
#define LW_MESH_FILE_PARTS_H

#include "core/core.h"

#include <stddef.h>
#include <stdint.h>

enum { LW_MESH_MOST_TRIANGLES = 2000000, LW_MESH_MOST_BYTES = 512 * 1024 * 1024 };

/* A mesh that grows; corners with the same coordinates are one vertex. */
typedef struct lw_mesh_builder {
    const char *path; /* for messages */
    lw_error *error;
    double *vertices;
    size_t vertex_count, vertex_room;
    int *triangles;
    size_t triangle_count, triangle_room;
    int *slots; /* 1 + a vertex, by the hash of its coordinates; 0: free */
    size_t slot_count;
} lw_mesh_builder;

/* A fault of the file, at a line if that is not 0. Returns false. */
bool lw_mesh_fault(lw_mesh_builder *b, size_t line, const char *remedy, const char *format, ...)
    LW_PRINTF(4, 5);

/* The fault of memory that is out. Returns false. */
bool lw_mesh_no_memory(lw_mesh_builder *b);

/* The vertex at these coordinates, a new one if there is none; false if memory is out. */
bool lw_mesh_vertex(lw_mesh_builder *b, const double at[3], int *vertex);
/* Adds a triangle, unless two of its corners are one; false with a fault if there are too many. */
bool lw_mesh_triangle(lw_mesh_builder *b, int i, int j, int k);

/* The next word of a text: up to a blank or the end of the line. */
typedef struct lw_mesh_text {
    const char *at, *end;
    size_t line; /* from 1 */
} lw_mesh_text;
enum { LW_MESH_WORD = 64 };
/* Copies the next word of the line, empty if there is none; a longer one is cut off, which no number is. */
void lw_mesh_word(lw_mesh_text *text, char word[LW_MESH_WORD]);
/* The same across lines; false at the end of the text. */
bool lw_mesh_next_word(lw_mesh_text *text, char word[LW_MESH_WORD]);
void lw_mesh_skip_line(lw_mesh_text *text);
/* Three finite numbers of this line; what: for messages. */
bool lw_mesh_point(lw_mesh_builder *b, lw_mesh_text *text, const char *what, double at[3]);

bool lw_mesh_read_stl(lw_mesh_builder *b, const unsigned char *bytes, size_t size);
bool lw_mesh_read_obj(lw_mesh_builder *b, const char *bytes, size_t size);
bool lw_mesh_read_msh(lw_mesh_builder *b, const unsigned char *bytes, size_t size);

#endif
