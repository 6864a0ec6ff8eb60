/* cmd_manual.c - linkwork manual: a page of the manual, for man, made of the tables that the program itself
 * uses.
 *
 * The pages are linkwork(1) and linkwork-COMMAND(1), in the macros of man(7); an installation has them as
 * files.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

/* Prints a text as troff takes it: nothing in it is a request, hyphens can be copied to a shell. A line that
 * begins with a space is part of a table and stays a line. */
static void print_text(const char *text) {
    bool first = true; /* in a line */
    for (const char *at = text; *at; at++) {
        if (first && *at == ' ') fputs(".br\n", stdout);
        if (first && (*at == '.' || *at == '\'')) fputs("\\&", stdout);
        if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else if (*at != '\n' || !first) /* An empty line would be one in print, too. */
            putchar(*at);
        first = *at == '\n';
    }
    if (!first) putchar('\n');
}

static void print_head(const char *name, const char *summary) {
    char upper[64];
    size_t k = 0;
    for (; name[k] && k + 1 < sizeof upper; k++)
        upper[k] = (char)(name[k] >= 'a' && name[k] <= 'z' ? name[k] - 'a' + 'A' : name[k]);
    upper[k] = '\0';
    printf(".TH \"%s\" 1 \"\" \"linkwork %s\" \"Linkwork\"\n.SH NAME\n", upper, LW_VERSION);
    for (const char *at = name; *at; at++) fputs(*at == '-' ? "\\-" : (char[]){*at, '\0'}, stdout);
    fputs(" \\- ", stdout);
    print_text(summary);
}

static void print_option(const cli_option *option) {
    printf(".TP\n\\fB\\-\\-");
    for (const char *at = option->name; *at; at++) fputs(*at == '-' ? "\\-" : (char[]){*at, '\0'}, stdout);
    printf("\\fR");
    if (option->argument) printf(" \\fI%s\\fR", option->argument);
    printf("\n");
    print_text(option->help);
    if (option->list) printf("May be repeated.\n");
    if (option->example) {
        printf(".br\nExample: ");
        print_text(option->example);
    }
}

static void print_status(void) {
    printf(".SH EXIT STATUS\n0 done, 1 the work failed, 2 the call or the model is wrong, 130 stopped by "
           "Ctrl\\-C.\n");
}

static void print_command(const cli_command *command) {
    cli_table table;
    char name[64];
    cli_options_of(command, NULL, &table);
    snprintf(name, sizeof name, "linkwork-%s", command->name);
    print_head(name, command->summary);
    printf(".SH SYNOPSIS\n\\fBlinkwork %s\\fR ", command->name);
    print_text(command->arguments);
    if (command->details[0]) {
        printf(".SH DESCRIPTION\n");
        print_text(command->details);
    }
    printf(".SH OPTIONS\n");
    for (int k = 0; k < table.count; k++) print_option(&table.options[k]);
    printf(".TP\n\\fB\\-\\-help\\fR\nThe options in short.\n");
    for (int f = 0; command->forms && command->forms[f]; f++) {
        printf(".SS Options of linkwork %s %s\n", command->name, command->forms[f]);
        cli_options_of(command, command->forms[f], &table);
        for (int k = 0; k < table.count; k++) print_option(&table.options[k]);
    }
    print_status();
    printf(".SH SEE ALSO\n\\fBlinkwork\\fR(1), \\fBlinkwork\\-model\\fR(5)\n");
}

static void print_program(void) {
    print_head("linkwork", "simulates mechanisms: bodies, joints, springs, motors, closed loops");
    printf(
        ".SH SYNOPSIS\n\\fBlinkwork\\fR \\fICOMMAND\\fR \\fIMODEL\\fR [\\fIoptions\\fR]\n.SH DESCRIPTION\n");
    printf(
        "A model is a file as in \\fBlinkwork\\-model\\fR(5), a robot in URDF, SDF or MJCF, an assembly from "
        "CAD, a results file, which carries its model, or \\- for standard input.\n.SH COMMANDS\n");
    for (int k = 0; cli_command_at(k); k++) {
        const cli_command *command = cli_command_at(k);
        printf(".TP\n\\fBlinkwork\\-%s\\fR(1)\n", command->name);
        print_text(command->summary);
    }
    print_status();
    printf(".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nIf it is set and not empty, nothing is printed in "
           "colour.\n");
    printf(".SH SEE ALSO\n\\fBlinkwork\\-model\\fR(5)\n");
}

static int manual(const cli_command *command, int argc, char **argv) {
    bool list = false;
    const cli_option options[] = {
        {"list", NULL, "print the names of the pages instead", NULL, .flag = &list},
    };
    cli_list rest = {.count = 0};
    switch (cli_parse(command, options, sizeof options / sizeof options[0], argc, argv, &rest, 1)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    if (list) {
        printf("linkwork\n");
        for (int k = 0; cli_command_at(k); k++) printf("linkwork-%s\n", cli_command_at(k)->name);
        return CLI_DONE;
    }
    if (rest.count == 0) {
        print_program();
        return CLI_DONE;
    }
    const char *name = strncmp(rest.items[0], "linkwork-", 9) == 0 ? rest.items[0] + 9 : rest.items[0];
    for (int k = 0; cli_command_at(k); k++)
        if (strcmp(cli_command_at(k)->name, name) == 0) {
            print_command(cli_command_at(k));
            return CLI_DONE;
        }
    return cli_say(command, CLI_WRONG, "there is no page \"%s\"; linkwork manual --list names them", name);
}

const cli_command cli_manual = {
    "manual",
    "[COMMAND] [--list]",
    "print a page of the manual, for man",
    "linkwork manual run | man -l - shows it. An installation has the pages where man finds them.",
    manual,
    NULL};
