#!/usr/bin/env bash
# The documentation as a site (tools/site, make docs): no link is dead, formulas are set, nothing wants a network. Without pandoc
# only the links between the documents are looked at.
source "$(dirname "$0")/support.sh" "$@"

python3 "$source_dir/tools/site" --check >"$work/out" 2>"$work/err" || fail "dead links: $(cat "$work/err")"

# The check finds what is dead: a file, a heading.
mkdir -p "$work/copy/docs" "$work/copy/tools" && cp "$source_dir/tools/site" "$work/copy/tools"
printf '# One\n\n[good](two.md#a-part-of-it) [file](three.md) [heading](two.md#another)\n\n    [code](four.md)\n' >"$work/copy/docs/one.md"
printf '# Two\n\n## A `part` of it\n' >"$work/copy/docs/two.md"
! python3 "$work/copy/tools/site" --check >"$work/out" 2>"$work/err" || fail "dead links are not found"
says err 'docs/one.md: three.md: there is no docs/three.md'
says err 'docs/one.md: two.md#another: docs/two.md has no such heading'
[[ $(wc -l <"$work/err") -eq 2 ]] || fail "links that lead somewhere are called dead: $(cat "$work/err")"

if ! command -v pandoc >/dev/null; then
    echo "pandoc is not here (make docs installs it), so that the site is not built"
    exit 0
fi
python3 "$source_dir/tools/site" "$work/site" >"$work/out" 2>"$work/err" || fail "the site: $(cat "$work/err")"
cd "$work/site"
for page in index docs/tutorial/1-four-bar docs/model-format docs/theory/tree docs/gallery api/solver; do
    [[ -s $page.html ]] || fail "the site has no $page.html"
    grep -q '<nav>.*Tutorials.*Theory' $page.html || fail "$page.html has no table of contents"
done
[[ -s docs/images/gallery/four_bar.svg && -s docs/images/tutorial_leg.svg ]] || fail "moving pictures are missing"
grep -q 'prefers-color-scheme:dark' style.css || fail "the site has no dark form"
grep -rlE '<(script|iframe)|(src|@import)[^>]*https?://' --include=*.html . && fail "pages want a script or a network"
grep -qF '<i>h</i><sub>i</sub>' docs/theory/tables.html || fail "indices are not set"
sed 's/<nav>.*<\/nav>//; s/<code>[^<]*<\/code>//g; s/<[^>]*>//g' docs/theory/tables.html | grep -E '[A-Za-z)][_^][a-z0-9{]' && fail "an index is not set"
grep -qF '<td class="n">(1)</td>' docs/theory/tables.html || fail "numbers of equations are not at the margin"
grep -q 'id="lw_solver_create"' api/solver.html || fail "functions cannot be linked to"
cat "$work/out"
