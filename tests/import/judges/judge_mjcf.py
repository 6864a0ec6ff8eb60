#!/usr/bin/env python3
"""Judges imports of MJCF: MuJoCo computes the same mechanisms at the same states.

Call: judge_mjcf.py [--store FILE] PROBE FILE[:KEY]...
With --store, MuJoCo's figures at three states of each file go into FILE, for tests/import/test_mjcf.c.
Every file is compared as it is and without armature: the mass matrix, and the accelerations with springs, dampers, servos at zero
control, dry friction and all equalities. MuJoCo gives mass matrix M, bias, passive and actuator forces and the Jacobian J of the
equalities, with contacts, limits and its own friction switched off; smoothed friction is added here, and equalities, which MuJoCo
holds softly, hold exactly: M a + J' l = f, J a = -J' v, with the derivative of J along the motion by differences of fourth order.
Differences of accelerations are measured in the metric of M. Prints a table; exit status 1 if one is greater than 1e-9.
"""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

import mujoco
import numpy as np

LIMIT = 1e-9
SMOOTHING = 1e-3


def prepared(path, armature):
    """Two texts of the file: for the import, and for MuJoCo, without what needs a mesh."""
    root = ET.parse(path).getroot()
    if not armature:
        for element in root.iter():
            element.attrib.pop("armature", None)
    own = ET.tostring(root)
    classes = {}

    def enter(node, inherited):
        geom = node.find("geom")
        kind = geom.get("type", inherited) if geom is not None else inherited
        classes[node.get("class", "main")] = kind
        for child in node.findall("default"):
            enter(child, kind)

    for node in root.findall("default"):
        enter(node, "sphere")

    def strip(node, childclass):
        childclass = node.get("childclass", childclass)
        for child in list(node):
            if child.tag == "geom":
                kind = child.get("type", classes.get(child.get("class", childclass), "sphere"))
                mesh = child.get("mesh")
                if (kind == "mesh" or mesh) and mesh in missing:
                    node.remove(child)
            else:
                strip(child, childclass)

    missing = set()
    for asset in root.findall("asset"):
        for child in list(asset):
            if child.tag == "mesh" and child.get("file"):
                missing.add(child.get("name") or os.path.splitext(os.path.basename(child.get("file")))[0])
                asset.remove(child)
            elif child.tag in ("texture", "hfield", "skin"):
                asset.remove(child)
            elif child.tag == "material":
                child.attrib.pop("texture", None)
    for body in root.findall("worldbody"):
        strip(body, "main")
    return own, ET.tostring(root)


def layout(model, probe):
    """Where each joint of MuJoCo stands in q and v of the probe."""
    joints = {j["name"]: j for j in probe["joints"] if not j["cut"]}
    places = []
    for body in range(1, model.nbody):
        first, count = model.body_jntadr[body], model.body_jntnum[body]
        names = [model.joint(first + k).name for k in range(count)]
        whole = joints.get(model.body(body).name)
        one = count > 1 and whole is not None and whole["nv"] > 1
        q = v = 0
        for k in range(count):
            j = first + k
            nq, nv = {0: (7, 6), 1: (4, 3)}.get(int(model.jnt_type[j]), (1, 1))
            if one:
                entry, at = whole, (q, v)
            else:
                bodyname = model.body(body).name
                entry = joints.get(names[k]) or joints.get(bodyname if count == 1 else f"{bodyname}.{k + 1}")
                at = (0, 0)
            places.append((model.jnt_qposadr[j], model.jnt_dofadr[j], entry["q"] + at[0], entry["v"] + at[1], nq, nv))
            q, v = q + nq, v + nv
    return places


class Judge:
    def __init__(self, text):
        self.m = mujoco.MjModel.from_xml_string(text.decode())
        self.d = mujoco.MjData(self.m)
        flags = mujoco.mjtDisableBit
        self.m.opt.disableflags |= int(flags.mjDSBL_CONTACT) | int(flags.mjDSBL_LIMIT) | int(flags.mjDSBL_FRICTIONLOSS)
        self.m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE

    def rows(self, q, v, h):
        m, d = self.m, self.d
        p = q.copy()
        mujoco.mj_integratePos(m, p, v, h)
        d.qpos[:], d.qvel[:] = p, v
        mujoco.mj_forward(m, d)
        J = np.array(d.efc_J).reshape(-1, m.nv)[:d.nefc]
        return J[[k for k in range(d.nefc) if d.efc_type[k] == mujoco.mjtConstraint.mjCNSTR_EQUALITY]]

    def of(self, q, v):
        m, d = self.m, self.d
        h = 1e-3
        Jv = [self.rows(q, v, s * h) @ v for s in (-2, -1, 1, 2)]
        gamma = (Jv[0] - 8 * Jv[1] + 8 * Jv[2] - Jv[3]) / (12 * h)
        J = self.rows(q, v, 0)
        M = np.zeros((m.nv, m.nv))
        try:
            mujoco.mj_fullM(m, d, M)
        except TypeError:
            mujoco.mj_fullM(m, M, d.qM)
        f = d.qfrc_passive + d.qfrc_actuator - d.qfrc_bias - m.dof_frictionloss * np.tanh(v / SMOOTHING)
        if len(J) == 0:
            return M, np.linalg.solve(M, f), J
        scale = 1 / np.sqrt(np.diag(M))
        U, s, Vt = np.linalg.svd(J * scale, full_matrices=False)
        rank = int(np.sum(s > 1e-8 * s[0]))
        U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
        K = np.block([[M * np.outer(scale, scale), Vt.T], [Vt, np.zeros((rank, rank))]])
        b = np.concatenate([f * scale, -(U.T @ gamma) / s])
        x = np.linalg.solve(K, b)
        x += np.linalg.solve(K, b - K @ x)
        return M, x[:m.nv] * scale, J


def judge(probe_program, path, key, armature, extra):
    own, other = prepared(path, armature)
    with tempfile.NamedTemporaryFile(suffix=".xml", dir=os.path.dirname(os.path.abspath(path)) if os.access(
            os.path.dirname(os.path.abspath(path)), os.W_OK) else None) as file:
        file.write(own)
        file.flush()
        call = [probe_program, file.name, "7", "20", "0.3"] + ([f"key={key}"] if key else []) + extra
        done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    probe = json.loads(done.stdout)
    here = os.getcwd()
    os.chdir(os.path.dirname(os.path.abspath(path)))
    judge = Judge(other)
    os.chdir(here)
    m = judge.m
    if key:
        judge.d.ctrl[:] = m.key(key).ctrl
        judge.d.act[:] = m.key(key).act
    places = layout(m, probe)
    assert probe["nv"] == m.nv, (probe["nv"], m.nv)
    worst = [0, 0, 0]
    stored = []
    for state in probe["states"]:
        q, v, a, back = np.zeros(m.nq), np.zeros(m.nv), np.zeros(m.nv), np.zeros(m.nv, int)
        for qm, vm, ql, vl, nq, nv in places:
            q[qm:qm + nq] = state["q"][ql:ql + nq]
            v[vm:vm + nv] = state["v"][vl:vl + nv]
            a[vm:vm + nv] = state["a"][vl:vl + nv]
            back[vm:vm + nv] = range(vl, vl + nv)
        mass = np.array(state["mass"]).reshape(m.nv, m.nv)[np.ix_(back, back)]
        M, acceleration, J = judge.of(q, v)
        size = np.sqrt(np.outer(np.diag(M), np.diag(M)))
        worst[0] = max(worst[0], np.max(np.abs(M - mass) / size))
        if state["status"] == 0 and len(stored) < 3:
            own, diagonal = np.zeros(m.nv), np.zeros(m.nv)
            own[back], diagonal[back] = acceleration, np.diag(M)
            stored.append((state["q"], state["v"], own, diagonal))
        if state["status"] == 0:
            e = a - acceleration
            scale = np.sqrt(acceleration @ M @ acceleration)
            worst[1] = max(worst[1], np.sqrt(e @ M @ e) / max(scale, 1e-30))
        else:
            worst[2] += 1
    return probe, worst, stored


def main():
    arguments, store = sys.argv[1:], None
    if arguments[0] == "--store":
        store, arguments = open(arguments[1], "w", encoding="utf-8"), arguments[2:]
    probe_program, bad = arguments[0], False
    print(f"{'file':34} {'bodies':>6} {'loops':>5} {'mobility':>8} {'mass matrix':>11} {'acceleration':>12}")
    for argument in arguments[1:]:
        path, _, key = argument.partition(":")
        for armature in (True, False):
            try:
                probe, worst, stored = judge(probe_program, path, key, armature, [])
            except Exception as fault:  # a judge that fails is a fault of the test
                print(f"{os.path.basename(path):34} {fault}")
                bad = True
                continue
            name = os.path.basename(path) + ("" if armature else ", no armature") + (f" {key}" if key else "")
            if store and armature:
                print(f"> {os.path.basename(path)} {key or '-'} {probe['nv']}", file=store)
                for q, v, a, mass in stored:
                    for letter, numbers in zip("qvam", (q, v, a, mass)):
                        print(letter, *(f"{x:.17g}" for x in numbers), file=store)
            loops = sum(1 for j in probe["joints"] if j["cut"]) + probe["constraints"]
            print(f"{name:34} {probe['bodies']:6} {loops:5} {probe['mobility']:8} {worst[0]:11.1e} {worst[1]:12.1e}"
                  + (f"  {worst[2]} of {len(probe['states'])} states without accelerations" if worst[2] else ""))
            if not (worst[0] <= LIMIT and worst[1] <= LIMIT) or worst[2] == len(probe["states"]):
                bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
