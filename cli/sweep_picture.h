/* sweep_picture.h - pictures of many runs: histograms, a matrix of points, a map of two parameters. */
#ifndef CLI_SWEEP_PICTURE_H
#define CLI_SWEEP_PICTURE_H

#include <linkwork/sweep.h>

#include <stdio.h>

/* Where a click on a point goes, into text; false: nowhere. May be NULL. */
typedef bool sweep_link(uint64_t run, char *text, size_t size, void *context);

/* Draws one picture of a measure, by its column: a histogram, its points over every variable, and if two of
 * them are numbers a map of both. standalone: with the head of an SVG file. */
void sweep_picture(FILE *file, const lw_sweep_table *table, int measure, sweep_link *link, void *context);
/* The matrix of all columns that are numbers, at most eight, each against each. */
void sweep_matrix(FILE *file, const lw_sweep_table *table, sweep_link *link, void *context);
/* All of it one below the other, as an SVG file. */
void sweep_picture_file(FILE *file, const lw_sweep_table *table);

#endif
