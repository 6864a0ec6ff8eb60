/* report.c - an ordered list of faults.
 *
 * It grows by doubling up to MOST_FAULTS. What comes after that, or finds no memory, is not kept; instead a
 * last entry, which lives in the report itself, says so. That entry is an error as soon as one of the faults
 * it stands for is, so that a faulty model never passes for a good one.
 */
#include "core/core.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FAULTS = 1000, FIRST_CAPACITY = 8 };

struct lw_report {
    lw_error *faults;
    size_t count, capacity;
    size_t errors; /* among the faults kept */
    bool has_last;
    lw_error last;
};

lw_report *lw_report_create(void) { return calloc(1, sizeof(lw_report)); }

void lw_report_destroy(lw_report *report) {
    if (!report) return;
    free(report->faults);
    free(report);
}

size_t lw_report_size(const lw_report *report) {
    return report ? report->count + (report->has_last ? 1 : 0) : 0;
}

size_t lw_report_errors(const lw_report *report) {
    if (!report) return 0;
    return report->errors + (report->has_last && report->last.severity == LW_SEVERITY_ERROR ? 1 : 0);
}

const lw_error *lw_report_get(const lw_report *report, size_t index) {
    if (index >= lw_report_size(report)) return NULL;
    return index < report->count ? &report->faults[index] : &report->last;
}

static bool make_room(lw_report *report) {
    if (report->count < report->capacity) return true;
    size_t capacity = report->capacity ? 2 * report->capacity : FIRST_CAPACITY;
    if (capacity > MOST_FAULTS) capacity = MOST_FAULTS;
    lw_error *faults = realloc(report->faults, capacity * sizeof *faults);
    if (!faults) return false;
    report->faults = faults;
    report->capacity = capacity;
    return true;
}

/* Lets the last entry stand for a fault that is not kept. */
static void stand_for(lw_report *report, const lw_error *error, lw_status status) {
    lw_severity severity = error->severity;
    if (report->has_last) {
        if (severity == LW_SEVERITY_ERROR) report->last.severity = severity;
        return;
    }
    if (status == LW_ERROR_MEMORY) {
        (void)lw_fail(&report->last, status, NULL, "free some memory and try again",
                      "memory is out after %zu faults; further ones are not listed", report->count);
    } else {
        (void)lw_fail(&report->last, status, NULL, "mend these first and look again",
                      "there are more than %d faults; further ones are not listed", MOST_FAULTS);
    }
    report->last.severity = severity;
    memcpy(report->last.file, error->file, sizeof report->last.file);
    report->has_last = true;
}

lw_status lw_report_add(lw_report *report, const lw_error *error) {
    if (!error) return LW_ERROR_ARGUMENT;
    if (!report) return LW_OK;
    if (report->has_last || report->count == MOST_FAULTS) {
        stand_for(report, error, LW_ERROR_MODEL);
        return LW_OK;
    }
    if (!make_room(report)) {
        stand_for(report, error, LW_ERROR_MEMORY);
        return LW_ERROR_MEMORY;
    }
    report->faults[report->count++] = *error;
    if (error->severity == LW_SEVERITY_ERROR) report->errors++;
    return LW_OK;
}
