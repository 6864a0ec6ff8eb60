"""An arm of seven joints from Python: Linkwork next to its own loop in C, to mujoco and to pinocchio; then a loop.

Call: bench.py PROGRAM LOOPS [--csv FILE]. PROGRAM exports the arm for the others, LOOPS is the shared library of
loops.c. Engines that are not installed are left out. Before anything is timed, all engines have to agree on the
accelerations of the arm. What is compared is timed in turns, and a ratio is the median of the ratios of the
turns, since the processor's clock changes.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import linkwork as lw
from loop import measure

try:
    import mujoco
    from mujoco import rollout as mujoco_rollout
except ImportError:
    mujoco = None
try:
    import pinocchio as pin
except ImportError:
    pin = None

TURNS = 9


def arm() -> lw.Model:
    """Seven revolute joints, axes in turn along z and y, links of 0.3 m and 2 kg downwards to 0.5 kg."""
    spec = lw.Spec("arm", gravity=[0, 0, -9.81])
    below = "ground"
    for k in range(7):
        mass = 2.0 - 0.25 * k
        spec.body(f"link{k}", mass=mass, com=[0.02, -0.01, 0.15], inertia=[0.02 * mass, 0.018 * mass, 0.005 * mass])
        spec.joint(f"joint{k}", type="revolute", between=[below, f"link{k}"],
                   first={"point": [0, 0, 0.3 if k else 0.0], "axis": [0, 1, 0] if k % 2 else [0, 0, 1], "x": [1, 0, 0]},
                   second={"point": [0, 0, 0], "axis": [0, 1, 0] if k % 2 else [0, 0, 1], "x": [1, 0, 0]}, q=0.3)
        below = f"link{k}"
    return spec.compile()


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def seconds(call, count: int, clock=time.process_time) -> float:
    """Time of one call, from a loop in Python: of the processor, or by the wall clock where threads work."""
    begin = clock()
    for _ in range(count):
        call()
    return (clock() - begin) / count


class Table:
    """Rows of figures, printed and kept."""

    def __init__(self) -> None:
        self.rows: list[str] = []

    def head(self, text: str) -> None:
        print(f"\n{text}", flush=True)

    def row(self, what: str, engine: str, value: float, unit: str, ratio: float | None = None) -> None:
        beside = "" if ratio is None else f"   ratio {ratio:.3g}"
        print(f"  {what:<34}{engine:<30}{value:>10.4g} {unit}{beside}", flush=True)
        self.rows.append(f"{what},{engine},{value!r},{unit},{'' if ratio is None else repr(ratio)}")


def in_turns(calls: dict[str, object]) -> dict[str, list[float]]:
    """Each call once in every turn; a call returns its time."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(TURNS + 1):
        for name, call in calls.items():
            figure = call()
            if turn:
                found[name].append(figure)
    return found


def ratios(found: dict[str, list[float]], first: str) -> dict[str, float]:
    return {name: float(np.median(np.array(times) / np.array(found[first]))) for name, times in found.items()}


def others(program: str, model: lw.Model):
    """The arm in the other engines."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "arm.yaml")
        model.save(own)
        for kind in ("mjcf", "urdf"):
            subprocess.run([program, "export", kind, own, "--out", Path(folder, f"arm.{kind}")], check=True, capture_output=True)
        if pin:  # Its joints without limits have a cosine and a sine for coordinates; these have one angle.
            path = Path(folder, "arm.urdf")
            text = path.read_text(encoding="utf-8").replace('type="continuous"', 'type="revolute"')
            limit = '<limit lower="-1000" upper="1000" effort="1e9" velocity="1e9"/></joint>'
            path.write_text(text.replace("</joint>", limit), encoding="utf-8")
        m = mujoco.MjModel.from_xml_path(str(Path(folder, "arm.mjcf"))) if mujoco else None
        p = pin.buildModelFromUrdf(str(Path(folder, "arm.urdf"))) if pin else None
    return m, p


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("program")
    options.add_argument("loops")
    options.add_argument("--csv")
    given = options.parse_args()
    model, table = arm(), Table()
    m, p = others(given.program, model)
    md, pd = mujoco.MjData(m) if m is not None else None, p.createData() if p is not None else None
    print(f"Linkwork {lw.__version__}, mujoco {mujoco.__version__ if mujoco else 'not installed'}, "
          f"pinocchio {pin.__version__ if pin else 'not installed'}; numpy {np.__version__}")
    random = np.random.default_rng(7)
    q, v, tau = random.uniform(-1, 1, 7), random.uniform(-1, 1, 7), random.uniform(-2, 2, 7)
    vdot = np.empty(7)

    solver = lw.Solver(model, checked=False)
    expected = solver.accelerations(0.0, q, v, tau)
    if md is not None:
        md.qpos, md.qvel, md.qfrc_applied = q, v, tau
        mujoco.mj_forward(m, md)
        assert np.allclose(md.qacc, expected, rtol=1e-9, atol=1e-9), (md.qacc, expected)
    if pd is not None:
        assert np.allclose(pin.aba(p, pd, q, v, tau), expected, rtol=1e-9, atol=1e-9)

    loops = ctypes.CDLL(given.loops)
    loops.bench_calls.restype = loops.bench_rollout.restype = ctypes.c_double
    loops.bench_rollout_open.argtypes = [ctypes.c_double, ctypes.c_int, ctypes.c_int]
    bytes_of = model.to_bytes()
    assert loops.bench_open(bytes_of, ctypes.c_size_t(len(bytes_of))) == 0

    table.head("One call, arrays that are there (what it costs beyond the loop in C)")
    count = 20000
    calls = {"C loop": lambda: loops.bench_calls(count, pointer(q), pointer(v), pointer(tau), pointer(vdot)),
             "Linkwork": lambda: seconds(lambda: solver.accelerations(0.0, q, v, tau, out=vdot), count)}
    if md is not None:
        calls["mujoco mj_forward"] = lambda: seconds(lambda: mujoco.mj_forward(m, md), count // 4)
    if pd is not None:
        calls["pinocchio aba"] = lambda: seconds(lambda: pin.aba(p, pd, q, v, tau), count // 4)
    found = in_turns(calls)
    empty = min(seconds(lambda: None, count) for _ in range(5))
    beyond = float(np.median(np.array(found["Linkwork"]) - np.array(found["C loop"]))) - empty
    for name, ratio in ratios(found, "C loop").items():
        table.row("accelerations", name, 1e6 * float(np.median(found[name])), "us", ratio)
    table.row("accelerations", "Linkwork beyond C, net of loop", 1e6 * beyond, "us")
    acc = expected.copy()
    force = np.empty(7)
    calls = {"Linkwork": lambda: seconds(lambda: solver.inverse_dynamics(0.0, q, v, acc, out=force), count // 2)}
    if md is not None:
        calls["mujoco mj_inverse"] = lambda: seconds(lambda: mujoco.mj_inverse(m, md), count // 4)
    if pd is not None:
        calls["pinocchio rnea"] = lambda: seconds(lambda: pin.rnea(p, pd, q, v, acc), count // 4)
    found = in_turns(calls)
    for name, ratio in ratios(found, "Linkwork").items():
        table.row("inverse dynamics", name, 1e6 * float(np.median(found[name])), "us", ratio)

    runs, instants, step = 1000, 20, 1e-3
    q0, v0 = random.uniform(-1, 1, (runs, 7)), random.uniform(-1, 1, (runs, 7))
    taus = random.uniform(-1, 1, (runs, instants, 7))
    times = step * np.arange(1, instants + 1)
    table.head(f"Rollout: {runs} runs of {instants} steps by rk4, h = {step} s, joint forces held for a step each")
    for threads in (1, 0):
        calls, kept, clock = {}, {}, time.process_time if threads == 1 else time.perf_counter
        for vectors in (False, True):
            made = lw.Rollout(model, method="tree", integrator="rk4", step=step, threads=threads, forces=True, vectors=vectors)
            out = made(q0, v0, tau=taus, times=times)
            kind = "vectors" if vectors else "one by one"

            def in_c(vectors=vectors, out=out):
                assert loops.bench_rollout_open(step, threads, vectors) == 0
                return loops.bench_rollout(made.threads > 1, runs, instants, pointer(times), pointer(q0), pointer(v0), pointer(taus),
                                           pointer(out.q), pointer(out.v))

            calls[f"C, {kind}"] = in_c
            calls[f"Linkwork, {kind}"] = lambda made=made, out=out, clock=clock: seconds(
                lambda: made(q0, v0, tau=taus, times=times, out=out), 1, clock)
            kept[kind] = out
        if md is not None:
            m.opt.timestep, m.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
            full = mujoco.mjtState.mjSTATE_FULLPHYSICS
            starts = np.zeros((runs, mujoco.mj_stateSize(m, full)))
            starts[:, 1:8], starts[:, 8:15] = q0, v0
            applied = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
            places = np.empty((runs, instants, starts.shape[1]))
            datas = [mujoco.MjData(m) for _ in range(made.threads)]
            pool = mujoco_rollout.Rollout(nthread=made.threads if made.threads > 1 else 0)

            def by_mujoco(datas=datas, places=places, pool=pool, clock=clock):
                return seconds(lambda: pool.rollout([m] * runs, datas, starts, taus, control_spec=applied, state=places), 1, clock)

            by_mujoco()
            assert np.allclose(places[:, -1, 1:8], kept["one by one"].q[:, -1], atol=1e-9)
            calls["mujoco rollout"] = by_mujoco
        found = in_turns(calls)
        what = f"rollout, {made.threads} thread{'s' * (made.threads > 1)}"
        scale = 1e6 / (runs * instants)
        for name in found:
            table.row(what, name, scale * float(np.median(found[name])), "us per step", ratios(found, "C, one by one")[name])
        for kind in ("one by one", "vectors"):
            table.row(what, f"Python to C, {kind}", 100 * (ratios(found, f"C, {kind}")[f"Linkwork, {kind}"] - 1), "% more")

    table.head("Whole runs of 1 s at an error of at most 1e-6 rad at the end")
    end = 1.0
    reference = model.run(q=q, v=v, end=end, tolerance=1e-13, output=end).q_final
    finer = model.run(q=q, v=v, end=end, method="tree", integrator="rk4", step=2e-5, output=end).q_final
    assert np.abs(reference - finer).max() < 1e-7, reference - finer

    def linkwork_run(tolerance):
        return model.run(q=q, v=v, end=end, tolerance=tolerance, output=end).q_final

    def linkwork_step(h):
        return model.run(q=q, v=v, end=end, method="tree", integrator="rk4", step=h, output=end).q_final

    def mujoco_step(h):
        mujoco.mj_resetData(m, md)
        m.opt.timestep, m.opt.integrator = h, mujoco.mjtIntegrator.mjINT_RK4
        md.qpos, md.qvel = q, v
        mujoco.mj_step(m, md, nstep=round(end / h))
        return md.qpos.copy()

    def pinocchio_step(h):
        x, u, none = q.copy(), v.copy(), np.zeros(7)
        for _ in range(round(end / h)):
            a1 = pin.aba(p, pd, x, u, none).copy()
            a2 = pin.aba(p, pd, x + h / 2 * u, u + h / 2 * a1, none).copy()
            a3 = pin.aba(p, pd, x + h / 2 * u + h * h / 4 * a1, u + h / 2 * a2, none).copy()
            a4 = pin.aba(p, pd, x + h * u + h * h / 2 * a2, u + h * a3, none)
            x, u = x + h * u + h * h / 6 * (a1 + a2 + a3), u + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return x

    ladders = {"Linkwork, its own choice": (linkwork_run, [10.0 ** -k for k in range(4, 13)]),
               "Linkwork, rk4": (linkwork_step, [2e-2 / 2**k for k in range(10)])}
    if m is not None:
        ladders["mujoco, RK4"] = (mujoco_step, [2e-2 / 2**k for k in range(10)])
    if p is not None:
        ladders["pinocchio, rk4 in Python"] = (pinocchio_step, [2e-2 / 2**k for k in range(10)])
    for name, (run, rungs) in ladders.items():
        for rung in rungs:
            error = float(np.abs(run(rung) - reference).max())
            if error <= 1e-6:
                took = float(np.median([seconds(lambda: run(rung), 1) for _ in range(5)]))
                table.row("whole run", f"{name}, {rung:.3g}", 1e3 * took, f"ms, error {error:.1e}")
                break
        else:
            table.row("whole run", name, float("nan"), "ms: not reached")
    measure(table, given.program, in_turns, seconds, ratios, mujoco, pin)
    if given.csv:
        Path(given.csv).write_text("what,engine,value,unit,ratio\n" + "\n".join(table.rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
