"""An answer that is a machine is compared as one: every text there is, and the shortest that it gets wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import GuidedVizError
from guidedviz.machines.algebra import is_empty, shortest_difference
from guidedviz.machines.dfa import DFA
from guidedviz.machines.regex import regex
from guidedviz.machines.sketch import Sketch, sketch_dfa
from guidedviz.machines.visible import visible
from guidedviz.views.machine import draw_machine
from guidedviz.views.words import reading

LONGEST = 12  # states of a path that are all named
JUDGES = ("refuses it", "accepts it")


def check_machine(answer: Any, truth: DFA, read: Callable[[Any], Any] = lambda answer: answer) -> Verdict:
    """Does an answer accept the same texts? It is a regex, a machine, or what `read` turns into one.

    >>> check_machine("[0-9]*", regex("[0-9]+"))
    ✗ not yet right: the shortest text on which it is wrong
        text        the empty text
        yours       accepts it
        expected    refuses it
        its path    q0
    """
    if answer is None or answer is ... or answer == "":
        return Verdict("open", "it is empty so far; write it, run its cell, then run this one")
    try:
        machine, sketch = _read(read(answer))
        if is_empty(machine):
            return Verdict("open", "no text reaches an accepting state so far")
        text = shortest_difference(machine, truth)
    except (GuidedVizError, TypeError, ValueError, AttributeError) as error:
        return Verdict("wrong", "no machine can be made of it", (("yours is", show(answer)), ("because", str(error))))
    if text is None:
        return Verdict("right", f"agrees on every text there is; {len(machine)} states")
    return _show_path(sketch, text, machine.accepts(text))


def _read(answer: Any) -> tuple[DFA, Sketch]:
    """The smallest machine, to be compared; and the machine as it was made, to be drawn."""
    if isinstance(answer, str):
        answer = regex(answer)
    if isinstance(answer, DFA):
        return answer, sketch_dfa(answer)
    if not callable(getattr(answer, "machine", None)):
        raise TypeError(f"expected a finite machine or a regex, saw {type(answer).__name__}")
    return answer.machine(), answer.sketch()


def _show_path(sketch: Sketch, text: bytes, accepted: bool) -> Verdict:
    """The student's own machine, and the way that the text takes through it."""
    path = follow(sketch, text)
    died = visible(text[len(path) - 1 : len(path)])
    way = " → ".join(_few([sketch.names[state] for state in path])) + (f" ✕ {died}" if died else "")
    facts = (
        ("text", reading(text.decode("utf-8", "backslashreplace")) or "the empty text"),
        ("yours", JUDGES[accepted]),
        ("expected", JUDGES[not accepted]),
        ("its path", way),
    )
    figure = draw_machine(sketch, path, title="yours", died=died)
    return Verdict("wrong", "the shortest text on which it is wrong", facts, figure)


def _few(names: list[str]) -> list[str]:
    return names if len(names) <= LONGEST else [*names[:3], "…", *names[-4:]]


def follow(sketch: Sketch, text: bytes, state: int | None = None) -> list[int]:
    """The states that a text goes through, from the start or another, until the first byte without an arrow.

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
