#!/usr/bin/env bash
# Meshes from files: only those of the model's folder unless allowed; what results files, pages and .glb carry.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
mkdir model elsewhere

python3 - <<'PYTHON'
import math, struct
def ball(n):  # triangles of a sphere of radius 100, n of them around
    at = lambda i, j: (100 * math.sin(math.pi * i / n) * math.cos(2 * math.pi * (j % n) / n),
                       100 * math.sin(math.pi * i / n) * math.sin(2 * math.pi * (j % n) / n), 100 * math.cos(math.pi * i / n)) \
        if 0 < i < n else (0, 0, 100 if i == 0 else -100)
    for i in range(n):
        for j in range(n):
            a, b, c, d = at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)
            if i < n - 1: yield a, b, c
            if i > 0: yield a, c, d
def write(name, n):
    t = list(ball(n))
    with open(name, "wb") as f:
        f.write(b"ball".ljust(80) + struct.pack("<I", len(t)))
        for a, b, c in t: f.write(struct.pack("<12fH", 0, 0, 0, *a, *b, *c, 0))
write("model/ball.stl", 100)
write("model/large.stl", 700)
PYTHON
cat >model/ball.yaml <<'YAML'
linkwork: 1
name: ball
parameters: {s: 0.001}
bodies:
  ball: {density: 1000, shape: {type: mesh, file: ball.stl, scale: s}}
  dumbbell:
    shapes:
      - {type: mesh, file: ball.stl, scale: s, position: [0, 0, -0.3], density: 1000, colour: "#ff0000"}
      - {type: capsule, radius: 20 mm, length: 0.3, position: [0, 0, -0.15], density: 2000}
      - {type: ellipsoid, radii: [0.1, 0.1, 0.1], density: 1000, colour: green}
    position: [1, 0, 0]
joints:
  ball: {type: free, between: [ground, ball]}
  pin: {type: revolute, between: [ground, dumbbell], point: [1, 0, 0], axis: [0, 1, 0], q: 1}
run: {end: 1}
YAML

# A ball of 19 800 triangles has less volume than the ball around it by about (5/6 pi^2 / n^2): 0.1 %.
expect 0 info model/ball.yaml --json
json "abs([b for b in d['bodies'] if b['name'] == 'ball'][0]['mass'] / (4/3*math.pi) - 1) < 2e-3"
json "[b for b in d['bodies'] if b['name'] == 'ball'][0]['mass'] / (4/3*math.pi) < 1"

# Parameters change it, in the reader and later alike.
expect 0 info model/ball.yaml --json --set s=0.002
json "abs([b for b in d['bodies'] if b['name'] == 'ball'][0]['mass'] / (8*4/3*math.pi) - 1) < 2e-3"

# Results carry the triangles: no file is needed to show them.
expect 0 run model/ball.yaml --quiet --out "$work/elsewhere/ball.csv"
expect 0 run model/ball.yaml --quiet --out "$work/elsewhere/ball.h5"
mv model/ball.stl model/kept.stl
expect 2 check model/ball.yaml
cat "$work/out" >>"$work/err"
says err "ball.stl: there is no such file"
for file in ball.csv ball.h5; do
    expect 0 view "elsewhere/$file" --out "$work/page.html"
    python3 - "$work/page.html" <<'PYTHON' || fail "the page of $file"
import base64, json, re, struct, sys
page = open(sys.argv[1], encoding="utf-8").read()
d = json.loads(re.search(r'<script[^>]*application/json[^>]*>(.*?)</script>', page, re.S).group(1))
model = d["views"][0]["model"]
mesh, = model["meshes"]  # one, although two shapes have it
v = base64.b64decode(mesh["v"]); i = struct.unpack("<%dI" % (len(base64.b64decode(mesh["i"])) // 4), base64.b64decode(mesh["i"]))
assert len(i) == 3 * 19800 and max(i) + 1 == len(v) // 12
shapes = {b["name"]: b.get("shapes") for b in model["bodies"]}
assert [s["kind"] for s in shapes["dumbbell"]] == ["mesh", "capsule", "ellipsoid"]
assert shapes["dumbbell"][0]["colour"] == "#ff0000" and "colour" not in shapes["dumbbell"][1]
assert shapes["ball"][0]["mesh"] == 0 and shapes["ball"][0]["size"] == [0.001] * 3
PYTHON
    expect 0 view "elsewhere/$file" --out "$work/scene.glb"
    python3 - "$work/scene.glb" <<'PYTHON' || fail "the .glb of $file"
import json, struct, sys
b = open(sys.argv[1], "rb").read()
n = struct.unpack("<I", b[12:16])[0]
d = json.loads(b[20:20 + n])
wide = [a for a in d["accessors"] if a["componentType"] == 5125]
assert len(wide) == 1 and wide[0]["count"] == 3 * 19800 and wide[0]["byteOffset"] % 4 == 0
assert "#ff0000" in [m["name"] for m in d["materials"]]
assert sum(m["name"] == "mesh" for m in d["meshes"]) == 2  # of two colours, with the same vertices
PYTHON
done
mv model/kept.stl model/ball.stl

# Only files of the model's folder, links and .. followed first; --allow-path lifts that.
cp model/ball.stl elsewhere/
ln -s ../elsewhere/ball.stl model/link.stl
for file in ../elsewhere/ball.stl link.stl "$work/elsewhere/ball.stl"; do
    sed "s#ball.stl#$file#" model/ball.yaml >model/outside.yaml
    for command in check info accel; do
        expect 2 $command model/outside.yaml
        cat "$work/out" >>"$work/err"
        says err "the file is outside the folder of the model"
        expect 0 $command model/outside.yaml --allow-path
    done
done

# A body of several shapes moves as bodies that are welded together, which know nothing of each other's inertia.
cat >model/one.yaml <<'YAML'
linkwork: 1
name: one
bodies:
  arm:
    shapes:
      - {type: mesh, file: ball.stl, scale: [0.001, 0.002, -0.001], position: [0.2, 0, -0.3], rotation: {cardan: [0.3, 0.1, 2]}, density: 1000}
      - {type: capsule, radius: 20 mm, length: 0.3, position: [0, 0.1, -0.15], rotation: {cardan: [1, 0.4, 0]}, density: 2000}
      - {type: ellipsoid, radii: [0.1, 0.05, 0.15], mass: 3}
joints:
  ball: {type: spherical, between: [ground, arm], point: [0, 0, 0.1], rotation: {cardan: [0.5, 0.3, 0]}, v: [1, 2, 3]}
run: {end: 1, tolerance: 1e-11, output: 0.5}
YAML
cat >model/three.yaml <<'YAML'
linkwork: 1
name: three
bodies:
  arm: {density: 1000, shape: {type: mesh, file: ball.stl, scale: [0.001, 0.002, -0.001], position: [0.2, 0, -0.3], rotation: {cardan: [0.3, 0.1, 2]}}}
  pill: {density: 2000, shape: {type: capsule, radius: 20 mm, length: 0.3, position: [0, 0.1, -0.15], rotation: {cardan: [1, 0.4, 0]}}}
  egg: {mass: 3, shape: ellipsoid, radii: [0.1, 0.05, 0.15]}
joints:
  ball: {type: spherical, between: [ground, arm], point: [0, 0, 0.1], rotation: {cardan: [0.5, 0.3, 0]}, v: [1, 2, 3]}
  a: {type: weld, between: [arm, pill], point: [0, 0, 0]}
  b: {type: weld, between: [pill, egg], point: [0, 0, 0]}
run: {end: 1, tolerance: 1e-11, output: 0.5}
YAML
for model in one three; do
    expect 0 run model/$model.yaml --json
    cp "$work/out" "$work/$model.json"
done
python3 - "$work" <<'PYTHON' || fail "several shapes move otherwise than welded bodies"
import json, sys
one, three = (json.load(open(f"{sys.argv[1]}/{m}.json"))["final"]["joints"]["ball"] for m in ("one", "three"))
for key in "q", "v":
    assert max(abs(a - b) for a, b in zip(one[key], three[key])) < 1e-8, (one, three)
PYTHON

# Nearly a million triangles.
sed "s#ball.stl#large.stl#" model/ball.yaml >model/large.yaml
expect 0 check model/large.yaml
expect 0 info model/large.yaml --json
json "abs([b for b in d['bodies'] if b['name'] == 'ball'][0]['mass'] / (4/3*math.pi) - 1) < 1e-4"
echo passed
