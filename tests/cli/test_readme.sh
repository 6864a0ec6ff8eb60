#!/usr/bin/env bash
# The model in README.md runs as README.md says: every command of its block, from a folder of its own.
source "$(dirname "$0")/support.sh" "$@"

cd "$work"
awk '/^```yaml$/ {inside = 1; next} /^```$/ {inside = 0} inside' "$source_dir/README.md" >gantry.yaml
grep -q '^linkwork: 1$' gantry.yaml || fail "README.md has no model"
# The problem has a line for editors and a description besides.
awk '/^# yaml-language-server:/ {next} /^description:/ {inside = 1; next} inside && /^  / {next} {inside = 0; print}' \
    "$source_dir/problems/gantry/model.yaml" >bare.yaml
cmp gantry.yaml bare.yaml || fail "README.md and problems/gantry differ"
count=0
while read -r command; do
    command=${command%%#*}
    bash -c "${command/build\/linkwork/"$linkwork"}" >out 2>err </dev/null || fail "README.md: $command: $(cat err)"
    count=$((count + 1))
done < <(grep -E '^    build/linkwork ' "$source_dir/README.md")
[[ $count -eq 8 ]] || fail "README.md has $count commands, not 8"
[[ -s gantry.csv && -s gantry.svg && -s gantry.html ]] || fail "no results, no plot or no page"
