/* design.c - what varies in a sweep: reading it, and the values of each run.
 *
 * A run's number is i = g N + j: point g of the grid, whose first axis varies slowest, and draw j of the N at
 * that point. Variables on a grid follow from g. Drawn ones have a place u between 0 and 1:
 *     random   u from the generator at counter i (counter_random.h)
 *     latin    u = (p(j) + r) / N with a permutation p of 0 .. N-1 for each variable and grid point, and r
 *              as in random: each of N slices of equal probability is hit once (McKay, Beckman, Conover 1979)
 *     sobol    point j of Sobol's sequence, shifted by a random number of bits of its own for each variable
 *              and grid point
 *     saltelli n + 2 runs for each draw of n variables, for Sobol' indices (sobol_indices.c): all from one
 *              point a, all from another b, and a with one variable after the other from b; a and b are
 *              the first n coordinates of a point of sobol and the next n, or random if n is too large
 * The permutation is a Feistel network of four rounds on 2k bits, 4^k >= N, walked until it falls below N
 * (Black, Rogaway 2002), so that p(j) costs O(1) and no table. Correlated variables: z = normal quantile of
 * u, z' = L z with the Cholesky factor L of the correlations, u' = probability of z' (Nataf's
 * transformation). The value is the quantile of u in the variable's own distribution.
 *
 * So the value of run i is a function of the plan, the seed and i.
 */
#include "core/counter_random.h"
#include "expression/function.h"
#include "expression/units.h"
#include "io/results/read_results.h"
#include "model/spec/spec_storage.h"
#include "sweep/sobol.h"
#include "sweep/sweep_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MOST = 1000000, PIECES_MOST = 4096 };
enum { PURPOSE_PLACE, PURPOSE_PERMUTATION, PURPOSE_SHIFT };

/* --- values --------------------------------------------------------------------------------------- */

double lw_normal_quantile(double p) {
    /* Acklam's rational functions, error below 1.2e-9, then one step of Halley's method to full precision. */
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00},
                        b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01},
                        c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00},
                        d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    const double edge = 0.02425, pi = 3.14159265358979323846;
    const double near = p < 0.5 ? p : 1 - p;
    double x;
    if (near < edge) {
        const double q = sqrt(-2 * log(near));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    } else {
        const double q = near - 0.5, r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    const double e = 0.5 * erfc(-x / sqrt(2)) - near, u = e * sqrt(2 * pi) * exp(x * x / 2);
    x -= u / (1 + x * u / 2);
    return p < 0.5 ? x : -x;
}

/* A permutation of 0 .. count-1, chosen by key: where j goes. */
static uint64_t permuted(uint64_t j, uint64_t count, uint64_t seed, uint64_t key, uint32_t stream) {
    int half = 1;
    while ((uint64_t)1 << 2 * half < count) half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = j >> half, right = j & mask;
        for (uint32_t round = 0; round < 4; round++) {
            const uint64_t mixed = lw_random_bits(seed ^ (key + 1) * 0x9E3779B97F4A7C15u, right << 2 | round,
                                                  stream, PURPOSE_PERMUTATION);
            const uint64_t next = left ^ (mixed & mask);
            left = right, right = next;
        }
        j = left << half | right;
    } while (j >= count);
    return j;
}

/* The place of a drawn variable between 0 and 1; role: which of the runs of a draw. */
static double place(const lw_design *d, int drawn, uint64_t run, uint64_t point, uint64_t draw, int role) {
    if (d->draw == LW_DRAW_SALTELLI) {
        const int n = d->drawn_count, coordinate = role == 1 || role == 2 + drawn ? n + drawn : drawn;
        const double inside =
            lw_random_unit(lw_random_bits(d->seed, draw, (uint32_t)coordinate, PURPOSE_PLACE));
        if (2 * n > LW_SOBOL_DIMENSIONS) return inside;
        const uint32_t shift = (uint32_t)lw_random_bits(d->seed, 0, (uint32_t)coordinate, PURPOSE_SHIFT);
        return ((double)(lw_sobol((uint32_t)draw, coordinate) ^ shift) + inside) * 0x1p-32;
    }
    const uint32_t stream = (uint32_t)drawn;
    const double inside = lw_random_unit(lw_random_bits(d->seed, run, stream, PURPOSE_PLACE));
    if (d->draw == LW_DRAW_LATIN)
        return fmin(((double)permuted(draw, d->draws, d->seed, point, stream) + inside) / (double)d->draws,
                    1 - 0x1p-53);
    if (d->draw == LW_DRAW_SOBOL) {
        const uint32_t shift = (uint32_t)lw_random_bits(d->seed, point, stream, PURPOSE_SHIFT);
        return ((double)(lw_sobol((uint32_t)draw, drawn) ^ shift) + inside) * 0x1p-32;
    }
    return inside;
}

static double drawn_value(const lw_variable *v, double u, double z) {
    switch (v->kind) {
    case LW_VARY_NORMAL:
        return v->p[0] + v->p[1] * z;
    case LW_VARY_LOGNORMAL:
        return v->p[0] * exp(v->p[1] * z);
    case LW_VARY_TRIANGLE: {
        const double a = v->p[0], c = v->p[1], b = v->p[2], middle = (c - a) / (b - a);
        return u < middle ? a + sqrt(u * (b - a) * (c - a)) : b - sqrt((1 - u) * (b - a) * (b - c));
    }
    default:
        return v->p[0] + (v->p[1] - v->p[0]) * u;
    }
}

static double grid_value(const lw_variable *v, uint64_t index, uint64_t size) {
    if (v->kind == LW_VARY_TEXTS) return (double)index;
    if (v->kind == LW_VARY_LIST) return v->values[index];
    const double along = size > 1 ? (double)index / (double)(size - 1) : 0;
    if (index == 0) return v->p[0];
    if (index == size - 1) return v->p[1];
    return v->kind == LW_VARY_DECADE ? v->p[0] * pow(v->p[1] / v->p[0], along)
                                     : v->p[0] + (v->p[1] - v->p[0]) * along;
}

void lw_design_values(const lw_design *d, uint64_t run, double *values) {
    double u[LW_VARIABLES_MOST] = {0}, z[LW_VARIABLES_MOST] = {0};
    uint64_t index[LW_VARIABLES_MOST] = {0};
    const uint64_t point = run / (d->draws * d->each), draw = run / d->each % d->draws;
    const int role = (int)(run % d->each);
    uint64_t rest = point;
    for (int k = d->axis_count; k-- > 0; rest /= d->axis_size[k]) index[k] = rest % d->axis_size[k];
    for (int k = 0; k < d->drawn_count; k++) {
        u[k] = place(d, k, run, point, draw, role);
        z[k] = lw_normal_quantile(u[k]);
    }
    for (int k = d->drawn_count; d->mix && k-- > 0;) { /* From the last, which needs those before it. */
        double mixed = 0;
        for (int j = 0; j <= k; j++) mixed += d->mix[k * d->drawn_count + j] * z[j];
        z[k] = mixed;
        u[k] = fmin(fmax(0.5 * erfc(-mixed / sqrt(2)), 0x1p-54), 1 - 0x1p-53);
    }
    for (int k = 0; k < d->variable_count; k++) {
        const lw_variable *v = &d->variables[k];
        values[k] = v->drawn >= 0 ? drawn_value(v, u[v->drawn], z[v->drawn])
                                  : grid_value(v, index[v->axis], d->axis_size[v->axis]);
    }
}

/* --- reading -------------------------------------------------------------------------------------- */

typedef struct reader {
    const lw_spec *spec;
    lw_arena *arena;
    lw_design *design;
    lw_error *error;
    const char *text; /* what is read */
    bool search;      /* ranges are bounds */
} reader;

static lw_status wrong(const reader *r, const char *remedy, const char *message) {
    char object[112];
    snprintf(object, sizeof object, "vary \"%.90s\"", r->text);
    return lw_fail(r->error, LW_ERROR_ARGUMENT, object, remedy, "%s", message);
}

int lw_cut_at_commas(lw_arena *arena, const char *text, size_t length, const char **pieces, int most) {
    int count = 0, depth = 0;
    bool quoted = false;
    size_t start = 0;
    for (size_t k = 0; k <= length; k++) {
        const char c = k < length ? text[k] : ',';
        if (c == '\'') quoted = !quoted;
        if (!quoted && (c == '(' || c == '[')) depth++;
        if (!quoted && (c == ')' || c == ']')) depth--;
        if (k < length && (c != ',' || depth > 0 || quoted)) continue;
        size_t from = start, end = k;
        while (from < end && isspace((unsigned char)text[from])) from++;
        while (end > from && isspace((unsigned char)text[end - 1])) end--;
        char *piece = count < most ? LW_NEW(arena, char, end - from + 1) : NULL;
        if (!piece) return -1;
        memcpy(piece, text + from, end - from);
        pieces[count++] = piece;
        start = k + 1;
    }
    return count;
}

/* A number for a variable, in SI units, whose dimension must be that of the model. */
static lw_status read_number(const reader *r, const lw_variable *v, const char *text, bool plain,
                             double *value) {
    const lw_expression_names none = {0};
    lw_syntax syntax = {0};
    lw_meaning meaning = {0}, wanted = {0};
    char message[400];
    if (!lw_number_meaning(text, &none, value, &meaning, &syntax)) {
        snprintf(message, sizeof message, "\"%.60s\", character %zu: %s", text, syntax.offset + 1,
                 syntax.message);
        return wrong(r, syntax.remedy, message);
    }
    for (size_t k = 0; k < r->spec->parameter_count && v->target == LW_VARY_PARAMETER; k++)
        if (strcmp(r->spec->parameters[k].name, v->name) == 0) wanted = r->spec->parameters[k].meaning;
    for (size_t k = 0; k < r->spec->input_count && v->target == LW_VARY_INPUT; k++)
        if (strcmp(r->spec->inputs[k].name, v->name) == 0) wanted = r->spec->inputs[k].meaning;
    const bool differs = wanted.kind == LW_MEANING_SURE && !lw_meaning_same(&meaning, &wanted);
    if (meaning.kind != LW_MEANING_SURE || (!plain && !differs)) return LW_OK;
    char here[64], there[64];
    lw_meaning_name(&meaning, here, sizeof here);
    lw_meaning_name(&wanted, there, sizeof there);
    snprintf(message, sizeof message, "\"%.60s\" is %s, but %s", text, here,
             plain ? "a plain number is wanted here" : "");
    if (!plain)
        snprintf(message, sizeof message, "\"%.60s\" is %s, but in the model it is %s", text, here, there);
    return wrong(r, plain ? "leave its unit away" : "give it in another unit, or as a number in SI units",
                 message);
}

/* "use(left)": the file of a part. */
static lw_status find_part(const reader *r, lw_variable *v) {
    char remedy[160] = "the model has no parts; they stand in its section parts", message[160];
    char name[400];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(v->name + 4, ")"), v->name + 4);
    lw_closest_search search = lw_closest_to(name);
    v->target = LW_VARY_USE;
    for (size_t k = 0; k < r->spec->part_count; k++) {
        const char *part = r->spec->parts[k].name;
        if (strcmp(name, part) == 0) return LW_OK;
        lw_closest_try(&search, part);
    }
    if (r->spec->part_count > 0)
        (void)snprintf(remedy, sizeof remedy, "name one of its parts, e.g. use(%.80s)",
                       r->spec->parts[0].name);
    (void)lw_did_you_mean(search.name, remedy, sizeof remedy);
    (void)snprintf(message, sizeof message, "the model has no part \"%.80s\"", name);
    return wrong(r, remedy, message);
}

/* Which object a name means. */
static lw_status find_target(const reader *r, lw_variable *v) {
    static const char *const words[] = {"method", "integrator", "begin"};
    char remedy[160] =
        "name one of the model's parameters or inputs, or method, integrator, begin, use(PART)";
    lw_closest_search search = lw_closest_to(v->name);
    for (size_t k = 0; k < r->spec->parameter_count; k++) {
        v->target = LW_VARY_PARAMETER;
        if (strcmp(r->spec->parameters[k].name, v->name) == 0) return LW_OK;
        lw_closest_try(&search, r->spec->parameters[k].name);
    }
    for (size_t k = 0; k < r->spec->input_count; k++) {
        v->target = LW_VARY_INPUT;
        if (strcmp(r->spec->inputs[k].name, v->name) == 0) return LW_OK;
        lw_closest_try(&search, r->spec->inputs[k].name);
    }
    if (strncmp(v->name, "use(", 4) == 0) return find_part(r, v);
    for (int k = 0; k < 3; k++) {
        v->target = (lw_vary_target)(LW_VARY_METHOD + k);
        if (strcmp(words[k], v->name) == 0) return LW_OK;
        lw_closest_try(&search, words[k]);
    }
    char message[160];
    lw_did_you_mean(search.name, remedy, sizeof remedy);
    snprintf(message, sizeof message, "the model has no parameter or input \"%.80s\"", v->name);
    return wrong(r, remedy, message);
}

/* A new variable of this name, from text of this length. */
static lw_status add_variable(const reader *r, const char *name, size_t length, lw_variable **added) {
    lw_design *d = r->design;
    while (length > 0 && isspace((unsigned char)*name)) name++, length--;
    while (length > 0 && isspace((unsigned char)name[length - 1])) length--;
    if (d->variable_count == LW_VARIABLES_MOST)
        return wrong(r, "read the values from a file instead", "more than 64 things vary");
    lw_variable *v = &d->variables[d->variable_count];
    char *own = LW_NEW(r->arena, char, length + 1);
    *v = (lw_variable){.text = lw_arena_text(r->arena, r->text), .axis = -1, .drawn = -1};
    if (!own || !v->text) return lw_out_of_memory(r->error);
    memcpy(own, name, length);
    v->name = own;
    for (int k = 0; k < d->variable_count; k++)
        if (strcmp(d->variables[k].name, own) == 0)
            return wrong(r, "vary it once", "what it varies varies already");
    d->variable_count++;
    *added = v;
    return find_target(r, v);
}

/* "normal(2e4, 1e3)" */
static lw_status read_distribution(const reader *r, lw_variable *v, const char *text) {
    static const struct {
        const char *name, *example;
        lw_vary_kind kind;
        int count;
    } known[] = {{"uniform", "uniform(1, 2): from 1 to 2", LW_VARY_UNIFORM, 2},
                 {"normal", "normal(2e4, 1e3): mean and standard deviation", LW_VARY_NORMAL, 2},
                 {"lognormal", "lognormal(2e4, 0.1): median, and standard deviation of the logarithm",
                  LW_VARY_LOGNORMAL, 2},
                 {"triangular", "triangular(1, 1.2, 2): least, most likely, greatest", LW_VARY_TRIANGLE, 3}};
    const size_t length = strlen(text), word = strcspn(text, "( \t");
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const char *open = text + word + strspn(text + word, " \t"), *pieces[4];
        if (strlen(known[k].name) != word || strncmp(text, known[k].name, word) != 0) continue;
        int count = 0;
        if (*open == '(' && text[length - 1] == ')')
            count = lw_cut_at_commas(r->arena, open + 1, (size_t)(text + length - 1 - (open + 1)), pieces, 4);
        if (count != known[k].count)
            return wrong(r, known[k].example, "its numbers are not as they should be");
        v->kind = known[k].kind;
        for (int i = 0; i < count; i++) {
            const bool plain = v->kind == LW_VARY_LOGNORMAL && i == 1;
            const lw_status status = read_number(r, v, pieces[i], plain, &v->p[i]);
            if (status != LW_OK) return status;
        }
        const double *p = v->p;
        bool good = true;
        if (v->kind == LW_VARY_UNIFORM) good = p[1] > p[0];
        if (v->kind == LW_VARY_NORMAL) good = p[1] > 0;
        if (v->kind == LW_VARY_LOGNORMAL) good = p[0] != 0 && p[1] > 0;
        if (v->kind == LW_VARY_TRIANGLE) good = p[0] <= p[1] && p[1] <= p[2] && p[0] < p[2];
        if (!good) return wrong(r, known[k].example, "its numbers describe no distribution");
        v->drawn = r->design->drawn_count++;
        return LW_OK;
    }
    return wrong(r, "there are uniform, normal, lognormal and triangular, e.g. k ~ normal(2e4, 1e3)",
                 "no such distribution is known");
}

static void own_axis(lw_design *d, lw_variable *v, uint64_t size) {
    v->axis = d->axis_count;
    d->axis_size[d->axis_count++] = size;
}

/* "1..2 : 11" or "1..100 : 11 log" */
static lw_status read_range(const reader *r, lw_variable *v, const char *text, const char *dots) {
    const char *colon = strchr(dots, ':');
    const char *remedy = "write e.g. L = 1..2 : 11, or L = 1..100 : 3 log";
    char part[160], *end;
    if (!colon || dots - text >= (long)sizeof part || colon - dots >= (long)sizeof part)
        return wrong(r, remedy, "a range lacks the number of its points");
    snprintf(part, sizeof part, "%.*s", (int)(dots - text), text);
    lw_status status = read_number(r, v, part, false, &v->p[0]);
    if (status != LW_OK) return status;
    snprintf(part, sizeof part, "%.*s", (int)(colon - dots) - 2, dots + 2);
    status = read_number(r, v, part, false, &v->p[1]);
    if (status != LW_OK) return status;
    const double count = strtod(colon + 1, &end);
    end += strspn(end, " \t");
    v->kind = strcmp(end, "log") == 0 ? LW_VARY_DECADE : LW_VARY_EVEN;
    if (end == colon + 1 || (*end && v->kind == LW_VARY_EVEN) || !(count >= 1) || count != floor(count))
        return wrong(r, remedy, "the number of points is no whole number above zero");
    if (count > 1e12) return wrong(r, remedy, "a range has more than 1e12 points");
    if (count == 1 && v->p[0] != v->p[1]) return wrong(r, remedy, "one point cannot be both ends");
    if (v->kind == LW_VARY_DECADE && !(v->p[0] * v->p[1] > 0))
        return wrong(r, "give ends of one sign, or leave log away", "by equal ratios no range passes zero");
    own_axis(r->design, v, (uint64_t)count);
    return LW_OK;
}

/* "1..2", "1..2 from 1.3": bounds and the start of a search, which is the model's value if it lies between
 * them, otherwise their middle. */
static lw_status read_bounds(const reader *r, lw_variable *v, const char *text, const char *dots) {
    const char *remedy = "write e.g. L = 1..2, or L = 1..2 from 1.3";
    const char *from = strstr(dots, " from ");
    const size_t end = from ? (size_t)(from - dots) : strlen(dots);
    char part[160];
    if (dots - text >= (long)sizeof part || end >= sizeof part || strchr(text, ':'))
        return wrong(r, remedy, "a search needs the bounds of a range, and no number of points");
    snprintf(part, sizeof part, "%.*s", (int)(dots - text), text);
    lw_status status = read_number(r, v, part, false, &v->p[0]);
    snprintf(part, sizeof part, "%.*s", (int)end - 2, dots + 2);
    if (status == LW_OK) status = read_number(r, v, part, false, &v->p[1]);
    if (status != LW_OK) return status;
    if (!(v->p[0] < v->p[1] && isfinite(v->p[1] - v->p[0])))
        return wrong(r, remedy, "the first bound must be less than the second one");
    v->p[2] = NAN;
    for (size_t k = 0; k < r->spec->parameter_count && v->target == LW_VARY_PARAMETER; k++)
        if (strcmp(r->spec->parameters[k].name, v->name) == 0) v->p[2] = r->spec->parameters[k].value;
    for (size_t k = 0; k < r->spec->input_count && v->target == LW_VARY_INPUT; k++)
        if (strcmp(r->spec->inputs[k].name, v->name) == 0) v->p[2] = r->spec->inputs[k].value;
    if (from) status = read_number(r, v, from + 6, false, &v->p[2]);
    const bool inside = v->p[2] >= v->p[0] && v->p[2] <= v->p[1];
    if (status == LW_OK && from && !inside)
        return wrong(r, "start between the bounds", "the start lies outside of the bounds");
    if (!inside) v->p[2] = 0.5 * (v->p[0] + v->p[1]);
    v->kind = LW_VARY_UNIFORM, v->drawn = r->design->drawn_count++;
    return status;
}

static lw_status read_list(const reader *r, lw_variable *v, const char *text) {
    const char **pieces = LW_NEW(r->arena, const char *, PIECES_MOST);
    if (!pieces) return lw_out_of_memory(r->error);
    const int count = lw_cut_at_commas(r->arena, text, strlen(text), pieces, PIECES_MOST);
    if (count < 0) return wrong(r, "read them from a file: L from values.csv", "more than 4096 values");
    if (v->target == LW_VARY_PARAMETER || v->target == LW_VARY_INPUT) {
        double *values = LW_NEW(r->arena, double, count);
        if (!values) return lw_out_of_memory(r->error);
        v->kind = LW_VARY_LIST, v->values = values;
        for (int k = 0; k < count; k++) {
            const lw_status status = read_number(r, v, pieces[k], false, &values[k]);
            if (status != LW_OK) return status;
        }
    } else {
        v->kind = LW_VARY_TEXTS, v->texts = pieces;
        for (int k = 0; k < count; k++)
            if (!pieces[k][0]) return wrong(r, "write e.g. method = rcr, lagrange", "a name is empty");
    }
    own_axis(r->design, v, (uint64_t)count);
    return LW_OK;
}

/* "L, k from runs.csv": columns of these names, a row for each point of one axis. */
static lw_status read_columns(const reader *r, const char *from) {
    lw_design *d = r->design;
    const char *names[LW_VARIABLES_MOST];
    const char *path = from + 6 + strspn(from + 6, " \t");
    const int first = d->variable_count;
    const int count = lw_cut_at_commas(r->arena, r->text, (size_t)(from - r->text), names, LW_VARIABLES_MOST);
    if (count < 0) return wrong(r, "name at most 64", "too many things vary");
    lw_results_table *table = NULL;
    lw_status status = LW_OK;
    for (int k = 0; k < count && status == LW_OK; k++) {
        lw_variable *v;
        status = add_variable(r, names[k], strlen(names[k]), &v);
        if (status == LW_OK && v->target != LW_VARY_PARAMETER && v->target != LW_VARY_INPUT)
            status = wrong(r, "list the texts: method = rcr, lagrange", "files give numbers only");
    }
    if (status == LW_OK) status = lw_results_table_open(path, &table, r->error);
    for (int k = 0; k < count && status == LW_OK; k++) {
        const int column = lw_results_table_column(table, names[k]);
        char message[200];
        snprintf(message, sizeof message, "%.80s has no column \"%.60s\"; its first is \"%.40s\"", path,
                 names[k], table->column_count > 0 ? table->columns[0].name : "");
        if (column < 0)
            status = wrong(r, "name the column as the parameter", message);
        else
            table->columns[column].wanted = true;
    }
    if (status == LW_OK) table->strict = true, status = lw_results_table_read(table, r->error);
    if (status == LW_OK && (table->row_count == 0 || table->row_count > LIST_MOST))
        status = wrong(r, "give 1 to 1000000 rows", "the file has no rows, or too many");
    for (int k = 0; k < count && status == LW_OK; k++) {
        lw_variable *v = &d->variables[first + k];
        const lw_column *column = &table->columns[lw_results_table_column(table, names[k])];
        double *values = LW_NEW(r->arena, double, table->row_count);
        double scale = 1;
        if (!values) {
            status = lw_out_of_memory(r->error);
            break;
        }
        if (column->unit[0]) { /* The header says in which unit: 1 of it in SI units. */
            char one[64];
            snprintf(one, sizeof one, "1 %.50s", column->unit);
            status = read_number(r, v, one, false, &scale);
        }
        for (size_t i = 0; i < table->row_count && status == LW_OK; i++) {
            values[i] = column->values[i] * scale;
            if (!isfinite(values[i])) status = wrong(r, "every row needs a number", "a value is missing");
        }
        v->kind = LW_VARY_LIST, v->values = values, v->axis = d->axis_count;
    }
    if (status == LW_OK) d->axis_size[d->axis_count++] = table->row_count;
    if (table) lw_results_table_close(table);
    return status;
}

static lw_status read_variable(reader *r) {
    const char *from = strstr(r->text, " from "), *sign = strpbrk(r->text, "=~");
    lw_variable *v;
    if (from && (!sign || sign > from)) return read_columns(r, from);
    if (!sign || sign == r->text)
        return wrong(r, "write e.g. L = 1..2 : 11, k ~ normal(2e4, 1e3), or L from values.csv",
                     "it does not say how something varies");
    const char *text = sign + 1 + strspn(sign + 1, " \t");
    lw_status status = add_variable(r, r->text, (size_t)(sign - r->text), &v);
    if (status != LW_OK) return status;
    const bool numbers = v->target == LW_VARY_PARAMETER || v->target == LW_VARY_INPUT;
    if (r->search) {
        const char *bounds = *sign == '=' && numbers ? strstr(text, "..") : NULL;
        return bounds ? read_bounds(r, v, text, bounds)
                      : wrong(r, "write e.g. L = 1..2, or L = 1..2 from 1.3",
                              "a search is over numbers between two bounds");
    }
    if (*sign == '~')
        return numbers ? read_distribution(r, v, text)
                       : wrong(r, "list the texts: method = rcr, lagrange", "it takes texts, not numbers");
    const char *dots = strstr(text, "..");
    return numbers && dots ? read_range(r, v, text, dots) : read_list(r, v, text);
}

/* --- correlations ---------------------------------------------------------------------------------- */

static lw_status read_correlations(reader *r, const lw_sweep_options *options) {
    lw_design *d = r->design;
    const int n = d->drawn_count;
    if (options->correlation_count == 0) return LW_OK;
    d->mix = LW_NEW(r->arena, double, n *n + 1);
    if (!d->mix) return lw_out_of_memory(r->error);
    for (int k = 0; k < n; k++) d->mix[k * n + k] = 1;
    for (size_t c = 0; c < options->correlation_count; c++) {
        const char *text = options->correlations[c] ? options->correlations[c] : "";
        const char *sign = strchr(text, '='), *names[3];
        char object[112];
        snprintf(object, sizeof object, "correlate \"%.80s\"", text);
        int of[2] = {-1, -1}, count = 0;
        double value = NAN;
        char *end = NULL;
        if (sign) count = lw_cut_at_commas(r->arena, text, (size_t)(sign - text), names, 3);
        if (sign) value = strtod(sign + 1, &end);
        for (int i = 0; i < 2 && count == 2; i++)
            for (int k = 0; k < d->variable_count; k++)
                if (strcmp(d->variables[k].name, names[i]) == 0) of[i] = d->variables[k].drawn;
        if (of[0] < 0 || of[1] < 0 || of[0] == of[1] || !(fabs(value) < 1) || end[strspn(end, " \t")])
            return lw_fail(r->error, LW_ERROR_ARGUMENT, object,
                           "name two variables that are drawn (~), and a number between -1 and 1: L, k = 0.5",
                           "it says no correlation of two variables that are drawn");
        d->mix[of[0] * n + of[1]] = d->mix[of[1] * n + of[0]] = value;
    }
    for (int j = 0; j < n; j++) /* Cholesky, in place. */
        for (int i = j; i < n; i++) {
            double sum = d->mix[i * n + j];
            for (int k = 0; k < j; k++) sum -= d->mix[i * n + k] * d->mix[j * n + k];
            if (i == j && !(sum > 1e-12))
                return lw_fail(r->error, LW_ERROR_ARGUMENT, "correlations",
                               "give smaller ones, or those that are missing",
                               "no variables can have these correlations at once");
            d->mix[i * n + j] = i == j ? sqrt(sum) : sum / d->mix[j * n + j];
        }
    return LW_OK;
}

lw_status lw_design_read(const lw_spec *spec, const lw_sweep_options *options, bool search, lw_arena *arena,
                         lw_design *design, lw_error *error) {
    reader r = {.spec = spec, .arena = arena, .design = design, .error = error, .search = search};
    static const char *const draws[] = {"random", "latin", "sobol", "saltelli"};
    *design =
        (lw_design){.draws = options->draws ? options->draws : 1, .seed = options->seed, .search = search};
    for (size_t k = 0; k < options->vary_count; k++) {
        r.text = options->vary[k] ? options->vary[k] : "";
        const lw_status status = read_variable(&r);
        if (status != LW_OK) return status;
    }
    lw_status status = read_correlations(&r, options);
    if (status != LW_OK) return status;
    int draw = 0;
    while (options->design && draw < 4 && strcmp(draws[draw], options->design) != 0) draw++;
    if (draw == 4)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "take random, latin, sobol or saltelli",
                       "design \"%.40s\" is not known", options->design);
    design->draw = draw;
    if (draw == LW_DRAW_SOBOL && (design->drawn_count > LW_SOBOL_DIMENSIONS || design->draws > UINT32_MAX))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "take design latin",
                       "design sobol has at most %d variables, and 4e9 draws", LW_SOBOL_DIMENSIONS);
    if (design->drawn_count == 0 && design->draws > 1)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "leave the number of runs away, or vary something by ~",
                       "nothing is drawn, so that %llu runs at each point of the grid would all be the same",
                       (unsigned long long)design->draws);
    design->each = draw == LW_DRAW_SALTELLI ? (uint64_t)design->drawn_count + 2 : 1;
    if (draw == LW_DRAW_SALTELLI &&
        (design->axis_count > 0 || design->drawn_count == 0 || design->mix || design->draws > UINT32_MAX))
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL,
                       "draw all that varies (~) without --correlate, or take another design",
                       "design saltelli is for variables that are drawn, each by itself");
    double total = (double)design->draws * (double)design->each;
    for (int k = 0; k < design->axis_count; k++) total *= (double)design->axis_size[k];
    if (total > (double)LW_SWEEP_MOST)
        return lw_fail(error, LW_ERROR_ARGUMENT, NULL, "take fewer points, or draw them (~) with --runs",
                       "the design has %.4g runs, and at most %.4g are possible", total,
                       (double)LW_SWEEP_MOST);
    design->count = design->draws * design->each;
    for (int k = 0; k < design->axis_count; k++) design->count *= design->axis_size[k];
    return LW_OK;
}
