#!/usr/bin/env bash
# Names of outputs, inputs and states in results; what events set; impacts that cannot happen.
source "$(dirname "$0")/support.sh" "$@"

# Outputs may be called as anything else is, and states and inputs as energies are: each has its column.
cat >"$work/names.yaml" <<'YAML'
linkwork: 1
name: names
gravity: [0, 0, 0]
inputs: {u: 1 N, potential: 0 N}
states: {kinetic: {rate: 1, start: 7}}
bodies:
  m: {mass: 1, inertia: [1, 1, 1]}
joints:
  b: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}
forces:
  f: {type: drive, joint: b, force: u + potential}
outputs:
  u: {value: 3 mm*b.q, unit: mm^2}
  t: 2*kinetic
  b.q: {value: b.v, unit: mm/s}
  kinetic: body.m.x
events:
  k: {when: t - 0.5, do: {set: {u: 2 N}}}
run: {end: 1, output: 0.25}
YAML
expect 0 run "$work/names.yaml" --quiet --out "$work/a.csv"
expect 0 run "$work/names.yaml" --quiet --out "$work/long.csv" --end 2
expect 0 run --resume "$work/a.csv" --end 2 --quiet --out "$work/b.csv"
python3 - "$work/b.csv" "$work/long.csv" <<'PYTHON' || fail "columns of outputs, inputs and states"
import csv, sys
rows, long = ([r for r in csv.reader(line for line in open(f) if not line.startswith("#"))] for f in sys.argv[1:])
assert rows[0] == long[0] and len(rows[0]) == len(set(rows[0])), rows[0]
last = dict(zip(rows[0], map(float, rows[-1])))
# 1 N for half a second, 2 N from there on: v = 0.5 + 2*1.5, q = 0.125 + 0.5*1.5 + 1.5^2
want = {"t [s]": 2, "b.q [m]": 3.125, "b.v [m/s]": 3.5, "u": 2, "input(potential)": 0, "state(kinetic)": 9,
        "output(u) [mm^2]": 9375, "output(t)": 18, "output(b.q) [mm/s]": 3500, "output(kinetic) [m]": 3.125,
        "kinetic [J]": 6.125, "forces [J]": 0, "drives [J]": 6.125, "unaccounted [J]": 0}
for name, value in want.items():
    assert abs(last[name] - value) < 1e-9 * (1 + value), (name, last[name], value)
assert all(abs(float(a) - float(b)) < 1e-9 for a, b in zip(rows[-1], long[-1]))
PYTHON
expect 0 run "$work/names.yaml" --json
json 'close(d["final"]["outputs"]["u"], 1875e-6, 1e-12) and close(d["final"]["outputs"]["t"], 16, 1e-9)'
expect 0 run "$work/names.yaml" --quiet --out "$work/c.csv" --record "input(u), output(u), state(kinetic), parameter"
grep -qF 't [s],u,output(u) [mm^2],state(kinetic)' "$work/c.csv" || fail "single values are not recorded: $(grep '^t' "$work/c.csv")"
expect 2 run "$work/names.yaml" --quiet --out "$work/d.csv" --record "input(w)"
says err 'unknown input "w"'
expect 0 plot "$work/a.csv" --out "$work/a.svg"

# Dimensions of what events set are checked as far as both are known.
sed 's/u: 2 N/u: 2 m/' "$work/names.yaml" >"$work/bad.yaml"
expect 2 check "$work/bad.yaml"
says err 'event "k": it sets "u", which is a force, to "2 m", which is a length'
sed 's/u: 2 N/u: b.v/' "$work/names.yaml" >"$work/trusted.yaml"
expect 0 check "$work/trusted.yaml"
says err 'warning: event "k": it sets "u", which is a force, to "b.v", which is a speed'

# An input that nobody has set follows its default where an event sets a parameter in it; one that is set does not.
cat >"$work/follow.yaml" <<'YAML'
linkwork: 1
name: follow
parameters: {p: 1}
gravity: [0, 0, 0]
inputs: {u: 10*p, w: 3*p}
bodies:
  m: {mass: 1, inertia: [1, 1, 1]}
joints:
  b: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}
forces:
  f: {type: drive, joint: b, force: u + w}
events:
  first: {when: t - 0.25, do: {set: {w: 5}}}
  then: {when: t - 0.5, do: {set: {p: 2}}}
run: {end: 1, output: 0.25}
YAML
expect 0 run "$work/follow.yaml" --json --out "$work/follow.csv"
# 13/4 + 15/4 + 25/2
json 'close(d["final"]["joints"]["b"]["v"][0], 19.5, 1e-9)'
expect 0 run --resume "$work/follow.csv" --start 0.75 --end 1 --json --out "$work/follow2.csv"
json 'close(d["final"]["joints"]["b"]["v"][0], 19.5, 1e-9)'

# A ball that begins on the floor at rest falls through an event that waits for it from above: this is told.
cat >"$work/floor.yaml" <<'YAML'
linkwork: 1
name: floor
bodies:
  m: {mass: 1, inertia: [1, 1, 1]}
joints:
  b: {type: prismatic, between: [ground, m], axis: [0, 0, 1]}
events:
  hit: {when: b.q, direction: down, do: {restitution: {joint: b, factor: 0.5}}}
run: {end: 0.1}
YAML
for integrator in erk adams bdf ida; do
    expect 0 run "$work/floor.yaml" --integrator $integrator --json
    json 'len(d["events"]) == 1 and d["events"][0]["kind"] == "warning" and "there is no impact" in d["events"][0]["text"]'
done
sed 's/0, 1\]}/0, 1], q: 1 cm}/' "$work/floor.yaml" >"$work/above.yaml"
expect 0 run "$work/above.yaml" --json
json 'all(e["name"] == "hit" for e in d["events"])'

# An output that has no value is told once.
sed 's/  kinetic: body.m.x/  root: sqrt(0.25 - b.q)/' "$work/names.yaml" >"$work/root.yaml"
expect 0 run "$work/root.yaml" --json
json '[e["text"] for e in d["events"] if e["kind"] == "warning"][0].startswith("output \"root\" is not finite at t = 0.75")'
json 'd["final"]["outputs"]["root"] is None and len([e for e in d["events"] if e["kind"] == "warning"]) == 1'
# The power of a drive without a prescribed motion.
sed 's/  kinetic: body.m.x/  power: drive(b).power/' "$work/names.yaml" >"$work/power.yaml"
expect 2 check "$work/power.yaml"
says err 'force(NAME).power'

# --input: the time comes first, and no input is given twice.
printf 'u,time\n0,0\n1,1\n' >"$work/turned.csv"
expect 2 run "$work/names.yaml" --input "u=$work/turned.csv:u"
says err 'column "u" is the first one, which has to be the time'
printf 'x,time,u\n0,0,1\n1,1,1\n' >"$work/turned.csv"
expect 2 run "$work/names.yaml" --input "u=$work/turned.csv:u"
says err 'its first column, "x", is not the one that is named time'
printf 'time,u\n0,0\n1,1\n' >"$work/u.csv"
expect 2 run "$work/names.yaml" --input "u=$work/u.csv:u" --set "u=2 N"
says err 'give the same input'

# Motions: no parameter in the speed of one changes, nor in a cam; a state that one follows may be set, which is told.
cat >"$work/motion.yaml" <<'YAML'
linkwork: 1
name: motion
parameters: {p: 1, T: 0.1}
gravity: [0, 0, 0]
signals: {speed: 2*p}
states: {lag: {rate: (p - lag)/T}, x1: {rate: speed}, x2: {rate: (lag - x2)/T}}
bodies:
  m: {mass: 2, inertia: [1, 1, 1]}
joints:
  b: {type: prismatic, between: [ground, m], axis: [1, 0, 0], motion: x2}
events:
  e: {when: t - 1, do: {set: {p: 2}}}
run: {end: 2}
YAML
expect 0 check "$work/motion.yaml"
sed 's/motion: x2/motion: x1/' "$work/motion.yaml" >"$work/speed.yaml"
expect 2 check "$work/speed.yaml"
says err 'event "e": it sets parameter "p", but joint "b" depends on it'
sed 's/set: {p: 2}/set: {T: 2}/' "$work/motion.yaml" >"$work/lag.yaml"
expect 2 check "$work/lag.yaml"
says err 'event "e": it sets parameter "T", but joint "b" depends on it'
sed 's/set: {p: 2}/set: {x2: 0}/' "$work/motion.yaml" >"$work/jump.yaml"
expect 0 run "$work/jump.yaml" --json
json 'any(e["kind"] == "warning" and "prescribed motion jumps by" in e["text"] for e in d["events"])'
cat >"$work/cam.yaml" <<'YAML'
linkwork: 1
name: cam
parameters: {p: 1}
tables: {lift: {interpolation: smooth, x: [0, 1, 2], y: [0, p, 2*p], beyond: linear}}
bodies:
  m: {mass: 2, inertia: [1, 1, 1]}
  n: {mass: 1, inertia: [1, 1, 1]}
joints:
  b: {type: prismatic, between: [ground, m], axis: [1, 0, 0], v: 1}
  c: {type: prismatic, between: [ground, n], axis: [1, 0, 0]}
constraints:
  cam: {type: coupling, terms: [{joint: c}, {joint: b, factor: -1, table: lift}]}
events:
  e: {when: t - 1, do: {set: {p: 2}}}
run: {end: 2}
YAML
expect 2 check "$work/cam.yaml"
says err 'it sets parameter "p", but constraint "cam" depends on it'

# Conditions as events: they happen where they become true (up) or false (down).
for when in 'slider.q > 0.5' 'not (slider.q <= 0.5)' 'slider.q >= 0.5 and t > 0.1' 'far'; do
    for direction in up any down; do
        cat >"$work/condition.yaml" <<YAML
linkwork: 1
name: condition
gravity: [0, 0, 0]
signals: {beyond: slider.q > 0.5, far: beyond}
bodies:
  m: {mass: 1, inertia: [1, 1, 1]}
joints:
  slider: {type: prismatic, between: [ground, m], axis: [1, 0, 0], v: 1}
events:
  e: {when: "$when", direction: $direction, do: stop}
run: {end: 2}
YAML
        expect 0 run "$work/condition.yaml" --json
        case $direction in
        down) json 'd["t_end"] == 2 and d["events"] == []' ;;
        *) json 'close(d["t_end"], 0.5, 1e-9) and d["events"][0]["name"] == "e"' ;;
        esac
    done
done

# A distance from a centre of mass is called as it was asked for.
expect 0 run "$work/condition.yaml" --quiet --out "$work/centre.csv" --record "distance(ground, com(m)), distance(com( m ), ground).rate"
grep -qF 't [s],"distance(ground, com(m)) [m]","distance(com(m), ground).rate [m/s]"' "$work/centre.csv" ||
    fail "names of distances: $(grep '^t' "$work/centre.csv")"

# Conditions on parameters that events set: the events follow at once, in any order of the file; expressions of
# parameters, conditions of them, and signals. What nothing sets is refused.
for when in "k - 10" "k > 10" "much" "twice - 20" "not (twice <= 20)"; do
    for order in "a b c" "c b a"; do
        cat >"$work/cascade.yaml" <<YAML
linkwork: 1
gravity: [0, 0, 0]
parameters: {F: 1 N, k: 2, twice: 2*k}
inputs: {u: 0}
signals: {much: k > 10}
bodies: {m: {mass: 1, inertia: [1, 1, 1]}}
joints: {slider: {type: prismatic, between: [ground, m], axis: [1, 0, 0]}}
forces: {f: {type: drive, joint: slider, force: F}}
events:
$(for e in $order; do
            case $e in
            a) echo '  a: {when: t - 0.5, do: {set: {u: 5}}}' ;;
            b) echo '  b: {when: u - 3, do: {set: {k: u + 7}}}' ;;
            c) echo "  c: {when: \"$when\", do: {set: {F: k}}}" ;;
            esac
        done)
run: {end: 1}
YAML
        expect 0 run "$work/cascade.yaml" --json
        # v = 0.5 with F = 1, then 12 for half a second.
        json '[e["name"] for e in d["events"]] == ["a", "b", "c"] and close(d["final"]["joints"]["slider"]["v"][0], 6.5, 1e-9)'
    done
done
sed -i 's/when: "not (twice <= 20)"/when: 2*3 - 7/' "$work/cascade.yaml"
expect 2 check "$work/cascade.yaml"
says err 'when "2*3 - 7" is always -1 and never passes through zero'
