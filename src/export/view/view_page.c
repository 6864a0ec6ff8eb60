/* view_page.c - writes the page: one HTML file with its script, its style and the data of one or two motions.
 *
 * The content security policy allows the script and the style by their hashes and nothing else: no network,
 * no other script, no eval. All texts of users stand in the data, as JSON without <, and in the title,
 * escaped.
 */
#define _POSIX_C_SOURCE 200809L
#include "export/view/view_assets.h"
#include "export/view/view_scene.h"

#include <linkwork/version.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONGEST_TITLE = 200 };

static lw_status check(const lw_animation *const *animations, int count, const char *path, lw_error *error) {
    bool there = animations && (count == 1 || count == 2) && path;
    for (int k = 0; k < count && there; k++) there = animations[k] != NULL;
    if (!there) return lw_call_needs("one or two animations and a path", error);
    for (int k = 0; k < count; k++)
        if (animations[k]->count == 0)
            return lw_fail(error, LW_ERROR_ARGUMENT, "page", "add a sample at least",
                           "an animation has no samples");
    return LW_OK;
}

static lw_status put_data(FILE *file, const lw_animation *const *animations, int count,
                          const lw_view_options *options) {
    lw_view_json j = {.file = file};
    lw_status status = LW_OK;
    lw_view_open(&j, NULL, '{');
    lw_view_text(&j, "linkwork", LW_VERSION);
    lw_view_text(&j, "title",
                 options && options->title ? options->title : lw_model_name(animations[0]->model));
    lw_view_open(&j, "views", '[');
    for (int k = 0; k < count && status == LW_OK; k++) {
        lw_view_open(&j, NULL, '{');
        lw_view_text(&j, "label", options ? options->labels[k] : NULL);
        lw_view_put_model(&j, "model", animations[k]);
        status = lw_view_put_motion(&j, "motion", animations[k], options);
        lw_view_close(&j, '}');
    }
    lw_view_close(&j, ']');
    lw_view_close(&j, '}');
    putc('\n', file);
    return status;
}

/* A hexadecimal hash as 'sha256-...' in base64. */
static void put_hash(FILE *file, const char *hex) {
    lw_view_base64 b = {.file = file};
    fputs("'sha256-", file);
    for (size_t k = 0; hex[k] && hex[k + 1]; k += 2) {
        const char digits[3] = {hex[k], hex[k + 1], '\0'};
        const unsigned char byte = (unsigned char)strtoul(digits, NULL, 16);
        lw_view_base64_put(&b, &byte, 1);
    }
    lw_view_base64_close(&b, false);
    putc('\'', file);
}

static lw_status put_page(FILE *file, const lw_animation *const *animations, int count,
                          const lw_view_options *options) {
    const char *title = options && options->title ? options->title : lw_model_name(animations[0]->model);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src ",
          file);
    put_hash(file, lw_view_script_hash);
    fputs("; style-src ", file);
    put_hash(file, lw_view_style_hash);
    fputs("; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" "
          "content=\"linkwork " LW_VERSION "\">\n<title>",
          file);
    lw_put_xml(file, title, LONGEST_TITLE);
    fputs("</title>\n<style>", file);
    fwrite(lw_view_style, 1, lw_view_style_size, file);
    fputs("</style>\n</head>\n<body>\n", file);
    fwrite(lw_view_body, 1, lw_view_body_size, file);
    fputs("<script type=\"application/json\" id=\"data\">", file);
    lw_status status = put_data(file, animations, count, options);
    fputs("</script>\n<script>", file);
    fwrite(lw_view_script, 1, lw_view_script_size, file);
    fputs("</script>\n</body>\n</html>\n", file);
    return status;
}

/* Half a page is none; but what is not a plain file, as a device, stays. */
static void take_away(const char *path) {
    struct stat about;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode)) (void)remove(path);
}

typedef lw_status writer(FILE *file, const lw_animation *const *animations, int count,
                         const lw_view_options *options);

static lw_status write_file(writer *put, const lw_animation *const *animations, int count, const char *path,
                            const lw_view_options *options, lw_error *error) {
    lw_status status = check(animations, count, path, error);
    if (status != LW_OK) return status;
    const bool to_output = strcmp(path, "-") == 0;
    char object[112];
    snprintf(object, sizeof object, "page \"%.90s\"", path);
    errno = 0;
    FILE *file = to_output ? stdout : fopen(path, "wb");
    if (!file)
        return lw_fail(error, LW_ERROR_FILE, object, "give a path in an existing folder where you may write",
                       "cannot be opened: %s", strerror(errno));
    status = put(file, animations, count, options);
    bool written = fflush(file) == 0 && !ferror(file);
    if (!to_output && fclose(file) != 0) written = false;
    if (status == LW_OK && written) return LW_OK;
    const int fault = errno;
    if (!to_output) take_away(path);
    if (status != LW_OK) return lw_out_of_memory(error);
    return lw_fail(error, LW_ERROR_FILE, object, "free some space or write elsewhere",
                   "cannot be written: %s", strerror(fault));
}

lw_status lw_view_write(const lw_animation *const *animations, int count, const char *path,
                        const lw_view_options *options, lw_error *error) {
    return write_file(put_page, animations, count, path, options, error);
}

lw_status lw_view_write_data(const lw_animation *const *animations, int count, const char *path,
                             const lw_view_options *options, lw_error *error) {
    return write_file(put_data, animations, count, path, options, error);
}
