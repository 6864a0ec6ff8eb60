#!/usr/bin/env python3
"""Sweeps by threads, by ranks of MPI, and by a pool of processes that runs the program once for each row.

Call: sweep_pool.py LINKWORK [MODEL PARAMETER LOW HIGH RUNS]. Prints rows a second by the clock and the processor's time for a
row, of one worker and of two. The rows are compared: all ways must give the same bits.
"""
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

program = os.path.abspath(sys.argv[1])
model, name, low, high, runs = sys.argv[2:7] if len(sys.argv) > 6 else ("problems/gantry/model.yaml", "h", "3", "5", "400")
runs, measure = int(runs), "final(kinetic)"
mpi = os.path.join(os.path.dirname(program), "linkwork-mpi")
root = ["--allow-run-as-root"] if os.getuid() == 0 else []
os.environ["OPENBLAS_NUM_THREADS"] = "1"


def timed(what, work):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    rows = work()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what:28} {runs / wall:10.1f} rows/s {1e3 * cpu / runs:10.3f} ms of processor a row")
    return rows


def swept(call, path, *more):
    subprocess.run(call + ["sweep", model, "--vary", f"{name} = {low}..{high} : {runs}", "--measure", measure, "--quiet",
                           "--out", path, *more], check=True, stdin=subprocess.DEVNULL)
    with open(path, encoding="utf-8") as file:
        return [float(row[2]) for row in list(csv.reader(line for line in file if not line.startswith("#")))[1:]]


def once(value):
    done = subprocess.run([program, "run", model, "--set", f"{name}={value:.17g}", "--record", "kinetic", "--out", "-", "--quiet"],
                          check=True, capture_output=True, text=True)
    return float([line for line in done.stdout.splitlines() if line and not line.startswith("#")][-1].split(",")[1])


def pooled(workers):
    step = (float(high) - float(low)) / (runs - 1)
    values = [float(low)] + [float(low) + step * (runs - 1) * (k / (runs - 1)) for k in range(1, runs - 1)] + [float(high)]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(once, values))


with tempfile.TemporaryDirectory() as folder:
    first = None
    ways = []
    for jobs in 1, 2:
        ways.append((f"sweep --jobs {jobs}", lambda jobs=jobs: swept([program], f"{folder}/t{jobs}.csv", "--jobs", str(jobs))))
    if os.path.exists(mpi):
        for ranks in 2, 3:
            ways.append((f"mpirun -n {ranks} (1 leads)", lambda ranks=ranks: swept(
                ["mpirun", *root, "--oversubscribe", "-n", str(ranks), mpi], f"{folder}/m{ranks}.csv")))
    for workers in 1, 2:
        ways.append((f"pool of {workers} processes", lambda workers=workers: pooled(workers)))
    for what, work in ways:
        rows = timed(what, work)
        first = first or rows
        differ = sum(a != b for a, b in zip(first, rows))
        if len(rows) != runs or differ:
            sys.exit(f"{what}: {differ} of {len(rows)} rows differ")
