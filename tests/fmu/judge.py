"""FMUs judged by FMPy: validated, Model Exchange with CVode, Co-Simulation, both against linkwork run. Call: judge.py LINKWORK FOLDER MODEL..."""
import csv
import os
import subprocess
import sys

import fmpy
import numpy as np
from fmpy.validation import validate_fmu


def reference(linkwork, model, end, step, folder):
    """Columns of a run, by name."""
    path = os.path.join(folder, "reference.csv")
    subprocess.run([linkwork, "run", model, "--end", str(end), "--output", str(step), "--record", "joint(*)",
                    "--integrator", "erk", "--tol", "1e-12", "--out", path], check=True, stdout=subprocess.PIPE)
    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [name.split(" [")[0] for name in rows[0]]
    return dict(zip(names, np.array(rows[1:], float).T))


def judge(linkwork, folder, model, version, end, most):
    name = os.path.basename(os.path.dirname(model))
    fmu = os.path.join(folder, f"{name}{version}.fmu")
    subprocess.run([linkwork, "export", "fmu", model, "--fmi", str(version), "--out", fmu], check=True, stdout=subprocess.PIPE)
    faults = [f"validate: {problem}" for problem in validate_fmu(fmu)]
    step = end / 50
    truth = reference(linkwork, model, end, step, folder)
    description = fmpy.read_model_description(fmu)
    outputs = [v.name for v in description.modelVariables if v.causality == "output" and v.name in truth]
    for kind in ("ModelExchange", "CoSimulation"):
        result = fmpy.simulate_fmu(fmu, fmi_type=kind, start_time=0, stop_time=end, output_interval=step, solver="CVode",
                                   relative_tolerance=1e-10, output=outputs)
        worst = 0
        for output in outputs:
            # Time events give two rows at one instant, of which the run has one.
            at = [int(np.nonzero(np.abs(result["time"] - t) < 1e-9)[0][-1]) for t in truth["t"] if np.any(np.abs(result["time"] - t) < 1e-9)]
            own = np.array([truth[output][k] for k, t in enumerate(truth["t"]) if np.any(np.abs(result["time"] - t) < 1e-9)])
            worst = max(worst, float(np.max(np.abs(result[output][at] - own) / np.maximum(1, np.abs(own)))))
        print(f"{name:18s} FMI {version} {kind:14s} {len(outputs):3d} outputs, largest difference {worst:.1e}")
        if not worst <= most:
            faults.append(f"{kind}: {worst:.2e}")
    return [f"{name}, FMI {version}: {fault}" for fault in faults]


def main():
    linkwork, folder, problems = sys.argv[1], sys.argv[2], sys.argv[3]
    faults = []
    # The bounds are errors of CVode at a tolerance of 1e-10, which fall with it: four_bar 8e-7, 4e-8, 8e-10 at 1e-8, 1e-10, 1e-12 at the end.
    for name, end, most in (("double_pendulum", 1, 1e-7), ("four_bar", 1, 1e-6), ("bricard", 1, 1e-7), ("suspension", 0.5, 1e-5),
                            ("series_damper", 1, 1e-7), ("cart_pole", 4, 1e-6), ("bouncing_ball", 1, 1e-6), ("tumbling_body", 1, 1e-7)):
        for version in (2, 3):
            faults += judge(linkwork, folder, os.path.join(problems, name, "model.yaml"), version, end, most)
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


main()
