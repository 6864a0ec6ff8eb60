/* api.h - marks what the shared library exports: the public functions, and nothing else. */
#ifndef LINKWORK_API_H
#define LINKWORK_API_H

#if defined(__GNUC__)
#define LW_API __attribute__((visibility("default")))
#else
#define LW_API
#endif

#endif
