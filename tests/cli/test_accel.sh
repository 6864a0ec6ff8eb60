#!/usr/bin/env bash
# linkwork accel: a pendulum's acceleration and reaction, by hand.
source "$(dirname "$0")/support.sh" "$@"

# Horizontal, at rest: qdd = g / l, and a point mass on a massless rod falls freely, so the pin carries nothing.
# Rounding only: 1e-12 relative to g.
expect 0 accel "$work/pendulum.yaml" --json --method tree
silent err
json "set(d) >= {'method', 'qdd', 'reactions'} and d['method'] == 'tree'"
json "set(d['reactions']['pin']) == {'force', 'torque', 'unique'} and d['reactions']['pin']['unique'] == [True] * 6"
json "len(d['qdd']['pin']) == 1 and close(d['qdd']['pin'][0], 9.81, 1e-11)"
json "all(abs(x) < 1e-11 for x in d['reactions']['pin']['force'] + d['reactions']['pin']['torque'])"
expect 0 accel "$work/pendulum.yaml" --json --set "l = 2 m" --set m=3
json "close(d['qdd']['pin'][0], 9.81 / 2, 1e-11)"
# Hanging at rest: no acceleration, the pin carries the weight.
expect 0 accel "$work/pendulum.yaml" --json --set start=pi/2
json "abs(d['qdd']['pin'][0]) < 1e-11"
json "all(close(a, b, 1e-11) for a, b in zip(d['reactions']['pin']['force'], [0, 0, 9.81]))"

expect 0 accel "$work/pendulum.yaml"
says out "method tree"
says out "pin"
expect 2 accel "$work/pendulum.yaml" --method trees
says err "trees"
silent out
expect 2 accel "$work/faulty.yaml"
silent out

# Given initial values that do not fit together are taken as approximate, and that is said.
sed 's/^  D: {/  D: {v: 9 rad\/s, q: 20 deg, /' "$source_dir/problems/four_bar/model.yaml" >"$work/apart.yaml"
expect 0 accel "$work/apart.yaml" --json
json "d['method']"
says err 'apart.yaml: warning: joint "'
says err 'the given initial coordinates do not fit together and were taken as approximate; here one changed by '
says err 'the given initial speeds do not fit together and were taken as approximate; here one changed by '
[[ $(wc -l <"$work/err") -eq 2 ]] || fail "two warnings, not $(cat "$work/err")"
expect 0 accel "$source_dir/problems/four_bar/model.yaml"
silent err

echo passed
