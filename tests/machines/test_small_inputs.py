"""No input of less than a megabyte takes the machine: it becomes a machine, or an error that says why, in little time
and memory. Each runs in a process of its own with a limit."""

import functools
import multiprocessing
import resource
import sys
import time

import pytest

import guidedviz as gv


def chain(make):
    defs = {}
    for n in range(60):
        following = {"$ref": f"#/$defs/d{n + 1}"}
        defs[f"d{n}"] = make(following)
    defs["d60"] = {"type": "null"}
    return gv.json_schema({"$defs": defs, "$ref": "#/$defs/d0"})


def lines(*rules):
    return gv.grammar("\n".join(rules))


LONG = "x" * 999_000


def tag(number, schema):
    content = {"type": "json_schema", "json_schema": schema}
    return {"type": "tag", "begin": f"<f=tool_{number}>", "content": content, "end": "</f>"}


def tags(content_of, count=400):
    listed = [tag(n, content_of(n)) for n in range(count)]
    return gv.structural_tag({"type": "triggered_tags", "triggers": ["<f="], "tags": listed})


def in_sequences(count):
    part = {"type": "any_text"}
    for _ in range(count):
        part = {"type": "sequence", "elements": [part]}
    return part


COMPILED = {
    "400 tags of one schema": lambda: tags(lambda n: {"properties": {"city": {"type": "string"}}}),
    "a long text beside excluded words": lambda: gv.structural_tag(
        {"type": "any_text", "excludes": ["aba"], "max_chars": 900_000}
    ),
    "anyOf of one schema in two forms": lambda: chain(lambda ref: {"anyOf": [ref, {"allOf": [ref]}]}),
    "two properties of one schema": lambda: chain(lambda ref: {"properties": {"a": ref, "b": ref}}),
    "doubled rules": lambda: lines("root ::= r0", *(f"r{n} ::= r{n + 1} r{n + 1}" for n in range(60)), 'r60 ::= "a"'),
}
REFUSED = {
    "300 optional keys": lambda: gv.json_schema({"properties": {f"a key {n}": {"type": "null"} for n in range(300)}}),
    "2 to the 12 combinations": lambda: gv.json_schema(
        {"allOf": [{"anyOf": [{"required": [f"a{n}"]}, {"required": [f"b{n}"]}]} for n in range(12)]}
    ),
    "a long constant": lambda: gv.json_schema({"const": LONG}),
    "a deep schema": lambda: gv.json_schema(functools.reduce(lambda part, n: {"items": part}, range(50_000), {})),
    "a long allOf": lambda: gv.json_schema({"allOf": [{"minimum": n} for n in range(20_000)]}),
    "patterns": lambda: gv.json_schema({"oneOf": [{"type": "string", "pattern": f"a{n}"} for n in range(300)]}),
    "many rules": lambda: lines("root ::= r0", *(f'r{n} ::= "a" r{n + 1}' for n in range(40_000)), 'r40000 ::= "b"'),
    "a long text": lambda: gv.grammar(f'root ::= "{LONG}"'),
    "deep formats": lambda: gv.structural_tag(in_sequences(50_000)),
}


def run(name, results):
    """Compile one input with little memory; what was said, and the seconds that it took."""
    with open("/proc/self/statm", encoding="ascii") as pages:
        used = int(pages.read().split()[0])  # pages of 4 KiB
    limit = 4096 * used + 300 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    began = time.process_time()
    said = "compiled"
    try:
        (COMPILED | REFUSED)[name]()
    except gv.GuidedVizError as error:
        said = str(error)
    results.put((said[:500], time.process_time() - began))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is read from /proc")
@pytest.mark.parametrize("name", COMPILED | REFUSED)
def test_it_is_compiled_or_refused_in_little_time_and_memory(name):
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    process = context.Process(target=run, args=(name, results))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    said, seconds = results.get()
    refusals = ("schema", "GBNF", "tagged", "structural_tag", "compilation")
    assert said.startswith("compiled" if name in COMPILED else refusals), said

    assert name in COMPILED or ", expected " in said
    assert seconds < 6
