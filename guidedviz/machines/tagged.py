"""Free text with tags: a begin opens a constrained part, its end closes it, and the text is free again.

The text is a sequence of stretches and tags. A stretch is free text in which no begin occurs. Where a begin is complete
for the first time, its tag opens: the content and the end follow. After a tag the next stretch begins. Everything is
one grammar, so tags may be cut across tokens, and every engine can be used.
"""

import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

from guidedviz.errors import NoTextWarning, PatternError, expect, quoted
from guidedviz.machines import limits
from guidedviz.machines.free_text import free_text
from guidedviz.machines.names import has_surrogate
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.special import Special, spell
from guidedviz.machines.structural.joined import JoinedRules
from guidedviz.machines.syntax import ANYTHING, EMPTY, Tree, concat, either
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

    >>> call = gv.tagged(begin="<sum>", machine=gv.regex(r"\d+\+\d+"), end="</sum>")
    >>> call.accepts(b"It is <sum>1+2</sum>."), call.accepts(b"a <su"), call.accepts_prefix(b"It is <sum>x")
    (True, True, False)
    """
    expect(tags, Iterable, "tagged, tags", "a list of tuples of begin, machine and end")
    given = list(tags)
    if begin:
        given.insert(0, (begin, machine, end))
    listed = [_check_tag(tag) for tag in given]
    _check_begins(listed)
    rules = JoinedRules()
    calls = defaultdict[str | Special, list[Tree]](list)
    for tag in listed:
        call = rules.add(str(tag.begin), _inside(tag, rules))
        calls[tag.begin].append(call)
    contents = {opening: either(*found) for opening, found in calls.items()}
    if at_least_one and not stop_after_first:
        tree = concat(free_text(contents, loop=False, must=True), free_text(contents))
    else:
        tree = free_text(contents, loop=not stop_after_first, must=at_least_one)
    made = keep_marks(rules.machine(tree), listed)
    if isinstance(made, DFA) and not made.accepting:
        begins = " and ".join(quoted(str(begin)) for begin in contents)
        said = f"tagged: no tag has a content (the machine of {begins} accepts no text), and at_least_one asks for one"
        warnings.warn(f"{said}, so the machine accepts no text", NoTextWarning, stacklevel=3)
    return made


def keep_marks(machine: DFA | PDA, tags: Iterable[Tag]) -> DFA | PDA:
    """The machine, and the texts at which its tags begin and end; a guide warns if one looks like a special token."""
    ends = [mark for tag in tags for mark in (tag.begin, tag.end)]
    texts = [mark for mark in ends if mark and isinstance(mark, str)]
    inner = [mark for tag in tags if tag.machine for mark in tag.machine.marks]
    marks = tuple(dict.fromkeys([*texts, *inner]))
    if isinstance(machine, DFA):
        return replace(machine, marks=marks)
    machine.marks = marks
    return machine


def _check_tag(tag: Any) -> Tag:
    if not isinstance(tag, tuple) or not 1 <= len(tag) <= 3:
        raise PatternError("tagged, tags", seen=quoted(tag), expected="tuples of begin, machine and end")
    made = Tag(*tag)
    for text, what in ((made.begin, "begin"), (made.end, "end")):
        expect(text, str | Special, f"tagged, {what}", "a str or a special token")
        if has_surrogate(str(text)):
            raise PatternError(f"tagged, {what}", seen=quoted(text), expected="a text without lone surrogates")
    if not made.begin:
        raise PatternError("tagged, tags", seen=quoted(tag[::2]), expected="a begin that is not empty")
    hint = "gv.regex(text), gv.grammar(text), gv.json_schema(schema)"
    expect(made.machine, DFA | PDA | None, "tagged, machine", "a finite or a pushdown machine", hint)
    return made


def _check_begins(tags: Iterable[Tag]) -> None:
    """Refuse begins of which one can never be the first to be complete."""
    begins = {tag.begin: len(f"{tag.begin}{tag.end}") for tag in tags}
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


def _inside(tag: Tag, rules: JoinedRules) -> Tree:
    """The content and the end of a tag."""
    if tag.machine is not None:
        return concat(rules.of_machine(tag.machine, "content"), spell(tag.end))
    if tag.end:
        return free_text({tag.end: EMPTY}, loop=False, must=True)
    return ANYTHING
