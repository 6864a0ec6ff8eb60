"""Reading, building, names, kinematics, pickling."""

import pickle

import linkwork as lw
import numpy as np
import pytest
from conftest import ROOT, problem

PENDULUM = """
linkwork: 1
name: pendulum
parameters: {L: 1 m, m: 2 kg}
bodies:
  rod: {mass: m, com: [0, 0, -L/2], inertia: [0.1, 0.1, 0.001]}
joints:
  pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0], q: 0.3}
run: {end: 1}
"""


def closed_form(q: float, L: float, m: float) -> float:
    return -m * 9.81 * L / 2 * np.sin(q) / (0.1 + m * L * L / 4)


def test_pendulum_by_its_closed_form():
    for L in (1.0, 2.5):
        model = lw.loads(PENDULUM, L=L)
        assert model.parameters == {"L": L, "m": 2.0}
        vdot = lw.Solver(model).accelerations(0, model.q0, model.v0)
        # One division and a sine: some rounding errors.
        assert vdot == pytest.approx([closed_form(0.3, L, 2.0)], rel=1e-14)


def test_parameters_as_texts_and_afterwards():
    assert lw.loads(PENDULUM, L="50 cm").parameters["L"] == 0.5
    model = lw.loads(PENDULUM).with_parameters(L=0.5, m=3)
    assert lw.Solver(model).accelerations(0, model.q0, model.v0)[0] == pytest.approx(closed_form(0.3, 0.5, 3), rel=1e-14)
    with pytest.raises(ValueError, match="length"):
        lw.loads(PENDULUM).with_parameters(length=1)


def test_built_in_python_is_what_a_file_says():
    spec = lw.Spec("pendulum", parameters={"L": 1, "m": 2})
    spec.body("rod", mass="m", com=[0, 0, "-L/2"], inertia=np.array([0.1, 0.1, 0.001]))
    spec.joint("pin", type="revolute", between=["ground", "rod"], point=[0, 0, 0], axis=[0, 1, 0], q=0.3)
    built, read = spec.compile(), lw.loads(PENDULUM)
    assert lw.Solver(built).accelerations(0, built.q0, built.v0) == lw.Solver(read).accelerations(0, read.q0, read.v0)
    with pytest.raises(ValueError, match="rod"):
        spec.body("rod")


def test_faults_have_place_object_and_remedy():
    with pytest.raises(lw.ModelError) as info:
        lw.loads(PENDULUM.replace("axis: [0, 1, 0]", "axis: [0, 0, 0]").replace("mass: m", "mas: m"), name="rod.yaml")
    faults = info.value.faults
    assert all(isinstance(fault, lw.Fault) for fault in faults)
    assert len(faults) >= 2
    axis = next(fault for fault in faults if "direction" in fault.message)
    assert (axis.file, axis.line, axis.object) == ("rod.yaml", 8, 'joint "pin"')
    assert "non-zero" in axis.remedy
    assert str(axis) in str(info.value)


def test_missing_file():
    with pytest.raises((lw.FileError, lw.ModelError), match="nowhere"):
        lw.load(ROOT / "nowhere.yaml")


def test_names(four_bar):
    assert four_bar.joints.A.type == "revolute"
    assert four_bar.joint("A").bodies[0] == "ground"
    assert "A" in dir(four_bar.joints) and "A" in four_bar.joints._ipython_key_completions_()
    assert sum(joint.closes_loop for joint in four_bar.joints.values()) == 1
    assert four_bar.body("ground").index == 0
    with pytest.raises(KeyError, match="did you mean"):
        four_bar.body("crnk") if "crank" in four_bar.bodies else four_bar.body(list(four_bar.bodies)[1] + "x")
    assert "four-bar" in repr(four_bar) and "1 loop," in repr(four_bar)


def test_kinematics_against_differences(four_bar):
    solver = lw.Solver(four_bar)
    q, v = four_bar.q0, solver.tangent_basis(0, four_bar.q0)[:, 0]
    body, point, h = list(four_bar.bodies)[-1], (0.1, 0.2, -0.3), 1e-6
    position = [np.add(*(lambda p, r: (p, r @ point))(*four_bar.pose(body, four_bar.integrate(q, v, s * h)))) for s in (1, -1)]
    angular, linear = four_bar.velocity(body, q, v, point)
    # A central difference: h^2 and rounding / h.
    assert (position[0] - position[1]) / (2 * h) == pytest.approx(linear, abs=1e-8)
    twist = four_bar.jacobian(body, q, point) @ v
    assert twist == pytest.approx(np.concatenate([angular, linear]), abs=1e-13)


def test_energy_is_kinetic_by_the_mass_matrix(double_pendulum):
    v = np.array([1.0, -2.0])
    mass = lw.Solver(double_pendulum).mass_matrix(0, double_pendulum.q0)
    kinetic, _ = double_pendulum.energy(double_pendulum.q0, v)
    assert kinetic == pytest.approx(v @ mass @ v / 2, rel=1e-13)


def test_pickle(four_bar):
    again = pickle.loads(pickle.dumps(four_bar))
    assert again.to_bytes() == four_bar.to_bytes()
    a, b = (lw.Solver(m).accelerations(0, m.q0, m.v0) for m in (four_bar, again))
    assert a.tobytes() == b.tobytes()
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(lw.Solver(four_bar))


def test_damaged_bytes(four_bar):
    data = bytearray(four_bar.to_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(lw.LinkworkError):
        lw.from_bytes(bytes(data))


def test_written_file(tmp_path, four_bar):
    four_bar.save(tmp_path / "again.yaml")
    again = lw.load(tmp_path / "again.yaml")
    assert again.q0.tobytes() == four_bar.q0.tobytes()


def test_quaternions():
    assert lw.to_scipy([1, 2, 3, 4]).tolist() == [2, 3, 4, 1]
    assert lw.from_scipy(lw.to_scipy([[1, 2, 3, 4]])).tolist() == [[1, 2, 3, 4]]


def test_every_problem_loads_and_balances():
    for folder in sorted((ROOT / "problems").glob("*/model.yaml")):
        model = problem(folder.parent.name)
        assert model.q0.shape == (model.nq,) and model.v0.shape == (model.nv,)
