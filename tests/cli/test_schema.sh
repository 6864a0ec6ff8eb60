#!/usr/bin/env bash
# docs/model.schema.json and the examples of docs/model-format.md tell of the same format: the schema is valid JSON whose
# references lead somewhere, every key and every choice in it stands in an example, and every key of an example stands in it.
# (This does not validate the examples against the schema; the program's reader decides what is right.)
source "$(dirname "$0")/support.sh" "$@"

python3 - "$source_dir/docs" <<'PYTHON' || fail "schema and examples differ"
import json, re, sys

folder = sys.argv[1]
with open(folder + "/model.schema.json", encoding="utf-8") as f:
    schema = json.load(f)
with open(folder + "/model-format.md", encoding="utf-8") as f:
    examples = re.findall(r"^```yaml\n(linkwork: 1\n.*?)^```", f.read(), re.S | re.M)
typed = ("forces", "constraints")  # sections in which the keys of each type are looked at

# What the schema allows: keys and choices by section, and in forces and constraints by type.
keys, choices = {}, {}

def collect(node, group):
    if isinstance(node, list):
        for item in node:
            collect(item, group)
        return
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        assert node["$ref"].removeprefix("#/$defs/") in schema["$defs"], node["$ref"]
    choices.setdefault(group, set()).update(v for v in node.get("enum", []) if isinstance(v, str))
    if "if" in node:  # the branch for one type
        kind = node["if"]["properties"]["type"]["const"]
        collect(node["then"], group + ":" + kind if group in typed else group)
        return
    for name, value in node.get("properties", {}).items():
        keys.setdefault(group, set()).add(name)
        collect(value, group)
    for word in ("items", "anyOf", "allOf", "additionalProperties"):
        collect(node.get(word), group)

for section, node in schema["properties"].items():
    collect(node, section)
for node in schema["$defs"].values():
    collect(node, "anywhere")

# What the examples use: an object to a line, "  name: {...}", or all of a section behind its key.
used, words = {}, {}
for text in examples:
    section = None
    for line in text.splitlines():
        top = re.match(r"(\w+):", line)
        if top:
            section = top[1]
            used.setdefault("", set()).add(section)
            line = line[top.end():]
        if section in ("bodies", "joints", "forces", "constraints"):
            body = line.partition("{")[2] if top else line.partition(": ")[2]
            if top and body:
                body = body.partition(": ")[2]
        else:
            body = line
        kind = re.search(r"\btype: (\w+)", body)
        group = f"{section}:{kind[1]}" if section in typed and kind else section
        for g in {section, group, "anywhere"}:
            used.setdefault(g, set()).update(re.findall(r"(?:^|[{,]\s*)(\w+): ", body))
            words.setdefault(g, set()).update(re.findall(r"\w+", body))

faults = []
for section in set(schema["properties"]) ^ used[""]:
    faults.append(f"section {section} stands in one of schema and examples only")
for group, names in keys.items():
    for name in sorted(names - used.get(group, set())):
        if name == "repeat" and name in used["anywhere"]:  # all objects repeat in the same way
            continue
        if name in ("force", "torque") and group in ("forces:spring", "forces:torsion"):  # of a table: one of them
            continue
        faults.append(f"no example has the key {name} of {group}")
    for name in sorted(used.get(group, set()) - names - keys["anywhere"] - {"i", "j"}):  # i, j: indices of repeat
        if group not in typed and group != "anywhere":
            faults.append(f"the schema does not know the key {name} of {group}")
for group, names in choices.items():
    for name in sorted(names - words.get(group, set())):
        faults.append(f"no example has the choice {name} of {group}")
assert sum(map(len, keys.values())) > 80 and sum(map(len, choices.values())) > 30, "the schema was not understood"
for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
PYTHON
