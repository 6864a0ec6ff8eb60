/* version.h - the one place where Linkwork's version stands; the build reads it from here. */
#ifndef LINKWORK_VERSION_H
#define LINKWORK_VERSION_H

#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 1
#define LW_VERSION_PATCH 0
#define LW_VERSION "0.1.0"

#endif
