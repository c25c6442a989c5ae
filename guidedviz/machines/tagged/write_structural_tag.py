"""Write tags as a `structural_tag` request for xgrammar, vLLM or SGLang. Contents are written as regex or grammar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from guidedviz.errors import PatternError, quoted
from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.grammars.show_gbnf import show_gbnf
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.show_regex import show_regex
from guidedviz.machines.tagged.rules import Rules
from guidedviz.machines.tagged.tagged import Tag, as_tag, open_with

Request = dict[str, Any]


def write_structural_tag(
    tags: Iterable[Tag | tuple[Any, ...]],
    triggers: str | Sequence[str] | None = None,
    at_least_one: bool = False,
    stop_after_first: bool = False,
) -> Request:
    """The request for the same texts as `gv.tagged(None, tags, ...)`.

    >>> request = write_structural_tag([("<n>", gv.regex("[0-9]+"), "</n>")])
    >>> request["format"]["type"], request["format"]["triggers"], request["format"]["tags"][0]["content"]
    ('triggered_tags', ['<n>'], {'type': 'regex', 'pattern': '[0-9][0-9]*'})
    """
    listed = list(map(as_tag, tags))
    opens = open_with(listed, triggers)
    written = [write_tag(tag) for tag in listed]
    format = {"type": "triggered_tags", "triggers": opens, "tags": written, "stop_after_first": stop_after_first}
    if at_least_one:  # "at_least_one" of an engine is a tag at the beginning of the text
        before = {"type": "any_text", "excludes": opens}
        first = {"type": "or", "elements": written}
        check_borders(opens)
        format = {"type": "sequence", "elements": [before, first, *([] if stop_after_first else [format])]}
    return {"type": "structural_tag", "format": format}


def write_tag(tag: Tag) -> Request:
    """A tag; the content is any text, a regex or a grammar."""
    end = tag.end[0] if len(tag.end) == 1 else list(tag.end)
    return {"type": "tag", "begin": tag.begin, "content": write_content(tag.machine), "end": end}


def write_content(machine: Any) -> Request:
    r"""A machine as a format.

    >>> write_content(gv.grammar('start ::= "(" start ")" | "x"', root="start"))["grammar"]
    'root    ::= content\ncontent ::= "x" | "(" content ")"'
    """
    if machine is None:
        return {"type": "any_text"}
    grammar = machine_grammar(machine)
    if not isinstance(machine, PDA):
        return {"type": "regex", "pattern": show_regex(grammar.rules[0].tree)}
    if grammar.root != "root":
        rules = Rules()
        grammar = rules.grammar(rules.content(machine, "content"))
    return {"type": "grammar", "grammar": show_gbnf(grammar)}


def check_borders(triggers: Iterable[str]) -> None:
    """Refuse triggers that overlap: an engine would find another first tag."""
    for one in (triggers := list(triggers)):
        for other in triggers:
            if any(one.endswith(other[:size]) for size in range(1, len(other))):
                seen = f"{quoted(one)}, whose end begins {quoted(other)}"
                raise PatternError("structural tag, at_least_one", seen=seen, expected="triggers that do not overlap")
