"""Faults of models, as the library reports them."""

from __future__ import annotations

from typing import NamedTuple

from . import _core


class Fault(NamedTuple):
    """One fault of a model: where it stands, in which object, what is wrong, and what to do about it."""

    file: str
    line: int
    column: int
    object: str
    message: str
    remedy: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.line else (f"{self.file}: " if self.file else "")
        name = f"{self.object}: " if self.object else ""
        return place + name + self.message + (f"; {self.remedy}" if self.remedy else "")


_core.use_fault(Fault)


class ImportNote(NamedTuple):
    """What an import has left out: the kind, what that means for the motion, how often, and where first."""

    kind: str
    meaning: str
    number: int
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.number} {self.kind}: {self.meaning}"
