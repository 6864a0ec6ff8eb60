#!/usr/bin/env bash
# A run that is killed (SIGKILL) leaves a readable results file of either format, without repair, that lacks at most
# about a second. The unit test hdf5 looks at every write; here a real run is killed at several moments.
source "$(dirname "$0")/support.sh" "$@"

python3 - "$linkwork" "$work" <<'PYTHON' || fail "see above"
import mmap, os, re, shutil, signal, subprocess, sys, time
linkwork, work = sys.argv[1:]
h5dump = shutil.which("h5dump")

def start(path):
    command = [linkwork, "run", work + "/pendulum.yaml", "--end", "1e6", "--output", "0.01", "--quiet", "--out", path]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)

def csv_times(path):
    lines = [l for l in open(path, encoding="utf-8") if not l.startswith("#")]
    if not lines[-1].endswith("\n"):
        # The kernel may end a write at a page when it kills, and readers drop such a row; we tear none ourselves.
        assert os.path.getsize(path) % mmap.PAGESIZE == 0, "the last row is torn, and not by the kernel"
        del lines[-1]
    rows = [l.rstrip("\n").split(",") for l in lines]
    assert all(len(r) == len(rows[0]) for r in rows), "a row before the last is torn"
    return [float(r[0]) for r in rows[1:]]

def hdf5_rows(path):
    header = subprocess.run([h5dump, "-H", "-d", "/data", path], capture_output=True, text=True)
    assert header.returncode == 0, header.stderr
    return int(re.search(r"SIMPLE \{ \( (\d+),", header.stdout).group(1))

for moment in (0.3, 1.5, 2.3):
    paths = [work + "/killed.csv", work + "/killed.h5"]
    for path in paths:
        if os.path.exists(path):
            os.remove(path)
    begun = time.time()
    runs = [start(path) for path in paths]
    while not all(os.path.exists(path) and os.path.getsize(path) > 0 for path in paths):
        assert time.time() - begun < 60, "no results file"
        time.sleep(0.01)
    time.sleep(moment)
    killed = time.time()
    for run in runs:
        run.send_signal(signal.SIGKILL)
    for run in runs:
        assert run.wait() == -signal.SIGKILL
    for path in paths:
        # Rows go out once a second; a busy machine that lets a run wait may add to that.
        age = killed - os.path.getmtime(path)
        assert age < 2.5, "%s was last written %.2f s before the kill" % (path, age)
    times = csv_times(paths[0])
    assert times == sorted(times)
    if moment < 1:
        continue # maybe no row was due yet
    assert len(times) > 1000, len(times)
    if h5dump:
        assert hdf5_rows(paths[1]) > 1000
    for path in paths:
        plot = subprocess.run([linkwork, "plot", path, "pin.q", "total", "--out", path + ".svg"], capture_output=True, text=True)
        assert plot.returncode == 0 and plot.stderr == "", plot.stderr
PYTHON

echo passed
