"""Models built in Python: the sections of a model file as keyword arguments."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ._model import Model, settings_of


class Spec:
    """A model under construction. What a model file says, a spec takes as keywords (docs/model-format.md)::

        spec = lw.Spec("pendulum", gravity=[0, 0, -9.81])
        spec.body("rod", mass=1.0, com=[0, 0, -0.5], inertia=[0.083, 0.083, 0.001])
        spec.joint("pin", type="revolute", between=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0], q=0.3)
        model = spec.compile()

    Values are numbers in SI units, lists, arrays, or texts such as ``"20 cm"`` and expressions. Every call
    returns the spec, so that calls can be chained.
    """

    def __init__(self, name: str = "model", **sections: Any) -> None:
        self._model: dict[str, Any] = {"linkwork": 1, "name": name, **sections}

    def _add(self, section: str, name: str, keys: dict[str, Any]) -> Spec:
        entries = self._model.setdefault(section, {})
        if name in entries:
            raise ValueError(f"there is an entry {name!r} in {section} already")
        entries[name] = keys
        return self

    def body(self, name: str, **keys: Any) -> Spec:
        """A body: mass, com, inertia, or shape with density."""
        return self._add("bodies", name, keys)

    def frame(self, name: str, **keys: Any) -> Spec:
        """A named frame on a body: body, position, rotation."""
        return self._add("frames", name, keys)

    def joint(self, name: str, **keys: Any) -> Spec:
        """A joint: type, between, point, axis, q, v, ..."""
        return self._add("joints", name, keys)

    def force(self, name: str, **keys: Any) -> Spec:
        """A force element: type, and what this type needs."""
        return self._add("forces", name, keys)

    def constraint(self, name: str, **keys: Any) -> Spec:
        """A constraint: type, and what this type needs."""
        return self._add("constraints", name, keys)

    def event(self, name: str, **keys: Any) -> Spec:
        """An event: when, direction, do."""
        return self._add("events", name, keys)

    def set(self, section: str, **entries: Any) -> Spec:
        """Entries of another section: parameters, inputs, signals, states, outputs, tables, run."""
        self._model.setdefault(section, {}).update(entries)
        return self

    def to_text(self) -> str:
        """The model file. (JSON, which is YAML.)"""
        return json.dumps(self._model, default=_plain, indent=1, allow_nan=False)

    def compile(self, **parameters: float | str) -> Model:
        """The model; a ModelError lists every fault."""
        return Model(text=self.to_text(), name=str(self._model["name"]), settings=settings_of(parameters))

    def __repr__(self) -> str:
        return f"<linkwork.Spec {self._model['name']!r}: {len(self._model.get('bodies', {}))} bodies>"


def _plain(value: object) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a model file cannot hold {value!r}; give a number, a text, a list or an array")
