"""Free text with tags: a trigger opens a constrained part, its end closes it, and the text is free again.

The text is a sequence of stretches and tags. A stretch is free text in which no trigger occurs. Where a trigger is
complete for the first time, a tag opens: one of those whose begin starts with the trigger. After the end of a tag the
next stretch begins. Everything is one grammar, so tags may be cut across tokens, and every engine can be used.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

from guidedviz.errors import PatternError, expect, quoted
from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.tagged.free_text import FreeText, check_triggers, free_text, text_until
from guidedviz.machines.tagged.rules import Rules
from guidedviz.machines.tree import EMPTY, Net, Tree, concat, either, literal
from guidedviz.machines.work import limited_work, spend


class Tag(NamedTuple):
    """A begin, the machine of the content (None: any text up to the end), and the end or several ends."""

    begin: str
    machine: DFA | PDA | None = None
    end: str | Sequence[str] = ""


@limited_work()
def tagged(
    free: DFA | None = None,
    tags: Iterable[Tag | tuple[Any, ...]] = (),
    *,
    begin: str = "",
    machine: DFA | PDA | None = None,
    end: str | Sequence[str] = "",
    triggers: str | Sequence[str] | None = None,
    at_least_one: bool = False,
    stop_after_first: bool = False,
) -> DFA | PDA:
    r"""The machine of free text with tags: one tag (`begin`, `machine`, `end`), or several as tuples in `tags`.

    `free`: None for any text, or a finite machine for every stretch of text outside tags.
    `triggers`: the beginnings that open a tag, by default the `begin` of every tag. With triggers=["<tool:"] every
    text after <tool: must be one of the tags.
    `at_least_one`: the text may end only after a tag. `stop_after_first`: nothing may follow the first tag.

    >>> call = tagged(begin="<sum>", machine=gv.regex(r"\d+\+\d+"), end="</sum>")
    >>> call.accepts(b"It is <sum>1+2</sum>."), call.accepts(b"a <su"), call.accepts_prefix(b"It is <sum>x")
    (True, True, False)
    """
    expect(tags, Iterable, "tagged, tags", "a list of tuples of begin, machine and end")
    listed = [*([as_tag((begin, machine, end))] if begin else []), *map(as_tag, tags)]
    opens = open_with(listed, triggers)
    rules = Rules()
    expect(free, DFA | None, "tagged, free", "a finite machine, or None for any text", "gv.regex(text)")
    stretch = None if free is None else machine_grammar(free).rules[0].tree
    options = open_tags(rules, opens, listed)
    return rules.machine(dispatch(free_text(opens, stretch), options, at_least_one, stop_after_first))


def as_tag(tag: Any) -> Tag:
    """A tuple of begin, machine and end as a tag.

    >>> as_tag(("<a>", None, "</a>"))
    Tag(begin='<a>', machine=None, end=('</a>',))
    """
    if not isinstance(tag, tuple) or not 1 <= len(tag) <= 3:
        raise PatternError("tagged, tags", seen=quoted(tag), expected="tuples of begin, machine and end")
    made = Tag(*tag)
    expect(made.begin, str, "tagged, begin", "a str")
    if made.machine is not None:
        hint = "gv.regex(text), gv.grammar(text), gv.json_schema(schema)"
        expect(made.machine, DFA | PDA, "tagged, machine", "a finite or a pushdown machine", hint)
    ends = (made.end,) if isinstance(made.end, str) else made.end
    if not made.begin or not isinstance(ends, Sequence) or not ends or not all(isinstance(end, str) for end in ends):
        raise PatternError("tagged, tags", seen=quoted(tag[::2]), expected="a begin that is not empty, and an end")
    return made._replace(end=ends)


def open_with(tags: Sequence[Tag], triggers: str | Sequence[str] | None) -> list[str]:
    """The triggers, by default every begin; each must open a tag, and each tag must be opened by one."""
    if not tags:
        raise PatternError("tagged", seen="no tag", expected="a begin, a machine and an end", hint='begin="<tool>"')
    given = [tag.begin for tag in tags] if triggers is None else triggers
    opens = [given] if isinstance(given, str) else list(expect(given, Iterable, "tagged, triggers", "a list of texts"))
    check_triggers(opens)
    used = {trigger_of(tag.begin, frozenset(opens)): tag.begin for tag in tags}
    if "" in used:
        seen, known = f"the begin {quoted(used[''])}", ", ".join(map(quoted, opens))
        raise PatternError("tagged, triggers", seen=seen, expected=f"a begin that starts with one of {known}")
    for trigger in opens:
        if trigger not in used:
            seen = f"the trigger {quoted(trigger)}"
            raise PatternError("tagged, triggers", seen=seen, expected="the start of the begin of a tag")
    return list(dict.fromkeys(opens))


def trigger_of(begin: str, triggers: Container[str]) -> str:
    """The trigger that a begin starts with; "" if there is none.

    >>> trigger_of("<tool:a>", ["<tool:", "#"]), trigger_of("tool", ["<tool:"])
    ('<tool:', '')
    """
    spend(len(begin) ** 2 // 1000)
    return next((begin[:end] for end in range(1, len(begin) + 1) if begin[:end] in triggers), "")


def tag_body(rules: Rules, tag: Tag) -> Tree:
    """The content and an end of a tag."""
    if tag.machine is None:
        return text_until(tag.end)
    return concat(rules.content(tag.machine, "content"), either(*map(literal, tag.end)))


def open_tags(rules: Rules, triggers: Sequence[str], tags: Iterable[Tag]) -> list[Tree]:
    """What may follow each trigger: the rest of a begin, the content and an end; each tag is a rule."""
    options: dict[str, list[Tree]] = {trigger: [] for trigger in triggers}
    for tag in tags:
        trigger = trigger_of(tag.begin, options)
        options[trigger].append(rules.rule(tag.begin, concat(literal(tag.begin[len(trigger) :]), tag_body(rules, tag))))
    return [either(*calls) for calls in options.values()]


def dispatch(text: FreeText, options: Sequence[Tree], at_least_one: bool, stop_after_first: bool) -> Tree:
    """Stretches of free text, each followed by an option of the trigger that ends it, or by the end of the text.

    >>> once = dispatch(free_text(["a"]), [literal("b")], False, True)
    >>> rules = Rules()
    >>> [rules.machine(once).accepts(text) for text in (b"x", b"xab", b"xabx")]
    [True, True, False]
    """
    copies = 2 if at_least_one and not stop_after_first else 1  # before the first tag, and after it
    end = text.places * copies
    after = end if stop_after_first else end - text.places
    edges: list[tuple[int, Tree, int]] = []
    for base in range(0, end, text.places):
        edges += [(base + source, part, base + target) for source, part, target in text.edges]
        edges += [(base + place, options[number], after) for place, number in text.found]
        if base or not at_least_one:
            edges += [(base + place, EMPTY, end) for place in text.ends]
    return Net(end + 1, tuple(edges))
