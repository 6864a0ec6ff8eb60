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
# HDF5 gives the same picture, but for the file's name in it.
for ending in h5 hdf5; do
    expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.$ending"
    expect 0 plot "$work/r.$ending" pin.q kinetic+potential --out "$work/again.svg"
    sed "s/r\.$ending/r.csv/" "$work/again.svg" | cmp - "$work/two.svg" || fail "r.$ending gives another picture"
done
expect 0 plot "$work/r.h5"
[[ $(cat "$work/out") == "$work/r.svg" ]] || fail "the picture's name is not printed: $(cat "$work/out")"
# Without coordinates: a panel for each unit. Wildcards.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/f.h5" --record "reaction, violation"
expect 0 plot "$work/f.h5"
svg "$work/f.svg"
for text in "reaction(pin).fx" "force" "torque" "position_violation"; do
    grep -qF "$text" "$work/f.svg" || fail "the picture lacks $text"
done
expect 0 plot "$work/f.h5" "reaction(pin).f*" --out "$work/f.svg"
grep -qF "reaction(pin).fz" "$work/f.svg" || fail "a wildcard does not find reaction(pin).fz"
! grep -qF "reaction(pin).tz" "$work/f.svg" || fail "a wildcard finds too much"
expect 2 plot "$work/f.h5" "reaction(pin).g*"
says err "reaction(pin).g*"
expect 2 plot "$work/r.csv" pin.x --out "$work/three.svg"
says err "pin.x"
[[ ! -e $work/three.svg ]] || fail "a picture was left although a column is unknown"
expect 1 plot "$work/none.csv"
says err "none.csv"
expect 1 plot "$work/r.csv" --out "$work/no/folder/r.svg"

echo passed
