# What the tests of the program share. Call in a test: source "$(dirname "$0")/support.sh" "$@"
# shellcheck shell=bash
set -euo pipefail
linkwork=$1
source_dir=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect STATUS ARGUMENTS...: calls the program, keeps what it prints in $work/out and $work/err.
expect() {
    local wanted=$1 status=0
    shift
    "$linkwork" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [[ $status -eq $wanted ]] || fail "linkwork $*: exit status $status, not $wanted; $(cat "$work/err")"
}

# says out|err TEXT: the last call printed it there.
says() {
    grep -qF -- "$2" "$work/$1" || fail "\"$2\" is not in std$1: $(cat "$work/$1")"
}

silent() { # out|err
    [[ ! -s $work/$1 ]] || fail "std$1 is not empty: $(cat "$work/$1")"
}

# json EXPRESSION: true for the document d in $work/out, which must be valid JSON (no NaN) with no member twice.
json() {
    python3 - "$work/out" "$1" <<'PYTHON' || fail "not so: $1, in: $(cat "$work/out")"
import json, math, sys
def once(pairs):
    assert len(pairs) == len(dict(pairs)), "a member stands twice"
    return dict(pairs)
def no_constant(name):
    raise ValueError(name + " is not JSON")
with open(sys.argv[1], encoding="utf-8") as f:
    d = json.load(f, object_pairs_hook=once, parse_constant=no_constant)
def close(a, b, tolerance):
    return abs(a - b) <= tolerance
sys.exit(0 if eval(sys.argv[2]) else 1)
PYTHON
}

# A pendulum: mass m on a massless rod of length l, at rest at angle start below the horizontal. Its first angular
# acceleration is g cos(start) / l.
cat >"$work/pendulum.yaml" <<'YAML'
linkwork: 1
name: pendulum
parameters: {l: 1 m, m: 1 kg, start: 0}
bodies:
  bob: {kind: point, mass: m, com: [l, 0, 0]}
joints:
  pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], q: start}
run: {end: 2, tolerance: 1e-9}
YAML

# Faults of the mechanism: a negative mass, an axis without direction.
cat >"$work/faulty.yaml" <<'YAML'
linkwork: 1
name: faulty
bodies:
  rod: {mass: -1, com: [1, 0, 0], inertia: [1, 1, 1]}
joints:
  foot: {type: revolute, between: [ground, rod], point: [0, 0, 0], axis: [0, 0, 0]}
YAML

# Faults of the text: an unknown body, an unknown type, a key mistyped.
cat >"$work/mistyped.yaml" <<'YAML'
linkwork: 1
name: mistyped
bodies:
  rod: {mas: 1, com: [1, 0, 0], inertia: [1, 1, 1]}
joints:
  pin: {type: revolute, between: [ground, rood], point: [0, 0, 0], axis: [0, 1, 0]}
  foot: {type: revolut, between: [ground, rod], point: [0, 0, 0], axis: [0, 1, 0]}
YAML

# The six bodies of mufti1983, fig. 3a, named by their labels there, written in another order; b0 is ground.
cat >"$work/mufti.yaml" <<'YAML'
linkwork: 1
name: "six bodies \"of\" mufti\\1983 é\tü \x01"
bodies:
  b4: {kind: point, mass: 1}
  b5: {kind: point, mass: 1}
  b6: {kind: point, mass: 1}
  b2: {kind: point, mass: 1}
  b3: {kind: point, mass: 1}
  b1: {kind: point, mass: 1}
joints:
  h0: {type: translation, between: [ground, b1], axes: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
  h3: {type: translation, between: [b2, b4], axes: [[1, 0, 0]]}
  h4: {type: translation, between: [b2, b5], axes: [[1, 0, 0]]}
  h5: {type: translation, between: [b2, b6], axes: [[1, 0, 0]]}
  h1: {type: translation, between: [b1, b2], axes: [[1, 0, 0]]}
  h2: {type: translation, between: [b1, b3], axes: [[1, 0, 0]]}
YAML
