#!/usr/bin/env python3
"""Judges exact derivatives: Pinocchio computes those of the same trees in the same states.

Call: judge_derivatives.py PROBE FOLDER TREES
Random trees of 1 to 30 bodies with hinges and slides about and along any axes, written as URDF into FOLDER,
and tests/import/arm.urdf without its friction. Three states each. Compared are the derivatives of the
accelerations by coordinates, speeds and forces, relative to the largest entry of each matrix and of the
inverse mass matrix (those of a single hinge by its speed are zero), where what rounding does to accelerations (the condition of the mass matrix times 1e-15) is allowed for. Exit status 1 if
a difference is greater.
"""
import json
import os
import random
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin

LIMIT = 1e-11


def numbers(rng, count, size=1.0):
    return " ".join(repr(rng.uniform(-size, size)) for _ in range(count))


def tree(rng, bodies):
    """A URDF of a random tree. Inertias are those of random boxes, in axes of their own."""
    root = ET.Element("robot", name="tree")
    ET.SubElement(root, "link", name="base")
    for k in range(bodies):
        link = ET.SubElement(root, "link", name="link%d" % k)
        inertial = ET.SubElement(link, "inertial")
        mass, box = rng.uniform(0.2, 2), [rng.uniform(0.05, 0.5) for _ in range(3)]
        ET.SubElement(inertial, "origin", xyz=numbers(rng, 3, 0.5), rpy=numbers(rng, 3))
        ET.SubElement(inertial, "mass", value=repr(mass))
        x, y, z = (side * side * mass / 12 for side in box)
        ET.SubElement(inertial, "inertia", ixx=repr(y + z), iyy=repr(x + z), izz=repr(x + y), ixy="0", ixz="0", iyz="0")
        kind = rng.choice(["revolute", "continuous", "prismatic", "revolute"])
        joint = ET.SubElement(root, "joint", name="joint%d" % k, type=kind)
        parent = "base" if k == 0 else "link%d" % rng.randint(max(0, k - rng.choice([1, 2, 8])), k - 1)
        ET.SubElement(joint, "parent", link=parent)
        ET.SubElement(joint, "child", link="link%d" % k)
        ET.SubElement(joint, "origin", xyz=numbers(rng, 3, 0.5), rpy=numbers(rng, 3, 3))
        axis = np.array([rng.uniform(-1, 1) for _ in range(3)]) if rng.random() < 0.5 else np.eye(3)[rng.randrange(3)]
        ET.SubElement(joint, "axis", xyz=" ".join(repr(float(a)) for a in axis / np.linalg.norm(axis)))
        if kind != "continuous":
            ET.SubElement(joint, "limit", lower="-9", upper="9", effort="9", velocity="9")
    return root


def smooth(path):
    root = ET.parse(path).getroot()
    for link in root.findall("link"):
        for part in link.findall("visual") + link.findall("collision"):
            link.remove(part)
    for joint in root.findall("joint"):
        for part in joint.findall("dynamics") + joint.findall("mimic"):
            joint.remove(part)
    return root


def judge(probe, path, seed):
    model = pin.buildModelFromUrdf(path)
    data = model.createData()
    out = json.loads(subprocess.run([probe, path, str(seed), "3", "1", "derivatives"], check=True,
                                    capture_output=True, text=True).stdout)
    places = []
    for joint in out["joints"]:
        if joint["nv"] == 0:
            continue
        own = model.joints[model.getJointId(joint["name"])]
        places.append((joint["q"], joint["v"], own.idx_q, own.idx_v, own.nq))
    assert len(places) == model.nv, "the trees are not the same"
    there, here = [p[1] for p in places], [p[3] for p in places]
    worst = raw = 0.0
    for state in out["states"]:
        q, v = pin.neutral(model), np.zeros(model.nv)
        for at_q, at_v, idx_q, idx_v, nq in places:
            angle = state["q"][at_q]
            if nq == 1:
                q[idx_q] = angle
            else:
                q[idx_q:idx_q + 2] = np.cos(angle), np.sin(angle)
            v[idx_v] = state["v"][at_v]
        pin.computeABADerivatives(model, data, q, v, np.zeros(model.nv))
        inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        allowed = 1 + 1e-15 / LIMIT * np.linalg.cond(inverse)
        for name, expected in (("dq", data.ddq_dq), ("dv", data.ddq_dv), ("dtau", inverse)):
            own = np.array(state[name]).reshape(model.nv, model.nv)[np.ix_(there, there)]
            other = expected[np.ix_(here, here)]
            difference = np.abs(own - other).max() / (np.abs(other).max() + np.abs(inverse).max())
            worst, raw = max(worst, difference / allowed), max(raw, difference)
    return worst, raw


def main():
    probe, folder, trees = sys.argv[1], sys.argv[2], int(sys.argv[3])
    path, worst, largest, compared = os.path.join(folder, "tree.urdf"), 0.0, 0.0, 0
    for seed in range(trees + 1):
        rng = random.Random(seed)
        root = smooth("tests/import/arm.urdf") if seed == trees else tree(rng, 1 + seed % 30)
        ET.ElementTree(root).write(path)
        difference, raw = judge(probe, path, seed)
        worst, largest, compared = max(worst, difference), max(largest, raw), compared + 3
        if difference > LIMIT:
            print("seed %d: %g" % (seed, difference))
    print("derivatives in %d states of %d trees: largest relative difference from Pinocchio %s is %.1e, %.1e where the condition "
          "is allowed for" % (compared, trees + 1, pin.__version__, largest, worst))
    sys.exit(worst > LIMIT)


main()
