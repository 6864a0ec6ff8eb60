#!/usr/bin/env bash
# Results files carry their model: run --resume and --start, accel --state and --at, with both formats and what
# may be wrong with them.
source "$(dirname "$0")/support.sh" "$@"

cat > "$work/four.yaml" <<'MODEL'
linkwork: 1
name: four
parameters: {k: 5}
bodies:
  a: {mass: 1, com: [0.25, 0.43, 0], inertia: [0.1, 0.1, 0.1]}
  b: {mass: 2, com: [1, 0.866, 0], inertia: [0.1, 0.1, 0.1]}
  c: {mass: 1, com: [1.75, 0.43, 0], inertia: [0.1, 0.1, 0.1]}
joints:
  j1: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], v: 2}
  j2: {type: revolute, between: [a, b], point: [0.5, 0.866, 0], axis: [0, 0, 1]}
  j3: {type: revolute, between: [b, c], point: [1.5, 0.866, 0], axis: [0, 0, 1]}
  j4: {type: revolute, between: [c, ground], point: [2, 0, 0], axis: [0, 0, 1]}
states:
  turned: {rate: j1.v, start: 1}
forces:
  s: {type: spring, between: [ground, b], points: [[0, 2, 0], [1, 0.866, 0]], stiffness: k, damping: 0.1}
  d: {type: friction, joint: j1, viscous: 0.2}
run: {end: 2, tolerance: 1e-10, output: 0.02}
MODEL
model="$work/four.yaml"
expect 0 run "$model" --quiet --out "$work/whole.csv"
cp "$work/whole.csv" "$work/keep.csv"

for format in csv h5; do
    half="$work/half.$format" both="$work/both_$format.csv"
    expect 0 run "$model" --end 1 --quiet --out "$half"
    # Nothing but the file; the rows of both, each once; the books go on.
    mv "$model" "$work/away.yaml"
    expect 0 run --resume "$half" --end 2 --quiet --out "$both"
    expect 0 accel "$half" --state "$half" --json
    json "d['t'] == 1"
    expect 0 check "$half"
    mv "$work/away.yaml" "$model"
    python3 - "$work/whole.csv" "$both" <<'CHECK' || fail "the run that goes on differs"
import csv, sys
def read(path):
    lines = [l for l in open(path) if not l.startswith("#")]
    return list(csv.reader(lines))
a, b = read(sys.argv[1]), read(sys.argv[2])
assert a[0] == b[0] and len(a) == len(b) == 102, (a[0], b[0], len(a), len(b))
for x, y in zip(a[1:], b[1:]):
    for name, p, q in zip(a[0], x, y):
        # Two integrations with tolerance 1e-10 of a motion of order one.
        assert abs(float(p) - float(q)) < 1e-6, (name, p, q)
CHECK
    # The first half of the rows is the file's, bit by bit.
    if [ $format = csv ]; then
        grep -v "^#" "$half" > "$work/rows1"
        grep -v "^#" "$both" | head -n "$(wc -l < "$work/rows1")" > "$work/rows2"
        cmp "$work/rows1" "$work/rows2" || fail "rows have changed on the way"
    fi
    # A row in the middle, and the same state by a run to there: the same accelerations.
    expect 0 accel --state "$half" --at 0.5 --json
    cp "$work/out" "$work/row.json"
    expect 0 accel "$model" --at 0.5 --json
    python3 - "$work/row.json" "$work/out" <<'CHECK' || fail "accelerations differ"
import json, sys
a, b = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
assert a["t"] == b["t"] == 0.5
for j in a["qdd"]:
    for x, y in zip(a["qdd"][j], b["qdd"][j]): assert abs(x - y) < 1e-6, (j, x, y)
CHECK
    expect 0 run --resume "$half" --start 0.5 --end 0.6 --json
    json "d['t_end'] == 0.6"
    # No row there: refused with its neighbours; beyond the end of the file; nothing left to do.
    expect 2 accel --state "$half" --at 0.51
    says err "there is no row at t = 0.51; the rows beside it are at t = 0.5 and 0.52"
    expect 2 run --resume "$half" --start 7
    says err "there is no row at t = 7; the file goes from t = 0 to 1"
    expect 2 run --resume "$half" --end 1
    says err "has come to t = 1 s"
    expect 2 run --resume "$half" --out "$half"
    says err "is the file that the run goes on from"
    expect 0 run "$half" --set k=6 --end 0.1 --quiet
    expect 2 run "$half" --set kk=6
    says err 'did you mean "k"?'
    # What a record lacks.
    expect 0 run "$model" --end 0.1 --quiet --record "coordinates, j1.v, ledger" --out "$work/less.$format"
    expect 2 run --resume "$work/less.$format"
    says err "the file lacks j2.v, j4.v, turned of the model's state"
    # Another model.
    expect 2 run "$work/pendulum.yaml" --resume "$half"
    says err "the file lacks pin.q, pin.v of the model's state: it may belong to another model"
done

# A row that a killed run has left is dropped; the rest serves.
grep -v "^#" "$work/half.csv" | tail -1 > "$work/last"
{ grep "^#[=|]\|^# [lmfdriosetn]" "$work/half.csv" | grep -v "^# t_end\|^# steps\|^# samples\|^# reject\|^# en.*_" ; grep -v "^#" "$work/half.csv" | sed '$d'; head -c 30 "$work/last"; } > "$work/killed.csv"
expect 0 run --resume "$work/killed.csv" --end 1.5 --json
json "d['t_end'] == 1.5"
# Damaged, cut off, foreign.
sed 's/^#= \(.\{40\}\)./#= \1_/' "$work/half.csv" > "$work/damaged.csv"
expect 2 run --resume "$work/damaged.csv"
says err "the model that the file carries is damaged or cut off"
sed '0,/^#= /s/^#= \(.\{40\}\)\(.\)/#= \1A/' "$work/half.csv" > "$work/changed.csv"
cmp -s "$work/half.csv" "$work/changed.csv" || { expect 2 run --resume "$work/changed.csv"; says err "damaged or cut off"; }
head -c 2500 "$work/half.csv" > "$work/cut.csv"
expect 2 run --resume "$work/cut.csv"
says err "damaged or cut off"
head -c 5000 "$work/half.h5" > "$work/cut.h5"
expect 2 run --resume "$work/cut.h5"
says err "cannot be opened"
printf 't,x\n0,1\n' > "$work/foreign.csv"
expect 2 run "$work/four.yaml" --resume "$work/foreign.csv"
says err "lacks"
expect 2 run "$work/four.yaml" --resume "$work/none.csv"
says err "cannot be opened"
grep -v "^#=" "$work/half.csv" > "$work/old.csv" # as an old version has written it: the model has to be named
expect 0 run "$model" --resume "$work/old.csv" --end 1.1 --quiet
expect 2 accel "$model" --at -1
says err "before the start of the run"
expect 0 run "$model" --start 1 --end 1.5 --json
json "d['t_end'] == 1.5"

# What events have set until a row, an input and a parameter, belongs to it: a run that goes on, and
# accelerations of a row, know it; recorded forces and expressions follow it. x'' = u - k x with u = 2, k = 9
# after events at 0.2 and 0.3, by hand.
cat > "$work/set.yaml" <<'MODEL'
linkwork: 1
gravity: [0, 0, 0]
parameters: {k: 4 N/m}
inputs: {u: 0 N, w: "sin(t) * 1 N"}
bodies: {a: {mass: 1 kg, inertia: [1, 1, 1]}}
joints: {j: {type: prismatic, between: [ground, a], axis: [1, 0, 0], q: 1}}
forces: {f: {type: drive, joint: j, force: u - k*j.q + 0*w}}
events:
  on: {when: t - 0.2, do: {set: {u: 2}}}
  stiff: {when: t - 0.3, do: {set: {k: 9}}}
run: {end: 1, output: 0.1, tolerance: 1e-11}
MODEL
by_hand="$(python3 -c '
from math import *
def go(x, v, u, k, t):
    w = sqrt(k); c = x - u/k
    return u/k + c*cos(w*t) + v/w*sin(w*t), -c*w*sin(w*t) + v*cos(w*t)
x, v = go(1, 0, 0, 4, 0.2); x, v = go(x, v, 2, 4, 0.1); x, v = go(x, v, 2, 9, 0.7)
print(x, 2 - 9*x)')"
read -r at_end pull <<< "$by_hand"
for format in csv h5; do
    expect 0 run "$work/set.yaml" --end 0.5 --quiet --out "$work/set.$format"
    expect 0 run --resume "$work/set.$format" --end 1 --out "$work/whole.$format" --json
    json "abs(d['final']['joints']['j']['q'][0] - $at_end) < 1e-9"
    expect 0 accel --state "$work/whole.$format" --at 1 --json
    json "abs(d['qdd']['j'][0] - $pull) < 1e-8"
done
expect 0 accel "$work/set.yaml" --at 1 --json
json "abs(d['qdd']['j'][0] - $pull) < 1e-8"
expect 0 run "$work/set.yaml" --quiet --record "j.q, force(f), u - k*j.q, j.a, u, k, w, parameter" --out "$work/set.csv"
python3 - "$work/set.csv" "$pull" <<'CHECK' || fail "a record does not follow what events set"
import csv, math, sys
rows = list(csv.reader(l for l in open(sys.argv[1]) if not l.startswith("#")))
for r in rows[1:]:
    t, x, f, power, e, a, u, k, w = map(float, r)
    assert f == e == u - k*x and abs(a - f) < 1e-12 and abs(w - math.sin(t)) < 1e-15, r
    assert u == (2 if t > 0.19 else 0) and k == (9 if t > 0.29 else 4), r
assert abs(f - float(sys.argv[2])) < 1e-8
CHECK
expect 0 run "$work/set.yaml" --quiet --record "joint" --out "$work/lacks.csv"
expect 2 run --resume "$work/lacks.csv" --end 2
says err "the file lacks u, an input that an event of the model sets"

# Works of force elements go on, in columns and in outputs; without the column they begin anew.
sed 's/^forces:/outputs: {done: force(s).work}\nforces:/' "$model" > "$work/works.yaml"
expect 0 run "$work/works.yaml" --quiet --record "joint, state, force(*).work, output, ledger" --out "$work/works.csv"
for format in csv h5; do
    expect 0 run "$work/works.yaml" --end 1 --quiet --record "joint, state, force(*).work, output, ledger" --out "$work/first.$format"
    expect 0 run --resume "$work/first.$format" --end 2 --quiet --record "joint, state, force(*).work, output, ledger" --out "$work/second.csv"
    python3 - "$work/works.csv" "$work/second.csv" <<'CHECK' || fail "works do not go on"
import csv, sys
one, two = ([dict(zip(r[0], map(float, x))) for x in r[1:]] for r in
            (list(csv.reader(l for l in open(f) if not l.startswith("#"))) for f in sys.argv[1:]))
assert len(one) == len(two)
for a, b in zip(one, two):
    for k in a: assert abs(a[k] - b[k]) < 1e-7, (k, a[k], b[k])
    assert a["force(s).work [J]"] == a["done [J]"] and abs(a["force(d).work [J]"]) <= a["dissipation [J]"]
assert abs(one[-1]["done [J]"]) > 0.1
CHECK
done

# Every quantity in a file, and round trips of both formats bit by bit.
expect 0 run "$model" --end 0.1 --quiet --record "*, distance(a, b), point(b, 1, 0, 0 in a), force(s at first in b)" --out "$work/all.csv"
expect 0 run "$model" --end 0.1 --quiet --record "*, distance(a, b), point(b, 1, 0, 0 in a), force(s at first in b)" --out "$work/all.h5"
python3 - "$work/all.csv" "$work/all.h5" <<'CHECK' || fail "the formats differ"
import csv, sys
try: import h5py
except ImportError: sys.exit(0)
rows = list(csv.reader(l for l in open(sys.argv[1]) if not l.startswith("#")))
with h5py.File(sys.argv[2]) as f:
    data = f["data"][:]
    assert f["spec"].dtype == "uint8" and len(f["spec"]) > 100
assert data.shape == (len(rows) - 1, len(rows[0]))
for x, y in zip(rows[1:], data):
    for p, q in zip(x, y): assert (p == "" and q != q) or float(p) == q, (p, q)
CHECK

# Works since the start: an output or an expression that needs one brings it along, and the run goes on with it;
# a file that lacks it is refused, since the work would begin anew.
sed 's/^run:/outputs: {lost: -force(d).work}\nrun:/' "$model" > "$work/lost.yaml"
expect 0 run "$work/lost.yaml" --quiet --out "$work/lost.csv"
expect 0 run "$work/lost.yaml" --end 1 --quiet --out "$work/lost_half.csv"
expect 0 run --resume "$work/lost_half.csv" --end 2 --quiet --out "$work/lost_both.csv"
python3 - "$work/lost.csv" "$work/lost_both.csv" <<'CHECK' || fail "an output of works begins anew"
import csv, sys
a, b = (list(csv.DictReader(l for l in open(p) if not l.startswith("#")))[-1] for p in sys.argv[1:])
assert float(a["lost [J]"]) > 0.1 and a["lost [J]"] == "%r" % -float(a["force(d).work [J]"])
# Two integrations with tolerance 1e-10.
assert abs(float(a["lost [J]"]) - float(b["lost [J]"])) < 1e-7, (a["lost [J]"], b["lost [J]"])
CHECK
expect 0 run "$work/lost.yaml" --end 1 --quiet --record "joint, state" --out "$work/lost_half.csv"
expect 2 run --resume "$work/lost_half.csv"
says err "the file lacks force(d).work, so that the work since the start is not known"
expect 2 run --resume "$work/half.csv" --record "2*force(s).work" --out "$work/new.csv"
says err "the file lacks force(s).work"

# Signs of quaternions and turns of a cut joint's angle go on from the last row of the file, and its events stay.
cat > "$work/turns.yaml" <<'MODEL'
linkwork: 1
gravity: [0, 0, 0]
bodies:
  a: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.1]}
  b: {mass: 1, com: [1, 0, 1], inertia: [0.1, 0.1, 0.1]}
  c: {mass: 1, com: [2, 0, 0.5], inertia: [0.1, 0.1, 0.1]}
joints:
  j1: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], v: 8}
  j2: {type: revolute, between: [a, b], point: [0, 0, 1], axis: [0, 1, 0], cut: true}
  j3: {type: revolute, between: [b, c], point: [2, 0, 1.2], axis: [0, 1, 0]}
  j4: {type: revolute, between: [ground, c], point: [2, 0, 0], axis: [0, 1, 0]}
forces: {rub: {type: friction, joint: j2, viscous: 0.01}}
events:
  half: {when: sin(j1.q), direction: down, do: note}
run: {end: 3, output: 0.05, tolerance: 1e-10}
MODEL
# A record of expressions, and the coordinate of an element, know the turns as the columns do; so do outputs.
sed 's/^events:/outputs: {o: rub.length, p: 2*j2.q}\nevents:/' "$work/turns.yaml" > "$work/turned.yaml"
expect 0 run "$work/turned.yaml" --quiet --record "j2.q, o, p" --out "$work/outputs.csv"
expect 0 run "$work/turns.yaml" --quiet --record "*.q, body(a), body(c), 2*j2.q, rub.length, 2*body.a.qw" --out "$work/whole.csv"
for format in csv h5; do
    expect 0 run "$work/turns.yaml" --quiet --end 1.5 --out "$work/half.$format" --record "joint, body(a), body(c)"
    expect 0 run --resume "$work/half.$format" --quiet --end 3 --out "$work/both.$format" --record "joint, body(a), body(c)"
    expect 0 run --resume "$work/both.$format" --quiet --start 2 --end 3 --out "$work/again.csv" --record "*.q, body(a), body(c), 2*j2.q, rub.length, 2*body.a.qw"
    python3 - "$work/whole.csv" "$work/again.csv" "$work/outputs.csv" <<'CHECK' || fail "turns, signs or events do not go on"
import csv, sys
lines = [open(path).read().splitlines() for path in sys.argv[1:3]]
one, two = ([[float(x or "nan") for x in r] for r in list(csv.reader(l for l in f if not l.startswith("#")))[1:]] for f in lines)
assert len(one) == len(two) == 61
for a, b in zip(one, two):
    for x, y in zip(a, b):
        # Columns that the first half lacks are empty there.
        assert abs(x - y) < 1e-6 or (y != y and a[0] < 2.01), (a[0], x, y)
assert max(abs(a[2]) for a in one) > 7  # more than one revolution of the cut joint
outputs = [list(map(float, r)) for r in list(csv.reader(l for l in open(sys.argv[3]) if not l.startswith("#")))[1:]]
for a, o in zip(one, outputs):
    assert a[-3] == 2*a[2] and a[-2] == a[2] and a[-1] == 2*a[8], a
    assert abs(o[1] - a[2]) < 1e-6 and o[2] == o[1] and o[3] == 2*o[1], (a, o)
events = [[l.split()[2:] for l in f if l.startswith("# event:")] for f in lines]
assert len(events[0]) == len(events[1]) >= 4
for (t, name), (u, other) in zip(*events): assert name == other == "half" and abs(float(t) - float(u)) < 1e-7
CHECK
done
# The work of an element goes on, whether the rest is written to a file or not; the sum of both halves is that
# of the whole run, to its tolerance.
cat > "$work/spring.yaml" <<'MODEL'
linkwork: 1
name: work of an element
bodies: {m: {mass: 2, shape: box, size: [0.1, 0.1, 0.1]}}
joints: {rail: {type: prismatic, between: [ground, m], axis: [1, 0, 0], q: 0.2}}
forces: {coil: {type: drive, joint: rail, force: -40*q - 0.3*v}}
outputs: {w: force(coil).work}
run: {end: 4, tolerance: 1e-10}
MODEL
expect 0 run "$work/spring.yaml" --json --out "$work/w.csv"
cp "$work/out" "$work/w1.json"
expect 0 run "$work/spring.yaml" --quiet --end 2 --out "$work/w.h5"
expect 0 run --resume "$work/w.h5" --end 4 --json
cp "$work/out" "$work/w2.json"
expect 0 run --resume "$work/w.csv" --start 2 --end 4 --json --out "$work/w2.csv"
cp "$work/out" "$work/w3.json"
python3 - "$work"/w[123].json <<'CHECK' || fail "the work does not go on"
import json, sys
works = [json.load(open(path))["final"]["outputs"]["w"] for path in sys.argv[1:]]
assert abs(works[0]) > 0.1 and max(works) - min(works) < 1e-8, works
CHECK
echo passed
