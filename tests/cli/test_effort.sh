#!/usr/bin/env bash
# Runs that would not come to an end, or blow up: a sentence after a bounded effort that says what the cause is. And stiff models, which auto
# hands to bdf.
source "$(dirname "$0")/support.sh" "$@"
problems=$source_dir/problems
ulimit -t 60 # seconds of processor time for each call, ten times what is needed even on a slow machine

write() { cat >"$work/$1.yaml"; }

# --- no end --------------------------------------------------------------------------------------
# Dry friction by sign(v): the force jumps to and fro while the block sticks.
write dry <<'YAML'
linkwork: 1
name: block
parameters: {F: 10 N}
bodies: {block: {kind: point, mass: 1 kg}}
joints: {slide: {type: prismatic, between: [ground, block], axis: [1, 0, 0], v: 0.1}}
forces:
  dry: {type: drive, joint: slide, force: -F*sign(v)}
  pull: {type: torsion, joint: slide, stiffness: 20 N/m}
run: {end: 1 s}
YAML
for integrator in auto erk adams bdf ida; do
    expect 1 run "$work/dry.yaml" --integrator $integrator
    for text in 'force "dry"' "jumps" "--max-steps" "a finite width"; do says err "$text"; done
done
# What it says helps.
sed 's/-F\*sign(v)/-F*tanh(v\/0.001)/' "$work/dry.yaml" >"$work/smooth.yaml"
expect 0 run "$work/smooth.yaml" --json
json "d['t_end'] == 1 and d['steps'] < 5000"

# Springs of 1e15 Nm/rad that swing without damping: nothing but the sentence helps; it names one of the two, and not an integrator.
write arms <<'YAML'
linkwork: 1
name: arms
bodies:
  upper: {mass: 4 kg, com: [0.2, 0, 0], inertia: [0.01, 0.05, 0.05]}
  lower{s}: {repeat: {s: [1, 2]}, mass: 3 kg, com: [0.6, 0, 0], inertia: [0.01, 0.05, 0.05]}
joints:
  shoulder: {type: revolute, between: [ground, upper], point: [0, 0, 0], axis: [0, 1, 0]}
  elbow{s}: {repeat: {s: [1, 2]}, type: revolute, between: [upper, "lower{s}"], point: [0.4, 0, 0], axis: [0, 1, 0], q: 0.6*s}
forces:
  ease: {type: friction, joint: shoulder, viscous: 2}
  bend{s}: {repeat: {s: [1, 2]}, type: torsion, joint: "elbow{s}", stiffness: 1e15, damping: 1}
run: {end: 10 ms}
YAML
for integrator in auto adams bdf; do
    expect 1 run "$work/arms.yaml" --integrator $integrator
    for text in 'force "bend' "changes faster" "stiffness"; do says err "$text"; done
    ! grep -q -- "--integrator" "$work/err" || fail "no integrator helps here: $(cat "$work/err")"
done

# A damper that feeds energy.
write fed <<'YAML'
linkwork: 1
name: fed
bodies: {box: {mass: 1, shape: box, size: [0.1, 0.1, 0.1]}}
joints: {loose: {type: free, between: [ground, box], angular_velocity: [0.1, 0.2, 0]}}
forces:
  mount: {type: bushing, between: [ground, box], point: [0, 0, 0], stiffness: [1e4, 1e4, 2e4, 100, 100, 50], damping: [10, 10, 10, 1, -5, 1]}
run: {end: 1 s}
YAML
expect 1 run "$work/fed.yaml"
for text in 'force "mount"' "the energy has gone from" "feeds energy"; do says err "$text"; done

# The same in the same place, and a user who has patience is asked for it. Steps that were asked for are not judged.
cp "$work/err" "$work/first"
expect 1 run "$work/fed.yaml"
cmp -s "$work/err" "$work/first" || fail "a run ends elsewhere the second time"
expect 1 run "$work/pendulum.yaml" --end "1 h" --max-steps 100
says err "after 100 steps, all that are allowed"
says err "--max-steps"
expect 0 run "$work/pendulum.yaml" --end "10 min" --output "10 s"
expect 0 run "$work/pendulum.yaml" --integrator erk --step 1e-6 --end 0.2

# A trolley with next to no mass on rails that brake: stiff by decades, and nothing to bdf.
write light <<'YAML'
linkwork: 1
name: light
bodies:
  trolley: {mass: 1e-12, inertia: [20, 20, 20]}
joints:
  rail: {type: prismatic, between: [ground, trolley], axis: [1, 0, 0]}
forces:
  motor: {type: drive, joint: rail, force: "800*step(t, 0, 0, 0.2, 1)"}
  wheels: {type: friction, joint: rail, viscous: 20}
run: {end: 0.01}
YAML
expect 1 run "$work/light.yaml" --integrator erk
says err 'force "wheels"'
says err "take --integrator bdf"

# --- forces that jump ----------------------------------------------------------------------------
write bang <<'YAML'
linkwork: 1
name: bang
bodies: {block: {kind: point, mass: 1 kg}}
joints: {slide: {type: prismatic, between: [ground, block], axis: [1, 0, 0], v: 0.1}}
forces:
  bang: {type: drive, joint: slide, force: "10*sign(sin(1000*t))"}
  pull: {type: torsion, joint: slide, stiffness: 20 N/m}
run: {end: 4 s}
YAML
expect 0 run "$work/bang.yaml" --json
# The 1273 jumps are located, and no step is rejected because of one; the energy is accounted for to rounding.
json "d['rejected'] < 50 and d['steps'] < 3000 and d['verdict']['ok'] and d['energy']['max_drift'] < 1e-9"
json "not any(e['kind'] == 'warning' for e in d['events'])"

# --- blown up ------------------------------------------------------------------------------------
write damped <<'YAML'
linkwork: 1
name: damped
bodies: {block: {kind: point, mass: 1 kg}}
joints: {slide: {type: prismatic, between: [ground, block], axis: [1, 0, 0], v: 1}}
forces:
  pot: {type: torsion, joint: slide, stiffness: 20 N/m, damping: c}
parameters: {c: 29500}
run: {end: 0.01}
YAML
# rk4 is stable up to c h = 2.785: beyond it the energy grows in every step, from 0.5 J on, without anything that is not finite.
expect 1 run "$work/damped.yaml" --step 1e-4
for text in "blown up" "comes from nowhere" "the step 0.0001 s is too long" "bdf"; do says err "$text"; done
expect 0 run "$work/damped.yaml" --step 1e-4 --set c=27000
expect 1 run "$work/damped.yaml" --step 1e-3
says err "the step 0.001 s is too long"
# Energy that is given and taken is none of that: a mass that falls 5 km, a motor, a start at rest.
write falls <<'YAML'
linkwork: 1
name: falls
bodies: {stone: {kind: point, mass: 1 kg, com: [0, 0, 1e-9]}, rotor: {mass: 1, inertia: [1, 1, 1]}}
joints:
  shaft: {type: prismatic, between: [ground, stone], axis: [0, 0, 1]}
  axle: {type: revolute, between: [ground, rotor], point: [0, 0, 0], axis: [0, 0, 1]}
forces: {motor: {type: drive, joint: axle, torque: 1e5*sin(30*t)}}
run: {end: 30 s}
YAML
expect 0 run "$work/falls.yaml"
expect 0 run "$work/falls.yaml" --step 1e-3

# --- words ---------------------------------------------------------------------------------------
# Numbers beyond all bounds: the joint and its acceleration, not a step of nan.
sed 's/^run:/gravity: [0, 0, -1e300]\nrun:/' "$work/pendulum.yaml" >"$work/heavy.yaml"
! "$linkwork" run "$work/heavy.yaml" >"$work/out" 2>"$work/err" || fail "gravity of 1e300 is simulated"
grep -q 'joint "pin"\|body "bob"' "$work/err" || fail "nothing is named: $(cat "$work/err")"
! grep -q "nan" "$work/err" || fail "$(cat "$work/err")"
# A pole: the tolerance is not blamed, and not the integrator that has just failed.
sed 's/10\*sign(sin(1000\*t))/1\/(0.5-t)^2/' "$work/bang.yaml" >"$work/pole.yaml"
for integrator in erk adams bdf ida; do
    expect 1 run "$work/pole.yaml" --integrator $integrator
    ! grep -q "too tight" "$work/err" || fail "$integrator: $(cat "$work/err")"
done
expect 1 run "$work/pole.yaml" --integrator bdf
! grep -q "wants the integrator\|try the integrator" "$work/err" || fail "$(cat "$work/err")"

# --- stiff models --------------------------------------------------------------------------------
# Bushings: bdf without being asked, after a few hundred steps, with one note, whatever the coordinates.
for method in rcr cut lagrange partition; do
    expect 0 run "$problems/double_wishbone/model.yaml" --method $method --json --out "$work/$method.csv"
    json "d['integrator'] == 'bdf' and d['steps'] < 4000 and d['evaluations'] < 12000"
    json "[e['kind'] for e in d['events']].count('integrator') == 1 and d['events'][0]['t'] < 0.1"
    json "'stiff by force' in d['events'][0]['text'] and 'bdf goes on' in d['events'][0]['text']"
    grep -q "^# integrator: bdf" "$work/$method.csv" || fail "the results do not tell the integrator"
done
# Samples come at their times, whoever makes them: output does not change steps.
expect 0 run "$problems/double_wishbone/model.yaml" --json --output 2
cp "$work/out" "$work/few"
expect 0 run "$problems/double_wishbone/model.yaml" --json --output 1e-3
python3 - "$work/few" "$work/out" <<'PYTHON' || fail "the times of output change a run"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert a["steps"] == b["steps"] and a["final"] == b["final"]
PYTHON
# Who forces erk is told; the two agree. Rates of 1e4 1/s; errors of 1e-8 in a step, some thousand steps.
expect 0 run "$problems/double_wishbone/model.yaml" --integrator erk --end 0.3 --json
json "d['integrator'] == 'erk' and [e['kind'] for e in d['events']] == ['warning'] and '--integrator bdf' in d['events'][0]['text']"
cp "$work/out" "$work/erk"
expect 0 run "$problems/double_wishbone/model.yaml" --end 0.3 --json
python3 - "$work/erk" "$work/out" <<'PYTHON' || fail "erk and bdf differ"
import json, sys
a, b = (json.load(open(f))["final"]["joints"] for f in sys.argv[1:])
worst = max(abs(x - y) for j in a for k in "qv" for x, y in zip(a[j][k], b[j][k]))
assert worst < 1e-4, worst
PYTHON
expect 0 run "$problems/walker/model.yaml" --integrator auto --end 0.5 --json
json "d['integrator'] == 'bdf'"

# Not stiff: bitwise what erk gives, with as many evaluations. Nor are vibrations that have to be followed, however fast.
cp "$work/arms.yaml" "$work/swing.yaml"
for model in "$problems/two_arms/model.yaml" "$problems/chain/model.yaml" "$problems/heavy_top_fast/model.yaml" \
    "$problems/spring_chain/model.yaml" "$work/swing.yaml"; do
    settings=()
    [[ $model == */swing.yaml ]] && { sed -i 's/1e15/1e9/' "$model"; settings=(--output 1); }
    expect 0 run "$model" --integrator erk --json "${settings[@]}"
    cp "$work/out" "$work/erk"
    expect 0 run "$model" --integrator auto --json "${settings[@]}"
    python3 - "$work/erk" "$work/out" <<'PYTHON' || fail "$model: auto is not erk"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert all(a[k] == b[k] for k in ("integrator", "steps", "evaluations", "rejected", "final", "events")), (a["steps"], b["steps"])
PYTHON
done
