#!/usr/bin/env bash
# Options that belong to a paper: independent coordinates and the scheme of reactions of method partition, Baumgarte's alpha and beta.
source "$(dirname "$0")/support.sh" "$@"
model="$source_dir/problems/blajer_four_bar/model.yaml"

# Coordinates that were named stay; the motion is the same with each that serves.
expect 0 run "$model" --method rcr --end 1 --json
cp "$work/out" "$work/reference.json"
same() { # how far the crank may be off
    python3 - "$work/reference.json" "$work/out" "$1" <<'PYTHON' || fail "another motion"
import json, sys
a, b = (json.load(open(f))["final"]["joints"]["O1"]["q"][0] for f in sys.argv[1:3])
sys.exit(abs(a - b) > float(sys.argv[3]))
PYTHON
}
for name in O1 O2; do
    expect 0 run "$model" --independent $name --end 1 --json
    json "d['method'] == 'partition' and not [e for e in d['events'] if e['kind'] == 'coordinates'] and d['verdict']['ok']"
    same 1e-7 # a hundred times the tolerance, 1e-9
done
expect 0 run "$model" --method partition --end 1 --json
json "[e for e in d['events'] if e['kind'] == 'coordinates']"
# O3 determines nothing where the crank is upright: the run stops, or it is called doubtful.
expect 0 run "$model" --independent O3 --end 2 --json
json "not d['verdict']['ok']"
# In the model file, as a list or a text.
for value in '[O2]' O2; do
    sed "s/^run: {/run: {method: partition, independent: $value, reactions: 37, baumgarte: [20, 30], drift: baumgarte, /" "$model" >"$work/fixed.yaml"
    expect 0 run "$work/fixed.yaml" --end 1 --json
    json "d['method'] == 'partition' and not [e for e in d['events'] if e['kind'] == 'coordinates']"
    same 1e-7
done

# The three schemes give the same reactions.
for scheme in 35 37 38; do
    expect 0 run "$model" --reactions $scheme --end 1 --quiet --record reaction --out "$work/r$scheme.csv"
done
python3 - "$work" <<'PYTHON' || fail "the schemes differ"
import csv, sys
def read(scheme):
    with open(f"{sys.argv[1]}/r{scheme}.csv", encoding="utf-8") as f:
        return [[float(x or 0) for x in row] for row in list(csv.reader(l for l in f if not l.startswith("#")))[1:]]
a, b, c = read(35), read(37), read(38)
assert len(a) == len(b) == len(c) > 900 and a != c
for rows in zip(a, b, c):
    scale = max(abs(x) for x in rows[0])
    for other in rows[1:]: # conditions of some hundreds: 1e-13, and the way of integration
        assert all(abs(x - y) < 1e-9 * scale for x, y in zip(rows[0], other))
PYTHON

# Baumgarte's numbers: with zero-like ones errors stay, with large ones they go.
drift() { # alpha,beta: largest violation
    expect 0 run "$model" --method cut --baumgarte "$1" --tol 1e-6 --end 5 --json
    python3 -c "import json, sys; print(json.load(open(sys.argv[1]))['constraint']['position_max'])" "$work/out"
}
weak=$(drift 1e-3,1e-3) strong=$(drift 30,30)
python3 -c "import sys; sys.exit(not float(sys.argv[1]) > 5 * float(sys.argv[2]))" "$weak" "$strong" || fail "violations $weak, $strong"

wrong() { # status, text in standard error, arguments...
    local status=$1 text=$2
    shift 2
    expect "$status" run "$model" --end 0.1 "$@"
    says err "$text"
}
wrong 2 'there is no coordinate "O9"; the first one is "O1"' --independent O9
wrong 2 '2 independent coordinates are named, but there is 1 degree of freedom here' --independent O1,O2
wrong 2 'coordinate "O1" is named twice' --independent "O1, O1"
wrong 2 'method rcr does not let its independent coordinates be chosen; choose --method partition' --method rcr --independent O1
wrong 2 'method lagrange has only one scheme for its reactions' --method lagrange --reactions 35
wrong 2 'there is no scheme "36" for reactions; give 35, 37 or 38' --reactions 36
wrong 2 'is not two positive numbers' --baumgarte 20
wrong 2 'is not two positive numbers' --baumgarte 20,-1
wrong 2 '--drift asks for none' --baumgarte 20,20 --drift none

echo passed
