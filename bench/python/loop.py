"""A four-bar linkage from Python: Linkwork, mujoco and pinocchio on one closed loop.

bench.py calls measure() behind the arm. The loop is closed by a ball in the plane: a `connect` of mujoco, a 3-D constraint of
pinocchio. Linkwork and pinocchio hold it hard and have to agree before anything is timed; mujoco's is soft, so that its row says by how
much its accelerations differ, and whole runs tell which engines reach the error at all.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np

import linkwork as lw

A, B, D = np.array([0, 0, 0.0]), np.array([0, 0, 0.2]), np.array([0.45, 0, 0])
JOINTS = ("crank_pin", "coupler_pin", "rocker_pin")


def far_pin() -> np.ndarray:
    """C: 0.5 m from B, 0.4 m from D, above both."""
    span = D - B
    length = float(np.linalg.norm(span))
    along = (length**2 + 0.5**2 - 0.4**2) / (2 * length)
    up = np.array([-span[2], 0, span[0]]) / length
    return B + along * span / length + np.sqrt(0.5**2 - along**2) * up


C = far_pin()


def four_bar(closed: bool) -> lw.Model:
    spec = lw.Spec("four_bar", gravity=[0, 0, -9.81])
    for name, mass, first, last in (("crank", 0.5, A, B), ("coupler", 1.0, B, C), ("rocker", 0.8, D, C)):
        moment = mass * float((last - first) @ (last - first)) / 12
        spec.body(name, mass=mass, com=(first + last) / 2, inertia=[moment] * 3)
    for name, point, between in zip(JOINTS, (A, B, D), (["ground", "crank"], ["crank", "coupler"], ["ground", "rocker"])):
        spec.joint(name, type="revolute", between=between, point=point, axis=[0, 1, 0], **({"v": 3.0} if name == JOINTS[0] else {}))
    if closed:
        spec.joint("close", type="spherical", between=["coupler", "rocker"], point=C, cut=True)
    return spec.compile()


def in_mujoco(program: str, mujoco: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        four_bar(True).save(Path(folder, "loop.yaml"))
        subprocess.run([program, "export", "mjcf", Path(folder, "loop.yaml"), "--out", Path(folder, "loop.xml")], check=True,
                       capture_output=True)
        return mujoco.MjModel.from_xml_path(str(Path(folder, "loop.xml")))


def in_pinocchio(program: str, pin: Any) -> tuple[Any, Any, Any]:
    with tempfile.TemporaryDirectory() as folder:
        four_bar(False).save(Path(folder, "tree.yaml"))
        path = Path(folder, "tree.urdf")
        subprocess.run([program, "export", "urdf", Path(folder, "tree.yaml"), "--out", path], check=True, capture_output=True)
        text = path.read_text(encoding="utf-8").replace('type="continuous"', 'type="revolute"')
        limit = '<limit lower="-1000" upper="1000" effort="1e9" velocity="1e9"/></joint>'
        path.write_text(text.replace("</joint>", limit), encoding="utf-8")
        tree = pin.buildModelFromUrdf(str(path))
    data = tree.createData()
    pin.forwardKinematics(tree, data, np.zeros(3))
    ends = [tree.getJointId(name) for name in JOINTS[1:]]
    places = [data.oMi[k].inverse() * pin.SE3(np.eye(3), C) for k in ends]
    closure = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, tree, ends[0], places[0], ends[1], places[1], pin.LOCAL)
    return tree, data, closure


def measure(table: Any, program: str, in_turns: Callable, seconds: Callable, ratios: Callable, mujoco: Any, pin: Any) -> None:
    model = four_bar(True)
    solver = lw.Solver(model, checked=False)
    q, v, vdot, tau = model.q0, model.v0, np.empty(model.nv), np.zeros(model.nv)
    solver.accelerations(0.0, q, v, out=vdot)
    own = [model.joint(name).v.start for name in JOINTS]
    count = 20000
    table.head("A four-bar linkage: one call")
    calls = {"Linkwork": lambda: seconds(lambda: solver.accelerations(0.0, q, v, tau, out=vdot), count)}
    runs: dict[str, tuple[Callable, list[float]]] = {}
    end = 1.0
    crank = own[0]
    reference = float(model.run(end=end, tolerance=1e-12, output=end).q_final[crank])
    finer = float(model.run(end=end, tolerance=1e-10, output=end, method="lagrange").q_final[crank])
    assert abs(reference - finer) < 1e-7, (reference, finer)
    steps = [1e-2 / 2**k for k in range(9)]
    runs["Linkwork, its own choice"] = (lambda x: model.run(end=end, tolerance=x, output=end).q_final[crank],
                                        [10.0**-k for k in range(4, 13)])
    runs["Linkwork, rk4"] = (lambda h: model.run(end=end, integrator="rk4", step=h, output=end).q_final[crank], steps)
    if mujoco:
        m = in_mujoco(program, mujoco)
        d = mujoco.MjData(m)
        there = [m.joint(name).dofadr[0] for name in JOINTS]

        def start() -> None:
            mujoco.mj_resetData(m, d)
            d.qpos[there], d.qvel[there] = q[own], v[own]

        def mujoco_run(h: float) -> float:
            start()
            m.opt.timestep, m.opt.integrator = h, mujoco.mjtIntegrator.mjINT_RK4
            mujoco.mj_step(m, d, nstep=round(end / h))
            return float(d.qpos[there[0]])

        start()
        mujoco.mj_forward(m, d)
        off = float(np.abs(d.qacc[there] - vdot[own]).max() / np.abs(vdot).max())
        table.row("accelerations off by", "mujoco, soft connect", off, "of the largest")
        calls["mujoco mj_forward"] = lambda: seconds(lambda: mujoco.mj_forward(m, d), count // 4)
        runs["mujoco, RK4"] = (mujoco_run, steps)
    if pin:
        tree, data, closure = in_pinocchio(program, pin)
        closures, stores = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        closures.append(closure)
        stores.append(closure.createData())
        proximal = pin.ProximalSettings(1e-14, 1e-12, 20)
        pin.initConstraintDynamics(tree, data, closures, stores)
        x, u, none = np.zeros(3), np.zeros(3), np.zeros(3)
        at = [tree.joints[tree.getJointId(name)].idx_v for name in JOINTS]
        x[at], u[at] = q[own], v[own]

        def dynamics(x: np.ndarray, u: np.ndarray) -> np.ndarray:
            return np.array(pin.constraintDynamics(tree, data, x, u, none, closures, stores, proximal))

        def pinocchio_run(h: float) -> float:
            y, w = x.copy(), u.copy()
            for _ in range(round(end / h)):
                a1 = dynamics(y, w)
                a2 = dynamics(y + h / 2 * w, w + h / 2 * a1)
                a3 = dynamics(y + h / 2 * w + h * h / 4 * a1, w + h / 2 * a2)
                a4 = dynamics(y + h * w + h * h / 2 * a2, w + h * a3)
                y, w = y + h * w + h * h / 6 * (a1 + a2 + a3), w + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            return float(y[at[0]])

        assert np.allclose(dynamics(x, u)[at], vdot[own], rtol=1e-6, atol=1e-6), (dynamics(x, u)[at], vdot[own])
        calls["pinocchio constraintDynamics"] = lambda: seconds(
            lambda: pin.constraintDynamics(tree, data, x, u, none, closures, stores, proximal), count // 4)
        runs["pinocchio, rk4 in Python"] = (pinocchio_run, steps)
    found = in_turns(calls)
    for name, ratio in ratios(found, "Linkwork").items():
        table.row("accelerations, loop", name, 1e6 * float(np.median(found[name])), "us", ratio)
    table.head("The four-bar for 1 s, at an error of at most 1e-6 rad of the crank at the end")
    for name, (run, rungs) in runs.items():
        best = np.inf
        for rung in rungs:
            error = abs(run(rung) - reference)
            best = min(best, error)
            if error <= 1e-6:
                took = float(np.median([seconds(lambda: run(rung), 1) for _ in range(5)]))
                table.row("whole run, loop", f"{name}, {rung:.3g}", 1e3 * took, f"ms, error {error:.1e}")
                break
        else:
            table.row("whole run, loop", name, float("nan"), f"ms: not reached; the least error is {best:.1e}")
