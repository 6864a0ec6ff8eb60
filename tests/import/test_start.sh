#!/usr/bin/env bash
# The program does not need libxml2, and ICU with it, to start: it is loaded when a file is imported, which works.
# Call: test_start.sh PROGRAM SOURCE BUILD
set -euo pipefail
if ! grep -q '^LINKWORK_LINK_LIBXML2:BOOL=ON' "$3/CMakeCache.txt"; then
    needed=$(readelf -d "$1" | grep NEEDED)
    if [[ $needed == *xml2* || $needed == *icu* ]]; then
        echo "the program is linked with what only imports need: $needed" >&2
        exit 1
    fi
fi
"$1" import "$2/tests/import/tree.urdf" --quiet
