#!/usr/bin/env bash
# Bodies without mass, and small mass: linkwork info, run --neglect-mass, reproduce arnold2013.
source "$(dirname "$0")/support.sh" "$@"
problems=$source_dir/problems

# Directions without mass and their class.
expect 0 info "$problems/two_oscillators/model.yaml" --json
silent err
json "d['massless']['dynamic'] == 1 and len(d['massless']['directions']) == 1 and d['stiff'] == []"
json "[(x['body'], x['joint'], x['speed'], x['class'], x['reason']) for x in d['massless']['directions']] == [('light', 'q1', 0, 'first order', None)]"
json "[m['applies'] for m in d['methods'] if m['method'] == 'massless'] == [True]"
expect 0 info "$problems/two_oscillators/model.yaml" --set d=0 --json
json "[x['class'] for x in d['massless']['directions']] == ['algebraic']"
expect 0 info "$problems/arnold_sect4_upper/model.yaml" --all
says out "directions without mass: 2; with mass (dynamic, of second order): 2"
says out "first order"
expect 0 info "$problems/arnold_sect4_lower/model.yaml" --json
json "d['massless']['dynamic'] == 2 and [(x['joint'], x['class']) for x in d['massless']['directions']] == [('qi', 'first order')]"
expect 0 info "$work/pendulum.yaml" --json
json "d['massless'] == {'directions': [], 'dynamic': 1} and d['stiff'] == []"
expect 0 info "$work/pendulum.yaml" --all
! grep -q "directions without mass\|light bodies" "$work/out" || fail "info speaks of mass where there is nothing to say"

# Nothing resists: info says what is missing, run refuses.
cat >"$work/loose.yaml" <<'YAML'
linkwork: 1
name: loose
bodies:
  ring: {kind: point, mass: 0}
  bob: {kind: point, mass: 1}
joints:
  slide: {type: prismatic, between: [ground, ring], axis: [1, 0, 0]}
  rope: {type: prismatic, between: [ring, bob], axis: [1, 0, 0]}
YAML
expect 0 info "$work/loose.yaml" --json
json "[x['class'] for x in d['massless']['directions']] == ['undetermined'] and 'ring' in d['massless']['directions'][0]['reason']"
expect 0 info "$work/loose.yaml" --all
says out "undetermined"
says out "warning: "
expect 2 run "$work/loose.yaml" --method massless
says err 'body "ring"'
says err "add inertia, a damper or a spring there"

# check reports it as a fault, in the words of run; not where something resists, nor where a body without mass has no motion of its own.
expect 2 check "$work/loose.yaml"
says err 'body "ring": has no mass, and nothing resists its translation along x (joint "slide"); add inertia, a damper or a spring there'
says out "1 error, 0 warnings"
expect 2 check "$work/loose.yaml" --json
json "[(x['severity'], x['line'], x['object']) for x in d] == [('error', 4, 'body \"ring\"')]"
expect 0 check "$problems/two_oscillators/model.yaml"
expect 0 check "$problems/two_oscillators/model.yaml" --set d=0

# A balance that a little mass would leave: refused, and said why.
cat >"$work/unstable.yaml" <<'YAML'
linkwork: 1
name: unstable
bodies:
  knot: {kind: point, mass: 0}
  bob: {kind: point, mass: 1}
joints:
  first: {type: prismatic, between: [ground, knot], axis: [1, 0, 0], q: 0.1}
  second: {type: prismatic, between: [knot, bob], axis: [1, 0, 0], q: 0.2}
forces:
  push: {type: torsion, joint: first, law: -200*x}
  pull: {type: torsion, joint: second, stiffness: 100}
YAML
expect 1 run "$work/unstable.yaml" --end 0.1
says err 'body "knot": springs alone hold its translation along x (joint "first"), in an unstable balance at t = 0; give it mass or damping'

# check and info say so before a run.
expect 2 check "$work/unstable.yaml"
says err 'unstable.yaml:4:3: body "knot": springs alone hold its translation along x (joint "first"), in an unstable balance at t = 0; give it mass or damping'
says out "1 error, 0 warnings"
expect 0 info "$work/unstable.yaml" --all
says out 'warning: '
says out 'in an unstable balance at t = 0'
expect 0 info "$work/unstable.yaml" --json
json "'unstable balance' in d['massless']['no_balance']"
sed 's/-200[*]x/200*x/' "$work/unstable.yaml" >"$work/stable.yaml"
expect 0 check "$work/stable.yaml"
expect 0 info "$work/stable.yaml" --json
json "'no_balance' not in d['massless']"

# Springs that hold a body elsewhere, but not at the very position where it begins: a sentence that names body and motion.
cat >"$work/slack.yaml" <<'YAML'
linkwork: 1
name: slack
bodies:
  a: {mass: 0}
  b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}
joints:
  ja: {type: free, between: [ground, a]}
  jb: {type: free, between: [ground, b]}
forces:
  s1: {type: spring, between: [a, b], points: [[0.2, 0, 0], [1, 0, 0]], stiffness: 100, damping: 3}
  hold: {type: bushing, between: [ground, a], point: [0, 0, 0], stiffness: [0, 2, 2, 2, 0, 0], damping: [0, 0, 0, 0, 0, 0]}
YAML
expect 2 check "$work/slack.yaml"
says err 'slack.yaml:4:3: body "a": springs alone hold its rotation about'
says err "(joint \"ja\"), and do not resist it in its position at t = 0; add a spring, a damper or inertia there, or begin at another position"

# Directions of loops have different names.
cat >"$work/loop.yaml" <<'YAML'
linkwork: 1
name: loop
parameters: {ep: 0}
bodies:
  crank: {mass: 1, com: [0, 0, 0.15], inertia: [0.01, 0.01, 0.01]}
  c1: {mass: ep, com: [0.1, 0, 0.3], inertia: [ep, ep, ep]}
  k1: {mass: ep, com: [0.2, 0, 0.3], inertia: [ep, ep, ep]}
  k2: {mass: ep, com: [0.3, 0, 0.3], inertia: [ep, ep, ep]}
  c2: {mass: ep, com: [0.5, 0, 0.3], inertia: [ep, ep, ep]}
  rocker: {mass: 1, com: [0.6, 0, 0.15], inertia: [0.01, 0.01, 0.01]}
joints:
  p1: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], motion: 0.3*sin(10*t)}
  p2: {type: revolute, between: [crank, c1], point: [0, 0, 0.3], axis: [0, 1, 0]}
  s1: {type: prismatic, between: [c1, k1], point: [0.2, 0, 0.3], axis: [1, 0, 0]}
  s2: {type: prismatic, between: [k1, k2], point: [0.3, 0, 0.3], axis: [1, 0, 0]}
  s3: {type: prismatic, between: [k2, c2], point: [0.4, 0, 0.3], axis: [1, 0, 0]}
  p3: {type: revolute, between: [c2, rocker], point: [0.6, 0, 0.3], axis: [0, 1, 0]}
  p4: {type: revolute, between: [ground, rocker], point: [0.6, 0, 0], axis: [0, 1, 0]}
forces:
  f3: {type: torsion, joint: s3, damping: 30, stiffness: 300}
  d1: {type: torsion, joint: p3, damping: 0.1, stiffness: 5}
YAML
expect 0 info "$work/loop.yaml" --json
json "len({(x['joint'], x['speed']) for x in d['massless']['directions']}) == len(d['massless']['directions']) == 2"
json "sorted(x['class'] for x in d['massless']['directions']) == ['first order', 'undetermined']"

# Its rocker starts at rest, without mass in the loop or with a little, wherever the loop is cut.
sed -i 's/^forces:/&\n  f1: {type: torsion, joint: s1, stiffness: 500}\n  f2: {type: torsion, joint: s2, stiffness: 400}/' "$work/loop.yaml"
for ep in 0 1e-9 1e-6; do
    expect 0 run "$work/loop.yaml" --set ep=$ep --end 1e-4 --integrator bdf --out "$work/start.csv" --record "velocity(rocker)"
    python3 - "$work/start.csv" <<'PYTHON' || fail "the initial speeds depend on where the loop is cut (ep = $ep)"
import csv, sys
rows = [r for r in csv.reader(open(sys.argv[1])) if not r[0].startswith("#")]
start = next(r for r in rows if r[0].replace(".", "").replace("e", "").replace("-", "").isdigit())
assert all(abs(float(x)) < 1e-3 for x in start[1:]), start
PYTHON
done

# So does auto, in the same words; every other method that refuses a body without mass says that massless takes it, and auto takes it.
expect 2 run "$work/loose.yaml"
says err 'body "ring": has no mass, and nothing resists its translation along x (joint "slide")'
for method in tree cut rcr lagrange schur rates barycentre relative nullspace partition penalty director; do
    expect 2 run "$problems/two_oscillators/model.yaml" --method $method
    says err "massless"
done
expect 0 run "$problems/two_oscillators/model.yaml" --json
json "d['method'] == 'massless'"

# One-sided contacts under a trunk without inertia: what info calls determined, the method takes.
expect 0 run "$problems/walker/model.yaml" --neglect-mass 0.3 --end 0.02 --json
json "d['method'] == 'massless' and not any(b['kept'] for b in d['neglect']['bodies'])"
expect 0 info "$problems/walker/model.yaml" --set leg=0 --set foot=0 --json
json "all(x['class'] != 'undetermined' for x in d['massless']['directions']) and [m['applies'] for m in d['methods'] if m['method'] == 'massless'] == [True]"

# A light body makes the run stiff: info names it and says what to do, and what it says works.
expect 0 info "$problems/two_oscillators/model.yaml" --set m1=1e-5 --json
silent err
json "[(x['body'], x['motion'], x['neglect']) for x in d['stiff']] == [('light', 'decays', 2e-5)] and close(d['stiff'][0]['rate'], 4e6, 1e4)"
expect 0 info "$problems/two_oscillators/model.yaml" --set m1=1e-5 --all
says out "--neglect-mass 2e-05, or take --integrator bdf"
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-5 --neglect-mass 2e-05 --json
silent err
json "d['method'] == 'massless' and d['neglect']['ratio'] == 2e-5 and d['neglect']['failure'] is None"
json "[(b['body'], b['mass'], b['kept']) for b in d['neglect']['bodies']] == [('light', 1e-5, False)]"
json "d['neglect']['error']['trusted'] and d['neglect']['error']['resolved'] and close(d['neglect']['error']['order'], 1, 0.25)"
python3 -c "import json; d = json.load(open('$work/out')); json.dump({'q': d['final']['joints'], 'error': d['neglect']['error']}, open('$work/neglected', 'w'))"

# The estimate bounds what the run with the mass shows at its end, and is of that size (largest over the run).
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-5 --json --tol 1e-10
json "d['method'] != 'massless' and 'neglect' not in d"
python3 - "$work" <<'PYTHON' || fail "the estimate and the true difference do not fit"
import json, sys
with_mass = json.load(open(sys.argv[1] + "/out"))["final"]["joints"]
neglected = json.load(open(sys.argv[1] + "/neglected"))
for joint in "q1", "q2":
    true = abs(with_mass[joint]["q"][0] - neglected["q"][joint]["q"][0])
    estimate = neglected["error"]["joints"][joint]["error"]
    # the run's tolerance is 1e-8; the estimate is the largest over the run
    assert true < 2 * estimate + 1e-7, (joint, true, estimate)
    assert 1e-9 < estimate < 1e-4
PYTHON
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-5 --neglect-mass 1e-4
says out "neglected, in brackets the ratio"
says out "mass 1e-05 kg (1e-05)"
says out "error made by that, estimated"
# The results tell of it: the text of the model in them has the inertia.
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-5 --neglect-mass 1e-4 --out "$work/neglected.csv"
grep -q "^# neglect_mass: 0.0001$" "$work/neglected.csv" || fail "the results do not tell the ratio that was neglected"
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-5 --out "$work/whole.csv"
! grep -q "neglect_mass" "$work/whole.csv" || fail "the results tell of a neglect that was not asked for"
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=0.5 --neglect-mass 1e-4
says out "nothing was neglected"

# The light bodies of a chain are named together: neglecting one alone would leave the same springs to the next.
expect 0 info "$problems/walker/model.yaml" --json
json "len(d['stiff']) == 8 and max(x['neglect'] for x in d['stiff']) == 3e-3 and d['massless']['directions'] == []"

# Undamped, it swings forever: the estimate is not to be trusted, and says so.
expect 0 run "$problems/two_oscillators/model.yaml" --set m1=1e-8 --set d=0 --neglect-mass 1e-4 --tol 1e-6
says out "do not trust this estimate"

# What nothing else determines is kept.
sed 's/mass: 0}/mass: 1e-6}/' "$work/loose.yaml" >"$work/light.yaml"
expect 0 run "$work/light.yaml" --neglect-mass 1e-3 --end 1
says out "kept, nothing else would determine its motion"

# A rotor stays, whatever its mass; a small mass at a long lever stays, and the report says why.
cat >"$work/rotors.yaml" <<'YAML'
linkwork: 1
name: rotors
parameters: {m: 1e-9}
bodies:
  housing: {mass: 10, inertia: [0.1, 0.1, 0.1]}
  rotor: {mass: m, inertia: [1, 1, 2]}
  knot: {mass: 0, inertia: [1e-3, 1e-3, 1e-3]}
  lever: {kind: point, mass: 5, com: [0.01, 0, 0]}
  tip: {kind: point, mass: 1e-3, com: [1, 0, 0]}
joints:
  h: {type: prismatic, between: [ground, housing], axis: [0, 0, 1]}
  a: {type: revolute, between: [housing, rotor], point: [0, 0, 0], axis: [0, 0, 1], v: 1}
  b: {type: revolute, between: [rotor, knot], point: [0, 0, 0], axis: [0, 0, 1]}
  l: {type: revolute, between: [housing, lever], point: [0, 0, 0], axis: [0, 1, 0]}
  t: {type: weld, between: [lever, tip]}
forces:
  h: {type: torsion, joint: h, stiffness: 1000, damping: 10}
  b: {type: torsion, joint: b, stiffness: 100, damping: 1}
  l: {type: torsion, joint: l, stiffness: 100, damping: 1}
YAML
for m in 0 1e-9 1e-2; do
    expect 0 run "$work/rotors.yaml" --set m=$m --neglect-mass 1e-2 --end 0.1 --json
    json "[(b['body'], b['inertia_kept']) for b in d['neglect']['bodies'] if b['inertia'] > 0] == [('knot', None)]"
    json "[b['mass_kept'] for b in d['neglect']['bodies'] if b['body'] == 'tip'] == ['participates']"
done
expect 0 run "$work/rotors.yaml" --neglect-mass 1e-2 --end 0.1
says out "kept, in some motion it is 3 of the rest"

# Ratios that are none.
expect 2 run "$problems/two_oscillators/model.yaml" --neglect-mass 2
says err "not between 0 and 1"
expect 2 run "$problems/two_oscillators/model.yaml" --neglect-mass 0
says err "not greater than zero"
expect 2 run "$problems/two_oscillators/model.yaml" --neglect-mass "1 kg"

# The paper; the walking machine takes longer and runs with linkwork reproduce itself.
cd "$work"
expect 0 reproduce arnold2013/sect4 --json
silent err
json "d[0]['ok'] and len(d[0]['rows']) == 6 and all(w['here'] < 1e-8 for w in d[0]['rows'])"
expect 0 reproduce arnold2013/condensed --json
json "d[0]['ok'] and len(d[0]['rows']) == 22"
expect 0 reproduce arnold2013/limit --json
json "d[0]['ok'] and [w['here'] for w in d[0]['rows'] if w['stated'] == 1][0] > 0.95"
expect 0 reproduce arnold2013/fig2 --json
json "d[0]['ok'] and len(d[0]['rows']) == 2"
echo passed
