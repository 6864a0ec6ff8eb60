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
# The text is kept: comments, expressions, parameters that still work; what is set becomes the file's own value.
cat >"$work/kept.yaml" <<'END'
linkwork: 1
name: kept   # a comment
parameters:
  k: 50 N/m  # stiffness
  load: 2 kg
  "gee": 9.81
gravity: [0, 0, -gee]
states:
  lag: {rate: z.q - lag}
bodies: {m: {kind: point, mass: load}}
joints:
  z{i}: {repeat: {i: 1..1}, type: prismatic, between: [ground, m], axis: [0, 0, 1]}
forces: {s: {type: torsion, joint: z1, stiffness: k, damping: 3}}
run:
  end: 2 s
END
sed -i 's/z.q - lag/z1.q - lag/' "$work/kept.yaml"
expect 0 equilibrium "$work/kept.yaml" --set "load=3 kg" --out "$work/rest2.yaml"
silent err
for line in "name: kept   # a comment" "  k: 50 N/m  # stiffness" '  load: "3 kg"' "  z{i}: {repeat" "  end: 2 s" 'begin: "equilibrium"'; do
    grep -qF "$line" "$work/rest2.yaml" || fail "\"$line\" is not in the file: $(cat "$work/rest2.yaml")"
done
expect 0 accel "$work/rest2.yaml" --json
json 'close(d["qdd"]["z1"][0], 0, 1e-9)'
expect 0 equilibrium "$work/rest2.yaml" --set k=100 --json --out "$work/rest3.yaml"
json 'close(d["joints"]["z1"]["q"][0], -3*9.81/100, 1e-12) and close(d["states"]["lag"], -3*9.81/100, 1e-12)'
grep -q "equilibrium_2" "$work/rest3.yaml" || fail "a second start"
# A results file has no text to keep: its parameters, which enter nothing any more, are left out.
expect 0 run "$work/kept.yaml" --end 0.1 --out "$work/kept.csv"
expect 0 equilibrium "$work/kept.csv" --out "$work/anew.yaml"
says err "numbers in place of expressions"
grep -q "^# A model that starts in a position of rest" "$work/anew.yaml" || fail "no word in the file"
expect 2 run "$work/anew.yaml" --set k=100
says err '"k"'

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
assert abs(slow["damping_ratio"] - 0.15) < 1e-12 and abs(slow["shape"]["z"][0] - 1) < 1e-15, r  # a division
END

expect 0 frequency "$work/mass.yaml" --equilibrium --from 0.1 --to 10 --points 21 --exactly --json --out "$work/bode.csv" \
    --out "$work/bode.svg" --out "$work/bode.html"
/usr/bin/python3 - "$work/out" "$work/bode.csv" <<'END' || fail "frequency"
import cmath, csv, json, math, sys
r = json.load(open(sys.argv[1]))
G = r["response"]["height"]["push"]
rows = list(csv.reader(open(sys.argv[2])))
assert len(r["frequency_hz"]) == 21 and r["frequency_hz"][0] == 0.1 and r["frequency_hz"][20] == 10, r["frequency_hz"]
assert rows[0][:3] == ["f [Hz]", "height/push.magnitude", "height/push.dB [dB]"] and len(rows) == 22
for k, f in enumerate(r["frequency_hz"]):
    s = 2j * math.pi * f
    exact = 2 / (2 * s * s + 3 * s + 50)
    assert abs(complex(G["re"][k], G["im"][k]) - exact) < 1e-13, (f, exact)
    assert abs(G["magnitude"][k] - abs(exact)) < 1e-13 and abs(G["phase_deg"][k] - math.degrees(cmath.phase(exact))) < 1e-9
    assert abs(float(rows[k + 1][2]) - 20 * math.log10(abs(exact))) < 1e-9
END
grep -q "<svg" "$work/bode.svg" && grep -q "data:image/svg+xml" "$work/bode.html" || fail "Bode plot"
[[ $(find "$work" -name 'bode*' | wc -l) -eq 3 ]] || fail "files are left over"

expect 0 sensitivity "$source_dir/problems/pendulum/model.yaml" --parameter L --end 1 --json
/usr/bin/python3 - "$work/out" <<'END' || fail "sensitivity"
import json, sys
r = json.load(open(sys.argv[1]))
at = r["columns"].index("pivot.q")
ours, runs = r["derivatives"]["L"], r["differences"]["L"]
assert len(r["t"]) == 101 and r["disagreement"] < 1e-6 and max(abs(row[at]) for row in ours) > 0.1, r["disagreement"]
assert all(abs(a[at] - b[at]) < 1e-6 for a, b in zip(ours, runs))
END
expect 0 sensitivity "$source_dir/problems/pendulum/model.yaml" --parameter L --end 1 --out "$work/by.csv"
head -1 "$work/by.csv" | grep -q 'd(pivot.q)/d(L)' || fail "by.csv"

# Eigenvalues over a parameter: the bicycle's at 5 m/s, and between which speeds it is stable (4.292 and 6.024 m/s).
bicycle="$source_dir/problems/bicycle/model.yaml"
expect 0 linearise "$bicycle" --vary speed --from 1 --to 9 --points 161 --json
/usr/bin/python3 - "$work/out" <<'END' || fail "curves of eigenvalues"
import json, sys
r = json.load(open(sys.argv[1]))
assert r["parameter"] == "speed" and r["values"][80] == 5 and len(r["eigenvalues"]) == 161
curves = [[complex(*row[k]) for row in r["eigenvalues"]] for k in range(len(r["eigenvalues"][0]))]
for exact in (-0.775341882196 + 4.464867713788j, -0.775341882196 - 4.464867713788j, -0.322866429004, -14.078389692798):
    assert min(abs(c[80] - exact) for c in curves) < 1e-9, exact
weave = min(curves, key=lambda c: abs(c[80] - (-0.775341882196 + 4.464867713788j)))
capsize = min(curves, key=lambda c: abs(c[80] + 0.322866429004))
steps = [max(abs(c[i + 1] - 2 * c[i] + c[i - 1]) for c in (weave, capsize)) for i in range(30, 160)]
assert max(steps) < 0.05, max(steps)  # one curve each, without jumps
assert sum(abs(c) < 1e-6 for row in (curves,) for k in row for c in k[80:81]) == 6
END
expect 0 linearise "$bicycle" --vary speed --from 4 --to 6.5 --points 26
says out "becomes stable between speed = 4.2 and 4.3"
says out "becomes unstable between speed = 6 and 6.1"
expect 0 linearise "$bicycle" --vary speed --from 1 --to 9 --out "$work/curves.svg"
grep -q "<svg" "$work/curves.svg" && grep -q ">10.im<" "$work/curves.svg" || fail "curves.svg"
[[ $(find "$work" -name 'curves*' | wc -l) -eq 1 ]] || fail "files are left over"

# Refusals name the object and the remedy.
expect 2 linearise "$bicycle" --vary sped --from 1 --to 2
says err "no parameter"
expect 2 linearise "$bicycle" --vary speed --from 1
says err "needs two values"
expect 2 linearise "$bicycle" --from 1
says err "vary names"
expect 2 linearise "$bicycle" --vary speed --from 1 --to 2 --out x.mat
says err "with --vary give"
expect 2 sensitivity "$source_dir/problems/pendulum/model.yaml"
says err "give at least one"
expect 2 sensitivity "$source_dir/problems/pendulum/model.yaml" --parameter l
says err 'did you mean "L"'
expect 2 sensitivity "$source_dir/problems/pendulum/model.yaml" --parameter L --out by.txt
says err ".csv"
expect 2 frequency "$work/mass.yaml" --excite pusch
says err 'did you mean "push"'
expect 2 frequency "$work/mass.yaml" --from 10 --to 1
says err "the lower one first"
expect 2 frequency "$work/mass.yaml" --out bode.txt
says err ".svg or .pdf"
expect 2 frequency "$source_dir/problems/quarter_car/model.yaml"
says err "no inputs"
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
expect 0 equilibrium "$source_dir/problems/series_damper/model.yaml" --starts 3
says out "damper 0.1962"
expect 0 linearise "$source_dir/problems/two_oscillators/model.yaml"
says out "1 with dampers, of first order"
says out "dynamic(q1.v)"
expect 0 modes "$source_dir/problems/series_damper/model.yaml"
says out "0 rigid-body modes, 2 others"
expect 1 equilibrium "$source_dir/problems/bouncing_ball/model.yaml"
says err "fall.q accelerates by -9.81"
expect 0 modes "$source_dir/problems/double_pendulum/model.yaml"
says err "no equilibrium: pin.q accelerates by 9.81"
expect 0 linearise "$source_dir/problems/suspension/model.yaml"
says out bushing
sed 's/^run:/outputs: {spent: force(beside).work}\nrun:/; s/mass: 0}/mass: 1}/' "$source_dir/problems/series_damper/model.yaml" >"$work/spent.yaml"
expect 0 linearise "$work/spent.yaml"
says err 'output "spent" is left out'

# Files in other formats, with the options of their import.
expect 0 modes "$source_dir/tests/import/loop_native.sdf" --loops joints --json
json 'len(d["modes"]) == 2'
expect 0 linearise "$source_dir/tests/import/mjcf/paths.xml" --key on --json
expect 2 linearise "$source_dir/tests/import/mjcf/paths.xml" --key om
says err 'did you mean "on"'
expect 0 frequency "$source_dir/tests/import/mjcf/paths.xml" --key on --json
expect 2 frequency "$source_dir/tests/import/mjcf/paths.xml" --key om
expect 0 inverse "$source_dir/tests/import/loop_6d.urdf" --loops joints --motion crank_pin.q='0.1*t' --drive crank_pin --end 0.1 --json
expect 2 inverse "$source_dir/tests/import/loop_6d.urdf" --loops none --motion crank_pin.q='0.1*t' --end 0.1
expect 2 import "$source_dir/tests/import/tree.urdf" --key home
says err 'the keyframe "home" is asked for, but only MJCF has keyframes'
expect 2 modes "$source_dir/tests/import/loop_native.sdf" --base free
says err "only URDF leaves open whether its base is free"
expect 1 equilibrium "$source_dir/tests/import/tree.urdf" --base free
says err "root.z accelerates by -9.81"

# An imported limit of more than a turn is written with its unit, so that nobody asks whether degrees are meant.
cat >"$work/turns.urdf" <<'XML'
<robot name="turns"><link name="a"/>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-9" upper="9" effort="1" velocity="1"/></joint></robot>
XML
expect 0 import "$work/turns.urdf" --out "$work/turns.yaml"
grep -q "limits: \[-9 rad, 9 rad\]" "$work/turns.yaml" || fail "limits without unit: $(cat "$work/turns.yaml")"
expect 0 check "$work/turns.yaml"
says out "0 errors, 0 warnings"
