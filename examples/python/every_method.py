"""For a course: one mechanism, every formulation; accelerations, reactions, what the check says.

Usage: every_method.py MODEL
"""

import sys

import linkwork as lw
import numpy as np

model = lw.load(sys.argv[1])
reference = lw.Solver(model).accelerations(0.0, model.q0, model.v0)
print(model)
for name, summary in lw.methods():
    try:
        solver = lw.Solver(model, name)
        vdot = solver.accelerations(0.0, model.q0, model.v0)
    except lw.UnsupportedError as refusal:
        print(f"  {name:20} does not apply: {refusal.faults[0][4]}")
        continue
    difference = np.abs(vdot - reference).max() / np.abs(reference).max()
    print(f"  {name:20} differs by {difference:8.1e}, balance {solver.balance():8.1e}, "
          f"{int(solver.unique_reactions().sum())} components of reactions are unique")
    assert difference < 1e-7
