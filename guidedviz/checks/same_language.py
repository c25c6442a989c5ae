"""Compares an answer that is a machine with the right one: over all texts, to the shortest on which they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guidedviz.checks.guard import Other, safe_copy
from guidedviz.checks.judge import Facts
from guidedviz.checks.verdict import WIDTH, Verdict, show
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.machines.regular.algebra import is_empty, shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import visible
from guidedviz.tokens.by_hand.fsm import GuidedFSM
from guidedviz.views.figure import Figure
from guidedviz.views.layout.sketch import Sketch, sketch_dfa
from guidedviz.views.machine.picture import draw_machine, sketch_of
from guidedviz.views.words import reading

LONGEST = 12  # states of a path that are all named
ACCEPTS = ("refuses it", "accepts it")
NO_TEXT = r"no text matches it: ^ and $ are the ends of a text, \^ and \$ are the characters"
EMPTY = Verdict("open", "it is empty so far; write it, run its cell, then run this one")


def check_machine(answer: Any, truth: DFA, read: Callable[[Any], DFA] = regex) -> Verdict:
    """Does an answer accept the same texts as a machine? It is a DFA, a GuidedFSM, or what `read` makes into a DFA.

    >>> check_machine("[0-9]*", regex("[0-9]+"))
    ✗ not yet right: the shortest text on which it is wrong
        text        the empty text
        yours       accepts it
        expected    refuses it
        its path    q0
        because     it may end in q0
    """
    if type(answer) not in (DFA, GuidedFSM):
        answer = safe_copy(answer)
    if answer is None or answer is ... or answer == "":
        return EMPTY
    try:
        machine = answer.machine() if type(answer) is GuidedFSM else answer if type(answer) is DFA else read(answer)
        text = shortest_difference(machine, truth)
    except (GuidedVizError, TypeError, ValueError, AttributeError, LookupError) as error:
        because = "it is no text, no dictionary and no machine" if type(answer) is Other else str(error)
        facts = (("yours is", show(answer)), ("because", because))
        return Verdict("wrong", "no machine can be made of it", facts)
    if text is None:
        return Verdict("right", f"agrees on all texts; {len(machine)} states")
    if is_empty(machine) and type(answer) is not DFA:
        if type(answer) is not GuidedFSM:
            return Verdict("wrong", "it accepts no text", (("yours is", show(answer)), ("because", NO_TEXT)))
        if sum(len(set(ways.values())) for ways in answer.transitions.values()) <= 1:
            return Verdict("open", "no text reaches an accepting state so far")
    sketch = sketch_of(answer if type(answer) is GuidedFSM else machine)
    path = follow(sketch, text)
    names = [sketch.names[state] for state in path]
    if len(names) > LONGEST:
        names[3:-4] = ["…"]
    died = visible(text[len(path) - 1 : len(path)])
    way = " → ".join(names) + (f" ✕ {died}" if died else "")
    figure = draw_machine(sketch, path, title="yours", died=died)
    said = "the shortest text on which it is wrong"
    accepted, last = machine.accepts(text), sketch.names[path[-1]]
    because = f"it may end in {last}" if accepted else f"it may not end in {last}"
    if died:
        because = f"no transition leaves {last} with {died}"
    return Verdict("wrong", said, (*say_text(text, accepted), ("its path", way), ("because", because)), figure)


def say_text(text: bytes, accepted: bool) -> Facts:
    """A text, whether the answer accepts it, and whether it must."""
    words = shorten(reading(text.decode("utf-8", "backslashreplace")) or "the empty text", WIDTH)
    return ("text", words), ("yours", ACCEPTS[accepted]), ("expected", ACCEPTS[not accepted])


def say_start(text: str, begun: bytes, state: int) -> str:
    """A regex, a state, and what was read to reach it.

    >>> say_start("ab", b"a", 1)
    "regex ab, in q1: 'a' was read"
    """
    return f"regex {text}, in q{state}: {show(begun)[1:] if begun else 'nothing'} was read"


def draw_path(machine: DFA, text: bytes, state: int, title: str) -> Figure:
    """The path of a text through a machine from a state, and the first byte that the machine cannot read."""
    path = follow(sketch_dfa(machine), text, state)
    return draw_machine(machine, path, title=title, died=visible(text[len(path) - 1 : len(path)]))


def follow(sketch: Sketch, text: bytes, state: int | None = None) -> list[int]:
    """The states on the path of a text, from the initial state or another, to the first byte without an arrow.

    >>> follow(sketch_dfa(regex("ab")), b"ax")
    [0, 1]
    """
    path = [sketch.initial if state is None else state]
    for byte in text:
        ways = (a for a in sketch.arrows if a.source == path[-1] and any(low <= byte <= high for low, high in a.ranges))
        if (arrow := next(ways, None)) is None:
            break
        path.append(arrow.target)
    return path
