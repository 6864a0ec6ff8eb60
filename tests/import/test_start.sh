#!/usr/bin/env bash
# The program needs neither libxml2, and ICU with it, nor HDF5, and 35 libraries with it, to start: they are loaded when a file is
# imported, or a .h5 file written or read, which works.
# Call: test_start.sh PROGRAM SOURCE BUILD
set -euo pipefail
if ! grep -q '^LINKWORK_LINK_LIBXML2:BOOL=ON' "$3/CMakeCache.txt"; then
    needed=$(readelf -d "$1" | grep NEEDED)
    if [[ $needed == *xml2* || $needed == *icu* ]]; then
        echo "the program is linked with what only imports need: $needed" >&2
        exit 1
    fi
fi
if ! grep -q '^LINKWORK_LINK_HDF5:BOOL=ON' "$3/CMakeCache.txt"; then
    needed=$(ldd "$1")
    if [[ $needed == *hdf5* || $needed == *curl* ]]; then
        echo "the program is linked with what only .h5 files need: $needed" >&2
        exit 1
    fi
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" run "$2/problems/four_bar/model.yaml" --end 0.1 --out "$folder/r.h5" --quiet
"$1" plot "$folder/r.h5" --out "$folder/r.svg" >/dev/null
"$1" import "$2/tests/import/tree.urdf" --quiet
