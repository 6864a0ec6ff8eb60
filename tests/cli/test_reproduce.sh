#!/usr/bin/env bash
# linkwork reproduce: the list of items, rows in table and JSON document, files, names that are wrong. The quick items only; the
# others run with linkwork reproduce itself.
source "$(dirname "$0")/support.sh" "$@"
cd "$work" # the models are inside the program

members="all(set(i) >= {'item', 'ok', 'rows'} and all(set(w) >= {'quantity', 'paper', 'here', 'ok'} for w in i['rows']) for i in d)"

expect 0 reproduce --list
silent err
for item in anderson2003/fig{5,6,8,10,11} mufti1983/example1 mufti1983/basis mufti1983/table arnold2013/{fig2,limit,sect4,condensed,walker}; do
    says out "$item "
done

# The document; without --out there are no files.
expect 0 reproduce mufti1983/example1 --json
silent err
json "$members and [i['item'] for i in d] == ['mufti1983/example1'] and d[0]['ok']"
json "len(d[0]['rows']) == 3 and all(w['here'] == 0 and w['paper'] is None and w['ok'] for w in d[0]['rows'])"
expect 0 reproduce anderson2003/fig5 --json
silent err
json "$members and d[0]['ok'] and d[0]['data'] is None and len(d[0]['rows']) == 3 and all(0 < w['here'] < 1e-3 for w in d[0]['rows'])"
[[ ! -e reproduce ]] || fail "--json alone has written files"

# Files: a folder for the paper, columns with names, a figure that is a picture.
expect 0 reproduce anderson2003/fig6 --json --out figures
json "$members and d[0]['ok'] and d[0]['data'] == 'figures/anderson2003/fig6.csv' and d[0]['figure'] == 'figures/anderson2003/fig6.svg'"
json "[w['stated'] for w in d[0]['rows']] == [1e-9, 1, 2, None]" # nine decimals, linear, quadratic
json "all(w['paper'] is None for w in d[0]['rows'])" # it prints no number
json "0.8 < d[0]['rows'][1]['here'] < 1.2 and 1.8 < d[0]['rows'][2]['here'] < 2.2"
python3 - figures/anderson2003/fig6 <<'PYTHON' || fail "data or figure of fig6 are wrong"
import csv, sys, xml.dom.minidom
lines = [l for l in open(sys.argv[1] + ".csv", encoding="utf-8") if not l.startswith("#")]
rows = list(csv.DictReader(lines))
assert list(rows[0]) == ["t [s]", "rcr [m]", "cut [m]", "rcr so far [m]", "cut so far [m]"], rows[0]
assert len(rows) == 3001 and float(rows[-1]["t [s]"]) == 30
assert 0 < float(rows[0]["rcr [m]"]) == float(rows[0]["cut [m]"]) < 3e-9 # the same start, not assembled
assert float(rows[-1]["cut [m]"]) > 10 * float(rows[-1]["rcr [m]"]) > 0
xml.dom.minidom.parse(sys.argv[1] + ".svg")
PYTHON

# arnold2013: all items but the walking machine. The error of the limit is proportional to m1; both chains are the matrix exponential's;
# (33)-(36) are the paper's to the last coefficient; the BDF codes need no more steps without the small mass than with a large one.
for item in sect4 condensed limit fig2; do
    expect 0 reproduce "arnold2013/$item" --json --out figures
    silent err
    json "$members and [i['item'] for i in d] == ['arnold2013/$item'] and d[0]['ok'] and all(w['ok'] for w in d[0]['rows'])"
    case $item in
    sect4) json "len(d[0]['rows']) == 6 and all(0 <= w['here'] < 1e-8 for w in d[0]['rows'])" ;;
    condensed) json "len(d[0]['rows']) == 22 and d[0]['data'] is None" ;;
    limit) json "[w for w in d[0]['rows'] if w['stated'] == 1][0]['here'] > 0.95" ;;
    fig2) json "len(d[0]['rows']) == 2 and all(w['here'] > 3 for w in d[0]['rows'])" ;;
    esac
done
python3 - figures/arnold2013 <<'PYTHON' || fail "data or figures of arnold2013 are wrong"
import csv, math, sys, xml.dom.minidom
def read(name):
    xml.dom.minidom.parse(f"{sys.argv[1]}/{name}.svg")
    lines = [l for l in open(f"{sys.argv[1]}/{name}.csv", encoding="utf-8") if not l.startswith("#")]
    return list(csv.DictReader(lines))
limit = [r for r in read("limit") if float(r["m1/m2"]) > 0]
assert list(limit[0]) == ["m1/m2", "error of q1, q2 [m]", "estimated [m]"], limit[0]
steps = [r for r in read("fig2") if float(r["m1/m2"]) > 0]
assert list(steps[0]) == ["m1/m2", "ida", "bdf", "ida, m1 = 0", "bdf, m1 = 0"], steps[0]
assert max(float(r["m1/m2"]) for r in steps) == 1 and min(float(r["m1/m2"]) for r in steps) < 1.1e-10
assert len(read("sect4")) > 50
PYTHON

# The table; files go to reproduce/ in the current folder.
expect 0 reproduce anderson2003/fig5
silent err
for text in "paper" "here" "at most 0.001" "ok" "reproduce/anderson2003/fig5.csv"; do says out "$text"; done
[[ -s reproduce/anderson2003/fig5.csv && -s reproduce/anderson2003/fig5.svg ]] || fail "no data or no figure"
expect 0 reproduce mufti1983
says out "3 of 3 items as wanted"
says out "numbers printed in the papers    0: 0 to the digits printed"
says out "checks of our own"
# Every row can fail: it has bounds, and none that nothing could miss.
expect 0 reproduce mufti1983 --json
json "all(w['wanted'] not in ('', 'at least 1') for i in d for w in i['rows'])"

# Names that are wrong, and a folder that cannot be made.
wrong() { # text in standard error, arguments...
    local text=$1
    shift
    expect 2 reproduce "$@"
    silent out
    says err "$text"
}
wrong 'did you mean anderson2003?' andersen2003
wrong 'there are anderson2003, mufti1983' nobody
wrong 'did you mean anderson2003/fig6?' anderson2003/fgi6
wrong 'anderson2003 has no item "table9999"; it has fig5' anderson2003/table9999
wrong 'did you mean mufti1983?' mufti193/example1 --json
wrong 'one argument too many' anderson2003 mufti1983
wrong 'did you mean --out?' --ot figures
touch occupied
expect 1 reproduce mufti1983/example1 --out occupied/deep
says err "occupied/deep could not be made"
expect 1 reproduce anderson2003/fig5 --json --out occupied
silent out
