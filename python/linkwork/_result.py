"""Results of runs: columns by name."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core
from ._names import find

if TYPE_CHECKING:
    from ._model import Model

Array = npt.NDArray[np.float64]


class Event(NamedTuple):
    """What happened on the way: an event of the model (kind "event", text its name), or a note of the method."""

    t: float
    kind: str
    text: str


class Result:
    """A run: ``result["pin.q"]`` is a column, (samples,), ``result.t`` the times.

    What was not recorded is evaluated when it is asked for: ``result["body.load.z"]``, ``result["com(load).x"]``
    or any expression of such quantities; accelerations and reactions have to be named in `record` of the run.
    """

    def __init__(self, model: Model, recording: _core.Recording) -> None:
        self.model = model
        self._recording = recording
        columns, self._table = recording.table()
        self.columns: list[str] = [name for name, _ in columns]
        self.units: dict[str, str] = dict(columns)
        self.events: list[Event] = [Event(*event) for event in recording.events()]
        self.summary: dict[str, Any] = recording.summary()
        self.q_final, self.v_final = recording.final()

    @property
    def t(self) -> Array:
        """Times of the samples, (samples,), s."""
        return self._table[:, 0]

    @property
    def ok(self) -> bool:
        """Whether the run is to be trusted; `reasons` say why not."""
        return bool(self.summary["ok"])

    @property
    def reasons(self) -> list[str]:
        """Why the run is doubtful, in plain words."""
        return list(self.summary["reasons"])

    def __getitem__(self, name: str) -> Array:
        if name in self.units:
            return self._table[:, self.columns.index(name)]
        columns, table = self._evaluate(name)
        if len(columns) == 1:
            return table[:, 0]
        if name in columns:
            return table[:, columns.index(name)]
        return table

    def _evaluate(self, what: str) -> tuple[list[str], Array]:
        try:
            columns, table = self._recording.evaluate(what)
        except ValueError as fault:
            find_hint = _closest(self.columns, what)
            raise KeyError(f"{fault}{find_hint}") from fault
        return [name for name, _ in columns[1:]], table[:, 1:]

    def __contains__(self, name: object) -> bool:
        return name in self.units

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self._table)

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns

    def array(self) -> Array:
        """All columns, (samples, columns)."""
        return self._table

    def to_pandas(self) -> Any:
        """A pandas DataFrame with time as its index (needs pandas)."""
        import pandas  # type: ignore[import-untyped, import-not-found, unused-ignore]

        return pandas.DataFrame(self._table[:, 1:], index=pandas.Index(self.t, name="t"), columns=self.columns[1:])

    def plot(self, *names: str, ax: Any = None) -> Any:
        """Draws columns against time (needs matplotlib) and returns the axes; without names the coordinates."""
        import matplotlib.pyplot as plt  # type: ignore[import-untyped, import-not-found, unused-ignore]

        if ax is None:
            _, ax = plt.subplots()
        for name in names or [c for c in self.columns if c.endswith(".q")][:8]:
            unit = self.units.get(name, "")
            ax.plot(self.t, self[name], label=f"{name} [{unit}]" if unit else name)
        ax.set_xlabel("t [s]")
        ax.legend()
        return ax

    def save(self, path: str | os.PathLike[str], record: str | None = None) -> None:
        """Writes a results file (.csv, .h5), as `linkwork run --out` does."""
        self._recording.save(path, record)

    def view(self, path: str | os.PathLike[str], title: str | None = None) -> None:
        """Writes one page that shows the mechanism moving, as `linkwork view` does."""
        self._recording.view(path, title)

    def _repr_html_(self) -> str:
        """The moving mechanism in a notebook."""
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "view.html")
            self.view(page)
            text = page.read_text(encoding="utf-8")
        escaped = text.replace("&", "&amp;").replace('"', "&quot;")
        return f'<iframe srcdoc="{escaped}" style="width: 100%; height: 480px; border: 0"></iframe>'

    def __repr__(self) -> str:
        verdict = "ok" if self.ok else "doubtful"
        return (f"<linkwork.Result of {self.model.name!r}: {len(self)} samples to t = {self.summary['t_end']:g} s, "
                f"{self.summary['method']}, {self.summary['integrator']}, {verdict}>")


def _closest(names: list[str], name: str) -> str:
    try:
        find(names, name, "column")
    except KeyError as fault:
        text = str(fault.args[0])
        return "; " + text.split("; ", 1)[1] if "did you mean" in text else ""
    return ""
