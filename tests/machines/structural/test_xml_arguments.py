"""Arguments as XML: in every style the texts of a call with a string, a number, an object and a list."""

import pytest

import guidedviz as gv
from guidedviz.machines.schema.xml_styles import STYLES
from tests.common import assert_reads

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": TEXT,
        "days": {"type": "integer"},
        "at": {"type": "object", "properties": {"x": {"type": "boolean"}}, "required": ["x"]},
        "tags": {"type": "array", "items": TEXT},
    },
    "required": ["city"],
}
SPACE = "]<]minimax[>["
WRITTEN = {  # a call with the city A<B, 3 days, an object and a list
    "qwen_xml": '<parameter=city>A<B</parameter>\n<parameter=days>3</parameter><parameter=at>{"x": true}</parameter>'
    '<parameter=tags>["a","b"]</parameter>',
    "minimax_xml": '<parameter name="city">A<B</parameter><parameter name="days"> 3\n</parameter>'
    '<parameter name="at">{"x":true}</parameter><parameter name="tags">["a", "b"]</parameter>',
    "glm_xml": "<arg_key>city</arg_key>\n<arg_value>A<B</arg_value>\n<arg_key>days</arg_key><arg_value>3</arg_value>"
    '<arg_key>at</arg_key><arg_value>{"x": true}</arg_value><arg_key>tags</arg_key><arg_value>["a","b"]</arg_value>',
    "deepseek_xml": '<｜DSML｜parameter name="city" string="true">A<B</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>'
    '<｜DSML｜parameter name="at" string="false">{"x": true}</｜DSML｜parameter>'
    '<｜DSML｜parameter name="tags" string="false">["a","b"]</｜DSML｜parameter>',
    "deepseek_v4_1_xml": '<｜DSML｜ parameter name="city" string="true">A<B</｜DSML｜ parameter>'
    '<｜DSML｜ parameter name="days" string="false">3</｜DSML｜ parameter>'
    '<｜DSML｜ parameter name="at" string="false">{"x": true}</｜DSML｜ parameter>'
    '<｜DSML｜ parameter name="tags" string="false">["a","b"]</｜DSML｜ parameter>',
    "kimi_k3_xml": '<|open|>argument key="city" type="string"<|sep|>A<B<|close|>argument<|sep|>'
    '<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>'
    '<|open|>argument key="at" type="object"<|sep|>{"x": true}<|close|>argument<|sep|>'
    '<|open|>argument key="tags" type="array"<|sep|>["a","b"]<|close|>argument<|sep|>',
    "cohere_xml": '<cofl:value name="city" type="raw">A<B</cofl:value>'
    '<cofl:value name="days" type="json">3</cofl:value>'
    '<cofl:value name="at" type="dict"><cofl:value name="x" type="json">true</cofl:value></cofl:value>'
    '<cofl:value name="tags" type="list"><cofl:value type="raw">a</cofl:value><cofl:value type="raw">b</cofl:value>'
    "</cofl:value>",
    "minimax_m3_xml": f"{SPACE}<city>A<B{SPACE}</city>{SPACE}<days>3{SPACE}</days>"
    f"{SPACE}<at>{SPACE}<x>true{SPACE}</x>{SPACE}</at>"
    f"{SPACE}<tags>{SPACE}<item>a{SPACE}</item>{SPACE}<item>b{SPACE}</item>{SPACE}</tags>",
}


def arguments(schema, style="qwen_xml", **fields):
    return gv.structural_tag({"type": "json_schema", "json_schema": schema, "style": style, **fields})


def test_the_table_has_every_style():
    assert set(WRITTEN) == set(STYLES)


@pytest.mark.parametrize("style", WRITTEN)
def test_a_call_in_a_style(style):
    machine = arguments(SCHEMA, style)
    text = WRITTEN[style]
    wrong = [text.replace("3", '"3"'), text.replace("city", "town"), text[:-1], f"x{text}", ""]
    assert_reads(machine, [text, f"\n {text} \n"], wrong)


@pytest.mark.parametrize(("schema", "allowed", "refused"), [
    ({"enum": ["a", "b c", 3, None]}, ["a", " b c\n", "3", "null"], ['"a"', "b", "4"]),
    ({"anyOf": [TEXT, {"type": "null"}]}, ["null", "x", ""], []),
    ({}, ["x", "5", '{"a":1}'], ["</parameter>"]),
])  # fmt: skip
def test_values(schema, allowed, refused):
    machine = arguments({"properties": {"v": schema}, "required": ["v"]})
    written = "<parameter=v>{}</parameter>".format
    assert_reads(machine, map(written, allowed), map(written, refused))


def test_an_object_inside_itself_may_be_xml():
    machine = arguments({"properties": {"next": {"$ref": "#"}}}, "cohere_xml")
    inner = '<cofl:value name="next" type="dict"></cofl:value>'
    assert_reads(machine, [inner, f'<cofl:value name="next" type="dict">{inner}</cofl:value>'])


def test_other_keys_look_like_names_and_are_not_those_of_the_schema():
    machine = arguments({"properties": {"a": TEXT}, "additionalProperties": {"type": "integer"}})
    a = "<parameter=a>3</parameter>"
    assert_reads(machine, [f"{a}<parameter=b_2>3</parameter>"], ["<parameter=b c>3</parameter>", a + a])


def test_without_properties_there_is_nothing():
    for schema in ({"type": "object", "properties": {}}, {"type": "object", "additionalProperties": False}):
        assert arguments(schema).accepts(b"\n")
        assert not arguments(schema).accepts_prefix(b"<")


def test_any_order_checks_each_argument_and_their_number():
    schema = {"properties": {"a": TEXT, "b": {"type": "integer"}}, "required": ["a", "b"]}
    a = "<parameter=a>x</parameter>"
    b = "<parameter=b>1</parameter>"
    machine = arguments(schema, any_order=True)
    assert_reads(machine, [b + a, b + b], [b])
    machine = arguments(schema, "json", any_order=True)
    assert_reads(machine, ['{"b":1,"a":"x"}', '{"b":1,"b":1}'], ['{"b":1}'])


def test_excluded_texts_occur_in_no_string_and_no_key():
    schema = {"properties": {"a": TEXT, "bad": TEXT, "c": {"enum": ["bad", "x"]}, "d": {"pattern": "^bad$"}}}
    machine = arguments(schema, "json", excludes=["bad"])
    assert_reads(
        machine,
        ['{"a":"ba"}', '{"c":"x"}', "{}", '{"d":"bad"}'],
        ['{"a":"a bad"}', '{"bad":"x"}', '{"c":"bad"}'],
    )
    xml = arguments(schema, excludes=["bad"])
    assert_reads(xml, ["<parameter=a>ba</parameter><parameter=c>x</parameter>"], ["<parameter=a>bad</parameter>"])


def test_whitespace_may_be_limited():
    machine = arguments({"properties": {"a": TEXT}}, "json", max_whitespace_cnt=1)
    assert_reads(machine, ['{ "a" : "" }'], ['{  "a":""}', "{  }", ' {"a":""}'])
