"""Judges an engine that a student wrote, on random constraints and vocabularies that nobody has seen.

The verdict is a table: the masks of each kind of constraint, then what must hold for all. Of each kind the fault after
the shortest walked text is shown, and of the first of these faults the code that builds its task.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from random import Random, SystemRandom
from typing import Any

from guidedviz.checks.drawn_tasks import (
    Cut,
    EngineTask,
    any_task,
    draw_deep_task,
    draw_task,
    grammar_task,
    regex_task,
    schema_task,
)
from guidedviz.checks.engine_faults import A_STATE, ASPECTS, FORCED, NO_MASK, UNASKED, Fault, examine_all
from guidedviz.checks.function import ALL_NONE, NOT_WRITTEN, is_open
from guidedviz.checks.guard import ENDLESS
from guidedviz.checks.milestones import push_text
from guidedviz.checks.values import TOO_LARGE, Failed
from guidedviz.checks.verdict import Verdict, show
from guidedviz.errors import shorten
from guidedviz.machines.visible import visible
from guidedviz.tokens.guide import expected_next, explain_token
from guidedviz.tokens.vocabulary import Vocabulary

ODD = "odd vocabularies"
FAMILIES = (
    ("regexes", regex_task),
    ("grammars", grammar_task),
    ("schemas", schema_task),
    (ODD, any_task),
)
EOS_IDS = (1, 2, 1, 2, 1, 2, 1, 2)  # of the tasks of a kind
ODD_EOS_IDS = (2, 0, 1, 2, 0, 2, 1, 2)
DEEP_EOS_IDS = (2, 1, 2)
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
    >>> print(check_engine(Lazy, seed=1).facts[3][1])
    ✗ at the start: token ... is legal, and yours forbids it · every byte passes: the stack (0,) becomes ...
    """
    if is_open(answer):
        return NOT_WRITTEN
    if not callable(answer):
        return Verdict("wrong", "the class of an engine is expected", (("yours is", show(answer)),))
    chosen = SystemRandom().randrange(MOST_SEED) if seed is None else seed
    return judge_kinds(answer, draw_exam(chosen), chosen)


@lru_cache(maxsize=8)  # an engine is tried again with the seed of a verdict
def draw_exam(seed: int) -> dict[str, list[EngineTask]]:
    """The tasks of each kind."""
    draw = Random(seed)
    kinds = {}
    for name, make in FAMILIES:
        odd = name == ODD
        counts = ODD_EOS_IDS if odd else EOS_IDS
        kinds[name] = [draw_task(draw, make, odd, ends) for ends in counts]
    kinds["deep texts"] = [draw_deep_task(draw, ends) for ends in DEEP_EOS_IDS]
    return kinds


def judge_kinds(answer: Any, kinds: dict[str, list[EngineTask]], seed: int) -> Verdict:
    """The verdict over all kinds, each with its first failure."""
    found: dict[str, list[Found]] = {name: [] for name in (*kinds, *ASPECTS)}
    asked: set[str] = set()
    opened = 0
    for name, tasks in kinds.items():
        outcomes = examine_all(answer, tasks)
        for task, examined in zip(tasks, outcomes, strict=True):
            opened += examined.faults == [NO_MASK]
            asked.update(kind or name for kind in examined.asked)
            for fault in examined.faults:
                found[fault.kind or name].append((task, fault))
        if outcomes[-1] is UNASKED:  # the engine had to be stopped
            break
    count = sum(map(len, kinds.values()))
    if opened == count:
        return ALL_NONE
    facts = [(name, say_exam_row(faults, name in asked)) for name, faults in found.items()]
    wrong = [min(faults, key=_size_of) for faults in found.values() if faults]
    if not wrong:
        return Verdict("right", f"agrees with reading every token, on {count} random constraints", tuple(facts))
    called = getattr(answer, "__name__", "MyEngine")
    repeat = f"gv.checks.engine({called}, seed={seed})"
    facts.append(("take one out", write_code(*min(wrong, key=_size_of))))
    return Verdict("wrong", f"{len(wrong)} of {len(found)} kinds fail; the same again: {repeat}", tuple(facts))


def say_exam_row(faults: Collection[Found], asked: bool) -> str:
    """The fault after the shortest text, in words."""
    if not faults:
        return "✓" if asked else "not asked"
    task, first = min(faults, key=_size_of)
    said = [value for _, value in say_fault(task, first)]
    said[-1] = shorten(said[-1], SHOWN_CONSTRAINT)
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
    yield "yours", f"{say_where(text)}: {say_what(task, cut, fault)}"
    if fault.kind == FORCED:
        yield "because", f"may come: {expected_next(task.machine, cut.state)}"
    elif fault.gave in (TOO_LARGE, ENDLESS) and any(move[0] != "read" for move in task.table[0].values()):
        yield "because", "a table with calls has no end of states: build rows only if every move is a read"
    elif fault.gave == A_STATE and fault.token in task.eos:
        yield "because", "EOS ends the text, and no state follows"
    elif fault.gave == A_STATE or isinstance(fault.gave, bool):
        yield "because", say_why(task, cut, fault.token)
    yield "constraint", " ".join(task.constraint.split())


def say_where(text: bytes) -> str:
    """After which text."""
    if not text:
        return "at the start"
    before = "… " if len(text) > SHOWN_BYTES else ""
    return f"after {before}'{visible(text[-SHOWN_BYTES:])}'"


def say_why(task: EngineTask, cut: Cut, token: int) -> str:
    """Why a token is legal, by the stacks of the table, or why it is illegal."""
    if token in cut.legal - task.eos:
        before = push_text(*task.table, task.text(cut.tokens))
        after = push_text(*task.table, task.text((*cut.tokens, token)))
        return f"every byte passes: the stack {show(before)} becomes {show(after)}"
    vocabulary = Vocabulary(task.pieces, eos=task.eos)
    return explain_token(task.machine, vocabulary, cut.state, token).reason


def write_code(task: EngineTask, fault: Fault) -> str:
    """Two lines that build a task, and the tokens after which an engine is wrong in it."""
    tokens = list(task.cuts[fault.place].tokens)
    ids = show(set(task.eos)) if task.eos else "set()"
    first = f"moves, ends = gv.machines.pushdown_moves({task.code})"
    return f"{first}\npieces, eos, tokens = {list(task.pieces)!r}, {ids}, {tokens}"


def name_token(task: EngineTask, token: int) -> str:
    """A token by its id and its bytes.

    >>> from guidedviz.checks.drawn_tasks import with_pieces
    >>> task = with_pieces(("a", gv.regex("a"), ""), [b"a", b""], 1)
    >>> [name_token(task, token) for token in range(3)]
    ["token 0 'a'", 'token 1 (no bytes)', 'token 2 (EOS)']
    """
    if token in task.eos:
        return f"token {token} (EOS)"
    piece = task.pieces[token]
    return f"token {token} '{visible(piece)}'" if piece else f"token {token} (no bytes)"


def say_what(task: EngineTask, cut: Cut, fault: Fault) -> str:
    """What an engine gave, and what is right."""
    if isinstance(fault.gave, Failed):
        return fault.gave.said
    if fault.kind == FORCED:
        return f"forced gives {show(fault.gave)}, expected {show(cut.forced)}"
    named = name_token(task, fault.token)
    if fault.gave is None:
        return f"advance gives None for {named}, which is legal"
    if fault.gave == A_STATE and fault.token in task.eos:
        return f"{named} has no bytes, and advance gives a state and not None"
    if fault.gave == A_STATE:
        return f"{named} is illegal, and advance gives a state and not None"
    if fault.gave:
        return f"{named} is illegal, and yours allows it"
    return f"{named} is legal, and yours forbids it"
