#!/usr/bin/env bash
# linkwork view: pages from models and from results, their contents and size, names that would break a page, wrong calls.
# tests/page/test_view.py looks at such pages in a browser.
source "$(dirname "$0")/support.sh" "$@"

# page FILE EXPRESSION: true for the data d of the page (JSON) and its text.
page() {
    python3 - "$1" "$2" <<'PYTHON' || fail "not so in $1: $2"
import base64, hashlib, html, json, re, struct, sys
text = open(sys.argv[1], encoding="utf-8").read()
data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
assert "<" not in data, "a < in the data"
d = json.loads(data)
scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
assert len(scripts) == 1 and text.count("</script") == 2, "a script too many"
style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
for part, key in ((scripts[0], "script-src"), (style, "style-src")):
    digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
    assert f"{key} 'sha256-{digest}'" in policy, key + " does not fit its hash"
assert "unsafe" not in policy and "default-src 'none'" in policy
assert not re.search(r"\beval\s*\(|new Function", scripts[0]), "eval"
assert not re.search(r"""(src|href)\s*=\s*["'](?!data:|#)""", text.replace(scripts[0], "")), "the page needs another file"
assert "three.js authors" in scripts[0] and "MIT License" in scripts[0], "the licence of three.js"
def numbers(part, kind):
    raw = base64.b64decode(part)
    return struct.unpack("<%d%s" % (len(raw) // struct.calcsize(kind), kind), raw)
def column(view, name):
    m = d["views"][view]["motion"]
    return next(c for c in m["columns"] if c["name"] == name)
times = numbers(d["views"][0]["motion"]["times"], "d")
def keys(name): # times and values of the keys of a column
    c = column(0, name)
    at = numbers(c["k"], "H") if "k" in c else range(len(times))
    return [(times[k], x) for k, x in zip(at, numbers(c["v"], "f"))]
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
}

# A model is simulated; the page lies beside it.
expect 0 view "$work/pendulum.yaml"
silent err
says out "$work/pendulum.html"
says out "file://"
page "$work/pendulum.html" 'd["title"] == "pendulum" and d["views"][0]["motion"]["summary"]["ok"] and times[0] == 0 and times[-1] == 2'
page "$work/pendulum.html" '[b["name"] for b in d["views"][0]["model"]["bodies"]] == ["ground", "bob"] and d["views"][0]["model"]["joints"][0]["type"] == "revolute"'
page "$work/pendulum.html" '{"pin.q", "pin.v", "reaction(pin).fx", "kinetic", "unaccounted"} <= {c["name"] for c in d["views"][0]["motion"]["columns"]}'
expect 0 view "$work/pendulum.yaml" --out "$work/other.html" --quiet --end 1 --set l=2 --method tree --record "joint"
silent out
page "$work/other.html" 'times[-1] == 1 and d["views"][0]["motion"]["method"] == "tree" and d["views"][0]["model"]["bodies"][1]["com"] == [2, 0, 0]'
page "$work/other.html" '{c["name"] for c in d["views"][0]["motion"]["columns"]} == {"pin.q", "pin.v"}'
"$linkwork" view "$work/pendulum.yaml" --out - >"$work/piped.html" || fail "no page on standard output"
page "$work/piped.html" 'd["title"] == "pendulum"'
expect 0 view "$work/pendulum.yaml" --still --out "$work/still.html"
page "$work/still.html" 'len(times) == 1 and "summary" not in d["views"][0]["motion"]'

expect 0 view "$work/pendulum.yaml" --start 1 --end 1.5 --quiet --out "$work/late.html"
page "$work/late.html" 'times[0] == 1 and times[-1] == 1.5'
expect 1 view "$work/pendulum.yaml" --max-steps 3 --quiet --out "$work/few.html"
says err "3 steps"
cat >"$work/pushed.yaml" <<'YAML'
linkwork: 1
name: pushed
inputs: {push: 0 N}
bodies: {cart: {kind: point, mass: 1}}
joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}
forces: {push: {type: drive, joint: rail, force: push}}
run: {end: 1 s}
YAML
printf 't,f\n0,2\n1,2\n' >"$work/push.csv"
expect 0 view "$work/pushed.yaml" --input "push=$work/push.csv:f" --quiet
page "$work/pushed.html" 'abs(numbers(column(0, "rail.q")["v"], "f")[-1] - 1) < 1e-6'

# Results of both formats, from another folder, without their model's file: the same motion.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.csv" --set l=1.5
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/r.h5" --set l=1.5
mv "$work/pendulum.yaml" "$work/away.yaml"
for ending in csv h5; do
    expect 0 view "$work/r.$ending" --out "$work/from_$ending.html"
    page "$work/from_$ending.html" 'd["views"][0]["model"]["bodies"][1]["com"] == [1.5, 0, 0] and len(times) == 1001 and d["views"][0]["motion"]["summary"]["ok"]'
    page "$work/from_$ending.html" 'any("reactions" in n for n in d["views"][0]["motion"]["notes"])'
done
mv "$work/away.yaml" "$work/pendulum.yaml"
[[ "$(grep -o '"poses".*' "$work/from_csv.html")" == "$(grep -o '"poses".*' "$work/from_h5.html")" ]] || fail "CSV and HDF5 give other motions"
# The numbers of the page are those of the file, within the tolerance of resampling.
python3 - "$work/from_csv.html" "$work/r.csv" <<'PYTHON' || fail "the page's numbers are not the file's"
import base64, csv, json, re, struct, sys
d = json.loads(re.search(r'id="data">(.*?)</script>', open(sys.argv[1], encoding="utf-8").read(), re.S)[1])
rows = list(csv.reader(l for l in open(sys.argv[2]) if not l.startswith("#")))
for column in d["views"][0]["motion"]["columns"]:
    k = next((i for i, h in enumerate(rows[0]) if h.rsplit(" [", 1)[0] == column["name"]), None)
    if k is None: continue
    true = [float(r[k]) for r in rows[1:]]
    raw = base64.b64decode(column["v"]); v = struct.unpack("<%df" % (len(raw) // 4), raw)
    keys = struct.unpack("<%dH" % column["n"], base64.b64decode(column["k"])) if "k" in column else range(len(true))
    assert len(v) == len(keys) == column["n"]
    for i, x in zip(keys, v):
        assert abs(x - true[i]) <= 1e-6 * max(map(abs, true)) + 1e-30, (column["name"], i, x, true[i])
PYTHON

# Inputs, signals, states, outputs and events. What a row does not tell is computed from the model that the file carries.
cat >"$work/hammer.yaml" <<'YAML'
linkwork: 1
name: hammer
inputs: {lift: 30 N}
states: {load: {start: 0 N, rate: "(lift - load)/(1 s)"}}
bodies:
  hammer: {mass: 2 kg, shape: box, size: [0.1, 0.1, 0.2]}
joints:
  guide: {type: prismatic, between: [ground, hammer], axis: [0, 0, 1]}
forces:
  drive: {type: drive, joint: guide, force: lift}
  pull: {type: applied, body: hammer, point: [0, 0, 0.1], force: [load, 0, lift/10]}
outputs:
  height: {value: guide.q, unit: mm}
events:
  top: {when: guide.q - 0.5, direction: up, do: {set: {lift: 1 N}}}
  done: {when: t - 0.8 s, do: stop}
run: {end: 2 s}
YAML
sed '/top:/d' "$work/hammer.yaml" >"$work/lifted.yaml"
expect 0 view "$work/hammer.yaml"
silent err
page "$work/hammer.html" '[(e["name"], e["kind"], e["text"]) for e in d["views"][0]["motion"]["events"]] == [("top", "event", "sets lift"), ("done", "event", "the run stops")]'
page "$work/hammer.html" 'column(0, "height")["unit"] == "mm" and d["views"][0]["model"]["outputs"] == ["height"] and column(0, "force(drive)")["unit"] == "N" and d["views"][0]["motion"]["summary"]["ok"]'
page "$work/hammer.html" 'set(numbers(column(0, "force(drive)")["v"], "f")) == {30, 1} and abs(times[-1] - 0.8) < 1e-9'
for model in hammer lifted; do
    expect 0 run "$work/$model.yaml" --quiet --out "$work/$model.csv" --record "joint, com, state, output, ledger"
    expect 0 run "$work/$model.yaml" --quiet --out "$work/${model}_usual.csv"
    expect 0 run "$work/$model.yaml" --quiet --out "$work/$model.h5" --record "joint, state, lift, ledger"
    expect 0 run "$work/$model.yaml" --quiet --out "$work/${model}_told.h5" --record "joint, force, ledger"
done
expect 0 run "$work/hammer.yaml" --quiet --out "$work/stateless.csv" --record "joint, ledger"
rm "$work/hammer.yaml" "$work/lifted.yaml"
for file in hammer.csv hammer_usual.csv hammer.h5 hammer_told.h5 lifted.csv lifted.h5 lifted_told.h5 stateless.csv; do
    expect 0 view "$work/$file" --out "$work/${file//./_}.html"
    expect 0 plot "$work/$file"
done
page "$work/hammer_csv.html" '[(e["name"], e["text"]) for e in d["views"][0]["motion"]["events"]] == [("top", "sets lift"), ("done", "the run stops")]'
# A record without the input, which the event sets: unknown from there on, and said.
page "$work/hammer_csv.html" 'any("an event sets \"lift\"" in n for n in d["views"][0]["motion"]["notes"])'
page "$work/hammer_csv.html" 'all(x == 30 if t < 0.386 else x != x for t, x in keys("force(drive)") if abs(t - 0.3866) > 0.002) and len(keys("force(drive)")) > 100'
page "$work/stateless_csv.html" 'any("the states of the model are not recorded" in n for n in d["views"][0]["motion"]["notes"]) and all(x != x for x in numbers(column(0, "force(drive)")["v"], "f"))'
page "$work/hammer_usual_csv.html" 'set(numbers(column(0, "force(drive)")["v"], "f")) == {30, 1}'
# Recorded inputs and states, or no such event: the same forces as a run records. load = 30 (1 - exp(-t)) until the event.
for model in hammer lifted; do
    page "$work/${model}_h5.html" 'not any("forces are not known" in n for n in d["views"][0]["motion"]["notes"])'
    for name in "force(drive)" "force(pull).fx" "force(pull).fz"; do
        [[ "$(grep -o "{\"name\":\"$name\"[^}]*}" "$work/${model}_h5.html")" == "$(grep -o "{\"name\":\"$name\"[^}]*}" "$work/${model}_told_h5.html")" ]] ||
            fail "$model: $name of a results file without forces is not that of one with them"
        grep -qF "\"name\":\"$name\"" "$work/${model}_h5.html" || fail "$model: no $name"
    done
done
page "$work/lifted_h5.html" 'abs(numbers(column(0, "force(pull).fx")["v"], "f")[-1] - 30 * (1 - 2.718281828459045 ** -0.8)) < 1e-4'
page "$work/lifted_csv.html" 'any("inputs are not recorded" in n and "lift" in n for n in d["views"][0]["motion"]["notes"]) and set(numbers(column(0, "force(drive)")["v"], "f")) == {30}'
grep -qF ">top<" "$work/hammer.svg" || fail "the plot lacks the event"
# A run that was killed has not told its events.
grep -v '^# event\|^# verdict' "$work/hammer.csv" >"$work/killed.csv"
expect 0 view "$work/killed.csv"
page "$work/killed.html" 'any("does not tell when" in n for n in d["views"][0]["motion"]["notes"]) and all(x != x for x in numbers(column(0, "force(drive)")["v"], "f"))'

# Two runs.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/b.csv" --set l=1
expect 0 view "$work/r.h5" "$work/b.csv" --out "$work/two.html"
page "$work/two.html" 'len(d["views"]) == 2 and d["views"][0]["label"] == "r.h5" and d["views"][1]["model"]["bodies"][1]["com"] == [1, 0, 0]'

# What a record lacks: refused where there is no motion, noted otherwise.
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/f.h5" --record "reaction, ledger"
expect 2 view "$work/f.h5" --out "$work/f.html"
says err 'it lacks the coordinates of joint "pin"'
says err '--record'
[[ ! -e $work/f.html ]] || fail "a page was written without a motion"
expect 0 run "$work/pendulum.yaml" --quiet --out "$work/p.h5" --record "pose"
expect 0 view "$work/p.h5" --out "$work/p.html"
page "$work/p.html" 'any("ledger is not recorded" in n for n in d["views"][0]["motion"]["notes"])'
printf 't [s],x [m]\n0,1\n' >"$work/alien.csv"
expect 1 view "$work/alien.csv"
says err "does not carry its model"
# One row only, and a run that was killed: no summary.
grep -v '^# ' "$work/b.csv" | awk '/^#/ || n++ < 2' >"$work/one.csv"
expect 0 view "$work/one.csv" --out "$work/one.html"
page "$work/one.html" 'len(times) == 1 and any("no summary" in n for n in d["views"][0]["motion"]["notes"])'
grep '^#' "$work/b.csv" >"$work/none.csv"
grep -m1 '^t ' "$work/b.csv" >>"$work/none.csv"
expect 1 view "$work/none.csv"
says err "no rows"

# Names that would break a page, in all places.
cat >"$work/names.yaml" <<'YAML'
linkwork: 1
name: "</script><script>alert(1)</script> <!-- \"quoted\" & 'so' 🦾 מנוף"
bodies:
  "</script>": {kind: point, mass: 1, com: [1, 0, 0]}
  "ذراع 🚀": {kind: point, mass: 2, com: [2, 0, 0]}
  "<img src=x onerror=alert(1)>": {kind: point, mass: 1, com: [3, 0, 0]}
joints:
  "a & b": {type: revolute, between: [ground, "</script>"], point: [0, 0, 0], axis: [0, 1, 0]}
  "מפרק": {type: revolute, between: ["</script>", "ذراع 🚀"], point: [1, 0, 0], axis: [0, 1, 0]}
  "<!--": {type: revolute, between: ["ذراع 🚀", "<img src=x onerror=alert(1)>"], point: [2, 0, 0], axis: [0, 1, 0]}
run: {end: 1}
YAML
expect 0 view "$work/names.yaml"
page "$work/names.html" 'd["title"].startswith("</script><script>alert(1)</script>") and "🦾" in d["title"]'
page "$work/names.html" '[b["name"] for b in d["views"][0]["model"]["bodies"]][1:] == ["</script>", "ذراع 🚀", "<img src=x onerror=alert(1)>"]'
page "$work/names.html" '"<img" not in text.replace(scripts[0], "") and html.unescape(re.search("<title>(.*?)</title>", text)[1]) == d["title"]'

# A run that fails on its way leaves the page of what it has reached, with the reason, and exit status 1.
cat >"$work/blows.yaml" <<'YAML'
linkwork: 1
name: blows up
bodies: {bob: {kind: point, mass: 1}}
joints: {slide: {type: prismatic, between: [ground, bob], axis: [1, 0, 0], q: 1}}
forces: {away: {type: drive, joint: slide, force: "1/(1.2 - q)^3"}}
run: {end: 50, tolerance: 1e-6}
YAML
expect 1 view "$work/blows.yaml"
[[ -s $work/blows.html ]] && page "$work/blows.html" 'd["views"][0]["motion"]["failure"] and len(times) >= 1'

# Small files: thirty bodies for ten seconds.
cat >"$work/chain.yaml" <<'YAML'
linkwork: 1
name: thirty links
bodies:
  link{i}: {repeat: {i: 1..30}, shape: rod, points: [["i - 1", 0, 0], ["i", 0, 0]], mass: 1}
joints:
  base: {type: revolute, between: [ground, link1], point: [0, 0, 0], axis: [0, 1, 0]}
  pin{i}: {repeat: {i: 2..30}, type: revolute, between: ["link{i-1}", "link{i}"], point: ["i - 1", 0, 0], axis: [0, 1, 0]}
forces:
  loss{i}: {repeat: {i: 2..30}, type: friction, joint: "pin{i}", viscous: 2}
run: {end: 10, tolerance: 1e-6}
YAML
expect 0 view "$work/chain.yaml"
size=$(stat -c %s "$work/chain.html")
((size < 2000000)) || fail "the page of 30 bodies and 10 s has $size bytes"

# Wrong calls.
expect 2 view
says err "no model or results file given"
expect 2 view "$work/none.yaml"
says err "none.yaml"
expect 1 view "$work/none.h5"
says err "none.h5"
expect 2 view "$work/faulty.yaml"
[[ ! -e $work/faulty.html ]] || fail "a page of a faulty model"
expect 2 view "$work/pendulum.yaml" --out "$work/page.pdf"
says err 'ends neither in .html nor in .glb'
expect 1 view "$work/pendulum.yaml" --out "$work/no/folder/page.html"
says err "no/folder/page.html"
expect 2 view "$work/r.h5" --end 3
says err "holds a run already"
expect 2 view "$work/r.h5" --start 1
says err "holds a run already"
expect 2 view "$work/r.h5" --input lift=x.csv:force
says err "holds a run already"
expect 2 view "$work/pendulum.yaml" "$work/r.h5"
says err "both have to be results"
expect 2 view "$work/r.h5" "$work/b.csv" "$work/r.csv"
expect 2 view "$work/pendulum.yaml" --png soon
says err "is not a time"
expect 2 view "$work/pendulum.yaml" --png 1 --size 3
says err "width x height"
if [[ -w /dev/full ]]; then
    ln -s /dev/full "$work/full.html"
    expect 1 view "$work/pendulum.yaml" --out "$work/full.html"
    says err "cannot be written"
    [[ -c /dev/full ]] || fail "/dev/full is gone"
fi
# Tables of a recorded run come from the results file: their own files need not be there any more.
mkdir "$work/tabled"
printf 'time [s],push [N]\n0,0\n1,5\n' >"$work/tabled/push.csv"
cat >"$work/tabled/model.yaml" <<'MODEL'
linkwork: 1
tables: {push: {file: push.csv, x: time, y: push}}
bodies: {cart: {mass: 1, inertia: [1, 1, 1]}}
joints: {rail: {type: prismatic, between: [ground, cart], axis: [1, 0, 0]}}
forces: {drive: {type: drive, joint: rail, force: push(t)}}
run: {end: 1}
MODEL
for format in csv h5; do
    expect 0 run "$work/tabled/model.yaml" --out "$work/tabled.$format"
done
rm -r "$work/tabled"
for format in csv h5; do
    expect 0 view "$work/tabled.$format" --out "$work/tabled.html"
done
# Without a browser the page is there all the same.
status=0
PATH=/nonexistent "$linkwork" view "$work/pendulum.yaml" --out "$work/png.html" --png 0.5 >"$work/out" 2>"$work/err" || status=$?
[[ $status -eq 1 && -s $work/png.html ]] || fail "--png without a browser: exit status $status"
says err "needs a browser"

echo passed
