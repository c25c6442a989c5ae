"""Requests of the engines: read as xgrammar reads them, written for it, and back."""

import json
import time
from functools import reduce
from itertools import product

import pytest

import guidedviz as gv
from guidedviz.machines import read_structural_tag, write_structural_tag

NESTED = 'root ::= "(" root ")" | "1"'
TEXTS = ["".join(text) for length in range(6) for text in product("ab1;", repeat=length)]


def regex(pattern):
    return {"type": "regex", "pattern": pattern}


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def triggered(triggers, *tags, **options):
    return {"type": "triggered_tags", "triggers": triggers, "tags": list(tags), **options}


def read(form):
    return read_structural_tag({"type": "structural_tag", "format": form})


TEXT = {"type": "any_text"}
A1, B1 = tag("a", regex("1*"), ";"), tag("ab", regex("1"), "b")
FORMATS = {
    "triggered": triggered(["a"], A1, B1),
    "two triggers": triggered(["a", "b"], B1, tag("b1", regex("a?"), ["a", ";"])),
    "at least one": triggered(["a"], A1, at_least_one=True),
    "once": triggered(["ab"], B1, stop_after_first=True),
    "exactly one": triggered(["a"], A1, at_least_one=True, stop_after_first=True),
    "excludes": triggered(["ab"], B1, excludes=["1;"]),
    "any text in a tag": tag("a", TEXT, ["1", ";b"]),
    "any text": {"type": "any_text", "excludes": ["ab", "1"]},
    "sequence": {"type": "sequence", "elements": [{"type": "const_string", "value": "a"}, regex("1*"), A1]},
    "or": {"type": "or", "elements": [A1, regex("b+"), tag("b", regex("[ab]"), "")]},
    "separator": {"type": "tags_with_separator", "tags": [A1, B1], "separator": "b"},
    "one separated": {"type": "tags_with_separator", "tags": [A1], "separator": "b", "at_least_one": True},
    "optional": {"type": "optional", "content": A1},
    "plus": {"type": "plus", "content": A1},
    "star": {"type": "star", "content": regex("ab")},
    "repeat": {"type": "repeat", "content": regex("a|b"), "min": 1, "max": 3},
    "dispatch": {"type": "dispatch", "rules": [["a", regex("1")], ["b", regex("b")]], "excludes": [";;"]},
    "dispatch once": {"type": "dispatch", "rules": [["ab", regex("1+")]], "loop": False},
}


def differences(machine, request):
    """The short texts that only one of the machine and xgrammar accepts."""
    xgrammar = pytest.importorskip("xgrammar")
    pieces = [*"ab1;", "<eos>"]
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo(pieces, vocab_size=5, stop_token_ids=[4]))
    compiled = compiler.compile_structural_tag(json.dumps(request))
    wrong = []
    for text in TEXTS:
        matcher = xgrammar.GrammarMatcher(compiled)
        accepted = all(matcher.accept_token(pieces.index(char)) for char in text)
        if machine.accepts(text.encode()) != (accepted and (matcher.is_terminated() or matcher.accept_token(4))):
            wrong.append(text)
    return wrong


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_has_the_texts_that_xgrammar_accepts(name):
    request = {"type": "structural_tag", "format": FORMATS[name]}
    assert not differences(read_structural_tag(json.dumps(request)), request)


OPTIONS = [{}, {"at_least_one": True}, {"stop_after_first": True}, {"at_least_one": True, "stop_after_first": True}]


@pytest.mark.parametrize("options", OPTIONS)
def test_xgrammar_accepts_the_same_texts_from_a_written_request(options):
    tags = [("ab", gv.regex("1*"), ";"), ("1;", None, "b")]
    assert not differences(gv.tagged(None, tags, **options), write_structural_tag(tags, **options))


def test_contents_may_be_schemas_and_grammars():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    machine = read(triggered(["<"], tag("<s>", {"type": "json_schema", "json_schema": schema, "style": "json"}, "</s>"),
                             tag("<g>", {"type": "grammar", "grammar": NESTED}, "</g>")))  # fmt: skip
    for text, accepted in [
        ('see <s>{"n": 1}</s>', True),
        ("<g>((1))</g>.", True),
        ("<g>((1)</g>", False),
        ("<s>1</s>", False),
        ("<b>", False),
    ]:
        assert machine.accepts(text.encode()) == accepted


def test_large_counts_are_counted():
    machine = read(tag("a", {"type": "any_text", "max_chars": 5_000}, ";"))
    assert machine.accepts(b"a" + "é".encode() * 5_000 + b";")
    assert not machine.accepts_prefix(b"a" + b"b" * 5_001 + b";")
    assert read({"type": "repeat", "min": 2, "max": 10**9, "content": A1}).accepts(b"a;a11;a;")


def test_the_older_form_of_a_request_is_read():
    schema = {"type": "integer"}
    items = [{"begin": "<n>", "schema": schema, "end": ";"}]
    older = {"type": "structural_tag", "triggers": ["<n"], "structures": items}
    newer = triggered(["<n"], tag("<n>", {"type": "json_schema", "json_schema": schema}, ";"))
    whole = gv.tagged(begin="<n>", machine=gv.json_schema(schema), end=";", triggers="<n")
    assert read_structural_tag(older) == read(newer) == whole
    older["structures"][0]["schema"] = json.dumps(schema)
    assert read_structural_tag(json.dumps(older)) == read(newer)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_written_request_is_read_as_the_same_machine(options):
    tags = [("<a", gv.regex("[ab]+|é"), ">"), ("<b", None, ("</b", "!")), ("</", gv.json_schema({"type": "null"}), "")]
    request = json.dumps(write_structural_tag(tags, **options))
    assert read_structural_tag(request) == gv.tagged(None, tags, **options)
    assert read_structural_tag(json.dumps(write_structural_tag(tags, triggers="<", **options))) == gv.tagged(
        None, tags, triggers="<", **options
    )


def test_a_pushdown_content_is_written_as_a_grammar():
    tags = [("<", gv.grammar(NESTED), ">"), ("[", gv.grammar(NESTED.replace("root", "top"), root="top"), "]")]
    one, other = read_structural_tag(write_structural_tag(tags)), gv.tagged(None, tags)
    found = gv.machines.compare_machines(one, other, 3_000)
    assert found.text is None
    for text in (b"<((1))>[1]", b"[(1]", b"<x", b"a[(1)]b"):
        assert one.accepts(text) == other.accepts(text)


@pytest.mark.parametrize(("form", "said"), [
    (None, "#/format"), ({"type": "token", "token": 3}, "#/format: saw 'token', .*vocabulary"),
    ({"type": "regex", "pattern": 3}, "#/format/pattern"), ({"type": "sequence", "elements": [1]}, "elements/0"),
    ({"type": "json_schema", "json_schema": {}, "style": "qwen_xml"}, "style"),
    ({"type": "any_text", "max_tokens": 9}, "max_tokens"), (tag("a", TEXT, 3), "end"), (tag("a", {}, ""), "content"),
    (triggered(["b"], A1), "tags/0/begin"), (triggered([""], A1), "triggers"),
    ({"type": "repeat", "content": A1, "min": True, "max": 2}, "min"),
    ({"type": "repeat", "content": A1, "min": 3, "max": 2}, "3 to 2 times"),
    ({"type": "dispatch", "rules": [["a"]]}, "rules/0"), (triggered(["a"], A1, excludes=[3]), "excludes"),
])  # fmt: skip
def test_an_error_names_the_path_in_the_request(form, said):
    with pytest.raises(gv.GuidedVizError, match=said):
        read(form)


@pytest.mark.parametrize("form", [
    triggered(["a"], tag("a", TEXT, "b" * 10**6)), triggered([f"<{number}" for number in range(10**4)]),
    reduce(lambda inner, _: {"type": "optional", "content": inner}, range(3_000), A1),
], ids=range(3))  # fmt: skip
def test_a_hostile_request_is_refused_in_time(form):
    began = time.process_time()
    with pytest.raises(gv.GuidedVizError):
        read(form)
    assert time.process_time() - began < 10


@pytest.mark.parametrize("request_text", ["", "{", "[]", "{}", '{"type": "structural_tag"}', b"{}", None, 3])
def test_what_is_no_request_is_an_error(request_text):
    with pytest.raises(gv.GuidedVizError, match="structural tag, #"):
        read_structural_tag(request_text)


def test_overlapping_triggers_are_not_written_with_at_least_one():
    with pytest.raises(gv.GuidedVizError, match="overlap"):
        write_structural_tag([("aba", None, ";")], at_least_one=True)
