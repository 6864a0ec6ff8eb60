#!/usr/bin/env bash
# linkwork check FILE.fmu: our own FMUs pass, stored and deflated; archives that lead elsewhere, descriptions that break rules, and
# libraries that fail or crash are told. Call: test_check.sh LINKWORK SOURCE BUILD.
set -euo pipefail
linkwork=$1 source=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
export TMPDIR=$here/tmp
mkdir tmp
fail() { echo "$1" >&2; exit 1; }

for version in 2 3; do
    "$linkwork" export fmu "$source/problems/four_bar/model.yaml" --fmi $version --out good$version.fmu >out
    "$linkwork" check good$version.fmu >out 2>&1 || fail "FMI $version: $(cat out)"
    grep -q '0 errors' out || fail "$(cat out)"
done

# Another archive from a good one: make NAME WHAT.
make() {
    python3 - "$@" <<'PYTHON'
import sys
import zipfile

target, what = sys.argv[1:3]
source = "good3.fmu" if target.startswith("three") else "good2.fmu"
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
    for info in old.infolist():
        data, name = old.read(info), info.filename
        if name == "modelDescription.xml":
            text = data.decode()
            if what.startswith("s/"):
                _, pattern, replacement, _ = what.split("/")
                assert pattern in text, pattern
                text = text.replace(pattern, replacement, 1)
            data = text.encode()
        if what == "library" and name.endswith(".so"):
            data = b"no library"
        if what == "none" and name == "modelDescription.xml":
            continue
        new.writestr(name, data)
    if what == "up":
        new.writestr("../evil", b"x")
    if what == "root":
        new.writestr("/tmp/evil", b"x")
    if what == "backslash":
        new.writestr("a\\..\\b", b"x")
    if what == "link":
        link = zipfile.ZipInfo("resources/link")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        new.writestr(link, b"/etc/passwd")
    if what == "bomb":
        new.writestr("resources/bomb", b"\0")
if what == "bomb": # its size in the directory, 24 bytes behind the signature of the last entry
    with open(target, "r+b") as file:
        data = file.read()
        file.seek(data.rindex(b"PK\1\2") + 24)
        file.write((300 << 20).to_bytes(4, "little"))
PYTHON
}
refused() { # name, what, expected words
    make "$1" "$2"
    if "$linkwork" check "$1" >out 2>&1; then fail "not refused: $2"; fi
    grep -qF -- "$3" out || fail "expected \"$3\" of $2: $(cat out)"
}
make deflated.fmu nothing
"$linkwork" check deflated.fmu >out 2>&1 || fail "deflated: $(cat out)"
refused a.fmu up 'leads out of the folder'
refused a.fmu root 'leads out of the folder'
refused a.fmu backslash 'leads out of the folder'
refused a.fmu link 'a file is a link'
refused a.fmu bomb 'a size that an FMU must not have'
refused a.fmu none 'has no modelDescription.xml'
refused a.fmu library 'the library cannot be loaded'
refused a.fmu 's/unit="rad"/unit="furlong"/' 'its unit is not defined'
refused a.fmu 's/name="A.v"/name="A.q"/' 'two variables have the name "A.q"'
refused a.fmu 's/<Unknown index="/<Unknown index="9/' 'not there'
refused three.fmu 's/<Output valueReference="/<Output valueReference="9/' 'not there'
refused a.fmu 's/guid="{/guid="{0/' 'the description belongs to'
refused three.fmu 's/initial="exact" unit="rad" start="/initial="exact" unit="rad" start="NaN /' 'no finite number'
refused a.fmu 's/<ModelVariables>/<ModelVariables/' 'modelDescription.xml:'
head -c 100000 good2.fmu >cut.fmu
if "$linkwork" check cut.fmu >out 2>&1; then fail "a cut file is not refused"; fi
"$linkwork" check cut.fmu --json >out 2>&1 || true
python3 -c 'import json; assert json.load(open("out"))[0]["severity"] == "error"'
[[ -z $(ls tmp) && ! -e ../evil && ! -e /tmp/evil ]] || fail "something was left behind: $(ls tmp)"
