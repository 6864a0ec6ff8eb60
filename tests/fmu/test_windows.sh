#!/usr/bin/env bash
# The runtime of FMUs for 64-bit Windows under Wine: what it exports and needs, and the figures of FMUs in both versions, both
# kinds, to the last digit those of the runtime for Linux. Skipped where it has not been built (make test-fmu-windows) or
# there is no Wine. Call: test_windows.sh LINKWORK SOURCE BUILD.
set -euo pipefail
linkwork=$1 source=$2 build=$3
skip() { echo "skipped: $1"; exit 0; }
fail() { echo "$1" >&2; exit 1; }
runtime=$build/fmu-win64.dll
[[ -e $runtime ]] || skip "there is no runtime for Windows in $build (make fmu-windows)"

# --- the runtime: nothing but the functions of FMI, nothing but what every Windows has
table=$(x86_64-w64-mingw32-objdump -p "$runtime")
count=$(grep -cE '^\s+\[ *[0-9]+\] fmi[23]' <<<"$table") all=$(grep -cE '^\s+\[ *[0-9]+\] [A-Za-z_]' <<<"$table")
[[ $count == 119 && $all == 119 ]] || fail "the runtime exports $count functions of FMI, not 119, and $((all - count)) others"
needed=$(sed -n 's/.*DLL Name: //p' <<<"$table" | sort | tr '\n' ' ')
[[ $needed == "KERNEL32.dll msvcrt.dll " ]] || fail "the runtime needs $needed"
[[ $(stat -c %s "$runtime") -lt 3000000 ]] || fail "the runtime has 3 MB or more"

# --- the same calls on both
wine=$(command -v wine64 || command -v wine || { [[ -x /usr/lib/wine/wine64 ]] && echo /usr/lib/wine/wine64; } || true)
[[ -n $wine ]] || skip "there is no Wine (Debian's package is wine64)"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export WINEPREFIX=$build/fmu-windows/wine WINEDEBUG=-all LC_ALL=C.UTF-8 # kept, since it takes seconds to make
mkdir -p "$WINEPREFIX"
compare() { # problem, version, end; how far figures may be apart: 0 unless told
    local folder="$here/$1 $2 ä" library # with a blank and beyond ASCII
    mkdir "$folder"
    "$linkwork" export fmu "$source/problems/$1/model.yaml" --fmi "$2" --reactions '*' --out "$here/a.fmu" >/dev/null
    python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$here/a.fmu" "$folder"
    (
        cd "$folder"
        "$build/tests/fmu-probe" ./binaries/*linux*/*.so "$2" "$3" >linux || fail "Linux: $(tail -1 linux)"
        library=$(echo binaries/*win*/*.dll)
        timeout 300 "$wine" "$build/fmu-windows/fmu-probe.exe" "$library" "$2" "$3" >windows 2>/dev/null ||
            fail "$1, FMI $2, Windows: $(tail -1 windows)"
        if [[ $# == 3 ]]; then
            diff linux <(tr -d '\r' <windows) || fail "$1, FMI $2: Windows has other figures"
        else # of the numbers, which come last
            paste linux <(tr -d '\r' <windows) | awk -v most="$4" '$1 == "cs" {
                if ($2 != $6 || $3 != $7) exit 1
                off = $4 - $8; if (off < 0) off = -off
                size = $4 < 0 ? -$4 : $4; if (off > most * (size > 1 ? size : 1)) { print; exit 1 } }' ||
                fail "$1, FMI $2: figures on Windows are further off than $4"
        fi
        echo "$1, FMI $2: $(wc -l <linux) lines, the same${4:+ to $4}"
    )
}
compare double_pendulum 2 1
compare four_bar 3 1
compare cart_pole 2 3
compare bouncing_ball 3 1
compare series_damper 2 1
compare suspension 3 0.2
# bdf here, erk there, with a tolerance of 1e-8; errors of bdf, in forces of stiff springs too, are some hundred times that.
compare two_oscillators 2 0.5 1e-5
