#!/usr/bin/env bash
# linkwork export fmu: every problem, some in both versions of the standard; descriptions against the schemas of
# ../shared/fmi if they and xmllint are there; the runtime's symbols, needs and size; refusals. Call: test_export.sh LINKWORK SOURCE BUILD.
set -euo pipefail
linkwork=$1 source=$2 build=$3
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
fail() { echo "$1" >&2; exit 1; }

# --- the runtime
runtime=$build/fmu-linux64.so
if ! grep -q 'LINKWORK_SANITIZE:STRING=.' "$build/CMakeCache.txt"; then
    count=$(nm -D --defined-only "$runtime" | grep -c ' fmi[23]' || true)
    others=$(nm -D --defined-only "$runtime" | grep -vc ' fmi[23]' || true)
    [[ $count == 119 && $others == 0 ]] || fail "the runtime exports $count functions of FMI, not 119, and $others others"
    needed=$(objdump -p "$runtime" | sed -n 's/ *NEEDED *//p' | sort | tr '\n' ' ')
    [[ $needed =~ ^(ld-linux-x86-64.so.2\ )?libc.so.6\ (libm.so.6\ )?$ ]] || fail "the runtime needs $needed"
    [[ $(stat -c %s "$runtime") -lt 3000000 ]] || fail "the runtime has 3 MB or more"
fi

# --- all problems
schemas=$source/../shared/fmi
command -v xmllint >/dev/null && command -v unzip >/dev/null && [[ -d $schemas ]] ||
    { schemas=; echo "no schemas in ../shared/fmi, or no xmllint and unzip: descriptions are not validated"; }
exported=0 valid=0
for model in "$source"/problems/*/model.yaml; do
    name=$(basename "$(dirname "$model")")
    versions=2
    [[ $((exported % 4)) == 0 ]] && versions="2 3"
    for version in $versions; do
        if ! "$linkwork" export fmu "$model" --fmi $version --reactions '*' --out "$here/a.fmu" >"$here/out" 2>&1; then
            grep -q -- '--kind cs' "$here/out" || fail "$name: $(cat "$here/out")"
            "$linkwork" export fmu "$model" --fmi $version --kind cs --out "$here/a.fmu" >"$here/out" 2>&1 ||
                fail "$name: $(cat "$here/out")"
        fi
        exported=$((exported + 1))
        [[ -n $schemas ]] || continue
        unzip -tqq "$here/a.fmu" || fail "$name: unzip refuses the FMU"
        unzip -p "$here/a.fmu" modelDescription.xml >"$here/a.xml"
        xmllint --noout --schema "$schemas/fmi$version/fmi${version}ModelDescription.xsd" "$here/a.xml" 2>"$here/out" ||
            fail "$name, FMI $version: $(cat "$here/out")"
        valid=$((valid + 1))
    done
done
echo "$exported FMUs, $valid descriptions valid by the schemas"

# --- refusals, and the name of the file
refused() { # expected words, then the command
    local words=$1
    shift
    if (cd "$here" && "$linkwork" export fmu "$@") >"$here/out" 2>&1; then fail "not refused: $*"; fi
    grep -qF -- "$words" "$here/out" || fail "expected \"$words\" of $*: $(cat "$here/out")"
}
pendulum=$source/problems/double_pendulum/model.yaml
refused 'give --fmi 2 or 3' "$pendulum" --fmi 1
refused 'give --kind me, cs or me,cs' "$pendulum" --kind sc
refused 'there is no joint "hip"' "$pendulum" --reactions hip
refused 'cannot be written' "$pendulum" --out "$here/none/a.fmu"
sed 's/^run:.*//' "$pendulum" >"$here/director.yaml"
echo 'run: {end: 1, method: director, integrator: energy-momentum, step: 1e-3}' >>"$here/director.yaml"
refused 'steps of its own' "$here/director.yaml"
(cd "$here" && "$linkwork" export fmu director.yaml --kind cs >/dev/null && [[ -f director.fmu ]]) || fail "director by --kind cs"
sed 's/^run:.*//' "$pendulum" >"$here/lagrange.yaml"
echo 'run: {end: 1, method: lagrange}' >>"$here/lagrange.yaml"
refused 'not those of the joints' "$here/lagrange.yaml" --kind me

# --- units of what the model file gives with units, in SI
"$linkwork" export fmu "$source/problems/cart_pole/model.yaml" --out "$here/a.fmu" >/dev/null
python3 - "$here/a.fmu" <<'PYTHON'
import os
import sys
import xml.etree.ElementTree as tree
import zipfile

terms = zipfile.ZipFile(sys.argv[1]).read("documentation/licenses/license.txt").decode()
assert "Apache License" in terms
assert "Lawrence Livermore" in terms or not os.path.exists("/usr/share/doc/libsundials-dev/copyright")
root = tree.fromstring(zipfile.ZipFile(sys.argv[1]).read("modelDescription.xml"))
units = {v.get("name"): v.find("Real").get("unit") for v in root.iter("ScalarVariable")}
wanted = {"push": "N", "l": "m", "b": "N s/m", "Jp": "kg m^2", "k4": None, "rail.q": "m", "pivot.v": "rad/s"}
assert {name: units[name] for name in wanted} == wanted, units
PYTHON

# --- the same bytes wherever the model lies
mkdir "$here/elsewhere"
cp "$source"/problems/car/*.yaml "$here/elsewhere"
"$linkwork" export fmu "$source/problems/car/model.yaml" --out "$here/a.fmu" >/dev/null
(cd "$here/elsewhere" && "$linkwork" export fmu model.yaml --out "$here/b.fmu" >/dev/null)
cmp "$here/a.fmu" "$here/b.fmu" || fail "the folder of a model is in its FMU"
