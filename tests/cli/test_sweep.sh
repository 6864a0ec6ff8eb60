#!/usr/bin/env bash
# linkwork sweep: rows equal runs, whatever the number of threads and whenever it was killed; what is refused.
source "$(dirname "$0")/support.sh" "$@"

plan=(--vary "l = 0.5..1.5 : 5" --vary "m ~ normal(1 kg, 0.1 kg)" --runs 6 --seed 7 --design latin
    --measure "final(pin.q)" --measure "peak = max(reaction(pin).force)" --measure "rms(pin.v)"
    --measure "at(pin.q, 0.5)" --measure "settle(pin.q, 0.5)" --measure "overshoot(bob = com(bob).z)")
expect 2 sweep "$work/pendulum.yaml" "${plan[@]}"
says err "overshoot(bob"
unset 'plan[-1]' 'plan[-1]'

expect 0 sweep "$work/pendulum.yaml" "${plan[@]}" --jobs 1 --out "$work/one.csv"
says out "30 of 30 runs: 30 ok"
silent err
expect 0 sweep "$work/pendulum.yaml" "${plan[@]}" --jobs 2 --out "$work/two.csv" --json
json "d['done'] == 30 and d['failed'] == 0 and d['measures']['peak']['unit'] == 'N' and d['measures']['peak']['known'] == 30"
cmp "$work/one.csv" "$work/two.csv" || fail "two threads give other rows than one"

# Every row is what linkwork run gives for its values, to the last bit.
python3 - "$work/one.csv" "$linkwork" "$work/pendulum.yaml" <<'CHECK' || fail "a row differs from its run"
import csv, json, math, subprocess, sys
rows = list(csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")))
assert len(rows) == 30 and list(rows[0]) == ["run", "l", "m", "final(pin.q) [rad]", "peak [N]", "rms(pin.v) [rad/s]",
    "at(pin.q, 0.5) [rad]", "settle(pin.q, 0.5) [s]", "status", "reason"], list(rows[0])
for k in (0, 7, 29):
    row = rows[k]
    assert int(row["run"]) == k and row["status"] == "ok"
    done = subprocess.run([sys.argv[2], "run", sys.argv[3], "--set", "l=" + row["l"], "--set", "m=" + row["m"], "--out", "-",
        "--record", "pin.q, pin.v, reaction(pin).force"], capture_output=True, text=True, check=True)
    table = list(csv.reader(line for line in done.stdout.splitlines() if not line.startswith("#")))[1:]
    t, q, v, f = zip(*[[float(x) for x in line] for line in table])
    assert float(row["final(pin.q) [rad]"]) == q[-1] and float(row["peak [N]"]) == max(f)
    assert float(row["at(pin.q, 0.5) [rad]"]) == q[250]
    # sums in another order
    square = sum((a * a + b * b) / 2 * (y - x) for a, b, x, y in zip(v, v[1:], t, t[1:])) / (t[-1] - t[0])
    assert abs(float(row["rms(pin.v) [rad/s]"]) - math.sqrt(square)) < 1e-12
    settled = next(t[i] for i in range(len(t)) if all(abs(x - q[-1]) <= 0.5 for x in q[i:]))
    assert float(row["settle(pin.q, 0.5) [s]"]) == settled
CHECK

# Killed at any instant and gone on with: the same file.
for format in csv h5; do
    expect 0 sweep "$work/pendulum.yaml" "${plan[@]}" --quiet --out "$work/whole.$format"
    for delay in 0.02 0.05 0.1 0.2; do
        rm -f "$work/part.$format"
        "$linkwork" sweep "$work/pendulum.yaml" "${plan[@]}" --quiet --out "$work/part.$format" &
        sleep $delay
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        expect 0 sweep "$work/pendulum.yaml" "${plan[@]}" --quiet --out "$work/part.$format" --resume
        cmp "$work/whole.$format" "$work/part.$format" || fail "after a kill the $format file differs"
    done
done
# A file that ends in the middle of a row.
head -c 900 "$work/one.csv" > "$work/cut.csv"
expect 0 sweep "$work/pendulum.yaml" "${plan[@]}" --quiet --out "$work/cut.csv" --resume
cmp "$work/one.csv" "$work/cut.csv" || fail "a file that was cut off is not completed"

# Runs that fail are rows.
cat > "$work/reach.yaml" <<'YAML'
linkwork: 1
name: reach
parameters: {d: 1}
bodies:
  a: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1]}
  b: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1]}
joints:
  p: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}
  q: {type: revolute, between: [a, b], point: [1, 0, 0], axis: [0, 1, 0]}
constraints:
  rope: {type: distance, between: [ground, b], points: [[0, 0, 0], [2, 0, 0]], length: d}
run: {end: 0.1}
YAML
expect 0 sweep "$work/reach.yaml" --vary "d = 1, 5, 1.5" --measure "final(p.q)" --out "$work/reach.csv"
says out "3 of 3 runs: 2 ok, 0 doubtful, 1 failed"
says out "--set d=5"
grep -q '^1,5,,failed,' "$work/reach.csv" || fail "a run that fails is no row: $(tail -3 "$work/reach.csv")"
expect 1 sweep "$work/reach.yaml" --vary "d = 5, 6" --quiet
expect 1 sweep "$work/reach.yaml" --vary "d = 5, 6, 1" --max-failures 1 --jobs 1
says out "1 of 3 runs"

# A plan in a file, dry; texts; values from a file.
cat > "$work/plan.yaml" <<'YAML'
vary: ["l = 1, 2", "method = tree, lagrange"]
measure: ["final(pin.q)"]
YAML
expect 0 sweep "$work/pendulum.yaml" --plan "$work/plan.yaml" --dry-run
says out "4 runs"
says out "lagrange"
expect 0 sweep "$work/pendulum.yaml" --plan "$work/plan.yaml" --quiet --out "$work/plan.csv"
grep -q '^3,2,lagrange,' "$work/plan.csv" || fail "$(cat "$work/plan.csv")"
printf 'l,m [g]\n1,500\n2,1000\n' > "$work/values.csv"
expect 0 sweep "$work/pendulum.yaml" --vary "l, m from $work/values.csv" --quiet --out "$work/from.csv"
grep -q '^0,1,0.5,ok,' "$work/from.csv" || fail "$(cat "$work/from.csv")"

# Refusals.
expect 2 sweep "$work/pendulum.yaml"
says err "nothing varies"
expect 2 sweep "$work/pendulum.yaml" --vary "ll = 1, 2"
says err 'did you mean "l"?'
expect 2 sweep "$work/pendulum.yaml" --vary "method = tree, tre"
says err 'did you mean "tree"?'
expect 2 sweep "$work/pendulum.yaml" --vary "l = 1 kg, 2 kg"
says err "a length"
expect 2 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --measure "max(kinetc)"
says err 'did you mean "kinetic"?'
expect 2 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --measure "max(joint(pin))"
says err "2 quantities"
expect 2 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --measure "time(hit)"
says err "no events"
expect 2 sweep "$work/pendulum.yaml" --vary "l = 0..1 : 1000000" --vary "m = 1..2 : 1000000"
says err "1e+12 runs"
expect 1 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --out "$work/one.csv"
says err "it is there already"
cp "$work/one.csv" "$work/kept.csv"
expect 1 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --out "$work/one.csv" --resume
says err "another sweep"
cmp "$work/one.csv" "$work/kept.csv" || fail "the file of another plan was touched"
expect 1 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --out "$work/pendulum.yaml" --resume
says err "its ending names no format"
printf 'a,b\n1,2\n' > "$work/foreign.csv"
expect 1 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --out "$work/foreign.csv" --resume
says err "not the file of a sweep"
expect 1 sweep "$work/pendulum.yaml" --vary "l = 1, 2" --out "$work/no/folder.csv"

# Sobol' indices of Ishigami's function, whose exact ones are known: 0.3139, 0.4424, 0 by themselves and 0.5576, 0.4424, 0.2437 in
# total; 95 of 100 intervals hold them, and twice the interval nearly always does.
cat > "$work/ishigami.yaml" <<'YAML'
linkwork: 1
name: function of Ishigami and Homma
parameters: {a: 0, b: 0, c: 0}
bodies:
  bob: {kind: point, mass: 1, com: [1, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}
outputs:
  y: {value: "sin(a) + 7*sin(b)^2 + 0.1*c^4*sin(a)"}
run: {end: 1e-3, output: 1e-3}
YAML
pi=3.141592653589793
three=(--vary "a ~ uniform(-$pi, $pi)" --vary "b ~ uniform(-$pi, $pi)" --vary "c ~ uniform(-$pi, $pi)" --measure "final(y)")
for seed in 0 1 2; do
    expect 0 sweep "$work/ishigami.yaml" "${three[@]}" --design saltelli --runs 1024 --seed $seed --json
    json "d['runs'] == 5120 and all(abs(i[k] - x) < min(0.06, 2 * i[k + '_confidence']) for name, first, total in
        (('a', 0.3139, 0.5576), ('b', 0.4424, 0.4424), ('c', 0, 0.2437)) for i in [d['measures']['final(y)']['sobol'][name]]
        for k, x in (('first', first), ('total', total)))"
done
expect 0 sweep "$work/ishigami.yaml" "${three[@]}" --design saltelli --runs 64
says out "Sobol' index of a: "
expect 2 sweep "$work/ishigami.yaml" --vary "a = 1, 2" --vary "b ~ uniform(1, 2)" --design saltelli --runs 64
says err "variables that are drawn"
# Intervals of quantiles and runs in order, by another program.
expect 0 sweep "$work/ishigami.yaml" "${three[@]}" --runs 300 --seed 3 --out "$work/drawn.csv" --json
cp "$work/out" "$work/drawn.json"
python3 - "$work/drawn.csv" "$work/drawn.json" <<'CHECK' || fail "quantiles"
import csv, json, math, sys
rows = [(float(r["final(y)"]), int(r["run"])) for r in csv.DictReader(l for l in open(sys.argv[1]) if not l.startswith("#"))]
d = json.load(open(sys.argv[2]))["measures"]["final(y)"]
assert d["lowest_runs"] == [k for x, k in sorted(rows)][:5], d
assert d["highest_runs"] == [k for x, k in sorted(rows, key=lambda r: (-r[0], r[1]))][:5], d
values = sorted(x for x, k in rows)
for name, p in ("q05", 0.05), ("median", 0.5), ("q95", 0.95):
    half = 1.96 * math.sqrt(300 * p * (1 - p))
    low, high = math.floor(300 * p - half), math.ceil(300 * p + half) + 1
    assert d[name + "_confidence"] == [values[low - 1], values[high - 1]], (name, d)
CHECK

# Files of parts vary: every row is its run with these files, bit by bit.
cat >"$work/stiff.yaml" <<'YAML'
linkwork: 1
parameters: {L: 1, k: 50}
bodies: {rod: {mass: 1, com: [L/2, 0, 0], inertia: [0.01, 0.1, 0.1], position: [0, 0, 0]}}
joints: {pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}}
forces: {spring: {type: drive, joint: pin, torque: -k*q}}
YAML
sed 's/k: 50/k: 5/; s/mass: 1/mass: 1.2/' "$work/stiff.yaml" >"$work/soft.yaml"
cat >"$work/two.yaml" <<'YAML'
linkwork: 1
parts:
  left: {use: stiff.yaml}
  right: {use: stiff.yaml, at: {position: [0, 1, 0]}}
run: {end: 0.5}
YAML
cat >"$work/nested.yaml" <<'YAML'
linkwork: 1
parts: {machine: {use: two.yaml}}
run: {end: 0.5}
YAML
expect 0 sweep "$work/two.yaml" --vary "use(left) = stiff.yaml, soft.yaml" --vary "left.L = 1, 1.1" --vary "use(right) = soft.yaml, stiff.yaml" \
    --measure "final(left.pin.q)" --measure "final(right.pin.q)" --out "$work/files.csv"
python3 - "$work/files.csv" "$linkwork" "$work/two.yaml" <<'CHECK' || fail "a row differs from the run with its files"
import csv, subprocess, sys
rows = list(csv.DictReader(line for line in open(sys.argv[1]) if not line.startswith("#")))
assert len(rows) == 8 and len({round(float(row["final(left.pin.q) [rad]"]), 6) for row in rows}) == 4
for row in rows[1], rows[6]:
    settings = [x for name in ("use(left)", "use(right)", "left.L") for x in ("--set", name + "=" + row[name])]
    done = subprocess.run([sys.argv[2], "run", sys.argv[3], *settings, "--out", "-", "--record", "left.pin.q, right.pin.q"],
                          capture_output=True, text=True, check=True)
    last = [line for line in done.stdout.splitlines() if line and not line.startswith("#")][-1].split(",")
    assert last[1:] == [row["final(left.pin.q) [rad]"], row["final(right.pin.q) [rad]"]], (row, last)
CHECK
expect 2 sweep "$work/two.yaml" --vary "use(lefty) = stiff.yaml" --dry-run
says err 'did you mean "left"?'
expect 2 sweep "$work/two.yaml" --vary "use(left) = stiff.yaml, none.yaml" --dry-run
says err "there is no such file"
expect 2 run "$work/two.yaml" --set "use(lefty)=soft.yaml"
says err 'did you mean "left"?'
# In a part of a part.
for use in machine.left left; do
    model=two
    [[ $use = left ]] || model=nested
    expect 0 run "$work/$model.yaml" --set "use($use)=soft.yaml" --record "$use.pin.q" --out "$work/$model.csv"
done
cmp <(tail -n 2 "$work/two.csv") <(tail -n 2 "$work/nested.csv") || fail "a file of a part's part is not taken"

# Ranks of MPI give the bits of threads.
mpi=$(dirname "$linkwork")/linkwork-mpi
if [[ -x $mpi ]] && command -v mpirun >/dev/null; then
    root=()
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI keeps memory to the end.
    [[ $(id -u) -ne 0 ]] || root=(--allow-run-as-root)
    for format in csv h5; do
        mpirun "${root[@]}" --oversubscribe -n 4 "$mpi" sweep "$work/pendulum.yaml" "${plan[@]}" \
            --out "$work/ranks.$format" >"$work/out" 2>"$work/err" </dev/null || fail "mpirun: $(cat "$work/err")"
        says out "30 of 30 runs: 30 ok"
        cmp "$work/whole.$format" "$work/ranks.$format" || fail "ranks give other rows than threads"
    done
    # A job that was killed goes on.
    head -c 900 "$work/one.csv" > "$work/cut.csv"
    mpirun "${root[@]}" --oversubscribe -n 3 "$mpi" sweep "$work/pendulum.yaml" "${plan[@]}" --quiet \
        --out "$work/cut.csv" --resume </dev/null || fail "mpirun --resume"
    cmp "$work/one.csv" "$work/cut.csv" || fail "ranks do not complete a file"
else
    echo "skipped: linkwork-mpi or mpirun is not here"
fi
