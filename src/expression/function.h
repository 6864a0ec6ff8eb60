/* function.h - functions that a user writes: expressions and tables.
 *
 * An expression is compiled once against named constants (the parameters) and a list of variables, into a
 * short program for a stack machine; evaluating allocates nothing, needs no lock, and costs a few ns per
 * operation. With jets it carries the exact first and second derivatives with respect to one parameter that
 * all variables may depend on (time, in prescribed motions). Inputs are numbers that the caller may change
 * from one evaluation to the next.
 */
#ifndef LW_FUNCTION_H
#define LW_FUNCTION_H

#include "expression/expression_machine.h"
#include "expression/expression_types.h"
#include "expression/table.h"
#include "expression/time_knots.h"

typedef struct lw_function lw_function;

/* Compiles text (its language: expression.c); memory comes from the arena. Values of variables and inputs are
 * given later, in the order of their names. NULL on failure, with syntax (which may be NULL) filled.
 * Constants that overflow, divide by zero or are not numbers are failures. */
lw_function *lw_function_compile(lw_arena *arena, const char *text, const lw_expression_names *names,
                                 lw_syntax *syntax);
/* A table (table.h) of variable number 0, with straight lines beyond its ends: a program that looks it up,
 * with the conditions of its kinks. NULL if there are fewer than two points, x does not ascend, a value or
 * slope is not finite, or memory is out. */
lw_function *lw_function_table(lw_arena *arena, const double *x, const double *y, size_t count, bool smooth);

/* Its program of *length instructions. */
const lw_instruction *lw_function_program(const lw_function *function, size_t *length);

bool lw_function_uses(const lw_function *function, size_t variable);
/* Does it use the vector of values: inputs, user states, signals, quantities of the state? */
bool lw_function_uses_inputs(const lw_function *function);
/* Sets used[k] for each entry k of the vector of values that it uses. */
void lw_function_mark_inputs(const lw_function *function, bool *used);
/* The entries of the vector of values that it uses, each once and ascending; returns how many there are. */
size_t lw_function_inputs(const lw_function *function, const int **entries);
/* What it measures, as far as names and units said when it was compiled. */
lw_meaning lw_function_meaning(const lw_function *function);
/* Is it a truth value, 0 or 1: a comparison, or and, or, not? Otherwise, if it is nothing but an entry of the
 * vector of values, *entry receives that, else -1. */
bool lw_function_is_truth(const lw_function *function, int *entry);
bool lw_function_is_constant(const lw_function *function);
/* Does it hold something whose slope jumps (if, abs, sign, floor, ceil, mod, min, max, ramp, a comparison, a
 * table) where its first variable is within the range? */
bool lw_function_may_jump(const lw_function *function, const double range[2]);

/* Calls `found` for the knots that it has as a function of time, which is variable number `time`
 * (time_knots.h). */
void lw_function_knots(const lw_function *function, size_t time, lw_knot_found found, void *context);
/* The same for a function of which the first and second derivatives are used as well. */
void lw_function_motion_knots(const lw_function *function, size_t time, lw_knot_found found, void *context);

/* The first table in an expression whose slope is not continuous: between its ends, or where the first
 * variable is within the range; NULL if there is none. */
const lw_table *lw_function_rough_table(const lw_function *function, const double range[2]);

/* inputs may be NULL if the function uses none; they do not change along the curve of a jet. */
double lw_function_value(const lw_function *function, const double *variables, const double *inputs);
lw_jet lw_function_jet(const lw_function *function, const lw_jet *variables, const double *inputs);
/* The same where the values change along the curve, too. */
lw_jet lw_function_jet_along(const lw_function *function, const lw_jet *variables, const lw_jet *inputs);
/* Exact partial derivatives: slopes[k] with respect to the k-th entry that lw_function_inputs lists, and
 * (unless NULL) with respect to the first variable_count variables. Returns the value. */
double lw_function_gradient(const lw_function *function, const double *variables, const double *inputs,
                            double *slopes, double *variable_slopes, size_t variable_count);

/* Conditions in it, at which it may jump or have a kink: comparisons, sign, floor, ceil, mod, steps, abs,
 * min, max, ramp. Their outcomes can be held, so that it goes on smoothly where one would change. held: one
 * outcome per condition, NAN: not held; NULL: none is. Where it has no finite value with the outcomes held,
 * its value is that without. */
int lw_function_conditions(const lw_function *function);
/* May it jump, and not only have a kink, at one of them that depends on a variable? */
bool lw_function_jumps(const lw_function *function);
/* How its value varies, as lw_machine_degree says. */
int lw_function_degree(const lw_function *function, size_t time, const unsigned char *of_values,
                       int *of_operands);
double lw_function_value_held(const lw_function *function, const double *variables, const double *inputs,
                              const double *held);
lw_jet lw_function_jet_held(const lw_function *function, const lw_jet *variables, const double *inputs,
                            const double *held);
/* Outcomes at these variables, NAN of conditions that depend on one of the mask `without`, in which LW_KINKS
 * stands for those at which it does not jump. Returns how far it is to where the first of the outcomes held
 * changes, as a difference of its operands: negative where one has changed, HUGE_VAL where none can. */
double lw_function_look(const lw_function *function, const double *variables, const double *inputs,
                        unsigned without, const lw_look *at);

/* Integral of a function without inputs over variable 0 from a to b (others held at variables[1..]): for
 * potentials. Tables, and sums of their multiples, exactly, other expressions by adaptive Gauss-Kronrod to
 * 1e-13 of the integral of the magnitude; kinks and jumps cost time, and what is narrower than a few per cent
 * of the range and touches neither end may be overlooked. variables may be NULL if there is only variable
 * 0. */
double lw_function_integral(const lw_function *function, double a, double b, const double *variables);

/* A number from text such as "30 deg", "2*L", "1/3": for the model reader. false with syntax filled on
 * failure. */
bool lw_number(const char *text, const lw_constant *constants, size_t constant_count, double *value,
               lw_syntax *syntax);
/* The same, and what it measures. names: without variables; inputs in it are refused. */
bool lw_number_meaning(const char *text, const lw_expression_names *names, double *value, lw_meaning *measure,
                       lw_syntax *syntax);

#endif
