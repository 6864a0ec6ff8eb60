"""Linear systems, rest and modes by closed forms; files of other formats."""

import linkwork as lw
import numpy as np
import pytest
from conftest import ROOT

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
    modes = lw.modes(model, q=rest.q)
    assert modes.frequencies == pytest.approx([10 / (2 * np.pi)], rel=1e-12)
    assert modes.modes[0].damping_ratio == pytest.approx(0.1, rel=1e-12)


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
    assert ROOT.exists()
