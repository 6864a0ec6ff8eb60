#!/usr/bin/env bash
# linkwork run: the JSON document and the summary, the results file, overriding the model, exit statuses.
source "$(dirname "$0")/support.sh" "$@"

# The document: exactly what DESIGN.md promises, and nothing else on standard output.
expect 0 run "$work/pendulum.yaml" --json
silent err
json "set(d) >= {'method', 'integrator', 't_end', 'steps', 'evaluations', 'wall_s', 'energy', 'constraint', 'final'}"
json "set(d['energy']) >= {'initial', 'final', 'max_drift'} and set(d['constraint']) >= {'position_max', 'velocity_max'}"
json "set(d['final']) == {'joints', 'bodies'} and set(d['final']['joints']) == {'pin'} and set(d['final']['bodies']) == {'bob'}"
json "len(d['final']['joints']['pin']['q']) == 1 and len(d['final']['joints']['pin']['v']) == 1"
json "len(d['final']['bodies']['bob']['position']) == 3 and len(d['final']['bodies']['bob']['rotation']) == 9"
json "d['t_end'] == 2 and d['steps'] > 0 and d['evaluations'] > 0 and d['wall_s'] >= 0"
# Energy: at rest on the height of the origin. The tolerance 1e-9 is per step; some hundred steps, energies of 10 J.
json "d['energy']['initial'] == 0 and abs(d['energy']['final']) < 1e-5 and d['energy']['max_drift'] < 1e-5"
# Energy integral of the pendulum: v^2 / 2 = g sin q, with the same tolerance.
json "close(d['final']['joints']['pin']['v'][0] ** 2 / 2, 9.81 * math.sin(d['final']['joints']['pin']['q'][0]), 1e-5)"
# The frame's rotation about y by q: row by row, body to world.
json "close(d['final']['bodies']['bob']['rotation'][0], math.cos(d['final']['joints']['pin']['q'][0]), 1e-12)"
json "close(d['final']['bodies']['bob']['rotation'][2], math.sin(d['final']['joints']['pin']['q'][0]), 1e-12)"

# The command line overrides the model.
expect 0 run "$work/pendulum.yaml" --json --end 0.5 --step=0.01 --method tree
json "d['t_end'] == 0.5 and d['method'] == 'tree' and d['integrator'] == 'rk4' and d['steps'] == 50"
expect 0 run "$work/pendulum.yaml" --json --integrator bdf --tol 1e-6
json "d['integrator'] == 'bdf'"
expect 0 run "$work/pendulum.yaml" --json --set l=2 --set "start=pi/2"
json "abs(d['final']['joints']['pin']['q'][0] - math.pi / 2) < 1e-9"
json "close(d['energy']['initial'], -2 * 9.81, 1e-12)"

# The summary: method and why, ledger, final joints, where the results are; no progress bar without a terminal.
expect 0 run "$work/pendulum.yaml" --out "$work/r.csv"
silent err
for text in "method" "tree" "integrator" "steps" "dissipation" "unaccounted" "kinetic" "potential" "pin" "$work/r.csv"; do
    says out "$text"
done
grep -q $'\r' "$work/out" && fail "a carriage return in the summary"
expect 0 run "$work/pendulum.yaml" --quiet
silent out
silent err

# The results file: metadata, named columns, full rows, requested times.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --end 1 --output 0.125
python3 - "$work/r.csv" <<'PYTHON' || fail "the results file is wrong"
import csv, math, sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
comments = [l for l in lines if l.startswith("#")]
rows = list(csv.reader(l for l in lines if not l.startswith("#")))
head, data = rows[0], [[float(x) for x in r] for r in rows[1:]]
assert any("method" in c and "tree" in c for c in comments), comments
assert head[0].startswith("t"), head
names = [h.split(" ")[0] for h in head]
for name in ["pin.q", "pin.v", "body.bob.x", "kinetic", "potential", "drives", "forces", "dissipation", "unaccounted"]:
    assert name in names, (name, names)
assert all(len(r) == len(head) for r in data)
times = [r[0] for r in data]
assert len(times) == 9 and all(abs(t - 0.125 * i) < 1e-12 for i, t in enumerate(times)), times
k, p, u = (names.index(n) for n in ["kinetic", "potential", "unaccounted"])
assert all(abs(r[k] + r[p] - r[u]) < 1e-9 for r in data)
PYTHON
expect 0 run "$work/pendulum.yaml" --out - --end 1
grep -q '^t' "$work/out" || fail "--out - writes no column names to standard output"
grep -q 'dissipation  *[0-9]' "$work/out" && fail "--out - mixes the summary into the results"
says err "unaccounted"

# What is wrong with the call or the model: 2.
expect 2 run "$work/none.yaml"
says err "none.yaml"
silent out
expect 2 run "$work/faulty.yaml" --json
silent out
says err "faulty.yaml:4:"
expect 2 run "$work/pendulum.yaml" --method tre
says err "tre"
says err "tree"
expect 2 run "$work/pendulum.yaml" --integrator euler9
says err "euler9"
expect 2 run "$work/pendulum.yaml" --drift sideways
says err "sideways"
expect 2 run "$work/pendulum.yaml" --set l
says err '"l" is not of the form name=value'
expect 2 run "$work/pendulum.yaml" --set length=3
says err "length"
expect 2 run "$work/pendulum.yaml" --step 0.1 --tol 1e-3
says err "--step and --tol"
expect 2 run "$work/pendulum.yaml" --out results.svg
says err "results.svg"
expect 2 run "$work/pendulum.yaml" --out - --json
says err "standard output"
# What fails on the way: 1.
expect 1 run "$work/pendulum.yaml" --out "$work/no/such/folder/r.csv"
says err "no/such/folder/r.csv"
if [[ -e /dev/full ]]; then
    ln -s /dev/full "$work/full.csv"
    expect 1 run "$work/pendulum.yaml" --out "$work/full.csv"
    status=0
    "$linkwork" run "$work/pendulum.yaml" --json >/dev/full 2>"$work/err" || status=$?
    [[ $status -eq 1 ]] || fail "a full standard output: exit status $status"
fi

echo passed
