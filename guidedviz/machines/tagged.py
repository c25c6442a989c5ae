"""Several machines as the rules of one grammar: a finite machine becomes a tree, a pushdown machine its rules."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from guidedviz.errors import PatternError, expect, quoted
from guidedviz.machines.decompile import machine_grammar
from guidedviz.machines.grammars.counted import inline_rules, map_calls, needed_rules
from guidedviz.machines.grammars.grammar import Grammar, Rule
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.algebra import intersection
from guidedviz.machines.regular.assertions import code_machine
from guidedviz.machines.regular.dfa import DFA, build_dfa
from guidedviz.machines.regular.minimal import minimise
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.tree import EMPTY, LAST, Call, Chars, Net, Range, Tree, concat, either, literal, other_ranges
from guidedviz.machines.work import limited_work, spend


class RuleCollection:
    """Collects rules under names of their own, and the notes of the machines.

    >>> rules = RuleCollection()
    >>> rules.content(gv.regex("a|b"), "x"), rules.content(gv.grammar('root ::= "(" root ")" | "x"'), "call")
    (Net(places=3, edges=((1, Concat(parts=()), 2), (0, Chars(ranges=((97, 98),)), 1))), Call(name='call', span=None))
    """

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {"root": Call("root")}
        self.notes: dict[str, None] = {}
        self.known: dict[int, tuple[object, Tree]] = {}  # the machine, so that its id stays its own

    def content(self, machine: DFA | PDA, name: str) -> Tree:
        """A machine as a tree; `name` is the name of its root rule, if it has rules."""
        if id(machine) not in self.known:
            self.notes.update(dict.fromkeys(machine.notes))
            grammar = machine_grammar(machine)
            self.known[id(machine)] = (
                machine,
                self._put(grammar, name) if isinstance(machine, PDA) else grammar.rules[0].tree,
            )
        return self.known[id(machine)][1]

    def _put(self, grammar: Grammar, name: str) -> Tree:
        names = {rule.name: self.free_name(name if rule.name == grammar.root else rule.name) for rule in grammar.rules}
        for rule in grammar.rules:
            self.trees[names[rule.name]] = map_calls(rule.tree, lambda call: Call(names[call.name]))
        return Call(names[grammar.root])

    def rule(self, name: str, tree: Tree) -> Call:
        """A call of a new rule; its name has the letters and digits of `name`."""
        name = self.free_name("-".join(re.findall("[A-Za-z0-9]+", name)) or "tag")
        self.trees[name] = tree
        return Call(name)

    def free_name(self, name: str) -> str:
        """This name, with a number if it is taken; it is reserved."""
        numbered = (f"{name}-{number}" for number in range(2, len(self.trees) + 3))
        free = name if name not in self.trees else next(one for one in numbered if one not in self.trees)
        self.trees[free] = Call(free)
        return free

    def grammar(self, root: Tree) -> Grammar:
        """The grammar with this tree as its root."""
        trees = {**self.trees, "root": root}
        return needed_rules(Grammar(tuple(Rule(name, tree, (0, 0)) for name, tree in trees.items())))

    def machine(self, root: Tree) -> DFA | PDA:
        """The machine with this tree as its root: a DFA if it is small and nothing nests."""
        grammar, notes = self.grammar(root), tuple(self.notes)
        flat = inline_rules(grammar)
        if not any(flat.calls.values()):
            try:
                return replace(minimise(build_dfa(build_nfa(flat.rules[0].tree))), notes=notes)
            except PatternError:
                pass  # too large for a DFA: one automaton per rule
        return PDA(grammar, notes=notes)


# Free text up to the first of some triggers: the automaton of Aho and Corasick (CACM, 1975).


MOST_PLACES = 4_000
FOUND = LAST + 2  # the letter after trigger 0 is complete; the next ones for the other triggers, and for the end


class FreeText(NamedTuple):
    """Places joined by characters; place 0 is the start. A place knows which part of a trigger was read last."""

    places: int
    edges: tuple[tuple[int, Tree, int], ...]
    ends: tuple[int, ...]  # where the free text may end
    found: tuple[tuple[int, int], ...]  # a place where a trigger is complete, and its number


def check_triggers(triggers: Sequence[str]) -> None:
    """Refuse triggers that could never be the first one to be complete."""
    for trigger in triggers:
        if not isinstance(trigger, str) or not trigger or any(0xD800 <= ord(char) <= 0xDFFF for char in trigger):
            raise PatternError("tagged, triggers", seen=quoted(trigger), expected="a text that is not empty")
    first = set(first_complete(triggers))
    for trigger in triggers:
        if trigger not in first:
            other = next(other for other in first if other in trigger)
            seen, hint = f"{quoted(trigger)}, which contains {quoted(other)}", f"triggers=[{quoted(other)}]"
            raise PatternError("tagged, triggers", seen=seen, expected="triggers that can be complete", hint=hint)


def free_text(triggers: Sequence[str], free: Tree | None = None) -> FreeText:
    """Any text, or a text of `free`, up to the place where a trigger is complete for the first time.

    >>> text = free_text(["<a>"])
    >>> text.places, text.ends, text.found
    (4, (0, 1, 2), ((3, 0),))
    """
    places, complete = read_on(triggers)
    edges: list[tuple[int, Tree, int]] = []
    for place, targets in enumerate(places):
        if place not in complete:
            edges += [(place, literal(char), target) for char, target in targets.items()]
            edges.append((place, Chars(other_ranges((ord(char), ord(char)) for char in targets)), 0))
    ends = tuple(place for place in range(len(places)) if place not in complete)
    whole = FreeText(len(places), tuple(edges), ends, tuple(complete.items()))
    return whole if free is None else restrict(whole, triggers, free)


def read_on(triggers: Sequence[str]) -> tuple[list[dict[str, int]], dict[int, int]]:
    """The places, each a prefix of a trigger, by the characters that lead on; and which trigger is complete where.

    Every other character leads to place 0. The place after a character is the longest prefix that the text ends with.

    >>> read_on(["aab"])
    ([{'a': 1}, {'a': 2}, {'a': 2, 'b': 3}, {'a': 1}], {3: 0})
    """
    places: list[dict[str, int]] = [{}]
    complete: dict[int, int] = {}
    for number, trigger in enumerate(triggers):
        place = 0
        for char in trigger:
            if char not in places[place]:
                if len(places) == MOST_PLACES:
                    seen, hint = f"triggers or ends of more than {MOST_PLACES:,} characters", "a common trigger"
                    raise PatternError("tagged", seen=seen, expected="shorter ones", hint=hint)
                places[place][char] = len(places)
                places.append({})
            place = places[place][char]
        complete[place] = number
    queue = [(target, 0) for target in places[0].values()]  # a place, and that of its longest suffix
    for place, suffix in queue:
        queue += [(target, places[suffix].get(char, 0)) for char, target in places[place].items()]
        places[place] = {**places[suffix], **places[place]}
    return places, complete


def restrict(text: FreeText, triggers: Sequence[str], free: Tree) -> FreeText:
    """The free text whose stretches before a trigger, or before the end, are texts of `free`."""
    marks: list[Tree] = [Chars(((mark, mark),)) for mark in range(FOUND, FOUND + len(triggers) + 1)]
    last = text.places
    found = [(place, marks[number], last) for place, number in text.found]
    ended = [(place, marks[-1], last) for place in text.ends]
    either_way = either(*(concat(literal(t), mark) for t, mark in zip(triggers, marks, strict=False)), marks[-1])
    one, other = Net(last + 1, (*text.edges, *found, *ended)), concat(free, either_way)
    return _places(intersection(code_machine(one), code_machine(other)), FOUND + len(triggers))


def _places(machine: DFA, end: int) -> FreeText:
    """The free text of a machine over characters and marks."""
    edges, ends, found = list[tuple[int, Tree, int]](), list[int](), list[tuple[int, int]]()
    for state, row in enumerate(machine.edges):
        ranges: dict[int, list[Range]] = defaultdict(list)
        for low, high, target in row:
            if low <= LAST:
                ranges[target].append((low, high))
            else:
                ends += [state] * (high == end)
                found += [(state, mark - FOUND) for mark in range(low, min(high + 1, end))]
        edges += [(state, Chars(tuple(pairs)), target) for target, pairs in ranges.items()]
    return FreeText(len(machine), tuple(edges), tuple(ends), tuple(found))


def text_until(ends: Sequence[str]) -> Tree:
    """Any text up to the first of these ends, the end included; any text if an end is empty.

    >>> from guidedviz.machines.regular.show_regex import show_regex
    >>> show_regex(text_until(["ab"]))
    '(?:[^a]|aa*[^ab])*aa*b'
    """
    text = free_text([] if "" in ends else first_complete(ends))
    stops = text.ends if "" in ends else [place for place, _ in text.found]
    return Net(text.places + 1, (*text.edges, *((place, EMPTY, text.places) for place in stops)))


def first_complete(marks: Iterable[str]) -> list[str]:
    """Without the marks that contain another one, which is complete before them.

    >>> first_complete(["ab", "xabx", "b", "c", "c"])
    ['b', 'c']
    """
    every = dict.fromkeys(marks)
    sizes = sorted({len(mark) for mark in every})
    return [mark for mark in every if not any(part in every for part in _parts(mark, sizes))]


def _parts(mark: str, sizes: Iterable[int]) -> Iterator[str]:
    """The shorter texts of these sizes in a mark."""
    for size in (size for size in sizes if size < len(mark)):
        spend((len(mark) - size) * (1 + size // 1000))
        yield from (mark[start : start + size] for start in range(len(mark) - size + 1))


# Free text with tags: a trigger opens a constrained part, its end closes it, and the text is free again.
#
# The text is a sequence of stretches and tags. A stretch is free text in which no trigger occurs. Where a trigger is
# complete for the first time, a tag opens: one of those whose begin starts with the trigger. After the end of a tag the
# next stretch begins. Everything is one grammar, so tags may be cut across tokens, and every engine can be used.


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
    rules = RuleCollection()
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


def tag_body(rules: RuleCollection, tag: Tag) -> Tree:
    """The content and an end of a tag."""
    if tag.machine is None:
        return text_until(tag.end)
    return concat(rules.content(tag.machine, "content"), either(*map(literal, tag.end)))


def open_tags(rules: RuleCollection, triggers: Sequence[str], tags: Iterable[Tag]) -> list[Tree]:
    """What may follow each trigger: the rest of a begin, the content and an end; each tag is a rule."""
    options: dict[str, list[Tree]] = {trigger: [] for trigger in triggers}
    for tag in tags:
        trigger = trigger_of(tag.begin, options)
        options[trigger].append(rules.rule(tag.begin, concat(literal(tag.begin[len(trigger) :]), tag_body(rules, tag))))
    return [either(*calls) for calls in options.values()]


def dispatch(text: FreeText, options: Sequence[Tree], at_least_one: bool, stop_after_first: bool) -> Tree:
    """Stretches of free text, each followed by an option of the trigger that ends it, or by the end of the text.

    >>> once = dispatch(free_text(["a"]), [literal("b")], False, True)
    >>> rules = RuleCollection()
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
