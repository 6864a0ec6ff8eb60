"""Many runs in one call against simulations one by one, and what is wrong with a call."""

import signal
import threading
import time

import linkwork as lw
import numpy as np
import pytest
from conftest import problem


def starts(model, count, size=0.1, seed=0):
    random = np.random.default_rng(seed)
    q = np.array([model.integrate(model.q0, size * random.standard_normal(model.nv)) for _ in range(count)])
    return q, 0.1 * random.standard_normal((count, model.nv))


def test_every_run_is_that_of_a_simulation(double_pendulum):
    q, v = starts(double_pendulum, 12)
    runs = lw.rollout(double_pendulum, q, v, dt=0.1, steps=3, threads=2)
    assert runs.q.shape == (12, 3, 2) and runs.v.shape == (12, 3, 2) and runs.ok.all() and not runs.error
    assert runs.t.tolist() == [0.1, 0.2, 0.1 * 3]
    for r in range(12):
        with lw.Simulation(double_pendulum, q=q[r], v=v[r]) as simulation:
            for k, t in enumerate(runs.t):
                simulation.advance(t)
                now = simulation.state()
                assert now[0].tobytes() == runs.q[r, k].tobytes() and now[1].tobytes() == runs.v[r, k].tobytes()


def test_inputs_are_held():
    model = problem("cart_pole")
    name = model.input_names[0]
    pushes = np.random.default_rng(1).standard_normal((5, 4))
    runs = lw.rollout(model, model.q0, model.v0, {name: pushes}, dt=0.05, outputs=True)
    assert runs.q.shape == (5, 4, model.nq) and runs.outputs.shape == (5, 4, len(model.output_names))
    for r in range(5):
        inputs = {name: pushes[r, 0]}
        with lw.Simulation(model, inputs=inputs) as simulation:
            for k, t in enumerate(runs.t):
                simulation.inputs[name] = pushes[r, k]
                simulation.step_to(t)
                assert simulation.q.tobytes() == runs.q[r, k].tobytes()
                assert list(simulation.outputs.values()) == runs.outputs[r, k].tolist()


def test_a_fixed_step_is_not_taken_twice_for_rounding():
    model = problem("cart_pole")
    runs = lw.Rollout(model, integrator="rk4", step=0.01)
    pushes = np.random.default_rng(1).standard_normal((200, 1))
    with lw.Simulation(model, integrator="rk4", step=0.01, inputs=pushes[0]) as simulation:
        for k in range(200):
            simulation.inputs = pushes[k]
            simulation.step_to(0.01 * (k + 1))
        assert simulation.summary()["steps"] == 200
        assert simulation.q.tobytes() == runs(inputs=pushes, dt=0.01).q[0, -1].tobytes()


def test_forces_and_vectors():
    model = problem("double_pendulum")
    q, v = starts(model, 41)
    tau = np.random.default_rng(2).standard_normal((41, 5, model.nv))
    options = {"method": "tree", "integrator": "rk4", "step": 1e-3}
    one = lw.rollout(model, q, v, tau=tau, dt=0.01, **options)
    side = lw.rollout(model, q, v, tau=tau, dt=0.01, vectors=True, threads=2, **options)
    assert np.abs(one.q - side.q).max() < 1e-13
    alone = lw.rollout(model, q[7], v[7], tau=tau[7:8], dt=0.01, vectors=True, **options)
    assert alone.q[0].tobytes() == side.q[7].tobytes()
    assert not np.array_equal(one.q, lw.rollout(model, q, v, dt=0.01, steps=5, **options).q)
    assert lw.Rollout(model, vectors=True, **options).lanes > 1


def test_memory_is_used_again(four_bar):
    made = lw.Rollout(four_bar, step=1e-3)
    first = made(dt=0.01, steps=4)
    expected = first.q.copy()
    first.q[:] = 0
    again = made(dt=0.01, steps=4, out=first)
    assert again.q is first.q and again.q.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"out.q has the shape \(1, 4, 3\), expected \(1, 5, 3\)"):
        made(dt=0.01, steps=5, out=first)


def test_a_run_that_fails_leaves_the_others(four_bar):
    far = lw.loads("""
linkwork: 1
name: p
gravity: [0, 0, -9.81]
bodies: {rod: {mass: 1, com: [0, 0, -1], inertia: [0.1, 0.1, 0.01]}}
joints: {pin: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0], q: 0.1}}
events: {far: {when: pin.q - 0.5, direction: up, do: stop}}
""")
    runs = lw.rollout(far, [[0.1], [0.4], [0.2]], [[0], [2], [0]], times=[0.05, 1.0])
    assert runs.status == ["ok", "event", "ok"] and runs.ok.all()
    assert np.isnan(runs.q[1, 1]).all() and np.isfinite(runs.q[[0, 2]]).all()
    wide = four_bar.q0 + np.array([[0, 0, 0], [0, 2.5, 0]])
    made = lw.rollout(four_bar, wide, dt=0.01, steps=2)
    assert len(made) == 2 and made.ok[0] and (made.ok[1] or np.isnan(made.q[1]).all())
    assert repr(made).startswith("<linkwork.Runs of 'four-bar linkage': 2 runs, 2 instants")


@pytest.mark.parametrize("arguments, kind, message", [
    (({"q0": np.zeros((4, 3))}), ValueError, r"q0 has the shape \(4, 3\), expected \(4, 2\), or one for all"),
    (({"q0": np.zeros((4, 2)), "v0": np.zeros((3, 2))}), ValueError, "v0 has 3 runs, what comes before it 4"),
    (({"q0": [[np.nan, 0]]}), ValueError, r"q\[0\]\[0\] is nan"),
    (({"q0": [["a", "b"]]}), TypeError, "q0 has numbers of type <U1"),
    (({"q0": np.zeros((1, 2), complex)}), TypeError, "q0 has numbers of type complex128"),
    (({"tau": np.zeros((1, 2, 2))}), ValueError, "made for runs without joint forces"),
    (({"times": [0.1, 0.1], "dt": None, "steps": None}), ValueError, "times"),
    (({"times": [[0.1]], "dt": None, "steps": None}), ValueError, "times has the shape"),
    (({"times": [0.1]}), TypeError, "give times, or dt and steps"),
    (({"dt": None, "steps": 3}), TypeError, "the instants are missing"),
    (({"steps": None}), TypeError, "the number of instants is missing"),
    (({"dt": np.inf}), ValueError, "times"),
    (({"steps": -1}), ValueError, "steps is -1"),
    (({"inputs": {"push": [1.0]}}), KeyError, "has no input 'push'"),
])
def test_wrong_calls(double_pendulum, arguments, kind, message):
    made = lw.Rollout(double_pendulum)
    with pytest.raises(kind, match=message):
        made(**{"dt": 0.1, "steps": 2, **arguments})


def test_what_cannot_be_had(four_bar, double_pendulum):
    with pytest.raises(lw.UnsupportedError, match="closed loops"):
        lw.Rollout(four_bar, vectors=True, step=1e-3)
    with pytest.raises(lw.UnsupportedError, match="rk4"):
        lw.Rollout(double_pendulum, vectors=True)
    with pytest.raises(TypeError, match=r"expected a linkwork\.Model"):
        lw.Rollout(None)
    with pytest.raises(TypeError, match="cannot be pickled"):
        lw.Rollout(four_bar).__reduce__()


def test_nothing_to_do(double_pendulum):
    made = lw.Rollout(double_pendulum)
    assert made(np.empty((0, 2)), dt=0.1, steps=3).q.shape == (0, 3, 2)
    assert made(dt=0.1, steps=0).q.shape == (1, 0, 2)


def test_two_threads_on_one_rollout(double_pendulum):
    made = lw.Rollout(double_pendulum, threads=1)
    q, v = starts(double_pendulum, 2000)
    found = []

    def work():
        try:
            made(q, v, dt=0.5, steps=4)
        except RuntimeError as fault:
            found.append(str(fault))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 2 and "another thread" in found[0]


def test_control_c_stops_it(double_pendulum):
    made = lw.Rollout(double_pendulum)
    q, v = starts(double_pendulum, 5000)
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        made(q, v, dt=50.0, steps=4)
    assert time.monotonic() - begin < 20
    assert made(q[:3], v[:3], dt=0.1, steps=1).ok.all()
