/* options.c - the option parser.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 63 };

static cli_table *asked_for; /* Who asks for the options of a command instead of its work. */

static void print_help(const cli_command *command, const cli_option *options, int option_count) {
    printf("linkwork %s %s\n%s\n\n", command->name, command->arguments, command->summary);
    for (int i = 0; i < option_count; i++) {
        const cli_option *o = &options[i];
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        printf("  %-22s %s\n", left, o->help);
    }
    printf("  %-22s %s\n", "--help", "print this");
    if (command->details[0]) printf("\n%s\n", command->details);
}

static cli_parsed unknown_option(const cli_command *command, const cli_option *options, int option_count,
                                 const char *word) {
    const char *names[CLI_OPTION_MAX];
    int count = 0;
    for (int i = 0; i < option_count && count < CLI_OPTION_MAX; i++) names[count++] = options[i].name;
    char name[WORD_MAX + 1];
    const char *start = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(start, "="), start);
    const char *close = lw_closest(name, names, (size_t)count);
    if (close)
        cli_say(command, CLI_WRONG, "there is no option \"%s\"; did you mean --%s?", word, close);
    else
        cli_say(command, CLI_WRONG, "there is no option \"%s\"; linkwork %s --help lists them", word,
                command->name);
    return CLI_MISTAKEN;
}

static cli_parsed set_number(const cli_command *command, const cli_option *option, const char *value) {
    double number;
    lw_error error = {0};
    if (lw_read_number(value, option->unit, &number, &error) != LW_OK) {
        cli_say(command, CLI_WRONG, "--%s: %s; %s", option->name, error.message, error.remedy);
        return CLI_MISTAKEN;
    }
    if (!(number > 0) && !option->any_sign) {
        cli_say(command, CLI_WRONG, "--%s: %s is not greater than zero; give e.g. --%s %s", option->name,
                value, option->name, option->example);
        return CLI_MISTAKEN;
    }
    *option->number = number;
    return CLI_PARSED;
}

/* Handles the option at argv[*at], and moves *at to its last argument. */
static cli_parsed take_option(const cli_command *command, const cli_option *options, int option_count,
                              int argc, char **argv, int *at) {
    const char *word = argv[*at], *name = word + (word[1] == '-' ? 2 : 1), *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = NULL;
    if (strncmp(word, "--", 2) == 0)
        for (int i = 0; i < option_count && !option; i++)
            if (strlen(options[i].name) == length && strncmp(options[i].name, name, length) == 0)
                option = &options[i];
    if (!option) return unknown_option(command, options, option_count, word);

    if (option->flag) {
        if (equals) {
            cli_say(command, CLI_WRONG, "--%s takes no value, \"%s\" gives one; write --%s", option->name,
                    word, option->name);
            return CLI_MISTAKEN;
        }
        *option->flag = true;
        return CLI_PARSED;
    }
    const char *value = equals ? equals + 1 : *at + 1 < argc ? argv[++*at] : "";
    if (!*value) {
        cli_say(command, CLI_WRONG, "--%s has no value; give e.g. --%s %s", option->name, option->name,
                option->example);
        return CLI_MISTAKEN;
    }
    if (option->number) return set_number(command, option, value);
    if (option->text) {
        *option->text = value;
        return CLI_PARSED;
    }
    if (option->list->count == CLI_LIST_MAX) {
        cli_say(command, CLI_WRONG, "--%s is given more than %d times", option->name, CLI_LIST_MAX);
        return CLI_MISTAKEN;
    }
    option->list->items[option->list->count++] = value;
    return CLI_PARSED;
}

cli_parsed cli_parse(const cli_command *command, const cli_option *options, int option_count, int argc,
                     char **argv, cli_list *rest, int rest_max) {
    if (asked_for) {
        asked_for->count = option_count < CLI_OPTION_MAX ? option_count : CLI_OPTION_MAX;
        if (option_count > 0) memcpy(asked_for->options, options, (size_t)asked_for->count * sizeof *options);
        return CLI_HELPED;
    }
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(command, options, option_count);
            return CLI_HELPED;
        }
    bool only_words = false; /* after "--" */
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1]) {
            cli_parsed parsed = take_option(command, options, option_count, argc, argv, &i);
            if (parsed != CLI_PARSED) return parsed;
        } else if (rest->count == rest_max) {
            cli_say(command, CLI_WRONG, "\"%s\" is one argument too many; the call is linkwork %s %s", word,
                    command->name, command->arguments);
            return CLI_MISTAKEN;
        } else {
            rest->items[rest->count++] = word;
        }
    }
    return CLI_PARSED;
}

void cli_options_of(const cli_command *command, const char *form, cli_table *table) {
    char help[] = "--help", first[16];
    snprintf(first, sizeof first, "%s", form ? form : help);
    char *arguments[] = {first, help};
    table->count = 0;
    asked_for = table;
    (void)command->run(command, form ? 2 : 1, arguments);
    asked_for = NULL;
}
