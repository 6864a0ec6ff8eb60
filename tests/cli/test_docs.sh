#!/usr/bin/env bash
# Every command in the documents runs. A command is a line of four spaces and "linkwork ..."; what follows two spaces and a "#" is a comment.
# Models that a document asks to be saved ("Save this as `NAME`") are taken from it. Tutorials have nothing else: they can be followed
# in an empty folder, and end with something to look at. For the others problems/ is at hand, README's gantry and the leg of tutorial 5.
source "$(dirname "$0")/support.sh" "$@"

ran=0
for document in "$source_dir"/docs/*.md "$source_dir"/docs/tutorial/*.md; do
    name=${document#"$source_dir"/}
    folder="$work/$(basename "$document" .md)"
    mkdir "$folder" && cd "$folder"
    if [[ $name != docs/tutorial/* ]]; then
        ln -s "$source_dir/problems" problems
        cp "$source_dir/problems/gantry/model.yaml" gantry.yaml
        cp "$source_dir/docs/tutorial/leg.urdf" leg.urdf
    fi
    awk '/[Ss]ave this as `/ {file = $0; sub(/.*[Ss]ave this as `/, "", file); sub(/`.*/, "", file)}
         /^```(yaml|csv|xml)$/ {inside = 1; next} /^```$/ {if (inside) file = ""; inside = 0}
         inside && file != "" {print >file}' "$document"
    while IFS= read -r line; do
        command=$(sed -E 's/^    //; s/  +#.*$//' <<<"$line")
        # all papers at full length take minutes: make test-page runs them all, the short way
        [[ "$command" == "linkwork reproduce" || "$command" =~ ^linkwork\ reproduce\ (--quick|[a-z]+[0-9]+)$ ]] && continue
        (linkwork() { "$linkwork" "$@"; } && eval "$command") >out 2>err </dev/null || fail "$name: $command: $(cat err)"
        ran=$((ran + 1))
    done < <(grep -E '^    linkwork ' "$document")
    if [[ $name == docs/tutorial/* ]]; then
        last=$(grep -E '^    linkwork ' "$document" | tail -n 1)
        [[ $last == "    linkwork view "* ]] || fail "$name ends with $last, not with something to look at"
        grep -q '<script type="application/json" id="data">' ./*.html || fail "$name: there is no page to look at"
        grep -qE '^!\[[^]]+\]\(\.\./images/.*\.svg\)$' "$document" || fail "$name has no picture"
    fi
done
[[ $ran -ge 20 ]] || fail "only $ran commands found"
echo "$ran commands"
