"""Each format of a structural tag, with texts that it allows and texts that it does not; ‹A› is a special token."""

import json
import re

import pytest

import guidedviz as gv
from guidedviz.errors import NoTextWarning
from guidedviz.machines.names import name_bytes
from guidedviz.machines.structural.fields import FORMATS
from guidedviz.machines.structural.formats import READERS
from tests.common import assert_reads, read_cases


def tag(begin, content, end):
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def token(name):
    return {"type": "token", "token": name}


def sequence(*elements):
    return {"type": "sequence", "elements": list(elements)}


def name_of(found):
    return name_bytes(found[1].decode())


def data(text):
    return re.sub("‹(.)›".encode(), name_of, text.encode())


DIGITS = {"type": "regex", "pattern": "[0-9]+"}
CITY = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


VERDICTS = read_cases(__file__, "formats.json")


@pytest.mark.parametrize("case", VERDICTS, ids=str)
def test_a_format_allows_these_texts_and_not_those(case):
    machine = gv.structural_tag(case["spec"])
    assert_reads(machine, map(data, case["allowed"]), map(data, case["refused"]))


def test_the_table_has_every_format():
    tried = set(re.findall(r"'type': '(\w+)'", str(VERDICTS)))
    assert set(FORMATS) == set(READERS)
    assert set(FORMATS) <= {*tried, "qwen_xml_parameter"}


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


def test_tags_with_equal_contents_share_their_rules():
    content = {"type": "json_schema", "json_schema": {"properties": {"a": {}}}}
    begins = [f"<{number}>" for number in range(50)]
    tags = [tag(begin, content, ">") for begin in begins]
    machine = gv.structural_tag({"type": "triggered_tags", "triggers": ["<"], "tags": tags})
    assert len(machine.grammar.rules) < 15


def test_a_machine_without_a_text_warns():
    with pytest.warns(NoTextWarning, match="structural_tag: no text"):
        gv.structural_tag({"type": "regex", "pattern": r"[^\s\S]"})
