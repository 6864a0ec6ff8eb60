#!/usr/bin/env bash
# linkwork-core needs nothing but libc, libm and the compiler's own support library: every name that the archive leaves
# open is defined in one of these.
# Call: test_symbols.sh PROGRAM SOURCE BUILD
set -euo pipefail
build=$3
archive=$build/liblinkwork-core.a
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm "$archive" 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u >"$work/needed"
nm "$archive" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$work/own"
{
    for library in libc.so.6 libm.so.6; do nm -D --defined-only "$(cc -print-file-name=$library)"; done
    nm --defined-only "$(cc -print-libgcc-file-name)" 2>/dev/null
} | awk 'NF == 3 { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/system"
# The linker's table of addresses, and what sanitizers add to a build.
comm -23 "$work/needed" "$work/own" | comm -23 - "$work/system" |
    grep -vE '^(_GLOBAL_OFFSET_TABLE_|_*(asan|ubsan|tsan|lsan|sanitizer)_.*)$' >"$work/foreign" || true
if [[ -s $work/foreign ]]; then
    echo "linkwork-core needs what neither libc nor libm has:" >&2
    cat "$work/foreign" >&2
    exit 1
fi
(($(wc -l <"$work/own") > 500)) || { echo "the archive is nearly empty" >&2 && exit 1; }
echo "liblinkwork-core.a: $(stat -c %s "$archive") bytes, needs $(comm -23 "$work/needed" "$work/own" | wc -l) names"
