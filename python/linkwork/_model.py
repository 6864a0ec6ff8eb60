"""Models: read, built, asked about geometry and energy, run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import Fault, ImportNote
from ._names import Named, find
from ._result import Result

Array = npt.NDArray[np.float64]
Vector = npt.ArrayLike
Force = Callable[[float, Array, Array], Vector]
Pair = tuple[Array, Array]


@dataclass(frozen=True)
class Joint:
    """A joint: its type, the bodies that it joins, and where its coordinates stand in q and v."""

    name: str
    index: int
    type: str
    bodies: tuple[str, str]
    closes_loop: bool  #: It closes a loop: it has no coordinates in q and v.
    q: slice  #: Its coordinates in q.
    v: slice  #: Its speeds in v.
    rows: int  #: Rows of its closure; 0 in the tree.


@dataclass(frozen=True)
class Body:
    """A body and its mass, kg."""

    name: str
    index: int
    mass: float


class Model(_core.Model):
    """A compiled mechanism: constant, and shared by any number of solvers, simulations and threads.

    Coordinates q, (nq,), and speeds v, (nv,), are those of the joints of the spanning tree, in SI units and
    radians; quaternions are (w, x, y, z).
    """

    @cached_property
    def joints(self) -> Named[Joint]:
        """All joints by name."""
        found: dict[str, Joint] = {}
        for index, name in enumerate(self.joint_names):
            info = self._joint_info(index)
            first, second = info["bodies"]
            q, v = max(info["q"], 0), max(info["v"], 0)
            found[name] = Joint(
                name, index, info["type"], (self.body_names[first], self.body_names[second]), info["cut"],
                slice(q, q if info["cut"] else q + info["q_count"]), slice(v, v if info["cut"] else v + info["v_count"]),
                info["rows"])
        return Named("joint", found)

    @cached_property
    def bodies(self) -> Named[Body]:
        """All bodies by name, ground first."""
        return Named("body", {name: Body(name, k, self._body_mass(k) if k else 0.0) for k, name in enumerate(self.body_names)})

    def joint(self, name: str) -> Joint:
        """A joint by its name."""
        return self.joints[name]

    def body(self, name: str) -> Body:
        """A body by its name."""
        return self.bodies[name]

    @cached_property
    def warnings(self) -> list[Fault]:
        """What reading and compiling found remarkable."""
        return [Fault(*fault) for fault in self._warnings]

    @cached_property
    def notes(self) -> list[ImportNote]:
        """What an import has left out, or does not take as the file says it, and what that means for the motion."""
        return [ImportNote(*note) for note in self._notes]

    @cached_property
    def output_units(self) -> dict[str, str]:
        """The units of the outputs in results files; "" for none."""
        return {name: self._output_unit(k)[0] for k, name in enumerate(self.output_names)}

    @cached_property
    def _assembled(self) -> tuple[Array, Array]:
        q, v = self._start()
        q.flags.writeable = v.flags.writeable = False
        return q, v

    @property
    def q0(self) -> Array:
        """Initial coordinates with all loops closed, (nq,)."""
        return self._assembled[0].copy()

    @property
    def v0(self) -> Array:
        """Initial speeds with which all loops stay closed, (nv,)."""
        return self._assembled[1].copy()

    # --- geometry -------------------------------------------------------------------------------------

    def pose(self, body: str | int, q: Vector, *, t: float = 0.0, out: Pair | None = None) -> Pair:
        """Position, (3,), m, and rotation, (3, 3), body to world, of a body's frame."""
        return self._pose(find(self.body_names, body, "body"), t, q, *_two(out))

    def velocity(self, body: str | int, q: Vector, v: Vector, point: Sequence[float] = (0, 0, 0), *,
                 t: float = 0.0, out: Pair | None = None) -> Pair:
        """Angular velocity, (3,), rad/s, and velocity, (3,), m/s, of a point given in the body's frame."""
        return self._velocity(find(self.body_names, body, "body"), t, q, v, _three(point), *_two(out))

    def jacobian(self, body: str | int, q: Vector, point: Sequence[float] = (0, 0, 0), *, t: float = 0.0,
                 out: Array | None = None) -> Array:
        """(6, nv): angular velocity of the body, then velocity of a point of it, are the Jacobian times v.

        The speeds are those of the spanning tree; with loops, multiply by Solver.tangent_basis.
        """
        return self._jacobian(find(self.body_names, body, "body"), t, q, _three(point), out)

    def joint_state(self, joint: str | int, q: Vector, v: Vector, *, t: float = 0.0) -> tuple[Array, Array]:
        """Coordinates and speeds of any joint, also of one that closes a loop."""
        return self._coordinates(find(self.joint_names, joint, "joint"), t, q, v)

    def energy(self, q: Vector, v: Vector, *, t: float = 0.0) -> tuple[float, float]:
        """Kinetic and potential energy, J."""
        return self._energy(t, q, v)

    def momentum(self, q: Vector, v: Vector, *, t: float = 0.0, out: Pair | None = None) -> Pair:
        """Linear momentum, (3,), and angular momentum about the origin of the world, (3,)."""
        return self._momentum(t, q, v, *_two(out))

    def integrate(self, q: Vector, v: Vector, dt: float = 1.0, *, out: Array | None = None) -> Array:
        """q after moving with the speeds v for dt, (nq,); quaternions stay of unit length. `out` may be q."""
        return self._integrate(q, v, dt, out)

    # --- other models ---------------------------------------------------------------------------------

    def with_parameters(self, **parameters: float) -> Model:
        """The same model with other values of parameters, SI units."""
        return type(self)(data=self.to_bytes(), parameters=parameters)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file (YAML)."""
        self._write(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return from_bytes, (self.to_bytes(),), {"notes": self.notes, "warnings": self.warnings}

    def __repr__(self) -> str:
        loops = f", {self.loop_count} loop{'s' * (self.loop_count != 1)}" if self.loop_count else ""
        count, joints = len(self.body_names) - 1, len(self.joint_names)
        bodies = "1 body" if count == 1 else f"{count} bodies"
        return (f"<linkwork.Model {self.name!r}: {bodies}, {joints} joint{'s' * (joints != 1)}{loops}, "
                f"nq = {self.nq}, nv = {self.nv}>")

    # --- runs -----------------------------------------------------------------------------------------

    def run(self, *, method: str | None = None, integrator: str | None = None, start: float | None = None,
            end: float | None = None, step: float | None = None, tolerance: float | None = None,
            output: float | None = None, drift: str | None = None, record: str | Sequence[str] | None = None,
            q: Vector | None = None, v: Vector | None = None, inputs: Mapping[str, float] | Vector | None = None,
            states: Mapping[str, float] | Vector | None = None, force: Force | None = None, checked: bool = True,
            max_steps: int | None = None) -> Result:
        """Simulates the model and returns what was recorded.

        All options are those of `linkwork run` with the same names; what is not given is the model file's or
        chosen by the library. `output` is the interval between samples, s. `record` lists what to keep as
        docs/results.md says, e.g. ``"joint(*), reaction(pin)"``. `force` is a function ``force(t, q, v)`` that
        returns additional joint forces, (nv,): slow, since Python is asked several times in every step, and q
        and v are the same arrays at every call.
        """
        options = run_options(self, method=method, integrator=integrator, start=start, end=end, step=step,
                              tolerance=tolerance, output=output, drift=drift, q=q, v=v, inputs=inputs,
                              states=states, force=force, checked=checked, max_steps=max_steps)
        if record is not None and not isinstance(record, str):
            record = ", ".join(record)
        return Result(self, _core.Recording(self, options, record))


def values_of(names: Sequence[str], given: Mapping[str, float] | Vector, kind: str, defaults: Sequence[float]) -> Vector:
    """Values in the model's order from a mapping or a sequence; what a mapping leaves out has its default."""
    if not isinstance(given, Mapping):
        return given
    values = list(defaults)
    for name, value in given.items():
        values[find(names, name, kind)] = float(value)
    return np.array(values, dtype=float)


def run_options(model: Model, **options: Any) -> dict[str, Any]:
    """The options that are given, inputs and states in the model's order."""
    given = {name: value for name, value in options.items() if value is not None}
    if "inputs" in given:
        given["inputs"] = values_of(model.input_names, given["inputs"], "input", [np.nan] * len(model.input_names))
    if "states" in given:
        given["states"] = values_of(model.state_names, given["states"], "state", model._state_starts())
    return given


def load(path: str | os.PathLike[str], *, begin: str | None = None, any_path: bool = False, **parameters: Any) -> Model:
    """Reads a model file, or a robot in URDF, SDF or MJCF.

    Keywords are values of parameters: numbers in SI units, or texts such as ``"20 cm"``. `begin` chooses one of
    the model's starts; `any_path` allows tables and meshes outside the file's folder.

    For URDF, SDF and MJCF these keywords are the options of `linkwork import`: ``base="free"`` frees a root that
    nothing holds, ``keep_fixed=True`` keeps links on fixed joints as bodies of their own, ``loops="joints"`` lets
    welds that close loops make one body of two, `key` is the keyframe to begin with, `folders` are further places
    of packages and meshes. `Model.notes` tells what was left out.
    """
    imported = _import_options(parameters) if _core.import_format(path) else None
    return Model(path=path, settings=settings_of(parameters), begin=begin, any_path=any_path, imported=imported)


_IMPORT = ("base", "keep_fixed", "loops", "key", "folders")


def _import_options(keywords: dict[str, Any]) -> tuple[bool, bool, bool, str | None, list[str]]:
    """Takes the options of an import out of the keywords; what remains are parameters."""
    return _import_tuple(**{name: keywords.pop(name) for name in _IMPORT if name in keywords})


def _import_tuple(base: str = "fixed", keep_fixed: bool = False, loops: str = "as-written", key: str | None = None,
                  folders: Sequence[str | os.PathLike[str]] = ()) -> tuple[bool, bool, bool, str | None, list[str]]:
    if base not in ("fixed", "free"):
        raise ValueError(f"base is {base!r}, expected 'fixed' or 'free'")
    if loops not in ("as-written", "joints"):
        raise ValueError(f"loops is {loops!r}, expected 'as-written' or 'joints'")
    if isinstance(folders, (str, os.PathLike)):
        folders = [folders]
    return base == "free", bool(keep_fixed), loops == "joints", key, [os.fspath(folder) for folder in folders]


def _three(point: Vector) -> tuple[float, float, float]:
    array = np.asarray(point)
    if array.shape != (3,) or array.dtype.kind not in "fiu":
        raise ValueError(f"point is {point!r}, expected three numbers, m")
    x, y, z = array.tolist()
    return x, y, z


def _two(out: Pair | None) -> tuple[Array | None, Array | None]:
    if out is None:
        return None, None
    first, second = out
    return first, second


def loads(text: str, *, name: str = "text", begin: str | None = None, **parameters: Any) -> Model:
    """A model from the text of a model file, or of a robot in URDF, SDF or MJCF; keywords are those of `load`.

    `name` stands for the file in messages. Of a robot no files that the text names are read: meshes are warned of,
    and includes refused.
    """
    imported = _import_options(parameters) if _core.import_format_of_text(text) else None
    return Model(text=text, name=name, settings=settings_of(parameters), begin=begin, imported=imported)


def from_bytes(data: bytes) -> Model:
    """A model from what Model.to_bytes has given."""
    return Model(data=data)


def settings_of(parameters: Mapping[str, float | str]) -> list[tuple[str, str]]:
    """Values of parameters as texts that read back as the same numbers."""
    return [(name, value if isinstance(value, str) else repr(_number(name, value))) for name, value in parameters.items()]


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r}; the value of a parameter is a number in SI units, or a text such as '20 cm'") from None
