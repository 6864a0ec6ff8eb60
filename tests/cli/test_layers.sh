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
    mkdir -p "$work"/tree/{include/linkwork,cli} "$work"/tree/src/{core,linalg,expression,model,dynamics,constraints,integrators,simulation,analyses,io/results,export/view} \
        "$work"/tree/src/formulations/{common,one,two}
    printf '#include <linkwork/status.h>\n#include <stdio.h>\n' >"$work/tree/src/core/core_a.c"
    printf '#include "core/core_a.h"\n#include "linalg/linalg_a.h"\n' >"$work/tree/src/linalg/linalg_a.c"
    printf '#include "linalg/linalg_a.h"\n' >"$work/tree/src/expression/expression_a.c"
    printf '#include "expression/expression_a.h"\n' >"$work/tree/src/model/model_a.c"
    printf '#include "model/model_a.h"\n' >"$work/tree/src/dynamics/dynamics_a.c"
    printf '#include "dynamics/dynamics_a.h"\n' >"$work/tree/src/constraints/constraints_a.c"
    printf '#include "model/model_a.h"\n#include <linkwork/simulate.h>\n' >"$work/tree/src/formulations/formulation.h"
    printf '#include "formulations/formulation.h"\n' >"$work/tree/src/formulations/common/common_a.h"
    printf '#include "formulations/common/common_a.h"\n#include "formulations/one/one_a_parts.h"\n' >"$work/tree/src/formulations/one/one_a.c"
    printf '#include "formulations/one/one_a.h"\n' >"$work/tree/src/formulations/one/one_a_parts.h"
    printf '#include "formulations/formulation.h"\n' >"$work/tree/src/integrators/integrators_a.c"
    printf '#include "integrators/integrators_a.h"\n' >"$work/tree/src/simulation/simulation_a.c"
    printf '#include "simulation/simulation_a.h"\n' >"$work/tree/src/analyses/analyses_a.c"
    printf '#include "io/results/io_a.h"\n#include "model/model_a.h"\n#include <linkwork/io.h>\n' >"$work/tree/src/io/results/io_a.c"
    printf '#include "io/results/io_a.h"\n#include "analyses/analyses_a.h"\n#include <linkwork/io.h>\n#include <linkwork/view.h>\n' >"$work/tree/src/export/view/export_a.c"
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

printf 'struct lw_thing {\n' >"$work/tree/include/linkwork/thing.h"
printf 'typedef struct lw_thing {\n' >"$work/tree/src/model/things.h"
if output=$("$check" "$work/tree"); then fail "two structs of one name pass"; fi
[[ $output == *"lw_thing is defined in"* ]] || fail "two structs of one name: $output"

violation src/core/b.h '#include "model/a.h"' "core must not see model"
violation src/linalg/b.c '#include "formulations/formulation.h"' "linalg must not see formulations"
violation src/expression/b.c '#include "model/a.h"' "expression must not see model"
violation src/dynamics/b.c '#include "constraints/a.h"' "dynamics must not see constraints"
violation src/model/b.c '  #  include "analyses/a.h"' "model must not see analyses"
violation src/formulations/one/b.c '#include "integrators/a.h"' "formulations must not see integrators"
violation src/formulations/two/b.c '#include "formulations/one/one_a.h"' "nobody outside looks into the family one"
violation src/formulations/common/b.c '#include "formulations/one/one_a.h"' "nobody outside looks into the family one"
violation src/analyses/b.c '#include "formulations/one/one_a.h"' "nobody outside looks into the family one"
violation src/simulation/b.c '#include "analyses/a.h"' "simulation must not see analyses"
violation src/integrators/b.c '#include "analyses/a.h"' "integrators must not see analyses"
violation src/analyses/b.c '#include "io/a.h"' "only export and sweep use io, and cli by its public header"
violation src/analyses/b.c '#include <linkwork/io.h>' "only io, export, sweep and cli use io.h"
violation src/analyses/b.c '#include "export/view/a.h"' "only cli uses export"
violation src/analyses/b.c '#include "sweep/a.h"' "only cli uses sweep"
violation src/export/b.c '#include "sweep/a.h"' "only cli uses sweep"
violation src/io/b.c '#include "export/view/a.h"' "io sees core"
violation src/simulation/b.c '#include <linkwork/view.h>' "only export and cli use view.h"
violation src/export/b.c '#include "formulations/one/one_a.h"' "nobody outside looks into the family one"
violation src/io/b.c '#include "integrators/a.h"' "no solver"
violation src/io/b.c '#include <linkwork/simulate.h>' "no solver"
violation src/model/b.c '#include <linkwork/simulate.h>' "no solver"
violation src/model/b.c '#include <linkwork/linkwork.h>' "no solver"
violation src/model/b.c '#include "b.h"' "write the layer"
violation src/model/b.c '#include "solver/b.h"' 'no layer "solver"'
violation cli/b.c '#include "core/core.h"' "own headers only"
violation include/linkwork/b.h '#include "core/core.h"' "public headers"

refused() { # word of the rule
    local output
    if output=$("$check" "$work/tree"); then fail "passes although: $1"; fi
    [[ $output == *"$1"* ]] || fail "no word of \"$1\" in: $output"
}

fresh_tree
cp "$work/tree/src/core/core_a.c" "$work/tree/src/linalg/core_a.c"
refused "has the same name"
fresh_tree
seq 801 >"$work/tree/src/core/long.c"
refused "src/core/long.c:801: more than 800 lines"
fresh_tree
touch "$work/tree/src/formulations/method.c"
refused "put it into a family"
fresh_tree
printf '#include "model/d.h"\n' >"$work/tree/src/model/c.h"
printf '#include "model/e.h"\n' >"$work/tree/src/model/d.c"
printf '#include "model/c.h"\n' >"$work/tree/src/model/e.h"
refused "include each other: model/c -> model/d -> model/e -> model/c"

# The map names files and folders that are there, and all layers and families.
python3 - "$2" <<'PYTHON' || fail "docs/architecture.md is not true"
import os, re, sys
os.chdir(sys.argv[1])
text = open("docs/architecture.md", encoding="utf-8").read()
names = {name for top in ("src", "cli", "include", "python/src") for _, _, files in os.walk(top) for name in files}
names |= {os.path.splitext(name)[0] for name in names}
for word in re.findall(r"`([^`]+)`", text):
    if re.fullmatch(r"[\w./-]+/[\w./-]*", word) and "NAME" not in word:
        assert os.path.exists(word), word
    elif re.fullmatch(r"\w+\.[ch]", word) and "NAME" not in word:
        assert word in names, word
layers = set(os.listdir("src"))
assert layers <= set(re.findall(r"`src/(\w+)`", text)), layers
families = {name for name in os.listdir("src/formulations") if os.path.isdir("src/formulations/" + name)}
assert families <= set(re.findall(r"`(\w+)`", text)), families
PYTHON

echo "all violations found"
