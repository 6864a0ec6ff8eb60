#!/usr/bin/env bash
# What the program says and how it is called: a short info, standard input, several files, colours on terminals only,
# results of another model that are not lost.
source "$(dirname "$0")/support.sh" "$@"

# info answers in fifteen lines, whatever the model; --all has what they leave out.
for problem in "$source_dir"/problems/*/model.yaml; do
    expect 0 info "$problem"
    lines=$(wc -l <"$work/out")
    [[ $lines -le 15 ]] || fail "info $problem prints $lines lines"
    says out "mobility"
    says out "--all"
done
expect 0 info "$source_dir/problems/four_bar/model.yaml"
says out "1 loop"
grep -q "1 loops" "$work/out" && fail "1 loops"
says out "3 redundant"
says out "auto takes    rcr"
grep -q "carried by" "$work/out" && fail "the bodies of a short info"
expect 0 info "$source_dir/problems/four_bar/model.yaml" --all
says out "carried by"
# Refusals that are the same are told once.
expect 0 info "$source_dir/problems/hub/model.yaml" --all
[[ $(grep "does not apply" "$work/out" | sed 's/.*does not apply//' | sort | uniq -d | wc -l) -eq 0 ]] ||
    fail "a refusal stands twice: $(cat "$work/out")"

# A short table of joints.
expect 0 run "$source_dir/problems/chain/model.yaml" --end 0.01
says out "and 56 more; --all prints them"
expect 0 run "$source_dir/problems/chain/model.yaml" --end 0.01 --all
says out "hinge64"

# Standard input, with files beside it looked for in the current folder.
from_input() { # STATUS FILE ARGUMENTS...
    local wanted=$1 file=$2 status=0
    shift 2
    "$linkwork" "$@" <"$file" >"$work/out" 2>"$work/err" || status=$?
    [[ $status -eq $wanted ]] || fail "linkwork $* < $file: exit status $status, not $wanted; $(cat "$work/err")"
}
from_input 0 "$work/pendulum.yaml" run - --json
python3 -c "import json,sys; d=json.load(open(sys.argv[1])); d.pop('wall_s'); json.dump(d,open(sys.argv[2],'w'))" \
    "$work/out" "$work/input.json"
expect 0 run "$work/pendulum.yaml" --json
python3 -c "import json,sys; d=json.load(open(sys.argv[1])); d.pop('wall_s'); assert d==json.load(open(sys.argv[2]))" \
    "$work/out" "$work/input.json" || fail "another run from standard input"
for command in info check accel equilibrium linearise modes compare; do
    from_input 0 "$work/pendulum.yaml" "$command" -
done
from_input 0 "$work/pendulum.yaml" check - --json
from_input 2 "$work/faulty.yaml" check -
says err "standard input:6:"
from_input 2 "$work/pendulum.yaml" view -
says err "give --out FILE.html"
from_input 2 /dev/null run -
printf '<robot name="r"/>' >"$work/robot.urdf"
from_input 2 "$work/robot.urdf" run -
says err "standard input holds XML"
(cd "$source_dir/problems/suspension" && "$linkwork" run - --end 0.01 --quiet <model.yaml) || fail "files beside standard input"

# Several files at once: the worst decides.
expect 2 check "$work/pendulum.yaml" "$work/faulty.yaml" "$work/mufti.yaml"
says out "pendulum.yaml: 0 errors"
says out "faulty.yaml: 2 errors"
says out "mufti.yaml: 0 errors"
expect 2 check "$work/pendulum.yaml" "$work/faulty.yaml" --json
json "len(d) == 2 and all('faulty.yaml' in f['file'] for f in d)"
expect 2 check
says err "no model file given"

# Results of this model are written over; those of another are kept; the model itself is refused.
expect 0 run "$work/pendulum.yaml" --out "$work/r.csv" --quiet
expect 0 run "$work/pendulum.yaml" --out "$work/r.csv" --quiet
silent err
[[ ! -e $work/r.csv~ ]] || fail "results of the same model were kept"
expect 0 run "$work/mufti.yaml" --end 0.1 --out "$work/r.csv" --quiet
says err "r.csv held results of another model, \"pendulum\": kept as"
grep -q "model: pendulum" "$work/r.csv~" || fail "the results of the pendulum are lost"
expect 0 run "$work/pendulum.yaml" --out "$work/r.h5" --quiet
expect 0 run "$work/mufti.yaml" --end 0.1 --out "$work/r.h5" --quiet
says err "kept as"
cp "$work/pendulum.yaml" "$work/model.csv"
expect 2 run "$work/model.csv" --out "$work/model.csv"
says err "is the model itself"
cmp -s "$work/pendulum.yaml" "$work/model.csv" || fail "the model was written over"

# Colours on a terminal, unless NO_COLOR or TERM=dumb says otherwise; never in a pipe.
python3 - "$linkwork" "$work/pendulum.yaml" <<'PYTHON' || fail "colours"
import os, pty, subprocess, sys
def shown(**changes):
    main, side = pty.openpty()
    environment = {k: v for k, v in {**os.environ, "TERM": "xterm", "NO_COLOR": "", **changes}.items()}
    subprocess.run([sys.argv[1], "info", sys.argv[2]], stdout=side, stderr=side, env=environment, check=True)
    os.close(side)
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    return text
assert b"\033[1m" in shown()
assert b"\033" not in shown(NO_COLOR="1")
assert b"\033" not in shown(TERM="dumb")
piped = subprocess.run([sys.argv[1], "info", sys.argv[2]], stdout=subprocess.PIPE, check=True).stdout
assert b"\033" not in piped
PYTHON

# The manual: a page for every command, made of its own table of options; troff has nothing to say against them.
expect 0 manual --list
cp "$work/out" "$work/pages"
[[ $(wc -l <"$work/pages") -ge 18 ]] || fail "only $(wc -l <"$work/pages") pages"
while read -r page; do
    if [[ $page == linkwork ]]; then expect 0 manual; else expect 0 manual "$page"; fi
    says out ".SH EXIT STATUS"
    if [[ $page != linkwork ]]; then
        cp "$work/out" "$work/page"
        expect 0 "${page#linkwork-}" --help
        for option in $(grep -oE '^  --[a-z-]+' "$work/out"); do
            grep -qF -- "${option//-/\\-}" "$work/page" || fail "$page has no $option"
        done
        if command -v groff >/dev/null; then
            [[ -z $(groff -man -Tutf8 -ww "$work/page" 2>&1 >/dev/null) ]] || fail "groff warns of $page"
        fi
    fi
done <"$work/pages"
python3 "$source_dir/tools/manual_of_model" "$source_dir/docs/model.schema.json" 0 >"$work/model.5" || fail "linkwork-model(5)"
grep -q "^.SS joints" "$work/model.5" || fail "linkwork-model(5) has no joints"
expect 2 manual nothing
says err "there is no page"

# Completions: commands, options, values, names of the model; by bash itself.
completes() { # EXPECTED WORDS...
    local wanted=$1
    shift
    expect 0 completion -- "$@"
    cut -f 1 "$work/out" | grep -qxF -- "$wanted" || fail "linkwork $* is not completed by $wanted: $(cat "$work/out")"
}
completes run ru
completes --integrator run --int
completes rcr run "$work/pendulum.yaml" --method r
completes bdf run "$work/pendulum.yaml" --integrator = b
completes l= run "$work/pendulum.yaml" --set ""
completes pin run "$work/pendulum.yaml" --independent p
completes "joint,reaction(pin)" run "$work/pendulum.yaml" --record "joint,rea"
expect 0 completion -- run "$work/pend"
silent out
for shell in bash zsh fish; do expect 0 completion "$shell"; done
expect 2 completion csh
says err "give bash, zsh or fish"
found=$(PATH="$(dirname "$linkwork"):$PATH" bash -c 'source <(linkwork completion bash); COMP_WORDS=(linkwork run --int); COMP_CWORD=2
    _linkwork; echo "${COMPREPLY[@]}"')
[[ $found == --integrator ]] || fail "bash completes --int by \"$found\""

echo passed
