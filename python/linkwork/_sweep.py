"""Many runs with other parameters, and the parameters at which a measure is least or greatest."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._model import Model
from ._names import find

Array = npt.NDArray[np.float64]
Vary = Union[Sequence[str], Mapping[str, Union[str, Sequence[float], Sequence[str], Array]]]

_STATUS = ("not done", "ok", "doubtful", "failed")
_RUN = {"method": None, "integrator": None, "drift": None, "end": float("nan"), "step": float("nan"),
        "tolerance": float("nan"), "output": float("nan")}


@dataclass(frozen=True, repr=False)
class Table:
    """What many runs give: a row for each. ``table["max(kinetic)"]`` and ``table["L"]`` are its columns."""

    names: list[str]  #: of the columns: what varies, then the measures
    units: list[str]  #: theirs; of what varies ""
    values: Array  #: (runs, columns), NaN where nothing was measured; texts that vary by their number
    status: list[str]  #: of every run: ok, doubtful, failed, not done
    reasons: dict[int, str]  #: why runs are doubtful or have failed
    texts: dict[str, list[str]]  #: of columns that are texts: what their numbers mean
    variables: int  #: how many of the columns vary
    wall: float  #: s
    ended: str | None  #: why before the last run, or why a search has ended

    @property
    def ok(self) -> npt.NDArray[np.bool_]:
        """Which runs are ok, (runs,)."""
        return np.array([status == "ok" for status in self.status], dtype=bool)

    def __getitem__(self, name: str) -> Array | list[str]:
        column = self.values[:, find(self.names, name, "column")]
        return [self.texts[name][int(k)] if np.isfinite(k) else "" for k in column] if name in self.texts else column

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        ended = f", ended by: {self.ended}" if self.ended else ""
        return f"<linkwork.{type(self).__name__}: {len(self)} runs, {int(self.ok.sum())} ok, of {', '.join(self.names)}{ended}>"


@dataclass(frozen=True, repr=False)
class Optimum(Table):
    """The runs of a search, and which of them is the best."""

    run: int | None  #: the best one; None: none is good
    converged: bool  #: the search has ended by itself

    @property
    def best(self) -> dict[str, float]:
        """The best run's columns by name: what varies, what is minimised, what must hold, other measures."""
        if self.run is None:
            return {}
        return {name: float(x) for name, x in zip(self.names, self.values[self.run])}


def _variations(vary: Vary) -> list[str]:
    if not isinstance(vary, Mapping):
        return [vary] if isinstance(vary, str) else [str(text) for text in vary]
    texts = []
    for name, how in vary.items():
        if isinstance(how, str):
            text = how.strip()
            texts.append(f"{name} {text}" if text.startswith("~") else f"{name} = {text}")
        else:
            texts.append(f"{name} = " + ", ".join(x if isinstance(x, str) else repr(float(x)) for x in how))
    return texts


def _list(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else [str(text) for text in texts]


def _run(options: dict[str, Any]) -> tuple[Any, Any, Any, Any, Any, Any, Any]:
    for name in options:
        find(list(_RUN), name, "option")
    method, integrator, drift, end, step, tolerance, output = (
        options[name] if options.get(name) is not None else default for name, default in _RUN.items())
    return method, integrator, drift, end, step, tolerance, output


def _counts(**counts: int) -> None:
    for name, value in counts.items():
        if not isinstance(value, (int, np.integer)) or value < 0:
            raise ValueError(f"{name} is {value!r}, expected a whole number, not below zero")


def _path(out: str | os.PathLike[str] | None) -> str | None:
    return None if out is None else os.fspath(out)


def _table(given: Any) -> dict[str, Any]:
    columns, variables, values, status, reasons = given
    return {"names": [name for name, _, _ in columns], "units": [unit for _, unit, _ in columns], "values": values,
            "status": [_STATUS[k] for k in status], "reasons": reasons, "variables": variables,
            "texts": {name: texts for name, _, texts in columns if texts is not None}}


def sweep(model: Model, vary: Vary, measure: str | Sequence[str], *, runs: int = 1, seed: int = 0, design: str | None = None,
          correlate: str | Sequence[str] = (), jobs: int = 0, out: str | os.PathLike[str] | None = None, resume: bool = False,
          max_failures: int = 0, budget: float = 0.0, lanes: bool = False, **options: Any) -> Table:
    """Runs a model with other values of its parameters, and measures every run.

    What varies, measures, designs are those of docs/sweep.md: a list of texts, ``["L = 1..2 : 11", "k ~ normal(2e4,
    1e3)"]``, or a mapping, ``{"L": [1, 2], "k": "~ normal(2e4, 1e3)", "method": ["rcr", "cut"]}``. Runs are computed by
    `jobs` threads (0: one for every processor); `out` is a file of rows, .csv or .h5, and `resume` goes on with it.
    `lanes` puts neighbouring runs side by side into the vectors of the processor: trees by rk4 with a fixed step.
    Options of a run are method, integrator, drift, end, step, tolerance, output.
    """
    _counts(runs=runs, seed=seed, max_failures=max_failures)
    table, wall, stopped = _core.sweep(model, _variations(vary), _list(measure), _list(correlate), design, runs, seed,
                                       *_run(options), jobs, _path(out), resume, max_failures, budget, lanes)
    return Table(**_table(table), wall=wall, ended=stopped)


def optimise(model: Model, vary: Vary, *, minimise: str | None = None, maximise: str | None = None,
             subject: str | Sequence[str] = (), measure: str | Sequence[str] = (), algorithm: str | None = None,
             runs: int = 1000, seed: int = 0, population: int = 0, restarts: int = 0, precision: float = 0.0, jobs: int = 0,
             out: str | os.PathLike[str] | None = None, resume: bool = False, max_failures: int = 0, budget: float = 0.0,
             **options: Any) -> Optimum:
    """The parameters at which a measure is least or greatest, between bounds: docs/optimise.md.

    ``{"rack": "200 mm .. 280 mm"}`` or ``["rack = 0.2..0.28 from 0.25"]`` are bounds; `subject` is what must hold,
    ``"max(drive(J)) <= 40 N m"``. Options of a run as of `sweep`.
    """
    _counts(runs=runs, seed=seed, max_failures=max_failures, population=population, restarts=restarts)
    if (minimise is None) == (maximise is None):
        raise ValueError("give one of minimise and maximise")
    table, wall, ended, converged, found, run = _core.optimise(
        model, _variations(vary), maximise if minimise is None else minimise, minimise is None, _list(subject), _list(measure),
        algorithm, runs, seed, population, restarts, precision, *_run(options), jobs, _path(out), resume, max_failures, budget)
    return Optimum(**_table(table), wall=wall, ended=ended, run=run if found else None, converged=bool(converged))
