#!/usr/bin/env bash
# linkwork run: the JSON document and the summary, the results file, overriding the model, exit statuses.
source "$(dirname "$0")/support.sh" "$@"

# The document: these members, and nothing else on standard output.
expect 0 run "$work/pendulum.yaml" --json
silent err
json "set(d) >= {'method', 'integrator', 't_end', 'steps', 'evaluations', 'wall_s', 'energy', 'constraint', 'final'}"
json "set(d['energy']) >= {'initial', 'final', 'max_drift'} and set(d['constraint']) >= {'position_max', 'velocity_max'}"
json "set(d['final']) >= {'joints', 'bodies', 'outputs'} and set(d['final']['joints']) == {'pin'} and set(d['final']['bodies']) == {'bob'}"
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
expect 0 run "$source_dir/problems/four_bar/model.yaml" --json --method penalty --penalty 1e6 --end 0.1
json "d['method'] == 'penalty' and d['constraint']['position_max'] > 0"
expect 2 run "$work/pendulum.yaml" --penalty 1e6
says err "--penalty is for --method penalty, and this run is by tree"
# A drift control that a method does not have is refused, where there is something to drift.
expect 2 run "$source_dir/problems/four_bar/model.yaml" --method rcr --drift baumgarte
says err 'method rcr has no terms for drift control "baumgarte"'
says err "--method cut or lagrange"
expect 0 run "$work/pendulum.yaml" --method rcr --drift baumgarte --quiet
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
for name in ["pin.q", "pin.v", "com(bob).x", "kinetic", "potential", "drives", "forces", "dissipation", "unaccounted"]:
    assert name in names, (name, names)
assert all(len(r) == len(head) for r in data)
times = [r[0] for r in data]
assert len(times) == 9 and all(abs(t - 0.125 * i) < 1e-12 for i, t in enumerate(times)), times
k, p, u = (names.index(n) for n in ["kinetic", "potential", "unaccounted"])
assert all(abs(r[k] + r[p] - r[u]) < 1e-9 for r in data)
PYTHON
# The model's text and the settings are in the file; so is the end.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --set l=2 --tol 1e-7
sed -n 's/^#| \{0,1\}//p' "$work/r.csv" | cmp - "$work/pendulum.yaml" || fail "the model's text in the results differs"
for text in "linkwork: " "model: pendulum" "file: $work/pendulum.yaml" "set: l=2" "method: tree" "integrator: erk" \
    "tolerance: 1e-07" "drift: project" "end: 2" "t_end: 2" "samples: 1001" "unaccounted: "; do
    grep -q "^# $text" "$work/r.csv" || fail "the results do not tell $text"
done

# What nobody has given is in the file as well.
sed '/^run:/d' "$work/pendulum.yaml" >"$work/bare.yaml"
expect 0 run "$work/bare.yaml" --quiet --out "$work/r.csv"
for text in "method: tree" "integrator: erk" "drift: project" "start: 0" "end: 10" "tolerance: 1e-08" "output: 0.01"; do
    grep -q "^# $text\$" "$work/r.csv" || fail "the results do not tell the default $text"
done
expect 0 run "$work/bare.yaml" --quiet --out "$work/r.csv" --step 1/200 --end 1
for text in "integrator: rk4" "step: 0.005" "output: 0.001"; do
    grep -q "^# $text\$" "$work/r.csv" || fail "the results do not tell $text"
done
! grep -q "^# tolerance" "$work/r.csv" || fail "rk4 has no tolerance"

# Numbers are expressions with units, as in a model.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --end "500 ms" --output 1/100 --tol "10^-7" --set "l=2000 mm" \
    --record "point(bob, 20 mm, 2*10 mm, -(1/50))"
for text in "set: l=2000 mm" "tolerance: 1e-07" "end: 0.5" "output: 0.01" "samples: 51"; do
    grep -q "^# $text\$" "$work/r.csv" || fail "the results do not tell $text"
done
grep -qF '"point(bob, 0.02, 0.02, -0.02).x [m]"' "$work/r.csv" || fail "a point is not where its expressions say"
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --step "(1/500) s"
grep -q "^# step: 0.002\$" "$work/r.csv" || fail "--step is not 1/500 s"
for value in 0x10 nan 1e400 "3 kg" "1 +"; do
    expect 2 run "$work/pendulum.yaml" --out "$work/x.csv" --record "point(bob, 0, $value, 0)"
    says err "record \"point(bob, 0, $value, 0)\": \"$value\", character "
done
says err 'character 4: the expression ends where a number or a name should follow'
expect 2 run "$work/pendulum.yaml" --out "$work/x.csv" --record "point(bob, 0, 0)"
says err "a point is a body and three numbers"
expect 2 run "$work/pendulum.yaml" --set l=0x10
says err 'parameter "l": set to "0x10", character 2: unknown unit "x10"'

# Chosen quantities. Pendulum: with e along the rod, the pin's force on the bob is -(v^2 + g sin q) e, and its
# acceleration is g cos q / l; both follow from q and v of the same row up to rounding.
record="accelerations, pin.*, reaction(pin), point(bob, 1, 0, 0), point_velocity(bob, 1, 0, 0), rotation, violation"
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --record "$record"
python3 - "$work/r.csv" <<'PYTHON' || fail "the recorded quantities are wrong"
import csv, math, sys
rows = list(csv.reader(l for l in open(sys.argv[1], encoding="utf-8") if not l.startswith("#")))
names = [h.split(" [")[0] for h in rows[0]]
assert names[:4] == ["t", "pin.a", "pin.q", "pin.v"] and len(names) == len(set(names)) == 4 + 6 + 3 + 3 + 4 + 2, names
for row in rows[1:]:
    r = dict(zip(names, map(float, row)))
    q, v = r["pin.q"], r["pin.v"]
    e, n = (math.cos(q), 0, -math.sin(q)), (-math.sin(q), 0, -math.cos(q))
    pull = v * v + 9.81 * math.sin(q)
    assert abs(r["pin.a"] - 9.81 * math.cos(q)) < 1e-11
    for k, axis in enumerate("xyz"):
        assert abs(r["reaction(pin).f" + axis] + pull * e[k]) < 1e-11
        assert abs(r["point(bob, 1, 0, 0)." + axis] - e[k]) < 1e-12
        assert abs(r["point(bob, 1, 0, 0).v" + axis] - v * n[k]) < 1e-12
    assert abs(r["body.bob.qw"] - math.cos(q / 2)) < 1e-12 and abs(r["body.bob.qy"] - math.sin(q / 2)) < 1e-12
    assert r["position_violation"] == 0
PYTHON
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.h5" --record "$record"
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.hdf5"
silent out
silent err
if command -v h5dump >/dev/null; then # as other programs see it
    h5dump -H "$work/r.h5" >"$work/dump" || fail "h5dump refuses the file"
    for text in "DATASET \"columns\"" "DATASET \"units\"" "DATASET \"model_text\"" "( 1001, 22 ) / ( H5S_UNLIMITED, 22 )" \
        "ATTRIBUTE \"t_end\"" "ATTRIBUTE \"method\""; do
        grep -qF "$text" "$work/dump" || fail "h5dump does not show $text"
    done
fi

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
says err ".h5"
expect 2 run "$work/pendulum.yaml" --record ledger
says err "--out results.csv"
expect 2 run "$work/pendulum.yaml" --out "$work/x.csv" --record "reaction(pim)"
says err 'unknown joint "pim"'
says err 'did you mean "pin"?'
[[ ! -e $work/x.csv ]] || fail "a results file was made although the record is wrong"
expect 2 run "$work/pendulum.yaml" --out - --json
says err "standard output"
# Given initial values that do not fit together: the run starts from the nearest that do, and a warning says so.
sed 's/^  D: {/  D: {v: 9 rad\/s, /' "$source_dir/problems/four_bar/model.yaml" >"$work/apart.yaml"
expect 0 run "$work/apart.yaml" --end 0.1 --json
json "d['constraint']['velocity_max'] < 1e-9"
says err 'apart.yaml: warning: joint "'
says err 'the given initial speeds do not fit together and were taken as approximate; here one changed by '
[[ $(wc -l <"$work/err") -eq 1 ]] || fail "one warning, not $(cat "$work/err")"
expect 0 run "$source_dir/problems/four_bar/model.yaml" --end 0.1 --json
silent err
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
