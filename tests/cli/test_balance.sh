#!/usr/bin/env bash
# What the balance check means to a user: answers that do not balance are refused with a remedy, and runs have a verdict.
source "$(dirname "$0")/support.sh" "$@"

# A four-bar whose loop closes between light frames welded to coupler and rocker, as URDF exporters write them: the answer must
# not depend on the mass of the frames, nor on whether they have one. Welds are kept, since merged ones would leave no frames.
cat >"$work/frames.yaml" <<'YAML'
linkwork: 1
welds: keep
parameters: {eps: 1e-9 kg}
bodies:
  crank: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.02]}
  coupler: {mass: 2, com: [1, 0, 1], inertia: [0.04, 0.7, 0.7]}
  rocker: {mass: 1.5, com: [2, 0, 0.5], inertia: [0.3, 0.3, 0.03]}
  frameA: {mass: eps, com: [2, 0, 1], inertia: [0, 0, 0]}
  frameB: {mass: eps, com: [2, 0, 1], inertia: [0, 0, 0]}
joints:
  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 1}
  B: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0], v: -1}
  D: {type: revolute, between: [ground, rocker], point: [2, 0, 0], axis: [0, 1, 0], v: 1}
  wA: {type: weld, between: [coupler, frameA]}
  wB: {type: weld, between: [rocker, frameB]}
  C: {type: spherical, between: [frameA, frameB], point: [2, 0, 1], cut: true}
forces:
  m: {type: drive, joint: A, torque: 10}
run: {end: 0.2 s}
YAML
for eps in 1e-6 1e-9 1e-10 1e-12 1e-14 0; do
    expect 0 accel "$work/frames.yaml" --set "eps=$eps kg" --json
    json "close(d['qdd']['A'][0], 3.305785123966942, 1e-5 * $eps / 1e-6 + 1e-11) and d['balance'] < 1e-6"
    for method in rcr cut lagrange nullspace partition; do # right, or refused with a reason that is none of rank or input
        status=0
        "$linkwork" accel "$work/frames.yaml" --set "eps=$eps kg" --method $method --json >"$work/out" 2>"$work/err" || status=$?
        [[ $status -eq 0 ]] || { says err "$method"; continue; }
        json "close(d['qdd']['A'][0], 3.305785123966942, 1e-5 * $eps / 1e-6 + 1e-11)"
    done
done

# An approximate method out of its depth says so, and what to take.
expect 1 accel "$work/frames.yaml" --method penalty
says err "penalty"
says err "take an exact method"
silent out

# With merged welds there is no light body left, and every method is right.
sed '/^welds:/d' "$work/frames.yaml" >"$work/merged.yaml"
for method in rcr cut lagrange nullspace partition penalty; do
    expect 0 accel "$work/merged.yaml" --method $method --json
    json "close(d['qdd']['A'][0], 3.305785123966942, 1e-5 if '$method' == 'penalty' else 1e-8)"
done

# Forces that are not finite: an error that names the place, never a number.
sed 's/  crank: {mass: 1,/  crank: {mass: 1e308,/' "$work/frames.yaml" >"$work/absurd.yaml"
for command in accel run; do
    "$linkwork" $command "$work/absurd.yaml" --json >"$work/out" 2>"$work/err" && fail "$command takes a mass of 1e308 kg"
    silent out
done

# Verdicts: ok, and doubtful with reasons, in all that a run leaves.
expect 0 run "$source_dir/problems/four_bar/model.yaml" --end 1 --json --strict
json "d['verdict'] == {'ok': True, 'reasons': []} and 0 <= d['balance_max'] < 1e-6"
cat >"$work/top.yaml" <<'YAML'
linkwork: 1
bodies: {arm: {mass: 1 kg, shape: rod, points: [[0, 0, 0], [0, 0, -1]], radius: 20 mm}}
joints: {pin: {type: revolute, between: [ground, arm], axis: [0, 1, 0], point: [0, 0, 0], v: 12}}
run: {end: 4 s}
YAML
expect 0 run "$work/top.yaml" --integrator rk4 --step 0.25 --json --out "$work/top.csv"
json "not d['verdict']['ok'] and d['verdict']['reasons'][0].startswith('energy: ')"
says err "doubtful: energy: "
grep -q '^# verdict: doubtful$' "$work/top.csv" || fail "the results file does not tell the verdict"
grep -q '^# reason: "\?energy: ' "$work/top.csv" || fail "the results file does not tell the reason"
expect 1 run "$work/top.yaml" --integrator rk4 --step 0.25 --strict
tail -n 1 "$work/out" | grep -q '^doubtful: energy: ' || fail "the last line is not the verdict: $(tail -n 1 "$work/out")"
expect 0 run "$work/top.yaml" --strict

# Compliance beside merged welds: two welds of different compliance share a load by least elastic energy, in closed form, whether the
# weld before them is merged or kept: forces f and 2 g - f, torques m and 0.5 (2 g - f) - 1.5 f - m about y, for which the derivatives of
# the energy by f and by m vanish.
cat >"$work/two_welds.yaml" <<'YAML'
linkwork: 1
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
  b: {mass: 2, com: [0.5, 0, 0], inertia: [1, 1, 1]}
joints:
  p: {type: weld, between: [ground, a], point: [0, 0, 0]}
  j1: {type: weld, between: [a, b], point: [-1, 0, 0], compliance: {translation: 1e-6, rotation: 1e-6}}
  j2: {type: weld, between: [a, b], point: [1, 0, 0], compliance: {translation: 3e-6, rotation: 2e-6}}
YAML
for welds in merge keep; do
    { cat "$work/two_welds.yaml"; echo "welds: $welds"; } >"$work/welds_$welds.yaml"
    expect 0 accel "$work/welds_$welds.yaml" --json
    json "close(d['reactions']['j1']['force'][2], 10.791, 1e-9) and close(d['reactions']['j1']['torque'][1], -7.848, 1e-9)"
    json "close(d['reactions']['j2']['force'][2], 8.829, 1e-9) and close(d['reactions']['j2']['torque'][1], -3.924, 1e-9)"
    json "close(d['reactions']['p']['force'][2], 29.43, 1e-9)"
done
