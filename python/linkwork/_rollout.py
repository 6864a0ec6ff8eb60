"""Many runs of one model in one call, on threads and on vectors of the processor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model, Vector, run_options
from ._names import find

Array = npt.NDArray[np.float64]

_REASONS = {0: "ok", 1: "memory", 2: "argument", 3: "file", 4: "model", 5: "unsupported", 6: "singular", 7: "integration",
            8: "stopped", 9: "event"}


@dataclass(frozen=True, repr=False)
class Runs:
    """What many runs of one model give: N runs, T instants.

    A run that has failed, or that an event of the model has ended, has NaN from there on.
    """

    model: Model
    t: Array  #: the instants, (T,), s
    q: Array  #: (N, T, nq)
    v: Array  #: (N, T, nv)
    states: Array  #: user states, (N, T, states)
    outputs: Array  #: outputs of the model, (N, T, outputs), SI units; without outputs=True (N, T, 0)
    status: list[str]  #: of every run: ok, event, or why it has failed: singular, integration, model, ...
    error: str | None  #: the first failure, in words

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which runs have come to an end of their own, the last instant or an event, (N,)."""
        return np.array([status in ("ok", "event") for status in self.status], dtype=bool)

    @property
    def failed(self) -> npt.NDArray[np.int_]:
        """Numbers of the runs that have failed."""
        return np.flatnonzero(~self.ok)

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        failed = f", {len(self.failed)} failed: {self.error}" if self.error else ""
        return f"<linkwork.Runs of {self.model.name!r}: {len(self)} runs, {len(self.t)} instants{failed}>"


class Rollout(_core.Rollout):
    """Runs of a model from many states, by many inputs: make it once, call it as often as wanted.

    Options are those of Model.run. Runs are distributed over `threads` (0: one for every processor); each is to
    the last bit the run of a Simulation, whatever the others are. With `forces=True` runs take joint forces tau.
    With `vectors=True` runs of a tree with a fixed step (``method="tree", integrator="rk4", step=...``) advance
    side by side in vectors of the processor: several times as fast, and to rounding the same. Belongs to one
    thread at a time.
    """

    def __new__(cls, model: Model, *, method: str | None = None, integrator: str | None = None, start: float | None = None,
                end: float | None = None, step: float | None = None, tolerance: float | None = None,
                drift: str | None = None, inputs: Mapping[str, float] | Vector | None = None, max_steps: int | None = None,
                threads: int = 0, forces: bool = False, vectors: bool = False) -> Rollout:
        if not isinstance(model, Model):
            raise TypeError("expected a linkwork.Model")
        options = run_options(model, method=method, integrator=integrator, start=start, end=end, step=step,
                              tolerance=tolerance, drift=drift, inputs=inputs, max_steps=max_steps)
        made: Rollout = super().__new__(cls, model, options, threads=threads, forces=forces, vectors=vectors)
        return made

    def __call__(self, q0: Vector | None = None, v0: Vector | None = None,
                 inputs: Mapping[str, Vector] | Vector | None = None, *, tau: Vector | None = None,
                 states: Vector | None = None, times: Vector | None = None, dt: float | None = None,
                 steps: int | None = None, outputs: bool = False, out: Runs | None = None) -> Runs:
        """Makes the runs.

        q0 and v0 are (N, nq) and (N, nv), or one state for all, or None for the model's. Inputs, (N, T, inputs)
        or (T, inputs) for all runs, or a mapping from names to (N, T), and joint forces tau, (N, T, nv) or
        (T, nv), are held from one instant to the next. Instants are `times`, or start + dt, start + 2 dt, ...:
        as many as inputs or tau have, or `steps`. `outputs=True` computes the model's outputs, too. `out` is an
        earlier answer of the same sizes, whose arrays are used again.
        """
        model = self.model
        q, v, own = _array(q0, "q0"), _array(v0, "v0"), _array(states, "states")
        held, forces = _inputs(model, inputs), _array(tau, "tau")
        instants = _instants(self.start, times, dt, steps, held, forces)
        runs = 1
        for name, array, single in (("q0", q, 1), ("v0", v, 1), ("states", own, 1), ("inputs", held, 2), ("tau", forces, 2)):
            if array is not None and array.ndim == single + 1 and array.shape[0] != 1:
                if runs not in (1, array.shape[0]):
                    raise ValueError(f"{name} has {array.shape[0]} runs, what comes before it {runs}; give as many of each")
                runs = array.shape[0]
        T = len(instants)
        n_inputs, n_states = len(model.input_names), len(model.state_names)
        n_outputs = len(model.output_names) if outputs else 0
        if out is None:
            places = [np.empty((runs, T, size)) for size in (model.nq, model.nv, n_states, n_outputs)]
        else:
            places = [out.q, out.v, out.states, out.outputs]
            for name, place, size in zip(("q", "v", "states", "outputs"), places, (model.nq, model.nv, n_states, n_outputs)):
                if place.shape != (runs, T, size) or not place.flags.c_contiguous:
                    raise ValueError(f"out.{name} has the shape {place.shape}, expected {(runs, T, size)}, C contiguous")
        told, error = self._run(
            runs, T, instants, _flat(q, "q0", (runs, model.nq)), _flat(v, "v0", (runs, model.nv)),
            _flat(own, "states", (runs, n_states)), _flat(held, "inputs", (runs, T, n_inputs)),
            _flat(forces, "tau", (runs, T, model.nv)), places[0].reshape(-1), places[1].reshape(-1),
            places[2].reshape(-1), places[3].reshape(-1) if n_outputs else None)
        return Runs(model, instants, places[0], places[1], places[2], places[3], [_REASONS[status] for status in told], error)

    def __repr__(self) -> str:
        side = f", {self.lanes} side by side" if self.lanes > 1 else ""
        return f"<linkwork.Rollout of {self.model.name!r} by {self.method}, {self.integrator}: {self.threads} threads{side}>"

    def __reduce__(self) -> Any:
        raise TypeError("a rollout cannot be pickled; pickle its model")


def rollout(model: Model, q0: Vector | None = None, v0: Vector | None = None,
            inputs: Mapping[str, Vector] | Vector | None = None, *, tau: Vector | None = None, states: Vector | None = None,
            times: Vector | None = None, dt: float | None = None, steps: int | None = None, outputs: bool = False,
            **options: Any) -> Runs:
    """Runs from many states, by many inputs, on threads and vectors: arrays (N, T, n).

    Arguments are those of a call of Rollout, further options those of making one: method, integrator, step,
    tolerance, threads, vectors, ... Make a Rollout where runs are asked for again and again.
    """
    if dt is None and times is None:
        dt = options.get("step")
    made = Rollout(model, forces=tau is not None, **options)
    return made(q0, v0, inputs, tau=tau, states=states, times=times, dt=dt, steps=steps, outputs=outputs)


def _array(given: Vector | None, name: str) -> Array | None:
    if given is None:
        return None
    array = np.asarray(given)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} has numbers of type {array.dtype}, expected float64")
    return np.asarray(array, dtype=np.float64)


def _inputs(model: Model, given: Mapping[str, Vector] | Vector | None) -> Array | None:
    if not isinstance(given, Mapping):
        return _array(given, "inputs")
    rows = {find(model.input_names, name, "input"): np.asarray(value, dtype=np.float64) for name, value in given.items()}
    if not rows:
        return None
    shape = np.broadcast_shapes(*(row.shape for row in rows.values()))
    if not shape:
        raise ValueError("an input of a rollout has a number for every instant, (T,) or (N, T)")
    defaults = model._input_defaults()
    return np.stack([np.broadcast_to(rows.get(k, np.float64(defaults[k])), shape) for k in range(len(defaults))], axis=-1)


def _instants(start: float, times: Vector | None, dt: float | None, steps: int | None, *held: Array | None) -> Array:
    counts: list[int] = [array.shape[-2] for array in held if array is not None and array.ndim >= 2]
    if times is not None:
        if dt is not None or steps is not None:
            raise TypeError("give times, or dt and steps")
        instants = np.ascontiguousarray(times, dtype=np.float64)
        if instants.ndim != 1:
            raise ValueError(f"times has the shape {instants.shape}, expected (T,)")
    else:
        if dt is None:
            raise TypeError("the instants are missing; give times, or dt and steps")
        if steps is None:
            if not counts:
                raise TypeError("the number of instants is missing; give steps, or inputs for every instant")
            steps = max(counts)
        if int(steps) < 0:
            raise ValueError(f"steps is {steps}, and there cannot be fewer than none")
        instants = start + float(dt) * np.arange(1, int(steps) + 1, dtype=np.float64)
    for count in counts:
        if count not in (1, len(instants)):
            raise ValueError(f"inputs or tau are given for {count} instants, and there are {len(instants)}")
    return instants


def _flat(array: Array | None, name: str, shape: tuple[int, ...]) -> Array | None:
    if array is None:
        return None
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)
    except ValueError:
        raise ValueError(f"{name} has the shape {array.shape}, expected {shape}, or one for all") from None
