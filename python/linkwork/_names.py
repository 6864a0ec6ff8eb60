"""Objects of a model by name, with completion in interactive shells."""

from __future__ import annotations

import difflib
from typing import Iterator, Mapping, Sequence, TypeVar

import numpy as np

T = TypeVar("T")


def find(names: Sequence[str], name: str | int, kind: str) -> int:
    """Index of a name; a KeyError suggests the closest ones."""
    if isinstance(name, (int, np.integer)) and not isinstance(name, bool):
        if not 0 <= name < len(names):
            raise IndexError(f"there is no {kind} number {name}; they are counted from 0 to {len(names) - 1}")
        return int(name)
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is neither the name of a {kind} nor its number")
    if name in names:
        return names.index(name)
    close = difflib.get_close_matches(str(name), names, 1)
    hint = f"did you mean {close[0]!r}?" if close else (f"there are {', '.join(names[:12])}" if names else f"it has no {kind}s")
    raise KeyError(f"the model has no {kind} {name!r}; {hint}")


class Named(Mapping[str, T]):
    """A read-only mapping from names to objects whose names are also attributes, as far as they can be."""

    def __init__(self, kind: str, items: Mapping[str, T]) -> None:
        self._kind = kind
        self._items = dict(items)

    def __getitem__(self, name: str) -> T:
        names = list(self._items)
        return self._items[names[find(names, name, self._kind)]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getattr__(self, name: str) -> T:
        items = self.__dict__.get("_items", {})
        if name in items:
            return items[name]  # type: ignore[no-any-return]
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._items if name.isidentifier())]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._items)

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self._items))}}}"
