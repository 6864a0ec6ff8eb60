#!/usr/bin/env bash
# Parts in the program: check of a part's file, settings, results that hold the model with its parts, files from other folders.
source "$(dirname "$0")/support.sh" "$@"
cp -r "$source_dir/problems/car" "$work/car"
cd "$work"

# A file that is incomplete alone is judged as a part; a model that lacks the same is not, if it has a run.
expect 0 check car/corner.yaml
says out 'corner.yaml: 0 errors as a part; alone it lacks a connection to ground, or to a body with mass, of body "chassis"'
silent err
expect 0 check car/corner.yaml --json
json 'len(d) == 1 and d[0]["severity"] == "warning" and d[0]["object"] == "body \"chassis\""'
(cat car/corner.yaml && echo 'run: {end: 1}') >car/whole.yaml
expect 2 check car/whole.yaml
says err 'body "chassis": is not connected to ground'

# A fault in the part names its file and the use.
sed 's/axis: \[1, 0.2, 0\]/axis: [0, 0, 0]/' car/corner.yaml >car/bad.yaml
sed 's/front_left: {use: corner.yaml/front_left: {use: bad.yaml/' car/model.yaml >car/bad_model.yaml
expect 2 check car/bad_model.yaml
says err 'car/bad.yaml:'
line=$(grep -n '^  front_left:' car/bad_model.yaml | cut -d : -f 1)
says err "(used as part \"front_left\", car/bad_model.yaml:$line:3)"

# Where one part has a fault others are missing, and a setting of those is not blamed for it.
cat >repeated.yaml <<'YAML'
linkwork: 1
parts:
  side{i}: {repeat: {i: 1..2}, use: car/corner.yaml, joins: {nothing: ground}}
YAML
expect 2 check repeated.yaml --set side2.ks=30000
says out 'repeated.yaml: 1 error,'
says err 'the part has no body "nothing"'

# Settings, in the file and in results, which hold the whole model.
expect 0 run car/model.yaml --end 0.2 --out car.csv
expect 0 run car/model.yaml --end 0.2 --set front_left.ks=30000 --json
json 'd["final"]["outputs"]["roll"] != 0'
mv "$work/out" wanted.json
rm -r car/corner.yaml
expect 0 run car.csv --end 0.2 --set front_left.ks=30000 --json
python3 - wanted.json "$work/out" <<'PYTHON' || fail "the results do not hold the model"
import json, sys
a, b = (json.load(open(name))["final"] for name in sys.argv[1:])
sys.exit(a != b)
PYTHON
cp "$source_dir/problems/car/corner.yaml" car/
expect 2 run car/model.yaml --set left.ks=30000
says err 'there is no parameter "left.ks" to set'
expect 2 run car/model.yaml --set front_left.kx=30000
says err 'there is no parameter "kx" to set'

# Files outside the folder of the model.
mkdir other
sed 's/use: corner.yaml/use: ..\/car\/corner.yaml/' car/model.yaml >other/model.yaml
expect 2 check other/model.yaml
says err 'the file is outside the folder of the model'
expect 0 check other/model.yaml --allow-path

# Parts in parts are bounded.
for i in $(seq 1 40); do
    printf 'linkwork: 1\nparts: {a: {use: p%d.yaml}, b: {use: p%d.yaml}}\n' $((i + 1)) $((i + 1)) >"p$i.yaml"
done
printf 'linkwork: 1\nbodies: {rod: {mass: 1, inertia: [1, 1, 1]}}\njoints: {pin: {type: free, between: [ground, rod]}}\n' >p41.yaml
expect 2 check p1.yaml
says err 'parts lie in parts, more than 32 deep'
expect 2 check p20.yaml
says err 'more than 10000 parts'
expect 0 check p38.yaml

# A coupling by a curve in mirrored parts: the angle of the cylindrical joint counts in the other sense there, the slide does not, and
# the motion is the image. A table cannot be reversed.
cat >cam.yaml <<'YAML'
linkwork: 1
tables: {profile: {x: [-2, -1, 0, 1, 2], y: [0.1, 0.02, 0, 0.03, 0.08], interpolation: smooth}}
bodies:
  base: {mass: 0}
  nut: {mass: 1, com: [0.1, 0.02, 0.3], inertia: [0.01, 0.02, 0.03]}
joints:
  screw: {type: cylindrical, between: [base, nut], point: [0, 0, 0], axis: [0, 0.3, 1], q: [0.032, 0.3]}
constraints:
  curve: {type: coupling, terms: [{joint: screw, coordinate: 0},
    {joint: screw, coordinate: 1, factor: -1, about: 0.05, polynomial: [0.001, 0.1, 0.05, 0.02]}]}
YAML
for image in "" x y; do
    sed -e "s/MIRROR/${image:+, at: {mirror: $image\}}/" -e "s/GX/$([[ $image == x ]] && echo -0.5 || echo 0.5)/" \
        -e "s/GY/$([[ $image == y ]] && echo 0.7 || echo -0.7)/" >"cams$image.yaml" <<'YAML'
linkwork: 1
gravity: [GX, GY, -9.81]
parts: {a: {use: cam.yamlMIRROR, joins: {base: ground}}}
run: {end: 0.5}
YAML
    expect 0 run "cams$image.yaml" --json
    cp "$work/out" "cams$image.json"
done
python3 - <<'PYTHON' || fail "the motion of a mirrored part with a coupled angle is not the image"
import json, sys
plain, x, y = (json.load(open("cams%s.json" % image))["final"] for image in ("", "x", "y"))
for image, axis in ((x, 0), (y, 1)):
    q, p = (final["joints"]["a.screw"]["q"] for final in (plain, image))
    assert abs(q[0] - p[0]) < 1e-12 and abs(q[1] + p[1]) < 1e-12 and abs(q[1]) > 0.1, (q, p)
    a, b = (final["bodies"]["a.nut"]["position"] for final in (plain, image))
    assert all(abs(a[k] - (-b[k] if k == axis else b[k])) < 1e-12 for k in range(3)), (a, b)
PYTHON
sed -i 's/polynomial: \[0.001, 0.1, 0.05, 0.02\]/table: profile/' cam.yaml
expect 0 check cams.yaml
expect 2 check camsx.yaml
says err 'cannot be reversed'

# A quantity before parentheses keeps its meaning in a part: the body of the part, in the part's world.
cat >rail.yaml <<'YAML'
linkwork: 1
parameters: {L: 2}
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {j: {type: prismatic, between: [ground, a], axis: [0, 1, 0], q: 0.1}}
forces: {d: {type: drive, joint: j, force: "-40*body.a.y + sin(t)"}}
outputs: {scaled: "body.a.y*(1 + L)"}
run: {end: 1}
YAML
cat >rails.yaml <<'YAML'
linkwork: 1
parameters: {L: 100}
outputs: {l: L}
parts: {P: {use: rail.yaml, at: {position: [10, 5, 0], mirror: y}}}
run: {end: 1}
YAML
expect 0 run rail.yaml --json
cp "$work/out" alone.json
expect 0 run rails.yaml --json
json "abs(d['final']['joints']['P.j']['q'][0] - json.load(open('alone.json'))['final']['joints']['j']['q'][0]) < 1e-12"
json "abs(d['final']['outputs']['P.scaled'] - json.load(open('alone.json'))['final']['outputs']['scaled']) < 1e-12"

# Mirrored parts in exports, starts of the model, and files of positions of rest.
cat >roller.yaml <<'YAML'
linkwork: 1
bodies: {a: {mass: 1, com: [0.3, 0.2, 0.1], inertia: [0.1, 0.12, 0.13, 0.02, 0.02, 0.03]}}
joints: {j: {type: cylindrical, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], q: [0.1, 0.2]}}
forces:
  turn: {type: torsion, joint: j, coordinate: angle, stiffness: 5, damping: 1}
  slide: {type: torsion, joint: j, coordinate: displacement, stiffness: 5, damping: 3}
YAML
cat >rollers.yaml <<'YAML'
linkwork: 1
parts: {P: {use: roller.yaml, at: {mirror: y}}}
starts: {other: {P.j: {q: [0.1, 0.2]}}}
run: {end: 1}
YAML
expect 0 accel rollers.yaml --json
cp "$work/out" mirrored.json
expect 0 export mjcf rollers.yaml --out rollers.xml
expect 0 accel rollers.xml --key initial --json
json "all(abs(x - y) < 1e-11 for x, y in zip(d['qdd']['P.j'], json.load(open('mirrored.json'))['qdd']['P.j']))"
expect 0 equilibrium rollers.yaml --out rest.yaml
expect 0 accel rest.yaml --json
json "all(abs(x) < 1e-9 for x in d['qdd']['P.j'])"
expect 0 run rollers.yaml --begin other --end 1e-9 --json
json "abs(d['final']['joints']['P.j']['q'][1] - 0.2) < 1e-6"

# Constraints in mirrored and moved parts: rolling, a rod, a body without mass, a bushing, a load. The part's own
# outputs are those of its file alone, if gravity is the image of that there. Turned by 90 degrees about z, gravity
# (a, b, c) becomes (-b, a, c), so that rounding alone differs.
cp "$source_dir/tests/support/parts/constraints.yaml" .
expect 0 run constraints.yaml --quiet --out alone.csv
for place in "mirror: x|-0.3, 0.2, -9.81" "mirror: y|0.3, -0.2, -9.81" "mirror: z|0.3, 0.2, 9.81" \
    "position: [1, -2, 0.5], rotation: {axis: [0, 0, 1], angle: 90 deg}, mirror: x|-0.2, -0.3, -9.81"; do
    printf '%s\n' "linkwork: 1" "gravity: [${place#*|}]" \
        "parts: {P: {use: constraints.yaml, at: {${place%|*}}}}" \
        "run: {end: 0.5, tolerance: 1e-10, output: 0.1}" >placed.yaml
    expect 0 run placed.yaml --quiet --out placed.csv
    python3 - alone.csv placed.csv <<'CHECK' || fail "a part with constraints, $place, moves differently"
import csv, sys
a, b = (list(csv.DictReader(l for l in open(p) if not l.startswith("#"))) for p in sys.argv[1:])
outputs = [n for n in a[0] if n.startswith("o") and n[1].isdigit()]
assert len(a) == len(b) == 6 and len(outputs) == 19
for x, y in zip(a, b):
    for n in outputs:  # Rounding of 1e-16 grows over some hundred steps of a motion without chaos.
        assert abs(float(x[n]) - float(y["P." + n])) < 1e-10 * max(1, abs(float(x[n]))), (n, x[n], y["P." + n])
CHECK
done

# What all bodies have together is not a part's.
cat >energetic.yaml <<'YAML'
linkwork: 1
parameters: {potential: 2}
bodies: {rod: {mass: 1, com: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}}
joints: {pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}}
outputs: {own: momentum(rod).px + potential, e: 2*kinetic, m: momentum.px}
YAML
printf 'linkwork: 1\nparts: {P: {use: energetic.yaml}}\noutputs: {e: kinetic}\n' >total.yaml
expect 0 check energetic.yaml
expect 2 check total.yaml
says err 'energetic.yaml:5:46: output "P.e": "kinetic" is that of the whole model, and this file is a part of it (used as part "P", total.yaml:2:9)'
says err '"momentum.px" is that of the whole model'
sed -i 's/, e: 2.*}/}/' energetic.yaml
expect 0 check total.yaml

# Names of any kind mean the same in a part as in its file, mirrored too: with parentheses, with " in " and "point(" in
# them, and the longest name counts (com(a in b) is that of the body "a in b").
cat >named.yaml <<'YAML'
linkwork: 1
gravity: [0, 0, 0]
bodies:
  a: {mass: 1, com: [0.1, 0.2, 0.3], inertia: [0.1, 0.1, 0.1], rotation: {axis: [1, 2, 3], angle: 40 deg}}
  b: {mass: 1, com: [0.3, -0.2, 0.1], inertia: [0.1, 0.1, 0.1], rotation: {axis: [3, 1, 2], angle: 70 deg}}
  a in b: {mass: 1, com: [0.7, 0.5, 0.4], inertia: [0.1, 0.1, 0.1]}
  my point(x: {mass: 1, com: [0.3, 0.1, -0.2], inertia: [0.1, 0.1, 0.1]}
joints:
  j (1): {type: cylindrical, between: [ground, a], point: [0, 0, 0], axis: [0.2, 1, 0.1], q: [0.1, 0.2], v: [0.4, 1.3]}
  k in j: {type: cylindrical, between: [ground, b], point: [0, 0, 0], axis: [1, 0.1, 0], motion: [null, 0.3*sin(3*t)]}
  c: {type: cylindrical, between: [ground, a in b], point: [0, 0, 0], axis: [0, 1, 1], v: [0.2, 0.3]}
  d: {type: cylindrical, between: [ground, my point(x], point: [0, 0, 0], axis: [1, 1, 0], v: [0.1, -0.3]}
forces:
  turn (1): {type: torsion, joint: j (1), coordinate: angle, stiffness: 5, damping: 1}
  turn in j: {type: torsion, joint: j (1), coordinate: angle, stiffness: 3, free: 0.1}
outputs:
  o1: force('turn (1)')
  o2: force(turn (1))
  o3: force(turn in j)
  o4: "'turn in j'.length"
  o5: drive('k in j')
  o6: reaction(k in j).tx
  o7: com(a in b).vx
  o8: com(a in b in a).vy
  o9: "point('my point(x', 0.1, 0.2, 0.3).vy"
  o10: "distance('my point(x', point(a, 0.1, 0.2, 0.3))"
  o11: "distance(a in b, point('my point(x', 0.1, 0.2, 0.3)).rate"
  o12: com('a in b').vx
  o13: com('a in b' in a).vy
run: {end: 0.3, tolerance: 1e-10, output: 0.1}
YAML
sed -i 's/\(between: \[ground, \)\([^]]*\)\]/\1"\2"]/' named.yaml
expect 0 run named.yaml --quiet --out alone.csv
for place in "position: [0, 0, 0]" "mirror: y" "position: [1, -2, 0.5], rotation: {axis: [0, 0, 1], angle: 90 deg}, mirror: x"; do
    printf '%s\n' "linkwork: 1" "gravity: [0, 0, 0]" "parts: {P: {use: named.yaml, at: {$place}}}" \
        "run: {end: 0.3, tolerance: 1e-10, output: 0.1}" >placed.yaml
    expect 0 run placed.yaml --quiet --out placed.csv
    python3 - alone.csv placed.csv <<'CHECK' || fail "names in a part, $place, mean something else"
import csv, sys
a, b = (list(csv.DictReader(l for l in open(p) if not l.startswith("#"))) for p in sys.argv[1:])
outputs = ["o%d" % k for k in range(1, 14)]
column = lambda row, name: float(next(row[n] for n in row if n.split(" ")[0] == name))
assert len(a) == len(b) == 4
for x, y in zip(a, b):
    for n in outputs:  # Rounding of 1e-16 grows over some hundred steps of a motion without chaos.
        assert abs(column(x, n) - column(y, "P." + n)) < 1e-10 * max(1, abs(column(x, n))), n
for one, other in (("o1", "o2"), ("o7", "o12"), ("o8", "o13")):  # with and without quotes
    assert column(a[-1], one) == column(a[-1], other) != 0
CHECK
done
