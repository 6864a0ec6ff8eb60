#!/usr/bin/env bash
# Motions as .glb: whole and valid by themselves, poses as in the results of the same run, names of any kind.
source "$(dirname "$0")/../cli/support.sh" "$@"
here=$(dirname "$0")
glb_of=$3/tests/glb-of

check() { # model [grid]
    "$glb_of" "$1" "$work/m.glb" ${2:+"$2"} >"$work/said" || fail "$1: no .glb"
    expect 0 run "$1" --quiet --record "pose(*)" --out "$work/m.csv"
    python3 "$here/check_gltf.py" "$work/m.glb" "$work/m.csv" >"$work/checked" || fail "$1: $(tail -1 "$work/checked")"
    tail -1 "$work/checked" | sed "s|.*/m.glb|$(basename "$(dirname "$1")"): $(cat "$work/said")|"
}

for problem in four_bar slider_crank stewart_platform andrews_squeezer double_wishbone six_body_linkage walker \
    heavy_top_fast tumbling_body planar_pair cylindrical_pair spring_chain free_tree gantry trellis net; do
    check "$source_dir/problems/$problem/model.yaml"
done
check "$source_dir/problems/scissor/model.yaml" grid

# Every shape and every joint; names with quotes, a backslash, a control character, emoji, right to left, markup.
cat >"$work/names.yaml" <<'YAML'
linkwork: 1
name: "a \"model\" \\ \u0001 </script> 🚲"
bodies:
  "its %s": {shape: box, size: [0.3, 0.2, 0.1], mass: 1}
  "back\\slash": {shape: cylinder, radius: 0.1, length: 0.3, mass: 1, position: [1, 0, 0]}
  "semi;colon": {shape: sphere, radius: 0.1, mass: 1, position: [2, 0, 0]}
  "emoji 🚲": {shape: cone, radius: 0.1, height: 0.3, mass: 1, position: [3, 0, 0]}
  "عربي": {shape: rod, points: [[4, 0, 0], [5, 0, 0]], mass: 1}
  "</script>": {shape: tetrahedron, points: [[5, 0, 0], [5.3, 0, 0], [5, 0.3, 0], [5, 0, 0.3]], density: 500}
  none: {mass: 1, inertia: [0.01, 0.02, 0.03], position: [6, 0, 0]}
  planar: {mass: 1, shape: sphere, radius: 0.1, position: [7, 0, 0]}
  moved: {mass: 1, shape: sphere, radius: 0.1, position: [8, 0, 0]}
  free: {mass: 1, inertia: [0.01, 0.02, 0.03], position: [9, 0, 0]}
  pill: {shape: capsule, radius: 0.1, length: 0.3, mass: 1, colour: red, position: [10, 0, 0]}
  egg: {shape: ellipsoid, radii: [0.1, 0.15, 0.25], mass: 1, position: [11, 0, 0]}
  wedge: {shape: mesh, scale: [1, 1, -1], vertices: [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.5]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], mass: 1, position: [12, 0, 0]}
  several:
    mass: 1
    shapes: [{type: box, size: [0.3, 0.1, 0.1], colour: "#ff8800"}, {type: mesh, colour: sky, vertices: [[0, 0, 0], [0.4, 0, 0], [0, 0.3, 0], [0, 0, 0.5]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]}]
    position: [13, 0, 0]
  welded: {mass: 1, shape: sphere, radius: 0.05, position: [9, 0, 0.3]}
joints:
  a: {type: revolute, between: [ground, "its %s"], point: [0, 0, 0.5], axis: [0, 1, 0], v: 1}
  b: {type: prismatic, between: [ground, "back\\slash"], axis: [0, 0, 1]}
  c: {type: screw, between: [ground, "semi;colon"], point: [2, 0, 0], axis: [0, 0, 1], lead: 0.1}
  d: {type: cylindrical, between: [ground, "emoji 🚲"], point: [3, 0, 0], axis: [0, 1, 1], v: [0, 3]}
  e: {type: universal, between: [ground, "عربي"], point: [4, 0, 0], axes: [[0, 1, 0], [0, 0, 1]]}
  f: {type: spherical, between: [ground, "</script>"], point: [5, 0, 0.5]}
  g: {type: planar, between: [ground, planar], point: [7, 0, 0], normal: [0, 1, 1]}
  h: {type: translation, between: [ground, moved], axes: [[1, 0, 0], [0, 0, 1]]}
  i: {type: free, between: [ground, free], angular_velocity: [1, 5, 0.1]}
  j: {type: weld, between: [free, welded]}
  pill: {type: free, between: [ground, pill]}
  egg: {type: free, between: [ground, egg]}
  wedge: {type: free, between: [ground, wedge]}
  several: {type: free, between: [ground, several]}
  "k<&>": {type: free, between: [ground, none]}
forces:
  "spring 🌀": {type: spring, between: ["its %s", "back\\slash"], points: [[0, 0, 0], [1, 0, 0]], stiffness: 10}
run: {end: 1}
YAML
"$glb_of" "$work/names.yaml" "$work/names.glb" grid >/dev/null || fail "no .glb of all names"
python3 - "$here" "$work/names.glb" <<'PYTHON' || fail "names"
import os, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
text = open(os.path.join(sys.argv[1], "check_gltf.py"), encoding="utf-8").read().replace("\nmain()\n", "\n")
exec(text)
f = File(sys.argv[2])
check_meshes(f)
tracks(f)
named = {kind: {n.get("name") for n in f.json["nodes"] if n["extras"]["kind"] == kind} for kind in ("body", "joint", "spring")}
assert named["body"] == {"its %s", "back\\slash", "semi;colon", "emoji 🚲", "عربي", "</script>", "none", "planar", "moved", "free",
                         "welded", "pill", "egg", "wedge", "several"}, named["body"]
assert named["joint"] == set("abcdefghj") and named["spring"] == {"spring 🌀"}, named
assert f.json["nodes"][0]["name"] == 'a "model" \\ \x01 </script> 🚲', f.json["nodes"][0]
meshes = {m["name"] for m in f.json["meshes"]}
assert meshes == {"box", "cylinder", "sphere", "cone", "tetrahedron", "coil", "grid", "mesh"}, meshes
colours = {m["name"] for m in f.json["materials"]}
assert {"#c23b3b", "#ff8800", "#62b8dc"} <= colours, colours
PYTHON

# What does not move has no animation; a folder that is not there is told.
printf 'linkwork: 1\nname: still\nbodies: {a: {mass: 1, shape: sphere, radius: 1}}\njoints: {j: {type: weld, between: [ground, a]}}\nrun: {end: 1}\n' >"$work/still.yaml"
check "$work/still.yaml"
! grep -qa '"animations"' "$work/m.glb" || fail "what stands still is animated"
! "$glb_of" "$work/still.yaml" "$work/no/folder/m.glb" 2>"$work/said" || fail "wrote into a folder that is not there"
grep -q "No such file" "$work/said" || fail "no reason: $(cat "$work/said")"

# The program: a model, and results with what determines the poses.
for out in csv h5; do
    expect 0 run "$source_dir/problems/slider_crank/model.yaml" --quiet --out "$work/r.$out"
    expect 0 view "$work/r.$out" --out "$work/r.glb"
    says out "r.glb ("
    expect 0 run "$source_dir/problems/slider_crank/model.yaml" --quiet --record "pose(*)" --out "$work/p.csv"
    python3 "$here/check_gltf.py" "$work/r.glb" "$work/p.csv" >"$work/checked" || fail "r.$out as .glb"
    expect 0 view "$work/p.csv" --quiet --out "$work/p.glb"
    python3 "$here/check_gltf.py" "$work/p.glb" "$work/p.csv" >"$work/checked" || fail "poses as .glb"
done
expect 0 view "$source_dir/problems/four_bar/model.yaml" --quiet --out "$work/v.glb"
silent out
expect 2 view "$work/r.csv" "$work/r.h5" --out "$work/two.glb"
says err "one motion"
expect 2 view "$work/r.csv" --out "$work/two.gltf"
says err "ends neither in .html nor in .glb"

echo passed
