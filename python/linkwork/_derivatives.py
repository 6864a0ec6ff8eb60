"""Exact derivatives of the dynamics."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model, Vector, run_options

Array = npt.NDArray[np.float64]


class AccelerationDerivatives(NamedTuple):
    """Accelerations and their derivatives in a state."""

    vdot: Array  #: the accelerations, (nv,)
    dq: Array  #: by motions along the speeds, (nv, nv)
    dv: Array  #: by speeds, (nv, nv)
    dtau: Array  #: by joint forces, (nv, nv)
    dinputs: Array  #: by inputs, (nv, inputs)
    dstates: Array  #: by user states, (nv, states)


class ForceDerivatives(NamedTuple):
    """Derivatives of the joint forces of inverse dynamics, for accelerations that keep."""

    dq: Array  #: by motions along the speeds, (nv, nv)
    dv: Array  #: by speeds, (nv, nv)
    mass: Array  #: by accelerations: the mass matrix, (nv, nv)


class Derivatives(_core.Derivatives):
    """Exact derivatives of accelerations and joint forces, loops and constraints included.

    Column k of a derivative by q is the change per unit of the motion that speed k makes (Model.integrate), so
    that there are nv of them for quaternions, too. With loops, multiply by Solver.tangent_basis: single columns
    have no meaning of their own. Belongs to one thread at a time.
    """

    def __new__(cls, model: Model, method: str | None = None, *, inputs: Mapping[str, float] | Vector | None = None,
                states: Mapping[str, float] | Vector | None = None, checked: bool = True) -> Derivatives:
        if not isinstance(model, Model):
            raise TypeError("expected a linkwork.Model")
        made: Derivatives = super().__new__(cls, model, method, checked=checked,
                                            **run_options(model, inputs=inputs, states=states))
        return made

    def accelerations(self, t: float, q: Vector, v: Vector, tau: Vector | None = None, *,
                      out: tuple[Array, ...] | None = None) -> AccelerationDerivatives:
        """Of what Solver.accelerations gives; `out` is an earlier answer, whose arrays are used again."""
        return AccelerationDerivatives(*self._accelerations(t, q, v, tau, _places(out)))

    def forces(self, t: float, q: Vector, v: Vector, vdot: Vector, *,
               out: tuple[Array, ...] | None = None) -> ForceDerivatives:
        """Of the inverse dynamics of a tree; models with loops or constraints are refused."""
        return ForceDerivatives(*self._forces(t, q, v, vdot, _places(out)))

    def __repr__(self) -> str:
        return f"<linkwork.Derivatives of {self.model.name!r} by {self.method}>"

    def __reduce__(self) -> Any:
        raise TypeError("derivatives cannot be pickled; pickle their model")


def _places(out: tuple[Array, ...] | None) -> tuple[Array, ...] | None:
    return None if out is None else tuple(out)
