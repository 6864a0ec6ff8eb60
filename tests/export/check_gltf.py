#!/usr/bin/env python3
"""Checks a .glb file by itself and against the results of the same run.

Call: check_gltf.py FILE.glb RESULTS.csv. The results hold pose(*). Checked: header and chunks, that views lie in the buffer and
accessors in views, bounds of accessors, ascending times, unit quaternions whose sign does not jump, that every node stands in the
tree once, and the pose of every body at ten times, interpolated as glTF says. Prints one line; exit status 1 with the fault.
"""
import csv, json, math, struct, sys

SIZES = {5123: ("H", 2), 5125: ("I", 4), 5126: ("f", 4)}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
TURN = [-math.sqrt(0.5), 0, 0, math.sqrt(0.5)]  # z up into y up


def read(path):
    data = open(path, "rb").read()
    magic, version, total, length, kind = struct.unpack("<4sIII4s", data[:20])
    assert magic == b"glTF" and version == 2 and total == len(data) and kind == b"JSON" and length % 4 == 0
    text, rest = data[20:20 + length].decode("utf-8"), data[20 + length:]
    if not rest:
        return json.loads(text), b""
    size, kind = struct.unpack("<I4s", rest[:8])
    assert kind == b"BIN\0" and size % 4 == 0 and len(rest) == 8 + size
    return json.loads(text), rest[8:]


class File:
    def __init__(self, path):
        self.json, self.binary = read(path)
        j = self.json
        assert j["asset"]["version"] == "2.0" and len(j.get("animations", [])) <= 1
        if self.binary:
            assert j["buffers"] == [{"byteLength": len(self.binary)}]
        end = 0
        for view in j.get("bufferViews", []):
            assert view["byteOffset"] == end and view["byteLength"] > 0, view
            end += view["byteLength"]
        assert end == len(self.binary)
        self.values = [self.accessor(a) for a in j.get("accessors", [])]

    def accessor(self, a):
        view, (letter, size), width = self.json["bufferViews"][a["bufferView"]], SIZES[a["componentType"]], WIDTHS[a["type"]]
        assert a["byteOffset"] % size == 0 and a["count"] > 0
        assert a["byteOffset"] + a["count"] * width * size <= view["byteLength"], a
        start = view["byteOffset"] + a["byteOffset"]
        numbers = struct.unpack_from(f"<{a['count'] * width}{letter}", self.binary, start)
        assert all(math.isfinite(x) for x in numbers)
        rows = [numbers[k:k + width] for k in range(0, len(numbers), width)]
        for key, choose in ("min", min), ("max", max):
            if key in a:
                wanted = [choose(row[k] for row in rows) for k in range(width)]
                assert list(struct.unpack(f"<{width}f", struct.pack(f"<{width}f", *a[key]))) == wanted, (key, a)
        return rows


def check_tree(j):
    seen = [0] * len(j["nodes"])
    for node in j["nodes"]:
        for child in node.get("children", []):
            seen[child] += 1
    assert j["scenes"][0]["nodes"] == [0] and seen[0] == 0 and all(n == 1 for n in seen[1:]), "the tree of nodes"
    assert max(abs(a - b) for a, b in zip(j["nodes"][0]["rotation"], TURN)) < 1e-7
    for node in j["nodes"]:
        if "mesh" in node:
            for p in j["meshes"][node["mesh"]]["primitives"]:
                count = j["accessors"][p["attributes"]["POSITION"]]["count"]
                assert "min" in j["accessors"][p["attributes"]["POSITION"]] and p["material"] < len(j["materials"])
                if "indices" in p:
                    yield p["indices"], count


def check_meshes(f):
    for indices, count in set(check_tree(f.json)):
        assert max(i for (i,) in f.values[indices]) < count and len(f.values[indices]) % 3 == 0
    for mesh in f.json.get("meshes", []):
        for p in mesh["primitives"]:
            if "indices" not in p:
                continue
            points, normals = (f.values[p["attributes"][k]] for k in ("POSITION", "NORMAL"))
            assert all(abs(math.hypot(*n) - 1) < 1e-5 for n in normals), mesh["name"]
            long = 10 if mesh["name"] == "coil" else 1  # as it is drawn: normals scale inversely to points
            points = [(x, y, long * z) for x, y, z in points]
            normals = [(x, y, z / long) for x, y, z in normals]
            flat = [i for (i,) in f.values[p["indices"]]]
            for a, b, c in zip(flat[::3], flat[1::3], flat[2::3]):  # counter-clockwise seen from outside
                u, v = ([q - o for q, o in zip(points[k], points[a])] for k in (b, c))
                face = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
                mean = [sum(normals[i][k] for i in (a, b, c)) for k in range(3)]
                area = math.hypot(*face)
                assert area < 1e-9 or sum(x * y for x, y in zip(face, mean)) > 0, mesh["name"]


def slerp(a, b, s):
    dot = sum(x * y for x, y in zip(a, b))
    if dot < 0:
        b, dot = [-x for x in b], -dot
    angle = math.acos(min(1, dot))
    if angle < 1e-4:
        mixed = [x + s * (y - x) for x, y in zip(a, b)]
    else:
        mixed = [(math.sin((1 - s) * angle) * x + math.sin(s * angle) * y) / math.sin(angle) for x, y in zip(a, b)]
    return [x / math.hypot(*mixed) for x in mixed]


def tracks(f):
    """{(node, path): (times, values)}"""
    found = {}
    for animation in f.json.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times, values = [t for (t,) in f.values[sampler["input"]]], f.values[sampler["output"]]
            assert len(times) == len(values) and times[0] == 0 and all(a < b for a, b in zip(times, times[1:]))
            if channel["target"]["path"] == "rotation":
                assert all(abs(math.hypot(*q) - 1) < 1e-6 for q in values)
                assert all(sum(x * y for x, y in zip(a, b)) >= 0 for a, b in zip(values, values[1:])), "a sign jumps"
            key = channel["target"]["node"], channel["target"]["path"]
            assert key not in found
            found[key] = times, values
    return found


def value_at(track, t):
    times, values = track
    if t >= times[-1]:
        return values[-1]
    k = next(k for k in range(1, len(times)) if times[k] > t) - 1
    s = (t - times[k]) / (times[k + 1] - times[k])
    if len(values[0]) == 4:
        return slerp(values[k], values[k + 1], s)
    return [a + s * (b - a) for a, b in zip(values[k], values[k + 1])]


def check_poses(f, path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    head = [name.rsplit(" [", 1)[0] for name in rows[0]]
    numbers = [[float(x) for x in row] for row in rows[1:]]
    column = {name: k for k, name in enumerate(head)}
    bodies = [n[5:-3] for n in head if n.startswith("body.") and n.endswith(".qw")]
    nodes = {}
    for k, node in enumerate(f.json["nodes"]):
        if node["extras"]["kind"] == "body":
            assert node["name"] not in nodes
            nodes[node["name"]] = k
    assert sorted(nodes) == sorted(bodies), (sorted(nodes), sorted(bodies))
    moving = tracks(f)
    # Frames may be at the world's origin, with what is to see of their bodies far from there.
    size = max([1e-3] + [abs(x) for n in f.json["nodes"] for x in n.get("translation", [])] + [abs(row[column[f"body.{b}.{c}"]]) for b in bodies for c in "xyz"
                                                                                          for row in numbers])
    worst = 0
    for sample in sorted({round(k * (len(numbers) - 1) / 9) for k in range(10)}):
        row = numbers[sample]
        for body in bodies:
            node = nodes[body]
            p, q = f.json["nodes"][node]["translation"], f.json["nodes"][node]["rotation"]
            if (node, "translation") in moving:
                p = value_at(moving[node, "translation"], row[0] - numbers[0][0])
            if (node, "rotation") in moving:
                q = value_at(moving[node, "rotation"], row[0] - numbers[0][0])
            wanted = [row[column[f"body.{body}.{c}"]] for c in "xyz"]
            turned = [row[column[f"body.{body}.{c}"]] for c in ("qx", "qy", "qz", "qw")]
            sign = 1 if sum(a * b for a, b in zip(q, turned)) > 0 else -1
            # The accuracy is 2e-5 of the mechanism's extent, and of at most ten bodies'; single precision adds 1e-7 of its values.
            far = max(abs(a - b) for a, b in zip(p, wanted)) / size
            turn = 2 * max(abs(sign * a - b) for a, b in zip(q, turned))
            worst = max(worst, far, turn)
            assert far < 2e-4 and turn < 4e-4, f"{body} at t = {row[0]}: {far:.1e} of the size, {turn:.1e} rad"
    return len(bodies), worst


def main():
    f = File(sys.argv[1])
    check_meshes(f)
    bodies, worst = check_poses(f, sys.argv[2])
    print(f"{sys.argv[1]}: {bodies} bodies, poses within {worst:.1e}")


main()
