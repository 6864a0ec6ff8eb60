/* compare.h - every method on one model: do they agree, how long do they take, how well do they keep loops
 * closed.
 */
#ifndef LINKWORK_COMPARE_H
#define LINKWORK_COMPARE_H

#include <linkwork/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_compare_options {
    const char *const *methods; /* only these, in the order of the registry; NULL: all */
    int method_count;
    bool no_run;        /* the initial state only */
    bool no_reactions;  /* accelerations only: uniqueness of reactions is dear where bodies are many */
    lw_run_options run; /* the run that every method makes: integrator, drift, start, end, step, tolerance */
    double timing;      /* processor time spent on timing one method, s; 0: 0.3 */
    double patience;    /* a method's run is given up after this long, s; 0: 5 */
    /* Told before each piece of work; returning false stops. May be NULL. */
    bool (*observe)(const char *method, const char *work, void *context);
    void *context;
} lw_compare_options;

typedef enum lw_verdict {
    LW_VERDICT_REFUSED,     /* the method does not apply: reason */
    LW_VERDICT_FAILED,      /* it applies, and its answer for a state does not balance: reason */
    LW_VERDICT_AGREES,      /* within what is allowed */
    LW_VERDICT_APPROXIMATE, /* it is approximate by nature, and is not judged */
    LW_VERDICT_DIFFERS,     /* an exact method that differs by more than is allowed: reason */
    LW_VERDICT_DECLINED     /* it applies, and has told for a state why it gives no answer: reason */
} lw_verdict;

/* One of the schemes by which method partition computes the forces that hold loops together (blajer1994). */
typedef struct lw_scheme_comparison {
    const char *name; /* "(38)": the paper's number */
    double
        ns; /* of one computation beyond the accelerations, processor time, median; NaN: it has no answer */
    double
        /* of unique components of reactions, against the first scheme, relative to the largest */
        max_rel_diff;
} lw_scheme_comparison;
#define LW_SCHEMES_MAX 3

/* What there is about one method; a number that was not measured is NaN. */
typedef struct lw_comparison {
    const char *method;
    lw_verdict verdict;
    bool reference;    /* the others are compared with it: an exact method whose answers balance */
    double accuracy;   /* 0: exact; otherwise the relative error to be expected */
    char reason[1024]; /* a sentence; "" if there is nothing to say */

    /* Over all states: largest difference of accelerations and of the unique components of reactions,
     * relative to the largest of the state, and how much of it rounding may explain. */
    int states;
    double max_rel_diff, reaction_diff,
        allowed;        /* NaN for methods without accelerations of their own: reason */
    double balance;     /* the largest amount that the balance check has found */
    double condition;   /* of the matrix solved, the largest; NaN if the method solves none */
    double ns_per_call; /* accelerations of a state, processor time of all threads, median */
    double setup_s;     /* creating the method */

    /* The run. */
    /* LW_OK: it came to its end; LW_ERROR_STOPPED: given up; LW_ERROR_SINGULAR, LW_ERROR_UNSUPPORTED: the
     * method has told why it does not go on, which is no wrong number; else it failed. All but LW_OK:
     * run_reason. */
    lw_status run_status;
    bool
        /* the others' runs are compared with it: an exact method, whose run came to its end without doubts */
        guide;
    char run_reason[1024];
    lw_run_summary run;
    double final_diff;    /* poses of bodies at the end, against those of the guide ... */
    double final_allowed; /* ... and how much of that the tolerance may explain */

    int scheme_count; /* method partition on models with loops or constraints; else 0 */
    lw_scheme_comparison schemes[LW_SCHEMES_MAX];
} lw_comparison;

/* The model's suggestions for the run, at most 1 s of it. */
LW_API void lw_compare_defaults(const lw_model *model, lw_compare_options *options);

/* Has the method given a wrong number, or failed in its run? A method that declines, or ends its run with a
 * reason of its own, has not; nor one whose run was given up. */
LW_API bool lw_comparison_wrong(const lw_comparison *comparison);

/* Compares methods on the assembled initial state, on states along the run of the reference, and on the run
 * itself. results has room for lw_method_count(); *count says how many there are. Differences and failures of
 * methods are told in the results; the status tells of the call: names and numbers among the options, a
 * mechanism that cannot be assembled. Times count the processor time of the whole process: let no other
 * thread work meanwhile. */
LW_API lw_status lw_compare(const lw_model *model, const lw_compare_options *options, lw_comparison *results,
                            int *count, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
