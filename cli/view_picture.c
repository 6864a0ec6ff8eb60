/* view_picture.c - a picture of a page: starts a headless Chromium or Chrome that is on the PATH.
 *
 * The browser gets a fresh folder for its profile, which is removed afterwards, and no network. As root it
 * runs without its sandbox, which it would refuse otherwise.
 */
#define _XOPEN_SOURCE 700
#include "view_picture.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { PATIENCE = 90 /* s */ };
static const char *const browsers[] = {"chromium", "chromium-browser", "google-chrome",
                                       "google-chrome-stable"};
enum { BROWSERS = sizeof browsers / sizeof *browsers };

static bool read_size(const char *text, int *width, int *height) {
    char end;
    return sscanf(text, "%dx%d%c", width, height, &end) == 2 && *width >= 64 && *height >= 64 &&
           *width <= 8192 && *height <= 8192;
}

int view_picture_check(const cli_command *command, const char *text, const char *size) {
    double t;
    int width, height;
    lw_error error = {0};
    if (lw_read_number(text, "s", &t, &error) != LW_OK)
        return cli_say(command, CLI_WRONG, "--png: \"%s\" is not a time: %s; give e.g. --png 0.5", text,
                       error.message);
    if (size && !read_size(size, &width, &height))
        return cli_say(
            command, CLI_WRONG,
            "--size: \"%s\" is not width x height in pixels, each from 64 to 8192; give e.g. --size "
            "1280x800",
            size);
    return CLI_DONE;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk) {
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

/* Waits for a process, at most PATIENCE seconds; then it is killed. Returns whether it ended well. */
static bool wait_for(pid_t process) {
    int status;
    for (int k = 0; k < 20 * PATIENCE; k++) {
        pid_t done = waitpid(process, &status, WNOHANG);
        if (done == process) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (done < 0 && errno != EINTR) return false;
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    kill(process, SIGKILL);
    (void)waitpid(process, &status, 0);
    return false;
}

/* Starts the first browser that is there, with its output thrown away; -1 if none is. */
static pid_t start(char *const arguments[], char **name) {
    posix_spawn_file_actions_t actions;
    pid_t process = -1;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    bool started = false;
    for (int k = 0; k < BROWSERS && !started; k++) {
        *name = (char *)browsers[k];
        started = posix_spawnp(&process, browsers[k], &actions, NULL, arguments, environ) == 0;
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return started ? process : -1;
}

/* The address of a file, with the characters that mean something in one spelt out. */
static bool address_of(const char *path, double t, char *address, size_t size) {
    char *full = realpath(path, NULL);
    if (!full) return false;
    size_t used = (size_t)snprintf(address, size, "file://");
    for (const char *c = full; *c && used + 4 < size; c++)
        used += (size_t)snprintf(address + used, size - used, strchr("%#? \"", *c) ? "%%%02X" : "%c",
                                 (unsigned char)*c);
    free(full);
    return (size_t)snprintf(address + used, size - used, "#t=%.9g&picture=1", t) < size - used;
}

int view_picture(const cli_command *command, const char *page, const char *text, const char *size,
                 bool quiet) {
    double t = 0;
    int width = 1280, height = 800;
    lw_error error = {0};
    (void)lw_read_number(text, "s", &t, &error);
    if (size) (void)read_size(size, &width, &height);
    char picture[4096], address[3 * 4096], profile[] = "/tmp/linkwork-view-XXXXXX", at[sizeof profile + 32],
                                           window[64], shot[4096 + 32];
    const char *dot = strrchr(page, '.');
    snprintf(picture, sizeof picture, "%.*s.png", (int)(dot - page), page);
    if (!address_of(page, t, address, sizeof address))
        return cli_say(command, CLI_FAILED, "%s: %s", page, strerror(errno));
    if (!mkdtemp(profile)) return cli_say(command, CLI_FAILED, "%s: %s", profile, strerror(errno));
    snprintf(at, sizeof at, "--user-data-dir=%s", profile);
    snprintf(window, sizeof window, "--window-size=%d,%d", width, height);
    snprintf(shot, sizeof shot, "--screenshot=%s", picture);
    (void)remove(picture);
    char *arguments[] = {"chromium",
                         "--headless",
                         "--use-angle=swiftshader",
                         "--enable-unsafe-swiftshader",
                         "--disable-background-networking",
                         "--no-first-run",
                         "--disable-component-update",
                         "--disable-sync",
                         "--disable-extensions",
                         "--hide-scrollbars",
                         "--disable-dev-shm-usage",
                         "--virtual-time-budget=4000",
                         at,
                         window,
                         shot,
                         geteuid() == 0 ? "--no-sandbox" : "--mute-audio",
                         address,
                         NULL};
    char *name = NULL;
    pid_t process = start(arguments, &name);
    bool good = process > 0 && wait_for(process) && access(picture, R_OK) == 0;
    (void)nftw(profile, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (process < 0)
        return cli_say(
            command, CLI_FAILED,
            "--png needs a browser, and none of chromium, chromium-browser, google-chrome is on the "
            "PATH; install one, or open %s and press the picture button there",
            page);
    if (!good)
        return cli_say(command, CLI_FAILED, "%s did not draw %s; the page itself is written", name, page);
    if (!quiet) printf("%s\n", picture);
    return CLI_DONE;
}
