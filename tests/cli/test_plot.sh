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

least = {"text": 4.5, ".title": 4.5, ".note": 4.5, ".frame": 3, ".event": 3, **{f".c{k}": 3 for k in range(8)}}
faults = 0
for name, palette in ("light", colours(light)), ("dark", colours(dark)):
    assert set(palette) == set(least) | {".page", ".area", ".grid", ".zero", ".mark"}, palette
    assert palette[".mark"] == palette[".area"], "marks are hollow"
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

# Another kind of picture is refused, with a remedy, and nothing is written.
expect 2 plot "$work/r.csv" pin.q --out "$work/picture.png"
says err "picture.svg and convert it, e.g. by: rsvg-convert"
for ending in jpeg ""; do
    expect 2 plot "$work/r.csv" pin.q --out "$work/picture${ending:+.$ending}"
    says err "does not end in .svg or .pdf, and only these are drawn; give e.g. --out $work/picture.svg"
done
for ending in png jpeg; do
    [[ ! -e $work/picture.$ending ]] || fail "picture.$ending was written"
done
[[ ! -e $work/picture ]] || fail "picture was written"
expect 0 plot "$work/r.csv" pin.q --out "$work/picture.SVG"

# A PDF: every object is where the table of references says, the contents as long as told, all texts in it.
expect 0 plot "$work/r.csv" pin.q kinetic+potential --title "a (b) \\ ü" --out "$work/picture.PDF"
python3 - "$work/picture.PDF" <<'PYTHON' || fail "the PDF is not whole"
import re, sys
data = open(sys.argv[1], "rb").read()
assert data.startswith(b"%PDF-1.4") and data.endswith(b"%%EOF\n")
start = int(re.search(rb"startxref\n(\d+)\n", data)[1])
table = data[start:].split(b"\n")
assert table[0] == b"xref"
count = int(table[1].split()[1])
for k in range(1, count):
    assert len(table[2 + k]) == 19 and data[int(table[2 + k][:10]):].startswith(b"%d 0 obj" % k), k
length = int(re.search(rb"/Length (\d+)", data)[1])
body = data.index(b"stream\n") + 7
assert data[body + length:].startswith(b"\nendstream")
contents = data[body:body + length].decode("cp1252")
for text in ("(pin.q)", "(angle [rad])", "(kinetic)", "(a \\(b\\) \\\\ \u00fc)", "(t [s])"):
    assert text in contents, text
depth = 0
for line in contents.split("\n"):
    depth += line.startswith("BT") - line.startswith("ET")
    assert depth in (0, 1)
numbers = [float(x) for line in contents.split("\n") if line.endswith((" l", " m")) for x in line.split()[:2]]
assert len(numbers) > 100 and min(numbers) >= 0 and max(numbers) <= 920
PYTHON

# Several files: a curve of each, the legend says which; what one lacks is told.
expect 0 run "$work/pendulum.yaml" --quiet --set start=0.5 --out "$work/s.h5" --record "joint"
expect 0 plot "$work/r.csv" "$work/s.h5" pin.q kinetic --out "$work/over.svg"
says err "s.h5 has no column \"kinetic\""
svg "$work/over.svg"
for text in "pin.q, r.csv" "pin.q, s.h5" "kinetic, r.csv" 'class="curve c1 d1"'; do
    grep -qF -- "$text" "$work/over.svg" || fail "two files: the picture lacks $text"
done
expect 0 plot "$work/r.csv" "$work/s.h5" pin.q+pin.v --out "$work/over.svg"
grep -qF ">r.csv<" "$work/over.svg" || fail "the legend does not name the file"
cp "$work/r.csv" "$work/same.csv"
expect 0 plot "$work/r.csv" "$work/same.csv" pin.q+pin.v --out "$work/over.svg"
grep -q 'class="mark' "$work/over.svg" || fail "curves of the same course cannot be told apart"
# Two columns with the same course: a line, and short wide dashes upon it.
printf 't [s],a [m],b [m],c [m]\n' >"$work/twins.csv"
for k in {0..99}; do echo "$k,$((k * k)),$((k * k)),$((100 * k))" >>"$work/twins.csv"; done
expect 0 plot "$work/twins.csv" a+b+c --out "$work/twins.svg"
for text in 'class="curve c0"' 'class="curve c1 o1"' 'class="curve c2"'; do
    grep -qF "$text" "$work/twins.svg" || fail "twins: no $text"
done

# Paths: both axes named, with the same scale; patterns pair x and y.
expect 0 plot "$work/r.csv" --x "com(bob).x" --y "com(bob).z" --out "$work/path.svg"
for text in ">com(bob).x [m]<" ">com(bob).z [m]<"; do grep -qF "$text" "$work/path.svg" || fail "a path lacks $text"; done
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/p.csv" --record "point(bob, 1, 0, 0)"
expect 0 plot "$work/p.csv" --x "point(*).x" --y "point(*).z" --out "$work/path.svg"
python3 - "$work/path.svg" <<'PYTHON' || fail "the path is no circle"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
path = max(re.findall(r'class="curve c0" d="([^"]*)"', text), key=len)
points = [tuple(map(float, p)) for p in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
(x0, y0), (x1, y1) = points[0], min(points, key=lambda p: p[0])
radius = (x0 - x1) / 2  # half a turn below the pin
for x, y in points:
    assert abs(((x - x0 + radius) ** 2 + (y - y0) ** 2) ** 0.5 - radius) < 0.02 * radius, (x, y)
PYTHON
expect 2 plot "$work/r.csv" --x "com(bob).x"
says err "nothing to be drawn against"
expect 2 plot "$work/r.csv" --x "com(*).x" pin.q
says err "does not say what for"
expect 2 plot "$work/r.csv" --x "com(bop).x" pin.q
says err "com(bop).x"

# Many curves: some by default and by patterns, all if so asked; it says so.
python3 -c '
import math
print("t [s]," + ",".join(f"q{k} [rad]" for k in range(81)))
for r in range(50): print(r, *(math.sin(0.1 * r * (1 + k)) for k in range(81)), sep=",")' >"$work/many.csv"
expect 0 plot "$work/many.csv" --out "$work/many.svg"
says err "8 of 81 curves, those that differ most"
grep -qF "8 of 81 curves" "$work/many.svg" || fail "the picture does not say that curves are missing"
expect 0 plot "$work/many.csv" "q*" --all --out "$work/many.svg"
silent err
[[ $(grep -c '<path class="curve' "$work/many.svg") -eq 83 ]] || fail "not all 81 curves, and two of the legend"
expect 0 plot "$work/many.csv" q1+q2+q3+q4+q5+q6+q7+q8+q9+q10+q11+q12+q13 --out "$work/many.svg"
silent err

# Events of a file: lines with names.
{ cat "$work/r.csv"; echo "# event: 0.5 stop hit"; echo "# event: 1.5 release"; } >"$work/events.csv"
expect 0 plot "$work/events.csv" pin.q --out "$work/events.svg"
[[ $(grep -c 'class="event"' "$work/events.svg") -eq 2 ]] || fail "two events are not two lines"
grep -qF ">stop hit<" "$work/events.svg" || fail "an event has no name"

# Few points are marked; numbers of a paper are marks alone.
printf 'n,here [s],"here, paper [s]"\n1,2,2.1\n2,4,4.2\n3,6,5.9\n' >"$work/few.csv"
expect 0 plot "$work/few.csv" "here+here, paper" --out "$work/few.svg"
[[ $(grep -c 'class="mark' "$work/few.svg") -eq 8 ]] || fail "3 + 3 points and 2 of the legend are not marked"
[[ $(grep -c 'class="mark strong' "$work/few.svg") -eq 4 ]] || fail "the paper's numbers are not strong marks"
[[ $(grep -c '<path class="curve' "$work/few.svg") -eq 2 ]] || fail "the paper's numbers have a line"

echo passed
