#!/usr/bin/env bash
# Every public function has a comment, every name in docs/c-api.md exists; tools/reference notices where that is not so, and gives
# Doxygen the comment of a group for each of its functions.
set -euo pipefail
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$source/tools/reference" check

mkdir -p "$work/include/linkwork" "$work/docs" "$work/tools"
cp "$source"/include/linkwork/*.h "$work/include/linkwork"
cp "$source/docs/c-api.md" "$work/docs"
cp "$source/tools/reference" "$work/tools"
printf '\nLW_API int lw_bare(void);\n' >>"$work/include/linkwork/text.h"
printf '`lw_nothing_of_this_name`\n' >>"$work/docs/c-api.md"
if said=$("$work/tools/reference" check); then
    echo "a function without a comment passes" >&2
    exit 1
fi
grep -q "lw_bare has no comment" <<<"$said"
grep -q "there is no lw_nothing_of_this_name" <<<"$said"
(($(wc -l <<<"$said") == 2))

cat >"$work/group.h" <<'END'
/* Of both. */
LW_API int lw_one(void);
LW_API int lw_two(int x,
                  int y); /* behind it */
END
cat >"$work/expected" <<'END'
/** Of both. */
LW_API int lw_one(void);
/** Of both. */
LW_API int lw_two(int x,
                  int y); /**< behind it */
END
"$source/tools/reference" filter "$work/group.h" | sed '/^$/d' | diff - "$work/expected"
