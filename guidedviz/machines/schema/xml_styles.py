"""The styles in which models write the arguments of a call as XML, each with what its model's parser expects.

    qwen_xml     <parameter=city>Paris</parameter>
    cohere_xml   <cofl:value name="city" type="raw">Paris</cofl:value>

A string is written as it is, another value as JSON. Where a style nests, objects and arrays are XML, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from guidedviz.machines.schema.values import JSON_KINDS

TYPE_NAMES = ("string", "number", "integer", "boolean", "object", "array", "null")
TYPE_OF_KIND = {kind: kind for kind in JSON_KINDS} | {
    "integer": "number",
    "fraction": "number",
    "true": "boolean",
    "false": "boolean",
}
IS_STRING = {kind: str(kind == "string").lower() for kind in JSON_KINDS}
COHERE_TYPES = dict.fromkeys(JSON_KINDS, "json") | {"string": "raw", "object": "dict", "array": "list"}


@dataclass(frozen=True)
class XmlStyle:
    """The texts around a key and its value; `{type}` stands for the type of the value."""

    before: str
    after: tuple[str, ...]  # the key; blanks may stand between these
    end: str
    key: str = "{key}"
    types: Mapping[str, str] = field(default_factory=dict)  # kind of a value -> the word that stands for {type}
    any_type: tuple[str, ...] = ()  # the words for a value that may have several types
    escapes: Mapping[str, str] = field(default_factory=dict)  # of the characters of a key
    other_keys: str = "[A-Za-z_][A-Za-z0-9_]*"  # a regex: keys that the schema does not name; "" if there are none
    item: str | None = None  # the key of an item; None: objects and arrays inside are JSON
    marker: str = ""  # what no string contains; "": the end
    padded: bool = True  # blanks may stand around a value
    padded_strings: bool = True  # also around a string of an enum, or with a pattern or a length
    key_in_end: bool = False  # the end is `end`, the key and ">"


def dsml(gap: str) -> XmlStyle:
    """The styles of DeepSeek 3.2 and later, which say whether the value is a string."""
    name = f"｜DSML｜{gap}parameter"
    return XmlStyle(f'<{name} name="', ('" string="{type}">',), f"</{name}>", types=IS_STRING, padded_strings=False)


SPACE = "]<]minimax[>["  # the namespace of MiniMax M3, before each of its tags
STYLES = {
    "qwen_xml": XmlStyle("<parameter=", (">",), "</parameter>"),
    "minimax_xml": XmlStyle('<parameter name="', ('">',), "</parameter>"),
    "glm_xml": XmlStyle("<arg_key>", ("</arg_key>", "<arg_value>"), "</arg_value>"),
    "deepseek_xml": dsml(""),
    "deepseek_v4_1_xml": dsml(" "),
    "kimi_k3_xml": XmlStyle(
        '<|open|>argument key="',
        ('" type="{type}"<|sep|>',),
        "<|close|>argument<|sep|>",
        types=TYPE_OF_KIND,
        any_type=TYPE_NAMES,
        escapes={"&": "&amp;", '"': "&quot;"},
    ),
    "cohere_xml": XmlStyle(
        "<cofl:value",
        (' type="{type}">',),
        "</cofl:value>",
        key=' name="{key}"',
        types=COHERE_TYPES,
        escapes={"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;"},
        other_keys='([^\\x00"&<>]|&amp;|&lt;|&gt;|&quot;)+',
        item="",
    ),
    "minimax_m3_xml": XmlStyle(
        f"{SPACE}<", (">",), f"{SPACE}</", other_keys="", item="item", marker=SPACE, padded=False, key_in_end=True
    ),
}
