"""A cart with a pole in the style of reinforcement learning: reset, step, reward; balanced by a linear law."""

from __future__ import annotations

import linkwork as lw
import numpy as np
import numpy.typing as npt

MODEL = """
linkwork: 1
name: cart and pole
inputs: {push: 0 N}
bodies:
  cart: {mass: 1, inertia: [1, 1, 1]}
  pole: {mass: 0.1, com: [0, 0, 0.5], inertia: [0.01, 0.01, 0.0001]}
joints:
  rail: {type: prismatic, between: [ground, cart], point: [0, 0, 0], axis: [1, 0, 0]}
  hinge: {type: revolute, between: [cart, pole], point: [0, 0, 0], axis: [0, 1, 0]}
forces:
  motor: {type: drive, joint: rail, force: push}
"""


class CartPole:
    """The usual interface: reset gives an observation, step an observation, a reward and whether it is over."""

    def __init__(self) -> None:
        self.model = lw.loads(MODEL)
        self.simulation = lw.Simulation(self.model, step=0.005)

    def observe(self) -> npt.NDArray[np.float64]:
        return np.concatenate(self.simulation.state())

    def reset(self, seed: int) -> npt.NDArray[np.float64]:
        rng = np.random.default_rng(seed)
        self.simulation.reset()
        self.simulation.set_state(rng.uniform(-0.05, 0.05, self.model.nq), rng.uniform(-0.05, 0.05, self.model.nv))
        return self.observe()

    def step(self, push: float) -> tuple[npt.NDArray[np.float64], float, bool]:
        self.simulation.inputs["push"] = push
        self.simulation.advance(self.simulation.time + 0.02)
        state = self.observe()
        return state, 1.0, bool(abs(state[0]) > 2.4 or abs(state[1]) > 0.21)


environment = CartPole()
for seed in range(5):
    state, total, over = environment.reset(seed), 0.0, False
    while not over and total < 500:
        state, reward, over = environment.step(float(np.dot([1.0, 20.0, 1.8, 4.0], state)))
        total += reward
    print(f"seed {seed}: {total:.0f} steps, angle {state[1]:+.5f} rad")
    assert total == 500
