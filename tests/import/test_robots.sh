#!/usr/bin/env bash
# Published robots, which lie beside the project if at all: their imports against stored numbers.
# Call: test_robots.sh PROGRAM SOURCE BUILD
set -euo pipefail
robots=$2/../shared/robots
if [[ ! -d $robots ]]; then
    echo "no folder ../shared/robots: skipped"
    exit 0
fi
python3 "$2/tests/import/robots.py" "$3/tests/import-probe" "$2/tests/import/robots.txt" "$robots"
for file in "$robots"/*/*.urdf; do # every command takes such a file
    "$1" check "$file" >/dev/null 2>&1
    "$1" info "$file" >/dev/null 2>&1
done
