"""Identification of a double pendulum: masses and friction from its recorded motion, by least squares.

The sensitivities of Gauss and Newton's steps are differences of runs; runs are exact enough for that, since their
tolerance is 1e-10. The spring at the pin is known: without it the motion would not tell a common factor of masses
and friction. Standard deviations are those of the noise, 1e-4 rad, through the same sensitivities.
"""

import linkwork as lw
import numpy as np
import numpy.typing as npt

MODEL = """
linkwork: 1
name: double pendulum with friction
parameters: {m1: 1 kg, m2: 1 kg, d1: 0.1, d2: 0.1}
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: m1, com: [0, 0, -0.5], inertia: [0.1*m1, 0.1*m1, 0.001*m1]}
  lower: {mass: m2, com: [0, 0, -1.4], inertia: [0.1*m2, 0.1*m2, 0.001*m2]}
joints:
  pin: {type: revolute, between: [ground, upper], point: [0, 0, 0], axis: [0, 1, 0], q: 1}
  elbow: {type: revolute, between: [upper, lower], point: [0, 0, -1], axis: [0, 1, 0], q: -0.5}
forces:
  spring: {type: torsion, joint: pin, stiffness: 5}
  bearing: {type: friction, joint: pin, viscous: d1}
  hinge: {type: friction, joint: elbow, viscous: d2}
"""
NAMES = ("m1", "m2", "d1", "d2")


def motion(parameters: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    values = dict(zip(NAMES, parameters.tolist()))
    result = lw.loads(MODEL, **values).run(end=3.0, output=0.02, tolerance=1e-10)
    return np.concatenate([result["pin.q"], result["elbow.q"]])


true = np.array([2.3, 1.2, 0.17, 0.06])
measured = motion(true)
measured += np.random.default_rng(7).normal(0, 1e-4, len(measured))
guess = np.array([2.0, 1.0, 0.15, 0.08])
for _ in range(12):
    residual = measured - motion(guess)
    columns = [(motion(guess + h) - motion(guess - h)) / 2e-5 for h in 1e-5 * np.eye(len(guess))]
    guess = guess + np.linalg.lstsq(np.stack(columns, axis=1), residual, rcond=None)[0]
deviation = 1e-4 * np.sqrt(np.diag(np.linalg.inv(np.stack(columns) @ np.stack(columns, axis=1))))
for name, found, value, sigma in zip(NAMES, guess, true, deviation):
    print(f"{name}: {found:.5f} +- {sigma:.5f}, true {value}")
assert (np.abs(guess - true) < 5 * deviation).all()
