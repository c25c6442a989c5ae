"""The cases of JSON Schema draft 2020-12: a valid value is accepted in one order of its keys, any other in none.

They lie beside the repository, not in it; where they are missing the tests say that they were skipped.
"""

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import guidedviz as gv
from guidedviz.machines.schema.patterns import FORMAT_REGEXES
from tests.machines.schema.deciding import MOST_SPELLINGS, spell

SHARED = Path(__file__).resolve().parents[4] / "shared"
CASES = SHARED / "data" / "json-schema"
BLANKS = {"compact": (",", ":", ""), "space": (", ", ": ", "")}
BLANKS["one"] = BLANKS["space"]
BLANKS |= {"any": ("\n, ", "\t: ", " \r\n")}
CHECKER = Draft202012Validator.FORMAT_CHECKER
UNCHECKED = {*FORMAT_REGEXES} - CHECKER.checkers.keys()  # the validator needs other packages for these
MOST_LEFT = 89  # cases of schemas that are refused: this number may only go down
STANDARD = "https://json-schema.org/draft/2020-12/schema"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"no JSON Schema cases in {CASES}")


def spellings(value, blanks):
    for plain in (True, False):
        yield from islice(spell(value, blanks, plain), MOST_SPELLINGS)


def compile_all(schema):
    """A machine a way of writing blanks; nothing if the schema is refused, False if because nothing can meet it."""
    try:
        return {blanks: gv.json_schema(schema, blanks, extra_keys="open") for blanks in BLANKS}
    except gv.PatternError as error:
        said = ("schema, #: saw keywords that no value satisfies", "schema, #/enum: saw []")
        return False if str(error).startswith(said) else None


def is_refused(schema, value, checker=None):
    """Whether the validator refuses a value; also if it cannot read the pattern of an object's keys."""
    try:
        return not Draft202012Validator(schema, format_checker=checker).is_valid(value)
    except re.error:
        return "patternProperties" in schema


def judge(machines, schema, value, valid):
    if machines is None:
        return "unsupported"
    if machines is False:
        return "wrong" if valid else "refused right"
    accepted = set()
    for blanks, machine in machines.items():
        texts = map(str.encode, spellings(value, BLANKS[blanks]))
        accepted.add(any(map(machine.accepts, texts)))
    if accepted == {valid}:
        return "accepted right" if valid else "refused right"
    if valid and accepted == {False}:
        if isinstance(schema, dict) and schema.get("$schema", STANDARD) != STANDARD:
            return "lawful: vocabulary"  # another meta-schema is not read
        unchecked = isinstance(schema, dict) and schema.get("format") in UNCHECKED
        if unchecked or is_refused(schema, value, CHECKER):
            return "lawful: format"
    return "wrong"


def test_every_case_that_is_supported_is_decided_as_the_standard_says():
    counts = Counter()
    left = Counter()
    wrong = []
    for file in sorted(CASES.glob("*.json")):
        for group in json.loads(file.read_text()):
            machines = compile_all(group["schema"])
            for test in group["tests"]:
                verdict = judge(machines, group["schema"], test["data"], test["valid"])
                counts[verdict] += 1
                left[file.stem] += verdict == "unsupported"
                if verdict == "wrong":
                    wrong.append((file.stem, group["schema"], test))
    print(dict(counts), "unsupported:", dict(+left))
    assert wrong == []
    assert counts["unsupported"] <= MOST_LEFT
