#!/usr/bin/env bash
# linkwork reproduce betsch2006: the items, the printed digits of the tables, figures with their columns. And runs by the energy-momentum scheme.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"

expect 0 reproduce betsch2006 --list
silent err
for item in table{2,3,4,5} fig{8,9,10,13,14,17,18,23,25} order conservation; do says out "betsch2006/$item "; done

# Numbers that the paper prints: all of them are there, in its order; those without a reason to the digits.
printed() { # ITEM, printed numbers, how many come out, largest ratio of the others
    expect 0 reproduce "betsch2006/$1" --json
    silent err
    json "d[0]['ok'] and [w['paper'] for w in d[0]['rows'] if w['paper'] is not None] == $2"
    json "len([w for w in d[0]['rows'] if w['paper'] is not None and w['reason'] is None]) == $3"
    json "all(float('%.1e' % w['here']) == w['paper'] or round(w['here']) == w['paper'] for w in d[0]['rows'] if w['paper'] is not None and w['reason'] is None)"
    json "all(1 / $4 <= w['here'] / w['paper'] <= $4 for w in d[0]['rows'] if w['paper'] is not None)"
    json "all(w['stated'] in (-3, 0) for w in d[0]['rows'] if 'exponent' in w['quantity']) and abs([w['here'] for w in d[0]['rows'] if 'exponent' in w['quantity']][0] + 3) < 0.05"
}
printed table2 "[1.6e4, 1.6e7, 1.6e10, 8, 8, 8]" 3 1.1
printed table3 "[3.6e11, 3.6e14, 3.6e17, 360, 358, 358]" 6 1.02
printed table4 "[4.8e10, 4.6e13, 4.6e16, 730, 800, 800]" 4 1.05
printed table5 "[1.6e5, 1.5e8, 1.5e11, 19, 10, 58]" 0 1.6
json "all('not explained' in w['reason'] for w in d[0]['rows'] if w['paper'] is not None)"

# All figures: data and picture.
for figure in fig{8,9,10,13,14,17,18,23,25} order; do
    expect 0 reproduce "betsch2006/$figure" --json --out figures
    silent err
    json "d[0]['ok'] and all(w['ok'] for w in d[0]['rows'])"
    [[ -s figures/betsch2006/$figure.csv && -s figures/betsch2006/$figure.svg ]] || fail "$figure: no data or no figure"
done
python3 - figures/betsch2006 <<'PYTHON' || fail "data of the figures are wrong"
import csv, math, sys
def read(name):
    with open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))
top = read("fig8")
assert len(top) == 31 and float(top[-1]["t [s]"]) == 1.5
for row in top: # the analytic columns: l = 0.075, 60 degrees, 10 rad/s
    assert abs(float(row["x, analytic [m]"]) - 0.075 * math.sin(math.pi / 3) * math.sin(10 * float(row["t [s]"]))) < 1e-12
pair = read("fig13")
assert abs(float(pair[0]["energy [J]"]) - 110904.71875) < 1e-6
for name, value in (("L1", 2335.75), ("L2", 1028.625), ("L3", -1950)): # from the paper's data by hand
    assert all(abs(float(row[name + " [kg m^2/s]"]) - value) < 1e-6 for row in pair), name
linkage = read("fig25")
assert len(linkage) == 51 and abs(float(linkage[4]["theta1 [rad]"]) - 0.523087578) < 1e-8 # tests/reference/test_betsch2006.c
PYTHON

expect 0 reproduce betsch2006/conservation --json
json "d[0]['ok'] and len(d[0]['rows']) == 40 and all(w['here'] < 1e-11 for w in d[0]['rows'])"

# A run: the scheme is what a given step means for this method.
expect 0 run "$source_dir/problems/gyro_top/model.yaml" --method director --step 0.001 --json
json "d['integrator'] == 'energy-momentum' and d['steps'] == 1000 and d['energy']['max_drift'] < 1e-11"
