/* expression_words.c - the words of expressions: functions, constants, and the names that the caller knows.
 *
 * Lists are searched from their beginning: an expression has few words, and is compiled once.
 */
#include "expression/expression_words.h"

#include "expression/expression.h"
#include "expression/units.h"

#include <string.h>

static const lw_word_function functions[] = {
    {"sin", LW_OP_SIN, 1, 1, "sin(x)", NULL},
    {"cos", LW_OP_COS, 1, 1, "cos(x)", NULL},
    {"tan", LW_OP_TAN, 1, 1, "tan(x)", NULL},
    {"asin", LW_OP_ASIN, 1, 1, "asin(x)", "from -1 to 1"},
    {"acos", LW_OP_ACOS, 1, 1, "acos(x)", "from -1 to 1"},
    {"atan", LW_OP_ATAN, 1, 1, "atan(x)", NULL},
    {"atan2", LW_OP_ATAN2, 2, 2, "atan2(y, x)", NULL},
    {"sinh", LW_OP_SINH, 1, 1, "sinh(x)", NULL},
    {"cosh", LW_OP_COSH, 1, 1, "cosh(x)", NULL},
    {"tanh", LW_OP_TANH, 1, 1, "tanh(x)", NULL},
    {"exp", LW_OP_EXP, 1, 1, "exp(x)", NULL},
    {"log", LW_OP_LOG, 1, 1, "log(x)", "greater than 0"},
    {"log10", LW_OP_LOG10, 1, 1, "log10(x)", "greater than 0"},
    {"sqrt", LW_OP_SQRT, 1, 1, "sqrt(x)", "of 0 or more"},
    {"cbrt", LW_OP_CBRT, 1, 1, "cbrt(x)", NULL},
    {"abs", LW_OP_ABS, 1, 1, "abs(x)", NULL},
    {"sign", LW_OP_SIGN, 1, 1, "sign(x)", NULL},
    {"min", LW_OP_MIN, 2, LW_MOST_ARGUMENTS, "min(a, b)", NULL},
    {"max", LW_OP_MAX, 2, LW_MOST_ARGUMENTS, "max(a, b)", NULL},
    {"floor", LW_OP_FLOOR, 1, 1, "floor(x)", NULL},
    {"ceil", LW_OP_CEIL, 1, 1, "ceil(x)", NULL},
    {"mod", LW_OP_MOD, 2, 2, "mod(x, period)", NULL},
    {"hypot", LW_OP_HYPOT, 2, 2, "hypot(x, y)", NULL},
    {"if", LW_OP_IF, 3, 3, "if(condition, then, else)", NULL},
    {"step", LW_OP_STEP, 5, 5, "step(x, x0, h0, x1, h1)", NULL},
    {"step5", LW_OP_STEP5, 5, 5, "step5(x, x0, h0, x1, h1)", NULL},
    {"ramp", LW_OP_RAMP, 1, 1, "ramp(x)", NULL},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const lw_constant builtin[] = {
    {"pi", 3.14159265358979323846, {.kind = LW_MEANING_RATIO}, NULL},
    {"e", 2.71828182845904523536, {.kind = LW_MEANING_RATIO}, NULL},
};

enum { BUILTIN = sizeof builtin / sizeof *builtin };

static const char *const not_numbers[] = {"inf", "Inf", "INF", "infinity", "Infinity", "nan", "NaN", "NAN"};

enum { NOT_NUMBERS = sizeof not_numbers / sizeof *not_numbers };

bool lw_word_is(lw_word w, const char *name) {
    return strlen(name) == w.length && memcmp(name, w.start, w.length) == 0;
}

bool lw_word_is_no_number(lw_word w) {
    for (size_t i = 0; i < NOT_NUMBERS; i++)
        if (lw_word_is(w, not_numbers[i])) return true;
    return false;
}

const lw_word_function *lw_find_function(lw_word w) {
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (lw_word_is(w, functions[i].name)) return &functions[i];
    return NULL;
}

const lw_word_function *lw_function_of(lw_op op) {
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (functions[i].op == op) return &functions[i];
    return NULL;
}

size_t lw_find_variable(const lw_expression_names *names, lw_word w) {
    size_t i = 0;
    while (i < names->variable_count && !lw_word_is(w, names->variables[i])) i++;
    return i;
}

static const lw_constant *find_among(const lw_constant *constants, size_t count, lw_word w) {
    for (size_t i = 0; i < count; i++)
        if (lw_word_is(w, constants[i].name)) return &constants[i];
    return NULL;
}

const lw_constant *lw_find_builtin(lw_word w) { return find_among(builtin, BUILTIN, w); }

const lw_constant *lw_find_constant(const lw_expression_names *names, lw_word w) {
    const lw_constant *own = find_among(names->constants, names->constant_count, w);
    return own ? own : lw_find_builtin(w);
}

const lw_named_table *lw_find_table(const lw_expression_names *names, lw_word w) {
    for (size_t i = 0; i < names->table_count; i++)
        if (lw_word_is(w, names->tables[i].name)) return &names->tables[i];
    return NULL;
}

static size_t value_count(const lw_expression_names *names) {
    return names->input_count + names->state_count + names->signal_count;
}

const lw_constant *lw_find_value(const lw_expression_names *names, lw_word w) {
    return find_among(names->inputs, value_count(names), w);
}

bool lw_names_have(const lw_expression_names *names, const char *text, size_t length) {
    const lw_word w = {text, length};
    return lw_find_variable(names, w) < names->variable_count ||
           find_among(names->constants, names->constant_count, w) || lw_find_value(names, w) ||
           lw_find_table(names, w);
}

static bool is_in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t lw_dotted_name(const lw_expression_names *names, const char *text, size_t *run) {
    size_t longest = 0, length = 0;
    while (is_in_word(text[length])) length++;
    while (length > 0 && text[length] == '.' && is_in_word(text[length + 1])) {
        length++;
        while (is_in_word(text[length])) length++;
        if (lw_names_have(names, text, length)) longest = length;
    }
    *run = length;
    return longest;
}

/* A function, a built-in constant, a word of the language, or a unit of more than one letter. */
static bool is_reserved(const char *text) {
    const lw_word w = {text, strlen(text)};
    return lw_word_is(w, "and") || lw_word_is(w, "or") || lw_word_is(w, "not") || lw_word_is_no_number(w) ||
           lw_find_function(w) || lw_find_builtin(w) || (w.length > 1 && lw_is_unit(text, w.length));
}

const char *lw_name_taken(const char *text) {
    if (strlen(text) == 1 && strchr("tqvx", text[0])) return "a variable of force laws and motions";
    return is_reserved(text) ? "a function, unit or constant" : NULL;
}

size_t lw_known_names(const lw_expression_names *names) {
    return names->variable_count + names->constant_count + value_count(names) + names->table_count + BUILTIN;
}

const char *lw_known_name(const lw_expression_names *names, size_t i) {
    if (i < names->variable_count) return names->variables[i];
    i -= names->variable_count;
    if (i < names->constant_count) return names->constants[i].name;
    i -= names->constant_count;
    if (i < value_count(names)) return names->inputs[i].name;
    i -= value_count(names);
    if (i < names->table_count) return names->tables[i].name;
    i -= names->table_count;
    if (i < BUILTIN) return builtin[i].name;
    i -= BUILTIN;
    if (i < FUNCTIONS) return functions[i].name;
    return names->find_quantity ? lw_quantity_word(i - FUNCTIONS) : NULL;
}

const char *lw_closest_word(const lw_expression_names *names, lw_word w) {
    char text[64];
    const char *name;
    if (w.length >= sizeof text) return NULL;
    memcpy(text, w.start, w.length);
    text[w.length] = '\0';
    lw_closest_search search = lw_closest_to(text);
    for (size_t k = 0; (name = names ? lw_known_name(names, k) : lw_unit_name(k)); k++)
        lw_closest_try(&search, name);
    return search.name;
}
