#!/usr/bin/env bash
# Large models: auto predicts before it creates, so that it takes no more memory than the method that it chooses.
source "$(dirname "$0")/support.sh" "$@"

python3 - "$linkwork" "$source_dir/problems/ladder/model.yaml" <<'PYTHON' || fail "auto takes memory for methods that it does not choose"
import os, subprocess, sys
def memory(*method):
    child = subprocess.Popen([sys.argv[1], "accel", sys.argv[2], "--set", "N=1024", *method], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    return usage.ru_maxrss
auto, rcr = memory(), memory("--method", "rcr")
print(auto, rcr)
assert auto <= 1.3 * rcr, (auto, rcr)
PYTHON

# Which reactions are unique is found by sparse factors here, in two ways (constraints/sparse_rank.c, rcr's own null vectors), and by
# orthogonal factors on small models: a ladder of four-bars, in which some components are unique, below and above the bound on size.
for N in 40 300; do
    expect 0 accel "$source_dir/problems/n_four_bar/model.yaml" --set N=$N --method lagrange --json
    cp "$work/out" "$work/by_lagrange"
    json "sum(not all(r['unique']) for r in d['reactions'].values()) == 3 * $N + 1 and sum(any(r['unique']) for r in d['reactions'].values()) == 3 * $N + 1"
    expect 0 accel "$source_dir/problems/n_four_bar/model.yaml" --set N=$N --method rcr --json
    json "all(r['unique'] == json.load(open('$work/by_lagrange'))['reactions'][j]['unique'] for j, r in d['reactions'].items())"
done

echo passed
