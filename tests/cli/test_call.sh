#!/usr/bin/env bash
# The command line itself: help, version, wrong commands and options; messages and exit statuses.
source "$(dirname "$0")/support.sh" "$@"

expect 0 --version
[[ $(cat "$work/out") =~ ^linkwork\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "version: $(cat "$work/out")"
for call in help --help -h; do
    expect 0 "$call"
    says out "linkwork run"
    silent err
done
expect 2
silent out
for command in run check info accel plot; do
    expect 0 "$command" --help
    says out "linkwork $command"
    silent err
    cp "$work/out" "$work/first"
    expect 0 help "$command"
    cmp -s "$work/out" "$work/first" || fail "help $command differs from $command --help"
    expect 2 "$command"
    says err "file given; the call is linkwork $command"
    silent out
done

expect 2 rnu model.yaml
says err 'there is no command "rnu"; did you mean linkwork run?'
expect 2 dance
says err 'there is no command "dance"; linkwork help lists them'
expect 2 help dance
says err 'there is no command "dance"'

expect 2 run m.yaml --methd tree
says err 'there is no option "--methd"; did you mean --method?'
expect 2 run m.yaml --methd=tree
says err 'did you mean --method?'
expect 2 run m.yaml -end 3
says err 'did you mean --end?'
expect 2 run m.yaml --colour
says err 'there is no option "--colour"; linkwork run --help lists them'
expect 2 run m.yaml -
says err 'one argument too many'
expect 2 run m.yaml --end
says err '--end has no value'
expect 2 run m.yaml --end=
says err '--end has no value'
expect 2 run m.yaml --json=yes
says err '--json takes no value'

for value in abc 1x "1 kg" 0x 0x10 "" nan inf -1 0 1e999 1/0 "2 s s" .nan; do
    for option in end step tol output; do
        expect 2 run m.yaml "--$option=$value"
        says err "linkwork run: --$option"
        silent out
    done
done
expect 2 run m.yaml --end abc
says err '--end: "abc", character 1: unknown name "abc"; did you mean "abs"?'
expect 2 run m.yaml --step -1
says err '--step: -1 is not greater than zero; give e.g. --step "1 ms"'
expect 2 run m.yaml --end 0x1F
says err '--end: "0x1F", character 2: unknown unit "x1F"'
expect 2 run m.yaml --end nan
says err '--end: "nan", character 1: "nan" is not a number to compute with; use a finite number, e.g. 1e9'
expect 2 run m.yaml --tol=-inf
says err '--tol: "-inf", character 2: "inf" is not a number to compute with'
expect 2 run m.yaml --output "10 mss"
says err '--output: "10 mss", character 4: unknown unit "mss"; did you mean "ms"?'
expect 2 run m.yaml --end "10 mm"
says err '--end: "10 mm", character 4: mm is a length, but a time is expected; give it in s'
expect 2 run m.yaml --tol "1e-3 m"
says err '--tol: "1e-3 m", character 6: m is a length, but a plain number is expected; leave the unit out'

echo passed
