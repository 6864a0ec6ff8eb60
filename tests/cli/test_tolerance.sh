#!/usr/bin/env bash
# A tighter tolerance costs more and is more exact: erk on several mechanisms, from 1e-4 to 1e-12. Without samples the cost is that of
# evaluations. With 1000 it is that of steps, tried and taken: what a sample takes beside them, one evaluation to four, falls with the step.
source "$(dirname "$0")/support.sh" "$@"

python3 - "$linkwork" "$source_dir/problems" <<'PYTHON' || fail "see above"
import json, subprocess, sys
linkwork, problems = sys.argv[1:]

def run(model, tolerance, output):
    command = [linkwork, "run", f"{problems}/{model}/model.yaml", "--integrator", "erk", "--tol", tolerance, "--json"]
    d = json.loads(subprocess.run(command + output, capture_output=True, text=True, check=True).stdout)
    return (d["evaluations"] if output else d["steps"] + d["rejected"]), [x for j in d["final"]["joints"].values() for x in j["q"] + j["v"]]

# Not among them: motions that are chaotic at 1e-4, and forces that change at given times, which a step meets well or badly by chance.
for model in ["four_bar", "double_pendulum", "andrews_squeezer", "stewart_platform", "gyro_top", "slider_crank", "six_body_linkage", "bricard"]:
    for output in [], ["--output", "100"]:
        exact = run(model, "1e-13", output)[1]
        last_cost, last_errors = 0, [float("inf")]
        for decade in range(4, 13):
            cost, state = run(model, f"1e-{decade}", output)
            error = max(abs(a - b) / (1 + abs(b)) for a, b in zip(state, exact))
            # errors of single runs scatter by chance, by a factor of two or three, and one of them may be lucky by more: so
            # the two before are looked at; 1e-12 is about what rounding leaves of the exact one.
            # A step or two of some hundred are rejected by chance (210 and 212 of bricard).
            assert cost >= 0.99 * last_cost and error <= 3 * max(last_errors) + 1e-12, (model, decade, cost, last_cost, error, last_errors)
            last_cost, last_errors = cost, [last_errors[-1], error]
        assert error < 1e-10, (model, error)
PYTHON
