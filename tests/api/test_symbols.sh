#!/usr/bin/env bash
# The shared library exports the functions that include/linkwork declares, no other; the program needs no other; its name has
# the version within which the interface stays. Call: test_symbols.sh PROGRAM SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
source=$2 build=$3
library=$build/liblinkwork.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Names before "(" of declarations at the beginning of a line, with or without LW_API, comments left out.
functions() { # PREFIX: what a declaration begins with
    sed '/^#/d; s|/\*.*\*/||' "$source"/include/linkwork/*.h | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g; s/;/;\n/g' |
        grep -E "(^|[ }])$1" | grep -v 'typedef' | sed -n 's/^[^(]*[ *]\(lw_[a-z0-9_]*\)(.*;$/\1/p' | sort
}
functions "LW_API " >"$work/declared"
count=$(wc -l <"$work/declared")
((count >= 200)) || { echo "only $count declarations found" >&2; exit 1; }
[[ -z $(uniq -d "$work/declared") ]] || { echo "declared twice:" >&2; uniq -d "$work/declared" >&2; exit 1; }

# Every function of a public header is marked.
functions "" >"$work/all"
diff "$work/all" "$work/declared" || { echo "< is not marked LW_API" >&2; exit 1; }

# Sanitizers export names of their own, which begin with two underscores.
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^__' | sort >"$work/exported"
diff "$work/declared" "$work/exported" || { echo "< is declared and not exported, > the reverse" >&2; exit 1; }

# What the program takes from the library. Its objects lie beside the static library.
find "$build/CMakeFiles/linkwork-program.dir" -name '*.o' -exec nm -u {} + | awk '/ U lw_/ { print $2 }' | sort -u >"$work/used"
[[ -s $work/used ]] || { echo "the objects of the program are not there" >&2; exit 1; }
missing=$(comm -23 "$work/used" "$work/declared")
[[ -z $missing ]] || { echo "the program uses functions that are not public: $missing" >&2; exit 1; }

# Every function is called wrongly by a test.
while read -r name; do
    grep -q "\b$name(" "$source"/tests/unit/test_misuse.c "$source"/tests/unit/test_misuse_runs.c "$source"/tests/unit/test_bad_indices.c ||
        { echo "$name is in no table of misuses: tests/unit/test_misuse.c" >&2; exit 1; }
done <"$work/declared"

version=$(sed -n 's/^#define LW_VERSION "\(.*\)"/\1/p' "$source/include/linkwork/version.h")
readelf -d "$library" | grep -q "SONAME.*\[liblinkwork.so.${version%.*}\]" || { readelf -d "$library" | grep SONAME >&2; exit 1; }
echo "$count functions, exported by liblinkwork.so.${version%.*}"
