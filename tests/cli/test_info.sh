#!/usr/bin/env bash
# linkwork info: the matrices (1) and (25) of mufti1983, loops, methods; JSON with any name in it.
source "$(dirname "$0")/support.sh" "$@"

as_in_the_paper() {
    json "d['incidence'] == [[1, 1, 0, 0, 0], [-1, 0, 1, 1, 1], [0, -1, 0, 0, 0], [0, 0, -1, 0, 0], [0, 0, 0, -1, 0], [0, 0, 0, 0, -1]]"
    json "d['path'] == [[-1, -1, -1, -1, -1, -1], [0, -1, 0, -1, -1, -1], [0, 0, -1, 0, 0, 0], [0, 0, 0, -1, 0, 0], [0, 0, 0, 0, -1, 0], [0, 0, 0, 0, 0, -1]]"
}

expect 0 info "$source_dir/problems/six_bodies/model.yaml" --json
as_in_the_paper
expect 0 info "$work/mufti.yaml" --json
silent err
json "d['name'] == 'six bodies \"of\" mufti\\\\1983 é\tü \x01'"
as_in_the_paper
json "[b['name'] for b in d['bodies']] == ['b1', 'b2', 'b3', 'b4', 'b5', 'b6']"
json "[b['label'] for b in d['bodies']] == [1, 2, 3, 4, 5, 6] and [b['parent'] for b in d['bodies']] == ['ground', 'b1', 'b1', 'b2', 'b2', 'b2']"
json "all(b['mass'] == 1 and b['kind'] == 'point' for b in d['bodies'])"
json "d['dof'] == {'q': 8, 'v': 8, 'prescribed': 0, 'closure_rows': 0} and d['loops'] == []"
json "d['joints'][0]['name'] == 'h0' and d['joints'][0]['between'] == ['ground', 'b1'] and not d['joints'][0]['cut']"
json "[m['applies'] for m in d['methods'] if m['method'] == 'tree'] == [True]"
json "{i['integrator'] for i in d['integrators']} >= {'rk4', 'erk', 'adams', 'bdf', 'ida'}"

# The same as text, line by line as the paper prints it.
expect 0 info "$work/mufti.yaml" --all
silent err
python3 - "$work/out" <<'PYTHON' || fail "the printed matrices differ from the paper's"
import sys
lines = [l.split() for l in open(sys.argv[1], encoding="utf-8")]
def matrix(corner, rows):
    at = lines.index(corner)
    return [l for l in lines[at + 1 : at + 1 + rows]]
C = matrix(["h1", "h2", "h3", "h4", "h5"], 6)
assert C == [r.split() for r in ["b1 1 1 0 0 0", "b2 -1 0 1 1 1", "b3 0 -1 0 0 0", "b4 0 0 -1 0 0", "b5 0 0 0 -1 0", "b6 0 0 0 0 -1"]], C
T = matrix(["b1", "b2", "b3", "b4", "b5", "b6"], 6)
assert T == [r.split() for r in ["h0 -1 -1 -1 -1 -1 -1", "h1 0 -1 0 -1 -1 -1", "h2 0 0 -1 0 0 0", "h3 0 0 0 -1 0 0", "h4 0 0 0 0 -1 0", "h5 0 0 0 0 0 -1"]], T
PYTHON

# The matrices of more than 30 bodies only on request.
expect 0 info "$source_dir/problems/chain/model.yaml" --set bodies=40 --all
grep -q "path matrix T" "$work/out" && fail "the matrices of 40 bodies without being asked for"
expect 0 info "$source_dir/problems/chain/model.yaml" --set bodies=40 --matrices
says out "path matrix T"

# A four-bar: one loop of four joints that meets at ground, and a reason from the method that does trees only.
cat >"$work/fourbar.yaml" <<'YAML'
linkwork: 1
name: four-bar
bodies:
  crank: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1]}
  coupler: {mass: 1, com: [0.5, 0, 1], inertia: [1, 1, 1]}
  rocker: {mass: 1, com: [1, 0, 0.5], inertia: [1, 1, 1]}
joints:
  a: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}
  b: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0]}
  c: {type: revolute, between: [coupler, rocker], point: [1, 0, 1], axis: [0, 1, 0]}
  d: {type: revolute, between: [ground, rocker], point: [1, 0, 0], axis: [0, 1, 0]}
YAML
expect 0 info "$work/fourbar.yaml" --json
json "len(d['loops']) == 1 and d['loops'][0]['length'] == 4 and d['loops'][0]['base'] == 'ground'"
json "d['loops'][0]['joints'][0]['name'] == d['loops'][0]['cut'] and {j['name'] for j in d['loops'][0]['joints']} == set('abcd')"
json "all(j['sense'] in (1, -1) for j in d['loops'][0]['joints'])"
json "[j['rows'] for j in d['joints'] if j['cut']] == [5] and d['dof']['closure_rows'] == 5 and d['dof']['v'] == 3"
json "all(m['applies'] or m['reason'] for m in d['methods']) and [m['applies'] for m in d['methods'] if m['method'] == 'tree'] == [False]"
expect 0 info "$work/fourbar.yaml" --all
says out "base arcs"
says out "closes a loop with 5 rows"
says out "does not apply"

expect 2 info "$work/faulty.yaml" --json
silent out

echo passed
