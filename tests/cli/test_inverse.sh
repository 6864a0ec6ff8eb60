#!/usr/bin/env bash
# linkwork inverse: motions by expressions, tables and results; files; a run driven by the forces that were found; refusals.
source "$(dirname "$0")/support.sh" "$@"

cat >"$work/arm.yaml" <<'YAML'
linkwork: 1
name: arm
inputs: {torque: 0}
bodies:
  upper: {mass: 2, com: [0.2, 0, 0], inertia: [1e-3, 3e-2, 3e-2]}
  lower: {mass: 1, com: [0.6, 0, 0], inertia: [1e-3, 1e-2, 1e-2]}
joints:
  shoulder: {type: revolute, between: [ground, upper], point: [0, 0, 0], axis: [0, 1, 0]}
  elbow: {type: revolute, between: [upper, lower], point: [0.4, 0, 0], axis: [0, 1, 0]}
forces:
  motor: {type: drive, joint: shoulder, force: torque - 2*v}
  grip: {type: drive, joint: elbow, force: 3*sin(5*t)}
run: {end: 1, tolerance: 1e-10, output: 1 ms}
YAML
expect 0 inverse "$work/arm.yaml" --motion "shoulder=0.3*sin(2*t)" --motion "elbow=cos(t)" --end 0.1 --json
json 'sorted(d["drives"]) == ["grip", "motor"] and len(d["t"]) == 101 and d["drives"]["motor"]["unique"] and d["drives"]["grip"]["unit"] == "N m"'
json 'd["moved"]["position"] < 1e-12 and d["balance_max"] < 1e-8'

# A run, its results as the motion, the forces of its drives; and a run by the force that was found.
expect 0 run "$work/arm.yaml" --record "joint, accelerations, force(motor), force(grip)" --out "$work/run.csv" --json
cp "$work/out" "$work/first"
for motion in run.csv run.h5; do
    expect 0 run "$work/arm.yaml" --record "joint, accelerations" --out "$work/$motion.again.${motion##*.}"
    expect 0 inverse "$work/arm.yaml" --motion "$work/$motion.again.${motion##*.}" --out "$work/forces.csv" --record "joint, reaction"
    silent err
    /usr/bin/python3 - "$work/run.csv" "$work/forces.csv" <<'END' || fail "forces of $motion"
import csv, sys
def read(path):
    rows = [r for r in csv.reader(l for l in open(path) if not l.startswith("#"))]
    return [n.split(" ")[0] for n in rows[0]], [[float(x) for x in r] for r in rows[1:]]
a, b = read(sys.argv[1]), read(sys.argv[2])
assert len(a[1]) == len(b[1]) == 1001 and "reaction(elbow).fx" in b[0]
for name in "force(motor)", "force(grip)":
    i, j = a[0].index(name), b[0].index(name)
    for p, q in zip(a[1], b[1]):
        assert abs(p[i] - q[j]) < 1e-8, (name, p[0], p[i], q[j])
END
done
sed -e 's/force: torque - 2\*v/force: found(t)/' -e 's/^inputs:.*/tables: {found: {file: forces.csv, x: t, y: force(motor), interpolation: smooth}}/' "$work/arm.yaml" >"$work/open.yaml"
expect 0 run "$work/open.yaml" --json
/usr/bin/python3 - "$work/first" "$work/out" <<'END' || fail "the run by the force that was found ends elsewhere"
import json, sys
a, b = (json.load(open(p))["final"]["joints"] for p in sys.argv[1:])
for j in a:
    assert abs(a[j]["q"][0] - b[j]["q"][0]) < 1e-7, (j, a[j], b[j])  # cubics between rows 1 ms apart
END
expect 0 inverse "$work/arm.yaml" --motion "$work/run.csv" --drive motor --drive grip --out "$work/forces.h5"
expect 0 plot "$work/forces.h5" "force(motor)" --out "$work/forces.svg"

# A table with angles alone; rates are differences.
/usr/bin/python3 - >"$work/table.csv" <<'END'
import math
print("t,shoulder,elbow")
for i in range(41):
    print(f"{i/40!r},{0.3*math.sin(2*i/40)!r},{math.cos(i/40)!r}")
END
expect 0 inverse "$work/arm.yaml" --motion "$work/table.csv" --json
says err "rates that the motion does not give are differences"
cp "$work/out" "$work/first"
expect 0 inverse "$work/arm.yaml" --motion "shoulder=0.3*sin(2*t)" --motion "elbow=cos(t)" --output "1/40" --json
/usr/bin/python3 - "$work/first" "$work/out" <<'END' || fail "a table is not its expression"
import json, sys
a, b = (json.load(open(p))["drives"] for p in sys.argv[1:])
for d in a:
    assert max(abs(x - y) for x, y in zip(a[d]["force"], b[d]["force"])) < 1e-6, d
END
# Prescribed motions of the model itself.
sed -e 's/A: {type: revolute,/A: {motion: 6*t, type: revolute,/' -e 's/, v: 6 rad\/s//' "$source_dir/problems/four_bar/model.yaml" >"$work/turned.yaml"
expect 0 inverse "$work/turned.yaml" --out "$work/drive.csv" --output "10 ms"
grep -q "^t \[s\],.*drive(" "$work/drive.csv" || fail "no drive of the prescribed motion"

# Refusals name the object, the place and the remedy.
expect 2 inverse "$work/arm.yaml" --motion "shoulder=t"
says err 'says nothing of "elbow"'
expect 2 inverse "$work/arm.yaml" --motion "shoulder=t" --motion "elbow=t*" --end 1
says err "elbow"
expect 2 inverse "$work/arm.yaml" --motion "sholder=t"
says err 'did you mean "shoulder"'
expect 1 inverse "$work/arm.yaml" --motion "shoulder=t" --motion "elbow=t" --drive motor
says err "elbow"
expect 2 inverse "$work/arm.yaml" --motion "shoulder=t" --motion "elbow=t" --drive moter
says err 'did you mean "motor"'
expect 2 inverse "$source_dir/problems/four_bar/model.yaml" --motion "A=t" --motion "D=2*t"
says err "contradicts the closures"
expect 2 inverse "$work/arm.yaml" --motion "$work/run.csv" --motion "$work/table.csv"
says err "two files"
expect 1 inverse "$work/arm.yaml" --motion "$work/none.csv"
echo "x,shoulder" >"$work/bad.csv"
expect 1 inverse "$work/arm.yaml" --motion "$work/bad.csv"
says err "not the time t"
# An event that changes a parameter on the way makes another mechanism of it, which the model is not.
cat >"$work/change.yaml" <<'YAML'
linkwork: 1
name: a spring that softens
parameters: {k: 50 N/m}
bodies: {block: {mass: 2 kg, inertia: [1, 1, 1]}}
joints: {slide: {type: prismatic, between: [ground, block], axis: [1, 0, 0], q: 0.1}}
forces:
  spring: {type: drive, joint: slide, force: -k*q}
events: {soft: {when: t - 0.5, do: {set: {k: 20}}}}
run: {end: 1}
YAML
expect 0 run "$work/change.yaml" --quiet --record "joint, accelerations, parameter" --out "$work/change.csv"
expect 1 inverse "$work/change.yaml" --motion "$work/change.csv"
says err "parameter k is 20 at t = 0.5"
