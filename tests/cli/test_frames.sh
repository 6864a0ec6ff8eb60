#!/usr/bin/env bash
# Frames in what the program prints and records; starts, chosen by --begin.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
cat >crane.yaml <<'YAML'
linkwork: 1
name: crane
parameters: {L: 0.5}
bodies:
  boom: {mass: 10, inertia: [0.1, 3, 3], com: [1, 0, 0], position: [0, 0, 2]}
  load: {mass: 5, inertia: [0.1, 0.1, 0.1]}
frames:
  foot: {body: ground, position: [0, 0, 2]}
  hook: {body: boom, position: [2, 0, 0], rotation: {axis: [0, 0, 1], angle: 30 deg}}
  eye: {body: load, position: [0, 0, L]}
joints:
  heel: {type: revolute, between: [foot, boom], axis: [0, 1, 0]}
  swing: {type: revolute, between: [hook, eye], axis: [0, 1, 0]}
starts:
  up: {heel: {q: -90 deg}, swing: {q: 2*L, v: 1}}
  flat: {heel: {q: 0}}
run: {end: 0.5, output: 0.1}
YAML

expect 0 info crane.yaml --json
json "[(f['name'], f['body']) for f in d['frames']] == [('foot', 'ground'), ('hook', 'boom'), ('eye', 'load')]"
json "d['frames'][1]['position'] == [2, 0, 0] and abs(d['frames'][1]['rotation'][0] - math.cos(math.pi/12)) < 1e-15"
json "d['starts'] == ['up', 'flat']"
expect 0 info crane.yaml --all
says out "starts, for --begin"

# The boom stands upright, its hook 2 m above the foot; the other start and no start at all leave it level.
for begin in "--begin up" "--begin flat" ""; do
    # shellcheck disable=SC2086
    expect 0 run crane.yaml $begin --record 'joint,body(hook),body.eye.z,distance(foot, eye)' --out run.csv
    python3 - "$begin" <<'PYTHON' || fail "the first row with $begin"
import csv, sys
rows = [r for r in csv.reader(line for line in open("run.csv") if not line.startswith("#"))]
row = dict(zip((name.split(" [")[0] for name in rows[0]), map(float, rows[1])))
up = sys.argv[1] == "--begin up"
assert abs(row["body.hook.z"] - (4 if up else 2)) < 1e-12 and abs(row["body.eye.z"] - row["body.hook.z"]) < 1e-12
assert abs(row["distance(foot, eye)"] - 2) < 1e-12 and row["swing.q"] == (1 if up else 0) and row["swing.v"] == up
assert "body.eye.z [m]" in rows[0]
PYTHON
done
# A parameter that a start depends on is set first; a results file has the starts of its model.
expect 0 accel crane.yaml --begin up --set L=0.25 --json
expect 0 run crane.yaml --begin up --out run.h5 --record joint
expect 0 run run.h5 --begin flat --out flat.csv --record joint
expect 0 run crane.yaml --begin flat --out same.csv --record joint
diff <(grep -v '^#' flat.csv) <(grep -v '^#' same.csv) || fail "a start of a results file"
for command in accel check compare info run view; do
    # shellcheck disable=SC2046
    expect 0 $command crane.yaml --begin up $([[ $command == view ]] && echo --out page.html)
    expect 2 $command crane.yaml --begin upp $([[ $command == view ]] && echo --out page.html)
    grep -q 'there is no start "upp"; did you mean "up"?' err out || fail "$command --begin upp: $(cat err out)"
done
expect 2 run --resume run.h5 --begin up
says err "leave --begin away"
expect 2 accel crane.yaml --state run.h5 --begin up
says err "leave --begin away"
expect 2 view run.h5 --begin up
says err "holds a run already"
expect 2 run crane.yaml --record 'com(hook)' --out run.csv
says err "a frame has no centre of mass and no momentum; name the body that carries the frame"
expect 2 run crane.yaml --record 'body(hok)' --out run.csv
says err 'did you mean "hook"?'
expect 0 view crane.yaml --out page.html
python3 - <<'PYTHON' || fail "frames of the page"
import json, re
text = open("page.html", encoding="utf-8").read()
model = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])["views"][0]["model"]
bodies = [body["name"] for body in model["bodies"]]
assert [(f["name"], bodies[f["body"]]) for f in model["frames"]] == [("foot", "ground"), ("hook", "boom"), ("eye", "load")]
assert all(abs(a - b) < 1e-12 for a, b in zip(model["frames"][2]["frame"], [0, 0, 0.5, 0, 0, 0, 1]))
PYTHON
