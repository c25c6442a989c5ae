"""The fifth milestone: the masks and the steps of an engine on small fixed tasks, from small to large.

The tasks need one idea more each. The verdict is about the smallest task that fails, at its shortest text.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from guidedviz.checks.drawn_tasks import EngineTask, with_pieces
from guidedviz.checks.engine_faults import NO_MASK, examine_all
from guidedviz.checks.exam import say_fault, write_code
from guidedviz.checks.function import ALL_NONE, NOT_WRITTEN, is_open
from guidedviz.checks.stacks import AUTOMATA
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.pushdown.pda import grammar
from guidedviz.machines.regular.regex import regex

MOST_CUTS = 24  # of a task
# a constraint, the pieces, and the number of EOS ids
SMALL_TASKS: list[tuple[str, list[bytes], int]] = [
    ("a", [b"a", b"b"], 1),
    ("ab*", [b"a", b"b", b"ab", b"bb", b"ba"], 1),
    ("a*", [b"a", b""], 1),
    ("ab", [b"a", b"a"], 1),
    ("a", [b"a"], 2),
    ("[éè]", [b"\xc3", b"\xa9", b"\xa8", "é".encode(), "è".encode(), "à".encode()], 1),
    (AUTOMATA["nested"], [b"(", b")", b"x", b"x)", b"((", b"))", b"x))"], 1),
    (AUTOMATA["chain"], [b"a", b";", b"aa", b"a;", b";;"], 1),
    (AUTOMATA["nested"], [b"(((((((", b"x", b")))))))", b")", b"x)))))))"], 1),
    (AUTOMATA["pairs"], [b'{"', b"a", b'": ', b"{", b'"', b"1", b"1}", b"}", b"}}", b"1}}"], 1),
]


def check_engine_masks(answer: Any) -> Verdict:
    """Does an engine give the right mask and step at each place of small constraints? The forced bytes are not asked.

    >>> class Lazy:
    ...     initial = 0
    ...     def __init__(self, moves, ends, pieces, eos): ...
    ...     def mask(self, state): return {0}
    ...     def advance(self, state, token): return state if token == 0 else None
    >>> check_engine_masks(Lazy)
    ✗ not yet right: on task 1 of 10, the first on which it fails
        yours       after 'a': token 0 'a' is illegal, and yours allows it
        because     a cannot come: expected the end
        constraint  a
        take it out  moves, ends = gv.machines.pushdown_moves(gv.regex('a'))
    pieces, eos, tokens = [b'a', b'b', b''], {2}, [0]
    """
    if is_open(answer):
        return NOT_WRITTEN
    if not callable(answer):
        return Verdict("wrong", "the class of an engine is expected", (("yours is", show(answer)),))
    tasks = small_tasks()
    found = examine_all(answer, tasks, jumps=False)
    if all(examined.faults == [NO_MASK] for examined in found):
        return ALL_NONE
    for number, (task, examined) in enumerate(zip(tasks, found, strict=True), 1):
        if examined.faults:
            first = min(examined.faults, key=lambda fault: (fault.place, fault.token))
            said = f"on task {number} of {len(tasks)}, the first on which it fails"
            code = ("take it out", write_code(task, first))
            return Verdict("wrong", said, (*say_fault(task, first), code))
    return Verdict("right", f"agrees on all {len(tasks)} tasks")


@lru_cache(maxsize=1)
def small_tasks() -> Sequence[EngineTask]:
    """The fixed tasks."""
    return tuple(make_task(*row) for row in SMALL_TASKS)


def make_task(text: str, pieces: Sequence[bytes], ends: int) -> EngineTask:
    """A task with the nearest places of a constraint."""
    if "::=" in text:
        task = with_pieces((text, grammar(text), f"gv.grammar({text!r})"), pieces, ends)
    else:
        task = with_pieces((text, regex(text), f"gv.regex({text!r})"), pieces, ends)
    paths: list[tuple[int, ...]] = [()]
    for path in paths:  # it grows
        choices = sorted(task.cut(path).legal - task.eos)
        paths += [(*path, token) for token in choices[: MOST_CUTS - len(paths)]]
    return replace(task, paths=tuple(paths))
