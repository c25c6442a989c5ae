"""Whether a limit cut a text: the guide knows it, or else the drawing of the machine that a saved run keeps.

Where neither knows it, the run is still called cut, because nobody has seen that it is complete.
"""

from collections.abc import Iterator
from typing import Any

from guidedviz.decoding.looks import ENDS_BY_LIMIT, Finding, Run, cure_by_limit
from guidedviz.machines.machine import read
from guidedviz.machines.pushdown.distance import bytes_to_end


def find_cut(run: Run) -> Iterator[Finding]:
    """A limit ended the run in the middle of its text, or nobody knows that it did not."""
    if run.end not in ENDS_BY_LIMIT or run.refused or not (run.guide or run.trace.constraint):
        return
    complete = may_end_after(run, len(run.steps))
    if complete:
        return
    seen = f"{say_limit(run)} at {run.tail()}"
    if complete is None:
        facts = [seen, "only the guide knows whether it is complete"]
    else:
        facts = [f"{seen}, which is not complete"]
    if run.machine:
        needed = bytes_to_end(run.machine, read(run.machine, run.trace.output))
        if needed:
            facts.append(f"its shortest end takes {needed} bytes more")
    cure = cure_by_limit(run, "more tokens")
    yield Finding("cut in the middle", len(run.trace.steps) - 1, tuple(facts), cure=cure)


def say_limit(run: Run) -> str:
    """What ended the text."""
    if run.end == "max_tokens":
        return f"{len(run.steps)} tokens ended the text"
    return "the text ends" if run.end == "cut" else "the model's context ended the text"


def may_end_after(run: Run, taken: int) -> bool | None:
    """Whether the text may end after so many tokens; None if neither the guide nor the drawing of a saved run knows."""
    if run.guide is not None:
        return taken < len(run.states) and run.guide.is_accepting(run.states[taken])
    machine = run.trace.shown.get("machine")
    if machine is None or machine["stack"] or not taken:
        return None
    shown = run.trace.shown["add"][run.steps[taken - 1].place]
    drawing = run.trace.shown.get("drawings", {}).get(str(shown.get("drawing")))
    path = shown.get("path")
    if not path or drawing is None:
        return None
    kinds = kinds_of_state(drawing["shapes"], path[-1])
    return "gv-may-end" in kinds if kinds else None


def kinds_of_state(shape: Any, state: int) -> list[str]:
    """The classes of a state in a drawing; none if it is not drawn.

    >>> kinds_of_state(["svg", {}, ["g", {"class": "gv-state gv-may-end", "data-state": 3}]], 3)
    ['gv-state', 'gv-may-end']
    """
    if not isinstance(shape, list):
        return []
    _, attributes, *inner = shape
    if attributes.get("data-state") == state:
        return str(attributes.get("class", "")).split()
    for part in inner:
        kinds = kinds_of_state(part, state)
        if kinds:
            return kinds
    return []
