"""LQR of a pole on a cart: gains from the linearised model, by scipy if it is there; then the pole is balanced.

Usage: lqr_cart_pole.py MODEL (problems/cart_pole/model.yaml, whose own gains are switched off here)

The weights are those of a well-known lesson (Control Tutorials for MATLAB and Simulink, "inverted pendulum"), and
its gains come out.
"""

from __future__ import annotations

import sys

import linkwork as lw
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def riccati(A: Array, B: Array, Q: Array, R: Array) -> Array:
    """X of A'X + XA - XBR^-1B'X + Q = 0, from the stable invariant subspace of the Hamiltonian matrix."""
    try:
        from scipy.linalg import solve_continuous_are  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return np.asarray(solve_continuous_are(A, B, Q, R))
    except ImportError:
        values, vectors = np.linalg.eig(np.block([[A, -B @ np.linalg.inv(R) @ B.T], [-Q, -A.T]]))
        stable = vectors[:, values.real < 0]
        n = len(A)
        return np.asarray((stable[n:] @ np.linalg.inv(stable[:n])).real)


model = lw.load(sys.argv[1], k1=0.0, k2=0.0, k3=0.0, k4=0.0)
upright = np.zeros(model.nq)
system = lw.linearise(model, q=upright)
print("states", system.states, "inputs", system.inputs)
weights = {"rail.q": 5000.0, "pivot.q": 100.0}
Q = np.diag([weights.get(name, 0.0) for name in system.states])
R = np.eye(1)
X = riccati(system.A, system.B, Q, R)
K = np.linalg.inv(R) @ system.B.T @ X
poles = np.linalg.eigvals(system.A - system.B @ K)
gains = dict(zip(system.states, K[0]))
print("gains", {name: round(gain, 4) for name, gain in gains.items()})
print("closed loop", np.sort_complex(np.round(poles, 4)))
published = {"rail.q": -70.7107, "rail.v": -37.8345, "pivot.q": 105.5298, "pivot.v": 20.9238}
assert all(abs(gains[name] - value) < 1e-4 for name, value in published.items())
assert poles.real.max() < 0

with lw.Simulation(model, q=[0.0, 0.2], integrator="rk4", step=2e-3) as simulation:
    for k in range(2500):  # five seconds, a new push every 2 ms
        state = dict(zip(("rail.q", "pivot.q", "rail.v", "pivot.v"), np.concatenate(simulation.state())))
        simulation.inputs["push"] = -sum(gains[name] * value for name, value in state.items())
        simulation.step_to(2e-3 * (k + 1))
    q, v = simulation.state()
print(f"after 5 s: cart at {1e3 * q[0]:.3f} mm, pole at {np.degrees(q[1]):.4f} deg")
assert abs(q[0]) < 0.02 and abs(q[1]) < 0.01  # The blow of the model at 3 s has nearly died away.
