"""Linear systems, positions of rest, vibrations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model, Vector, run_options

Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


@dataclass(frozen=True)
class LinearSystem:
    """x' = A x + B u, y = C x + D u near a state: x are changes of independent coordinates, speeds and user states."""

    A: Array  #: (states, states)
    B: Array  #: (states, inputs)
    C: Array  #: (outputs, states)
    D: Array  #: (outputs, inputs)
    states: list[str]
    inputs: list[str]
    outputs: list[str]
    eigenvalues: Complex  #: (states,), 1/s
    controllable: int  #: dimension of the controllable subspace
    observable: int  #: dimension of the observable subspace
    rates: Array  #: x' in the state itself, (states,): zero in an equilibrium
    left_out: list[str]  #: outputs without a row, since they have no derivatives


@dataclass(frozen=True)
class Equilibrium:
    """A position of rest."""

    converged: bool
    stable: bool  #: Every small motion is opposed.
    q: Array  #: the position, (nq,)
    states: Array  #: user states at rest
    residual: float  #: the largest acceleration left
    neutral: int  #: motions that nothing opposes
    reactions: Array  #: (joints, 6): force, torque
    unique: npt.NDArray[np.bool_]  #: (joints, 6): the model determines the component
    unbalanced: str  #: what is not balanced, if it has not converged


@dataclass(frozen=True)
class Mode:
    """A vibration, or a motion that decays or grows without vibrating."""

    frequency: float  #: Hz
    damping_ratio: float
    eigenvalue: complex  #: 1/s
    shape: Complex  #: motion of every speed of the tree, (nv,)


@dataclass(frozen=True)
class Modes:
    """Vibrations about a position, by frequency."""

    rigid: int  #: motions that nothing opposes
    modes: list[Mode]
    imbalance: float  #: the largest acceleration of the position: zero in an equilibrium

    @property
    def frequencies(self) -> Array:
        """Hz, (modes,)."""
        return np.array([mode.frequency for mode in self.modes])


def _given(model: Model, t: float, q: Vector | None, v: Vector | None, inputs: Mapping[str, float] | Vector | None,
           states: Mapping[str, float] | Vector | None, method: str | None,
           coordinates: Sequence[str] | None = None) -> tuple[Any, ...]:
    given = run_options(model, inputs=inputs, states=states)
    return model, t, q, v, given.get("inputs"), given.get("states"), method, coordinates


def linearise(model: Model, *, t: float = 0.0, q: Vector | None = None, v: Vector | None = None,
              inputs: Mapping[str, float] | Vector | None = None, states: Mapping[str, float] | Vector | None = None,
              method: str | None = None, coordinates: Sequence[str] | None = None) -> LinearSystem:
    """A, B, C, D near a state; without q near the assembled initial position, without v at rest.

    `coordinates` names the independent ones; without it they are those that move most.
    """
    found = _core.linearise(*_given(model, t, q, v, inputs, states, method, coordinates))
    found["eigenvalues"] = found["eigenvalues"] @ np.array([1, 1j])
    return LinearSystem(**found)


def equilibrium(model: Model, *, t: float = 0.0, q: Vector | None = None,
                inputs: Mapping[str, float] | Vector | None = None,
                states: Mapping[str, float] | Vector | None = None, method: str | None = None) -> Equilibrium:
    """The position of rest that is reached from q, or from the assembled initial position."""
    return Equilibrium(**_core.equilibrium(*_given(model, t, q, None, inputs, states, method)))


def modes(model: Model, *, t: float = 0.0, q: Vector | None = None, inputs: Mapping[str, float] | Vector | None = None,
          states: Mapping[str, float] | Vector | None = None, method: str | None = None) -> Modes:
    """Small vibrations about the position q, or the assembled initial one."""
    found = _core.modes(*_given(model, t, q, None, inputs, states, method))
    rows = [Mode(f, damping, complex(re, im), shape + 1j * imaginary)
            for f, damping, re, im, shape, imaginary in found["modes"]]
    return Modes(found["rigid"], rows, found["imbalance"])
