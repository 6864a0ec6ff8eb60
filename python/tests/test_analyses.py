"""Linear systems, rest and modes by closed forms; files of other formats."""

import pickle

import linkwork as lw
import numpy as np
import pytest
from conftest import ROOT, problem

OSCILLATOR = """
linkwork: 1
gravity: [0, 0, -10]
parameters: {k: 200, d: 4}
inputs: {push: 0 N}
bodies: {block: {mass: 2, inertia: [1, 1, 1]}}
joints: {slide: {type: prismatic, between: [ground, block], point: [0, 0, 0], axis: [0, 0, 1]}}
forces:
  spring: {type: torsion, joint: slide, stiffness: k}
  damper: {type: friction, joint: slide, viscous: d}
  motor: {type: drive, joint: slide, force: push}
outputs: {place: slide.q}
"""


def test_oscillator():
    model = lw.loads(OSCILLATOR)
    rest = lw.equilibrium(model)
    assert rest.converged and rest.stable
    assert rest.q == pytest.approx([-0.1], rel=1e-12)  # m g / k
    # The weight goes into the spring, whose force the joint transmits.
    assert np.linalg.norm(rest.reactions[0, :3]) == pytest.approx(20.0, rel=1e-12)
    system = lw.linearise(model, q=rest.q)
    assert system.A == pytest.approx(np.array([[0, 1], [-100, -2]]), abs=1e-12)
    assert system.B == pytest.approx(np.array([[0], [0.5]]), abs=1e-14)
    assert system.C == pytest.approx(np.array([[1, 0]]), abs=1e-14)
    assert (system.controllable, system.observable, system.inputs) == (2, 2, ["push"])
    assert sorted(system.eigenvalues.imag) == pytest.approx([-np.sqrt(99), np.sqrt(99)], rel=1e-12)
    again = lw.linearise(model, q=rest.q + 0.1, out=system)  # the spring is linear
    assert again.A is system.A and again.D is system.D and again.A == pytest.approx(np.array([[0, 1], [-100, -2]]), abs=1e-12)
    for wrong, kind in (((system.A, system.B), TypeError), (lw.linearise(problem("double_pendulum")), ValueError)):
        with pytest.raises(kind, match="out"):
            lw.linearise(model, out=wrong)
    modes = lw.modes(model, q=rest.q)
    assert modes.frequencies == pytest.approx([10 / (2 * np.pi)], rel=1e-12)
    assert modes.modes[0].damping_ratio == pytest.approx(0.1, rel=1e-12)


def test_sensitivity():
    model = lw.loads(OSCILLATOR)
    s = lw.sensitivity(model, ["k", "d"], end=1.0)
    assert s.derivatives.shape == (101, 2, 3) and s.parameters == ["k", "d"]
    assert s.columns == ["slide.q", "slide.v", "place"] and s.disagreement < 1e-5
    # The step response -(g/w^2)(1 - e^(-t)(cos n t + sin(n t) / n)), n^2 = w^2 - 1, by differences of itself.
    def motion(k):
        n = np.sqrt(k / 2 - 1)
        return -20 / k * (1 - np.exp(-s.t) * (np.cos(n * s.t) + np.sin(n * s.t) / n))
    assert s.of("slide.q", "k") == pytest.approx((motion(200 + 0.01) - motion(200 - 0.01)) / 0.02, abs=1e-8)
    assert lw.sensitivity(model, "k", record="force(spring)", end=0.1, output=0.05).derivatives.shape[0] == 3
    with pytest.raises(ValueError, match="no parameter"):
        lw.sensitivity(model, "kk", end=1.0)


def test_wrong_coordinates(four_bar):
    with pytest.raises(ValueError):
        lw.linearise(four_bar, coordinates=["A", "B"])
    with pytest.raises(ValueError, match="shape"):
        lw.modes(four_bar, q=[0.0])


def test_urdf(tmp_path):
    (tmp_path / "arm.urdf").write_text("""<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="pin" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>""")
    model = lw.load(tmp_path / "arm.urdf")
    vdot = lw.Solver(model).accelerations(0, [0.3], [0.0])
    assert vdot == pytest.approx([-2 * 9.81 * 0.5 * np.sin(0.3) / (0.1 + 2 * 0.25)], rel=1e-12)
    (tmp_path / "bad.urdf").write_text("<robot name='a'><link name='b'/><joint name='c' type='hinge'/></robot>")
    with pytest.raises(lw.ModelError, match="bad.urdf"):
        lw.load(tmp_path / "bad.urdf")


FREE = """<robot name="arm"><link name="root"><inertial><mass value="3"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
<link name="hand"/><joint name="fix" type="fixed"><parent link="root"/><child link="hand"/></joint></robot>"""


def test_options_and_notes_of_imports(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(FREE)
    fixed = lw.load(path)
    assert fixed.nv == 0
    free = lw.load(path, base="free")
    assert (free.nq, free.nv, len(free.bodies)) == (7, 6, 2)  # The link without mass is a frame.
    assert free.frame_names == ("hand",)
    kept = lw.load(path, base="free", keep_fixed=True)
    assert len(kept.bodies) == 3 and kept.body("hand").mass == 0
    note = next(note for note in free.notes if "collision" in note.kind)
    assert note.number == 1 and note.line > 0 and note.meaning and str(note).startswith("1 ")
    copy = pickle.loads(pickle.dumps(free))
    assert copy.notes == free.notes and copy.warnings == free.warnings and copy.to_bytes() == free.to_bytes()
    with pytest.raises(ValueError, match="base is 'floating', expected 'fixed' or 'free'"):
        lw.load(path, base="floating")
    with pytest.raises(ValueError, match="loops is 'open'"):
        lw.load(path, loops="open")
    with pytest.raises(lw.ModelError, match='keyframe "home" is asked for, but only MJCF has keyframes'):
        lw.load(path, key="home")
    assert lw.load(ROOT / "problems/four_bar/model.yaml").notes == []


def test_robots_from_text():
    """Any of the formats, with the same keywords; files that the text names are not read."""
    free = lw.loads(FREE, base="free", name="arm")
    assert free.nv == 6 and any("collision" in note.kind for note in free.notes)
    cart = lw.loads("<mujoco><worldbody><body name='cart'><joint name='x' type='slide'/><geom size='.1'/></body></worldbody>"
                    "<keyframe><key name='away' qpos='0.4'/></keyframe></mujoco>", key="away")
    assert cart.q0[0] == 0.4
    with pytest.raises(lw.ModelError, match="only URDF leaves open"):
        lw.loads("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>", base="free")
    for wrong in (None, 3, b"<robot/>"):
        with pytest.raises(TypeError, match="text is no str"):
            lw.loads(wrong)


def test_comparison(four_bar):
    told = []
    compared = lw.compare(four_bar, methods=["rcr", "cut", "tree", "penalty"], timing=0.01, end=0.05,
                          tell=lambda method, work: told.append((method, work)))
    assert compared.agree and told
    assert {one.method for one in compared} == {"rcr", "cut", "tree", "penalty"}
    assert compared["rcr"].verdict == "agrees" and compared["rcr"].max_rel_diff <= compared["rcr"].allowed
    assert compared["rcr"].ns_per_call > 0 and compared["rcr"].run["t_end"] == 0.05
    assert compared["tree"].verdict == "refused" and compared["tree"].reason and compared["tree"].run is None
    assert compared["penalty"].verdict == "approximate"
    assert "method" in repr(compared) and "rcr" in repr(compared)
    with pytest.raises(KeyError, match="did you mean 'rcr'"):
        compared["rrc"]
    with pytest.raises(ValueError, match="rrc"):
        lw.compare(four_bar, methods=["rrc"])

    def broken(method, work):
        raise RuntimeError(f"{method} is enough")

    with pytest.raises(RuntimeError, match="is enough"):
        lw.compare(four_bar, methods=["rcr"], tell=broken)


def test_derivatives_against_differences():
    model = problem("double_pendulum")
    random = np.random.default_rng(3)
    q, v, tau = (random.standard_normal(model.nv) for _ in range(3))
    derivatives, solver = lw.Derivatives(model), lw.Solver(model)
    found = derivatives.accelerations(0.0, q, v, tau)
    assert found.vdot.tobytes() == solver.accelerations(0.0, q, v, tau).tobytes()
    h = 1e-6
    for k, unit in enumerate(np.eye(model.nv)):
        for by, plus, minus in (
                (found.dq, (model.integrate(q, unit, h), v, tau), (model.integrate(q, unit, -h), v, tau)),
                (found.dv, (q, v + h * unit, tau), (q, v - h * unit, tau)),
                (found.dtau, (q, v, tau + h * unit), (q, v, tau - h * unit))):
            slope = (solver.accelerations(0.0, *plus) - solver.accelerations(0.0, *minus)) / (2 * h)
            assert by[:, k] == pytest.approx(slope, rel=1e-6, abs=1e-6 * np.abs(by).max())
    forces = derivatives.forces(0.0, q, v, found.vdot)
    assert forces.mass @ found.dtau == pytest.approx(np.eye(model.nv), abs=1e-12)
    assert forces.mass == pytest.approx(solver.mass_matrix(0.0, q), rel=1e-13)
    assert -found.dtau @ forces.dq == pytest.approx(found.dq, abs=1e-10 * np.abs(found.dq).max())
    again = derivatives.accelerations(0.0, q, v, tau, out=found)
    assert again.dq is found.dq
    assert found.dinputs.shape == (model.nv, 0)
    for wrong in (found[:3], 3, [np.zeros(2)] * 6):
        with pytest.raises((TypeError, ValueError)):
            derivatives.accelerations(0.0, q, v, tau, out=wrong)


def test_derivatives_of_loops_and_inputs(four_bar):
    solver, derivatives = lw.Solver(four_bar), lw.Derivatives(four_bar)
    basis = solver.tangent_basis(0.0, four_bar.q0)
    found = derivatives.accelerations(0.0, four_bar.q0, four_bar.v0)
    assert (found.dtau @ basis).shape == (3, 1) and found.dtau == pytest.approx(found.dtau.T, rel=1e-12)
    with pytest.raises(lw.UnsupportedError, match="closes a loop"):
        derivatives.forces(0.0, four_bar.q0, four_bar.v0, found.vdot)
    cart = problem("cart_pole")
    pushed = lw.Derivatives(cart).accelerations(0.0, cart.q0, cart.v0)
    assert pushed.dinputs.shape == (cart.nv, 1) and np.abs(pushed.dinputs).max() > 0
