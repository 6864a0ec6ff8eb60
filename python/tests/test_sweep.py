"""Sweeps and searches from Python: rows are runs, files are those of the program, wrong calls are refused."""

import linkwork as lw
import numpy as np
import pytest

PENDULUM = """
linkwork: 1
parameters: {L: 1, m: 1}
bodies:
  bob: {kind: point, mass: m, com: [L, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0]}
run: {end: 0.2}
"""


@pytest.fixture
def pendulum():
    return lw.loads(PENDULUM)


def test_rows_are_runs(pendulum):
    table = lw.sweep(pendulum, {"L": [0.5, 1.0, 1.5], "m": "~ uniform(1, 2)"}, ["final(pin.q)", "top = max(kinetic)"],
                     runs=4, seed=3, jobs=2)
    assert len(table) == 12 and table.ok.all() and not table.reasons and table.ended is None
    assert table.names == ["L", "m", "final(pin.q)", "top"] and table.units == ["", "", "rad", "J"] and table.variables == 2
    assert table["L"].tolist() == [0.5] * 4 + [1.0] * 4 + [1.5] * 4
    for k in (0, 5, 11):
        model = lw.loads(PENDULUM, L=table["L"][k], m=table["m"][k])
        assert model.run(record="pin.q")["pin.q"][-1] == table["final(pin.q)"][k]
    again = lw.sweep(pendulum, ["L = 0.5, 1, 1.5", "m ~ uniform(1, 2)"], ["final(pin.q)", "top = max(kinetic)"], runs=4,
                     seed=3, jobs=1)
    assert again.values.tobytes() == table.values.tobytes()
    assert "12 ok" in repr(table)


def test_texts_failures_and_files(pendulum, tmp_path):
    table = lw.sweep(pendulum, {"method": ["tree", "lagrange"]}, "final(pin.q)", out=tmp_path / "rows.csv")
    assert table["method"] == ["tree", "lagrange"] and abs(np.diff(table["final(pin.q)"])[0]) < 1e-6
    again = lw.sweep(pendulum, {"method": ["tree", "lagrange"]}, "final(pin.q)", out=tmp_path / "rows.csv", resume=True)
    assert again.values.tobytes() == table.values.tobytes()
    with pytest.raises(lw.FileError, match="there already"):
        lw.sweep(pendulum, {"method": ["tree", "lagrange"]}, "final(pin.q)", out=tmp_path / "rows.csv")
    table = lw.sweep(pendulum, {"m": [1.0, -1.0]}, "final(pin.q)")
    assert table.status == ["ok", "failed"] and "mass" in table.reasons[1] and np.isnan(table["final(pin.q)"][1])
    assert table.ok.tolist() == [True, False]


def test_lanes_are_single_runs(pendulum):
    how = {"L": "~ uniform(0.5, 1.5)", "m": [1.0, -1.0, 2.0]}
    options = {"method": "tree", "integrator": "rk4", "step": 1e-3, "end": 0.5}
    one = lw.sweep(pendulum, how, ["final(pin.q)", "max(kinetic)"], runs=5, **options)
    lanes = lw.sweep(pendulum, how, ["final(pin.q)", "max(kinetic)"], runs=5, lanes=True, **options)
    assert one.status == lanes.status == ["ok"] * 5 + ["failed"] * 5 + ["ok"] * 5
    np.testing.assert_allclose(lanes.values, one.values, rtol=1e-12)
    with pytest.raises(lw.UnsupportedError, match="side by side"):
        lw.sweep(pendulum, how, "final(pin.q)", lanes=True, integrator="erk")


def test_a_budget_leaves_rows_undone(pendulum):
    table = lw.sweep(pendulum, {"L": "0.5..1.5 : 20000"}, "final(pin.q)", end=20, budget=0.3)
    assert table.ended == "budget" and "not done" in table.status and len(table) == 20000


def test_the_best(pendulum):
    best = lw.optimise(pendulum, {"L": "0.5..2"}, maximise="initial(pin.a)", end=0.01, runs=300)
    assert abs(best.best["L"] - 0.5) < 1e-6 and best.run is not None and abs(best.best["initial(pin.a)"] - 9.81 / 0.5) < 1e-4
    held = lw.optimise(pendulum, {"L": "0.5..2"}, maximise="initial(pin.a)", subject="min(com(bob).x) >= 0.8", end=0.01,
                       runs=300)
    assert 0.8 <= held.best["L"] < 0.81
    down = lw.optimise(pendulum, ["L = 0.5..2"], minimise="initial(pin.a)", algorithm="descent", end=0.01)
    assert down.converged and down.best["L"] == 2 and len(down) < 200


def test_wrong_calls(pendulum):
    with pytest.raises(ValueError, match='did you mean "L"'):
        lw.sweep(pendulum, {"LL": [1]}, "final(pin.q)")
    with pytest.raises(ValueError, match='did you mean "kinetic"'):
        lw.sweep(pendulum, {"L": [1]}, "max(kinetc)")
    with pytest.raises(ValueError, match="1e.12 runs"):
        lw.sweep(pendulum, {"L": "1..2 : 1000000", "m": "1..2 : 1000000"}, "final(pin.q)")
    with pytest.raises((KeyError, ValueError, TypeError), match="tolerence"):
        lw.sweep(pendulum, {"L": [1]}, "final(pin.q)", tolerence=1e-3)
    with pytest.raises(ValueError, match="runs is -1"):
        lw.sweep(pendulum, {"L": "~ uniform(1, 2)"}, "final(pin.q)", runs=-1)
    with pytest.raises(ValueError, match="one of"):
        lw.optimise(pendulum, {"L": "1..2"})
    with pytest.raises(TypeError):
        lw.sweep(object(), {"L": [1]}, "final(pin.q)")
