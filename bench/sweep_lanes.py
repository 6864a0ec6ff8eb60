#!/usr/bin/env python3
"""A sweep of an arm of seven joints whose masses and lengths vary, one by one and side by side in lanes: the processor's time for a
row, everything included, on one thread. The rows are compared.

Call: sweep_lanes.py LINKWORK [RUNS]
"""
import csv
import os
import resource
import subprocess
import sys
import tempfile

program, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 256
os.environ["OPENBLAS_NUM_THREADS"] = "1"
axes = ["[0, 0, 1]", "[0, 1, 0]", "[0, 0, 1]", "[0, 1, 0]", "[0, 0, 1]", "[1, 0, 0]", "[0, 0, 1]"]
arm = ["linkwork: 1", "parameters: {m: 2, L: 0.3, J: 0.01}", "bodies:"]
arm += [f"  b{k}: {{mass: m, com: [0.01*{k % 3}, 0, L/2], inertia: [J, J, 0.6*J], position: [0, 0, {k}*L]}}" for k in range(7)]
arm += ["joints:"]
arm += [f"  j{k}: {{type: revolute, between: [{f'b{k - 1}' if k else 'ground'}, b{k}], point: [0, 0, {k}*L], axis: {axis}, "
        f"q: 0.1, v: 0.5}}" for k, axis in enumerate(axes)]
arm += ["gravity: [0, 0, -9.81]", "run: {end: 1, output: 20 ms, method: tree, integrator: rk4, step: 1 ms}"]


def swept(path, *more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, "sweep", "arm.yaml", "--vary", "m ~ normal(2, 0.1)", "--vary", "L ~ uniform(0.28, 0.32)", "--runs", str(runs),
                    "--measure", "final(j3.q)", "--measure", "max(kinetic)", "--jobs", "1", "--quiet", "--out", path, *more], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    return rows, 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("arm.yaml", "w", encoding="utf-8") as file:
        file.write("\n".join(arm) + "\n")
    for end in "1", "5":
        single, alone = swept(f"single{end}.csv", "--end", end)
        lanes, beside = swept(f"lanes{end}.csv", "--end", end, "--lanes")
        print(f"{end} s: {alone:.3f} ms one by one, {beside:.3f} ms in lanes, {beside / alone:.2f}; "
              f"{'the same rows' if single == lanes else 'rows differ'}")
