"""Judges an engine that a student wrote, on random constraints and vocabularies that nobody has seen.

The verdict is a table: the masks of each kind of constraint, then what must hold for all. Of each kind the fault after
the shortest text is shown.
"""

from collections.abc import Iterator, Sequence
from random import Random, SystemRandom
from typing import Any

from guidedviz.checks.drawn_tasks import Cut, EngineTask, any_task, draw_task, grammar_task, regex_task, schema_task
from guidedviz.checks.engine_faults import A_STATE, ASPECTS, FORCED, NOT_BEGUN_YET, Fault, examine_all
from guidedviz.checks.function import ALL_NONE, NOT_WRITTEN, is_open
from guidedviz.checks.values import Failed
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import shorten
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import expected_next, explain_token
from guidedviz.tokens.vocabulary import Vocabulary

TASKS_OF_A_KIND = 4
FAMILIES = (
    ("regexes", regex_task, False),
    ("grammars", grammar_task, False),
    ("schemas", schema_task, False),
    ("odd vocabularies", any_task, True),
)
MOST_SEED = 10**6
SHOWN_CONSTRAINT = 60  # characters
SHOWN_BYTES = 24  # bytes


Found = tuple[EngineTask, Fault]


def check_engine(answer: Any, seed: int | None = None) -> Verdict:
    """Does a class of your own decode as the rules say, on random constraints? Each call draws new ones.

    >>> class Lazy:
    ...     initial = 0
    ...     def __init__(self, moves, ends, pieces, eos): ...
    ...     def mask(self, state): return set()
    ...     def advance(self, state, token): return state
    ...     def forced(self, state): return b""
    >>> print(check_engine(Lazy, seed=1).facts[0][1])
    ✗ at the start: token 0 2 is legal, and yours forbids it · every byte passes: q0 to q0 · (a*([éè])*([0-9])?)*
    """
    if is_open(answer):
        return NOT_WRITTEN
    if not callable(answer):
        return Verdict("wrong", "the class of an engine is expected", (("yours is", show(answer)),))
    chosen = SystemRandom().randrange(MOST_SEED) if seed is None else seed
    draw = Random(chosen)
    kinds = {}
    for name, make, odd in FAMILIES:
        tasks = [draw_task(draw, make, odd) for _ in range(TASKS_OF_A_KIND)]
        kinds[name] = tasks
    return judge_kinds(answer, kinds, chosen)


def judge_kinds(answer: Any, kinds: dict[str, list[EngineTask]], seed: int) -> Verdict:
    """The verdict over all kinds, each with its first failure."""
    found: dict[str, list[Found]] = {name: [] for name in (*kinds, *ASPECTS)}
    opened = 0
    for name, tasks in kinds.items():
        for task, faults in zip(tasks, examine_all(answer, tasks), strict=True):
            opened += faults == [NOT_BEGUN_YET]
            for fault in faults:
                if isinstance(fault, Fault):
                    found[fault.kind or name].append((task, fault))
    count = sum(map(len, kinds.values()))
    if opened == count:
        return ALL_NONE
    facts = tuple((name, say_kind_of_fault(faults)) for name, faults in found.items())
    wrong = sum(map(bool, found.values()))
    if not wrong:
        return Verdict("right", f"agrees with reading every token, on {count} random constraints", facts)
    called = getattr(answer, "__name__", "MyEngine")
    repeat = f"gv.checks.engine({called}, seed={seed})"
    return Verdict("wrong", f"{wrong} of {len(found)} kinds fail; the same again: {repeat}", facts)


def say_kind_of_fault(faults: Sequence[Found]) -> str:
    """The fault after the shortest text, in words."""
    if not faults:
        return "✓"
    task, first = min(faults, key=_size_of)
    said = [value for _, value in say_fault(task, first)]
    return "✗ " + " · ".join(said)


def _size_of(found: Found) -> tuple[int, ...]:
    task, fault = found
    tokens = task.cuts[fault.place].tokens
    text = task.text(tokens)
    return len(text), len(tokens), fault.token


# -- faults in words -----------------------------------------------------------------------------------------------


def say_fault(task: EngineTask, fault: Fault) -> Iterator[tuple[str, str]]:
    """Where an engine is wrong, how, and why."""
    cut = task.cuts[fault.place]
    text = task.text(cut.tokens)
    where = f"after {visible(text[-SHOWN_BYTES:])}" if text else "at the start"
    vocabulary = Vocabulary(task.pieces, eos=task.eos)
    what = say_what(vocabulary, cut, fault)
    yield "yours", f"{where}: {what}"
    if fault.kind == FORCED:
        yield "because", f"may come: {expected_next(task.machine, cut.state)}"
    elif fault.gave == A_STATE or isinstance(fault.gave, bool):
        why = explain_token(task.machine, vocabulary, cut.state, fault.token)
        yield "because", why.reason
    on_a_line = " ".join(task.constraint.split())
    yield "constraint", shorten(on_a_line, SHOWN_CONSTRAINT)


def say_what(vocabulary: Vocabulary, cut: Cut, fault: Fault) -> str:
    """What an engine gave, and what is right."""
    if isinstance(fault.gave, Failed):
        return fault.gave.said
    if fault.kind == FORCED:
        return f"forced gives {show(fault.gave)}, expected {show(cut.forced)}"
    named = f"token {fault.token} {vocabulary.display(fault.token)}"
    if fault.gave is None:
        return f"advance gives None for {named}, which is legal"
    if fault.gave == A_STATE:
        return f"{named} is illegal, and advance gives a state and not None"
    if fault.gave:
        return f"{named} is illegal, and yours allows it"
    return f"{named} is legal, and yours forbids it"
