#!/usr/bin/env bash
# docs/model.schema.json is a valid schema, and agrees with the examples, the problems, the models of tests/fault and
# the reader (tests/support/check_schema.py).
source "$(dirname "$0")/support.sh" "$@"

python=python3 # Debian's packages are for Debian's Python
"$python" -c "import jsonschema, yaml" 2>/dev/null || python=/usr/bin/python3
"$python" "$source_dir/tests/support/check_schema.py" "$linkwork" "$source_dir" "$work" || fail "the schema is wrong"

echo passed
