"""Solvers and batches: numbers, arrays in every form, threads."""

import threading

import linkwork as lw
import numpy as np
import pytest
from conftest import problem


def test_forces_and_accelerations_are_inverse(double_pendulum):
    solver = lw.Solver(double_pendulum)
    rng = np.random.default_rng(1)
    q, v, tau = rng.standard_normal((3, 2))
    vdot = solver.accelerations(0, q, v, tau)
    # Two solutions of a system of two: rounding.
    assert solver.inverse_dynamics(0, q, v, vdot) == pytest.approx(tau, rel=1e-11, abs=1e-11)


def test_equation_of_motion_with_loops(four_bar):
    solver = lw.Solver(four_bar, driven=["A"])
    q, v = four_bar.q0, four_bar.v0
    vdot = solver.accelerations(0, q, v)
    tau = solver.inverse_dynamics(0, q, v, vdot)
    assert tau == pytest.approx(np.zeros(3), abs=1e-9)
    jacobian, bias = solver.closure_jacobian(0, q, v)
    assert jacobian @ vdot == pytest.approx(bias, abs=1e-11)
    assert len(solver.rows) == len(bias)


def test_all_methods_agree(four_bar):
    reference = lw.Solver(four_bar).accelerations(0, four_bar.q0, four_bar.v0)
    found = 0
    for name, _ in lw.methods():
        try:
            solver = lw.Solver(four_bar, name)
            vdot = solver.accelerations(0, four_bar.q0, four_bar.v0)
        except lw.UnsupportedError:
            continue
        assert solver.balance() < 1e-6
        # penalty is approximate; its page promises some 1e-8 of the largest acceleration.
        assert vdot == pytest.approx(reference, abs=(2e-8 if name == "penalty" else 1e-10) * np.abs(reference).max())
        found += 1
    assert found > 8


def test_arrays_in_every_form(four_bar):
    solver = lw.Solver(four_bar)
    q, v = four_bar.q0, four_bar.v0
    expected = solver.accelerations(0, q, v)
    wide = np.zeros((3, 2))
    wide[:, 0] = v
    class Special(np.ndarray):
        pass

    for form in (v.tolist(), tuple(v), wide[:, 0], v[::-1][::-1], v.astype(object), v.view(Special), memoryview(v),
                 v.astype(">f8"), np.array(v, dtype=np.dtype(float, metadata={"unit": "rad/s"}))):
        assert solver.accelerations(0, q, form).tobytes() == expected.tobytes()
    assert solver.accelerations(0, np.zeros(3, dtype=np.int32), v).shape == (3,)
    read_only = v.copy()
    read_only.flags.writeable = False
    assert solver.accelerations(t=0, q=q, v=read_only).tobytes() == expected.tobytes()
    out = np.empty(3)
    assert solver.accelerations(0, q, v, out=out) is out
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("wrong, kind, says", [
    (dict(q=np.zeros(4)), ValueError, r"q has the shape \(4,\), expected \(3,\)"),
    (dict(v=np.zeros((1, 3))), ValueError, r"v has the shape \(1, 3\)"),
    (dict(q=["a", "b", "c"]), TypeError, "q has elements of type <U1, expected real numbers"),
    (dict(v=np.zeros(3, dtype=complex)), TypeError, "v has elements of type complex128"),
    (dict(q=[None, 0, 0]), ValueError, r"q\[0\] is nan"),
    (dict(q=None), TypeError, "q is missing"),
    (dict(t="now"), TypeError, "real number"),
    (dict(q=np.array([0, np.nan, 0])), ValueError, r"q\[1\] is nan"),
    (dict(tau=np.zeros(2)), ValueError, "tau has the shape"),
    (dict(out=np.zeros(3, dtype=np.float32)), TypeError, "float64"),
    (dict(out=np.zeros(6)[::2]), TypeError, "contiguous"),
    (dict(out=[0, 0, 0]), TypeError, "writable"),
    (dict(more=1), TypeError, "more"),
])
def test_wrong_arguments(four_bar, wrong, kind, says):
    solver = lw.Solver(four_bar)
    arguments = dict(t=0.0, q=four_bar.q0, v=four_bar.v0)
    with pytest.raises(kind, match=says):
        solver.accelerations(**{**arguments, **wrong})
    # It has not suffered.
    assert np.isfinite(solver.accelerations(**arguments)).all()


def test_out_may_not_be_an_argument(four_bar):
    v = four_bar.v0
    with pytest.raises(ValueError, match="shares memory with v"):
        lw.Solver(four_bar).accelerations(0, four_bar.q0, v, out=v)


def test_wrong_makings(four_bar):
    with pytest.raises(ValueError, match="rcr"):
        lw.Solver(four_bar, "rcrr")
    with pytest.raises(TypeError, match="Model"):
        lw.Solver("four_bar.yaml")
    with pytest.raises(lw.UnsupportedError):
        lw.Solver(four_bar, "tree")
    with pytest.raises(ValueError):
        lw.Solver(four_bar, driven=["nobody"])


def test_batch_is_the_solver(four_bar):
    rng = np.random.default_rng(3)
    solver, batch = lw.Solver(four_bar), lw.Batch(four_bar, threads=2)
    basis = solver.tangent_basis(0, four_bar.q0)[:, 0]
    count = 37
    q = np.tile(four_bar.q0, (count, 1))
    v = rng.standard_normal((count, 1)) * basis
    tau = rng.standard_normal((count, 3))
    together = batch.accelerations(0, q, v, tau)
    single = np.array([solver.accelerations(0, *state) for state in zip(q, v, tau)])
    # The batch promises the answers of the solver to rounding.
    assert together == pytest.approx(single, rel=1e-11, abs=1e-11)
    assert together.flags.f_contiguous
    out = np.empty((count, 3), order="F")
    fortran = [np.asfortranarray(a) for a in (q, v, tau)]
    assert batch.accelerations(0, *fortran, out=out) is out
    assert out.tobytes() == together.tobytes()
    assert batch.accelerations(0, np.empty((0, 3)), np.empty((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="as many"):
        batch.accelerations(0, q, v[:-1])
    with pytest.raises(ValueError, match=r"N, 3"):
        batch.accelerations(0, q[:, :2], v)


def test_inputs_of_a_solver():
    model = problem("cart_pole")
    if not model.input_names:
        pytest.skip("the problem has no inputs")
    solver = lw.Solver(model, inputs={model.input_names[0]: 1.0})
    first = solver.accelerations(0, model.q0, model.v0)
    solver.set_inputs([2.0] + [0.0] * (len(model.input_names) - 1))
    assert solver.accelerations(0, model.q0, model.v0).tobytes() != first.tobytes()


def test_threads_with_solvers_of_their_own_and_with_one():
    model = problem("ladder")
    expected = lw.Solver(model).accelerations(0, model.q0, model.v0)
    wrong: list[str] = []

    def own() -> None:
        solver = lw.Solver(model)
        for _ in range(50):
            if solver.accelerations(0, model.q0, model.v0).tobytes() != expected.tobytes():
                wrong.append("another answer")

    shared, refused = lw.Solver(model), []

    def common() -> None:
        for _ in range(200):
            try:
                if shared.accelerations(0, model.q0, model.v0).tobytes() != expected.tobytes():
                    wrong.append("another answer")
            except RuntimeError as refusal:
                refused.append(str(refusal))

    for work in (own, common):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong
    assert all("another thread" in text for text in refused)


def test_results_go_where_they_are_wanted(four_bar):
    model, solver = four_bar, lw.Solver(four_bar)
    q, v = model.q0, model.v0
    basis = np.empty((3, 1))
    assert solver.tangent_basis(0.0, q, out=basis) is basis
    assert basis.tobytes() == solver.tangent_basis(0.0, q).tobytes()
    rows = len(solver.rows)
    places = np.empty((rows, 3)), np.empty(rows)
    found = solver.closure_jacobian(0.0, q, v, out=places)
    assert found[0] is places[0] and found[1] is places[1]
    assert solver.closure_jacobian(0.0, q, out=(places[0], None))[1] is None
    assert found[0] @ v == pytest.approx(np.zeros(rows), abs=1e-12)
    jacobian = np.empty((6, 3))
    assert model.jacobian("coupler", q, out=jacobian) is jacobian
    pair = np.empty(3), np.empty((3, 3))
    assert model.pose("coupler", q, out=pair)[1] is pair[1]
    pair = np.empty(3), np.empty(3)
    assert model.velocity("coupler", q, v, out=pair)[0] is pair[0]
    assert model.momentum(q, v, out=pair)[1] is pair[1]
    moved = q.copy()
    assert model.integrate(moved, v, 0.1, out=moved) is moved
    assert moved.tobytes() == model.integrate(q, v, 0.1).tobytes()
    with lw.Simulation(model) as simulation:
        state = np.empty(3), np.empty(3)
        assert simulation.state(out=state)[0] is state[0] and state[0].tobytes() == q.tobytes()
        both = np.empty(3), np.empty((4, 6))
        assert simulation.accelerations(out=both)[1] is both[1]
        with pytest.raises(TypeError, match="tuple of two"):
            simulation.state(out=state[0])
    with pytest.raises(ValueError, match="shares memory"):
        model.integrate(q, v, out=v)
    frozen = np.empty((6, 3))
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="writable"):
        model.jacobian("coupler", q, out=frozen)
    with pytest.raises(TypeError, match="tuple of two"):
        solver.closure_jacobian(0.0, q, out=frozen)
