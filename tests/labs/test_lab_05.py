"""What lab 05 says in prose is what its outputs show; what none of them shows is measured here."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

import guidedviz as gv
from guidedviz.machines.regular.regex import regex
from tests.labs.solved import read_solved

LAB = read_solved("05_json_schema")
ONE = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
TEXTS = ['{"age":42}', '{"age": 42}', '{ "age" : 42 }', '{"age": 42, "pets": 3}']


@pytest.mark.parametrize(
    ("said", "words", "shown"),
    [
        ("It has 12 states inside", "machine = gv.json_schema(Person)", "(12 states inside) → q10"),
        ("is not in `required`", "gives the city a default", '2 of 3 texts are complete'),
        ("at most ten characters", "def text_up_to", "10 DFA(203 states, 1 accepting)\n20 DFA(403"),
        ("one copy, of 25 nodes, and a counter", "maxLength: 1000", "PDA(2 rules, 25 nodes) PDA(2 rules, 25 nodes) PDA(2 rules, 25 nodes)"),
        ("so the counter is 3", "[a-z]{0,5000}", "0…5000, now 3"),
        ("the name is cut", "has 12 characters", '"name": "Tamsin O"'),
        ("Not every order costs something", "right_record", "name, age, city: 0.75"),
        ("Not every order costs something", "schema says age, name, city", "as before:\n\n0.75"),
        ("most of the loss is gone", "schema says age, name, city", "prompt as before     0.55"),
        ("most of the loss is gone", "schema says age, name, city", "prompt in its order  0.72"),
        ("listed in `machine.notes`", "def tell", "notes: #/x-unit: not a keyword of JSON Schema, ignored\nwarnings: 0"),
        ("So the schema is refused", "def tell", "error: schema, #/uniqueItems"),
        ("so every object fits", "A keyword is mistyped", 'did you mean "properties"?\nwarnings: 1'),
        ("one optional space and no other keys", "judges", "{'whitespace': 'space'}       yes          yes           no               no"),
        ("a validator ignores white space", "judges", "jsonschema                    yes          yes           yes              yes"),
        ("Ten of ten guided outputs fit", "How many of the ten free", "guided 10 of 10"),
        ("their names are wrong", "All ten guided outputs fit", "but it was ('Lars Quill', 70, 'Hollum')"),
        ("it invents a city", "names no city", '"city": "Auckland"'),
        ("can cut a run in the middle", "max_tokens=12", "False"),
        ("have no regex", "nested = ", "PDA(1 rule, 43 nodes)\nschema, #: saw a schema inside itself"),
    ],
)  # fmt: skip
def test_what_the_prose_says_stands_in_an_output(said, words, shown):
    assert said.lower() in (LAB.prose + LAB.output_of(words)).lower()
    assert shown in LAB.output_of(words)


@pytest.fixture(scope="module")
def person():
    text, age = {"type": "string"}, {"type": "integer", "minimum": 0, "maximum": 120}
    return {
        "type": "object",
        "properties": {"name": text, "age": age, "city": text},
        "required": ["name", "age", "city"],
    }


def test_the_first_guided_record(person):
    clerk = gv.load_model("clerk", device="cpu")
    prompt = "Hi! Tamsin Okoro is 42 years old and lives in Varnhem.\nJSON with name, age, city:\n"
    steps = gv.record(clerk, prompt, gv.guide(gv.json_schema(person), clerk.vocabulary)).steps
    assert f"{steps[0].mass:.2f}" == "0.58"
    assert {b"Sure", b"Here", b"Of"} <= {c.piece for c in steps[0].candidates if c.raw > 0.05 and not c.legal}
    assert (steps[0].legal, steps[4].legal, steps[17].legal) == (2, 3959, 1)
    assert steps[17].piece == b","


def test_the_model_wants_the_order_of_the_prompt(person):
    clerk, values = gv.load_model("clerk", device="cpu"), person["properties"]
    order = person | {"properties": {key: values[key] for key in ("age", "name", "city")}}
    prompt = "Hi! Jonas Weber is 8 years old and lives in Lyon.\nJSON with name, age, city:\n"
    run = gv.record(clerk, prompt, gv.guide(gv.json_schema(order), clerk.vocabulary), temperature=0)
    wanted = {step.piece: max(step.candidates, key=lambda candidate: candidate.raw) for step in run.steps}
    assert (wanted[b"age"].piece, wanted[b"city"].piece) == (b"name", b"age")
    assert wanted[b"age"].raw > 0.8
    assert wanted[b"city"].raw > 0.8


def test_a_city_is_invented_where_null_is_allowed_too(person):
    clerk = gv.load_model("clerk", device="cpu")
    nullable = person | {"properties": person["properties"] | {"city": {"type": ["string", "null"]}}}
    prompt = "Hi! Maria Cohen is 35 years old.\nJSON with name, age, city:\n"
    for schema in (nullable, person | {"required": ["name", "age"]}):
        guide = gv.guide(gv.json_schema(schema), clerk.vocabulary)
        assert json.loads(gv.record(clerk, prompt, guide, temperature=0).text)["city"] == "Auckland"


def test_copies_for_a_long_text_would_be_many_states():
    for length in (10, 40, 100):
        copies = regex(gv.machines.schema_regex({"type": "string", "maxLength": length}))
        assert len(copies) == 20 * length + 3, "20,003 for 1,000 characters"


def test_the_range_in_the_prose_is_the_regex_of_the_range():
    (written,) = re.findall(r"pattern of digits: `([^`]+)`", LAB.prose)
    assert written == gv.machines.schema_regex({"type": "integer", "minimum": 0, "maximum": 120})


def test_the_number_of_refused_cases_stands_in_the_table_of_refusals():
    table = " ".join((Path(__file__).resolve().parents[2] / "assets" / "schemas.md").read_text().split())
    assert "89 of its 1,299 test cases" in LAB.prose
    assert "Of the 1,299 cases" in table
    assert "89 belong to schemas that are refused" in table


def test_outlines_core_ignores_a_bound():
    core = pytest.importorskip("outlines_core")
    bound = {"type": "object", "properties": {"age": {"type": "integer", "maximum": 120}}, "required": ["age"]}
    assert re.fullmatch(core.json_schema.build_regex_from_schema(json.dumps(bound)), '{"age": 999}')


def test_llguidance_follows_the_standard_in_white_space_and_other_keys():
    llguidance = pytest.importorskip("llguidance")
    from guidedviz.tokens.engines.llguidance import build_tokenizer

    tokenizer = build_tokenizer(gv.Vocabulary([bytes([byte]) for byte in range(256)] + [b"</s>"], eos={256}))
    for text in TEXTS:
        matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(json.dumps(ONE)))
        assert matcher.consume_tokens(list(text.encode()))
        assert matcher.is_accepting()
        assert jsonschema.Draft202012Validator(ONE).is_valid(json.loads(text))


def test_xgrammar_allows_any_white_space_and_no_other_keys():
    xgrammar = pytest.importorskip("xgrammar")
    pieces = [bytes([byte]) for byte in range(256)] + [b"</s>"]
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(pieces, stop_token_ids=[256]))
    compiled = compiler.compile_json_schema(json.dumps(ONE))
    assert [xgrammar.GrammarMatcher(compiled).accept_string(text) for text in TEXTS] == [True, True, True, False]


def test_the_answer_to_the_puzzle_is_the_machine_of_a_schema_with_optional_keys():
    members = [f'"{key}": (true|false)' for key in "abc"]
    a, b, c = members
    written = gv.regex(rf"\{{({a}(, {b})?(, {c})?|{b}(, {c})?|{c})?\}}")
    schema = {"type": "object", "properties": {key: {"type": "boolean"} for key in "abc"}}
    assert written == gv.json_schema(schema, whitespace="one")


def test_the_machine_of_optional_keys_grows_with_the_number_of_keys():
    sizes = [
        len(
            gv.json_schema(
                {"type": "object", "properties": {key: {"type": "boolean"} for key in "abcdefghijkl"[:keys]}}
            )
        )
        for keys in (3, 6, 12)
    ]
    assert sizes == [43, 85, 169]
    assert "has 43, 85 and 169 states" in (Path(__file__).parents[2] / "labs" / "teaching" / "05.md").read_text()
