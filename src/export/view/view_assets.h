/* view_assets.h - the page's own files, which cmake/embed_view.cmake turns into arrays at build time. */
#ifndef LW_VIEW_ASSETS_H
#define LW_VIEW_ASSETS_H

#include <stddef.h>

/* The script is three.js, OrbitControls and src/export/view/page; the hashes are SHA-256 in hexadecimal, for
 * the page's content security policy. */
extern const unsigned char lw_view_script[], lw_view_style[], lw_view_body[];
extern const size_t lw_view_script_size, lw_view_style_size, lw_view_body_size;
extern const char lw_view_script_hash[], lw_view_style_hash[];

#endif
