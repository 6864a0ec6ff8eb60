/* code_print.c - prints a routine: order of its statements, names, parts, checks (code_print.h).
 *
 * Order      That in which the nodes were made, which is that of the recursions; the sines and cosines of
 *            joints come first, side by side in vectors. (Depth first from the results was measured: no
 *            better for short chains, a tenth slower for long ones.)
 * Statements A value that is used once stands within the expression that uses it, if that is not too long;
 *            every other one is a constant of its own.
 * Parts      Compilers take more than linear time for a long function. A routine of more than PART
 *            operations is split; values that cross from a part to a later one stand in the workspace, in
 *            places that are used again once their last reader has passed.
 * Cost       O(nodes).
 */
#include "export/code/code_print.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1200, DEPTH = 12 };

typedef struct schedule {
    bool *live, *own; /* own: it has a statement */
    int *uses, *order, *part, *last, *slot, *depth, *name, *early;
    int count, parts, early_count; /* early: 1 + the place of a sine or cosine that is computed first */
} schedule;

void code_routine_add(code_routine *routine, code_graph *g, code_node node, const char *format, ...) {
    if (routine->output_count == routine->output_room) {
        const int room = routine->output_room ? 2 * routine->output_room : 64;
        code_output *longer = realloc(routine->outputs, (size_t)room * sizeof *longer);
        if (!longer) {
            g->failed = true;
            return;
        }
        routine->outputs = longer;
        routine->output_room = room;
    }
    code_output *out = &routine->outputs[routine->output_count++];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(out->place, sizeof out->place, format, list);
    va_end(list);
    out->node = node;
}

void code_routine_destroy(code_routine *routine) {
    free(routine->outputs);
    free(routine->pivots);
    free(routine->floors);
    *routine = (code_routine){0};
}

void code_mark(const code_graph *g, const code_routine *routine, bool *live) {
    int last = 0;
    for (int k = 0; k < routine->output_count; k++) {
        const code_node n = routine->outputs[k].node;
        live[n] = true;
        last = n > last ? n : last;
    }
    for (int k = 0; k < routine->pivot_count; k++) {
        if (routine->pivots[k] < 0) continue;
        live[routine->pivots[k]] = true;
        last = routine->pivots[k] > last ? routine->pivots[k] : last;
    }
    for (int n = last; n >= 0; n--)
        for (int k = 0; live[n] && k < code_arity((code_op)g->nodes[n].op); k++)
            live[code_operand(g, n, k)] = true;
}

/* Can the angle be computed from arguments by products and sums alone? */
static bool is_early(const code_graph *g, code_node n) {
    const code_op op = (code_op)g->nodes[n].op;
    if (op > CODE_MULTIPLY) return false;
    for (int k = 0; k < code_arity(op); k++)
        if (!is_early(g, code_operand(g, n, k))) return false;
    return true;
}

bool code_routine_is_arithmetic(const code_graph *g, const code_routine *routine) {
    bool *live = calloc((size_t)g->count + 1, sizeof *live), good = live != NULL;
    if (live) code_mark(g, routine, live);
    for (int n = 0; n < g->count && good; n++) {
        const code_op op = (code_op)g->nodes[n].op;
        if (!live[n] || op <= CODE_DIVIDE) continue;
        /* the sines and cosines of angles, both of each */
        const code_operation *o = &g->nodes[n];
        bool paired = false;
        for (int m = 0; m < g->count && !paired && (op == CODE_SIN || op == CODE_COS); m++)
            paired =
                live[m] && g->nodes[m].op == (op == CODE_SIN ? CODE_COS : CODE_SIN) && g->nodes[m].a == o->a;
        good = paired && is_early(g, o->a);
    }
    free(live);
    return good;
}

bool code_routine_count(code_graph *g, code_routine *routine) {
    bool *live = calloc((size_t)g->count + 1, sizeof *live);
    if (!live) g->failed = true;
    if (g->failed) {
        free(live);
        return false;
    }
    code_mark(g, routine, live);
    routine->additions = routine->multiplications = routine->divisions = routine->functions = 0;
    for (int n = 0; n < g->count; n++) {
        if (!live[n]) continue;
        switch ((code_op)g->nodes[n].op) {
        case CODE_CONSTANT:
        case CODE_INPUT:
        case CODE_NEGATE:
            break;
        case CODE_ADD:
        case CODE_SUBTRACT:
            routine->additions++;
            break;
        case CODE_MULTIPLY:
            routine->multiplications++;
            break;
        case CODE_DIVIDE:
            routine->divisions++;
            break;
        default:
            routine->functions++;
        }
    }
    free(live);
    return true;
}

/* --- schedule ------------------------------------------------------------------------------------- */

static void schedule_destroy(schedule *s) {
    free(s->live);
    free(s->own);
    free(s->uses);
    free(s->order);
    free(s->part);
    free(s->last);
    free(s->slot);
    free(s->depth);
    free(s->name);
    free(s->early);
}

static bool inlined(const code_graph *g, const schedule *s, code_node n) {
    const code_op op = (code_op)g->nodes[n].op;
    if (op == CODE_CONSTANT || op == CODE_INPUT) return true;
    return s->uses[n] == 1 && op != CODE_SIN && op != CODE_COS && s->depth[n] < DEPTH;
}

static bool schedule_create(code_writer *w, const code_routine *routine, schedule *s) {
    code_graph *g = w->g;
    const size_t n = (size_t)g->count + 1;
    *s = (schedule){.live = calloc(n, sizeof(bool)), .own = calloc(n, sizeof(bool))};
    int **const lists[] = {&s->uses, &s->order, &s->part, &s->last, &s->slot, &s->depth, &s->name, &s->early};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = calloc(n, sizeof(int));
    const bool good = s->live && s->own && s->uses && s->order && s->part && s->last && s->slot && s->depth &&
                      s->name && s->early;
    if (!good) g->failed = true;
    if (good) {
        code_mark(g, routine, s->live);
        for (int k = 0; k < g->count; k++)
            for (int i = 0; s->live[k] && i < code_arity((code_op)g->nodes[k].op); i++)
                s->uses[code_operand(g, k, i)]++;
        for (int k = 0; k < routine->output_count; k++) s->uses[routine->outputs[k].node] += 2;
        for (int k = 0; k < routine->pivot_count; k++)
            if (routine->pivots[k] >= 0) s->uses[routine->pivots[k]] += 2;
        for (int node = 0; node < g->count; node++)
            if (s->live[node]) s->order[s->count++] = node;
        /* names, parts */
        int work = 0, part = 0, names = 0;
        for (int k = 0; k < s->count; k++) {
            const int node = s->order[k];
            int deepest = 0;
            for (int i = 0; i < code_arity((code_op)g->nodes[node].op); i++) {
                const int from = code_operand(g, node, i);
                if (inlined(g, s, from) && s->depth[from] > deepest) deepest = s->depth[from];
            }
            s->depth[node] = deepest + (code_arity((code_op)g->nodes[node].op) > 0);
            s->own[node] = !inlined(g, s, node);
            if (code_arity((code_op)g->nodes[node].op) == 0) continue;
            if (++work > PART && s->own[node]) part++, work = 0;
            s->part[node] = part;
            if (s->own[node]) s->name[node] = ++names;
        }
        s->parts = part + 1;
    }
    return good;
}

/* The part in which a node's text stands: its own statement's. Nodes without statement stand where their only
 * user does, which is computed from the end of the order. */
static void settle_parts(const code_graph *g, const code_routine *routine, schedule *s) {
    for (int k = s->count - 1; k >= 0; k--) {
        const int node = s->order[k];
        for (int i = 0; i < code_arity((code_op)g->nodes[node].op); i++) {
            const int from = code_operand(g, node, i);
            if (!s->own[from]) s->part[from] = s->part[node];
            if (s->part[node] > s->last[from]) s->last[from] = s->part[node];
        }
    }
    for (int k = 0; k < routine->pivot_count; k++) { /* checked where they are computed */
        const int node = routine->pivots[k];
        if (node >= 0 && s->last[node] < s->part[node]) s->last[node] = s->part[node];
    }
}

/* Places in the workspace for values that later parts read, -1 for others. Returns how many there are. */
static int assign_slots(const code_graph *g, schedule *s) {
    int *free_list = calloc((size_t)s->count + 1, sizeof *free_list), free_count = 0, most = 0, at = 0;
    int *ends = calloc((size_t)s->count + 1, sizeof *ends), end_count = 0; /* nodes that hold a place */
    if (!free_list || !ends) at = s->count;
    for (int n = 0; n < g->count; n++) s->slot[n] = -1;
    for (int part = 0; at < s->count; part++) {
        for (int k = 0; k < end_count;) { /* Whoever is not read from this part on gives its place back. */
            if (s->last[ends[k]] < part) {
                free_list[free_count++] = s->slot[ends[k]];
                ends[k] = ends[--end_count];
            } else
                k++;
        }
        for (int k = 0; part == 0 && k < s->count; k++) {
            const int node = s->order[k];
            if (!s->early[node] || s->last[node] == 0) continue;
            s->slot[node] = most++;
            ends[end_count++] = node;
        }
        for (; at < s->count; at++) {
            const int node = s->order[at];
            if (!s->own[node] || s->early[node]) continue;
            if (s->part[node] > part) break;
            if (s->last[node] <= part) continue;
            s->slot[node] = free_count ? free_list[--free_count] : most++;
            ends[end_count++] = node;
        }
    }
    free(free_list);
    free(ends);
    return most;
}

/* --- expressions ---------------------------------------------------------------------------------- */

void code_print_number(const code_writer *w, double value, char text[40]) {
    if (w->single) {
        (void)snprintf(text, 40, "%.9g", value);
        if (fabs(value) > FLT_MAX) (void)snprintf(text, 40, value > 0 ? "FLT_MAX" : "-FLT_MAX");
    } else
        for (int digits = 15; digits <= 17; digits++) {
            (void)snprintf(text, 40, "%.*g", digits, value);
            if (strtod(text, NULL) == value) break;
        }
    if (!strpbrk(text, ".eEnX")) strcat(text, ".0");
    if (w->single && !strchr(text, 'X')) strcat(text, "f");
}

static void print_input(code_writer *w, const code_operation *o) {
    static const char *const names[CODE_ARRAYS] = {
        [CODE_Q] = "s->q",           [CODE_V] = "s->v",    [CODE_INPUTS] = "s->inputs",
        [CODE_STATES] = "s->states", [CODE_FORCE] = "tau", [CODE_RATE] = "vdot"};
    const bool lanes = w->lanes > 1;
    if (lanes) fprintf(w->file, "%s_FROM(", w->upper);
    if (o->a == CODE_TIME)
        fprintf(w->file, "s->t");
    else if (o->a == CODE_PARAMETERS)
        fprintf(w->file, "s->parameters.%s", w->parameter_names[o->b]);
    else
        fprintf(w->file, "%s[%d]", names[o->a], o->b);
    if (lanes) fputc(')', w->file);
}

static const char *const calls[CODE_OPS] = {
    [CODE_SIN] = "sin",   [CODE_COS] = "cos",     [CODE_TAN] = "tan",     [CODE_ASIN] = "asin",
    [CODE_ACOS] = "acos", [CODE_ATAN] = "atan",   [CODE_SINH] = "sinh",   [CODE_COSH] = "cosh",
    [CODE_TANH] = "tanh", [CODE_EXP] = "exp",     [CODE_LOG] = "log",     [CODE_LOG10] = "log10",
    [CODE_SQRT] = "sqrt", [CODE_CBRT] = "cbrt",   [CODE_ABS] = "fabs",    [CODE_FLOOR] = "floor",
    [CODE_CEIL] = "ceil", [CODE_ATAN2] = "atan2", [CODE_HYPOT] = "hypot", [CODE_POWER] = "pow"};

static void print_expression(code_writer *w, const schedule *s, code_node n, int part, int outer);

/* Text of an operand: the name of its statement, or its expression. outer: 0 nothing, 1 in a sum, 2 at the
 * right of a difference, 3 in a product, 4 at the right of a quotient or behind a sign. */
static void print_operand(code_writer *w, const schedule *s, code_node n, int part, int outer) {
    if (s->own[n])
        fprintf(w->file, "a%d", s->name[n]);
    else
        print_expression(w, s, n, part, outer);
}

static void print_binary(code_writer *w, const schedule *s, const code_operation *o, const char *sign,
                         int part, int level, int left, int right, int outer) {
    const bool brackets = outer > level;
    if (brackets) fputc('(', w->file);
    print_operand(w, s, o->a, part, left);
    fputs(sign, w->file);
    print_operand(w, s, o->b, part, right);
    if (brackets) fputc(')', w->file);
}

static void print_expression(code_writer *w, const schedule *s, code_node n, int part, int outer) {
    const code_operation o = w->g->nodes[n];
    char text[40];
    FILE *file = w->file;
    const char *suffix = w->single ? "f" : "";
    switch ((code_op)o.op) {
    case CODE_CONSTANT:
        code_print_number(w, o.value, text);
        if (w->lanes > 1 && outer == 0)
            fprintf(file, "(%s){0} + %s", w->real, text);
        else
            fprintf(file, text[0] == '-' && outer > 0 ? "(%s)" : "%s", text);
        return;
    case CODE_INPUT:
        print_input(w, &o);
        return;
    case CODE_NEGATE:
        fputs(outer > 0 ? "(-" : "-", file);
        print_operand(w, s, o.a, part, 4);
        if (outer > 0) fputc(')', file);
        return;
    case CODE_ADD:
        print_binary(w, s, &o, " + ", part, 1, 1, 1, outer);
        return;
    case CODE_SUBTRACT:
        print_binary(w, s, &o, " - ", part, 1, 1, 2, outer);
        return;
    case CODE_MULTIPLY:
        print_binary(w, s, &o, " * ", part, 3, 3, 3, outer);
        return;
    case CODE_DIVIDE:
        print_binary(w, s, &o, " / ", part, 3, 3, 4, outer);
        return;
    case CODE_SELECT:
    case CODE_LESS:
    case CODE_LESS_EQUAL:
    case CODE_EQUAL:
    case CODE_MOD:
    case CODE_SIGN: {
        static const char *const names[CODE_OPS] = {
            [CODE_SELECT] = "select", [CODE_LESS] = "less", [CODE_LESS_EQUAL] = "less_equal",
            [CODE_EQUAL] = "equal",   [CODE_MOD] = "mod",   [CODE_SIGN] = "sign"};
        fprintf(file, "%s_%s(", w->prefix, names[o.op]);
        break;
    }
    case CODE_TABLE:
        fprintf(file, "%s_table_%d(", w->prefix, o.b);
        print_operand(w, s, o.a, part, 0);
        fprintf(file, ", %d)", o.c);
        return;
    default:
        fprintf(file, "%s%s(", calls[o.op], suffix);
    }
    for (int k = 0; k < code_arity((code_op)o.op); k++) {
        if (k) fputs(", ", file);
        print_operand(w, s, code_operand(w->g, n, k), part, 0);
    }
    fputc(')', file);
}

/* --- routines ------------------------------------------------------------------------------------- */

/* The partner of a sine: the cosine of the same angle, if both are statements of the same part. */
static int partner_of(const code_graph *g, const schedule *s, const int *other, int n) {
    const code_op op = (code_op)g->nodes[n].op;
    if (op != CODE_SIN && op != CODE_COS) return -1;
    const int m = other[n] - 1;
    return m >= 0 && s->own[m] && s->part[m] == s->part[n] ? m : -1;
}

/* Declares the values from the workspace that an expression reads and that this part has not yet read. */
static void print_reads(code_writer *w, const schedule *s, code_node n, int part, int *read) {
    if (s->own[n]) {
        if (s->part[n] < part && read[n] != part + 1) {
            read[n] = part + 1;
            if (w->lanes > 1)
                fprintf(w->file, "    const %s a%d = %s_FROM(w->lanes[%d]);\n", w->real, s->name[n], w->upper,
                        s->slot[n]);
            else
                fprintf(w->file, "    const %s a%d = w->x[%d];\n", w->real, s->name[n], s->slot[n]);
        }
        return;
    }
    for (int k = 0; k < code_arity((code_op)w->g->nodes[n].op); k++)
        print_reads(w, s, code_operand(w->g, n, k), part, read);
}

/* Stores a value for later parts. */
static void print_keep(code_writer *w, const schedule *s, int n) {
    if (s->slot[n] < 0) return;
    if (w->lanes > 1)
        fprintf(w->file, "    %s_TO(w->lanes[%d]) = a%d;\n", w->upper, s->slot[n], s->name[n]);
    else
        fprintf(w->file, "    w->x[%d] = a%d;\n", s->slot[n], s->name[n]);
}

static void print_statement(code_writer *w, const schedule *s, int n, int partner, int part, int *read) {
    const code_operation *o = &w->g->nodes[n];
    for (int k = 0; k < code_arity((code_op)o->op); k++)
        print_reads(w, s, code_operand(w->g, n, k), part, read);
    if (partner >= 0) {
        const int sine = o->op == CODE_SIN ? n : partner, cosine = o->op == CODE_SIN ? partner : n;
        fprintf(w->file, "    %s a%d, a%d;\n    %s_turn(", w->real, s->name[sine], s->name[cosine],
                w->prefix);
        print_operand(w, s, o->a, part, 0);
        fprintf(w->file, ", &a%d, &a%d);\n", s->name[sine], s->name[cosine]);
        return;
    }
    fprintf(w->file, "    const %s a%d = ", w->real, s->name[n]);
    print_expression(w, s, n, part, 0);
    fprintf(w->file, ";\n");
}

/* The text of such an angle, without names. */
static void print_early(code_writer *w, const schedule *s, code_node n) {
    static const char *const signs[] = {[CODE_ADD] = " + ", [CODE_SUBTRACT] = " - ", [CODE_MULTIPLY] = " * "};
    const code_operation o = w->g->nodes[n];
    if (code_arity((code_op)o.op) == 0) {
        print_expression(w, s, n, 0, 1);
        return;
    }
    fputs(o.op == CODE_NEGATE ? "(-" : "(", w->file);
    print_early(w, s, o.a);
    if (o.op != CODE_NEGATE) {
        fputs(signs[o.op], w->file);
        print_early(w, s, o.b);
    }
    fputc(')', w->file);
}

/* The sines and cosines of joints' angles come first and together: they do not wait for each other. Their
 * statements are then in part 0. */
static void gather_turns(const code_graph *g, schedule *s, const int *other) {
    for (int k = 0; k < s->count; k++) {
        const int n = s->order[k];
        if (g->nodes[n].op != CODE_SIN || other[n] == 0 || !is_early(g, g->nodes[n].a)) continue;
        const int m = other[n] - 1;
        s->early[n] = s->early[m] = ++s->early_count;
        s->part[n] = s->part[m] = 0;
    }
}

/* Marks as done what only angles of early sines and cosines use, whose text is printed on its own. */
static bool skip_angles(const code_graph *g, const code_routine *routine, const schedule *s, bool *done) {
    bool *needed = calloc((size_t)g->count + 1, sizeof *needed);
    for (int k = 0; needed && k < routine->output_count; k++) needed[routine->outputs[k].node] = true;
    for (int k = 0; needed && k < routine->pivot_count; k++)
        if (routine->pivots[k] >= 0) needed[routine->pivots[k]] = true;
    for (int k = s->count - 1; needed && k >= 0; k--) {
        const int n = s->order[k];
        if (!needed[n]) done[n] = true;
        for (int i = 0; needed[n] && !s->early[n] && i < code_arity((code_op)g->nodes[n].op); i++)
            needed[code_operand(g, n, i)] = true;
    }
    const bool good = needed != NULL;
    free(needed);
    return good;
}

static void print_turns(code_writer *w, const schedule *s, bool *done) {
    const int lanes = w->lanes, count = (lanes * s->early_count + 3) / 4 * 4;
    const char *type = w->single ? "float" : "double";
    if (count == 0) return;
    fprintf(w->file, "    %s sine[%d], cosine[%d], angle[%d] = {0};\n", type, count, count, count);
    for (int k = 0; k < s->count; k++) {
        const int n = s->order[k];
        if (!s->early[n] || w->g->nodes[n].op != CODE_SIN) continue;
        if (lanes > 1)
            fprintf(w->file, "    %s_TO(&angle[%d]) = ", w->upper, lanes * (s->early[n] - 1));
        else
            fprintf(w->file, "    angle[%d] = ", s->early[n] - 1);
        print_early(w, s, w->g->nodes[n].a);
        fprintf(w->file, ";\n");
    }
    fprintf(w->file, "    %s_turns(angle, sine, cosine, %d);\n", w->prefix, count);
    for (int k = 0; k < s->count; k++) {
        const int n = s->order[k];
        const char *from = w->g->nodes[n].op == CODE_SIN ? "sine" : "cosine";
        if (!s->early[n]) continue;
        if (lanes > 1)
            fprintf(w->file, "    const %s a%d = %s_FROM(&%s[%d]);\n", w->real, s->name[n], w->upper, from,
                    lanes * (s->early[n] - 1));
        else
            fprintf(w->file, "    const %s a%d = %s[%d];\n", w->real, s->name[n], from, s->early[n] - 1);
        print_keep(w, s, n);
        done[n] = true;
    }
}

static void print_head(code_writer *w, const code_routine *routine, int part, bool last) {
    const char *state = w->lanes > 1 ? "_states" : "_state", *batch = w->lanes > 1 ? "_batch" : "";
    if (last)
        fprintf(w->file, "%sint %s_%s%s(const %s%s *restrict s, %s%s_workspace *restrict w) {\n",
                w->lanes > 1 || routine->internal ? "static " : "", w->prefix, routine->name, batch,
                w->prefix, state, routine->parameters, w->prefix);
    else
        fprintf(w->file, "%s_PART int %s_%s%s_%d(const %s%s *restrict s, %s%s_workspace *restrict w) {\n",
                w->upper, w->prefix, routine->name, batch, part + 1, w->prefix, state, routine->parameters,
                w->prefix);
}

static void print_part(code_writer *w, const code_routine *routine, const schedule *s, const int *other,
                       int part, int *from, int *read, bool *done) {
    char text[40];
    int k = *from;
    for (; k < s->count; k++) {
        const int n = s->order[k];
        if (!s->own[n]) continue;
        if (s->part[n] > part) break;
        if (done[n]) continue;
        const int partner = partner_of(w->g, s, other, n);
        print_statement(w, s, n, partner, part, read);
        done[n] = true;
        if (partner >= 0) done[partner] = true;
        print_keep(w, s, n);
        if (partner >= 0) print_keep(w, s, partner);
    }
    *from = k;
    for (int i = 0; i < routine->pivot_count && w->lanes == 1; i++) {
        const int n = routine->pivots[i];
        if (n < 0 || (s->own[n] ? s->part[n] : 0) != part) continue;
        if (code_is_constant(w->g, n) && w->g->nodes[n].value > routine->floors[i]) continue;
        code_print_number(w, routine->floors[i], text);
        fprintf(w->file, "    if (!(");
        print_operand(w, s, n, part, 1);
        fprintf(w->file, " > %s)) return %s_SINGULAR;\n", text, w->upper);
    }
    for (int i = 0; i < routine->output_count; i++) {
        const int n = routine->outputs[i].node;
        const bool leaf = !s->own[n];
        if ((leaf ? s->parts - 1 : s->part[n]) != part) continue;
        if (w->lanes > 1) {
            fprintf(w->file, "    %s_TO(%s) = ", w->upper, routine->outputs[i].place);
            print_operand(w, s, n, part, 0);
            fprintf(w->file, ";\n");
        } else {
            fprintf(w->file, "    %s = ", routine->outputs[i].place);
            print_operand(w, s, n, part, 0);
            fprintf(w->file, ";\n");
        }
    }
}

/* Not every part reads all of its arguments. */
static void print_unused(code_writer *w, const code_routine *routine) {
    fprintf(w->file, "    (void)s, (void)w");
    for (const char *at = routine->arguments; *at;) {
        const size_t length = strcspn(at, ",");
        fprintf(w->file, ", (void)%.*s", (int)length, at);
        at += length;
        at += strspn(at, ", ");
    }
    fprintf(w->file, ";\n");
}

void code_print_routine(code_writer *w, code_routine *routine) {
    schedule s;
    code_graph *g = w->g;
    if (!schedule_create(w, routine, &s)) {
        schedule_destroy(&s);
        return;
    }
    int *other = calloc((size_t)g->count + 1, sizeof *other),
        *read = calloc((size_t)g->count + 1, sizeof *read);
    int *at = calloc((size_t)g->count + 1, sizeof *at);
    bool *done = calloc((size_t)g->count + 1, sizeof *done);
    if (!other || !read || !done || !at)
        g->failed = true;
    else {
        for (int k = 0; k < s.count; k++) { /* sines and cosines of one angle */
            const int n = s.order[k];
            const code_op op = (code_op)g->nodes[n].op;
            if (op != CODE_SIN && op != CODE_COS) continue;
            const int first = at[g->nodes[n].a];
            if (first)
                other[n] = first, other[first - 1] = n + 1;
            else
                at[g->nodes[n].a] = n + 1;
        }
        gather_turns(g, &s, other);
        settle_parts(g, routine, &s);
        routine->kept = assign_slots(g, &s);
        routine->parts = s.parts;
        if (!skip_angles(g, routine, &s, done)) g->failed = true;
        int from = 0;
        for (int part = 0; part < s.parts; part++) {
            print_head(w, routine, part, s.parts == 1);
            print_unused(w, routine);
            if (part == 0) print_turns(w, &s, done);
            print_part(w, routine, &s, other, part, &from, read, done);
            fprintf(w->file, "    return %s_OK;\n}\n\n", w->upper);
        }
        if (s.parts > 1) {
            const char *batch = w->lanes > 1 ? "_batch" : "";
            print_head(w, routine, 0, true);
            fprintf(w->file, "    int status;\n");
            for (int part = 0; part + 1 < s.parts; part++)
                fprintf(w->file, "    status = %s_%s%s_%d(s, %sw);\n    if (status) return status;\n",
                        w->prefix, routine->name, batch, part + 1, routine->arguments);
            fprintf(w->file, "    return %s_%s%s_%d(s, %sw);\n}\n\n", w->prefix, routine->name, batch,
                    s.parts, routine->arguments);
        }
    }
    free(other);
    free(read);
    free(done);
    free(at);
    schedule_destroy(&s);
}
