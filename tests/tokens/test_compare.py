"""All engines along one text: each difference has its kind, and brute force is never against our mask."""

from random import Random
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GuidedVizError, IllegalToken, SettingError
from guidedviz.extras import installed
from guidedviz.tokens import compare
from guidedviz.tokens.engines import PREPARE, VARIANTS
from tests.common import BYTES, choose_tokens, with_end
from tests.strategies import grammars, regexes

pytestmark = [pytest.mark.usefixtures("engines")]

PIECES = list(BYTES)
PIECES += [b"ab", b"aba", b"12", b"lu", b"luluk", b"\xed\xa0", b'","', b'", "', b"nam", b"name: "]
PIECES += [b"<s>", b"</s>", b"</t>"]
START = len(PIECES) - 3
V = gv.Vocabulary(PIECES, eos={START + 1, START + 2}, special={START})


@pytest.fixture(scope="module")
def engines():
    for name in PREPARE:
        pytest.importorskip(name.replace("-", "_"))


def kinds_of(found):
    """The engine, kind and name of all differences."""
    differences = [one for step in found.steps for one in step.differences]
    return {(one.engine, one.kind, one.name) for one in differences}


SURROGATES = ("known fault", "takes surrogates, which UTF-8 has not")
SPECIAL = ("known fault", "takes special ids for text")
FORCED = ("llguidance, forcing", "forced only", "the canonical token of a forced run")
LEAVES = ("outlines-core", "known fault", "drops a token that leaves an end with its last byte")
OTHERWISE = ("lawful choice", "reads the regex in another way than Python")
FIXED = [  # a constraint, a text, and all that differs along it
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "2026-11-20", set()),
    (r"[0-9]+(\.[0-9]+)?", "3.14", {LEAVES}),
    ("a|ab", "ab", {("outlines-core", "known fault", "takes the first alternative that fits")}),
    (r"\d+", "42", {(name, *OTHERWISE) for name in ("llguidance", "llguidance, forcing", "outlines-core")}),
    ("a.b", "a☃b", {(name, *found) for name in ("xgrammar", "xgrammar, special text")
             for found in (SURROGATES, OTHERWISE)}),
    ('"[^"]*"', '"é\ud7fb"', {("xgrammar", *SURROGATES), ("xgrammar, special text", *SURROGATES),
                          ("xgrammar, special text", *SPECIAL)}),
    ('root ::= "luluk"', "luluk", {FORCED}),  # see assets/differences.md for Llama 3
]  # fmt: skip


@pytest.mark.parametrize(("constraint", "text", "expected"), FIXED, ids=[repr(one) for one, *_ in FIXED])
def test_known_differences_are_named(constraint, text, expected):
    found = gv.compare_engines(constraint, V, text)
    assert {key for key in kinds_of(found) if key[2] != "knows one EOS id"} == expected
    assert not found.steps[-1].stopped, "our machine takes all of it"


TOKENS = [b"<s>", b"", b"<end>"]  # two special ids more, one without text, and an EOS id
SPECIAL_IDS = {START, len(V), len(V) + 1}
NAMED = gv.Vocabulary([*PIECES, *TOKENS], eos={START + 1, len(V) + 2}, special=SPECIAL_IDS)
END_NAMED = ("known fault", "never allows an EOS id that the machine names")  # of xgrammar up to 0.2.8
NO_TEXT = ("known fault", "takes a special id without text where another may come")
XGRAMMAR = ("xgrammar", "xgrammar, special text")
BY_NAME = [  # a grammar that names special tokens, a text with names; what differs, beside NO_TEXT and FORCED
    ('root ::= "a" <s> "b"', b"a\xff<s>\xfeb", set()),
    ('root ::= "a" <end>', b"a\xff<end>\xfe", {(name, *END_NAMED) for name in XGRAMMAR}),
    ('root ::= [a-z<>]* <s> "a"', b"b\xff<s>\xfea", {("xgrammar, special text", *SPECIAL)}),
]


@pytest.mark.parametrize(("grammar", "text", "expected"), BY_NAME, ids=[repr(one) for one, *_ in BY_NAME])
def test_differences_on_special_tokens_are_named(grammar, text, expected):
    found = gv.compare_engines(grammar, NAMED, text)
    if installed("xgrammar") > "0.2.8":
        expected = {key for key in expected if key[1:] != END_NAMED}
    others = {key for key in kinds_of(found) if key[1:] != NO_TEXT}
    assert others - {FORCED} == expected
    assert ("outlines-core", "a machine that names special tokens") in found.unable
    assert not found.steps[-1].stopped


@pytest.mark.parametrize(("build", "texts"), [(gv.regex, regexes), (gv.grammar, grammars)])
@pytest.mark.quick(every=2)
@given(st.data(), st.integers(0, 99))
def test_of_random_constraints_nothing_is_ours(build, texts, data, seed):
    text = data.draw(texts)
    try:
        guide = gv.guide(build(text), V)
        tokens = choose_tokens(guide, Random(seed), 5)
    except GuidedVizError:
        return
    found = gv.compare_engines(text, V, tokens)
    assert "ours" not in {kind for _, kind, _ in kinds_of(found)}, found


def test_a_schema_shows_nothing_that_has_no_name():
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    found = gv.compare_engines(schema, V, '{"a": 36}')
    kinds = {kind for _, kind, _ in kinds_of(found)}
    assert kinds <= {"forced only", "known fault", "lawful choice"}
    assert not found.steps[-1].stopped


def test_a_special_id_without_text_is_taken_where_another_may_come():
    found = gv.compare_engines("root ::= <s>", NAMED, b"\xff<s>\xfe", ["llguidance"])
    [difference] = found.steps[0].differences
    assert difference.name == NO_TEXT[1]
    assert difference.extra == (len(V) + 1,)


def test_a_wrong_mask_of_ours_would_be_called_ours(monkeypatch):
    honest = compare.guide

    def wrong(machine, vocabulary):
        guide = honest(machine, vocabulary)
        lies = guide.mask(guide.initial).copy()
        lies[[ord("a"), ord("z")]] ^= True
        return SimpleNamespace(mask=lambda state: lies, advance=guide.advance)

    monkeypatch.setattr(compare, "guide", wrong)
    found = gv.compare_engines("a|b", V, "b", ["llguidance"])
    assert found.steps[0].differences[0].kind == "ours"
    assert found.steps[0].differences[0].missing == (ord("z"),)
    assert found.steps[0].differences[0].extra == (ord("a"),)


def test_a_comparison_reads_as_a_table():
    said = str(gv.compare_engines("a|ab", V, "abc", ["outlines-core", "xgrammar"]))
    assert "  0 before ab: 2 legal" in said
    assert "      outlines-core: known fault, takes the first alternative that fits (1 missing): ab" in said
    assert "      outlines-core refuses ab" in said
    assert said.endswith("      the constraint does not allow c")


def test_an_engine_that_cannot_take_it_is_named_and_the_others_go_on():
    found = gv.compare_engines('root ::= "(" root ")" | "x"', V, "(x)")
    assert found.unable == (("outlines-core", "a grammar with a stack"),)
    names = [name for name, _ in found.engines]
    assert names == ["xgrammar", "llguidance", *VARIANTS]
    assert len(found.steps) == 4
    assert all(version for _, version in found.engines)


def test_nothing_is_hidden_in_what_is_shown():
    said = str(gv.compare_engines('root ::= "a\u202e\x1b" | .', V, "b"))
    assert said.replace("\n", "").isprintable()


def test_a_legal_end_of_the_text_is_no_fault_of_the_text():
    end = min(V.eos)
    letter = ord("l")
    for text, stopped in (([letter, end], False), ([end], True), ("l", False), ("la", True)):
        found = gv.compare_engines("l", V, text, ["llguidance"])
        assert found.steps[-1].stopped is stopped
        assert ("does not allow" in str(found)) is stopped


def test_what_is_no_text_and_no_id_is_refused():
    with pytest.raises(IllegalToken, match="token 9999: saw no such id"):
        gv.compare_engines("l", V, [9999])
    with pytest.raises(SettingError, match="saw 'magic', expected 'xgrammar'"):
        gv.compare_engines("a", V, "a", ["magic"])


def test_an_engine_without_a_mask_is_a_difference_and_no_crash(monkeypatch):
    from guidedviz.tokens.engines import LLGuidanceMatcher, engine_refusal

    def fail(self):
        raise engine_refusal("llguidance", "too hard\nfor me")

    monkeypatch.setattr(LLGuidanceMatcher, "mask", fail)
    found = gv.compare_engines("ab", V, "ab", ["llguidance"])
    assert found.steps[0].differences[0].name == "gives no mask: too hard"


def test_positions_of_which_the_same_is_said_are_one_line():
    letters = with_end([b"a", b"b", b"c"])
    found = gv.compare_engines("[ab]*c", letters, "ababc", ["llguidance"])
    _, *lines = str(found).split("\n")
    assert lines == ["  0 to 5, ababc to the end: 1 to 3 legal, all agree"]
    letters = with_end([b"a", b"c"])
    two = gv.compare_engines("c", letters, "c", ["llguidance"])
    assert len(str(two).split("\n")) == 3, "two lines are left as they are"
