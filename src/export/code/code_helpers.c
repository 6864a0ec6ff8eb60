/* code_helpers.c - the functions that generated code needs besides libm: sine and cosine together, choices,
 * remainders, tables.
 *
 * Sine and cosine of one angle in double are computed as in linalg/simd.h: Cody and Waite's reduction by
 * pi/2 in three parts and fdlibm's polynomials, within 1 ulp or 1.1e-16; angles beyond 1e5 go to libm.
 */
#include "export/code/code_print.h"

#include <stdlib.h>
#include <string.h>

static void print_turn(const code_writer *w) {
    FILE *file = w->file;
    const char *p = w->prefix, *r = w->real;
    if (w->single) {
        fprintf(
            file,
            "static inline void %s_turn(%s x, %s *s, %s *c) {\n    *s = sinf(x);\n    *c = cosf(x);\n}\n\n",
            p, r, r, r);
        return;
    }
    fprintf(file, "/* Sine and cosine of an angle: reduction by pi / 2 in three parts, polynomials. */\n");
    fprintf(file, "static inline void %s_turn(double x, double *s, double *c) {\n", p);
    fputs("    const double turns = x * 0.63661977236758134308;\n"
          "    if (!(turns > -60000.0 && turns < 60000.0)) {\n"
          "        *s = sin(x);\n"
          "        *c = cos(x);\n"
          "        return;\n"
          "    }\n"
          "    const int k = (int)(turns + (turns < 0.0 ? -0.5 : 0.5));\n"
          "    const double n = (double)k;\n"
          "    const double a = x - n * 1.57079632673412561417e+00, b = n * 6.07710050630396597660e-11;\n"
          "    const double d = a - b;\n"
          "    const double r = d + (((a - d) - b) - n * 2.02226624871116645580e-21);\n"
          "    const double z = r * r, z2 = z * z;\n"
          "    const double p = 8.33333333332248946124e-03 + z * -1.98412698298579493134e-04 +\n"
          "                     z2 * (2.75573137070700676789e-06 + z * -2.50507602534068634195e-08 +\n"
          "                           z2 * 1.58969099521155010221e-10);\n"
          "    const double u = r + (z * r) * (-1.66666666666666324348e-01 + z * p);\n"
          "    const double g = 4.16666666666666019037e-02 + z * -1.38888888888741095749e-03 +\n"
          "                     z2 * (2.48015872894767294178e-05 + z * -2.75573143513906633035e-07 +\n"
          "                           z2 * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));\n"
          "    const double half = 0.5 * z, near = 1.0 - half;\n"
          "    const double v = near + (((1.0 - near) - half) + z2 * g);\n"
          "    const double sine = (k & 1) ? v : u, cosine = (k & 1) ? u : v;\n"
          "    *s = (k & 2) ? -sine : sine;\n"
          "    *c = ((k + 1) & 2) ? -cosine : cosine;\n"
          "}\n\n",
          file);
}

static void print_table(code_writer *w, int number) {
    const lw_table *table = w->g->tables[number];
    const int count = (int)lw_table_count(table);
    const lw_beyond beyond = lw_table_beyond(table);
    FILE *file = w->file;
    char text[40];
    double c[4];
    fprintf(file, "static const %s %s_points_%d[%d] = {", w->real, w->prefix, number, count);
    for (int k = 0; k < count; k++) {
        code_print_number(w, lw_table_point(table, (size_t)k), text);
        fprintf(file, "%s%s", k == 0 ? "" : k % 5 ? ", " : ",\n    ", text);
    }
    fprintf(file, "};\nstatic const %s %s_pieces_%d[%d][5] = {\n", w->real, w->prefix, number, count + 1);
    for (int k = 0; k <= count; k++) {
        const double anchor = lw_table_piece(table, (size_t)k, c);
        code_print_number(w, anchor, text);
        fprintf(file, "    {%s", text);
        for (int i = 0; i < 4; i++) {
            code_print_number(w, c[i], text);
            fprintf(file, ", %s", text);
        }
        fprintf(file, "}%s\n", k < count ? "," : "};");
    }
    fprintf(file, "\n/* The piece of a table, or its first or second slope, at x. */\n");
    fprintf(file, "static %s %s_table_%d(%s x, int order) {\n", w->real, w->prefix, number, w->real);
    fprintf(file, "    int low = 0, high = %d;\n", count);
    const char *zero = w->single ? "0.0f" : "0.0";
    if (beyond == LW_BEYOND_REPEAT) {
        code_print_number(w, lw_table_point(table, 0), text);
        fprintf(file, "    const %s first = %s;\n", w->real, text);
        code_print_number(w, lw_table_period(table), text);
        fprintf(file,
                "    %s rest = %s(x - first, %s);\n    if (rest < %s) rest += %s;\n    x = first + rest;\n",
                w->real, w->single ? "fmodf" : "fmod", text, zero, text);
    }
    fprintf(file,
            "    while (low < high) {\n        const int middle = low + (high - low) / 2;\n"
            "        if (%s_points_%d[middle] <= x)\n            low = middle + 1;\n        else\n"
            "            high = middle;\n    }\n",
            w->prefix, number);
    if (beyond == LW_BEYOND_REPEAT)
        fprintf(file, "    if (low < 1) low = 1;\n    if (low > %d) low = %d;\n", count - 1, count - 1);
    fprintf(file, "    const %s *c = %s_pieces_%d[low], d = x - c[0];\n", w->real, w->prefix, number);
    if (w->single)
        fputs("    if (order == 0) return c[1] + d * (c[2] + d * (c[3] + d * c[4]));\n"
              "    if (order == 1) return c[2] + d * (2.0f * c[3] + 3.0f * d * c[4]);\n"
              "    return 2.0f * c[3] + 6.0f * d * c[4];\n}\n\n",
              file);
    else
        fputs("    if (order == 0) return c[1] + d * (c[2] + d * (c[3] + d * c[4]));\n"
              "    if (order == 1) return c[2] + d * (2.0 * c[3] + 3.0 * d * c[4]);\n"
              "    return 2.0 * c[3] + 6.0 * d * c[4];\n}\n\n",
              file);
}

/* The same for several angles, four at a time in vectors where the compiler has them: without branches, since
 * angles beyond the reach are found first. count is a multiple of four. */
static void print_turns(const code_writer *w) {
    FILE *file = w->file;
    const char *p = w->prefix, *r = w->real;
    fprintf(file, "static inline void %s_turns(const %s *x, %s *s, %s *c, int count) {\n    int k;\n", p, r,
            r, r);
    if (!w->single)
        fprintf(
            file,
            "#if defined(__GNUC__) && (defined(__SSE2__) || defined(__aarch64__))\n"
            "    typedef double four __attribute__((vector_size(32)));\n"
            "    typedef unsigned long long bits __attribute__((vector_size(32)));\n"
            "    int far = 0;\n"
            "    for (k = 0; k < count; k++) far |= !(x[k] > -90000.0 && x[k] < 90000.0);\n"
            "    for (k = 0; k < count && !far; k += 4) {\n"
            "        const double magic = 6755399441055744.0; /* rounds to an integer in the low bits */\n"
            "        four angle, shifted, sine, cosine;\n"
            "        memcpy(&angle, x + k, sizeof angle);\n"
            "        shifted = angle * 0.63661977236758134308 + magic;\n"
            "        const four n = shifted - magic;\n"
            "        const bits quadrant = (bits)shifted;\n"
            "        const four a = angle - n * 1.57079632673412561417e+00, b = n * "
            "6.07710050630396597660e-11;\n"
            "        const four d = a - b, r = d + (((a - d) - b) - n * 2.02226624871116645580e-21);\n"
            "        const four z = r * r, z2 = z * z;\n"
            "        const four p = 8.33333333332248946124e-03 + z * -1.98412698298579493134e-04 +\n"
            "                       z2 * (2.75573137070700676789e-06 + z * -2.50507602534068634195e-08 +\n"
            "                             z2 * 1.58969099521155010221e-10);\n"
            "        const four u = r + (z * r) * (-1.66666666666666324348e-01 + z * p);\n"
            "        const four g = 4.16666666666666019037e-02 + z * -1.38888888888741095749e-03 +\n"
            "                       z2 * (2.48015872894767294178e-05 + z * -2.75573143513906633035e-07 +\n"
            "                             z2 * (2.08757232129817482790e-09 + z * "
            "-1.13596475577881948265e-11));\n"
            "        const four half = 0.5 * z, near = 1.0 - half;\n"
            "        const four v = near + (((1.0 - near) - half) + z2 * g);\n"
            "        const bits swap = ((bits)u ^ (bits)v) & -(quadrant & 1);\n"
            "        sine = (four)(((bits)u ^ swap) ^ ((quadrant & 2) << 62));\n"
            "        cosine = (four)(((bits)v ^ swap) ^ (((quadrant + 1) & 2) << 62));\n"
            "        memcpy(s + k, &sine, sizeof sine);\n"
            "        memcpy(c + k, &cosine, sizeof cosine);\n"
            "    }\n"
            "    if (!far) return;\n"
            "#endif\n");
    fprintf(file, "    for (k = 0; k < count; k++) %s_turn(x[k], &s[k], &c[k]);\n}\n\n", p);
}

/* Functions of one to three numbers. */
static void print_choices(const code_writer *w, const bool *needed) {
    const char *p = w->prefix, *r = w->real, *zero = w->single ? "0.0f" : "0.0",
               *one = w->single ? "1.0f" : "1.0";
    FILE *file = w->file;
    if (needed[CODE_SELECT])
        fprintf(file,
                "static inline %s %s_select(%s x, %s yes, %s no) { return x < %s || x > %s ? yes : no; }\n",
                r, p, r, r, r, zero, zero);
    if (needed[CODE_LESS])
        fprintf(file, "static inline %s %s_less(%s a, %s b) { return a < b ? %s : %s; }\n", r, p, r, r, one,
                zero);
    if (needed[CODE_LESS_EQUAL])
        fprintf(file, "static inline %s %s_less_equal(%s a, %s b) { return a <= b ? %s : %s; }\n", r, p, r, r,
                one, zero);
    if (needed[CODE_EQUAL]) /* false of NaN */
        fprintf(file, "static inline %s %s_equal(%s a, %s b) { return a <= b && a >= b ? %s : %s; }\n", r, p,
                r, r, one, zero);
    if (needed[CODE_SIGN])
        fprintf(file, "static inline %s %s_sign(%s x) { return x > %s ? %s : x < %s ? -%s : x; }\n", r, p, r,
                zero, one, zero, one);
    if (needed[CODE_MOD])
        fprintf(file,
                "static inline %s %s_mod(%s a, %s b) {\n    const %s r = %s(a, b);\n"
                "    return (r < %s && b > %s) || (r > %s && b < %s) ? r + b : r;\n}\n",
                r, p, r, r, r, w->single ? "fmodf" : "fmod", zero, zero, zero, zero);
    fputc('\n', file);
}

void code_print_helpers(code_writer *w, const code_routine *routines, int count) {
    code_graph *g = w->g;
    bool *live = calloc((size_t)g->count + 1, sizeof *live), needed[CODE_OPS] = {false};
    bool *tables = calloc((size_t)g->table_count + 1, sizeof *tables);
    if (!live || !tables) g->failed = true;
    for (int k = 0; k < count && !g->failed; k++) {
        memset(live, 0, (size_t)g->count * sizeof *live);
        code_mark(g, &routines[k], live);
        for (int n = 0; n < g->count; n++) {
            if (!live[n]) continue;
            needed[g->nodes[n].op] = true;
            if (g->nodes[n].op == CODE_TABLE) tables[g->nodes[n].b] = true;
        }
    }
    if (needed[CODE_SIN] && needed[CODE_COS]) print_turn(w), print_turns(w);
    print_choices(w, needed);
    for (int k = 0; k < g->table_count && !g->failed; k++)
        if (tables[k]) print_table(w, k);
    free(live);
    free(tables);
}
