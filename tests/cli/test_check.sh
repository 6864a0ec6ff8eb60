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

echo passed
