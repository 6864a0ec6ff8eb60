/* cmd_completion.c - linkwork completion: the words that can stand next on a command line, for shells.
 *
 * The scripts that shells load ask the program itself, linkwork completion -- WORDS..., so that they never
 * know another version than the one that is called: commands, options, values of options, and the names that
 * the model on the line has. Each candidate is a line, WORD or WORD<tab>DESCRIPTION. Where nothing is printed
 * the shell completes names of files.
 */
#include "options.h"

#include <linkwork/import.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- candidates ------------------------------------------------------------------------------------ */

/* A word that is being completed: what is on the line before it, and the model there. */
typedef struct line {
    const char *word; /* as far as it is typed */
    const char *const *words;
    int count; /* of those before it, without the program's name */
    const cli_command *command;
    cli_table table;
    lw_spec *spec; /* NULL: none is named yet, or it is faulty */
} line;

static bool begins_with(const char *text, const char *start) {
    return strncmp(text, start, strlen(start)) == 0;
}

/* Prints a candidate if it begins with what is typed. Names that a shell would split are left out. */
static void offer(const line *l, const char *before, const char *word, const char *after, const char *what) {
    char text[256];
    if (!word || strpbrk(word, " \t\n'\"\\$`")) return;
    snprintf(text, sizeof text, "%s%s%s", before, word, after);
    if (!begins_with(text, l->word)) return;
    printf("%s%s%s\n", text, what ? "\t" : "", what ? what : "");
}

static void offer_all(const line *l, const char *const *words) {
    for (int k = 0; words[k]; k++) offer(l, "", words[k], "", NULL);
}

/* What is typed of the last entry in a list with commas goes on behind the last comma. */
static void list_start(const line *l, char *before, size_t size) {
    const char *comma = strrchr(l->word, ',');
    snprintf(before, size, "%.*s", comma ? (int)(comma - l->word) + 1 : 0, l->word);
}

static void offer_methods(const line *l) {
    char before[200];
    list_start(l, before, sizeof before);
    offer(l, before, "auto", "", "the fastest that serves");
    for (int k = 0; k < lw_method_count(); k++) {
        const lw_method_info method = lw_method_at(k);
        offer(l, before, method.name, "", method.source);
    }
}

static void offer_integrators(const line *l) {
    offer(l, "", "auto", "", "erk, and bdf where the model is stiff");
    for (int k = 0; k < lw_integrator_count(); k++)
        offer(l, "", lw_integrator_name(k), "", lw_integrator_summary(k));
}

static void offer_joints(const line *l, const char *before, const char *after) {
    for (size_t k = 0; l->spec && k < lw_spec_joint_count(l->spec); k++)
        offer(l, before, lw_spec_joint(l->spec, k)->name, after,
              lw_joint_type_name(lw_spec_joint(l->spec, k)->type));
}

/* Quantities of results: words, and those of each joint, body and force. */
static void offer_record(const line *l) {
    static const char *const words[] = {
        "joint",        "coordinates", "speeds",   "accelerations", "reaction", "drive",
        "body",         "position",    "rotation", "cardan",        "pose",     "velocity",
        "acceleration", "com",         "momentum", "force",         "ledger",   "violation",
        "state",        "input",       "output",   "parameter",     NULL};
    char before[200], start[240];
    list_start(l, before, sizeof before);
    for (int k = 0; words[k]; k++) offer(l, before, words[k], "", NULL);
    snprintf(start, sizeof start, "%sreaction(", before);
    offer_joints(l, start, ")");
    offer_joints(l, before, ".q");
    snprintf(start, sizeof start, "%scom(", before);
    for (size_t k = 0; l->spec && k < lw_spec_body_count(l->spec); k++)
        offer(l, start, lw_spec_body(l->spec, k)->name, ")", NULL);
    snprintf(start, sizeof start, "%sforce(", before);
    for (size_t k = 0; l->spec && k < lw_spec_force_count(l->spec); k++)
        offer(l, start, lw_spec_force(l->spec, k)->name, ")", NULL);
}

static void offer_starts(const line *l) {
    for (size_t k = 0; l->spec && k < lw_spec_start_count(l->spec); k++) {
        const char *name = lw_spec_start(l->spec, k)->name;
        bool first = true;
        for (size_t i = 0; i < k; i++) first = first && strcmp(lw_spec_start(l->spec, i)->name, name) != 0;
        if (first) offer(l, "", name, "", NULL);
    }
}

/* Parameters and inputs, which are known of a compiled model. */
static void offer_settings(const line *l, bool inputs) {
    lw_model *model = NULL;
    if (!l->spec || lw_model_compile(l->spec, NULL, NULL, &model) != LW_OK) return;
    for (int k = 0; k < lw_model_parameter_count(model) && !inputs; k++)
        offer(l, "", lw_model_parameter_name(model, k), "=", NULL);
    for (int k = 0; k < lw_model_input_count(model); k++)
        offer(l, "", lw_model_input_name(model, k), "=", NULL);
    lw_model_destroy(model);
}

/* The values of an option: nothing where files are meant, or what cannot be known. */
static void offer_values(const line *l, const cli_option *option) {
    static const char *const drifts[] = {"project", "baumgarte", "none", "closed", NULL};
    static const char *const designs[] = {"random", "latin", "sobol", NULL};
    static const char *const bases[] = {"fixed", "free", NULL}, *const loops[] = {"as-written", "joints",
                                                                                  NULL};
    static const char *const schemes[] = {"35", "37", "38", NULL};
    const char *name = option->name;
    if (strcmp(name, "method") == 0 || strcmp(name, "methods") == 0) offer_methods(l);
    if (strcmp(name, "integrator") == 0) offer_integrators(l);
    if (strcmp(name, "drift") == 0) offer_all(l, drifts);
    if (strcmp(name, "design") == 0) offer_all(l, designs);
    if (strcmp(name, "base") == 0) offer_all(l, bases);
    if (strcmp(name, "loops") == 0) offer_all(l, loops);
    if (strcmp(name, "reactions") == 0) offer_all(l, schemes);
    if (strcmp(name, "begin") == 0) offer_starts(l);
    if (strcmp(name, "set") == 0) offer_settings(l, false);
    if (strcmp(name, "input") == 0) offer_settings(l, true);
    if (strcmp(name, "record") == 0) offer_record(l);
    if (strcmp(name, "independent") == 0 || strcmp(name, "sweep") == 0 || strcmp(name, "drive") == 0) {
        char before[200];
        list_start(l, before, sizeof before);
        offer_joints(l, before, "");
    }
}

/* --- the line -------------------------------------------------------------------------------------- */

/* The option of this word, which may have its value behind '='. */
static const cli_option *option_of(const line *l, const char *word) {
    if (!begins_with(word, "--")) return NULL;
    for (int k = 0; k < l->table.count; k++)
        if (strcmp(l->table.options[k].name, word + 2) == 0) return &l->table.options[k];
    return NULL;
}

/* Reads the first word that is neither an option nor its value: the model, if it is one. */
static void read_model(line *l) {
    for (int k = 1; k < l->count; k++) {
        const char *word = l->words[k];
        const cli_option *option = option_of(l, word);
        if (option) {
            k += !option->flag;
            continue;
        }
        if (word[0] == '-') continue;
        lw_import_options options;
        lw_import_defaults(&options);
        (void)lw_import(word, &options, NULL, &l->spec);
        return;
    }
}

static void complete(line *l) {
    if (l->count == 0 || (l->count == 1 && strcmp(l->words[0], "help") == 0)) {
        for (int k = 0; cli_command_at(k); k++)
            offer(l, "", cli_command_at(k)->name, "", cli_command_at(k)->summary);
        if (l->count == 0) offer(l, "", "help", "", "a command's options");
        return;
    }
    for (int k = 0; cli_command_at(k); k++)
        if (strcmp(cli_command_at(k)->name, l->words[0]) == 0) l->command = cli_command_at(k);
    if (!l->command) return;
    const char *form = NULL;
    for (int k = 0; l->command->forms && l->command->forms[k]; k++) {
        if (l->count == 1) offer(l, "", l->command->forms[k], "", NULL);
        if (l->count > 1 && strcmp(l->words[1], l->command->forms[k]) == 0) form = l->command->forms[k];
    }
    cli_options_of(l->command, form, &l->table);
    /* bash makes words of their own of what stands before and behind '='. */
    const bool equals = l->count > 2 && strcmp(l->words[l->count - 1], "=") == 0;
    if (strcmp(l->word, "=") == 0) l->word = "";
    const cli_option *option = option_of(l, l->words[l->count - 1 - equals]);
    if (option && !option->flag) {
        read_model(l);
        offer_values(l, option);
    } else if (l->word[0] == '-') {
        for (int k = 0; k < l->table.count; k++)
            offer(l, "--", l->table.options[k].name, "", l->table.options[k].help);
        offer(l, "--", "help", "", "the options in short");
    } else if (strcmp(l->command->name, "manual") == 0)
        for (int k = 0; cli_command_at(k); k++)
            offer(l, "", cli_command_at(k)->name, "", cli_command_at(k)->summary);
    lw_spec_destroy(l->spec);
}

/* --- scripts --------------------------------------------------------------------------------------- */

static const struct {
    const char *shell, *script;
} scripts[] = {
    {"bash",
     "_linkwork() {\n"
     "    local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]}\n"
     "    COMPREPLY=($(linkwork completion -- \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null | cut -f1))\n"
     "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
     "    return 0\n"
     "}\n"
     "complete -o default -F _linkwork linkwork\n"},
    {"zsh", "#compdef linkwork\n"
            "_linkwork() {\n"
            "    local -a found\n"
            "    local line\n"
            "    while IFS= read -r line; do\n"
            "        found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
            "    done < <(linkwork completion -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
            "    if (( ${#found} )); then _describe linkwork found; else _files; fi\n"
            "}\n"
            "if [[ $funcstack[1] == _linkwork ]]; then _linkwork; else compdef _linkwork linkwork; fi\n"},
    {"fish", "complete -c linkwork -a '(linkwork completion -- (commandline -opc)[2..] (commandline -ct) "
             "2>/dev/null)'\n"},
};
enum { SCRIPTS = sizeof scripts / sizeof scripts[0] };

static int completion(const cli_command *command, int argc, char **argv) {
    if (argc > 0 && strcmp(argv[0], "--") == 0) {
        line l = {.word = argc > 1 ? argv[argc - 1] : "",
                  .words = (const char *const *)argv + 1,
                  .count = argc > 2 ? argc - 2 : 0};
        complete(&l);
        return CLI_DONE;
    }
    cli_list rest = {.count = 0};
    switch (cli_parse(command, NULL, 0, argc, argv, &rest, 1)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_MISTAKEN:
        return CLI_WRONG;
    case CLI_PARSED:
        break;
    }
    for (int k = 0; k < SCRIPTS && rest.count > 0; k++)
        if (strcmp(scripts[k].shell, rest.items[0]) == 0) {
            fputs(scripts[k].script, stdout);
            return CLI_DONE;
        }
    return cli_say(command, CLI_WRONG, "%s%s%s; give bash, zsh or fish",
                   rest.count ? "there is no script for \"" : "no shell given",
                   rest.count ? rest.items[0] : "", rest.count ? "\"" : "");
}

const cli_command cli_completion = {
    "completion",
    "bash | zsh | fish",
    "print a script that lets a shell complete what is typed",
    "bash: source <(linkwork completion bash)    zsh: source <(linkwork completion zsh)\n"
    "fish: linkwork completion fish | source     An installation has the scripts where shells find them.",
    completion,
    NULL};
