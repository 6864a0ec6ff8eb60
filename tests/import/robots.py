#!/usr/bin/env python3
"""Published robots: what their imports hold, and their accelerations at seeded states, against numbers that the judges have seen.

Call: robots.py PROBE LIST FOLDER [--write]
LIST has a line for each file: path, options, bodies, loops, constraints, mobility, digest. The digest is the sum over five states of
sum_k a_k cos(k) with the joints in the order of their names, so that it does not depend on the order of the tree; it is compared to
1e-7 of the sum of |a_k|, which is above the rounding of the lightest parts (make test-import compares with other programs).
"""
import json
import math
import os
import subprocess
import sys


def figures(probe, path, options):
    words = [] if options == "-" else options.split(",")
    found = subprocess.run([probe, path, "7", "5", "0.2"] + words, capture_output=True, text=True)
    if found.returncode != 0:
        raise RuntimeError("%s: %s" % (path, found.stderr))
    out = json.loads(found.stdout)
    joints = sorted((j for j in out["joints"] if not j["cut"] and j["nv"]), key=lambda j: j["name"])
    places = [j["v"] + k for j in joints for k in range(j["nv"])]
    digest = size = 0.0
    for state in out["states"]:
        if state["status"] != 0:
            raise RuntimeError("%s: no accelerations" % path)
        digest += sum(state["a"][place] * math.cos(k) for k, place in enumerate(places))
        size += sum(abs(state["a"][place]) for place in places)
    assert len(out["states"]) == 5
    return [out["bodies"], sum(j["cut"] for j in out["joints"]), out["constraints"], out["mobility"]], digest, size


def main():
    probe, listed, folder = sys.argv[1:4]
    write = "--write" in sys.argv
    lines, bad, seen = [], 0, 0
    for line in open(listed, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            lines.append(line)
            continue
        words = line.split()
        path = os.path.join(folder, words[0])
        if not os.path.exists(path):
            print("%s is not there and was passed over" % words[0])
            lines.append(line)
            continue
        counts, digest, size = figures(probe, path, words[1])
        seen += 1
        lines.append("%s %s %s %.12e\n" % (words[0], words[1], " ".join(map(str, counts)), digest))
        if not write and (counts != [int(w) for w in words[2:6]] or abs(digest - float(words[6])) > 1e-7 * size):
            print("%s %s: wanted %s, got %s %.12e" % (words[0], words[1], " ".join(words[2:]), counts, digest))
            bad += 1
    if write:
        open(listed, "w", encoding="utf-8").writelines(lines)
    print("%d imports as expected" % (seen - bad))
    sys.exit(1 if bad else 0)


main()
