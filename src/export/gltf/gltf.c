/* gltf.c - writes a scene and its motion as glTF 2.0 in one binary file.
 *
 * The file (Khronos glTF 2.0, 4.4): a header of 12 bytes, a chunk of JSON, a chunk of binary data, each
 * padded to four bytes. Nodes: the root, which turns the model's z up into y up; ground and the bodies in the
 * order of the model; lines; the parts of the bodies, as their children; the grid. One animation moves
 * bodies and lines. Buffer views: vertices, indices, animation. Solids of the same kind share their vertices,
 * those of the same colour their mesh.
 *
 * Nodes are processed in blocks, so that memory stays below BLOCK_BYTES whatever the number of samples; each
 * block passes the samples once.
 */
#include "export/gltf/gltf_bytes.h"
#include "export/scene/scene_keys.h"
#include "linalg/vec3.h"
#include "model/data.h"

#include <linkwork/gltf.h>
#include <linkwork/version.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTE_LIMIT = 0x7fffffff, BLOCK_BYTES = 256 << 20, ROOT = 0, FIRST_BODY = 1 };
enum { VIEW_VERTICES, VIEW_INDICES, VIEW_ANIMATION };
enum { TYPE_FLOAT = 5126, TYPE_U16 = 5123, TYPE_U32 = 5125 };

typedef struct {
    const lw_model *model;
    lw_scene *scene;
    lw_arena *arena;
    const double *t, *poses;       /* as the caller gives them */
    size_t width;                  /* numbers of a sample's poses */
    size_t *samples, sample_count; /* the samples whose times differ as floats */
    double *times;                 /* of these samples, from 0 */
    lw_gltf_options options;
    double low[3], high[3]; /* of the motion */
    double tolerance;

    lw_bytes vertices, indices, animation;         /* the three buffer views */
    lw_bytes accessors, meshes, nodes;             /* lists of JSON */
    lw_bytes channels, samplers;                   /* lists of JSON of the animation */
    size_t accessor_count, mesh_count, node_count; /* their lengths so far */
    size_t sampler_count, keys;
    /* By solid, and behind them by mesh of the model: 1 + accessor of the positions, 0: none yet; those of
     * normals and indices follow. */
    size_t *solids;
    size_t *mesh_of;           /* by these and paint: 1 + index of a mesh; 0: none yet */
    int *paints, *material_of; /* colours in use; 1 + index of a material; 0: none yet */
    int material_count;
    lw_node_pose *start; /* the first pose of each node */
    lw_error *error;
} writer;

static void separate(lw_bytes *list) {
    if (list->size > 0) lw_bytes_text(list, ",\n");
}

static void put_vector(lw_bytes *json, const char *key, const double *values, int count) {
    lw_bytes_text(json, key);
    for (int k = 0; k < count; k++) {
        lw_bytes_text(json, k ? "," : "[");
        lw_bytes_number(json, (float)values[k]);
    }
    lw_bytes_text(json, "]");
}

/* The quaternion in glTF's order x, y, z, w. */
static void put_rotation(lw_bytes *json, const double q[4]) {
    const double turned[4] = {q[1], q[2], q[3], q[0]};
    put_vector(json, ",\"rotation\":", turned, 4);
}

/* --- accessors ------------------------------------------------------------------------------------ */

/* Adds an accessor; values are of the floats just added, `width` each, for their bounds, or NULL. */
static size_t add_accessor(writer *w, int view, size_t offset, int component, size_t count, int width,
                           const float *values) {
    static const char *const types[] = {"", "SCALAR", "", "VEC3", "VEC4"};
    lw_bytes *json = &w->accessors;
    separate(json);
    lw_bytes_text(json, "{\"bufferView\":");
    lw_bytes_integer(json, (size_t)view);
    lw_bytes_text(json, ",\"byteOffset\":");
    lw_bytes_integer(json, offset);
    lw_bytes_text(json, ",\"componentType\":");
    lw_bytes_integer(json, (size_t)component);
    lw_bytes_text(json, ",\"count\":");
    lw_bytes_integer(json, count);
    lw_bytes_text(json, ",\"type\":\"");
    lw_bytes_text(json, types[width]);
    lw_bytes_text(json, "\"");
    for (int side = 0; side < 2 && values; side++) {
        lw_bytes_text(json, side ? ",\"max\":[" : ",\"min\":[");
        for (int k = 0; k < width; k++) {
            float bound = values[k];
            for (size_t i = 1; i < count; i++) {
                float value = values[i * (size_t)width + (size_t)k];
                if (side ? value > bound : value < bound) bound = value;
            }
            if (k) lw_bytes_text(json, ",");
            lw_bytes_number(json, bound);
        }
        lw_bytes_text(json, "]");
    }
    lw_bytes_text(json, "}");
    return w->accessor_count++;
}

static size_t add_floats(writer *w, int view, const float *values, size_t count, int width, bool bounds) {
    lw_bytes *bytes = view == VIEW_VERTICES ? &w->vertices : &w->animation;
    size_t offset = bytes->size;
    for (size_t k = 0; k < count * (size_t)width; k++) lw_bytes_float(bytes, values[k]);
    return add_accessor(w, view, offset, TYPE_FLOAT, count, width, bounds ? values : NULL);
}

/* --- meshes --------------------------------------------------------------------------------------- */

/* Adds the vertices of a solid; returns the accessor of its positions, before those of normals, indices.
 * shape: of a tetrahedron or mesh. */
static size_t add_solid(writer *w, lw_solid solid, const lw_shape *shape) {
    lw_mesh mesh;
    bool good = solid == LW_SOLID_MESH ? lw_mesh_of_triangles(shape->mesh, w->arena, &mesh)
                                       : lw_mesh_create(solid, shape ? shape->points : NULL, w->arena, &mesh);
    if (!good) {
        w->vertices.failed = true;
        return 0;
    }
    size_t first = add_floats(w, VIEW_VERTICES, mesh.positions, mesh.vertex_count, 3, true);
    (void)add_floats(w, VIEW_VERTICES, mesh.normals, mesh.vertex_count, 3, false);
    if (mesh.index_count == 0) { /* a mesh: its vertices in their order */
        lw_bytes_pad(&w->indices, 0);
        size_t offset = w->indices.size;
        for (size_t k = 0; k < mesh.vertex_count; k++) lw_bytes_u32(&w->indices, (uint32_t)k);
        (void)add_accessor(w, VIEW_INDICES, offset, TYPE_U32, mesh.vertex_count, 1, NULL);
        return first;
    }
    size_t offset = w->indices.size;
    for (size_t k = 0; k < mesh.index_count; k++) lw_bytes_u16(&w->indices, mesh.indices[k]);
    (void)add_accessor(w, VIEW_INDICES, offset, TYPE_U16, mesh.index_count, 1, NULL);
    return first;
}

static size_t material_for(writer *w, int paint) {
    if (w->material_of[paint] == 0) {
        w->paints[w->material_count++] = paint;
        w->material_of[paint] = w->material_count;
    }
    return (size_t)w->material_of[paint] - 1;
}

static size_t add_mesh(writer *w, const char *name, size_t accessor, int paint) {
    lw_bytes *json = &w->meshes;
    separate(json);
    lw_bytes_text(json, "{\"name\":");
    lw_bytes_string(json, name);
    lw_bytes_text(json, ",\"primitives\":[{\"attributes\":{\"POSITION\":");
    lw_bytes_integer(json, accessor);
    lw_bytes_text(json, ",\"NORMAL\":");
    lw_bytes_integer(json, accessor + 1);
    lw_bytes_text(json, "},\"indices\":");
    lw_bytes_integer(json, accessor + 2);
    lw_bytes_text(json, ",\"material\":");
    lw_bytes_integer(json, material_for(w, paint));
    lw_bytes_text(json, "}]}");
    return w->mesh_count++;
}

static size_t mesh_for(writer *w, lw_solid solid, int paint, const lw_shape *shape) {
    static const char *const names[LW_SOLIDS] = {"box",  "cylinder",    "sphere", "cone",
                                                 "coil", "tetrahedron", "mesh"};
    if (solid == LW_SOLID_TETRAHEDRON) return add_mesh(w, names[solid], add_solid(w, solid, shape), paint);
    size_t which = (size_t)solid;
    if (solid == LW_SOLID_MESH) which = LW_SOLIDS + (size_t)lw_mesh_index(&w->model->meshes, shape->mesh);
    size_t *mesh = &w->mesh_of[which * (size_t)w->scene->paint_count + (size_t)paint];
    if (w->solids[which] == 0) w->solids[which] = 1 + add_solid(w, solid, shape);
    if (*mesh == 0) *mesh = 1 + add_mesh(w, names[solid], w->solids[which] - 1, paint);
    return *mesh - 1;
}

/* --- nodes ---------------------------------------------------------------------------------------- */

static void begin_node(writer *w, lw_bytes *json, const char *name, const char *kind) {
    separate(json);
    lw_bytes_text(json, "{");
    if (name) {
        lw_bytes_text(json, "\"name\":");
        lw_bytes_string(json, name);
        lw_bytes_text(json, ",");
    }
    lw_bytes_text(json, "\"extras\":{\"kind\":\"");
    lw_bytes_text(json, kind);
    lw_bytes_text(json, "\"}");
    w->node_count++;
}

static void put_pose(lw_bytes *json, const double position[3], const double rotation[4],
                     const double scale[3]) {
    put_vector(json, ",\"translation\":", position, 3);
    put_rotation(json, rotation);
    if (scale) put_vector(json, ",\"scale\":", scale, 3);
}

/* The children first .. first + count - 1, and last unless that is 0. */
static void put_children(lw_bytes *json, size_t first, size_t count, size_t last) {
    if (count > 0) lw_bytes_text(json, ",\"children\":");
    for (size_t k = 0; k < count; k++) {
        lw_bytes_text(json, k ? "," : "[");
        lw_bytes_integer(json, first + k);
    }
    if (last > 0) {
        lw_bytes_text(json, ",");
        lw_bytes_integer(json, last);
    }
    if (count > 0) lw_bytes_text(json, "]");
}

static void put_mesh(lw_bytes *json, size_t mesh) {
    lw_bytes_text(json, ",\"mesh\":");
    lw_bytes_integer(json, mesh);
}

static void line_scale(const lw_scene_line *line, double length, double scale[3]) {
    lw_v3_set(scale, line->radius, line->radius, length);
}

/* Bodies and lines in their first poses; nodes of parts follow after all of these. */
static void add_nodes(writer *w, size_t top_count) {
    static const double turn[4] = {0.70710678118654752, -0.70710678118654752, 0, 0};
    const lw_scene *scene = w->scene;
    size_t bodies = (size_t)w->model->body_count + 1, first_part = FIRST_BODY + top_count;
    lw_bytes *json = &w->nodes;
    begin_node(w, json, lw_model_name(w->model), "mechanism");
    put_rotation(json, turn);
    put_children(json, FIRST_BODY, top_count, w->options.grid ? first_part + scene->part_count : 0);
    lw_bytes_text(json, "}");
    for (size_t i = 0; i < bodies; i++) {
        begin_node(w, json, lw_model_body_name(w->model, (int)i), i ? "body" : "ground");
        if (i > 0) put_pose(json, w->start[i].position, w->start[i].rotation, NULL);
        put_children(json, first_part + scene->first[i], scene->first[i + 1] - scene->first[i], 0);
        lw_bytes_text(json, "}");
    }
    for (size_t k = 0; k < scene->line_count; k++) {
        const lw_scene_line *line = &scene->lines[k];
        const lw_node_pose *pose = &w->start[bodies + k];
        double scale[3];
        begin_node(w, json, line->name, line->solid == LW_SOLID_COIL ? "spring" : "distance");
        line_scale(line, pose->length, scale);
        put_pose(json, pose->position, pose->rotation, scale);
        put_mesh(json, mesh_for(w, line->solid, LW_PAINT_LINE, NULL));
        lw_bytes_text(json, "}");
    }
}

static void add_parts(writer *w) {
    for (size_t k = 0; k < w->scene->part_count; k++) {
        const lw_part *part = &w->scene->parts[k];
        begin_node(w, &w->nodes, part->name, part->kind);
        put_pose(&w->nodes, part->position, part->rotation, part->scale);
        put_mesh(&w->nodes, mesh_for(w, part->solid, part->paint, part->shape));
        lw_bytes_text(&w->nodes, "}");
    }
}

/* A grid of lines on the plane below the motion, with cells of 1, 2 or 5 times a power of ten. */
static void add_grid(writer *w) {
    enum { MOST_CELLS = 40 };
    float points[4 * (MOST_CELLS + 1) * 3];
    double size = fmax(fmax(w->high[0] - w->low[0], w->high[1] - w->low[1]), w->scene->typical);
    double power = pow(10, floor(log10(size / 8))), factor = size / 8 / power;
    double cell = power * (factor < 1.42 ? 1 : factor < 3.17 ? 2 : factor < 7.08 ? 5 : 10);
    int count = 2 * (int)ceil(0.75 * size / cell);
    size_t used = 0;
    double middle[3];
    if (count > MOST_CELLS) count = MOST_CELLS;
    for (int k = 0; k < 2; k++) middle[k] = cell * round(0.5 * (w->low[k] + w->high[k]) / cell);
    for (int line = 0; line <= count; line++)
        for (int way = 0; way < 2; way++)
            for (int end = -1; end <= 1; end += 2) {
                points[used + (size_t)way] = (float)((line - 0.5 * count) * cell);
                points[used + (size_t)(1 - way)] = (float)(end * 0.5 * count * cell);
                points[used + 2] = 0;
                used += 3;
            }
    middle[2] = w->low[2] - 0.25 * w->scene->typical;
    size_t accessor = add_floats(w, VIEW_VERTICES, points, used / 3, 3, true);
    separate(&w->meshes);
    lw_bytes_text(&w->meshes, "{\"name\":\"grid\",\"primitives\":[{\"mode\":1,\"attributes\":{\"POSITION\":");
    lw_bytes_integer(&w->meshes, accessor);
    lw_bytes_text(&w->meshes, "},\"material\":");
    lw_bytes_integer(&w->meshes, material_for(w, LW_PAINT_GRID));
    lw_bytes_text(&w->meshes, "}]}");
    begin_node(w, &w->nodes, "grid", "grid");
    put_vector(&w->nodes, ",\"translation\":", middle, 3);
    put_mesh(&w->nodes, w->mesh_count++);
    lw_bytes_text(&w->nodes, "}");
}

/* --- animation ------------------------------------------------------------------------------------ */

static void add_channel(writer *w, size_t node, const char *path, size_t input, size_t output) {
    separate(&w->samplers);
    lw_bytes_text(&w->samplers, "{\"input\":");
    lw_bytes_integer(&w->samplers, input);
    lw_bytes_text(&w->samplers, ",\"output\":");
    lw_bytes_integer(&w->samplers, output);
    lw_bytes_text(&w->samplers, "}"); /* LINEAR is the default. */
    separate(&w->channels);
    lw_bytes_text(&w->channels, "{\"sampler\":");
    lw_bytes_integer(&w->channels, w->sampler_count++);
    lw_bytes_text(&w->channels, ",\"target\":{\"node\":");
    lw_bytes_integer(&w->channels, node);
    lw_bytes_text(&w->channels, ",\"path\":\"");
    lw_bytes_text(&w->channels, path);
    lw_bytes_text(&w->channels, "\"}}");
}

/* The component k of a channel at a pose: of the position, of the quaternion x, y, z, w, or of the scale. */
static double component(const writer *w, size_t node, const lw_node_pose *pose, int channel, int k) {
    if (channel == 0) return pose->position[k];
    if (channel == 1) return pose->rotation[(k + 1) % 4];
    const lw_scene_line *line = &w->scene->lines[node - (size_t)w->model->body_count - 1];
    return k == 2 ? pose->length : line->radius;
}

/* Adds the channels of a node in which it moves. poses: sample k at poses[k * stride]. */
static bool animate(writer *w, size_t node, const lw_node_pose *poses, size_t stride, size_t *keys,
                    float *values) {
    static const char *const paths[3] = {"translation", "rotation", "scale"};
    static const int widths[3] = {3, 4, 3};
    size_t bodies = (size_t)w->model->body_count + 1, input = 0, count = 0;
    double reach = 0.1 * w->scene->typical;
    if (node >= bodies)
        reach += poses->length;
    else /* A turn moves what is far from the frame's origin. */
        reach += lw_v3_norm(w->scene->middle[node]) + w->scene->radius[node];
    for (int channel = 0; channel < (node < bodies ? 2 : 3); channel++) {
        double moved = 0, unit = channel == 1 ? reach : 1;
        for (size_t k = 1; k < w->sample_count; k++)
            for (int i = 0; i < widths[channel]; i++)
                moved = fmax(moved, fabs(component(w, node, &poses[k * stride], channel, i) -
                                         component(w, node, poses, channel, i)));
        if (moved * unit <= 0.1 * w->tolerance) continue;
        if (count == 0) { /* The first channel of this node that moves. */
            count = lw_scene_keys(w->times, poses, stride, w->sample_count, reach, w->tolerance, keys);
            for (size_t k = 0; k < count; k++) values[k] = (float)w->times[keys[k]];
            input = add_floats(w, VIEW_ANIMATION, values, count, 1, true);
        }
        for (size_t k = 0; k < count; k++) {
            const lw_node_pose *pose = &poses[keys[k] * stride];
            float *at = values + k * (size_t)widths[channel], dot = 0;
            for (int i = 0; i < widths[channel]; i++) {
                at[i] = (float)component(w, node, pose, channel, i);
                if (!isfinite(at[i])) return false;
                if (channel == 1 && k > 0) dot += at[i] * (at - 4)[i];
            }
            /* Between keys the sign may have changed on the way: the shorter way is meant. */
            for (int i = 0; i < 4 && dot < 0; i++) at[i] = -at[i];
        }
        size_t output = add_floats(w, VIEW_ANIMATION, values, count, widths[channel], false);
        add_channel(w, FIRST_BODY + node, paths[channel], input, output);
        w->keys += count;
    }
    return true;
}

static lw_status no_number(writer *w, size_t node) {
    char object[160];
    size_t bodies = (size_t)w->model->body_count + 1;
    const char *name =
        node < bodies ? lw_model_body_name(w->model, (int)node) : w->scene->lines[node - bodies].name;
    snprintf(object, sizeof object, "\"%.120s\"", name);
    return lw_fail(w->error, LW_ERROR_ARGUMENT, object, "give samples of a run that went well",
                   "its place is no number that a float can hold");
}

static lw_status animate_all(writer *w) {
    size_t nodes = lw_scene_node_count(w->scene), count = w->sample_count;
    size_t block = BLOCK_BYTES / sizeof(lw_node_pose) / count;
    if (block < 1) block = 1;
    if (block > nodes) block = nodes;
    lw_node_pose *poses = calloc(block * count, sizeof *poses);
    size_t *keys = calloc(count, sizeof *keys);
    float *values = calloc(4 * count, sizeof *values);
    lw_status status = poses && keys && values ? LW_OK : lw_out_of_memory(w->error);
    for (size_t first = 0; first < nodes && status == LW_OK; first += block) {
        size_t here = nodes - first < block ? nodes - first : block;
        for (size_t k = 0; k < count; k++) {
            size_t sample = w->samples[k];
            const lw_node_pose *before = k ? poses + (k - 1) * here : NULL;
            lw_scene_poses(w->scene, w->poses + sample * w->width, first, here, before, poses + k * here);
        }
        for (size_t i = 0; i < here && status == LW_OK; i++) {
            w->start[first + i] = poses[i];
            if (!lw_finite(poses[i].position, 3) || !lw_finite(poses[i].rotation, 4) ||
                !animate(w, first + i, poses + i, here, keys, values))
                status = no_number(w, first + i);
        }
    }
    free(poses);
    free(keys);
    free(values);
    return status;
}

/* --- the samples ---------------------------------------------------------------------------------- */

/* Keeps the samples whose times differ in single precision; false if times descend. */
static bool choose_samples(writer *w, size_t count) {
    float last = 0;
    for (size_t k = 0; k < count; k++) {
        float time = (float)(w->t[k] - w->t[0]);
        if (!isfinite(time) || (k > 0 && w->t[k] < w->t[k - 1])) return false;
        if (k > 0 && time <= last) continue;
        last = time;
        w->samples[w->sample_count] = k;
        w->times[w->sample_count++] = time;
    }
    return true;
}

/* Springs to a point far beyond the mechanism stand for a road or a wall; as coils they would dwarf it. */
static void drop_long_lines(writer *w, double size) {
    size_t bodies = (size_t)w->model->body_count + 1, kept = 0;
    lw_scene_poses(w->scene, w->poses, bodies, w->scene->line_count, NULL, w->start);
    for (size_t k = 0; k < w->scene->line_count; k++)
        if (w->start[k].length < 4 * size) w->scene->lines[kept++] = w->scene->lines[k];
    w->scene->line_count = kept;
}

/* The box around the bodies, at some hundred samples, and the tolerance. */
static void find_bounds(writer *w) {
    enum { LOOKS = 400 };
    size_t bodies = (size_t)w->model->body_count + 1, stride = w->sample_count / LOOKS + 1;
    for (int k = 0; k < 3; k++) w->low[k] = INFINITY, w->high[k] = -INFINITY;
    for (size_t s = 0; s < w->sample_count; s += stride) {
        size_t sample = w->samples[s];
        lw_scene_poses(w->scene, w->poses + sample * w->width, 0, bodies, NULL, w->start);
        for (size_t i = bodies > 1; i < bodies; i++) {
            double R[9], at[3];
            lw_rot_quat(w->start[i].rotation, R);
            lw_pose_point(R, w->start[i].position, w->scene->middle[i], at);
            for (int k = 0; k < 3; k++) {
                w->low[k] = fmin(w->low[k], at[k] - 0.577 * w->scene->radius[i]);
                w->high[k] = fmax(w->high[k], at[k] + 0.577 * w->scene->radius[i]);
            }
        }
    }
    double diagonal[3];
    lw_v3_sub(w->high, w->low, diagonal);
    double accuracy = w->options.accuracy > 0 ? w->options.accuracy : 2e-5;
    /* What flies far away does not make the rest coarse. */
    w->tolerance = accuracy * fmin(fmax(lw_v3_norm(diagonal), w->scene->typical), 10 * w->scene->typical);
    drop_long_lines(w, fmax(lw_v3_norm(diagonal), w->scene->typical));
}

/* --- the file ------------------------------------------------------------------------------------- */

static float linear(unsigned char value) {
    double c = value / 255.0;
    return (float)(c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
}

static void put_materials(const writer *w, lw_bytes *json) {
    lw_bytes_text(json, "\"materials\":[");
    for (int k = 0; k < w->material_count; k++) {
        const lw_paint *paint = &w->scene->paints[w->paints[k]];
        char own[16];
        (void)snprintf(own, sizeof own, "#%02x%02x%02x", paint->rgb[0], paint->rgb[1], paint->rgb[2]);
        const double colour[4] = {linear(paint->rgb[0]), linear(paint->rgb[1]), linear(paint->rgb[2]), 1};
        lw_bytes_text(json, k ? ",\n{\"name\":" : "{\"name\":");
        lw_bytes_string(json, paint->name ? paint->name : own);
        put_vector(json, ",\"pbrMetallicRoughness\":{\"baseColorFactor\":", colour, 4);
        lw_bytes_text(json, w->paints[k] < LW_PAINT_BODIES || !paint->name
                                ? ",\"metallicFactor\":0,\"roughnessFactor\":0.5}}"
                                : ",\"metallicFactor\":0.2,\"roughnessFactor\":0.4}}");
    }
    lw_bytes_text(json, "]");
}

static void put_list(lw_bytes *json, const char *key, const lw_bytes *list) {
    lw_bytes_text(json, key);
    if (list->size > 0) lw_bytes_put(json, list->data, list->size);
    lw_bytes_text(json, "]");
    json->failed = json->failed || list->failed;
}

static void put_view(lw_bytes *json, size_t offset, size_t size, const char *rest) {
    lw_bytes_text(json, "{\"buffer\":0,\"byteOffset\":");
    lw_bytes_integer(json, offset);
    lw_bytes_text(json, ",\"byteLength\":");
    lw_bytes_integer(json, size);
    lw_bytes_text(json, rest);
    lw_bytes_text(json, "}");
}

static void put_document(const writer *w, lw_bytes *json) {
    const size_t sizes[3] = {w->vertices.size, w->indices.size, w->animation.size};
    lw_bytes_text(json, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Linkwork " LW_VERSION "\"},\n");
    lw_bytes_text(json, "\"scene\":0,\"scenes\":[{\"name\":");
    lw_bytes_string(json, lw_model_name(w->model));
    lw_bytes_text(json, ",\"nodes\":[0]}],\n");
    put_list(json, "\"nodes\":[", &w->nodes);
    if (w->channels.size > 0) {
        lw_bytes_text(json, ",\n\"animations\":[{\"name\":");
        lw_bytes_string(json, lw_model_name(w->model));
        put_list(json, ",\"channels\":[", &w->channels);
        put_list(json, ",\n\"samplers\":[", &w->samplers);
        lw_bytes_text(json, "}]");
    }
    if (w->mesh_count > 0) {
        put_list(json, ",\n\"meshes\":[", &w->meshes);
        lw_bytes_text(json, ",\n");
        put_materials(w, json);
        put_list(json, ",\n\"accessors\":[", &w->accessors);
        lw_bytes_text(json, ",\n\"bufferViews\":[");
        put_view(json, 0, sizes[0], ",\"byteStride\":12,\"target\":34962");
        lw_bytes_text(json, ",");
        put_view(json, sizes[0], sizes[1], ",\"target\":34963");
        if (sizes[2] > 0) {
            lw_bytes_text(json, ",");
            put_view(json, sizes[0] + sizes[1], sizes[2], "");
        }
        lw_bytes_text(json, "],\"buffers\":[{\"byteLength\":");
        lw_bytes_integer(json, sizes[0] + sizes[1] + sizes[2]);
        lw_bytes_text(json, "}]");
    }
    lw_bytes_text(json, "}");
    lw_bytes_pad(json, ' ');
}

static lw_status file_fault(lw_error *error, const char *path, const char *reason) {
    char object[112];
    snprintf(object, sizeof object, "glTF file \"%.90s\"", path);
    return lw_fail(error, LW_ERROR_FILE, object, "give a path in an existing folder where you may write",
                   "cannot be written: %s", reason);
}

static lw_status write_file(writer *w, const char *path, size_t *bytes) {
    lw_bytes json = {0}, head = {0};
    put_document(w, &json);
    const lw_bytes *const parts[] = {&w->vertices, &w->indices, &w->animation};
    size_t binary = 0;
    bool failed = json.failed;
    for (int k = 0; k < 3; k++) binary += parts[k]->size, failed = failed || parts[k]->failed;
    size_t total = 12 + 8 + json.size + (binary > 0 ? 8 + binary : 0);
    lw_status status = failed ? lw_out_of_memory(w->error) : LW_OK;
    if (status == LW_OK && total > BYTE_LIMIT)
        status = lw_fail(w->error, LW_ERROR_FILE, path, "give fewer samples, or a coarser accuracy",
                         "it would have %zu bytes, and a .glb file has at most 2 GB", total);
    lw_bytes_text(&head, "glTF");
    lw_bytes_u32(&head, 2);
    lw_bytes_u32(&head, (uint32_t)total);
    lw_bytes_u32(&head, (uint32_t)json.size);
    lw_bytes_text(&head, "JSON");
    if (status == LW_OK && head.failed) status = lw_out_of_memory(w->error);
    errno = 0;
    FILE *file = status == LW_OK ? fopen(path, "wb") : NULL;
    if (status == LW_OK && !file) status = file_fault(w->error, path, strerror(errno));
    if (file) {
        bool good = fwrite(head.data, 1, head.size, file) == head.size &&
                    fwrite(json.data, 1, json.size, file) == json.size;
        head.size = 0;
        lw_bytes_u32(&head, (uint32_t)binary);
        lw_bytes_put(&head, "BIN", 4);
        if (binary > 0) good = good && fwrite(head.data, 1, head.size, file) == head.size;
        for (int k = 0; k < 3 && good; k++)
            good = parts[k]->size == 0 || fwrite(parts[k]->data, 1, parts[k]->size, file) == parts[k]->size;
        if (fclose(file) != 0) good = false;
        if (!good) status = file_fault(w->error, path, strerror(errno ? errno : EIO));
    }
    *bytes = total;
    lw_bytes_free(&json);
    lw_bytes_free(&head);
    return status;
}

static lw_status prepare(writer *w, size_t count) {
    if (!(w->arena = lw_arena_create(NULL)) || !(w->scene = lw_scene_create(w->model, w->poses, w->arena)))
        return lw_out_of_memory(w->error);
    w->samples = LW_NEW(w->arena, size_t, count);
    w->times = LW_NEW(w->arena, double, count);
    w->start = LW_NEW(w->arena, lw_node_pose, lw_scene_node_count(w->scene));
    const size_t solids = LW_SOLIDS + w->model->meshes.count, paints = (size_t)w->scene->paint_count;
    w->solids = LW_NEW(w->arena, size_t, solids);
    w->mesh_of = LW_NEW(w->arena, size_t, solids * paints);
    w->paints = LW_NEW(w->arena, int, paints);
    w->material_of = LW_NEW(w->arena, int, paints);
    if (lw_arena_failed(w->arena)) return lw_out_of_memory(w->error);
    for (size_t k = 0; k < count; k++)
        if (!lw_finite(w->poses + k * w->width, (int)w->width))
            return lw_call_needs("poses that are finite", w->error);
    if (!choose_samples(w, count)) return lw_call_needs("times that are finite and do not descend", w->error);
    find_bounds(w);
    return LW_OK;
}

lw_status lw_gltf_poses(const lw_model *model, lw_data *data, double t, const double *q, double *poses) {
    if (!model || !data || data->model != model || !q || !poses || !lw_finite(q, model->nq) || !isfinite(t))
        return LW_ERROR_ARGUMENT;
    lw_take_state(model, data, t, q, NULL);
    lw_positions(model, data);
    lw_world_poses(model, data);
    for (int body = 1; body <= model->body_count; body++) {
        const lw_pose *world = &data->world[body], *frame = &model->bodies[body].frame;
        double R[9], quaternion[4], *out = poses + 7 * (size_t)(body - 1);
        lw_pose_compose(world->R, world->p, frame->R, frame->p, R, out);
        lw_quat_rot(R, quaternion);
        for (int k = 0; k < 4; k++) out[3 + k] = quaternion[(k + 1) % 4];
    }
    return LW_OK;
}

lw_status lw_export_gltf(const lw_model *model, const double *t, const double *poses, size_t count,
                         const char *path, const lw_gltf_options *options, lw_gltf_summary *summary,
                         lw_error *error) {
    if (!model || !t || (!poses && model->body_count > 0) || count == 0 || !path)
        return lw_call_needs("a model, at least one sample of time and poses, and a path", error);
    if (options && !(options->accuracy >= 0 && options->accuracy < 1))
        return lw_call_needs("an accuracy from 0 to below 1", error);
    writer w = {
        .model = model, .t = t, .poses = poses, .width = 7 * (size_t)model->body_count, .error = error};
    if (options) w.options = *options;
    size_t bytes = 0;
    lw_status status = prepare(&w, count);
    if (status == LW_OK) status = animate_all(&w);
    if (status == LW_OK) {
        add_nodes(&w, lw_scene_node_count(w.scene));
        add_parts(&w);
        if (w.options.grid) add_grid(&w);
        lw_bytes_pad(&w.indices, 0);
        status = write_file(&w, path, &bytes);
    }
    if (status == LW_OK && summary) *summary = (lw_gltf_summary){bytes, w.node_count, w.keys, w.sample_count};
    lw_bytes *const lists[] = {&w.vertices, &w.indices, &w.animation, &w.accessors,
                               &w.meshes,   &w.nodes,   &w.channels,  &w.samplers};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) lw_bytes_free(lists[k]);
    lw_arena_destroy(w.arena);
    return status;
}
