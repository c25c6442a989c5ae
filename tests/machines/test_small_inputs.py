"""No input of less than a megabyte takes the machine: it becomes a machine, or an error that says why, in little time
and memory. Each runs in a process of its own with a limit."""

import json
import subprocess
import sys

import pytest

INPUTS = """
def chain(make, last={"type": "null"}, levels=60):
    defs = {f"d{n}": make({"$ref": f"#/$defs/d{n + 1}"}) for n in range(levels)}
    return gv.json_schema({"$defs": defs | {f"d{levels}": last}, "$ref": "#/$defs/d0"})

def lines(*rules):
    return gv.grammar(chr(10).join(rules))

LONG = "x" * 999_000
SHA = lambda number: hashlib.sha1(str(number).encode()).hexdigest()
COMPILED = {
    "anyOf of one schema": lambda: chain(lambda ref: {"anyOf": [ref, {**ref}]}),
    "anyOf of one schema in two forms": lambda: chain(lambda ref: {"anyOf": [ref, {"allOf": [ref]}]}),
    "two properties of one schema": lambda: chain(lambda ref: {"properties": {"a": ref, "b": ref}}),
    "other properties": lambda: chain(lambda ref: {"properties": {"a": ref}, "additionalProperties": ref}),
    "doubled rules": lambda: lines("root ::= r0", *(f"r{n} ::= r{n + 1} r{n + 1}" for n in range(60)), 'r60 ::= "a"'),
}
REFUSED = {
    "a long constant": lambda: gv.json_schema({"const": LONG}),
    "a long key": lambda: gv.json_schema({"properties": {LONG: {}}, "required": [LONG], "additionalProperties": True}),
    "a deep schema": lambda: gv.json_schema(functools.reduce(lambda part, n: {"items": part}, range(50_000), {})),
    "a long allOf": lambda: gv.json_schema({"allOf": [{"minimum": n} for n in range(20_000)]}),
    "random words": lambda: gv.json_schema({"enum": [SHA(number) for number in range(20_000)]}),
    "steps": lambda: gv.json_schema({"properties": {f"k{n}": {"multipleOf": 1000 + n} for n in range(300)}}),
    "patterns": lambda: gv.json_schema({"oneOf": [{"type": "string", "pattern": f"a{n}"} for n in range(300)]}),
    "expanded classes": lambda: gv.json_schema({"pattern": r"\\p{L}" * 15_000}),
    "many rules": lambda: lines("root ::= r0", *(f'r{n} ::= "a" r{n + 1}' for n in range(40_000)), 'r40000 ::= "b"'),
    "a long text": lambda: gv.grammar(f'root ::= "{LONG}"'),
    "a long class": lambda: gv.grammar(f"root ::= [{LONG}]"),
    "a long begin": lambda: gv.tagged(begin=LONG, machine=gv.regex("a"), end="x"),
}
"""
RUN = """
import functools, hashlib, json, os, resource, sys, time
import guidedviz as gv
gv.json_schema, gv.grammar, gv.tagged, gv.errors
exec(sys.stdin.read())
for name, compile_it in {**COMPILED, **REFUSED}.items():
    read, write = os.pipe()
    if not os.fork():
        limit = 1024 * int(open("/proc/self/statm").read().split()[0]) * 4 + 300 * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            compile_it()
            said = "compiled"
        except gv.GuidedVizError as error:
            said = str(error)
        except BaseException as error:
            said = repr(error)
        os.write(write, json.dumps([said[:500], time.process_time()]).encode())
        os._exit(0)
    os.wait()
    print(json.dumps({name: json.loads(os.read(read, 9999))}))
"""
NAMES = [line.split('"')[1] for line in INPUTS.splitlines() if line.startswith('    "')]


@pytest.fixture(scope="module")
def results():
    done = subprocess.run([sys.executable, "-c", RUN], input=INPUTS, capture_output=True, text=True, timeout=100)
    assert not done.returncode, done.stderr
    return {name: result for line in done.stdout.splitlines() for name, result in json.loads(line).items()}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is read from /proc")
@pytest.mark.parametrize("name", NAMES)
def test_it_is_compiled_or_refused_in_little_time_and_memory(results, name):
    said, seconds = results[name]
    compiled = INPUTS.index(f'"{name}"') < INPUTS.index("REFUSED")
    assert said.startswith("compiled" if compiled else ("schema", "GBNF", "tagged", "compilation")), said
    assert compiled or ", expected " in said
    assert seconds < 6
