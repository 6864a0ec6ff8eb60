"""Solvers of single states and of many."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from . import _core
from ._model import Model, Vector, run_options


class Solver(_core.Solver):
    """Accelerations, reactions and forces of single states: one method on one model for one thread.

    ``method`` is a name of `linkwork.methods()`, None or ``"auto"``: the cheapest that passes a trial. Every
    answer has passed the balance check unless ``checked=False``. ``driven`` names the joints that inverse
    dynamics may drive.
    """

    def __new__(cls, model: Model, method: str | None = None, *, inputs: Mapping[str, float] | Vector | None = None,
                states: Mapping[str, float] | Vector | None = None, checked: bool = True,
                driven: Sequence[str] | None = None, penalty: float = 0.0) -> Solver:
        if not isinstance(model, Model):
            raise TypeError("expected a linkwork.Model")
        if isinstance(driven, str):
            driven = [driven]
        given = run_options(model, inputs=inputs, states=states)
        made: Solver = super().__new__(cls, model, method, checked=checked, driven=driven, penalty=penalty, **given)
        return made

    def __repr__(self) -> str:
        return f"<linkwork.Solver of {self.model.name!r} by {self.method}>"

    def __reduce__(self) -> Any:
        raise TypeError("a solver cannot be pickled; pickle its model")


class Batch(_core.Batch):
    """Accelerations of many states of one model in one call: on vectors of the processor and on threads.

    States are rows: q is (N, nq), v and tau are (N, nv). Arrays in Fortran order (``order="F"``) are used as
    they are; others are copied.
    """

    def __new__(cls, model: Model, method: str | None = None, *, threads: int = 0, checked: bool = False,
                inputs: Mapping[str, float] | Vector | None = None,
                states: Mapping[str, float] | Vector | None = None) -> Batch:
        if not isinstance(model, Model):
            raise TypeError("expected a linkwork.Model")
        given = run_options(model, inputs=inputs, states=states)
        made: Batch = super().__new__(cls, model, method, threads=threads, checked=checked, **given)
        return made

    def __repr__(self) -> str:
        return f"<linkwork.Batch by {self.method}: {self.threads} threads, {self.lanes} states side by side>"

    def __reduce__(self) -> Any:
        raise TypeError("a batch cannot be pickled; pickle its model")
