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
# Curves of different units in one panel: the axis names all units, the legend says which curve has which.
expect 0 plot "$work/r.csv" pin.q+pin.v+kinetic --out "$work/mixed.svg"
svg "$work/mixed.svg"
for text in ">[rad, rad/s, J]<" "pin.q [rad]" "pin.v [rad/s]" "kinetic [J]"; do
    grep -qF -- "$text" "$work/mixed.svg" || fail "a panel of several units lacks $text"
done
expect 0 plot "$work/r.csv" pin.q+pin.v+kinetic+"com(bob).x" --out "$work/mixed.svg"
grep -qF ">[units of the legend]<" "$work/mixed.svg" || fail "a panel of many units has no name of its axis"

# Contrast after WCAG 2.1 against page and panel, in light and dark: text 4.5 (1.4.3), curves and frame 3 (1.4.11).
python3 - "$work/two.svg" <<'PYTHON' || fail "a colour has too little contrast"
import re, sys
style = re.search(r"<style>(.*?)</style>", open(sys.argv[1], encoding="utf-8").read(), re.S)[1]
light, dark = style.split("@media (prefers-color-scheme:dark){")

def colours(css):
    return {selector: colour for selector, rules in re.findall(r"([\w.]+)\{([^}]*)\}", css)
            for colour in re.findall(r"(?:fill|stroke):(#[0-9a-f]{6})", rules)}

def luminance(colour):
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)

least = {"text": 4.5, ".title": 4.5, ".note": 4.5, ".frame": 3, **{f".c{k}": 3 for k in range(8)}}
faults = 0
for name, palette in ("light", colours(light)), ("dark", colours(dark)):
    assert set(palette) == set(least) | {".page", ".area", ".grid", ".zero"}, palette
    for selector, wanted in least.items():
        got = min(contrast(palette[selector], palette[ground]) for ground in (".page", ".area"))
        if got < wanted:
            print(f"{name} {selector} {palette[selector]}: contrast {got:.2f}, not {wanted}", file=sys.stderr)
            faults += 1
assert abs(contrast("#000000", "#ffffff") - 21) < 1e-12 and abs(contrast("#777777", "#ffffff") - 4.48) < 0.005
sys.exit(faults > 0)
PYTHON
expect 2 plot "$work/r.csv" pin.x --out "$work/three.svg"
says err "pin.x"
[[ ! -e $work/three.svg ]] || fail "a picture was left although a column is unknown"
expect 1 plot "$work/none.csv"
says err "none.csv"
expect 1 plot "$work/r.csv" --out "$work/no/folder/r.svg"

# Another kind of picture is refused, and nothing is written.
for ending in png PDF jpeg; do
    expect 2 plot "$work/r.csv" pin.q --out "$work/picture.$ending"
    says err "picture.$ending\" does not end in .svg, and only SVG pictures are drawn; give e.g. --out $work/picture.svg"
    [[ ! -e $work/picture.$ending ]] || fail "picture.$ending was written"
done
expect 0 plot "$work/r.csv" pin.q --out "$work/picture.SVG"
expect 2 plot "$work/r.csv" pin.q --out "$work/picture"
says err "picture\" does not end in .svg, and only SVG pictures are drawn; give e.g. --out $work/picture.svg"
[[ ! -e $work/picture ]] || fail "picture was written"

echo passed
