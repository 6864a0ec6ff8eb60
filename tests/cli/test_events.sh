#!/usr/bin/env bash
# Events of models in the program: exit status, JSON, results files, plots, a run that ends endlessly.
source "$(dirname "$0")/support.sh" "$@"

cat >"$work/kick.yaml" <<'YAML'
linkwork: 1
name: kick
gravity: [0, 0, 0]
inputs: {throttle: 0 N}
bodies:
  m: {mass: 1, inertia: [1, 1, 1]}
joints:
  slider: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}
forces:
  motor: {type: drive, joint: slider, force: throttle}
events:
  hit: {when: slider.q - 0.625, direction: up, do: stop}
  kick: {when: t - 1, do: {set: {throttle: 5}}}
  'half & half': {when: slider.q - 0.1, direction: up, do: note}
run: {end: 3}
YAML
expect 0 run "$work/kick.yaml" --json
silent err
python3 - "$work/out" <<'PYTHON' || fail "the JSON of a run with events is not right"
import json, sys
d = json.load(open(sys.argv[1]))
assert abs(d["t_end"] - 1.5) < 1e-9, d["t_end"]          # 5/2 (t - 1)^2 = 0.625
assert [(e["name"], e["kind"], e["text"]) for e in d["events"]] == [
    ("kick", "event", None), ("half & half", "event", None), ("hit", "event", None)], d["events"]
assert abs(d["events"][0]["t"] - 1) < 1e-12 and d["events"][2]["t"] == d["t_end"]
assert abs(d["final"]["joints"]["slider"]["q"][0] - 0.625) < 1e-9
PYTHON
for ending in csv h5; do
    expect 0 run "$work/kick.yaml" --quiet --out "$work/r.$ending"
    expect 0 plot "$work/r.$ending" slider.q --out "$work/$ending.svg"
    [[ $(grep -c 'class="event"' "$work/$ending.svg") -eq 3 ]] || fail "r.$ending: the plot does not show three events"
    grep -qF "half &amp; half" "$work/$ending.svg" || fail "r.$ending: the plot does not name an event"
done
grep -qE '^# event: 1(\.0*)? kick$' "$work/r.csv" || fail "the CSV file does not name the event: $(grep event "$work/r.csv")"
sed "s/r\.h5/r.csv/" "$work/h5.svg" | cmp - "$work/csv.svg" || fail "HDF5 and CSV give different plots"
# The same instants, to the last bit, whatever the interval between samples.
expect 0 run "$work/kick.yaml" --json --output 0.37
cp "$work/out" "$work/a"
expect 0 run "$work/kick.yaml" --json --output 1e-3
python3 -c 'import json,sys; a,b=(json.load(open(f))["events"] for f in sys.argv[1:]); assert a==b,(a,b)' "$work/a" "$work/out" ||
    fail "events depend on the times of samples"
# Notes of methods have no name.
sed 's/force: throttle/force: "throttle + 0.3 - sign(v)"/; s/slider.q - 0.625/slider.q - 9/; s/end: 3/end: 0.5/' "$work/kick.yaml" >"$work/stick.yaml"
expect 0 run "$work/stick.yaml" --integrator rk4 --step 1e-3 --json
python3 - "$work/out" <<'PYTHON' || fail "notes of methods"
import json, sys
d = json.load(open(sys.argv[1]))
assert any(e["name"] is None and e["kind"] == "switch" and e["text"] for e in d["events"]), d["events"]
PYTHON
# Endless: exit status 1, the event, the reason, the remedy, the place.
expect 1 run "$source_dir/problems/bouncing_ball/model.yaml" --end 5
says err 'event "bounce": it has happened 100 times'
says err 'do: stop'
says err "model.yaml:$(grep -n '^  bounce:' "$source_dir/problems/bouncing_ball/model.yaml" | cut -d : -f 1):3"
# Written and read again, the same.
expect 0 check "$work/kick.yaml"
# Conserving steps refuse.
expect 2 run "$work/kick.yaml" --method director --integrator energy-momentum --step 1e-3
says err "event"

# Columns of forces and expressions follow a parameter that an event sets: here the spring lets go.
cat >"$work/lets_go.yaml" <<'YAML'
linkwork: 1
name: lets go
parameters: {k: 100 N/m}
inputs: {push: 3 N}
bodies: {b: {kind: point, mass: 2 kg}}
joints: {g: {type: prismatic, between: [ground, b], axis: [1, 0, 0], q: 0.1}}
forces:
  s: {type: torsion, joint: g, stiffness: k}
  d: {type: drive, joint: g, force: push}
events:
  release: {when: t - 0.45 s, do: {set: {k: 0 N/m, push: 1 N}}}
run: {end: 1 s, output: 0.1 s}
YAML
expect 0 run "$work/lets_go.yaml" --quiet --out "$work/lets_go.csv" --record "joint, accelerations, force, k, push, 2*k*g.q"
python3 - "$work/lets_go.csv" <<'PYTHON' || fail "columns do not follow a parameter that an event sets"
import csv, sys
rows = list(csv.DictReader(l for l in open(sys.argv[1]) if not l.startswith("#")))
assert len(rows) == 11
for r in rows:
    t, q = float(r["t [s]"]), float(r["g.q [m]"])
    k, push = (100, 3) if t < 0.45 else (0, 1)
    assert float(r["k"]) == k and float(r["push"]) == push, r
    assert abs(float(r["force(s) [N]"]) + k * q) < 1e-12 and abs(float(r["2*k*g.q"]) - 2 * k * q) < 1e-12, r
    assert abs(2 * float(r["g.a [m/s^2]"]) - float(r["force(s) [N]"]) - float(r["force(d) [N]"])) < 1e-9, r
PYTHON

# Forces whose laws read user states: columns, outputs and events see them as they are at that instant.
cat >"$work/lag.yaml" <<'YAML'
linkwork: 1
name: a force that lags behind
inputs: {lift: 30 N}
states: {load: {start: 0 N, rate: "(lift - load)/(1 s)"}}
bodies: {b: {kind: point, mass: 2 kg}}
joints: {g: {type: prismatic, between: [ground, b], axis: [1, 0, 0]}}
forces:
  pull: {type: drive, joint: g, force: load}
outputs: {seen: force(pull)}
events: {ten: {when: force(pull) - 10 N, do: note}}
run: {end: 1 s, output: 0.05 s}
YAML
expect 0 run "$work/lag.yaml" --quiet --out "$work/lag.csv" --record "joint, accelerations, force, state, output"
python3 - "$work/lag.csv" <<'PYTHON' || fail "forces do not see the user states of the instant"
import csv, math, sys
lines = open(sys.argv[1]).read().splitlines()
rows = list(csv.DictReader(l for l in lines if not l.startswith("#")))
for r in rows:
    load = 30 * (1 - math.exp(-float(r["t [s]"])))
    for name in ("force(pull) [N]", "seen [N]"):
        assert abs(float(r[name]) - load) < 1e-5, (name, r)
    assert abs(2 * float(r["g.a [m/s^2]"]) - load) < 1e-5, r
events = [l.split() for l in lines if l.startswith("# event:")]
assert len(events) == 1 and abs(float(events[0][2]) - math.log(1.5)) < 1e-6, events
PYTHON
