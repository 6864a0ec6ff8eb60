#!/usr/bin/env bash
# linkwork equilibrium, linearise and modes: a hanging mass by hand, files, refusals.
source "$(dirname "$0")/support.sh" "$@"

cat >"$work/mass.yaml" <<'END'
linkwork: 1
name: mass
gravity: [0, 0, -9.81]
inputs: {push: 0}
states: {lag: {start: 0.3, rate: z.q - lag}}
bodies: {m: {kind: point, mass: 2}}
joints: {z: {type: prismatic, between: [ground, m], axis: [0, 0, 1]}}
forces:
  s: {type: torsion, joint: z, stiffness: 50, damping: 3}
  p: {type: drive, joint: z, force: push}
outputs: {height: 2*z.q}
END
expect 0 equilibrium "$work/mass.yaml" --json --out "$work/rest.yaml"
/usr/bin/python3 - "$work/out" <<'END' || fail "equilibrium of a mass"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["converged"] and r["stable"] and abs(r["joints"]["z"]["q"][0] + 2 * 9.81 / 50) < 1e-12, r
assert abs(r["states"]["lag"] + 2 * 9.81 / 50) < 1e-12 and r["reactions"]["z"]["unique"] == [True] * 6, r
END
expect 0 accel "$work/rest.yaml" --json
/usr/bin/python3 - "$work/out" <<'END' || fail "the model that was written is not at rest"
import json, sys
assert abs(json.load(open(sys.argv[1]))["qdd"]["z"][0]) < 1e-9
END
expect 0 linearise "$work/mass.yaml" --equilibrium --json --out "$work/plant.mat"
/usr/bin/python3 - "$work/out" "$work/plant.mat" <<'END' || fail "linearise"
import json, struct, sys
r = json.load(open(sys.argv[1]))
assert r["states"] == ["z.q", "z.v", "lag"] and r["inputs"] == ["push"] and r["outputs"] == ["height"], r
near = lambda a, b: all(abs(x - y) < 1e-12 for p, q in zip(a, b) for x, y in zip(p, q))
assert near(r["A"], [[0, 1, 0], [-25, -1.5, 0], [1, 0, -1]]) and near(r["B"], [[0], [0.5], [0]]), r
assert near(r["C"], [[2, 0, 0]]) and near(r["D"], [[0]]) and r["controllable"] == 3 and r["observable"] == 2, r
data, at, found = open(sys.argv[2], "rb").read(), 0, {}
while at < len(data):  # MATLAB's format, version 4
    kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
    name = data[at + 20 : at + 19 + length].decode()
    at += 20 + length
    count = rows * columns * (2 if imaginary else 1)
    numbers = struct.unpack_from("<%dd" % count, data, at)
    at += 8 * count
    found[name] = (kind, rows, columns, numbers)
assert found["A"][:3] == (0, 3, 3) and [[found["A"][3][i + 3 * j] for j in range(3)] for i in range(3)] == r["A"]
names = found["state_names"]
assert ["".join(chr(int(names[3][i + names[1] * j])) for j in range(names[2])).strip() for i in range(3)] == r["states"]
END
expect 0 linearise "$work/mass.yaml" --at 1 --out "$work/plant.csv"
grep -q "^A,z.q,z.v,lag" "$work/plant.csv" || fail "plant.csv"
expect 0 modes "$work/mass.yaml" --equilibrium --json
/usr/bin/python3 - "$work/out" <<'END' || fail "modes"
import json, math, sys
r = json.load(open(sys.argv[1]))
(slow,) = [m for m in r["modes"] if m["eigenvalue"][1] > 0]
assert r["rigid"] == 0 and abs(slow["frequency_hz"] - 5 / (2 * math.pi)) < 1e-12, r
assert abs(slow["damping_ratio"] - 0.15) < 1e-12 and slow["shape"]["z"] == [1], r
END

# Refusals name the object and the remedy.
expect 2 linearise "$work/mass.yaml" --out "$work/plant.txt"
says err ".mat or .csv"
expect 2 linearise "$work/mass.yaml" --coordinate w
says err "no free coordinate"
expect 2 linearise "$work/mass.yaml" --coordinate z --coordinate z
says err "2 coordinates are named"
expect 2 modes "$work/mass.yaml" --count 1.5
says err "no number of modes"
expect 0 modes "$source_dir/problems/chain/model.yaml" --count 3
expect 0 view "$source_dir/problems/double_pendulum/model.yaml" --mode 2 --equilibrium --out "$work/mode.html"
grep -q "mode 2: " "$work/mode.html" || fail "the page does not name the mode"
expect 2 view "$source_dir/problems/double_pendulum/model.yaml" --mode 3 --out "$work/mode.html"
says err "there are 2 modes"
expect 2 view "$source_dir/problems/double_pendulum/model.yaml" --equilibrium --out "$work/mode.html"
says err "belongs to --mode"
expect 2 modes "$source_dir/problems/bicycle/model.yaml"
says err "wheels roll"
expect 2 equilibrium "$source_dir/problems/series_damper/model.yaml"
says err "moves no mass"
expect 1 equilibrium "$source_dir/problems/bouncing_ball/model.yaml"
says err "fall.q accelerates by -9.81"
expect 0 modes "$source_dir/problems/double_pendulum/model.yaml"
says err "no equilibrium: pin.q accelerates by 9.81"
expect 0 linearise "$source_dir/problems/suspension/model.yaml"
says err 'output "bushing" is left out'
