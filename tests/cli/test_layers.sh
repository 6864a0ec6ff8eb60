#!/usr/bin/env bash
# tools/check_layers finds each kind of violation, with file and line, and passes a tree without any.
set -euo pipefail
check=$2/tools/check_layers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "test_layers: $*" >&2
    exit 1
}

fresh_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work"/tree/{include/linkwork,cli} "$work"/tree/src/{core,linalg,model,formulations,integrators,analyses,io}
    printf '#include <linkwork/status.h>\n#include <stdio.h>\n' >"$work/tree/src/core/a.c"
    printf '#include "core/a.h"\n#include "linalg/a.h"\n' >"$work/tree/src/linalg/a.c"
    printf '#include "linalg/a.h"\n' >"$work/tree/src/model/a.c"
    printf '#include "model/a.h"\n#include <linkwork/simulate.h>\n' >"$work/tree/src/formulations/a.c"
    printf '#include "formulations/a.h"\n' >"$work/tree/src/integrators/a.c"
    printf '#include "integrators/a.h"\n' >"$work/tree/src/analyses/a.c"
    printf '#include "io/a.h"\n#include "model/a.h"\n#include <linkwork/io.h>\n' >"$work/tree/src/io/a.c"
    printf '#include "own.h"\n#include <linkwork/linkwork.h>\n' >"$work/tree/cli/a.c"
    printf '#include <linkwork/spec.h>\n' >"$work/tree/include/linkwork/a.h"
}

fresh_tree
"$check" "$work/tree" || fail "a tree without violations is refused"
"$check" "$2" || fail "the source tree has violations"

violation() { # file, include line, word of the rule
    local output
    fresh_tree
    printf '/* line 1 */\n%s\n' "$2" >"$work/tree/$1"
    if output=$("$check" "$work/tree"); then fail "$2 in $1 passes"; fi
    [[ $(wc -l <<<"$output") -eq 1 ]] || fail "$2 in $1 gives more than one line: $output"
    [[ $output == "$1:2: "* ]] || fail "$2 in $1: no file and line in: $output"
    [[ $output == *"$3"* ]] || fail "$2 in $1: no word of \"$3\" in: $output"
}

violation src/core/b.h '#include "model/a.h"' "core must not see model"
violation src/linalg/b.c '#include "formulations/a.h"' "linalg must not see formulations"
violation src/model/b.c '  #  include "analyses/a.h"' "model must not see analyses"
violation src/formulations/b.c '#include "integrators/a.h"' "formulations must not see integrators"
violation src/integrators/b.c '#include "analyses/a.h"' "integrators must not see analyses"
violation src/analyses/b.c '#include "io/a.h"' "only cli uses io"
violation src/analyses/b.c '#include <linkwork/io.h>' "only io and cli use io.h"
violation src/io/b.c '#include "integrators/a.h"' "no solver"
violation src/io/b.c '#include <linkwork/simulate.h>' "no solver"
violation src/model/b.c '#include <linkwork/simulate.h>' "no solver"
violation src/model/b.c '#include <linkwork/linkwork.h>' "no solver"
violation src/model/b.c '#include "b.h"' "write the layer"
violation src/model/b.c '#include "solver/b.h"' 'no layer "solver"'
violation cli/b.c '#include "core/core.h"' "own headers only"
violation include/linkwork/b.h '#include "core/core.h"' "public headers"

echo "all violations found"
