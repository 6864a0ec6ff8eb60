"""Monte Carlo of manufacturing tolerances: how much the largest pin force of a four-bar linkage scatters.

Usage: four_bar_tolerances.py MODEL [RUNS]
"""

import sys

import linkwork as lw
import numpy as np

path = sys.argv[1]
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 50
nominal = lw.load(path)
rng = np.random.default_rng(1)
largest = []
for _ in range(runs):
    varied = {name: value * rng.normal(1.0, 0.002) for name, value in nominal.parameters.items()}
    model = nominal.with_parameters(**varied) if varied else nominal
    q = model.q0 + 1e-3 * rng.standard_normal(model.nq)  # A start that is not quite the drawn one; it is assembled.
    result = model.run(end=0.5, q=q, record="reaction(A).force")
    assert result.ok, result.reasons
    largest.append(result["reaction(A).force"].max())
counts, edges = np.histogram(largest, bins=8)
print(f"largest force in A over {runs} runs: {np.mean(largest):.1f} +- {np.std(largest):.1f} N")
for count, left, right in zip(counts, edges, edges[1:]):
    print(f"{left:9.1f} .. {right:9.1f} N  {'#' * int(count)}")
