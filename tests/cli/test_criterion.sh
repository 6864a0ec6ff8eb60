#!/usr/bin/env bash
# linkwork info --criterion: the coordinates by name, every cut, sweeps with their files and dead points; cuts that move by themselves;
# linkwork reproduce blajer1994.
source "$(dirname "$0")/support.sh" "$@"
problems=$source_dir/problems

# The pendulum's (26): m = 3, J = 2, rho = 1.5, gamma = 30 degrees, in joint and in absolute coordinates. 1e-12: rounding.
expect 0 info "$problems/blajer_pendulum/model.yaml" --criterion --json
silent err
# Each call of json starts an interpreter, so what belongs together is asked together. The one other cut leaves a tree with its one freedom.
json "(d['criterion']['freedom'] == 1 and [c['name'] for c in d['criterion']['coordinates']] == ['plane.x', 'plane.y', 'plane.angle']
    and all(close(c['cos2_alpha'], w, 1e-12) for c, w in zip(d['criterion']['coordinates'], [6.75/8.75*0.25, 6.75/8.75*0.75, 2/8.75]))
    and all(close(c['cos2_alpha'] + c['cos2_beta'], 1, 1e-12) for c in d['criterion']['coordinates'])
    and [c['choice'] for c in d['criterion']['coordinates']] == [0, 1, 0] and [c['svd_choice'] for c in d['criterion']['coordinates']] == [0, 0, 1]
    and [(c['joint'], c['instead_of'], c['worth']) for c in d['criterion']['cuts']] == [('plane', 'pin', 1)])"
expect 0 info "$problems/blajer_pendulum/model.yaml" --absolute --json
json "({c['name']: c['cos2_alpha'] for c in d['criterion']['coordinates']}.keys() == {'G.x', 'G.y', 'G.z', 'G.wx', 'G.wy', 'G.wz'}
    and close([c['cos2_alpha'] for c in d['criterion']['coordinates'] if c['name'] == 'G.y'][0], 6.75/8.75*0.75, 1e-12))"

# As text: the criterion, the cuts, the reason of the present one.
expect 0 info "$problems/blajer_four_bar/model.yaml" --criterion
silent err
for text in "1 is cut at O4, as the model asks" "criterion (blajer1994, 23)" "without masses" "independent 1" "loop 1 cut at O1 instead of O4" \
    "loop 1 cut at O2 instead of O4" "loop 1 cut at O3 instead of O4" "combinations are not tried" "closed by O4, cos^2"; do says out "$text"; done
expect 0 info "$problems/blajer_four_bar/model.yaml" --json
json "'criterion' not in d and d['loops'][0]['why'].startswith('as the model asks')"

# A full turn of the crank as in fig. 3: alpha_3 is zero at pi/2 (or 3 pi/2), the best is alpha_1 or alpha_2 in turn.
cd "$work"
expect 0 info "$problems/blajer_four_bar/model.yaml" --sweep O1=0..2*pi --out turn.svg --json
silent err
json "(d['criterion']['sweep']['points'] == 361 and not d['criterion']['sweep']['dead_point_from'] and not d['criterion']['sweep']['dead_point_to']
    and (lambda a: a[0]['least'] > 0.1 and a[1]['least'] > 0.1 and a[2]['least'] < 1e-20 and 0.2 < a[0]['best_share'] < 0.8 and a[2]['best_share'] == 0)(d['criterion']['sweep']['coordinates'])
    and abs(math.cos(d['criterion']['sweep']['coordinates'][2]['least_at'])) < 1e-9)"
python3 - <<'PYTHON' || fail "data or figure of the sweep are wrong"
import csv, math, xml.dom.minidom
rows = list(csv.DictReader(l for l in open("turn.csv", encoding="utf-8") if not l.startswith("#")))
assert list(rows[0]) == ["O1 [rad]", "cos2 O1", "cos2 O2", "cos2 O3", "svd O1", "svd O2", "svd O3"], rows[0]
assert len(rows) == 361 and abs(float(rows[-1]["O1 [rad]"]) - 2 * math.pi) < 1e-12
assert all(abs(sum(float(r[k]) for k in ("svd O1", "svd O2", "svd O3")) - 1) < 1e-12 for r in rows)
xml.dom.minidom.parse("turn.svg")
PYTHON
expect 0 info "$problems/blajer_four_bar/model.yaml" --sweep O1=0..1 --points 11 --out few.csv
[[ $(grep -cv '^[#"]' few.csv) -eq 11 && ! -e few.svg ]] || fail "few.csv has not 11 points, or there is a figure"
# Without a range: a full turn from the initial value.
expect 0 info "$problems/blajer_four_bar/model.yaml" --sweep O1 --json
json "d['criterion']['sweep']['from'] == 0 and close(d['criterion']['sweep']['to'], 2*math.pi, 1e-15)"

# alpha_3 has dead points where the crank is in line with the ground: cos(alpha_3) of (40) with sin(alpha_1) = 1 and -1.
expect 0 info "$problems/blajer_four_bar/model.yaml" --sweep O3=0..10 --json
json "(d['criterion']['sweep']['dead_point_from'] and close(d['criterion']['sweep']['reached_from'], math.acos((9 - 9 - 4.84)/13.2), 1e-8)
    and d['criterion']['sweep']['dead_point_to'] and close(d['criterion']['sweep']['reached_to'], math.acos((1 - 9 - 4.84)/13.2), 1e-8))"
expect 0 info "$problems/blajer_four_bar/model.yaml" --sweep O3
says out "O3 has a dead point at 2.9"

# What is wrong with a call.
wrong() { # text in standard error, arguments...
    local text=$1
    shift
    expect 2 info "$@"
    says err "$text"
}
wrong 'joint "O4" closes a loop and has no coordinate to drive' "$problems/blajer_four_bar/model.yaml" --sweep O4
wrong 'these are the points of a --sweep' "$problems/blajer_four_bar/model.yaml" --points 11
wrong 'did you mean O1?' "$problems/blajer_four_bar/model.yaml" --sweep O11
wrong 'is not of the form joint=from..to' "$problems/blajer_four_bar/model.yaml" --sweep O1=3
wrong 'is not an angle, so its range must be given' "$problems/slider_crank/model.yaml" --sweep D
wrong 'has no extent' "$problems/blajer_four_bar/model.yaml" --sweep O1=1..1
wrong 'ends neither in .csv nor in .svg' "$problems/blajer_four_bar/model.yaml" --sweep O1 --out turn.png
wrong 'with --sweep only' "$problems/blajer_four_bar/model.yaml" --criterion --out turn.svg
wrong 'joint "plane" has 3 coordinates' "$problems/blajer_pendulum/model.yaml" --sweep plane

# A coupler whose mass is all in hinge B: cut at C, as the graph would, B carries nothing that resists. The cut moves, the user is
# told, and methods that recur over the tree go through, with one result.
cat >"$work/hinge.yaml" <<'YAML'
linkwork: 1
name: a mass in a hinge
bodies:
  crank: {mass: 1, com: [0, 0, 0.5], inertia: [0.1, 0.1, 0.01]}
  coupler: {kind: point, mass: 1, com: [0, 0, 1]}
  rocker: {mass: 1, com: [2, 0, 0.6], inertia: [0.1, 0.1, 0.01]}
joints:
  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0], v: 3}
  B: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0]}
  C: {type: revolute, between: [coupler, rocker], point: [2, 0, 1.2], axis: [0, 1, 0]}
  D: {type: revolute, between: [ground, rocker], point: [2, 0, 0], axis: [0, 1, 0]}
run: {end: 2, tolerance: 1e-9}
YAML
expect 0 info "$work/hinge.yaml" --criterion
says err 'warning: joint "C": its loop is cut at joint "D" instead: otherwise the open tree is singular'
says out "1 is cut at D, and not at C: otherwise the open tree is singular"
says out "loop 1 cut at C instead of D: singular tree"
for method in cut rcr lagrange; do
    expect 0 run "$work/hinge.yaml" --method $method --json
    cp "$work/out" "$work/$method.json"
done
python3 - "$work" <<'PYTHON' || fail "cut, rcr and lagrange differ"
import json, sys
angles = [json.load(open(f"{sys.argv[1]}/{m}.json"))["final"]["joints"]["A"]["q"][0] for m in ("cut", "rcr", "lagrange")]
assert max(angles) - min(angles) < 1e-5, angles # tolerance 1e-9 over 2 s
PYTHON
sed 's/point: \[2, 0, 1.2\], axis: \[0, 1, 0\]/&, cut: true/' "$work/hinge.yaml" >"$work/wish.yaml"
expect 0 info "$work/wish.yaml" --json
silent err
# cut cannot take that tree; rcr lends the coupler inertia.
json "d['loops'][0]['cut'] == 'C' and [[m for m in d['methods'] if m['method'] == x][0]['applies'] for x in ('cut', 'rcr')] == [False, True]"

# A four-bar linkage whose rocker is driven beyond its limit, where crank and coupler are in line: cosine theorem with 1 m + 2 m,
# minus the angle at the start. The run stops there, on its branch, and says which loop, what drives it, where, and what to do.
cat >"$work/rocker.yaml" <<'YAML'
linkwork: 1
name: driven rocker
parameters: {a: 1 m, b: 2 m, c: 2.5 m, d: 3 m, span: "hypot(a, d)", along: (b^2 - c^2 + span^2)/(2*span), off: sqrt(b^2 - along^2),
  cx: (along*d + off*a)/span, cz: a + (off*d - along*a)/span}
bodies:
  crank: {mass: 10, shape: rod, points: [[0, 0, 0], [0, 0, a]], radius: 20 mm}
  coupler: {mass: 20, shape: rod, points: [[0, 0, a], [cx, 0, cz]], radius: 20 mm}
  rocker: {mass: 25, shape: rod, points: [[d, 0, 0], [cx, 0, cz]], radius: 20 mm}
joints:
  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}
  B: {type: revolute, between: [crank, coupler], point: [0, 0, a], axis: [0, 1, 0]}
  C: {type: revolute, between: [coupler, rocker], point: [cx, 0, cz], axis: [0, 1, 0], cut: true}
  D: {type: revolute, between: [ground, rocker], point: [d, 0, 0], axis: [0, 1, 0], motion: t}
run: {end: 3, tolerance: 1e-8}
YAML
for drift in closed project; do
    for integrator in adams erk; do
        expect 1 run "$work/rocker.yaml" --method partition --drift $drift --integrator $integrator
        says err 'loop "C" is driven to a dead point, or beyond, with "D" at 0.134806'
        says err "turn the motion back before it, or drive another joint of the loop"
    done
done
expect 1 run "$work/rocker.yaml" --method partition --drift closed --integrator rk4 --step 0.01
says err 'loop "C": dyad RRR (A, B, C) cannot close with "D" at 0.135 rad'

# The same shape with links of 2, 2.5, 2 m on 4 m, left to itself: none of its angles can turn fully, each comes to its dead points, and
# the run goes on by others. 2e-3: seventeen seconds of motion with a tolerance of 1e-8; another branch would be off by 1.
sed 's/a: 1 m, b: 2 m, c: 2.5 m, d: 3 m/a: 2 m, b: 2.5 m, c: 2 m, d: 4 m/; s/, motion: t//; s/end: 3/end: 17/' "$work/rocker.yaml" >"$work/rockers.yaml"
expect 0 run "$work/rockers.yaml" --method rcr --json
cp "$work/out" "$work/rcr.json"
expect 0 run "$work/rockers.yaml" --method partition --drift closed --integrator adams --json
silent err
json "(d['constraint']['position_max'] < 1e-13 and len([e for e in d['events'] if e['kind'] == 'coordinates']) > 20
    and {e['text'].split()[2].rstrip(';') for e in d['events']} == {'A', 'B', 'D'}
    and all(close(d['final']['joints'][k]['q'][0], json.load(open('$work/rcr.json'))['final']['joints'][k]['q'][0], 2e-3) for k in 'ABD'))"

# A range that would take for ever.
wrong 'takes 8e+09 steps; 20000 are allowed' "$problems/blajer_four_bar/model.yaml" --sweep O1=0..1e9

# The paper.
expect 0 reproduce blajer1994 --quick --json
silent err
json "([i['item'] for i in d] == ['blajer1994/' + n for n in ('pendulum', 'closing', 'reactions', 'fig3', 'mass', 'changes')] and all(i['ok'] for i in d)
    and [w['here'] for w in d[5]['rows'] if w['quantity'].startswith('changes of coordinates')][0] >= 100)"
