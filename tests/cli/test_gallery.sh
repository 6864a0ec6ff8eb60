#!/usr/bin/env bash
# linkwork example and linkwork gallery: the problems that the program carries, as files and as pages; docs/gallery.md, which lists them.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"

python3 "$source_dir/tools/gallery" --check >/dev/null || fail "docs/gallery.md"

# The program carries all of them, and each is whole: in a folder of its own it stands without the repository.
expect 0 example
diff <(cut -d ' ' -f 1 out) <(cd "$source_dir/problems" && ls) || fail "the examples are not those of problems/"
mapfile -t names < <(cut -d ' ' -f 1 out)
mkdir models
for name in "${names[@]}"; do
    expect 0 example "$name" --out "models/$name"
    expect 0 check "models/$name/$name.yaml"
done

# Files of the user are left alone, also those beside the model, and then nothing is written.
mkdir empty && cd empty
expect 0 example car
[[ $(cat "$work/out") == car.yaml && $(ls) == "car.yaml
corner.yaml" ]] || fail "the example is not there, or more than that: $(ls)"
grep -q yaml-language-server ./*.yaml && fail "the line for editors points to the repository"
echo mine >car.yaml
expect 2 example car
says err 'car.yaml is there already, and nothing is overwritten'
[[ $(cat car.yaml) == mine ]] || fail "a file was overwritten"
rm car.yaml && echo mine >corner.yaml
expect 2 example car
says err 'corner.yaml is there already'
[[ ! -e car.yaml && $(cat corner.yaml) == mine ]] || fail "half an example was written"
expect 2 example four_bars
says err 'did you mean four_bar?'
expect 2 example four_bar nothing_like_it
[[ ! -e four_bar.yaml ]] || fail "an example was written although another is unknown"

# A gallery: files, pages, an index with links to them.
cd "$work"
expect 0 gallery four_bar quarter_car --out pages --quiet
silent err
[[ $(cat out) == pages/index.html ]] || fail "the index is not named"
for file in four_bar/four_bar.yaml four_bar/four_bar.html quarter_car/quarter_car.yaml quarter_car/road.csv quarter_car/quarter_car.html; do
    [[ -s pages/$file ]] || fail "no pages/$file"
done
for link in $(grep -oE '(href|src)="[^"]*"' pages/index.html | cut -d '"' -f 2); do
    [[ -e pages/$link ]] || fail "the index points to $link, which is not there"
done
grep -q 'the smallest mechanism with a closed loop' pages/index.html || fail "the index says nothing about the mechanism"
expect 0 gallery four_bar --out pages # again: its own pages are replaced
says err '1 of 1: four_bar'
expect 2 gallery six_bars
says err 'there is no example "six_bars"'
[[ ! -e gallery ]] || fail "a folder was made for nothing"
