"""Checks docs/model.schema.json against its metaschema, against models, and against the program's reader.

Call: check_schema.py LINKWORK SOURCE_FOLDER SCRATCH_FOLDER. Says what is wrong on standard error; exit status 1 then.

1. The schema is valid JSON Schema (draft 2020-12).
2. All problems/*/model.yaml and all examples of docs/model-format.md are valid.
3. Every key and every choice of the schema stands in an example.
4. The models of tests/fault whose fault is one of structure (FAULTY below) are not valid.
5. A model that the program accepts is valid: seen on the examples with one thing changed in each.
6. The schema has an $id, every key has a description, a sentence, and every file of problems/ names the schema for editors.
"""
import glob
import json
import os
import random
import re
import subprocess
import sys

import jsonschema
import yaml

# Unknown keys, wrong types, unknown choices, missing keys, wrong counts, keys that exclude each other.
FAULTY = """
body-density-shape-none body-density-without-shape body-inertia-length body-is-list body-kind body-mass-and-density
body-mass-missing body-mass-negative body-name body-named-ground body-planar-inertia body-point-inertia body-rotation-key
body-section-is-list body-shape body-shape-size-missing body-shape-wrong-size body-size-without-shape
body-unknown-key constraint-length-zero constraint-polynomial-and-table constraint-polynomial-degree
constraint-rolling constraint-terms constraint-terms-many constraint-type
force-applied-axes force-applied-nothing force-applied-point-missing force-bushing-count force-bushing-place
force-drive-nothing force-drive-twice force-friction-negative force-friction-nothing force-law-and-table
force-spring-one-point force-spring-points-twice force-spring-without-law force-table-both force-table-column
force-table-text force-type frame-keys start-joint start-keys head-gravity-length head-gravity-number head-is-a-list head-is-text head-missing head-name-list
head-unknown-key head-version-2 joint-axes-count joint-axis-length joint-axis-missing joint-between-missing
joint-between-one joint-both-geometries joint-compliance-key joint-compliance-number joint-cut-flag joint-is-text joint-key-of-other-type joint-lead-missing
joint-motion-count joint-point-missing joint-q-and-rotation joint-q-count joint-q-number joint-second-missing
joint-type joint-type-missing joint-weld-q loose-not-known number-empty number-list parameter-list parameter-name
parameter-section table-choices table-file-and-list table-no-list table-no-points table-one-point table-section
table-unknown-key repeat-form repeat-misplaced run-end run-key run-not-positive run-tolerance text-and-mechanism twenty
""".split()


OBJECTS = "tables signals states outputs bodies frames joints forces constraints events parts beams".split()  # sections

# --- YAML 1.2, as far as the format uses it -----------------------------------------------------------


class Loader(yaml.SafeLoader):
    """PyYAML reads YAML 1.1, in which on is a flag and 1e-3 a text; this has the core schema of 1.2. Keys are texts."""

    yaml_implicit_resolvers = {}

    def construct_mapping(self, node, deep=False):
        return {key.value: self.construct_object(value, deep=True) for key, value in node.value}


for tag, pattern in (
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("null", r"~|null|Null|NULL|"),
    ("int", r"[-+]?[0-9]+"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"),
):
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag, re.compile(f"^(?:{pattern})$"), None)
Loader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node))
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(node.value))


def read(text):
    return yaml.load(text, Loader)  # derived from SafeLoader


# --- what the schema names, and what models use -------------------------------------------------------


def group(section, kind):
    """The keys of forces and constraints are looked at type by type; those of joints mean the same everywhere."""
    return f"{section}:{kind}" if section != "joints" else section


def schema_names(schema):
    """Paths such as forces:spring/table/smooth for keys, with =value for choices."""
    found = set()

    def walk(node, path):
        if not isinstance(node, dict):
            return
        if "$ref" in node:
            walk(schema["$defs"][node["$ref"].removeprefix("#/$defs/")], path)
        if path != "linkwork":
            found.update(f"{path}={choice}" for choice in node.get("enum", []))
        for key, value in node.get("properties", {}).items():
            if value is not False:
                found.add(f"{path}/{key}".lstrip("/"))
                walk(value, f"{path}/{key}".lstrip("/"))
        for branch in node.get("allOf", []):
            kind = branch.get("if", {}).get("properties", {}).get("type", {}).get("const")
            if kind and path in ("joints", "forces", "constraints"):
                walk(branch["then"], group(path, kind))
        for word in ("items", "additionalProperties"):
            walk(node.get(word), path)
        for option in node.get("anyOf", []):
            walk(option, path)

    walk({"properties": schema["properties"]}, "")
    return found


def model_names(model):
    found = set()

    def walk(value, path):
        if isinstance(value, dict):
            for key, inner in value.items():
                found.add(f"{path}/{key}")
                walk(inner, f"{path}/{key}")
        elif isinstance(value, list):
            for inner in value:
                walk(inner, path)
        else:
            found.add(f"{path}={value}")

    for section, content in model.items():
        found.add(section)
        if section == "starts":  # each maps joints to their values
            for start in (content or {}).values():
                for entry in start.values():
                    walk(entry, section)
            continue
        if section not in OBJECTS:
            walk(content, section)
            continue
        for entry in (content or {}).values():
            kind = entry.get("type") if isinstance(entry, dict) else None
            if section in ("joints", "forces", "constraints") and kind:
                found.update((f"{section}/type", f"{section}/type={kind}"))
                walk(entry, group(section, kind))
            else:
                walk(entry, section)
    return found


def not_shown(schema, models):
    used = set().union(*map(model_names, models))
    repeats = any(name.endswith("/repeat") for name in used)
    for name in sorted(schema_names(schema)):
        if name in used or (name.endswith("/repeat") and repeats):  # all objects repeat in the same way
            continue
        place, _, key = name.rpartition("/")
        if key == "file":  # some tests read the examples from memory, where there are no files
            continue
        if place.endswith("/table") and key in ("force", "torque"):  # one of them
            continue
        if re.search(r"/rotation/(axis|angle|cardan)$", name):  # all rotations are written in the same ways
            if any(other.endswith("/rotation/" + key) for other in used):
                continue
        if name.startswith("forces:") and any(other.endswith(name.partition("/")[2]) for other in used):
            if re.search(r"/(joint|coordinate|table)\b", name):  # the same wherever they stand
                continue
        if place.startswith("bodies"):  # a shape's keys stand in the body or in the shape
            kind = name.partition("=")[2]
            if re.search(r"/shapes?(/type)?=", name) and used & {f"bodies/{p}={kind}" for p in ("shape", "shape/type", "shapes/type")}:
                continue
            if used & {f"bodies/{key}", f"bodies/shape/{key}", f"bodies/shapes/{key}"}:
                continue
        yield name


# --- what an editor shows -----------------------------------------------------------------------------

EDITOR_LINE = "# yaml-language-server: $schema=../../docs/model.schema.json\n"


def not_described(node, path=""):
    """Keys without a description. A key is one that stands in the properties of a mapping, and is not forbidden there."""
    if isinstance(node, list):
        for index, inner in enumerate(node):
            yield from not_described(inner, f"{path}/{index}")
    if not isinstance(node, dict):
        return
    mapping = "object" in ([node["type"]] if isinstance(node.get("type"), str) else node.get("type", []))
    for key, value in (node.get("properties", {}) if mapping else {}).items():
        text = value.get("description") if isinstance(value, dict) else None
        if value is not False and not (isinstance(text, str) and len(text) >= 10):
            yield f"{path}: {key}"
    for word, inner in node.items():
        yield from not_described(inner, f"{path}/{word}")


# --- one thing changed --------------------------------------------------------------------------------


def places(value, path=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield path + (key,)
            yield from places(inner, path + (key,))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield path + (index,)
            yield from places(inner, path + (index,))


def changed(model, rng):
    """A copy of the model with one value removed, replaced, moved in from elsewhere, or under another key."""
    copy = json.loads(json.dumps(model))
    where = list(places(copy))
    path = rng.choice(where)
    holder = copy
    for step in path[:-1]:
        holder = holder[step]
    action = rng.randrange(5)
    if action == 0:
        del holder[path[-1]]
    elif action == 1:
        holder[path[-1]] = rng.choice([0, 1, 2.5, "1", "2*pi", True, False, None, [], {}, [1, 2, 3], [[1, 2, 3]], "ground", "box"])
    elif action == 2 and isinstance(holder, dict):
        holder[rng.choice(where)[-1] if rng.random() < 0.8 else "colour"] = holder.pop(path[-1])
    elif action == 3 and isinstance(holder, list):
        holder.append(rng.choice(holder))
    else:
        other = copy
        for step in rng.choice(where):
            other = other[step]
        if isinstance(holder, dict) and rng.random() < 0.5:
            holder[str(rng.choice(where)[-1])] = json.loads(json.dumps(other))
        else:
            holder[path[-1]] = json.loads(json.dumps(other))
    return {str(key): value for key, value in copy.items()} if isinstance(copy, dict) else copy


def disagreements(program, scratch, validator, models, count):
    """Changed models that the program accepts and the schema does not."""
    rng = random.Random(20)
    accepted = refused = caught = 0
    for number in range(count):
        model = changed(rng.choice(models), rng)
        text = json.dumps(model, indent=1)  # JSON is YAML; keys of numbers become texts
        path = os.path.join(scratch, "changed.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        sound = subprocess.run([program, "check", path], capture_output=True, check=False).returncode == 0
        valid = validator.is_valid(json.loads(text))
        accepted, refused, caught = accepted + sound, refused + (not sound), caught + (not sound and not valid)
        if sound and not valid:
            error = jsonschema.exceptions.best_match(validator.iter_errors(json.loads(text)))
            yield f"change {number}: the program accepts what the schema does not ({error.json_path}: {error.message[:200]})"
    print(f"{count} changed models: the program accepts {accepted}; of the {refused} others the schema refuses {caught}")
    if accepted < count // 20 or caught < refused // 3:
        yield "the changed models are not worth much as a test"


# --- all of it ----------------------------------------------------------------------------------------


def main():
    program, source, scratch = sys.argv[1:4]
    with open(source + "/docs/model.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    validator = kind(schema)
    faults = []

    with open(source + "/docs/model-format.md", encoding="utf-8") as file:
        texts = re.findall(r"^```yaml\n(.*?)^```", file.read(), re.S | re.M)
    examples = [read(text) for text in texts]
    problems = sorted(glob.glob(source + "/problems/*/model.yaml"))
    good = [(model.get("name"), model) for model in examples]
    for path in problems:
        with open(path, encoding="utf-8") as file:
            good.append((path, read(file.read())))
    assert len(examples) >= 10 and len(problems) >= 5, "the examples were not found"
    for name, model in good:
        for error in validator.iter_errors(model):
            faults.append(f"{name}: {error.json_path}: {error.message}")

    if schema.get("$id") != "urn:linkwork:model:1":
        faults.append("the schema has not the $id of version 1 of the format")
    faults += [f"no description in the schema at {name}" for name in not_described(schema)]
    for path in sorted(glob.glob(source + "/problems/*/*.yaml")):
        with open(path, encoding="utf-8") as file:
            if file.readline() != EDITOR_LINE:
                faults.append(f"{path} does not begin with {EDITOR_LINE.strip()}")

    faults += [f"no example has {name}" for name in not_shown(schema, examples)]

    for name in FAULTY:
        with open(f"{source}/tests/fault/{name}.yaml", encoding="utf-8") as file:
            if validator.is_valid(read(file.read())):
                faults.append(f"tests/fault/{name}.yaml is valid for the schema")

    for model in examples:  # Examples that are parts of others stand beside the changed ones.
        if str(model.get("name")).endswith(".yaml"):
            with open(os.path.join(scratch, model["name"]), "w", encoding="utf-8") as file:
                json.dump(model, file)
    faults += disagreements(program, scratch, validator, [model for _, model in good], 400)
    print(f"{len(good)} good models are valid, {len(FAULTY)} faulty ones are not, {len(schema_names(schema))} names of the schema")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
