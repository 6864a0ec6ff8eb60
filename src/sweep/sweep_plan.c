/* sweep_plan.c - the plan of a sweep from a file.
 *
 *     vary: ["L = 1..2 : 11", "k ~ normal(2e4, 1e3)"]
 *     measure: ["max(reaction(A).force)"]
 *     runs: 100
 *     seed: 1
 *     design: latin
 *     correlate: ["L, k = 0.5"]
 */
#include "io/model_read/yaml.h"
#include "io/number.h"
#include "io/whole_file.h"
#include "sweep/sweep_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lw_sweep_plan {
    lw_arena *arena;
    lw_sweep_options options;
};

typedef struct reader {
    lw_sweep_plan *plan;
    const char *path;
    lw_report *report;
} reader;

static void wrong(const reader *r, const lw_yaml *node, const char *key, const char *remedy,
                  const char *message) {
    lw_complain(r->report, LW_SEVERITY_ERROR, r->path, node->place, key, remedy, "%s", message);
}

static void read_texts(const reader *r, const lw_yaml *node, const char *key, const char *const **texts,
                       size_t *count) {
    const char **own = LW_NEW(r->plan->arena, const char *, node->count + 1);
    if (node->kind != LW_YAML_LIST) {
        wrong(r, node, key, "write a list of texts: [\"L = 1..2 : 11\"]", "it is no list");
        return;
    }
    for (size_t k = 0; own && k < node->count; k++) {
        if (node->items[k]->kind == LW_YAML_TEXT)
            own[k] = node->items[k]->text;
        else
            wrong(r, node->items[k], key, "quote it", "an entry is no text");
        if (!own[k]) own[k] = "";
    }
    *texts = own, *count = own ? node->count : 0;
}

static void read_count(const reader *r, const lw_yaml *node, const char *key, uint64_t *value) {
    double number = -1;
    if (node->kind != LW_YAML_TEXT || !lw_number_read(node->text, &number) || !(number >= 0) ||
        number > 9007199254740992.0 || number != floor(number))
        wrong(r, node, key, "give e.g. 100", "it is no whole number");
    else
        *value = (uint64_t)number;
}

static void read_key(const reader *r, const lw_yaml *key, const lw_yaml *node) {
    static const char *const keys[] = {"vary", "measure", "runs", "seed", "design", "correlate"};
    lw_sweep_options *o = &r->plan->options;
    int which = 0;
    while (which < 6 && strcmp(keys[which], key->text) != 0) which++;
    switch (which) {
    case 0:
        read_texts(r, node, keys[0], &o->vary, &o->vary_count);
        break;
    case 1:
        read_texts(r, node, keys[1], &o->measures, &o->measure_count);
        break;
    case 2:
        read_count(r, node, keys[2], &o->draws);
        break;
    case 3:
        read_count(r, node, keys[3], &o->seed);
        break;
    case 4:
        if (node->kind == LW_YAML_TEXT)
            o->design = node->text;
        else
            wrong(r, node, keys[4], "take random, latin or sobol", "it is no name");
        break;
    case 5:
        read_texts(r, node, keys[5], &o->correlations, &o->correlation_count);
        break;
    default: {
        char remedy[160] = "there are vary, measure, runs, seed, design, correlate", message[160];
        lw_did_you_mean(lw_closest(key->text, keys, 6), remedy, sizeof remedy);
        snprintf(message, sizeof message, "the key \"%.80s\" has no meaning in a plan", key->text);
        wrong(r, key, NULL, remedy, message);
    }
    }
}

lw_status lw_sweep_plan_read(const char *path, lw_report *report, lw_sweep_plan **plan) {
    if (!path || !report || !plan) return LW_ERROR_ARGUMENT;
    *plan = NULL;
    lw_arena *arena = lw_arena_create(NULL);
    lw_sweep_plan *p = LW_NEW(arena, lw_sweep_plan, 1);
    if (!p) {
        if (arena) lw_arena_destroy(arena);
        return LW_ERROR_MEMORY;
    }
    p->arena = arena;
    const reader r = {.plan = p, .path = path, .report = report};
    const lw_yaml *root = NULL;
    char *text = NULL;
    size_t length = 0;
    lw_status status = lw_whole_file(path, LW_YAML_MAX_BYTES, "read values from a file: L from values.csv",
                                     report, &text, &length);
    if (status == LW_OK) status = lw_yaml_parse(arena, text, length, path, report, &root);
    if (status == LW_OK && (!root || root->kind != LW_YAML_MAP)) {
        lw_complain(report, LW_SEVERITY_ERROR, path, (lw_place){1, 1}, NULL,
                    "write e.g. vary: [\"L = 1..2 : 11\"]", "a plan is a mapping");
        status = LW_ERROR_MODEL;
    }
    for (size_t k = 0; status == LW_OK && k < root->count; k++)
        read_key(&r, root->items[2 * k], root->items[2 * k + 1]);
    if (status == LW_OK && lw_report_errors(report) > 0) status = LW_ERROR_MODEL;
    if (status == LW_OK && lw_arena_failed(arena)) status = LW_ERROR_MEMORY;
    free(text);
    if (status == LW_OK)
        *plan = p;
    else
        lw_arena_destroy(arena);
    return status;
}

void lw_sweep_plan_destroy(lw_sweep_plan *plan) {
    if (plan) lw_arena_destroy(plan->arena);
}

const lw_sweep_options *lw_sweep_plan_options(const lw_sweep_plan *plan) {
    return plan ? &plan->options : NULL;
}
