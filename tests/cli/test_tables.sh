#!/usr/bin/env bash
# Tables from files: columns and units, results files, files outside the model's folder, --input, a million points.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
mkdir model elsewhere

python3 - <<'PYTHON'
import math
with open("model/road.csv", "w") as f:
    f.write("# measured\ntime [ms],height [mm],wind [km/h]\n")
    for i in range(201):
        f.write(f"{20 * i},{30 * math.sin(0.02 * i * 3):.9g},{i}\n")
with open("elsewhere/push.csv", "w") as f:
    f.write("time [s],force [N],a:b [N]\n0,0,0\n1,3,0\n2,0,1\n")
PYTHON
cat >model/car.yaml <<'YAML'
linkwork: 1
name: car
gravity: [0, 0, 0]
inputs: {push: 0 N}
tables:
  road: {file: road.csv, x: time, y: height, interpolation: smooth}
bodies:
  car: {mass: 2, inertia: [1, 1, 1]}
joints:
  heave: {type: prismatic, between: [ground, car], point: [0, 0, 0], axis: [0, 0, 1]}
forces:
  leg: {type: drive, joint: heave, force: "100 N/m*(road(t) - q) + push"}
run: {end: 4, tolerance: 1e-9, method: tree, integrator: erk}
YAML

# A road against its expression: w^2 = 50, sin(3 t): x = A (sin 3t - 3/w sin wt), A = 0.03*50/(50 - 9)
expect 0 run model/car.yaml --json
json "abs(d['final']['joints']['heave']['q'][0] - 0.03*50/41*(math.sin(12) - 3/50**0.5*math.sin(4*50**0.5))) < 2e-4"
json "d['verdict']['ok']"
expect 0 check model/car.yaml

# --input: a triangle of 3 N over 2 s, from any folder, the first column is the time
sed 's/100 N.m\*(road(t) - q) + //' model/car.yaml >model/pushed.yaml
expect 0 run model/pushed.yaml --input push=elsewhere/push.csv:force --json
json "abs(d['final']['joints']['heave']['v'][0] - 1.5) < 1e-9"
expect 0 run model/pushed.yaml --input "push=elsewhere/push.csv:force [N]" --json
json "abs(d['final']['joints']['heave']['v'][0] - 1.5) < 1e-9"
expect 0 run model/pushed.yaml --json
json "d['final']['joints']['heave']['v'][0] == 0"
expect 0 accel model/pushed.yaml --input push=elsewhere/push.csv:force
expect 2 run model/pushed.yaml --input push=elsewhere/push.csv:torque
says err "there is no column \"torque\""
says err "columns: time [s], force [N]"
expect 2 run model/pushed.yaml --input pusch=elsewhere/push.csv:force
says err "there is no input \"pusch\"; did you mean \"push\"?"
expect 2 run model/pushed.yaml --input push=elsewhere/none.csv:force
says err "there is no such file"
for wrong in push push= push=file =file:c push=:c push=f: ; do
    expect 2 run model/pushed.yaml --input "$wrong"
    says err "is not of the form name=file:column"
done
printf 'x [m],force\n0,0\n1,1\n' >elsewhere/space.csv
expect 2 run model/pushed.yaml --input push=elsewhere/space.csv:force
says err "the first column of the file is no time"

# Only files of the model's folder, links and .. followed first; --allow-path lifts that.
cp model/road.csv elsewhere/road.csv
ln -s ../elsewhere/road.csv model/link.csv
ln -s road.csv model/inner.csv
ln -s ../elsewhere model/folder
ln -s loop.csv model/loop.csv
for file in ../elsewhere/road.csv link.csv folder/road.csv "$work/elsewhere/road.csv" ../model/../elsewhere/road.csv; do
    sed "s#road.csv#$file#" model/car.yaml >model/outside.yaml
    for command in check info run accel; do
        expect 2 $command model/outside.yaml
        cat "$work/out" >>"$work/err"
        says err "the file is outside the folder of the model; copy it into that folder, or allow other places with --allow-path"
        expect 0 $command model/outside.yaml --allow-path
    done
done
for file in inner.csv ../model/road.csv ./road.csv "$work/model/road.csv"; do
    sed "s#road.csv#$file#" model/car.yaml >model/inside.yaml
    expect 0 check model/inside.yaml
done
sed "s#road.csv#loop.csv#" model/car.yaml >model/outside.yaml
expect 2 check model/outside.yaml
says err "symbolic links in the path lead back to themselves"
mkfifo model/pipe
sed "s#road.csv#pipe#" model/car.yaml >model/outside.yaml
expect 2 check model/outside.yaml
says err "this is a device, pipe or socket"
# The folder is the model's, whatever the present one is.
(cd / && "$linkwork" check "$work/model/car.yaml" >/dev/null) || fail "another present folder"
(cd model && "$linkwork" check car.yaml >/dev/null) || fail "the model's own folder"

# Bytes that are no text, names of ten thousand letters.
head -c 3000 "$linkwork" >model/binary.csv
sed "s#road.csv#binary.csv#" model/car.yaml >model/wrong.yaml
expect 2 check model/wrong.yaml
says err "table \"road\": binary.csv: the file is no text: it has bytes of value 0"
long=$(printf 'h%.0s' {1..10000})
sed "s#road.csv#$long.csv#" model/car.yaml >model/wrong.yaml
expect 2 check model/wrong.yaml
says err "File name too long"
printf 'time,%s\n0,0\n1,1\n' "$long" >model/names.csv
sed "s#road.csv#names.csv#" model/car.yaml >model/wrong.yaml
expect 2 check model/wrong.yaml
says err "there is no column \"height\"; columns: time, hhhh"
sed "s#y: height#y: $long#; s#road.csv#names.csv#" model/car.yaml >model/long.yaml
expect 0 check model/long.yaml
sed "s#  road:#  $long:#" model/car.yaml >model/wrong.yaml
expect 2 check model/wrong.yaml
says err "a name is longer than 80 bytes"

# Results files are tables: a run that follows another run's motion.
for ending in csv h5; do
    expect 0 run model/car.yaml --out "model/first.$ending" --output 0.01
    sed "s#file: road.csv, x: time, y: height#file: first.$ending, x: t, y: heave.q#; s#100 N/m#1e8 N/m#; s# + push# - 2e4*v#; s#inputs: .*##" \
        model/car.yaml >model/second.yaml
    expect 0 run model/second.yaml --json --tol 1e-8
    json "abs(d['final']['joints']['heave']['q'][0] - 0.03*50/41*(math.sin(12) - 3/50**0.5*math.sin(4*50**0.5))) < 1e-3"
done

# A million points: read and compiled within a second of processor time, and found at once.
python3 - <<'PYTHON'
import math
with open("model/long.csv", "w") as f:
    f.write("time [s],height [m]\n")
    f.writelines(f"{i * 1e-5:.5f},{0.03 * math.sin(3e-5 * i):.9f}\n" for i in range(1000001))
PYTHON
sed "s#road.csv#long.csv#; s#end: 4#end: 0.01#" model/car.yaml >model/long.yaml
seconds=$(TIMEFORMAT='%U'; { time "$linkwork" check model/long.yaml >/dev/null; } 2>&1)
echo "a million points: $seconds s"
awk -v s="$seconds" 'BEGIN { exit !(s < 1.0) }' || [[ $3 == *san* ]] || fail "a million points take $seconds s"

# A motion whose table ends steep has an impact there: a warning, unless the run ends there; a run that goes on
# tells of it.
cat > "$work/steep.yaml" <<'MODEL'
linkwork: 1
tables:
  lift: {x: [0, 1, 2], y: [0, 1, 3], interpolation: smooth}
bodies:
  a: {mass: 1, inertia: [1, 1, 1]}
joints:
  j: {type: prismatic, between: [ground, a], point: [0, 0, 0], axis: [0, 0, 1], motion: lift(t)}
run: {end: 2}
MODEL
expect 0 check "$work/steep.yaml"
says out "0 errors, 0 warnings"
expect 0 run "$work/steep.yaml" --json
json "d['events'] == [] and abs(d['final']['joints']['j']['v'][0] - 2.5) < 1e-12"
expect 0 run "$work/steep.yaml" --quiet --record "t, j.v, com(a).vz, drive(j).power, 2*j.v" --out "$work/steep.csv"
grep -v "^#" "$work/steep.csv" | tail -n 1 | awk -F, '{ exit !($1 == 2 && $2 > 2.4999999 && $3 > 2.4999999) }' || fail "the last row is not of the run"
expect 0 run "$work/steep.yaml" --end 2.5 --json
json "[e['t'] for e in d['events']] == [2] and 'speed jumps by 2.5' in d['events'][0]['text']"
sed -i 's/end: 2}/end: 2.5}/' "$work/steep.yaml"
expect 0 check "$work/steep.yaml"
says err "its motion has an impact, which is not simulated, where table \"lift\" ends at 2"
