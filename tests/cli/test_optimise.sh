#!/usr/bin/env bash
# linkwork optimise: known answers, a published four-bar, bump steer against a search by hand; the same bytes by any number of
# threads and after kills; what is refused.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
awk '/[Ss]ave this as `/ {file = $0; sub(/.*[Ss]ave this as `/, "", file); sub(/`.*/, "", file)}
     /^```yaml$/ {inside = 1; next} /^```$/ {if (inside) file = ""; inside = 0}
     inside && file != "" {print >file}' "$source_dir/docs/optimise.md"
[[ -f linkage.yaml && -f coupler.yaml ]] || fail "docs/optimise.md has no models"

# Greatest g cos(start) / l at the start: its shortest length, where it begins to fall at once.
expect 0 optimise pendulum.yaml --vary "l = 0.5..2" --vary "start = -1..1" --maximise "initial(pin.a)" --end 0.01 --json --runs 600
json "d['found'] and close(d['variables']['l'], 0.5, 1e-7) and close(d['variables']['start'], 0, 1e-3)"
json "close(d['value'], 9.81 / 0.5, 1e-5)"
# ... and with a limit, in another unit, that is met at l = 1.
expect 0 optimise pendulum.yaml --vary "l = 0.5..2" --maximise "initial(pin.a)" --subject "max(com(bob).x) >= 1000 mm" --end 0.01 --json --runs 600
json "close(d['variables']['l'], 1, 1e-5) and d['outside'] > 0"

# Bump steer: the same place as by a golden section over linkwork run.
expect 0 optimise linkage.yaml --vary "rack = 200 mm .. 280 mm" --minimise "rms(toe)" --algorithm descent --json
cp out best.json
python3 - "$linkwork" <<'CHECK' || fail "bump steer: another place than by hand"
import csv, json, math, subprocess, sys
def rms(rack):
    done = subprocess.run([sys.argv[1], "run", "linkage.yaml", "--set", "rack=%.17g" % rack, "--out", "-", "--record", "toe"],
        capture_output=True, text=True, check=True)
    rows = [[float(x) for x in r] for r in list(csv.reader(l for l in done.stdout.splitlines() if not l.startswith("#")))[1:]]
    square = sum((a[1] ** 2 + b[1] ** 2) / 2 * (b[0] - a[0]) for a, b in zip(rows, rows[1:]))
    return math.sqrt(square / (rows[-1][0] - rows[0][0]))
a, b, golden = 0.235, 0.250, (math.sqrt(5) - 1) / 2
c, d = b - golden * (b - a), a + golden * (b - a)
fc, fd = rms(c), rms(d)
while b - a > 1e-6:
    if fc < fd: b, d, fd = d, c, fc; c = b - golden * (b - a); fc = rms(c)
    else: a, c, fc = c, d, fd; d = a + golden * (b - a); fd = rms(d)
best = json.load(open("best.json"))
assert abs(best["variables"]["rack"] - (a + b) / 2) < 2e-6, (best, a, b)
assert abs(best["value"] - rms(best["variables"]["rack"])) < 1e-12
CHECK

# The four-bar of Cabrera, Simon and Prado (2002): its error by the closed form of a four-bar is 0.0337480029109.
steps=(--method rcr --integrator rk4 --step 1/90 --tol 1e-4)
expect 0 sweep coupler.yaml --vary "r2 = 0.237803" --measure "rms(error)" --quiet --out cabrera.csv
python3 -c "
value = float(open('cabrera.csv').readlines()[-1].split(',')[2])
assert abs(18 * value**2 - 0.0337480029109) < 1e-12, 18 * value**2" || fail "the error of a published linkage"
box=(--vary "r1 = 0.1..10" --vary "r2 = 0.05..2" --vary "r3 = 0.1..10" --vary "r4 = 0.1..10" --vary "px = -5..5" --vary "py = -5..5"
    --vary "x0 = -5..5" --vary "y0 = -5..5" --vary "turn = 0..6.2831853" --vary "first = 0..6.2831853" --minimise "rms(error)")
expect 0 optimise coupler.yaml "${box[@]}" --algorithm descent --runs 3000 "${steps[@]}" --json
json "18 * d['value']**2 < 0.0194" # that of MUMSA (2011)

# The same bytes by one thread and two, after kills, and whole batches of failures in between.
small=(optimise coupler.yaml "${box[@]}" --runs 400 --seed 4 "${steps[@]}" --quiet)
expect 0 "${small[@]}" --jobs 1 --out one.csv
expect 0 "${small[@]}" --jobs 2 --out two.csv
cmp one.csv two.csv || fail "two threads search elsewhere than one"
grep -q ',failed,' one.csv || fail "nothing failed: the test has lost its point"
for format in csv h5; do
    expect 0 "${small[@]}" --out whole.$format
    for delay in 0.03 0.1 0.3; do
        rm -f part.$format
        "$linkwork" "${small[@]}" --out part.$format &
        sleep $delay
        kill -9 $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        expect 0 "${small[@]}" --out part.$format --resume
        cmp whole.$format part.$format || fail "after a kill the $format file differs"
    done
done
cmp one.csv whole.csv || fail "another number of threads"
expect 1 "${small[@]}" --out one.csv --seed 5 --resume
says err "another sweep"

expect 2 optimise pendulum.yaml --minimise "max(kinetic)"
says err "nothing varies"
expect 2 optimise pendulum.yaml --vary "l = 1..2"
says err "--minimise or --maximise"
expect 2 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetc)"
says err 'did you mean "kinetic"?'
expect 2 optimise pendulum.yaml --vary "ll = 1..2" --minimise "max(kinetic)"
says err 'did you mean "l"?'
expect 2 optimise pendulum.yaml --vary "l = 2..1" --minimise "max(kinetic)"
says err "less than the second"
expect 2 optimise pendulum.yaml --vary "l = 1..2 from 3" --minimise "max(kinetic)"
says err "outside of the bounds"
expect 2 optimise pendulum.yaml --vary "l = 1..2 : 5" --minimise "max(kinetic)"
says err "no number of points"
expect 2 optimise pendulum.yaml --vary "l ~ normal(1, 2)" --minimise "max(kinetic)"
says err "between two bounds"
expect 2 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetic)" --algorithm simplex
says err "cma"
expect 2 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetic)" --subject "max(pin.v) <= 3" --algorithm descent
says err "take cma"
expect 2 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetic)" --subject "max(pin.v) < 3"
says err "at most (<=)"
expect 2 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetic)" --subject "max(pin.v) <= 3 kg"
says err "is not in rad/s"
# No run is good.
expect 1 optimise pendulum.yaml --vary "l = 1..2" --minimise "max(kinetic)" --subject "max(kinetic) <= -1" --runs 30
says out "no run has succeeded"

# The call that is printed repeats the best run, with all that this call has said.
expect 0 optimise "$work/pendulum.yaml" --vary "l = 0.5..2 from 0.7" --maximise "final(pin.q)" --set "start=10 deg" --set m=3 --end 0.3 \
    --tol 1e-6 --integrator bdf --algorithm descent
call=$(grep "^    linkwork run" "$work/out")
for part in "'start=10 deg'" m=3 "--end 0.3" "--tol 1e-06" "--integrator bdf"; do
    [[ $call = *"$part"* ]] || fail "$part is not in: $call"
done
value=$(awk '$1 == "final(pin.q)" { print $2 }' "$work/out")
last=$(eval "\"$linkwork\" ${call#*linkwork} --record pin.q --quiet --out -" | grep -v "^#" | tail -n 1 | cut -d, -f2)
python3 -c "import sys; sys.exit(abs(float('$value') - float('$last')) > 1e-9)" || fail "$call gives $last, not $value"
