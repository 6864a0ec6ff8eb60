#!/usr/bin/env python3
"""Judges imports of URDF: Pinocchio and MuJoCo compute the same mechanisms at the same states.

Call: judge_urdf.py PROBE FILE...
For every file the mass matrix of the tree, and the accelerations with all loops, couplings and friction, are compared. Pinocchio
gives mass matrix, bias and Jacobians; loops and couplings are added here as rows J a = -gamma, of which the singular value
decomposition takes the independent ones, and the multiplier equations of a, scaled to a unit diagonal, are solved with refinement.
MuJoCo is a second opinion about the mass matrix of trees whose moving
bodies all have mass. Accelerations are compared in the metric of
the mass matrix: in single coordinates of parts of 1e-12 kg m^2 (the balls of robot_delta) a difference of one unit in the last place
of the axes shows as 1e-8, which is "largest part". Prints a table; exit status 1 if a difference is greater than 1e-9.
"""
import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pinocchio as pin

LIMIT = 1e-9
SMOOTHING = 1e-3


def sidecar(path):
    for name in (os.path.splitext(path)[0] + ".yaml", os.path.join(os.path.dirname(path), "robot.yaml")):
        if os.path.exists(name):
            import yaml
            with open(name, encoding="utf-8") as file:
                data = yaml.safe_load(file)
            if isinstance(data, dict) and "closed_loop" in data:
                return data
    return {}


def bare(path):
    """The URDF without shapes, whose meshes may be missing."""
    root = ET.parse(path).getroot()
    for link in root.findall("link"):
        for part in link.findall("visual") + link.findall("collision"):
            link.remove(part)
    return root


class Rows:
    """Loops as pairs of frames with 3 or 6 rows, and couplings of joints."""

    def __init__(self, model, root, data):
        self.model, self.pairs, self.couplings, self.friction = model, [], [], {}
        kinds = data.get("type") or []
        for k, (a, b) in enumerate(data.get("closed_loop") or []):
            kind = (kinds[k] if k < len(kinds) else "6d").lower()
            self.pairs.append((self.frame(a), self.frame(b), 6 if kind == "6d" else 3))
        for joint in root.findall("joint"):
            mimic, dynamics = joint.find("mimic"), joint.find("dynamics")
            if mimic is not None:
                self.couplings.append((joint.get("name"), mimic.get("joint"), float(mimic.get("multiplier", 1))))
            if dynamics is not None and joint.get("type") not in ("fixed", "floating"):
                self.friction[joint.get("name")] = (float(dynamics.get("damping", 0)), float(dynamics.get("friction", 0)))

    def frame(self, name):
        body = self.model.getFrameId(name, pin.FrameType.BODY)
        return body if body < self.model.nframes else self.model.getFrameId(name)

    def of(self, data, q, v):
        model, rows, gammas = self.model, [], []
        pin.forwardKinematics(model, data, q, v, 0 * v)
        pin.updateFramePlacements(model, data)
        pin.computeJointJacobians(model, data, q)
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for a, b, count in self.pairs:
            J = pin.getFrameJacobian(model, data, a, world) - pin.getFrameJacobian(model, data, b, world)
            g = (pin.getFrameClassicalAcceleration(model, data, a, world).vector
                 - pin.getFrameClassicalAcceleration(model, data, b, world).vector)
            rows.append(J[:count])
            gammas.append(g[:count])
        for one, other, factor in self.couplings:
            row = np.zeros(model.nv)
            row[model.joints[model.getJointId(one)].idx_v] = 1
            row[model.joints[model.getJointId(other)].idx_v] = -factor
            rows.append(row[None, :])
            gammas.append(np.zeros(1))
        if not rows:
            return np.zeros((0, model.nv)), np.zeros(0)
        return np.vstack(rows), np.concatenate(gammas)

    def forces(self, v):
        tau = np.zeros(self.model.nv)
        for name, (viscous, coulomb) in self.friction.items():
            k = self.model.joints[self.model.getJointId(name)].idx_v
            tau[k] = -viscous * v[k] - coulomb * np.tanh(v[k] / SMOOTHING)
        return tau


def accelerations(M, force, J, gamma):
    if not len(J):
        return np.linalg.solve(M, force)
    U, S, V = np.linalg.svd(J)
    rank = int((S > 1e-9 * S[0]).sum())
    rows, want = V[:rank], (U[:, :rank].T @ -gamma) / S[:rank]
    scale = 1 / np.sqrt(np.diag(M).clip(1e-12 * np.diag(M).max()))
    rows = rows * scale
    size = np.sqrt((rows * rows).sum(axis=1))
    rows, want = rows / size[:, None], want / size
    whole = np.block([[M * np.outer(scale, scale), rows.T], [rows, np.zeros((rank, rank))]])
    right = np.concatenate([force * scale, want])
    x = np.linalg.solve(whole, right)
    for _ in range(3):
        rest = (right.astype(np.longdouble) - whole.astype(np.longdouble) @ x.astype(np.longdouble)).astype(float)
        x = x + np.linalg.solve(whole, rest)
    return scale * x[:len(M)]


def states(probe, path, size):
    return json.loads(subprocess.run([probe, path, "7", "5", str(size)], check=True, capture_output=True, text=True).stdout)


def judge(probe, path):
    root = bare(path)
    text = ET.tostring(root, encoding="unicode")
    model = pin.buildModelFromXML(text)
    data = model.createData()
    rows = Rows(model, root, sidecar(path))
    out = states(probe, path, 0.2 if rows.pairs else 0.7)
    places = []
    for joint in out["joints"]:
        if joint["cut"] or joint["nv"] == 0:
            continue
        if joint["nv"] != 1:
            raise ValueError("joint %s has several coordinates" % joint["name"])
        own = model.joints[model.getJointId(joint["name"])]
        places.append((joint["q"], joint["v"], own.idx_q, own.idx_v, own.nq))
    assert len(places) == model.nv, "the trees are not the same"
    take = [p[1] for p in places]
    worst_mass = worst_accel = worst_part = 0.0
    for state in out["states"]:
        q, v = pin.neutral(model), np.zeros(model.nv)
        for there, speed, at, at_v, nq in places:
            angle = state["q"][there]
            q[at:at + nq] = [angle] if nq == 1 else [np.cos(angle), np.sin(angle)]
            v[at_v] = state["v"][speed]
        order = [p[3] for p in places]
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        own = np.array(state["mass"]).reshape(out["nv"], out["nv"])[np.ix_(take, take)]
        theirs = M[np.ix_(order, order)]
        worst_mass = max(worst_mass, np.abs(own - theirs).max() / np.abs(theirs).max())
        bias = pin.nonLinearEffects(model, data, q, v)
        J, gamma = rows.of(data, q, v)
        a = accelerations(M, rows.forces(v) - bias, J, gamma)
        if state["status"] == 0:
            off = np.array(state["a"])[take] - a[order]
            worst_accel = max(worst_accel, np.sqrt(off @ theirs @ off / (a @ M @ a)))
            worst_part = max(worst_part, np.abs(off).max() / np.abs(a).max())
    answered = sum(state["status"] == 0 for state in out["states"])
    return out, worst_mass, worst_accel, worst_part, answered, mujoco_mass(text, out)


def mujoco_mass(text, out):
    """The greatest difference of mass matrices to MuJoCo's; None where it refuses the file."""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return None
    data, worst = mujoco.MjData(model), 0.0
    places = []
    for joint in out["joints"]:
        if joint["cut"] or joint["nv"] == 0:
            continue
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint["name"])
        if k < 0:
            return None
        places.append((joint["q"], joint["v"], model.jnt_qposadr[k], model.jnt_dofadr[k]))
    if len(places) != model.nv:
        return None
    M = np.zeros((model.nv, model.nv))
    for state in out["states"]:
        for there, _, at, _ in places:
            data.qpos[at] = state["q"][there]
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        own = np.array(state["mass"]).reshape(out["nv"], out["nv"])
        own, theirs = own[np.ix_([p[1] for p in places], [p[1] for p in places])], M[np.ix_([p[3] for p in places], [p[3] for p in places])]
        worst = max(worst, np.abs(own - theirs).max() / np.abs(theirs).max())
    return worst


def main():
    probe, bad = sys.argv[1], 0
    print("%-34s %6s %5s %8s %9s %9s %9s %9s  %s" % (
        "file", "bodies", "loops", "mobility", "mass", "accel.", "largest", "mass", "states"))
    print("%-34s %6s %5s %8s %9s %9s %9s %9s" % ("", "", "", "", "Pinocchio", "Pinocchio", "part", "MuJoCo"))
    for path in sys.argv[2:]:
        out, mass, accel, part, answered, second = judge(probe, path)
        loops = sum(joint["cut"] for joint in out["joints"])
        shown = os.path.join(os.path.basename(os.path.dirname(path)), os.path.basename(path))
        print("%-34s %6d %5d %8d %9.1e %9.1e %9.1e %9s  %d, answered %d" % (
            shown, out["bodies"], loops, out["mobility"], mass, accel, part,
            "-" if second is None else "%.1e" % second, len(out["states"]), answered))
        # A state that no method answers is no agreement, and neither is a file without states.
        bad += not (mass < LIMIT and accel < LIMIT and (second is None or second < LIMIT) and out["states"]
                    and answered == len(out["states"]))
    sys.exit(1 if bad else 0)


main()
