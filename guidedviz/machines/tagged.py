"""Free text with tags: a begin opens a constrained part, its end closes it, and the text is free again.

The text is a sequence of stretches and tags. A stretch is free text in which no begin occurs. Where a begin is complete
for the first time, its tag opens: the content and the end follow. After a tag the next stretch begins. Everything is
one grammar, so tags may be cut across tokens, and every engine can be used.
"""

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import permutations, starmap
from typing import Any, NamedTuple

from guidedviz.errors import NoTextWarning, PatternError, expect, quoted
from guidedviz.machines import limits
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.grammars.rewrite import inline_rules, needed_rules
from guidedviz.machines.graph import grouped
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import build_machine, character_net, code_machine, code_net, difference
from guidedviz.machines.regular.assertions import FIRST_MARK
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.special import Special, spell
from guidedviz.machines.syntax import (
    ANY_CHARACTER,
    ANYTHING,
    Call,
    Chars,
    Repeat,
    Tree,
    concat,
    either,
    map_calls,
    map_parts,
)
from guidedviz.machines.work import limited_work


class Tag(NamedTuple):
    """A begin, the machine of the content (None: any text up to the end), and the end; a special token or a text."""

    begin: str | Special
    machine: DFA | PDA | None = None
    end: str | Special = ""


@limited_work()
def tagged(
    tags: Iterable[Tag | tuple[Any, ...]] = (),
    *,
    begin: str | Special = "",
    machine: DFA | PDA | None = None,
    end: str | Special = "",
    at_least_one: bool = False,
    stop_after_first: bool = False,
) -> DFA | PDA:
    r"""The machine of free text with tags: one tag (`begin`, `machine`, `end`), or several as tuples in `tags`.

    `at_least_one`: the text may end only after a tag. `stop_after_first`: nothing may follow the first tag.

    >>> call = tagged(begin="<sum>", machine=gv.regex(r"\d+\+\d+"), end="</sum>")
    >>> call.accepts(b"It is <sum>1+2</sum>."), call.accepts(b"a <su"), call.accepts_prefix(b"It is <sum>x")
    (True, True, False)
    """
    expect(tags, Iterable, "tagged, tags", "a list of tuples of begin, machine and end")
    given = list(tags)
    if begin:
        given.insert(0, (begin, machine, end))
    listed = [_check_tag(tag) for tag in given]
    _check_begins(listed)
    rules = _Rules()
    contents = grouped((tag.begin, rules.add(str(tag.begin), rules.tag(tag))) for tag in listed)
    first = _to_first_tag({opening: either(*calls) for opening, calls in contents.items()})
    rest = _without(ANYTHING, concat(ANYTHING, either(*map(spell, contents)), ANYTHING))
    if not stop_after_first:
        tree = concat(Repeat(first, int(at_least_one), None), rest)
    else:
        tree = first if at_least_one else either(first, rest)
    made = rules.machine(tree)
    if isinstance(made, DFA) and not made.accepting:
        begins = " and ".join(quoted(str(begin)) for begin in contents)
        said = f"tagged: no tag has a content (the machine of {begins} accepts no text), and at_least_one asks for one"
        warnings.warn(f"{said}, so the machine accepts no text", NoTextWarning, stacklevel=3)
    return made


def _check_tag(tag: Any) -> Tag:
    if not isinstance(tag, tuple) or not 1 <= len(tag) <= 3:
        raise PatternError("tagged, tags", seen=quoted(tag), expected="tuples of begin, machine and end")
    made = Tag(*tag)
    for text, what in ((made.begin, "begin"), (made.end, "end")):
        expect(text, str | Special, f"tagged, {what}", "a str or a special token")
        if any(0xD800 <= ord(char) <= 0xDFFF for char in str(text)):
            raise PatternError(f"tagged, {what}", seen=quoted(text), expected="a text without lone surrogates")
    if not made.begin:
        raise PatternError("tagged, tags", seen=quoted(tag[::2]), expected="a begin that is not empty")
    hint = "gv.regex(text), gv.grammar(text), gv.json_schema(schema)"
    expect(made.machine, DFA | PDA | None, "tagged, machine", "a finite or a pushdown machine", hint)
    return made


def _check_begins(tags: Iterable[Tag]) -> None:
    """Refuse begins of which one can never be the first to be complete."""
    begins = {tag.begin: len(str(tag.begin)) + len(str(tag.end)) for tag in tags}
    if not begins:
        raise PatternError("tagged", seen="no tag", expected="a begin, a machine and an end", hint='begin="<tool>"')
    if sum(begins.values()) > limits.TAG_LETTERS:
        seen = f"begins and ends of over {limits.TAG_LETTERS:,} letters"
        raise PatternError("tagged", seen=seen, expected="shorter ones")
    texts = [begin for begin in begins if isinstance(begin, str)]
    for begin, other in permutations(texts, 2):
        if other in begin:
            seen = f"{quoted(begin)}, which contains {quoted(other)}"
            raise PatternError("tagged, begin", seen=seen, expected="begins of which each can be complete first")


def _without(tree: Tree, other: Tree) -> Tree:
    """The texts of a tree that the other one does not have."""
    return code_net(difference(code_machine(tree), code_machine(other)))


def _to_first_tag(contents: Mapping[str | Special, Tree]) -> Tree:
    """Free text, and the tag whose begin is complete first; a mark beyond the characters stands for each content."""
    marks = [Chars(((code, code),)) for code in range(FIRST_MARK, FIRST_MARK + len(contents))]
    opened = [concat(spell(begin), mark) for begin, mark in zip(contents, marks, strict=True)]
    early = concat(ANYTHING, either(*map(spell, contents)), Repeat(ANY_CHARACTER, 1, None), either(*marks))
    behind: dict[Tree, Tree] = dict(zip(marks, contents.values(), strict=True))
    marked = _without(concat(ANYTHING, either(*opened)), early)
    return map_parts(marked, lambda part: behind.get(part, part))


class _Rules:
    """The rules of several machines under names of their own, and their notes."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {"root": Call("root")}
        self.notes: dict[str, None] = {}

    def add(self, name: str, tree: Tree) -> Call:
        """A call of a new rule; its name has the letters and digits of `name`, with a number if it is taken."""
        plain = "-".join(re.findall("[A-Za-z0-9]+", name)) or "tag"
        free = plain
        number = 1
        while free in self.trees:
            number += 1
            free = f"{plain}-{number}"
        self.trees[free] = tree
        return Call(free)

    def tag(self, tag: Tag) -> Tree:
        """The content and the end of a tag."""
        if tag.machine is None:
            until = concat(ANYTHING, spell(tag.end))
            return _without(until, concat(until, Repeat(ANY_CHARACTER, 1, None))) if tag.end else ANYTHING
        self.notes.update(dict.fromkeys(tag.machine.notes))
        if isinstance(tag.machine, DFA):
            return concat(character_net(tag.machine), spell(tag.end))
        grammar = tag.machine.grammar
        calls = {}
        for name in grammar.named:
            calls[name] = self.add("content" if name == grammar.root else name, Call(""))
        for rule in grammar.rules:
            self.trees[calls[rule.name].name] = map_calls(rule.tree, lambda call: calls[call.name])
        return concat(calls[grammar.root], spell(tag.end))

    def machine(self, root: Tree) -> DFA | PDA:
        """The machine with this tree as its root: a DFA if it is small and nothing nests."""
        self.trees["root"] = root
        rules = tuple(starmap(Rule, self.trees.items()))
        grammar = needed_rules(Grammar(rules))
        notes = tuple(self.notes)
        flat = inline_rules(grammar)
        if not any(flat.calls.values()):
            try:
                return replace(build_machine(flat.rules[0].tree), notes=notes)
            except PatternError:
                pass  # too large for a DFA: one automaton per rule
        return PDA(grammar, notes=notes)
