#!/usr/bin/env bash
# linkwork check: every fault in one call, with place and remedy.
source "$(dirname "$0")/support.sh" "$@"

expect 0 check "$work/pendulum.yaml"
silent err
says out "0 errors, 0 warnings"

# The problems of the project are right.
for model in "$source_dir"/problems/*/model.yaml; do
    expect 0 check "$model"
    says out "0 errors, 0 warnings"
done

faults() { # file, line of each of its faults: all are told, and counted as they should be
    local file=$1 line count
    shift
    expect 2 check "$work/$file"
    for line; do says err "$work/$file:$line:"; done
    count=$(grep -c "^$work/$file:[0-9]*:[0-9]*: " "$work/err" || true)
    [[ $count -ge $# ]] || fail "$file: only $count faults found"
    says out "$count errors, 0 warnings"
}
faults faulty.yaml 4 6
says err 'body "rod"'
says err 'joint "foot": axis [0, 0, 0] has no direction'
faults mistyped.yaml 4 6 7
says err 'did you mean "mass"'
says err 'did you mean "rod"'
says err 'did you mean "revolute"'

# In the order of the file, whoever found them; as JSON the same.
cat >"$work/mixed.yaml" <<'YAML'
linkwork: 1
bodies:
  rod: {mass: 0, magnet: red}
  lost: {mass: -1}
joints:
  pin: {type: weld, between: [ground, rod]}
run: {method: tre, integrator: rk5, drift: sideways, end: -1}
YAML
faults mixed.yaml 3 4 7
says out "7 errors, 0 warnings"
for text in 'body "lost": is not connected to ground' 'body "lost": mass -1 is not a mass' 'run: end -1 is not positive' \
    'run: unknown method "tre"' 'run: unknown integrator "rk5"' 'run: unknown drift control "sideways"'; do
    says err "$text"
done
sort -t: -s -n -k2,2 -k3,3 "$work/err" | cmp -s - "$work/err" || fail "the faults are not in the order of the file"
expect 2 check "$work/mixed.yaml" --json
silent err
json 'len(d) == 7 and all(set(f) == {"severity", "file", "line", "column", "object", "message", "remedy"} for f in d)'
json '[f["line"] for f in d] == sorted(f["line"] for f in d) and d[0]["column"] == 18'
json "d[0]['file'] == '$work/mixed.yaml' and d[0]['object'] == 'body \"rod\"' and d[0]['message'] == 'unknown key \"magnet\"'"
json '{f["severity"] for f in d} == {"error"}'
sed 's/mass: -1/mass: 1, inertia: [1, 1, 1]/; s/, magnet: red//; s/ground, rod/ground, lost/; s/^run:.*//' "$work/mixed.yaml" >"$work/loose.yaml"
expect 2 check "$work/loose.yaml" --json
json 'len(d) == 1 and (d[0]["line"], d[0]["column"], d[0]["message"]) == (3, 3, "is not connected to ground")'
expect 0 check "$work/pendulum.yaml" --json
json 'd == []'
expect 2 check "$work/none.yaml" --json
json 'len(d) == 1 and d[0]["line"] is None and d[0]["object"] is None'

# Four bars that are too short for their ground: the joint that does not close, with its place.
cat >"$work/short.yaml" <<'YAML'
linkwork: 1
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  coupler: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  rocker: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  a: {type: revolute, between: [ground, crank], first: {point: [0, 0, 0], axis: [0, 0, 1]}, second: {point: [0, 0, 0], axis: [0, 0, 1]}}
  b: {type: revolute, between: [crank, coupler], first: {point: [1, 0, 0], axis: [0, 0, 1]}, second: {point: [0, 0, 0], axis: [0, 0, 1]}}
  c: {type: revolute, cut: true, between: [coupler, rocker], first: {point: [1, 0, 0], axis: [0, 0, 1]}, second: {point: [1, 0, 0], axis: [0, 0, 1]}}
  d: {type: revolute, between: [ground, rocker], first: {point: [30, 0, 0], axis: [0, 0, 1]}, second: {point: [0, 0, 0], axis: [0, 0, 1]}}
YAML
expect 2 check "$work/short.yaml"
says err 'short.yaml:9:3: joint "c": the mechanism cannot be assembled: its two sides stay 27.'
says out "1 error, 0 warnings"
sed -i 's/30, 0, 0/2, 0, 0/' "$work/short.yaml"
expect 0 check "$work/short.yaml"

expect 2 check "$work/none.yaml"
says err "none.yaml"
says out "1 error, 0 warnings"
expect 2 check "$work"
expect 2 check "$work/pendulum.yaml" --set l=abc
: >"$work/empty.yaml"
expect 2 check "$work/empty.yaml"
says err "empty.yaml"
python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(7).randbytes(4096))' >"$work/noise.yaml"
expect 2 check "$work/noise.yaml"


# Parameters keep their dimension, and a value from outside must have it, too.
cat >"$work/units.yaml" <<'YAML'
linkwork: 1
parameters: {ks: 45 N/mm, c: 3, M: 3 kg, phi: 90}
bodies:
  a: {mass: M, inertia: [1, 1, 1]}
  b: {mass: 2*M, inertia: [1, 1, 1], position: [0, 0, 1]}
joints:
  p: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0], q: 30 deg}
  link{i}: {repeat: {i: 1..1}, type: revolute, between: [a, b], point: [0, 0, 1], axis: [0, 1, 0], q: 2*pi*i}
forces:
  s: {type: spring, between: [ground, b], first: [0, 0, 0], second: [0, 0, 0], stiffness: ks, damping: c}
YAML
expect 0 check "$work/units.yaml"
says out "0 errors, 0 warnings"
expect 0 check "$work/units.yaml" --set ks=5000 --set "M=300 g" --set "c=2 N s/m"
says out "0 errors, 0 warnings"
for command in check info accel "run --end 0.01"; do
    expect 2 $command "$work/units.yaml" --set "ks=45 mm"
    says err 'parameter "ks": set to "45 mm", character 1: that is a length, but in the model it is a stiffness (45 N/mm); give a stiffness, e.g. 45 N/mm'
done
expect 2 check "$work/units.yaml" --set "c=45 mm"
says err "$work/units.yaml:10:104: force \"s\": damping \"c\" is a length (45 mm); give a damping, e.g. 3 N s/m"
expect 2 check "$work/units.yaml" --set "M=ks"
says err 'that is a stiffness, but in the model it is a mass (3 kg)'
expect 2 check "$work/units.yaml" --set "M=2 kg + ks"
says err 'a mass and a stiffness cannot be added'

# Angles of more than a turn without a unit are questioned, of a repeated joint once.
sed 's/q: 30 deg/q: 90/; s/2\*pi\*i/phi/; s/i: 1..1/i: 1..2/; s/between: \[a, b\]/between: ["a", "b"]/' "$work/units.yaml" >"$work/angles.yaml"
expect 0 check "$work/angles.yaml"
says err 'warning: joint "p": q is 90 rad; did you mean 90 deg? Write 90 rad if not'
says err 'warning: joint "link1": q is 90 rad; did you mean 90 deg?'
[[ $(grep -c "did you mean" "$work/err") -eq 2 ]] || fail "the angle of link2 is questioned again"
expect 0 check "$work/angles.yaml" --set "phi=90 deg"
[[ $(grep -c "did you mean" "$work/err") -eq 1 ]] || fail "90 deg is questioned"

# So are angular speeds in Hz, which are 2 pi times slower than most who write them think.
sed 's/, q: start/, v: 20 Hz/' "$work/pendulum.yaml" >"$work/hertz.yaml"
expect 0 check "$work/hertz.yaml"
says err 'warning: joint "pin": v of 20 Hz is 20 rad/s; did you mean 20 rev/s? Write 20 rad/s if not'
sed 's/, q: start/, v: w/; s/start: 0/w: 3 rad\/s/' "$work/pendulum.yaml" >"$work/hertz.yaml"
expect 0 check "$work/hertz.yaml"
silent err
expect 0 check "$work/hertz.yaml" --set "w=20 Hz"
says err 'v of 20 Hz is 20 rad/s'
expect 0 check "$work/hertz.yaml" --set "w=20 rev/s"
silent err

# A mechanism that is rigid: a four-bar linkage with one axis turned by a right angle, and one with a rod too many.
cat >"$work/rigid.yaml" <<'YAML'
linkwork: 1
bodies:
  crank: {mass: 1, shape: rod, points: [[0, 0, 0], [0, 0, 1]]}
  coupler: {mass: 1, shape: rod, points: [[0, 0, 1], [2, 0, 1.5]]}
  rocker: {mass: 1, shape: rod, points: [[2, 0, 0], [2, 0, 1.5]]}
joints:
  A: {type: revolute, between: [ground, crank], point: [0, 0, 0], axis: [0, 1, 0]}
  B: {type: revolute, between: [crank, coupler], point: [0, 0, 1], axis: [0, 1, 0]}
  C: {type: revolute, between: [coupler, rocker], point: [2, 0, 1.5], axis: [1, 0, 0]}
  D: {type: revolute, between: [ground, rocker], point: [2, 0, 0], axis: [0, 1, 0]}
YAML
sed 's/axis: \[1, 0, 0\]/axis: [0, 1, 0]/' "$work/rigid.yaml" >"$work/moves.yaml"
cp "$work/moves.yaml" "$work/rod.yaml"
printf 'constraints:\n  stay: {type: distance, between: [ground, coupler], points: [[2, 0, 0], [1, 0, 1.25]]}\n' >>"$work/rod.yaml"
for model in rigid rod; do
    expect 0 check "$work/$model.yaml"
    says err "warning: mobility 0: nothing can move"
    says out "0 errors, 1 warning"
    expect 0 check "$work/$model.yaml" --json
    json 'len(d) == 1 and d[0]["severity"] == "warning" and "mobility 0" in d[0]["message"]'
    expect 0 run "$work/$model.yaml" --end 0.1
    says err "warning: mobility 0: nothing can move"
    expect 0 info "$work/$model.yaml" --all
    says out "mobility 0: nothing can move"
done
expect 0 check "$work/moves.yaml"
says out "0 errors, 0 warnings"
sed 's/axis: \[0, 1, 0\]}/axis: [0, 1, 0], motion: 0*t}/; ' "$work/moves.yaml" >"$work/driven.yaml" # driven is not rigid
sed -i '0,/, motion: 0\*t/! s/, motion: 0\*t//' "$work/driven.yaml"
expect 0 check "$work/driven.yaml"
says out "0 errors, 0 warnings"
# At rest and in balance: said, too; and initial values that do not fit are counted.
printf 'linkwork: 1\ngravity: [0, 0, 0]\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {p: {type: revolute, between: [ground, a], point: [0, 0, 0], axis: [0, 1, 0]}}\n' >"$work/rest.yaml"
expect 0 run "$work/rest.yaml" --end 1
says err "nothing moves: it starts at rest and stays there"
sed 's/point: \[0, 0, 1\], axis: \[0, 1, 0\]}/point: [0, 0, 1], axis: [0, 1, 0], v: 3}/; s/point: \[0, 0, 0\], axis: \[0, 1, 0\]}/point: [0, 0, 0], axis: [0, 1, 0], v: 1}/' "$work/moves.yaml" >"$work/unfit.yaml"
expect 0 check "$work/unfit.yaml"
says err "the given initial speeds do not fit together"
says out "0 errors, 1 warning"

# What stands in a model or a call reaches the terminal as text, not as a command.
printf 'linkwork: 1\nname: "T\\e[31mRED\\a\\nfoo\\r\\n# method: forged"\nbodies: {bob: {kind: point, mass: 1, com: [0, 0, -1]}}\njoints: {pin: {type: revolute, between: [ground, bob], point: [0, 0, 0], axis: [0, 1, 0], q: 1}}\n' >"$work/escape.yaml"
harmless() { # neither output has a control character but line ends
    ! LC_ALL=C grep -q '[[:cntrl:]]' "$work/out" || fail "control characters on standard output"
    ! LC_ALL=C grep -q '[[:cntrl:]]' "$work/err" || fail "control characters on standard error"
}
for command in check info accel "run --end 0.1" "compare --no-run"; do
    expect 0 $command "$work/escape.yaml"
    harmless
done
expect 0 info "$work/escape.yaml" --all
says out 'T\x1B[31mRED\x07\nfoo\r\n# method: forged'
printf 'linkwork: 1\nbodies: {"b\\e[31m": {kind: point, mass: 1}, c: {kind: "\\e[31mX\\n", mass: 1}}\n"\\e[2Jkey": 2\n' >"$work/keys.yaml"
expect 2 check "$work/keys.yaml"
harmless
says err 'unknown key "\x1B[2Jkey"'
says err 'a name has a control character in it'
expect 2 check $'no\e[31m.yaml' --set $'a\e=1'
harmless
expect 2 check --$'no\e[31m'
harmless

echo passed
