"""Each format of a structural tag, with texts that it allows and texts that it does not; ‹A› is a special token."""

import json
import re

import pytest

import guidedviz as gv
from guidedviz.errors import NoTextWarning
from guidedviz.machines.names import name_bytes
from guidedviz.machines.structural.fields import FORMATS
from guidedviz.machines.structural.formats import READERS
from tests.common import legal_tokens, with_end

ANY_TEXT = {"type": "any_text"}
ANY_TOKENS = {"type": "any_tokens"}


def const(text):
    return {"type": "const_string", "value": text}


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def token(name):
    return {"type": "token", "token": name}


def sequence(*elements):
    return {"type": "sequence", "elements": list(elements)}


def triggered(**fields):
    tags = [tag("<ab>", DIGITS, ";"), tag("<ac>", ANY_TEXT, ";")]
    return {"type": "triggered_tags", "triggers": ["<a"], "tags": tags, **fields}


def by_token(**fields):
    digits = tag(token("A"), DIGITS, ";")
    tags = [digits, tag(token("A"), ANY_TOKENS, token("C"))]
    return {"type": "token_triggered_tags", "trigger_tokens": ["A"], "tags": tags, "exclude_tokens": ["D"], **fields}


def name_of(found):
    return name_bytes(found[1].decode())


def data(text):
    return re.sub("‹(.)›".encode(), name_of, text.encode())


DIGITS = {"type": "regex", "pattern": "[0-9]+"}
NESTED = {"type": "grammar", "grammar": 'root ::= "(" root ")" | inner\ninner ::= "x"'}
CITY = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
SEPARATED = {"type": "tags_with_separator", "tags": [tag("a", DIGITS, ";")], "separator": ","}
DISPATCH = {"type": "dispatch", "rules": [["<a", DIGITS], ["b", const("x")]], "excludes": ["q"]}
BY_TOKEN = {"type": "token_dispatch", "rules": [["A", DIGITS], ["B", const("x")]], "exclude_tokens": ["D"]}
IN_TAG = tag("<", sequence(tag("[", ANY_TEXT, "]"), ANY_TEXT), ">")

VERDICTS = [  # a format, texts that it allows, texts that it does not
    (const("a<"), ["a<"], ["", "a"]),
    (DIGITS, ["1", "12"], ["", "1x"]),
    (NESTED, ["x", "((x))"], ["(x"]),
    ({"type": "json_schema", "json_schema": CITY}, ['{"a":1}', '{ "a" : 1 }'], [' {"a":1}', '{"a":1} ', "{}"]),
    ({"type": "json_schema", "json_schema": True}, ["1", '[{"a": null}]'], ["", "a"]),
    (ANY_TEXT, ["", "a\né"], ["‹A›", "a‹A›"]),
    ({"type": "any_text", "excludes": ["ab", "c"]}, ["", "a", "ba"], ["ab", "xabx", "c"]),
    ({"type": "any_text", "max_chars": 2}, ["", "éé"], ["abc"]),
    ({"type": "any_text", "max_chars": 2, "excludes": ["ab"]}, ["ba", "a"], ["ab", "bab"]),
    ({"type": "any_text", "max_tokens": 0}, [""], ["a"]),
    (sequence({"type": "any_text", "excludes": ["ab"]}, const("b")), ["ab", "b"], ["abb"]),
    ({"type": "or", "elements": [const("a"), DIGITS]}, ["a", "7"], ["a7", ""]),
    ({"type": "optional", "content": const("a")}, ["", "a"], ["aa"]),
    ({"type": "star", "content": const("ab")}, ["", "abab"], ["aba"]),
    ({"type": "plus", "content": const("a")}, ["a", "aaa"], [""]),
    ({"type": "repeat", "min": 1, "max": 2, "content": const("a")}, ["a", "aa"], ["", "aaa"]),
    ({"type": "repeat", "min": 2, "max": -1, "content": const("a")}, ["aa", "aaaaa"], ["a"]),
    ({"type": "repeat", "min": 0, "max": 0, "content": const("a")}, [""], ["a"]),
    (tag("<", DIGITS, ">"), ["<1>"], ["<>", "<1"]),
    (tag("<", DIGITS, ""), ["<1"], ["<"]),
    (tag("", ANY_TEXT, "</"), ["a<b</", "</", "<</"], ["a</b</"]),
    (tag("<", ANY_TEXT, [">>", "]"]), ["<a>]", "<a>>", "<a>>>"], ["<a>>b]", "<a]>>"]),
    (tag("<", {"type": "star", "content": ANY_TEXT}, ";"), ["<a;"], ["<a;;"]),
    (tag("<", {"type": "any_text", "excludes": ["b"]}, ""), ["<a"], ["<b"]),
    (IN_TAG, ["<[a>b]c>", "<[a]b]c>"], ["<[a]b>c>"]),
    (triggered(), ["", "<", "x<ab>1;y<ac>a<ab>;", "<ab>1;<"], ["<a", "<ad", "<ab>;", "<ac>;<ab", "‹A›"]),
    (triggered(at_least_one=True), ["<ab>1;", "<ab>1;x<ac>;"], ["", "x<ab>1;"]),
    (triggered(stop_after_first=True), ["", "x", "x<ab>1;"], ["<ab>1;x", "<ab>1;<ab>1;"]),
    (triggered(at_least_one=True, stop_after_first=True), ["<ab>1;"], ["", "x<ab>1;", "<ab>1;x"]),
    (triggered(excludes=["q"]), ["<ac>q;"], ["q", "<ab>1;q"]),
    (triggered(excludes=["<"]), ["a"], ["<", "<ab>1;"]),
    (triggered(excludes=["x<a"]), ["<ab>1;", "x<"], ["x<ab>1;"]),
    (triggered(triggers=["<a", "<q"]), ["<", "<ab>1;"], ["<q", "<qa"]),
    (tag("T", triggered(), "E"), ["Tx<ab>1;E", "T<ac>E;E"], ["TEE", "TE<ab>1;E"]),
    (SEPARATED, ["", "a1;", "a1;,a2;"], ["a1;,", "a1;a2;", "x"]),
    ({**SEPARATED, "at_least_one": True}, ["a1;"], [""]),
    ({**SEPARATED, "stop_after_first": True}, ["", "a1;"], ["a1;,a1;"]),
    ({**SEPARATED, "separator": ""}, ["a1;a2;"], ["a1;,a2;"]),
    (DISPATCH, ["", "<", "x<a1y", "bx<a1bx"], ["q", "<a", "b", "<a1q", "by"]),
    ({**DISPATCH, "loop": False}, ["", "x<a1", "bx"], ["<a1y", "bxbx"]),
    (tag("T", DISPATCH, "E"), ["TEE", "Tx<a1E"], ["TqE"]),
    (token("A"), ["‹A›"], ["A", "‹B›", ""]),
    ({"type": "exclude_token", "exclude_tokens": ["A"]}, ["x", "é", "‹B›"], ["‹A›", "", "xy"]),
    ({"type": "any_tokens", "exclude_tokens": ["A"]}, ["", "x‹B›yz"], ["‹A›", "x‹A›"]),
    ({"type": "any_tokens", "max_tokens": 0}, [""], ["a", "‹A›"]),
    (tag(token("A"), ANY_TEXT, token("B")), ["‹A›a‹B›"], ["‹A›‹C›‹B›", "AaB"]),
    (tag(token("A"), ANY_TOKENS, token("B")), ["‹A›a‹C›‹B›"], ["‹A›‹B›‹B›"]),
    (tag(token("A"), {"type": "exclude_token"}, token("B")), ["‹A›a‹B›", "‹A›‹C›‹B›"], ["‹A›‹B›‹B›"]),
    (tag("T", ANY_TOKENS, "E"), ["TEE", "T‹A›E"], ["T"]),
    (by_token(), ["", "x‹B›", "‹A›1;x", "‹A›y‹D›‹C›‹A›1;"], ["‹D›", "‹A›", "‹A›1;‹D›", "‹A›y‹C"]),
    (by_token(at_least_one=True), ["‹A›1;", "‹A›1;x"], ["", "x‹A›1;"]),
    (by_token(stop_after_first=True), ["", "x", "x‹A›1;"], ["‹A›1;x"]),
    (by_token(trigger_tokens=["A", "E"]), ["‹A›1;"], ["‹E›"]),
    (tag(token("B"), by_token(), token("E")), ["‹B›‹C›‹E›", "‹B›‹A›1;‹E›"], ["‹B›‹E›‹E›"]),
    (BY_TOKEN, ["", "x‹C›", "‹A›1‹B›x"], ["‹D›", "‹A›", "‹B›y"]),
    ({**BY_TOKEN, "loop": False}, ["x", "x‹A›1"], ["‹A›1x"]),
    (tag(token("E"), BY_TOKEN, token("C")), ["‹E›‹C›‹C›"], ["‹E›‹D›‹C›"]),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "allowed", "refused"), VERDICTS)
def test_a_format_allows_these_texts_and_not_those(spec, allowed, refused):
    machine = gv.structural_tag(spec)
    for text in allowed:
        assert machine.accepts(data(text)), text
    for text in refused:
        assert not machine.accepts(data(text)), text


def test_the_table_has_every_format():
    specs = [spec for spec, _, _ in VERDICTS]
    tried = set(re.findall(r'"type": "(\w+)"', json.dumps(specs)))
    tried.add("qwen_xml_parameter")
    assert tried - {"object", "integer"} == set(FORMATS)
    assert set(FORMATS) == set(READERS)


class Dumped:
    def __init__(self, spec):
        self.spec = spec

    def model_dump(self):
        return self.spec


def test_a_spec_is_a_dict_or_text_or_an_object_with_model_dump_and_the_whole_or_its_format():
    whole = {"type": "structural_tag", "format": DIGITS}
    texts = (json.dumps(whole), json.dumps(DIGITS))
    for spec in (DIGITS, whole, {"format": DIGITS}, *texts, Dumped(whole)):
        assert gv.structural_tag(spec).accepts(b"12")


def test_the_older_form_has_structures_and_triggers():
    structures = [{"begin": "<f=a>", "schema": CITY, "end": "</f>"}, {"begin": "<f=b>", "schema": "{}", "end": "</f>"}]
    machine = gv.structural_tag({"type": "structural_tag", "structures": structures, "triggers": ["<f="]})
    assert machine.accepts(b'x<f=a>{"a": 1}</f><f=b>null</f>.')
    assert not machine.accepts_prefix(b"<f=c")


class Names:
    """What a vocabulary says of its special ids; two have one name."""

    def special_names(self, first, last):
        names = {7: "A", 8: "A"}
        return [names[number] for number in range(first, last + 1)]


def test_an_id_names_the_token_that_the_vocabulary_has():
    spec = sequence(token(7), token(8), token("7"))
    machine = gv.structural_tag(spec, Names())
    assert machine.accepts(data("‹A›‹A›‹7›"))


def test_what_a_machine_cannot_enforce_is_noted():
    spec = sequence({"type": "any_text", "max_tokens": 5}, {"type": "exclude_token"})
    first, second = gv.structural_tag({"format": spec}).notes
    assert first.startswith("$.format.elements[0].max_tokens: not enforced")
    assert second.startswith("$.format.elements[1]: one character")


def test_a_mask_allows_what_can_be_completed():
    vocabulary = with_end([b"hi", b"<a", b"b>", b"x", b"1", b";"])
    guide = gv.guide(gv.structural_tag(triggered()), vocabulary)
    state = guide.advance(guide.initial, 1)
    assert legal_tokens(guide, state) == [2]  # only a tag with this trigger
    for chosen in (2, 4, 5):
        state = guide.advance(state, chosen)
    assert guide.mask(state).all()


def test_tags_with_equal_contents_share_their_rules():
    content = {"type": "json_schema", "json_schema": {"properties": {"a": {}}}}
    begins = [f"<{number}>" for number in range(50)]
    tags = [tag(begin, content, ">") for begin in begins]
    machine = gv.structural_tag({"type": "triggered_tags", "triggers": ["<"], "tags": tags})
    assert len(machine.grammar.rules) < 15


def test_a_machine_without_a_text_warns():
    with pytest.warns(NoTextWarning, match="structural_tag: no text"):
        gv.structural_tag({"type": "regex", "pattern": r"[^\s\S]"})
