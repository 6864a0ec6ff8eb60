/* commands.c - the commands of the program: finds the one that is called, runs it, returns its exit status.
 */
#include "cli.h"
#include "progress.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const cli_command *const commands[] = {
    &cli_run,       &cli_check,       &cli_info,        &cli_accel,     &cli_compare, &cli_reproduce,
    &cli_plot,      &cli_view,        &cli_equilibrium, &cli_linearise, &cli_modes,   &cli_inverse,
    &cli_frequency, &cli_sensitivity, &cli_sweep,       &cli_optimise,  &cli_import,  &cli_export,
    &cli_example,   &cli_gallery,     &cli_manual,      &cli_completion};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

const cli_command *cli_command_at(int index) {
    return index >= 0 && index < COMMANDS ? commands[index] : NULL;
}

int cli_exit_of(lw_status status) {
    switch (status) {
    case LW_OK:
        return CLI_DONE;
    case LW_ERROR_ARGUMENT:
    case LW_ERROR_MODEL:
    case LW_ERROR_UNSUPPORTED:
        return CLI_WRONG;
    default:
        return CLI_FAILED;
    }
}

int cli_fault(const cli_command *command, lw_status status, const lw_error *error) {
    char text[2048];
    lw_error_format(error, text, sizeof text);
    return cli_say(command, cli_exit_of(status), "%s", error->message[0] ? text : lw_status_text(status));
}

int cli_say(const cli_command *command, int status, const char *format, ...) {
    char text[4096], shown[4 * sizeof text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    lw_escape(text, shown, sizeof shown); /* It contains texts from arguments and files. */
    fprintf(stderr, "linkwork%s%s: %s\n", command ? " " : "", command ? command->name : "", shown);
    return status;
}

static void print_help(FILE *out) {
    fprintf(out, "linkwork %s - simulates mechanisms: bodies, joints, springs, motors, closed loops\n\n",
            LW_VERSION);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  linkwork %-11s %-32s %s\n", commands[i]->name, commands[i]->arguments,
                commands[i]->summary);
    fprintf(
        out,
        "\nlinkwork COMMAND --help tells a command's options; linkwork --version the version.\n"
        "Exit status: 0 done, 1 the work failed, 2 the call or the model is wrong, 130 stopped by Ctrl-C.\n"
        "MODEL may be - for standard input.\n");
}

static const cli_command *find_command(const char *name) {
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0) return commands[i];
    }
    const char *close = lw_closest(name, names, COMMANDS);
    if (close)
        cli_say(NULL, CLI_WRONG, "there is no command \"%s\"; did you mean linkwork %s?", name, close);
    else
        cli_say(NULL, CLI_WRONG, "there is no command \"%s\"; linkwork help lists them", name);
    return NULL;
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        print_help(stderr);
        return CLI_WRONG;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("linkwork %s\n", LW_VERSION);
        return CLI_DONE;
    }
    bool help = strcmp(word, "help") == 0;
    if ((help && argc == 2) || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(stdout);
        return CLI_DONE;
    }
    const cli_command *command = find_command(help ? argv[2] : word);
    if (!command) return CLI_WRONG;
    char *only_help[] = {"--help"};
    return help ? command->run(command, 1, only_help) : command->run(command, argc - 2, argv + 2);
}

int cli_main(int argc, char **argv) {
    int result = dispatch(argc, argv);
    if (result == CLI_FAILED && stop_wanted()) result = stop_status();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        cli_say(NULL, CLI_FAILED, "standard output could not be written: %s", strerror(errno));
        if (result == CLI_DONE) result = CLI_FAILED;
    }
    return result;
}
