"""Linkwork: dynamics of mechanisms with closed loops, bodies without mass and redundant constraints.

>>> import linkwork as lw
>>> spec = lw.Spec("pendulum", gravity=[0, 0, -9.81])
>>> _ = spec.body("rod", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.001])
>>> _ = spec.joint("pin", type="revolute", between=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0], q=0.3)
>>> model = spec.compile()
>>> solver = lw.Solver(model)
>>> print(solver.accelerations(0.0, model.q0, model.v0).round(6))
[-4.141505]
>>> result = model.run(end=1.0)
>>> result.ok
True
"""

from ._core import FileError, IntegrationError, LinkworkError, ModelError, SingularError, UnsupportedError
from ._core import version as __version__
from ._core import integrators, methods
from ._analyses import (Comparison, Comparisons, Equilibrium, LinearSystem, Mode, Modes, Sensitivity, compare, equilibrium,
                        linearise, modes, sensitivity)
from ._derivatives import AccelerationDerivatives, Derivatives, ForceDerivatives
from ._errors import Fault, ImportNote
from ._model import Body, Joint, Model, from_bytes, load, loads
from ._quaternions import from_scipy, to_scipy
from ._result import Event, Result
from ._rollout import Rollout, Runs, rollout
from ._simulation import Simulation
from ._solver import Batch, Solver
from ._spec import Spec
from ._sweep import Optimum, Table, optimise, sweep

__all__ = [
    "AccelerationDerivatives", "Batch", "Body", "Comparison", "Comparisons", "Derivatives", "Equilibrium", "Event", "Fault",
    "FileError", "ForceDerivatives", "ImportNote", "IntegrationError", "Joint", "LinearSystem", "LinkworkError", "Mode",
    "Modes", "Model", "ModelError", "Optimum", "Result", "Rollout", "Runs", "Sensitivity", "Simulation", "SingularError", "Solver",
    "Spec",
    "Table", "UnsupportedError", "compare", "equilibrium", "from_bytes", "from_scipy", "integrators", "linearise", "load", "loads",
    "methods", "modes", "optimise", "rollout", "sensitivity", "sweep", "to_scipy", "__version__",
]
