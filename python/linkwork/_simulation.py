"""Simulations: a model in motion that the caller advances."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Force, Model, Vector, run_options, values_of
from ._names import find

Array = npt.NDArray[np.float64]


class Simulation(_core.Simulation):
    """A model in motion: advance it, look at it, set its inputs, save it and go back.

    Options are those of Model.run. A simulation belongs to one thread at a time. It is a context manager, and
    iterating over it takes the integrator's steps without end::

        with lw.Simulation(model, step=1e-3) as simulation:
            simulation.inputs["throttle"] = 2.0
            simulation.advance(0.5)
            q, v = simulation.state()
    """

    def __new__(cls, model: Model, *, method: str | None = None, integrator: str | None = None, start: float | None = None,
                end: float | None = None, step: float | None = None, tolerance: float | None = None,
                drift: str | None = None, q: Vector | None = None, v: Vector | None = None,
                inputs: Mapping[str, float] | Vector | None = None, states: Mapping[str, float] | Vector | None = None,
                force: Force | None = None, checked: bool = True, max_steps: int | None = None) -> Simulation:
        if not isinstance(model, Model):
            raise TypeError("expected a linkwork.Model")
        options = run_options(model, method=method, integrator=integrator, start=start, end=end, step=step,
                              tolerance=tolerance, drift=drift, q=q, v=v, inputs=inputs, states=states, force=force,
                              checked=checked, max_steps=max_steps)
        made: Simulation = super().__new__(cls, model, options)
        return made

    @property
    def inputs(self) -> Inputs:
        """Values of the inputs by name; a new value holds from the present time on."""
        return Inputs(self)

    @inputs.setter
    def inputs(self, values: Mapping[str, float] | Vector) -> None:
        self._set_inputs(values_of(self.model.input_names, values, "input", list(self._inputs())))

    @property
    def outputs(self) -> dict[str, float]:
        """Values of the outputs by name, SI units."""
        return dict(zip(self.model.output_names, self._outputs().tolist()))

    @property
    def states(self) -> dict[str, float]:
        """Values of the user states by name."""
        return dict(zip(self.model.state_names, self._states().tolist()))

    @states.setter
    def states(self, values: Mapping[str, float] | Vector) -> None:
        self._set_states(values_of(self.model.state_names, values, "state", list(self._states())))

    @property
    def q(self) -> Array:
        """Present coordinates, (nq,)."""
        return self.state()[0]

    @property
    def v(self) -> Array:
        """Present speeds, (nv,)."""
        return self.state()[1]

    def set_state(self, q: Vector, v: Vector, *, t: float | None = None) -> None:
        """Goes on from this state, at this time or the present one; loops that are open are closed."""
        self._set_state(self.time if t is None else t, q, v)

    def __iter__(self) -> Iterator[Simulation]:
        while not self.step():
            yield self

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<linkwork.Simulation, closed>"
        return f"<linkwork.Simulation of {self.model.name!r} at t = {self.time:g} s: {self.method}, {self.integrator}>"

    def __reduce__(self) -> Any:
        raise TypeError("a simulation cannot be pickled; pickle its model and simulation.save()")


class Inputs(Mapping[str, float]):
    """The inputs of a simulation by name."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._names = simulation.model.input_names

    def __getitem__(self, name: str) -> float:
        return float(self._simulation._inputs()[find(self._names, name, "input")])

    def __setitem__(self, name: str, value: float) -> None:
        self._simulation._set_input(find(self._names, name, "input"), value)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))
