"""What must never crash: closed, shared, foreign and half-made objects, processes that fork, the interpreter's end.

Cases that could take the interpreter with them run in a process of their own.
"""

import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import linkwork as lw
import numpy as np
import pytest
from conftest import ROOT, problem

FOUR_BAR = str(ROOT / "problems/four_bar/model.yaml")
PENDULUM = str(ROOT / "problems/double_pendulum/model.yaml")


def alone(program: str, status: int = 0) -> str:
    """What the program prints, in an interpreter of its own."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def objects(model):
    """One of every kind of object that has a state of its own."""
    return [lw.Solver(model), lw.Batch(model, threads=2), lw.Rollout(model, threads=2), lw.Derivatives(model),
            lw.Simulation(model)]


NONSENSE = [None, "text", b"bytes", 3, -1, 2**70, 1.5, float("nan"), float("inf"), 1j, [], [[]], [1, "a"], {}, object(), np.nan,
            np.zeros(0), np.zeros(3), np.zeros((3, 3)), np.zeros((2, 3), order="F"), np.full(3, np.nan), np.full(3, np.inf),
            np.zeros(3, np.float32), np.zeros(3, complex), np.zeros(3, "U4"), np.zeros(3, object), np.zeros(6)[::2],
            np.zeros(3, ">f8"), np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), memoryview(b"123"), lambda: None, lw, True, slice(3)]


@pytest.mark.parametrize("name", ["four_bar", "double_pendulum", "cart_pole"])
def test_every_call_with_every_nonsense(name):
    """Each public method of each object, with each of these for one argument and right ones for the others."""
    model = problem(name)
    right = {"t": 0.0, "q": model.q0, "v": model.v0, "vdot": model.v0, "tau": model.v0, "body": model.body_names[1],
             "joint": model.joint_names[0], "basis": None, "values": [0.0] * len(model.input_names), "name": "m"}
    known = (ValueError, TypeError, KeyError, IndexError, OverflowError, RuntimeError, AttributeError, BufferError, lw.LinkworkError)
    made = 0
    for thing in [model, *objects(model)]:
        for method in dir(thing):
            if method.startswith("__") or method in ("save", "_write", "to_bytes", "run"):
                continue
            call = getattr(thing, method)
            if not callable(call):
                continue
            for nonsense in NONSENSE:
                for arguments, keywords in (((nonsense,), {}), ((0.0, nonsense), {}), ((0.0, model.q0, nonsense), {}),
                                            ((0.0, model.q0, model.v0, nonsense), {}), ((model.q0, nonsense), {}),
                                            ((0.0, model.q0, model.v0), {"out": nonsense}), ((), {"out": nonsense}),
                                            ((right["body"], nonsense), {}), ((nonsense, model.q0, model.v0), {}),
                                            ((0, 0.0, model.q0, nonsense), {}), ((), {"dt": 0.1, "steps": 2, "q0": nonsense}),
                                            ((0.0, model.q0), {"basis": nonsense})):
                    made += 1
                    try:
                        call(*arguments, **keywords)
                    except known:
                        pass
    assert made > 10000


@pytest.mark.parametrize("nonsense", NONSENSE, ids=str)
def test_makings_with_nonsense(four_bar, nonsense):
    known = (ValueError, TypeError, KeyError, OverflowError, OSError, lw.LinkworkError)
    for make in (lw.load, lw.loads, lw.from_bytes, lw.Solver, lw.Batch, lw.Rollout, lw.Derivatives, lw.Simulation, lw.linearise,
                 lw.equilibrium, lw.modes, lw.compare,
                 *(lambda x, key=key: lw.Simulation(four_bar, **{key: x}) for key in ("q", "v", "step", "method", "inputs", "start")),
                 *(lambda x, key=key: lw.Solver(four_bar, **{key: x}) for key in ("method", "driven", "inputs", "penalty")),
                 *(lambda x, key=key: lw.Rollout(four_bar, **{key: x}) for key in ("threads", "step", "method", "inputs")),
                 *(lambda x, key=key: lw.linearise(four_bar, **{key: x}) for key in ("t", "q", "v", "coordinates")),
                 lambda x: lw.load(FOUR_BAR, a=x), lambda x: four_bar.with_parameters(a=x),
                 lambda x: four_bar.run(end=0.01, record=x), lambda x: lw.Spec("a").body("b", mass=x).compile()):
        try:
            make(nonsense)
        except known:
            pass


def test_times_are_finite(four_bar):
    solver = lw.Solver(four_bar)
    for t in (np.nan, np.inf):
        with pytest.raises(ValueError, match="t is (nan|infinite)"):
            solver.accelerations(t, four_bar.q0, four_bar.v0)


def test_use_after_close(four_bar):
    simulation = lw.Simulation(four_bar)
    simulation.close()
    simulation.close()
    assert simulation.closed and "closed" in repr(simulation)
    for use in (lambda: simulation.advance(1.0), simulation.step, simulation.state, simulation.save, simulation.reset,
                simulation.accelerations, simulation.ledger, simulation.summary, simulation.event, lambda: simulation.time,
                lambda: simulation.q, lambda: simulation.outputs, lambda: simulation.states, lambda: simulation.method,
                lambda: simulation.set_state(four_bar.q0, four_bar.v0, t=0.0), lambda: simulation.restore(b""),
                lambda: next(iter(simulation)), lambda: simulation.step_to(1.0)):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_a_force_that_meddles(double_pendulum):
    """A call-back may not close, advance or change the simulation that is asking it, whatever call it comes from."""
    said = []
    box = []

    def meddle(t, q, v):
        for act in (lambda s: s.close(), lambda s: s.advance(9.0), lambda s: s.set_state(q, v), lambda s: s.reset(),
                    lambda s: s.state(), lambda s: s.restore(b"")):
            if box:
                with pytest.raises(RuntimeError, match="at work"):
                    act(box[0])
                said.append(act)
        return np.zeros(2)

    simulation = lw.Simulation(double_pendulum, force=meddle, integrator="rk4", step=0.01)
    snapshot = simulation.save()
    box.append(simulation)
    for call in (lambda: simulation.advance(0.05), simulation.step, simulation.accelerations, simulation.reset,
                 lambda: simulation.set_state([0.1, 0.2], [0.0, 0.0]), lambda: simulation.restore(snapshot)):
        call()
    assert len(said) > 20


def test_an_error_of_a_force_is_never_lost(double_pendulum):
    broken = []

    def force(t, q, v):
        if broken:
            raise ZeroDivisionError("no force")
        return np.zeros(2)

    simulation = lw.Simulation(double_pendulum, force=force)
    broken.append(True)
    with pytest.raises(ZeroDivisionError, match="no force"):
        simulation.accelerations()
    with pytest.raises(ZeroDivisionError):
        simulation.advance(1.0)


def test_snapshots_of_others(four_bar, double_pendulum):
    one, other = lw.Simulation(four_bar), lw.Simulation(double_pendulum)
    snapshot = one.save()
    for wrong in (other.save(), snapshot[:-1], b"", bytes(len(snapshot)), os.urandom(len(snapshot)), "text"):
        with pytest.raises((ValueError, TypeError)):
            one.restore(wrong)
    one.restore(snapshot)


def test_objects_outlive_their_model():
    kept = [lw.Solver(lw.load(FOUR_BAR)), lw.Simulation(lw.load(FOUR_BAR)), lw.Rollout(lw.load(FOUR_BAR)),
            lw.load(FOUR_BAR).run(end=0.1), lw.Derivatives(lw.load(FOUR_BAR)), lw.Batch(lw.load(FOUR_BAR))]
    gc.collect()
    for one in kept:
        assert one.model.nq == 3
    kept[1].advance(0.1)
    assert kept[3]["com(coupler).x"].shape == (len(kept[3]),)
    out = kept[2](dt=0.1, steps=2)
    del kept
    gc.collect()
    assert np.isfinite(out.q).all()


def test_what_cannot_be_copied_says_so(four_bar):
    for thing in objects(four_bar):
        for act in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="pickle"):
                act(thing)
    assert copy.deepcopy(four_bar).to_bytes() == four_bar.to_bytes()


def test_many_threads_on_one_model(four_bar):
    expected = lw.Solver(four_bar).accelerations(0.0, four_bar.q0, four_bar.v0).tobytes()
    wrong = []

    def work():
        for _ in range(5):
            solver = lw.Solver(four_bar)
            if solver.accelerations(0.0, four_bar.q0, four_bar.v0).tobytes() != expected:
                wrong.append(1)
            four_bar.energy(four_bar.q0, four_bar.v0)
            four_bar.run(end=0.05)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_processes():
    out = alone(f"""
        import os, gc, linkwork as lw, numpy as np
        model = lw.load({PENDULUM!r})
        rollout, batch, simulation = lw.Rollout(model, threads=3), lw.Batch(model, threads=3), lw.Simulation(model)
        q, v = np.zeros((500, 2)) + 0.1, np.zeros((500, 2))
        expected = rollout(q, v, dt=0.1, steps=2).q, batch.accelerations(0.0, q, v)
        child = os.fork()
        if child == 0:
            same = (rollout(q, v, dt=0.1, steps=2).q.tobytes() == expected[0].tobytes()
                    and batch.accelerations(0.0, q, v).tobytes() == expected[1].tobytes())
            simulation.advance(1.0)
            del rollout, batch, simulation
            gc.collect()
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert rollout(q, v, dt=0.1, steps=2).q.tobytes() == expected[0].tobytes()
        print("both")
    """)
    assert out == "both\n"


def test_worker_processes():
    alone(f"""
        import multiprocessing, linkwork as lw
        def energy(model):
            return model.run(end=0.1).summary["energy_final"]
        if __name__ == "__main__":
            model = lw.load({PENDULUM!r})
            with multiprocessing.get_context("fork").Pool(2) as pool:
                found = pool.map(energy, [model] * 4)
            assert len(set(found)) == 1, found
    """)


def test_the_end_of_the_interpreter():
    """Threads at work, objects in cycles and in modules that outlive everything, exceptions with frames."""
    alone(f"""
        import sys, threading, time, linkwork as lw
        model = lw.load({PENDULUM!r})
        class Cycle: pass
        cycle = Cycle()
        cycle.me, cycle.solver, cycle.simulation = cycle, lw.Solver(model), lw.Simulation(model)
        sys.kept = [lw.Rollout(model, threads=2), lw.Batch(model), model.run(end=0.1), lw.Derivatives(model)]
        def late(t, q, v):
            return [0.0, 0.0]
        for work in (lambda: model.run(end=1e6), lambda: model.run(end=1e6, force=late),
                     lambda: lw.Rollout(model)([[0.1, 0.2]] * 100, dt=1e4, steps=3)):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.3)
    """)
    alone(f"""
        import atexit, linkwork as lw
        model = lw.load({PENDULUM!r})
        atexit.register(lambda: model.run(end=0.1))
        class Last:
            def __del__(self):
                model.energy(model.q0, model.v0)
        last = Last()
    """)


def test_control_c_in_a_comparison(four_bar):
    def stop(method, work):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lw.compare(four_bar, tell=stop)
