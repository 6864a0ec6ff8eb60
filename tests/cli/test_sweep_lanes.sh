#!/usr/bin/env bash
# linkwork sweep --lanes: rows of runs side by side in vectors equal those of single runs, whatever stands beside them; what fails,
# and what cannot go side by side.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"

# Every kernel of the recursions, quaternions, springs between bodies, a rotor, an input.
cat >zoo.yaml <<'YAML'
linkwork: 1
parameters: {m: 1, h: 0.4, J: 0.02, k: 200, c: 0.3, a: 0.001, w: 0.2, g: 9.81}
inputs: {push: 0.5}
bodies:
  base: {mass: 3*m, com: [0, 0, h], inertia: [J, 2*J, 3*J], position: [0, 0, 0]}
  arm: {mass: m, com: [h, 0, 0.01], inertia: [J, J, 0.5*J], position: [h, 0, 0]}
  ball: {mass: m, com: [h, 0, -w], inertia: [J, 1.5*J, J, 0.1*J, 0, 0], position: [2*h, 0, 0]}
  slide: {mass: m/2, com: [0, h, 0], inertia: [J, J, J], position: [0, h, 0]}
  cross: {mass: m, com: [0, h, -h], inertia: [J, J, J], position: [0, h, -h]}
  flyer: {mass: m, com: [0, 0, 2], inertia: [J, 2*J, 2.5*J], position: [0, 0, 2]}
  tube: {mass: m, com: [0, -h, 0], inertia: [J, J, J], position: [0, -h, 0]}
joints:
  lift: {type: prismatic, between: [ground, base], axis: [0, 0, 1]}
  turn: {type: revolute, between: [base, arm], point: [0.1, 0, 0], axis: [0, 1, 1], q: 0.3, armature: a}
  ball: {type: spherical, between: [arm, ball], point: [h + w, 0, 0]}
  slide: {type: prismatic, between: [base, slide], point: [0, w, 0], axis: [0, 1, 0.2]}
  cross: {type: universal, between: [slide, cross], point: [0, h, 0], axes: [[1, 0, 0], [0, 1, 0]]}
  free: {type: free, between: [ground, flyer], point: [0, 0, 2]}
  tube: {type: cylindrical, between: [base, tube], point: [0, -w, 0], axis: [0, 1, 0]}
forces:
  hold: {type: spring, between: [ground, base], points: [[0, 0, 1], [0, 0, h]], stiffness: k, length: 0.5, damping: c}
  tie: {type: spring, between: [ball, flyer], points: [[h, 0, -w], [0, 0, 2]], stiffness: k/10, length: 2, damping: c}
  drag: {type: drive, joint: turn, torque: "push - c*v"}
gravity: [0, 0, -g]
run: {end: 0.3, output: 0.035, integrator: rk4, step: 2 ms, method: tree}
YAML
plan=(sweep zoo.yaml --vary "m ~ normal(1, 0.1)" --vary "h ~ uniform(0.38, 0.42)" --vary "J ~ uniform(0.02, 0.03)" --runs 11
    --vary "a ~ uniform(0.001, 0.002)" --vary "push ~ uniform(0, 1)" --vary "w ~ normal(0.2, 0.01)" --vary "g = 9.81, 1.62"
    --measure "final(turn.q)" --measure "max(reaction(ball).force)" --measure "rms(body.flyer.z)" --measure "final(unaccounted)"
    --measure "min(cross.a2)" --measure "final(free.qw)")
expect 0 "${plan[@]}" --out single.csv
expect 0 "${plan[@]}" --lanes --jobs 1 --out lanes.csv
expect 0 "${plan[@]}" --lanes --jobs 2 --out two.csv
cmp lanes.csv two.csv || fail "two threads give other rows than one"
# Other neighbours: what is gone on with behind row 10.
head -n $(($(grep -n "^10," lanes.csv | cut -d: -f1))) lanes.csv >part.csv
expect 0 "${plan[@]}" --lanes --out part.csv --resume
cmp lanes.csv part.csv || fail "other neighbours give other rows"
expect 1 "${plan[@]}" --out part.csv --resume
says err "lanes"

# What fails in one lane leaves the others alone: no mass, forces beyond all numbers, a step that is far too long.
cat >compare.py <<'CHECK'
import csv, sys
def rows(path):
    return list(csv.DictReader(line for line in open(path) if not line.startswith("#")))
one, other = rows(sys.argv[1]), rows(sys.argv[2])
assert len(one) == len(other) == int(sys.argv[3]), (len(one), len(other))
for a, b in zip(one, other):
    assert a["status"] == b["status"], (a, b)
    for name in a:
        # Runs of 150 steps whose rounding differs at most in the last digits.
        if name not in ("status", "reason") and a[name] + b[name]:
            assert abs(float(a[name]) - float(b[name])) <= 1e-12 * max(1, abs(float(a[name]))), (name, a, b)
print({state: sum(row["status"] == state for row in other) for state in ("ok", "doubtful", "failed")})
CHECK
python3 compare.py single.csv lanes.csv 22 || fail "rows of lanes differ from those of single runs"
plan=(sweep zoo.yaml --vary "m = 1, -1, 1.1, 0.9" --vary "g = 9.81, 1e9" --vary "k = 200, 1e7" --measure "final(turn.q)" --measure "max(kinetic)")
expect 0 "${plan[@]}" --out single2.csv
expect 0 "${plan[@]}" --lanes --out lanes2.csv
python3 compare.py single2.csv lanes2.csv 16 >counts || fail "rows that fail differ"
grep -q "'failed': [1-9]" counts && grep -q "'ok': [1-9]" counts || fail "nothing fails, or everything: $(cat counts)"

# Ranks.
mpi=$(dirname "$linkwork")/linkwork-mpi
if [[ -x $mpi ]] && command -v mpirun >/dev/null; then
    root=()
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI keeps memory to the end.
    [[ $(id -u) -ne 0 ]] || root=(--allow-run-as-root)
    mpirun "${root[@]}" --oversubscribe -n 3 "$mpi" "${plan[@]}" --lanes --quiet --out ranks.csv >out 2>err </dev/null || fail "ranks: $(cat err)"
    cmp lanes2.csv ranks.csv || fail "ranks give other rows than threads"
fi

# What cannot go side by side is refused before the first run, with the reason.
expect 2 sweep zoo.yaml --vary "m = 1, 2" --lanes --integrator erk --dry-run
says err "the integrator is not rk4"
expect 2 sweep zoo.yaml --vary "m = 1, 2" --lanes --method lagrange --dry-run
says err "the method is not tree"
expect 2 sweep "$source_dir/problems/four_bar/model.yaml" --vary "method = tree" --lanes --step 1e-3 --dry-run
says err "closes a loop"
expect 2 sweep pendulum.yaml --vary "m = 1, 2" --lanes --dry-run
says err "give --step"
