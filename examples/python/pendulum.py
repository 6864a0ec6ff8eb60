"""A pendulum built in Python, run, and compared with the law of small oscillations."""

import linkwork as lw
import numpy as np

spec = lw.Spec("pendulum", gravity=[0, 0, -9.81])
spec.body("rod", mass=1.0, com=[0, 0, -0.5], inertia=[1 / 12, 1 / 12, 0.001])
spec.joint("pin", type="revolute", between=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0], q=0.01)
model = spec.compile()

result = model.run(end=5.0)
crossings = result.t[1:][np.diff(np.sign(result["pin.q"])) != 0]
period = 2 * np.diff(crossings).mean()
expected = 2 * np.pi * np.sqrt((1 / 12 + 0.25) / (9.81 * 0.5))
print(f"period {period:.4f} s, by the formula {expected:.4f} s; {result!r}")
assert abs(period / expected - 1) < 2e-3  # the samples are 5 ms apart
