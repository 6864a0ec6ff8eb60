#!/usr/bin/env bash
# linkwork plot: an SVG picture that is well-formed XML, default and chosen columns.
source "$(dirname "$0")/support.sh" "$@"

svg() { # file: is it a picture?
    python3 - "$1" <<'PYTHON' || fail "$1 is not an SVG picture"
import sys, xml.etree.ElementTree as tree
assert tree.parse(sys.argv[1]).getroot().tag == "{http://www.w3.org/2000/svg}svg"
PYTHON
}

expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv"
expect 0 plot "$work/r.csv"
silent err
[[ $(cat "$work/out") == "$work/r.svg" ]] || fail "the picture's name is not printed: $(cat "$work/out")"
svg "$work/r.svg"
expect 0 plot "$work/r.csv" pin.q kinetic+potential --out "$work/two.svg"
svg "$work/two.svg"
expect 2 plot "$work/r.csv" pin.x --out "$work/three.svg"
says err "pin.x"
[[ ! -e $work/three.svg ]] || fail "a picture was left although a column is unknown"
expect 1 plot "$work/none.csv"
says err "none.csv"
expect 1 plot "$work/r.csv" --out "$work/no/folder/r.svg"

echo passed
