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

echo passed
