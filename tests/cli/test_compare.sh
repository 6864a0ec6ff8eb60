#!/usr/bin/env bash
# linkwork compare: table, JSON document, CSV, sweep over a parameter, calls that are wrong.
source "$(dirname "$0")/support.sh" "$@"
problems=$source_dir/problems

# The document: a list with these members, one entry for each method.
expect 0 compare "$problems/four_bar/model.yaml" --json --end 0.1
silent err
json "isinstance(d, list) and all(set(m) >= {'method', 'applies', 'reason', 'max_rel_diff', 'ns_per_call'} for m in d)"
json "d[0]['method'] == 'tree' and not d[0]['applies'] and 'loop' in d[0]['reason'] and d[0]['ns_per_call'] is None"
json "all(m['ns_per_call'] > 0 and m['max_rel_diff'] <= 1e-9 and m['balance'] < 1e-6 and m['agrees'] for m in d
    if m['applies'] and m['exact'] and not m['method'].startswith('director'))"
# director has no solution for accelerations of its own, and says so
json "all(m['max_rel_diff'] is None and 'lagrange' in m['reason'] for m in d if m['method'].startswith('director'))"
json "[m['method'] for m in d if m['reference']] == ['lagrange']"
json "all(m['steps'] > 0 and m['wall_s'] > 0 and m['drift_position'] < 1e-10 and m['drift_velocity'] < 1e-10 and m['energy_drift'] < 1e-3 and m['completed'] for m in d if m['applies'])"
json "all(m['reaction_diff'] <= 1e-9 for m in d if m['applies'] and m['exact'] and not m['method'].startswith('director')) and [m['condition'] > 1 for m in d if m['method'] == 'lagrange'] == [True]"

# Drift: without control the loop opens, with it it does not.
expect 0 compare "$problems/four_bar/model.yaml" --json --method lagrange --end 2 --tol 1e-6 --drift none
json "len(d) == 1 and d[0]['drift_position'] > 1e-10"
expect 0 compare "$problems/four_bar/model.yaml" --json --method lagrange --end 1 --step "1 ms"
json "d[0]['steps'] == 1000 and d[0]['integrator'] == 'rk4' and d[0]['t_end'] == 1"

# A run that takes too long is given up and says so; that is no failure.
expect 0 compare "$problems/two_arms/model.yaml" --method tree --end "1 h" --budget "50 ms"
says out "given up after 0.05 s"

# Methods that cannot pass a singular position say so and stop, which is no wrong number; the guide of the runs does pass.
expect 0 compare "$problems/parallelogram/model.yaml" --json --method cut,rcr,lagrange
json "[m['method'] for m in d if m['guide']] == ['rcr'] and [m['method'] for m in d if m['reference']] == ['lagrange']"
# cut may come through by chance, as long as its motion is exactly symmetric; lagrange does not.
json "all(m['completed'] == (m['method'] == 'rcr') for m in d if m['method'] != 'cut')"
json "all(m['states'] == 6 and m['agrees'] for m in d) and all(m['final_diff'] < 1e-6 for m in d if m['completed'])"
json "all('singular position' in m['run_reason'] and 'method rcr passes' in m['run_reason'] for m in d if not m['completed'])"

# A method may decline a state.
cat >"$work/frame.yaml" <<'YAML'
linkwork: 1
bodies:
  frame: {mass: 1e-9, com: [0.5, 0, 0], inertia: [1e-10, 1e-10, 1e-10]}
  heavy: {mass: 10, com: [1.5, 0, 0], inertia: [1, 1, 1]}
joints:
  a: {type: revolute, between: [ground, frame], point: [0, 0, 0], axis: [0, 0, 1]}
  b: {type: revolute, between: [frame, heavy], point: [1, 0, 0], axis: [0, 1, 0]}
YAML
expect 0 compare "$work/frame.yaml" --json --method rcr,penalty --no-run
json "[(m['method'], m['declines']) for m in d] == [('rcr', False), ('penalty', True)] and 'very different mass' in d[1]['reason']"

# An approximate method alone has nothing that it could be compared with, and says so instead of a difference.
expect 0 compare "$problems/four_bar/model.yaml" --json --method penalty --no-run
json "d[0]['max_rel_diff'] is None and 'no exact method' in d[0]['reason'] and 'such as lagrange' in d[0]['reason']"
expect 0 compare "$problems/four_bar/model.yaml" --method penalty --no-run
says out "approximate: no exact method has an answer"

# Only some methods; no run; a parameter.
expect 0 compare "$work/pendulum.yaml" --json --method lagrange,tree --no-run --set l=2
json "[m['method'] for m in d] == ['tree', 'lagrange'] and all('steps' not in m and m['states'] == 1 for m in d)"

# The table and the CSV file.
expect 0 compare "$problems/four_bar/model.yaml" --method tree,lagrange,schur --end 0.1 --out "$work/c.csv"
silent err
for text in "reference lagrange" "does not apply" "condition" "schur" "run of 0.1 s by erk" "drift"; do says out "$text"; done
python3 - "$work/c.csv" <<'PYTHON' || fail "the CSV file is wrong: $(cat "$work/c.csv")"
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8")))
assert [r["method"] for r in rows] == ["tree", "lagrange", "schur"], rows
assert rows[0]["applies"] == "0" and "loop" in rows[0]["reason"] and rows[0]["ns_per_call"] == ""
assert float(rows[2]["ns_per_call"]) > 0 and float(rows[2]["max_rel_diff"]) < 1e-9
PYTHON

# A sweep: times grow with the chain; a method whose next size is too dear stops and says so.
expect 0 compare "$problems/chain/model.yaml" --sweep bodies=4..16 --method tree,lagrange --json
silent err
json "[m['method'] for m in d] == ['tree', 'lagrange'] and all(m['parameter'] == 'bodies' and [s['value'] for s in m['sizes']] == [4, 8, 16] for m in d)"
json "all(0.3 < m['exponent'] < 2 and 0.3 < m['exponent_last'] < 2 and m['stopped'] is None for m in d)"
json "all(m['ns_per_call'] == m['sizes'][-1]['ns_per_call'] and m['max_rel_diff'] < 1e-9 for m in d)"
expect 0 compare "$problems/chain/model.yaml" --sweep "bodies=4..8" --method tree,lagrange --budget "1 us" --out "$work/s.csv"
says out "stopped at bodies = 4"
grep -q "^lagrange,4," "$work/s.csv" || fail "no row of the sweep: $(cat "$work/s.csv")"
grep -q "^lagrange,8," "$work/s.csv" && fail "a size beyond the budget: $(cat "$work/s.csv")"

# Calls that are wrong.
wrong() { # text in standard error, arguments...
    local text=$1
    shift
    expect 2 compare "$@"
    silent out
    says err "$text"
}
wrong "did you mean" "$work/pendulum.yaml" --method tree,lagrang
wrong "names no method" "$work/pendulum.yaml" --method ,
wrong "drift" "$work/pendulum.yaml" --drift some
wrong "name=from..to" "$work/pendulum.yaml" --sweep l
wrong "name=from..to" "$work/pendulum.yaml" --sweep l=1
wrong "name=from..to" "$work/pendulum.yaml" --sweep =1..4
wrong "two sizes" "$work/pendulum.yaml" --sweep l=4..5
wrong "two sizes" "$work/pendulum.yaml" --sweep l=0..5
wrong "too many" "$work/pendulum.yaml" --sweep l=1e-30..1e30
wrong "nobody" "$work/pendulum.yaml" --sweep nobody=4..8
wrong "exclude" "$work/pendulum.yaml" --step 0.01 --tol 1e-6
wrong "and --sweep makes none" "$work/pendulum.yaml" --sweep l=1..4 --end 2
wrong "standard output" "$work/pendulum.yaml" --json --out -
wrong "no model file" --json
expect 2 compare "$work/faulty.yaml" --json
silent out
expect 2 compare "$problems/four_bar/model.yaml" --method tree
says err "none of these methods applies"
expect 1 compare "$work/pendulum.yaml" --no-run --out "$work/nowhere/c.csv"
says err "nowhere"

# A page: methods side by side, the motion beside it; a name that HTML would read otherwise.
sed 's/^name: .*/name: "<b>\&amp; pendulum"/' "$work/pendulum.yaml" >"$work/named.yaml"
expect 0 compare "$work/named.yaml" --method tree,lagrange,rcr --page "$work/page"
says out "all on one page: $work/page/index.html"
python3 - "$work/page" <<'PYTHON' || fail "the page of a comparison"
import html.parser, os, re, sys
text = open(os.path.join(sys.argv[1], "index.html"), encoding="utf-8").read()
class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.methods, self.frames, self.texts = [], [], [], []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attributes))
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.texts.append(data)
        if self.open and self.open[-1] == "code":
            self.methods.append(data)
page = Reader()
page.feed(text)
assert not page.open and "<script" not in text, page.open
assert [f["src"] for f in page.frames] == ["motion.html"]
assert all(page.methods.count(m) == 2 for m in ("tree", "lagrange")), page.methods  # a call, and the run
assert any("<b>&amp; pendulum" in t for t in page.texts), "the model's name"
assert not re.search(r"""(src|href)=["'](?!motion.html)""", text)
motion = open(os.path.join(sys.argv[1], "motion.html"), encoding="utf-8").read()
assert "<b>&amp; pendulum" not in motion.split("<script")[0], "the name is markup in the motion's title"
PYTHON
expect 2 compare "$work/pendulum.yaml" --sweep l=1..2 --page "$work/page"
says err "--page shows one model"
expect 1 compare "$work/pendulum.yaml" --no-run --page "$work/no/such/folder"
says err "could not be made"

echo passed
