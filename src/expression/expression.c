/* expression.c - the compiler of expressions: text to a program for the machine, by precedence climbing.
 *
 *     expression = operand { operator operand }
 *     operand    = ("-" | "+" | "not") operand | primary [units]
 *     primary    = number | name | quantity | function "(" expression { "," expression } ")"
 *                | "(" expression ")"
 *     number     = 1  .5  1.  1e-3
 *
 * Operators, weakest first:
 *     or    and    not    < <= > >= == != (not chained)    + -    * /    sign
 *     ^ or ** (right to left: 2^3^2 = 2^9; stronger than a sign: -2^2 = -4)
 * Comparisons and logic give 0 or 1; everything but 0 is true.
 *
 * Names: the caller's variables, constants, inputs, user states and signals, pi, e. Quantities of the state,
 * as pin.q, 'left-knee'.q, point(load, 0, 0, 1).z, are found by the caller. Functions: expression_words.c,
 * and the caller's tables, of one argument; log is the natural logarithm, angles are radians, mod has the
 * sign of its second argument, step(x, x0, h0, x1, h1) goes from h0 to h1 while x goes from x0 to x1, as a
 * cubic (step5: a quintic, with a continuous second derivative), ramp(x) is max(x, 0).
 *
 * Units. A word in the place of an operator, directly behind an operand, is a unit and multiplies the
 * operand: `2 m` is two metres and `2*m` is twice the parameter m. units.c has the grammar of `5 N/mm` and
 * `2 (N s/m)`. Ambiguous texts are refused with a remedy: `5 N/m` if a parameter m exists;
 * `x/2 mm` (but not `10 N/5 mm`, where the dividend carries a unit as well) and `2^3 mm`, where the unit
 * would bind to the last number only.
 *
 * Dimensions. A second stack holds the dimensions of the values (meaning.c): units, parameters with units and
 * the variables of laws have dimensions, and both sides of a sum or comparison must agree where both are
 * known.
 *
 * Folding: an instruction whose operands are all constants is run at once; a result that is not finite is an
 * error.
 *
 * Limits, against hostile input: nesting NESTING, program LW_EXPRESSION_LENGTH, stack LW_MACHINE_STACK, a
 * number's text LONGEST_NUMBER. Any bytes are safe. Numbers are read alike in every locale.
 */
#include "expression/expression.h"

#include "expression/dimensions.h"
#include "expression/expression_words.h"
#include "expression/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING = 200, LONGEST_NUMBER = 400 };

enum { OR = 1, AND, NOT, COMPARISON, SUM, PRODUCT, SIGN, POWER }; /* levels of precedence */

static const struct operator{
    /* An operator stands after those that begin with it; of two for one operation, the usual one is first. */
    const char *text;
    lw_op op;
    int level;
}
operators[] = {
    {"^", LW_OP_POWER, POWER},
    {"**", LW_OP_POWER, POWER},
    {"*", LW_OP_MULTIPLY, PRODUCT},
    {"/", LW_OP_DIVIDE, PRODUCT},
    {"+", LW_OP_ADD, SUM},
    {"-", LW_OP_SUBTRACT, SUM},
    {"<=", LW_OP_LESS_EQUAL, COMPARISON},
    {"<", LW_OP_LESS, COMPARISON},
    {">=", LW_OP_GREATER_EQUAL, COMPARISON},
    {">", LW_OP_GREATER, COMPARISON},
    {"==", LW_OP_EQUAL, COMPARISON},
    {"!=", LW_OP_NOT_EQUAL, COMPARISON},
    {"and", LW_OP_AND, AND},
    {"or", LW_OP_OR, OR},
};

enum { OPERATORS = sizeof operators / sizeof *operators };

typedef struct parser {
    const char *text;
    size_t at;
    const lw_expression_names *names;
    lw_instruction *code;
    size_t length;        /* length of the program so far */
    size_t height;        /* height of the stack after the program so far */
    lw_meaning *measures; /* meanings of the values on the stack */
    int nesting;
    size_t units_start, units_end; /* the last units in the text; an operand that ends there has units */
    lw_syntax *syntax;
} parser;

/* --- errors and names ----------------------------------------------------------------------------- */

static bool fail(parser *p, size_t offset, const char *remedy, const char *format, ...) LW_PRINTF(4, 5);

/* Reports a fault. The result is always false, so that a rule can return it. */
static bool fail(parser *p, size_t offset, const char *remedy, const char *format, ...) {
    if (!p->syntax) return false;
    p->syntax->offset = offset;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(p->syntax->message, sizeof p->syntax->message, format, arguments);
    va_end(arguments);
    (void)snprintf(p->syntax->remedy, sizeof p->syntax->remedy, "%s", remedy);
    return false;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char skip_space(parser *p) {
    while (p->text[p->at] != '\0' && strchr(" \t\r\n", p->text[p->at])) p->at++;
    return p->text[p->at];
}

static lw_word peek_word(const parser *p) {
    lw_word w = {p->text + p->at, 0};
    if (is_letter(*w.start)) {
        while (is_letter(w.start[w.length]) || is_digit(w.start[w.length])) w.length++;
    }
    return w;
}

/* The length of what may be meant as the name of a joint or force, such as left-knee of left-knee.q, which is
 * a difference without quotes; 0: nothing. */
static size_t unquoted_name(const char *text) {
    size_t length = 0;
    bool dash = false;
    for (; is_letter(text[length]) || is_digit(text[length]) || text[length] == '-'; length++)
        dash = dash || text[length] == '-';
    return dash && text[length] == '.' && is_letter(text[length + 1]) && length < 60 ? length : 0;
}

static bool fail_unknown_name(parser *p, lw_word w, size_t offset, bool called) {
    char remedy[sizeof p->syntax->remedy];
    const char *kind = called ? "function" : "name";
    const size_t unquoted = p->names->find_quantity ? unquoted_name(w.start) : 0;
    if (lw_did_you_mean(lw_closest_word(p->names, w), remedy, sizeof remedy)) {
        /* The suggestion is the remedy. */
    } else if (unquoted > 0) {
        (void)snprintf(remedy, sizeof remedy, "a name that is no plain word stands in quotes: '%.*s'.%c",
                       (int)unquoted, w.start, w.start[unquoted + 1]);
    } else if (called) {
        (void)snprintf(remedy, sizeof remedy,
                       "functions are sin, cos, exp, log, sqrt, abs, min, max, if, step, ...; "
                       "write a product with *");
    } else {
        int used = snprintf(remedy, sizeof remedy, "names known here:");
        size_t count = lw_known_names(p->names);
        for (size_t i = 0; i < count; i++) {
            const char *name = lw_known_name(p->names, i);
            if ((size_t)used + strlen(name) + 8 > sizeof remedy) {
                (void)snprintf(remedy + used, sizeof remedy - (size_t)used, ", ...");
                break;
            }
            used += snprintf(remedy + used, sizeof remedy - (size_t)used, "%s %s", i ? "," : "", name);
        }
    }
    return fail(p, offset, remedy, "unknown %s \"%.*s\"", kind, LW_SHOW(w));
}

/* Reports an input, a user state, a signal (number `value`) or a quantity (-1) where none is allowed. */
static bool fail_value(parser *p, lw_word w, size_t offset, long value) {
    const lw_expression_names *n = p->names;
    const char *kind = value < 0                                         ? "a quantity of the state"
                       : (size_t)value < n->input_count                  ? "an input"
                       : (size_t)value < n->input_count + n->state_count ? "a state"
                                                                         : "a signal";
    if (n->input_use == LW_INPUTS_NOT_IN_CONSTANTS)
        return fail(p, offset, "use a parameter; such values may stand in laws, drives and applied forces",
                    "\"%.*s\" is %s, which may change at run time, and this value must be constant",
                    LW_SHOW(w), kind);
    return fail(p, offset,
                "drive the joint by a stiff force, e.g. k*(u - q) - c*v, or give it the motion of a state "
                "that follows it filtered twice",
                "\"%.*s\" is %s, a number without speed and acceleration, and a prescribed motion needs both",
                LW_SHOW(w), kind);
}

/* Writes the character at offset in readable form: the character if it is printable, otherwise \xNN. */
static void show_character(const char *text, size_t offset, char shown[8]) {
    unsigned code;
    size_t length = lw_utf8(text + offset, 4, &code);
    if (length > 0 && code >= 0x20 && code != 0x7F)
        (void)snprintf(shown, 8, "%.*s", (int)length, text + offset);
    else
        (void)snprintf(shown, 8, "\\x%02X", (unsigned char)text[offset]);
}

/* Reports that the text at p->at can neither continue nor end the expression. */
static bool fail_unexpected(parser *p, bool operand_missing) {
    char c = p->text[p->at], shown[8];
    show_character(p->text, p->at, shown);
    if (c == '\0')
        return fail(p, p->at, "complete it", "the expression ends where a number or a name should follow");
    if (c == '=') return fail(p, p->at, "compare with ==", "\"=\" is not an operator");
    if (c == '&') return fail(p, p->at, "write and", "\"&\" is not an operator");
    if (c == '|') return fail(p, p->at, "write or", "\"|\" is not an operator");
    if (c == '!') return fail(p, p->at, "write not, or != to compare", "\"!\" is not an operator");
    if (c == '%') return fail(p, p->at, "write mod(a, b), or /100 for per cent", "\"%%\" is not an operator");
    if (c == ',' && !operand_missing) {
        return fail(p, p->at, "decimals take a point, as in 1.5; a comma separates arguments of a function",
                    "unexpected \",\"");
    }
    if (c == ')' && !operand_missing) return fail(p, p->at, "remove it", "\")\" without \"(\"");
    if (c < 0x20 || c > 0x7E) {
        return fail(p, p->at, "use + - * / ^ and plain names; units are written as deg, um, m^2",
                    "character \"%s\" has no meaning in an expression", shown);
    }
    if (operand_missing) {
        return fail(p, p->at, "write a number, a name or an expression in parentheses before it",
                    "unexpected \"%s\" where a number or a name should stand", shown);
    }
    return fail(p, p->at, "remove it", "unexpected \"%s\"", shown);
}

/* --- instructions --------------------------------------------------------------------------------- */

static bool append(parser *p, lw_instruction instruction, size_t offset) {
    if (p->length >= LW_EXPRESSION_LENGTH) {
        return fail(p, offset, "shorten it, or use a table",
                    "the expression is too long (more than %d operations)", LW_EXPRESSION_LENGTH);
    }
    p->code[p->length++] = instruction;
    p->height = p->height + 1 - lw_op_arity((lw_op)instruction.op);
    if (p->height > LW_MACHINE_STACK) {
        return fail(p, offset, "write the operands the other way round, or in fewer parentheses",
                    "the expression keeps more than %d intermediate results", LW_MACHINE_STACK);
    }
    return true;
}

static bool push_constant(parser *p, double value, lw_meaning measure, size_t offset) {
    if (!append(p, (lw_instruction){.value = value, .op = LW_OP_CONSTANT}, offset)) return false;
    p->measures[p->height - 1] = measure;
    return true;
}

/* Reports an operation on constants whose result is not finite, with its operands. */
static bool fail_fold(parser *p, lw_op op, const lw_instruction *operand, double result, size_t offset) {
    const char *what = isnan(result) ? "is not a real number" : "is too large";
    double a = operand[0].value;
    for (size_t i = 0; i < OPERATORS; i++) {
        if (operators[i].op != op) continue;
        double b = operand[1].value;
        if (op == LW_OP_POWER && a == 0)
            return fail(p, offset, "0 has no negative power", "division by zero: 0^%g", b);
        const char *remedy = op == LW_OP_POWER && a < 0
                                 ? "negative numbers have whole powers only; or use cbrt(x)"
                                 : "numbers reach to 1.8e308; check values and units";
        return fail(p, offset, remedy, a < 0 ? "(%g)%s%g %s" : "%g%s%g %s", a, operators[i].text, b, what);
    }
    const lw_word_function *f = lw_op_arity(op) == 1 ? lw_function_of(op) : NULL;
    if (f) {
        char remedy[80] = "numbers reach to 1.8e308; check values and units";
        if (f->domain) {
            (void)snprintf(remedy, sizeof remedy, "%s needs an argument %s", f->name, f->domain);
            if (isinf(result)) what = "is infinite";
        }
        return fail(p, offset, remedy, "%s(%g) %s", f->name, a, what);
    }
    return fail(p, offset, "numbers reach to 1.8e308; check values and units", "a constant here %s", what);
}

/* Replaces the meanings of the operands by that of the operation's result. */
static bool measure(parser *p, lw_op op, size_t offset) {
    const lw_word_function *f = lw_function_of(op);
    const char *name = f ? f->name : "";
    const lw_instruction *last = &p->code[p->length - 1];
    lw_syntax syntax;
    if (lw_meaning_operation(op, &p->measures[p->height - lw_op_arity(op)],
                             last->op == LW_OP_CONSTANT ? &last->value : NULL, p->syntax ? &syntax : NULL))
        return true;
    if (p->syntax) (void)fail(p, offset, syntax.remedy, "%s%s%s", name, name[0] ? ": " : "", syntax.message);
    return false;
}

/* Appends an operation, or runs it at once if its operands are constants. offset is its position in the
 * text. */
static bool emit(parser *p, lw_op op, size_t offset) {
    size_t arity = lw_op_arity(op), first = p->length - arity;
    if (!measure(p, op, offset)) return false;
    const lw_instruction *last = &p->code[p->length - 1];
    if ((op == LW_OP_DIVIDE || op == LW_OP_MOD) && last->op == LW_OP_CONSTANT && last->value == 0) {
        return fail(p, offset, "the divisor is 0 whatever the variables are; check the parameters in it",
                    "division by zero");
    }
    if (!append(p, (lw_instruction){.op = (unsigned char)op}, offset)) return false;
    for (size_t i = first; i < first + arity; i++) {
        if (p->code[i].op != LW_OP_CONSTANT) return true;
    }
    double value = lw_machine_value(p->code + first, arity + 1, NULL, NULL);
    if (!isfinite(value)) return fail_fold(p, op, p->code + first, value, offset);
    const bool truth = op == LW_OP_NOT || (op >= LW_OP_LESS && op <= LW_OP_OR);
    p->code[first] = (lw_instruction){.value = value, .op = LW_OP_CONSTANT, .variable = truth};
    p->length = first + 1;
    return true;
}

/* --- operands ------------------------------------------------------------------------------------- */

static bool parse_level(parser *p, int level);

/* strtod receives the digits without a decimal point, which depends on the locale: 12.5e3 as 125e2. */
static bool parse_number(parser *p) {
    const char *text = p->text + p->at;
    char digits[LONGEST_NUMBER + 16];
    size_t n = 0, used = 0;
    long exponent = 0, fraction = 0;
    bool point = false, zero = true;
    for (; is_digit(text[n]) || (text[n] == '.' && !point); n++) {
        if (n >= LONGEST_NUMBER)
            return fail(p, p->at, "17 digits are enough", "the number has too many digits");
        if (text[n] == '.') {
            point = true;
            continue;
        }
        digits[used++] = text[n];
        fraction += point;
        zero = zero && text[n] == '0';
    }
    if (text[n] == 'e' || text[n] == 'E') {
        bool negative = text[n + 1] == '-';
        size_t m = n + 1 + (negative || text[n + 1] == '+');
        if (is_digit(text[m])) {
            for (; is_digit(text[m]); m++) {
                if (exponent < 100000) exponent = 10 * exponent + (text[m] - '0');
            }
            if (negative) exponent = -exponent;
            n = m;
        }
    }
    (void)snprintf(digits + used, sizeof digits - used, "e%ld", exponent - fraction);
    double value = strtod(digits, NULL);
    lw_word w = {text, n};
    if (!isfinite(value)) {
        return fail(p, p->at, "numbers reach to 1.8e308", "number %.*s is too large", LW_SHOW(w));
    }
    if (value == 0 && !zero) {
        return fail(p, p->at, "write 0 if you mean it", "number %.*s is too small to differ from 0",
                    LW_SHOW(w));
    }
    size_t offset = p->at;
    p->at += n;
    /* In a product 2, 12 and 0.5 are most likely plain numbers; 9.81 or 2100 may be a quantity. */
    bool plain = 4 * value == floor(4 * value) && value <= 100;
    const lw_meaning meaning = {.kind = plain ? LW_MEANING_NUMBER : LW_MEANING_UNKNOWN, .direct = value == 1};
    return push_constant(p, value, meaning, offset);
}

static bool close_parenthesis(parser *p, size_t opened) {
    char c = skip_space(p);
    if (c == '\0') return fail(p, opened, "close it with \")\"", "\"(\" is never closed");
    if (c != ')') return fail_unexpected(p, false);
    p->at++;
    return true;
}

static bool fail_argument_count(parser *p, const lw_word_function *f, size_t count, size_t offset) {
    char remedy[64];
    (void)snprintf(remedy, sizeof remedy, "write %s", f->form);
    return fail(p, offset, remedy, "%s takes %s%d argument%s, not %zu", f->name,
                f->most > f->least ? "at least " : "", f->least, f->least == 1 ? "" : "s", count);
}

/* Parses the arguments of a call; p->at is at its "(". */
static bool parse_call(parser *p, const lw_word_function *f, size_t offset) {
    size_t opened = p->at++, start[LW_MOST_ARGUMENTS + 1], count = 0;
    bool folds = f->most > f->least; /* min and max are applied to pairs. */

    if (skip_space(p) == ')') return fail_argument_count(p, f, 0, offset);
    for (;;) {
        if (count == (size_t)f->most) {
            return f->least == f->most
                       ? fail_argument_count(p, f, count + 1, offset)
                       : fail(p, offset, "nest the calls", "%s takes at most %d arguments", f->name, f->most);
        }
        start[count++] = p->length;
        if (!parse_level(p, OR)) return false;
        if (folds && count > 1 && !emit(p, f->op, offset)) return false;
        if (skip_space(p) != ',') break;
        p->at++;
    }
    if (!close_parenthesis(p, opened)) return false;
    if (count < (size_t)f->least) return fail_argument_count(p, f, count, offset);
    if (f->op == LW_OP_STEP || f->op == LW_OP_STEP5) {
        const lw_instruction *x0 = &p->code[start[1]], *x1 = &p->code[start[3]];
        bool known = start[2] - start[1] == 1 && start[4] - start[3] == 1 && x0->op == LW_OP_CONSTANT &&
                     x1->op == LW_OP_CONSTANT;
        if (known && !(x0->value < x1->value)) {
            return fail(p, offset, "the step begins at x0 and ends at x1: swap them, and h0 with h1",
                        "%s(x, x0, h0, x1, h1) with x0 = %g and x1 = %g: x0 must be less than x1", f->name,
                        x0->value, x1->value);
        }
    }
    return folds || emit(p, f->op, offset);
}

/* Parses the argument of a table; p->at is at its "(", if it is called. */
static bool parse_table(parser *p, const lw_named_table *table, bool called, size_t offset) {
    size_t opened = p->at++, start = p->length;
    char remedy[112];
    (void)snprintf(remedy, sizeof remedy, "write %.40s(x), e.g. %.40s(t)", table->name, table->name);
    if (!called || skip_space(p) == ')')
        return fail(p, offset, remedy, "table \"%.40s\" has no argument", table->name);
    if (!parse_level(p, OR)) return false;
    if (skip_space(p) == ',')
        return fail(p, p->at, remedy, "table \"%.40s\" takes one argument", table->name);
    if (!close_parenthesis(p, opened)) return false;
    lw_meaning *measure = &p->measures[p->height - 1], sum;
    if (!lw_meaning_sum(measure, &table->argument, &sum)) {
        char given[64], wanted[64];
        lw_meaning_name(measure, given, sizeof given);
        lw_meaning_name(&table->argument, wanted, sizeof wanted);
        return fail(p, offset, "check the units of the argument and of the table's x",
                    "table \"%.40s\" is one of %s, and its argument is %s", table->name, wanted, given);
    }
    *measure = table->value;
    if (!append(p, (lw_instruction){.op = LW_OP_TABLE, .table = table->table}, offset)) return false;
    if (p->length != start + 2 || p->code[start].op != LW_OP_CONSTANT) return true;
    double value = lw_table_value(table->table, p->code[start].value);
    if (!isfinite(value))
        return fail(p, offset, "check the argument", "%.40s(%g) is too large", table->name,
                    p->code[start].value);
    p->code[start] = (lw_instruction){.value = value, .op = LW_OP_CONSTANT};
    p->length = start + 1;
    return true;
}

static bool push_value(parser *p, int number, lw_meaning measure, size_t offset) {
    if (!append(p, (lw_instruction){.op = LW_OP_INPUT, .input = number}, offset)) return false;
    p->measures[p->height - 1] = measure;
    return true;
}

/* May this input, user state or signal be used here? */
static bool may_use(const lw_expression_names *names, int number) {
    const size_t k = (size_t)number, first = names->input_count;
    return names->input_use == LW_INPUTS_ALLOWED ||
           (names->input_use == LW_INPUTS_NOT_IN_MOTIONS && k >= first && k < first + names->state_count);
}

/* Parses a quantity of the state if there is one here. *found: there is, or the text is meant as one. */
static bool parse_quantity(parser *p, bool *found) {
    const char *text = p->text + p->at;
    lw_syntax syntax = {0};
    lw_meaning measure = {.kind = LW_MEANING_UNKNOWN};
    int number = -1;
    const size_t offset = p->at, extent = lw_quantity_extent(text);
    *found = extent > 0 && (p->names->find_quantity || p->names->input_use != LW_INPUTS_ALLOWED);
    if (!*found) return true;
    if (p->names->input_use != LW_INPUTS_ALLOWED) return fail_value(p, (lw_word){text, extent}, offset, -1);
    const size_t length = p->names->find_quantity(p->names->find_context, text, &number, &measure, &syntax);
    if (length > 0) {
        p->at += length;
        return push_value(p, number, measure, offset);
    }
    *found = syntax.message[0] != '\0';
    return !*found || fail(p, offset + syntax.offset, syntax.remedy, "%s", syntax.message);
}

static bool parse_name(parser *p) {
    size_t offset = p->at;
    lw_word w = peek_word(p);
    size_t run = 0;
    const size_t dotted = p->text[p->at + w.length] == '.' ? lw_dotted_name(p->names, w.start, &run) : 0;
    if (dotted > 0 && dotted == run) { /* a value of a part */
        w.length = dotted;
    } else if (p->text[p->at + w.length] == '.' || w.length == 0) {
        bool found;
        if (!parse_quantity(p, &found)) return false;
        if (found) return true;
        if (w.length == 0) return fail_unexpected(p, true);
    }
    p->at += w.length;
    bool called = skip_space(p) == '(';
    size_t variable = lw_find_variable(p->names, w);
    const lw_constant *constant = lw_find_constant(p->names, w);
    const lw_constant *value = lw_find_value(p->names, w);
    const lw_named_table *table = lw_find_table(p->names, w);
    const lw_word_function *f = lw_find_function(w);

    if (table) return parse_table(p, table, called, offset);
    if (f && called) return parse_call(p, f, offset);
    if (!called) p->at = offset + w.length; /* White space is not part of an operand. */
    if (variable < p->names->variable_count) {
        if (!append(p, (lw_instruction){.op = LW_OP_VARIABLE, .variable = (unsigned char)variable}, offset))
            return false;
        const lw_meaning *measures = p->names->variable_measures;
        p->measures[p->height - 1] = measures ? measures[variable] : (lw_meaning){.kind = LW_MEANING_UNKNOWN};
        return true;
    }
    if (value) {
        const int number = (int)(value - p->names->inputs);
        if (!may_use(p->names, number)) return fail_value(p, w, offset, number);
        return push_value(p, number, value->meaning, offset);
    }
    if (constant) {
        if (!isfinite(constant->value)) {
            return fail(p, offset, "give it a finite value", "\"%.*s\" has no finite value", LW_SHOW(w));
        }
        return push_constant(p, constant->value, constant->meaning, offset);
    }
    if (f) {
        char remedy[64];
        (void)snprintf(remedy, sizeof remedy, "write %s", f->form);
        return fail(p, offset, remedy, "function \"%s\" has no arguments", f->name);
    }
    /* A quantity that is a lone word or a call: known names, of parameters too, come before it. */
    bool found;
    p->at = offset;
    if (!parse_quantity(p, &found)) return false;
    if (found) return true;
    if (called && p->names->find_quantity && lw_quantity_is_called(w.start, w.length))
        return fail(
            p, offset + w.length,
            "close it with \")\"; within { } of a model file an expression with commas stands in quotes",
            "\"(\" is never closed");
    p->at = offset + w.length;
    if (lw_word_is_no_number(w))
        return fail(p, offset, "use a finite number, e.g. 1e9", "\"%.*s\" is not a number to compute with",
                    LW_SHOW(w));
    if (lw_word_is(w, "and") || lw_word_is(w, "or")) {
        return fail(p, offset, "write a number, a name or an expression in parentheses before it",
                    "unexpected \"%.*s\" where a number or a name should stand", LW_SHOW(w));
    }
    if (lw_is_unit(w.start, w.length)) {
        char remedy[96];
        (void)snprintf(remedy, sizeof remedy,
                       "write a number before it, e.g. (1 %.*s); no parameter has this name", LW_SHOW(w));
        return fail(p, offset, remedy, "unit \"%.*s\" stands alone", LW_SHOW(w));
    }
    return fail_unknown_name(p, w, offset, called);
}

static bool parse_primary(parser *p) {
    char c = skip_space(p);
    if (is_digit(c) || (c == '.' && is_digit(p->text[p->at + 1]))) return parse_number(p);
    if (is_letter(c) || c == '\'') return parse_name(p);
    if (c != '(') return fail_unexpected(p, true);
    size_t opened = p->at++;
    return parse_level(p, OR) && close_parenthesis(p, opened);
}

/* --- units behind an operand ---------------------------------------------------------------------- */

/* Is what stands right before an opening bracket a word such as com, which begins a quantity unless the model
 * calls something of its own so? */
static bool hides_quantity(const parser *p) {
    size_t end = p->at, begin;
    if (p->text[end] != '(') return false;
    while (end > 0 && p->text[end - 1] == ' ') end--;
    begin = end;
    while (begin > 0 && (is_letter(p->text[begin - 1]) || is_digit(p->text[begin - 1]))) begin--;
    return lw_quantity_is_called(p->text + begin, end - begin);
}

/* Checks that an operator, or the end, follows an operand and its units. */
static bool check_operator_follows(parser *p) {
    char c = skip_space(p), shown[8];
    lw_word w = peek_word(p);
    if (w.length > 0 && !lw_word_is(w, "and") && !lw_word_is(w, "or")) {
        if (lw_names_have(p->names, w.start, w.length) || lw_find_function(w) || lw_find_builtin(w) ||
            lw_word_is(w, "not")) {
            return fail(p, p->at, "write a product with *", "an operator is missing before \"%.*s\"",
                        LW_SHOW(w));
        }
        char remedy[100] =
            "units are m, mm, deg, rpm, s, kg, N, kN, Nm, MPa, J, W, Hz, ...; write a product with *";
        lw_did_you_mean(lw_closest_word(NULL, w), remedy, sizeof remedy);
        return fail(p, p->at, remedy, "unknown unit \"%.*s\"", LW_SHOW(w));
    }
    if (c == '.') return fail(p, p->at, "a number has one decimal point and digits", "unexpected \".\"");
    if (is_digit(c) || c == '(') {
        show_character(p->text, p->at, shown);
        if (hides_quantity(p))
            return fail(p, p->at, "call what is named so something else, or write a product with *",
                        "a parameter, signal or table of this name comes before the quantity, and is "
                        "followed by \"(\"");
        return fail(p, p->at, "write a product with *", "an operator is missing before \"%s\"", shown);
    }
    return true;
}

static bool parse_units(parser *p, size_t start) {
    size_t operand_end = p->at;
    char c = skip_space(p);
    lw_word w = peek_word(p);
    if (c != '(' && (w.length == 0 || lw_word_is(w, "and") || lw_word_is(w, "or"))) {
        p->at = operand_end;
        return check_operator_follows(p);
    }
    lw_units units;
    lw_units_result result = lw_units_read(p->text, p->at, p->names, &units);
    if (result == LW_UNITS_NONE) return check_operator_follows(p);
    if (result == LW_UNITS_CLASH) {
        size_t offset = units.trouble;
        p->at = offset;
        w = peek_word(p);
        char remedy[120];
        (void)snprintf(remedy, sizeof remedy,
                       "with parentheses, (5 N)/%.*s has the name and 5 (N/%.*s) the unit", LW_SHOW(w),
                       LW_SHOW(w));
        return fail(p, offset, remedy, "\"%.*s\" is a unit and a name here, so this can be read in two ways",
                    LW_SHOW(w));
    }
    if (result == LW_UNITS_BAD_EXPONENT) {
        return fail(p, units.trouble, "write (2 m)^x to raise the value with its unit",
                    "a unit's exponent must be a whole number from -9 to 9");
    }
    if (result == LW_UNITS_UNCLEAR) {
        return fail(p, units.trouble, "write N s/m or N/(m s)",
                    "a unit behind a quotient of units can be read in two ways");
    }

    size_t offset = p->at;
    p->units_start = offset;
    p->at = p->units_end = units.end;
    lw_instruction *operand = &p->code[start];
    bool constant = p->length == start + 1 && operand->op == LW_OP_CONSTANT;
    double value = (constant ? operand->value : 1) * units.numerator / units.denominator;
    if (!isfinite(value)) {
        return fail(p, offset, "numbers reach to 1.8e308", "the value in SI units is too large");
    }
    lw_meaning *measure = &p->measures[p->height - 1], unit = lw_units_meaning(&units);
    if (constant) {
        operand->value = value;
        if (measure->kind <= LW_MEANING_RATIO) {
            *measure = unit;
        } else {
            *measure = lw_meaning_product(measure, &unit, 1);
        }
    } else if (!push_constant(p, value, unit, offset) || !emit(p, LW_OP_MULTIPLY, offset)) {
        return false;
    }
    return check_operator_follows(p);
}

/* --- operators ------------------------------------------------------------------------------------ */

static bool parse_operand(parser *p, int level) {
    char c = skip_space(p);
    size_t offset = p->at, start = p->length;
    if (c == '-' || c == '+') {
        p->at++;
        return parse_level(p, SIGN) && (c == '+' || emit(p, LW_OP_NEGATE, offset));
    }
    lw_word w = peek_word(p);
    if (lw_word_is(w, "not")) {
        if (level > NOT)
            return fail(p, offset, "write (not ...)", "\"not\" behind an operator needs parentheses");
        p->at += w.length;
        return parse_level(p, NOT) && emit(p, LW_OP_NOT, offset);
    }
    return parse_primary(p) && parse_units(p, start);
}

static const struct operator* peek_operator(parser *p) {
    skip_space(p);
    lw_word w = peek_word(p);
    for (size_t i = 0; i < OPERATORS; i++) {
        const char *text = operators[i].text;
        if (w.length > 0 ? lw_word_is(w, text) : strncmp(p->text + p->at, text, strlen(text)) == 0)
            return &operators[i];
    }
    return NULL;
}

/* The end of the operand that was just read, without the white space behind it. */
static size_t last_end(const parser *p) {
    size_t end = p->at;
    while (end > 0 && strchr(" \t\r\n", p->text[end - 1])) end--;
    return end;
}

/* Parses an operand and all operators behind it that bind at least as strongly as level. */
static bool parse_level(parser *p, int level) {
    if (p->nesting >= NESTING) {
        return fail(p, p->at, "use fewer parentheses", "the expression is nested more than %d deep", NESTING);
    }
    p->nesting++;
    if (!parse_operand(p, level)) return false;

    bool compared = false;
    for (;;) {
        const struct operator* o = peek_operator(p);
        if (!o || o->level < level) break;
        size_t offset = p->at;
        bool left_units = p->units_end == last_end(p);
        if (o->level == COMPARISON && compared) {
            return fail(p, offset, "write a < b and b < c", "comparisons cannot be chained");
        }
        if (o->level == POWER && left_units) {
            return fail(p, offset, "write (2 m^2)^3", "a power of a value with a unit needs parentheses");
        }
        p->at += strlen(o->text);
        if (!parse_level(p, o->level == POWER ? SIGN : o->level + 1)) return false;

        bool right_units = p->units_end == last_end(p);
        if (o->level == POWER && right_units) {
            return fail(p, p->units_start, "write (2^3) mm, or 2^(3 mm) if you mean that",
                        "a unit behind a power can be read in two ways");
        }
        if (o->op == LW_OP_DIVIDE && right_units && !left_units) {
            return fail(p, p->units_start, "write (1/2) mm or 1/(2 mm)",
                        "a quotient with a unit behind it can be read in two ways");
        }
        if (!emit(p, o->op, offset)) return false;
        compared = o->level == COMPARISON;
    }
    p->nesting--;
    return true;
}

size_t lw_expression_compile(const char *text, const lw_expression_names *names, lw_instruction *code,
                             lw_meaning *measure, lw_syntax *syntax) {
    lw_meaning measures[LW_MACHINE_STACK + 1];
    parser p = {.text = text ? text : "",
                .names = names,
                .code = code,
                .measures = measures,
                .units_end = (size_t)-1,
                .syntax = syntax};

    if (skip_space(&p) == '\0') {
        (void)fail(&p, 0, "write a number or a formula, e.g. 0.5*sin(2*pi*t)", "the expression is empty");
        return 0;
    }
    if (names->variable_count > LW_MAX_VARIABLES) {
        (void)fail(&p, 0, "use fewer", "an expression can have at most %d variables", LW_MAX_VARIABLES);
        return 0;
    }
    if (!parse_level(&p, OR)) return 0;
    if (skip_space(&p) != '\0') {
        (void)fail_unexpected(&p, false);
        return 0;
    }
    if (measure) *measure = measures[0];
    return p.length;
}
