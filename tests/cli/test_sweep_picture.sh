#!/usr/bin/env bash
# Pictures of the rows of a sweep: the same from CSV and HDF5 and by any number of threads, a point for every run, pages whose links
# lead somewhere; what is refused.
source "$(dirname "$0")/support.sh" "$@"
cd "$work"
plan=(sweep pendulum.yaml --vary "l = 0.5..1.5 : 4" --vary "m ~ normal(1 kg, 0.1 kg)" --vary "method = tree, lagrange" --runs 3
    --measure "final(pin.q)" --measure "peak = max(reaction(pin).force)" --end 0.2 --quiet)
for format in csv h5; do
    expect 0 "${plan[@]}" --out rows.$format
    expect 0 plot rows.$format --out $format.svg
done
cmp csv.svg h5.svg || fail "CSV and HDF5 are drawn differently"
python3 - csv.svg <<'CHECK' || fail "the picture"
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
points = root.findall(f".//{svg}circle")
# 24 runs: two measures over two variables that are numbers, and 4 x 3 of the matrix; texts are not drawn.
assert len(points) == 24 * (2 * 2 + 4 * 3), len(points)
texts = [t.text for t in root.findall(f".//{svg}text")]
assert "peak [N]" in texts and "final(pin.q) [rad]" in texts and "l" in texts and "method" not in texts, texts
box = [float(x) for x in root.get("viewBox").split()]
assert all(0 <= float(p.get("cx")) <= box[2] and 0 <= float(p.get("cy")) <= box[3] for p in points)
bars = [int(b[0].text.split()[0]) for b in root.findall(f".//{svg}rect") if b.get("class") == "b"]
assert sum(bars) == 24 * (2 + 4), bars # every run in each histogram
CHECK
# A file that is cut off, one of a search, one run alone.
head -c 900 rows.csv >cut.csv
expect 0 plot cut.csv
[[ -s cut.svg ]] || fail "no picture beside the file"
expect 0 optimise pendulum.yaml --vary "l = 0.5..2" --minimise "final(pin.q)" --runs 20 --end 0.2 --quiet --out search.h5
expect 0 plot search.h5
expect 0 sweep pendulum.yaml --vary "l = 1" --measure "final(pin.q)" --quiet --out single.csv
expect 0 plot single.csv
for file in cut search single; do
    python3 -c "import sys, xml.dom.minidom as m; m.parse('$file.svg')" || fail "$file.svg"
done
# A page; the motions that its points lead to are there, and the same by one thread.
for jobs in 1 2; do
    rm -rf page_runs
    expect 0 "${plan[@]}" --page page.html --jobs $jobs
    mv page.html page$jobs.html
    ls page_runs >runs$jobs
done
cmp page1.html page2.html && cmp runs1 runs2 || fail "threads change the page"
[[ $(wc -l <runs1) -eq 24 ]] || fail "$(wc -l <runs1) motions"
# Fewer motions, with the extremes first; as many as are wanted.
rm -rf page_runs
expect 0 "${plan[@]}" --page page.html --motions 7
[[ $(ls page_runs | wc -l) -eq 7 ]] || fail "$(ls page_runs | wc -l) motions of 7"
expect 0 sweep pendulum.yaml --vary "l = 0.5..1.5 : 50" --measure "final(pin.q)" --end 0.1 --output 0.1 --quiet --page many.html --motions 50
[[ $(ls many_runs | wc -l) -eq 50 ]] || fail "$(ls many_runs | wc -l) motions of 50"
rm -rf many_runs page_runs
expect 0 "${plan[@]}" --page page.html
expect 2 "${plan[@]}" --motions 7
says err "name it by --page"
for address in $(grep -o 'href="[^"]*"' page1.html | sort -u | cut -d'"' -f2); do
    [[ -s $address ]] || fail "$address is not there"
done
grep -q 'name="motion"' page1.html || fail "no frame"
# Refusals.
expect 2 plot rows.csv --out rows.pdf
says err "SVG only"
expect 2 plot rows.csv pin.q
says err "drawn as a whole"
expect 2 "${plan[@]}" --page page.txt
says err ".html"
head -c 400 rows.csv >head.csv
expect 1 plot head.csv
printf 'not HDF5' >bad.h5
expect 1 plot bad.h5
