#!/usr/bin/env bash
# tools/verify, which shares no code with the program, finds every problem's results right, and altered ones wrong.
source "$(dirname "$0")/support.sh" "$@"

cd "$work"
# numpy comes from Debian, whatever Python comes first on the path.
python=python3
"$python" -c "import numpy, yaml" 2>/dev/null || python=/usr/bin/python3
verify=("$python" "$source_dir/tools/verify")
right=0
for model in "$source_dir"/problems/*/model.yaml; do
    name=$(basename "$(dirname "$model")")
    list=$("${verify[@]}" --record "$model") || continue
    "$linkwork" run "$model" --record "$list" --end 0.2 --output 0.05 --out "$name.csv" >run.log 2>&1 ||
        fail "$name: $(tail -1 run.log)"
    status=0
    "${verify[@]}" "$name.csv" >verdict || status=$?
    case $status in
    0) right=$((right + 1)) ;;
    1) fail "$name: $(cat verdict)" ;;
    esac
done
[[ $right -ge 48 ]] || fail "only $right problems could be judged"

# One number in twenty thousand, in a reaction, an acceleration, a position, the ledger.
for column in 'reaction(B).fx' 'body.coupler.az' 'body.rocker.x' 'kinetic'; do
    "$python" - four_bar.csv "$column" >altered.csv <<'CODE'
import sys
lines = open(sys.argv[1]).read().split("\n")
head = next(k for k, line in enumerate(lines) if line.startswith("t ["))
place = [name.split(" [")[0] for name in lines[head].split(",")].index(sys.argv[2])
row = lines[head + 3].split(",")
row[place] = repr(float(row[place]) * 1.00005)
lines[head + 3] = ",".join(row)
print("\n".join(lines))
CODE
    "${verify[@]}" altered.csv >verdict && fail "$column altered, and nobody saw it: $(cat verdict)"
done
exit 0
