"""Public schemas as they are: objects that do not say otherwise are open, and most definitions are not used by a text.

They are read from a folder of JSON files, one folder inside it per split, as JSONSchemaBench has them (arXiv
2501.10868). Without a folder there are forty, written here, of the kinds that are public: workflows, Kubernetes,
interfaces of services, packages, compilers' settings, containers, functions for models, linked data, invoices and
settings.
The text of a schema is a value that is drawn from it, with few optional members.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import guidedviz as gv
from bench.cases import WORDS, Case
from guidedviz.tokens.vocabulary import longest_tokens

Schema = dict[str, Any]
TITLE = "public open schemas"
PER_SPLIT = 15  # schemas of each folder
MOST_TOKENS = 300  # of a text
DRAWS = 24  # values that are tried until one fits
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
MAP: Schema = {"type": "object", "additionalProperties": TEXT}


def public_cases(folder: Path | None, vocabulary: gv.Vocabulary, only: str = "") -> list[Case]:
    """The schemas of a folder, or those that are written here, each with a text that it allows."""
    found = read_schemas(folder) if folder else write_schemas()
    cases = []
    for name, schema in found:
        text = find_text(schema, vocabulary) if only in f"{TITLE}, {name}" else ""
        if text:
            cases.append(Case(name, (text,), schema=schema, is_open=True))
    return cases


def read_schemas(folder: Path) -> Iterator[tuple[str, Schema]]:
    """Some schemas of each split, evenly chosen."""
    for split in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = sorted(split.rglob("*.json"))
        for file in files[:: max(1, len(files) // PER_SPLIT)][:PER_SPLIT]:
            schema = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(schema, dict):
                yield f"{split.name} {file.stem}", schema


def find_text(schema: Schema, vocabulary: gv.Vocabulary) -> str:
    """The longest drawn text that fits and that the schema allows; "" if there is none."""
    best = ""
    try:
        machine = gv.json_schema(schema, extra_keys="open")
    except gv.GuidedVizError:
        return ""
    for seed in range(DRAWS):
        rng = Random(seed)
        try:
            text = json.dumps(draw(schema, schema, rng, 0), ensure_ascii=False)
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError):  # it is not drawn here
            continue
        if len(text) > len(best) and len(list(longest_tokens(vocabulary, text.encode()))) <= MOST_TOKENS:
            best = text if machine.accepts(text.encode()) else best
    return best


# --- values ---------------------------------------------------------------------------------------------------------


def draw(schema: Any, root: Schema, rng: Random, depth: int) -> Any:
    """A value that mostly fits a schema: what is drawn here and does not fit is not used."""
    if not isinstance(schema, dict):
        return words_of(rng)
    if "$ref" in schema:
        return draw(follow(schema["$ref"], root), root, rng, depth + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            others = {name: value for name, value in schema.items() if name != keyword}
            return draw(others | rng.choice(schema[keyword]), root, rng, depth + 1)
    if "allOf" in schema:
        parts = [draw(part, root, rng, depth + 1) for part in schema["allOf"]]
        return {key: value for part in parts for key, value in part.items()}
    return draw_kind(kind_of(schema, rng), schema, root, rng, depth)


def follow(reference: str, root: Schema) -> Any:
    """The schema that a reference within the document means."""
    found: Any = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def kind_of(schema: Schema, rng: Random) -> str:
    """The type of a value, which may follow from the other keywords."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        return str(rng.choice(kinds))
    if kinds:
        return str(kinds)
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def draw_kind(kind: str, schema: Schema, root: Schema, rng: Random, depth: int) -> Any:
    """A value of one type."""
    if kind == "object":
        return draw_object(schema, root, rng, depth)
    if kind == "array":
        low = schema.get("minItems", 0)
        high = min(schema.get("maxItems", 3), low + (2 if depth < 8 else 0))
        return [draw(schema.get("items", True), root, rng, depth + 1) for _ in range(rng.randint(low, high))]
    if kind in ("integer", "number"):
        low = schema.get("minimum", 0)
        return rng.randint(int(low), int(schema.get("maximum", low + 1000)))
    if kind == "string":
        return draw_text(schema, rng)
    return {"boolean": rng.random() < 0.5, "null": None}[kind]


def draw_object(schema: Schema, root: Schema, rng: Random, depth: int) -> Any:
    """An object with the required members, fewer others the deeper it is, and at times one key of its own."""
    required = schema.get("required", ())
    value = {}
    for name, part in schema.get("properties", {}).items():
        if name in required or rng.random() < 0.8 / (1 + depth):
            value[name] = draw(part, root, rng, depth + 1)
    for part in schema.get("patternProperties", {}).values():
        value[rng.choice(SAMPLES)] = draw(part, root, rng, depth + 1)
    more = schema.get("additionalProperties", True)
    if more is not False and rng.random() < 0.4:
        value[f"x-{rng.choice(WORDS)}"] = draw(more, root, rng, depth + 1)
    return value


FORMATS = {
    "date": "2026-11-20",
    "date-time": "2026-11-20T08:30:00Z",
    "email": "ada@engine.org",
    "uri": "https://example.com/a",
    "uuid": "01234567-89ab-cdef-0123-456789abcdef",
    "ipv4": "192.168.1.7",
}
SAMPLES = ("ab1", "1.0.3", "12345", "abc", "100m", "DE", "2026-11-20", "/a")


def draw_text(schema: Schema, rng: Random) -> str:
    """A string; one of a few for a pattern."""
    if "format" in schema:
        return FORMATS.get(schema["format"], words_of(rng))
    if "pattern" in schema:
        return rng.choice(SAMPLES)
    return words_of(rng).ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", 80)]


def words_of(rng: Random) -> str:
    return " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))


# --- schemas --------------------------------------------------------------------------------------------------------


def write_schemas(seed: int = 47) -> Iterator[tuple[str, Schema]]:
    """Forty schemas, four of each kind.

    >>> found = list(write_schemas())
    >>> len(found), found == list(write_schemas()), found[0][0]
    (40, True, 'workflow 0')
    """
    rng = Random(seed)
    for make in (workflow, cluster, service, package, compiler, composed, function, linked, invoice, settings):
        for number in range(4):
            yield f"{make.__name__} {number}", make(rng)


def thing(properties: Schema, required: tuple[str, ...] = (), **more: Any) -> Schema:
    """An open object, with a description as public schemas have them."""
    return {"type": "object", "description": "…", "properties": properties, "required": [*required], **more}


def refer(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}


def listed(part: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": part, **more}


def either(*parts: Schema) -> Schema:
    return {"anyOf": [*parts]}


def fields(rng: Random, count: int) -> Schema:
    """So many members of simple types."""
    kinds: list[Callable[[], Schema]] = [
        lambda: TEXT,
        lambda: {"type": "string", "description": "…", "default": "x"},
        lambda: {"type": "string", "enum": rng.sample(WORDS, rng.randint(2, 9))},
        lambda: INTEGER | {"minimum": 0},
        lambda: NUMBER,
        lambda: FLAG,
        lambda: TEXTS,
        lambda: MAP,
        lambda: {"type": "string", "format": rng.choice(sorted(FORMATS))},
        lambda: {"type": ["string", "null"]},
        lambda: {"type": "string", "minLength": 1, "maxLength": rng.choice([40, 64, 255])},
    ]
    names = [f"{one}{other.title()}" for one in WORDS for other in WORDS]
    return {name: rng.choice(kinds)() for name in rng.sample(names, count)}


def workflow(rng: Random) -> Schema:
    """Jobs with steps, started by events."""
    step = thing({"name": TEXT, "id": TEXT, "if": TEXT, "uses": TEXT, "run": TEXT, "with": MAP, "env": refer("env")})
    step["properties"] |= {"continue-on-error": either(FLAG, TEXT), "timeout-minutes": NUMBER} | fields(rng, 3)
    event = {name: either({"type": "null"}, refer("filter")) for name in rng.sample(WORDS, 12)}
    job = thing(
        {
            "name": TEXT,
            "needs": either(TEXT, listed(TEXT, minItems=1)),
            "runs-on": either(TEXT, TEXTS),
            "env": refer("env"),
            "strategy": thing({"matrix": {"type": "object"}, "fail-fast": FLAG, "max-parallel": NUMBER}),
            "steps": listed(refer("step"), minItems=1),
            "container": either(TEXT, thing({"image": TEXT, "env": refer("env"), "ports": TEXTS} | fields(rng, 4))),
        },
        ("runs-on",),
    )
    env = {"type": "object", "additionalProperties": either(TEXT, NUMBER, FLAG)}
    limits = thing({name: TEXTS for name in ("branches", "branches-ignore", "tags", "tags-ignore", "paths")})
    return thing(
        {
            "name": TEXT,
            "on": either(TEXT, TEXTS, thing(event)),
            "env": refer("env"),
            "jobs": {"type": "object", "patternProperties": {"^[_a-zA-Z][a-zA-Z0-9_-]*$": refer("job")}},
        },
        ("on", "jobs"),
        definitions={"env": env, "filter": limits, "job": job, "step": step},
    )


def cluster(rng: Random) -> Schema:
    """Thirty to sixty definitions that refer to each other; a text needs few of them."""
    names = [f"io.k8s.api.v1.{one.title()}{number}" for number in range(3) for one in WORDS][: rng.randint(30, 50)]
    definitions: Schema = {}
    for place, name in enumerate(names):
        later = names[place + 1 :]
        inner = {f"{other.lower().split('.')[-1]}Ref": refer(other) for other in rng.sample(later, min(2, len(later)))}
        properties = fields(rng, rng.randint(1, 3)) | inner
        definitions[name] = thing(properties, tuple(rng.sample(sorted(properties), 1)))
    definitions["meta"] = thing({"name": TEXT, "namespace": TEXT, "labels": MAP, "annotations": MAP} | fields(rng, 6))
    kinds = {"apiVersion": TEXT, "kind": {"type": "string", "enum": ["Deployment"]}, "metadata": refer("meta")}
    return thing(kinds | {"spec": refer(names[0]), "status": refer(names[1])}, ("kind",), definitions=definitions)


def service(rng: Random) -> Schema:
    """The request of an operation, with the components that an interface of a service has."""
    names = [f"{one.title()}{other.title()}" for one, other in zip(WORDS, reversed(WORDS), strict=True)]
    definitions = {}
    for name in names:
        links = {other.lower(): either(refer(other), TEXT) for other in rng.sample(names, 2)}
        definitions[name] = thing(fields(rng, rng.randint(2, 10)) | links)
    page = thing({"page": INTEGER | {"minimum": 1}, "size": INTEGER | {"minimum": 1, "maximum": 500}})
    body = {"id": {"type": "string", "format": "uuid"}, "items": listed(refer(names[0])), "page": page}
    return thing(body | {"owner": refer(names[1]), "filter": MAP}, ("id", "items"), definitions=definitions)


def package(rng: Random) -> Schema:
    """The manifest of a package."""
    person = either(TEXT, thing({"name": TEXT, "email": {"type": "string", "format": "email"}, "url": TEXT}, ("name",)))
    named = {"type": "string", "maxLength": 214, "minLength": 1, "pattern": "^[a-z0-9-~][a-z0-9-._~]*$"}
    return thing(
        {
            "name": named,
            "version": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+"},
            "description": TEXT,
            "keywords": TEXTS,
            "author": refer("person"),
            "contributors": listed(refer("person")),
            "license": either(TEXT, {"enum": ["MIT", "Apache-2.0", "BSD-3-Clause"]}),
            "files": TEXTS,
            "bin": either(TEXT, MAP),
            "scripts": thing({name: TEXT for name in ("test", "start", "build", "lint", *rng.sample(WORDS, 9))}),
            "dependencies": refer("versions"),
            "devDependencies": refer("versions"),
            "peerDependencies": refer("versions"),
            "engines": thing({"node": TEXT, "npm": TEXT}),
            "private": either(FLAG, {"enum": ["false", "true"]}),
            "repository": either(TEXT, thing({"type": TEXT, "url": TEXT, "directory": TEXT})),
        }
        | fields(rng, rng.randint(0, 12)),
        ("name", "version"),
        definitions={"person": person, "versions": MAP},
    )


def compiler(rng: Random) -> Schema:
    """The settings of a compiler: very many options, all of them optional."""
    options = fields(rng, rng.randint(30, 70)) | {"target": {"enum": ["es5", "es6", "es2020", "esnext"]}, "lib": TEXTS}
    parts = {"compilerOptions": thing(options), "files": TEXTS, "include": TEXTS, "exclude": TEXTS}
    builds = listed(thing({"path": TEXT, "prepend": FLAG}))
    return thing(parts | {"extends": either(TEXT, TEXTS), "references": builds, "compileOnSave": FLAG})


def composed(rng: Random) -> Schema:
    """Containers that run together."""
    pairs = either(MAP, TEXTS)
    unit = thing(
        {
            "image": TEXT,
            "build": either(TEXT, thing({"context": TEXT, "dockerfile": TEXT, "args": pairs, "target": TEXT})),
            "command": either(TEXT, TEXTS),
            "environment": refer("pairs"),
            "labels": refer("pairs"),
            "ports": listed(either(TEXT, NUMBER, thing({"target": INTEGER, "published": INTEGER, "mode": TEXT}))),
            "depends_on": either(TEXTS, {"type": "object", "additionalProperties": thing({"condition": TEXT})}),
            "deploy": thing({"replicas": INTEGER, "resources": thing({"limits": refer("limit"), "more": MAP})}),
            "restart": TEXT,
            "volumes": TEXTS,
        }
        | fields(rng, rng.randint(5, 20)),
        additionalProperties=False,
    )
    named = {"type": "object", "patternProperties": {"^[a-zA-Z0-9._-]+$": refer("unit")}, "additionalProperties": False}
    limit = thing({"cpus": either(NUMBER, TEXT), "memory": TEXT})
    parts = {"version": TEXT, "name": TEXT, "services": named, "networks": {"type": "object"}, "secrets": MAP}
    return thing(parts, ("services",), definitions={"pairs": pairs, "unit": unit, "limit": limit})


def function(rng: Random) -> Schema:
    """The arguments of one of some functions, as models call them."""
    calls = []
    for name in rng.sample(WORDS, rng.randint(1, 6)):
        found = fields(rng, rng.randint(1, 6))
        arguments = thing(found, tuple(rng.sample(sorted(found), rng.randint(0, len(found)))))
        calls.append(thing({"name": {"const": f"get_{name}"}, "arguments": arguments}, ("name", "arguments")))
    return either(*calls) if len(calls) > 1 else calls[0]


def linked(rng: Random) -> Schema:
    """Linked data: things that contain each other, of one of some types."""
    definitions: Schema = {"thing": either(*map(refer, ("Person", "Place", "Event", "Work")))}
    for name in ("Person", "Place", "Event", "Work"):
        links = {rng.choice(WORDS): refer("thing"), "sameAs": either(TEXT, TEXTS), "parts": listed(refer("thing"))}
        own = {"@type": {"const": name}, "@id": {"type": "string", "format": "uri"}, "name": TEXT}
        definitions[name] = thing(own | fields(rng, rng.randint(4, 12)) | links, ("@type",))
    return {"@context": "…", "definitions": definitions, **thing({"@context": TEXT, "@graph": listed(refer("thing"))})}


def invoice(rng: Random) -> Schema:
    """An order with its lines, an address twice, and a sum."""
    address = thing(
        {"street": TEXT, "city": TEXT, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}, "country": TEXT},
        ("street", "city"),
    )
    line = thing(
        {"sku": TEXT, "quantity": INTEGER | {"minimum": 1}, "price": NUMBER | {"minimum": 0}} | fields(rng, 4),
        ("sku", "quantity", "price"),
    )
    parts = {
        "number": {"type": "string", "minLength": 1, "maxLength": 40},
        "date": {"type": "string", "format": "date"},
        "seller": thing({"name": TEXT, "address": refer("address"), "email": {"type": "string", "format": "email"}}),
        "buyer": thing({"name": TEXT, "address": refer("address")} | fields(rng, 3), ("name",)),
        "lines": listed(refer("line"), minItems=1),
        "total": NUMBER,
        "currency": {"type": "string", "enum": ["EUR", "USD", "GBP", "JPY"]},
    }
    required = ("number", "date", "lines", "total")
    return thing(parts | fields(rng, rng.randint(0, 8)), required, definitions={"address": address, "line": line})


def settings(rng: Random) -> Schema:
    """Settings of a program: groups of options, of which some extend another one."""
    groups: Schema = {name: thing(fields(rng, rng.randint(2, 12))) for name in rng.sample(WORDS, rng.randint(4, 12))}
    rule = {"oneOf": [{"type": "string", "enum": ["off", "warn", "error"]}, listed(thing(fields(rng, 3)))]}
    extended = {"allOf": [refer("base"), thing(fields(rng, 4))]}
    more = {"rules": {"type": "object", "additionalProperties": rule}, "extended": extended}
    return thing(groups | more, definitions={"base": thing(fields(rng, 3), additionalProperties=True)})
