#!/usr/bin/env bash
# Nothing of a sweep is lost: killed at fifty instants, ended by SIGTERM and SIGINT, by its budget, by a full disk, by the death of
# a rank; what is gone on with is the same file, byte by byte. What stands in its way is told before the first run.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
plan=(sweep pendulum.yaml --vary "l = 0.5..1.5 : 20" --vary "m ~ normal(1 kg, 0.1 kg)" --runs 6 --seed 7
    --measure "final(pin.q)" --measure "max(reaction(pin).force)")

# Fifty instants, drawn once: from before the file is there to behind its end.
mapfile -t instants < <(python3 -c "
import random
random.seed(28)
for k in range(50): print('%.3f' % (random.random() ** 2 * 0.6))")
for format in csv h5; do
    expect 0 "${plan[@]}" --quiet --out whole.$format
done
half=0
for k in "${!instants[@]}"; do
    format=$([[ $((k % 2)) -eq 0 ]] && echo csv || echo h5)
    rm -f part.*
    "$linkwork" "${plan[@]}" --quiet --out part.$format &
    sleep "${instants[$k]}"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    [[ ! -s part.$format ]] || cmp -s whole.$format part.$format || half=$((half + 1))
    # Killed once more while it goes on.
    "$linkwork" "${plan[@]}" --quiet --out part.$format --resume &
    sleep "${instants[$(((k + 7) % 50))]}"
    kill -9 $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    expect 0 "${plan[@]}" --quiet --out part.$format --resume
    cmp whole.$format part.$format || fail "killed after ${instants[$k]} s: the $format file differs"
done
echo "$half of 50 kills left a part"

# Asked to stop: what is done is in the file, the exit status and a sentence say so.
for signal in TERM INT; do
    rm -f part.csv
    # A job of a script ignores SIGINT unless it says otherwise.
    python3 - "$linkwork" $signal "${plan[@]}" --runs 4000 --out part.csv <<'CHECK' || fail "SIG$signal"
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
program = subprocess.Popen([sys.argv[1]] + sys.argv[3:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(1.5)
program.send_signal(getattr(signal, "SIG" + sys.argv[2]))
out, err = program.communicate(timeout=60)
rows = [l for l in open("part.csv") if l[0].isdigit()]
assert program.returncode == 128 + getattr(signal, "SIG" + sys.argv[2]) and "stopped on request" in err and "--resume goes on" in err, (program.returncode, err)
done = int(err.split("behind ")[1].split()[0])
# Rows behind the run that was broken off wait for it, and are computed again.
assert rows and rows[-1].endswith("\n") and len(rows) <= done, (len(rows), err)
CHECK
done
expect 1 "${plan[@]}" --runs 4000 --budget "0.5 s" --out budget.csv
says out "stopped before the end: budget"
expect 0 "${plan[@]}" --budget "500 s" --out within.csv
cmp whole.csv within.csv || fail "a budget that suffices changes the file"

# A disk that is full (here: a file that must not grow) is told, and what is there is kept and gone on with.
for format in csv h5; do
    rm -f part.$format
    status=0
    (trap '' XFSZ && ulimit -f 4 && exec "$linkwork" "${plan[@]}" --out part.$format) >out 2>err </dev/null || status=$?
    [[ $status -eq 1 ]] || fail "a full disk: exit status $status"
    says err "cannot be"
    expect 0 "${plan[@]}" --quiet --out part.$format --resume
    cmp whole.$format part.$format || fail "after a full disk the $format file differs"
done

# What cannot be written is refused before the first run.
mkdir closed
expect 1 "${plan[@]}" --runs 1000000 --out closed
says err "its ending names no format"
expect 1 "${plan[@]}" --runs 1000000 --out closed/none/rows.h5
says err "cannot be created"
printf 'a,b\n1,2\n' >foreign.h5
cp foreign.h5 foreign.csv
for format in csv h5; do
    expect 1 "${plan[@]}" --runs 1000000 --out foreign.$format
    says err "it is there already"
    expect 1 "${plan[@]}" --runs 1000000 --out foreign.$format --resume
    says err "not the file of a sweep"
    [[ $(cat foreign.$format) == $'a,b\n1,2' ]] || fail "a foreign file was touched"
done
# Another model, another plan: the line that differs.
sed 's/tolerance: 1e-9/tolerance: 1e-8/' pendulum.yaml >other.yaml
for format in csv h5; do
    expect 1 "${plan[@]/pendulum.yaml/other.yaml}" --out whole.$format --resume
    says err "model_hash"
    expect 1 "${plan[@]}" --seed 8 --out whole.$format --resume
    says err "seed 7"
    says err "seed 8"
done

# A model on standard input cannot be read once more by a row's own call, nor by other ranks.
cat pendulum.yaml | "$linkwork" sweep /dev/stdin --vary "l = 1, 2" >out 2>err && fail "a model from a pipe is swept"
says err "give a regular file"

# A rank that dies.
mpi=$(dirname "$linkwork")/linkwork-mpi
if [[ -x $mpi ]] && command -v mpirun >/dev/null; then
    root=()
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # Open MPI keeps memory to the end.
    [[ $(id -u) -ne 0 ]] || root=(--allow-run-as-root)
    rm -f part.h5
    python3 - "$work" mpirun "${root[@]}" --oversubscribe -n 3 "$mpi" "${plan[@]}" --runs 2000 --out part.h5 <<'CHECK' || fail "a rank dies"
import glob, os, signal, subprocess, sys, time
program = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
def ranks(): # of this call alone: those among its descendants
    parent, found = {}, []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try: text = open(path).read()
        except OSError: continue
        pid = int(text.split()[0]); rest = text[text.rindex(")") + 2:].split()
        parent[pid] = (int(rest[1]), text[text.index("(") + 1:text.rindex(")")])
    for pid, (above, name) in parent.items():
        while above in parent and above != program.pid: above = parent[above][0]
        if above == program.pid and name.startswith("linkwork-mpi"): found.append(pid)
    return sorted(found)
deadline = time.time() + 60
while time.time() < deadline and not (len(ranks()) == 3 and os.path.exists("part.h5")): time.sleep(0.1)
time.sleep(3) # rows are in the file within two seconds
os.kill(ranks()[-1], signal.SIGKILL)
program.communicate(timeout=60)
assert program.returncode != 0
CHECK
    # What it leaves can be read and gone on with: here for an instant, to count what is there.
    status=0
    "$linkwork" "${plan[@]}" --runs 2000 --out part.h5 --resume --budget "0.01 s" --json >out 2>err || status=$?
    json "d['done'] > 0 and d['failed'] == 0 and d['stopped'] == 'budget'"
fi
