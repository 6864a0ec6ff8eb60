"""Linear systems, positions of rest, vibrations, comparisons of methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model, Vector, run_options
from ._names import find

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
    left_out: list[str]  #: outputs without a row, since only a run has them


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
              method: str | None = None, coordinates: Sequence[str] | None = None,
              out: LinearSystem | None = None) -> LinearSystem:
    """A, B, C, D near a state; without q near the assembled initial position, without v at rest.

    `coordinates` names the independent ones; without it they are those that move most. `out` is an earlier
    answer of the same sizes, whose matrices are used again.
    """
    found = _core.linearise(*_given(model, t, q, v, inputs, states, method, coordinates))
    found["eigenvalues"] = found["eigenvalues"] @ np.array([1, 1j])
    if out is not None:
        _use_again(out, found)
    return LinearSystem(**found)


def _use_again(out: LinearSystem, found: dict[str, Any]) -> None:
    """Puts the matrices that were found where those of an earlier answer are."""
    if not isinstance(out, LinearSystem):
        raise TypeError(f"out is {type(out).__name__}, expected an earlier answer of linearise")
    places = {name: getattr(out, name) for name in ("A", "B", "C", "D")}
    for name, place in places.items():
        if place.shape != found[name].shape or place.dtype != np.float64 or not place.flags.writeable:
            raise ValueError(f"out.{name} has the shape {place.shape}, expected {found[name].shape}, float64, writeable")
    for name, place in places.items():
        place[...] = found[name]
        found[name] = place


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


@dataclass(frozen=True)
class Sensitivity:
    """How a run changes with parameters: derivatives of its columns over time."""

    parameters: list[str]
    columns: list[str]
    t: Array  #: (samples,)
    values: Array  #: (samples, columns)
    derivatives: Array  #: (samples, parameters, columns), per SI unit of the parameter
    differences: Array  #: the same by differences of runs
    disagreement: float  #: of the two, relative to the largest derivative of the same column
    uncertainty: float  #: of the differences, likewise

    def of(self, column: str, parameter: str) -> Array:
        """The derivative of a column with respect to a parameter, (samples,)."""
        p, c = find(self.parameters, parameter, "parameter"), find(self.columns, column, "column")
        return np.asarray(self.derivatives[:, p, c])


def sensitivity(model: Model, parameters: str | Sequence[str], *, record: str | None = None,
                **options: Any) -> Sensitivity:
    """Derivatives of a run with respect to parameters of the model, by two ways (`linkwork sensitivity`).

    `record` says of what, as Model.run does; without it of coordinates, speeds, user states and outputs. Further
    options are those of Model.run; unless given, the tolerance is 1e-9 and there are a hundred samples.
    """
    if isinstance(parameters, str):
        parameters = [parameters]
    found = _core.sensitivity(model, run_options(model, **options), parameters, record)
    for key in ("derivatives", "differences"):
        found[key] = found[key].reshape(len(found["t"]), len(found["parameters"]), len(found["columns"]))
    return Sensitivity(**found)


@dataclass(frozen=True)
class Comparison:
    """What there is about one method on a model; a number that was not measured is NaN."""

    method: str
    verdict: str  #: agrees, differs, approximate, refused, declined, failed
    reference: bool  #: The others are compared with it.
    wrong: bool  #: It has given a wrong number, or failed in its run.
    accuracy: float  #: relative error to be expected; 0: exact
    reason: str  #: a sentence, or ""
    states: int  #: how many states were compared
    max_rel_diff: float  #: largest difference of accelerations, relative to the largest of the state
    reaction_diff: float  #: the same of the unique components of reactions
    allowed: float  #: how much of these rounding may explain
    balance: float  #: largest amount that the balance check has found
    condition: float  #: of the matrix solved
    ns_per_call: float  #: accelerations of a state, processor time, median
    setup_s: float  #: creating the method
    run: dict[str, Any] | None  #: summary of its run, or None: `run_reason`
    run_reason: str
    final_diff: float  #: poses of bodies at the end, against those of the guide
    final_allowed: float  #: how much of that the tolerance may explain


class Comparisons(list[Comparison]):
    """Comparisons of all methods, in the order of the registry; prints as a table."""

    @property
    def agree(self) -> bool:
        """No method has given a wrong number."""
        return not any(one.wrong for one in self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            names = [one.method for one in self]
            return super().__getitem__(find(names, key, "compared method"))
        return super().__getitem__(key)

    def __repr__(self) -> str:
        lines = [f"{'method':<22}{'verdict':<13}{'difference':>11}{'ns per call':>13}{'steps':>8}"]
        for one in self:
            steps = str(one.run["steps"]) if one.run else "-"
            cells = [f"{x:{form}}" if x == x else "-" for x, form in ((one.max_rel_diff, ".1e"), (one.ns_per_call, ".0f"))]
            lines.append(f"{one.method:<22}{one.verdict:<13}{cells[0]:>11}{cells[1]:>13}{steps:>8}")
        return "\n".join(lines)


def compare(model: Model, *, methods: Sequence[str] | None = None, run: bool = True, reactions: bool = True,
            timing: float = 0.3, patience: float = 5.0, tell: Callable[[str, str], Any] | None = None,
            **options: Any) -> Comparisons:
    """Every method on one model: do they agree, how long do they take (`linkwork compare`).

    `methods` names some of them; ``run=False`` looks at the initial state only. `timing` is the processor time
    spent on timing one method, `patience` the time after which its run is given up, s. `tell` is called with
    (method, work) before each piece of work. Further options are those of Model.run, for the runs.
    """
    if isinstance(methods, str):
        methods = [methods]
    found = _core.compare(model, run_options(model, **options), methods, run, reactions, timing, patience, tell)
    return Comparisons(Comparison(**one) for one in found)
