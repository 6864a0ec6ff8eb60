"""Runs, results and simulations; the program is the measure."""

import csv
import os
import signal
import subprocess
import sys
import threading
import time

import linkwork as lw
import numpy as np
import pytest
from conftest import ROOT, problem


def by_program(program, name, tmp_path, *options):
    out = tmp_path / "program.csv"
    subprocess.run([program, "run", ROOT / "problems" / name / "model.yaml", "--out", out, *options], check=True,
                   capture_output=True)
    with open(out, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(line for line in file if not line.startswith("#")) if row]
    names = [name.split(" [")[0] for name in rows[0]]
    return names, np.array([[float(x) if x else np.nan for x in row] for row in rows[1:]])


@pytest.mark.parametrize("name", ["four_bar", "double_pendulum", "bouncing_ball", "cart_pole", "series_damper", "stewart_platform"])
def test_results_are_those_of_the_program_to_the_bit(program, tmp_path, name):
    names, table = by_program(program, name, tmp_path)
    result = problem(name).run()
    assert result.columns == names
    assert result.array().tobytes() == table.tobytes()
    result.save(tmp_path / "again.csv")
    saved, first = ([line for line in (tmp_path / file).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
                    for file in ("again.csv", "program.csv"))
    assert saved == first


def test_options_are_those_of_the_program(program, tmp_path):
    names, table = by_program(program, "four_bar", tmp_path, "--step", "1e-3", "--end", "0.5", "--method", "lagrange",
                              "--record", "joint(*), reaction(*)")
    result = problem("four_bar").run(step=1e-3, end=0.5, method="lagrange", record=["joint(*)", "reaction(*)"])
    assert result.summary["integrator"] == "rk4" and result.summary["method"] == "lagrange"
    assert result.columns == names
    assert result.array().tobytes() == table.tobytes()


def test_columns_on_demand(four_bar):
    result = four_bar.run(end=0.2)
    body = list(four_bar.bodies)[1]
    assert result[f"com({body}).x"].shape == result.t.shape
    assert result[f"point({body}, 0, 0, 0).z"].shape == result.t.shape
    with pytest.raises(KeyError, match="record"):
        result["reaction(A).force"]
    with pytest.raises(KeyError, match="did you mean"):
        result["A.qq"]
    assert four_bar.run(end=0.01, record="reaction(A).force")["reaction(A).force"].min() > 0


def test_page_and_notebook(tmp_path, four_bar):
    result = four_bar.run(end=0.1)
    result.view(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8").lstrip().startswith("<!")
    assert result._repr_html_().startswith("<iframe srcdoc=")
    assert "ok" in repr(result)


def test_simulation_is_the_run(four_bar):
    result = four_bar.run(end=0.3, output=0.1)
    with lw.Simulation(four_bar, end=0.3) as simulation:
        # The last step of a run ends at its end; a simulation has no end, and goes on beyond by dense output.
        for row, t in enumerate(result.t[:-1]):
            if t > 0:
                assert simulation.advance(t) is False
            q, v = simulation.state()
            assert q[four_bar.joint("A").q].tobytes() == result["A.q"][row:row + 1].tobytes()
    assert simulation.closed
    with pytest.raises(ValueError, match="closed"):
        simulation.advance(1)
    simulation.close()


@pytest.mark.parametrize("integrator", ["rk4", "erk", "bdf"])
def test_snapshots_restore_bits(four_bar, integrator):
    simulation = lw.Simulation(four_bar, integrator=integrator, **({"step": 1e-3} if integrator == "rk4" else {}))
    simulation.advance(0.1)
    snapshot = simulation.save()
    simulation.advance(0.2)
    first = np.concatenate(simulation.state())
    simulation.restore(snapshot)
    assert simulation.time == 0.1
    simulation.advance(0.2)
    assert np.concatenate(simulation.state()).tobytes() == first.tobytes()
    with pytest.raises(ValueError):
        simulation.restore(snapshot[:-8])
    simulation.reset()
    assert simulation.time == 0


def test_inputs_states_outputs():
    model = lw.loads("""
linkwork: 1
inputs: {push: 0 N}
states: {sum: {rate: slide.q, start: 2}}
bodies: {block: {mass: 2, inertia: [1, 1, 1]}}
joints: {slide: {type: prismatic, between: [ground, block], point: [0, 0, 0], axis: [1, 0, 0]}}
forces: {motor: {type: drive, joint: slide, force: push}}
outputs: {place: {value: slide.q, unit: mm}}
gravity: [0, 0, 0]
run: {end: 1}
""")
    simulation = lw.Simulation(model)
    simulation.inputs["push"] = 4.0
    simulation.advance(1.0)
    # x = (F/m) t^2 / 2 = 1, its integral 1/3: a polynomial, which the integrator follows to its tolerance.
    assert simulation.outputs["place"] == pytest.approx(1.0, abs=1e-8)
    assert simulation.states["sum"] == pytest.approx(2 + 1 / 3, abs=1e-8)
    assert dict(simulation.inputs) == {"push": 4.0}
    simulation.inputs = {"push": 0.0}
    simulation.states = {"sum": 0.0}
    simulation.advance(2.0)
    assert simulation.v[0] == pytest.approx(2.0, abs=1e-8)
    with pytest.raises(KeyError, match="did you mean 'push'"):
        simulation.inputs["pusch"] = 1
    assert model.output_units == {"place": "mm"}
    result = model.run(inputs={"push": 4.0})
    assert result["place"][-1] == pytest.approx(1000.0, rel=1e-8)


def test_force_of_python(double_pendulum):
    """A damper as a Python function: its work is booked, and a simulation has it as well as a run."""
    calls = []

    def damper(t, q, v):
        calls.append(t)
        return -0.3 * v

    result = double_pendulum.run(end=1.0, force=damper)
    assert result.ok and len(calls) > 50
    assert result.summary["ledger"]["forces"] < 0  # booked as work of forces
    with lw.Simulation(double_pendulum, force=damper) as simulation:
        simulation.advance(1.0)
        assert simulation.q == pytest.approx(result.q_final, abs=1e-9)


def test_errors_of_a_force_come_through(double_pendulum):
    def bad(t, q, v):
        raise ZeroDivisionError("in the law")

    with pytest.raises(ZeroDivisionError, match="in the law"):
        double_pendulum.run(end=1.0, force=bad)
    with pytest.raises(ValueError, match="what force returns"):
        double_pendulum.run(end=1.0, force=lambda t, q, v: [1.0])
    with pytest.raises(TypeError, match="function"):
        double_pendulum.run(force=3)


def test_events_stop_a_run():
    model = problem("bouncing_ball")
    result = model.run()
    assert all(event.kind for event in result.events)
    assert any(event.kind == "event" for event in result.events)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals reach the main thread")
def test_interrupt_stops_a_run():
    code = ("import linkwork as lw, sys\n"
            f"m = lw.load({str(ROOT / 'problems/double_pendulum/model.yaml')!r})\n"
            "print('go', flush=True)\n"
            "try:\n    m.run(end=1e6, max_steps=10**9, output=1e3)\nexcept KeyboardInterrupt:\n    sys.exit(77)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=os.environ) as child:
        assert child.stdout is not None and child.stdout.readline().strip() == b"go"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.wait(20) == 77


@pytest.mark.parametrize("wrong, kind, says", [
    (dict(method="rcrr"), ValueError, "rcr"),
    (dict(integrator="euler"), ValueError, "euler"),
    (dict(step=1e-3, tolerance=1e-6), ValueError, "exclude"),
    (dict(end=-1.0), ValueError, "end"),
    (dict(q=np.zeros(7)), ValueError, "shape"),
    (dict(record="reaction(Q)"), ValueError, "Q"),
    (dict(inputs={"nothing": 1.0}), KeyError, "nothing"),
])
def test_wrong_options(four_bar, wrong, kind, says):
    with pytest.raises(kind, match=says):
        four_bar.run(**wrong)


@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory in quarantine")
def test_nothing_is_left_behind():
    """Thousands of objects: the memory of the process stays where it is."""
    def resident() -> int:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    model = problem("four_bar")

    def use() -> None:
        for _ in range(200):
            solver = lw.Solver(model, "rcr")
            solver.accelerations(0, model.q0, model.v0)
            solver.reactions()
            lw.Simulation(model, method="rcr").advance(0.01)
        for _ in range(20):
            model.run(end=0.05)["A.q"]
            with pytest.raises(lw.ModelError):
                lw.loads("linkwork: 1\nbodies: {a: {mass: -1}}")

    use()
    before = resident()
    for _ in range(5):
        use()
    assert resident() - before < 4 << 20
