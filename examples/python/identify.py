"""Identification: the mass and the damping of a pendulum from its recorded motion, by Gauss and Newton.

Sensitivities are differences of runs; runs are exact enough for that, since their tolerance is 1e-10.
"""

import linkwork as lw
import numpy as np
import numpy.typing as npt

MODEL = """
linkwork: 1
name: pendulum with friction
parameters: {m: 1 kg, d: 0.1}
bodies: {rod: {mass: m, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.001]}}
joints: {pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0], q: 1}}
forces: {bearing: {type: friction, joint: pin, viscous: d}}
"""


def motion(parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    model = lw.loads(MODEL, m=float(parameters[0]), d=float(parameters[1]))
    return model.run(end=3.0, output=0.02, tolerance=1e-10)["pin.q"]


true = np.array([2.3, 0.17])
noise = np.random.default_rng(7).normal(0, 1e-4, 151)
measured = motion(true) + noise
guess = np.array([1.0, 0.1])
for _ in range(12):
    residual = measured - motion(guess)
    columns = [(motion(guess + h) - motion(guess - h)) / 2e-5 for h in 1e-5 * np.eye(2)]
    guess = guess + np.linalg.lstsq(np.stack(columns, axis=1), residual, rcond=None)[0]
print(f"mass {guess[0]:.4f} kg, damping {guess[1]:.5f} N m s; true {true[0]}, {true[1]}")
assert np.allclose(guess, true, rtol=5e-3)  # some ten standard deviations of the noise
