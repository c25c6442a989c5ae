"""What an engine does wrong in a task: at each place its mask, its steps, its forced bytes, and its states as values.

It runs under guard, task by task, and gives what it was asked and its faults as built-in values. A state is asked
again after all others, and two ways to it must be equal, because a state is a value.
"""

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from guidedviz.checks.drawn_tasks import Cut, EngineTask
from guidedviz.checks.function import is_open
from guidedviz.checks.guard import ENDLESS, GONE, WAITS, run
from guidedviz.checks.values import Failed, attempt
from guidedviz.errors import GuidedVizError
from guidedviz.tokens.own_engine import OwnEngine, mask_of

STATES = "states as values"
ENDING = "the end"
DEAD = "dead ends"
FORCED = "forced bytes"
ASPECTS = (STATES, ENDING, DEAD, FORCED)
ILLEGAL_ASKED = 4  # illegal tokens per place
STOPPED = (ENDLESS, WAITS, GONE)
A_STATE = "a state"  # what an engine gave, where it must give None
States = dict[tuple[int, ...], Any]  # of an engine, by the tokens that lead there


class Fault(NamedTuple):
    """What an engine did wrong at a place: a token, or -1, and what it gave."""

    kind: str  # an aspect, or "" for the kind of the task
    place: int  # of the task's cuts
    token: int
    gave: Any


class Examined(NamedTuple):
    """What an engine did wrong in a task, and the aspects of which it was asked, with "" for its masks."""

    faults: Sequence[Fault]
    asked: Collection[str]


UNASKED = Examined((), ())
NONE_GIVEN = Failed("mask gives None and not a set of ids: is a `return` missing?")
NO_MASK = Fault("", 0, -1, NONE_GIVEN)
ENDLESS_JUMP = Fault(FORCED, 0, -1, Failed("forced does not end or takes too long: stop where the text may end"))


def examine_all(answer: Any, tasks: Sequence[EngineTask], jumps: bool = True) -> list[Examined]:
    """The faults of an engine in each task; after it had to be stopped, the next tasks are not asked.

    Its forced bytes are asked with `jumps`.
    """
    for task in tasks:
        _ = task.cuts, task.table  # computed once, here
    inputs = [(number,) for number in range(len(tasks))]
    outcomes = run(lambda number: examine(answer, tasks[number], jumps), inputs)
    found = [read_examined(outcome.value) for outcome in outcomes]
    if jumps and found and _was_stopped(found[-1]):
        last = tasks[len(found) - 1]
        without = examine_all(answer, [last], jumps=False)[0]
        if not _was_stopped(without):
            found[-1] = Examined([*without.faults, ENDLESS_JUMP], {*without.asked, FORCED})
    while len(found) < len(tasks):
        found.append(UNASKED)
    return found


def _was_stopped(examined: Examined) -> bool:
    return not examined.asked and any(fault.gave in STOPPED for fault in examined.faults)


def read_examined(value: Any) -> Examined:
    """The faults of a task, and what was asked, as the guard sends them."""
    if isinstance(value, Failed):
        return Examined([Fault("", 0, -1, value)], ())
    faults, asked = value
    return Examined([Fault(*row) for row in faults], asked)


def examine(answer: Any, task: EngineTask, jumps: bool) -> Examined:
    """The faults of an engine in one task, and what it was asked; a call that raises is a fault, too."""
    made = attempt_raw(answer, *task.table, list(task.pieces), set(task.eos))
    initial = made if isinstance(made, Failed) else attempt_raw(lambda: made.initial)
    if isinstance(initial, Failed):
        return Examined([Fault("", 0, -1, initial)], ())
    if is_open(attempt(lambda: made.mask(initial), ())):
        return Examined([NO_MASK], ())
    asked: set[str] = set()
    return Examined([*examine_places(made, task, {(): initial}, jumps, asked)], asked)


def examine_places(
    engine: OwnEngine, task: EngineTask, states: States, jumps: bool, asked: set[str]
) -> Iterator[Fault]:
    """The faults at all places; where nothing is wrong, the state is asked again after all others."""
    right = []
    for place, cut in enumerate(task.cuts):
        if cut.tokens not in states:
            before = states.get(cut.tokens[:-1])
            if before is None or isinstance(before, Failed):
                continue  # the step before it failed
            states[cut.tokens] = step_engine(engine, before, cut.tokens[-1])
        state = states[cut.tokens]
        faults = [*examine_place(engine, task, place, state)]
        if state is not None and not isinstance(state, Failed):
            asked.update(asked_at(task, cut, jumps))
            if jumps:
                faults += forced_faults(engine, task, place, state)
        yield from faults
        if not faults:
            asked.add(STATES)
            right.append(place)
    for place in right:
        yield from value_faults(engine, task, place, states)


def asked_at(task: EngineTask, cut: Cut, jumps: bool) -> Iterator[str]:
    """What an engine is asked at a place that it reaches."""
    yield ""
    if task.eos:
        yield ENDING
    if asked_illegal(task, cut):
        yield DEAD
    if jumps:
        yield FORCED


def examine_place(engine: OwnEngine, task: EngineTask, place: int, state: Any) -> Iterator[Fault]:
    """The faults at one place."""
    cut = task.cuts[place]
    if state is None or isinstance(state, Failed):
        yield Fault("", place, cut.tokens[-1], state)
        return
    mask = attempt(lambda: engine.mask(state), ())
    yield from mask_faults(mask, task, place)
    for token in (*asked_illegal(task, cut), *task.eos):
        after = step_engine(engine, state, token)
        if after is not None:
            kind = ENDING if token in task.eos else DEAD
            gave = after if isinstance(after, Failed) else A_STATE
            yield Fault(kind, place, token, gave)


def forced_faults(engine: OwnEngine, task: EngineTask, place: int, state: Any) -> Iterator[Fault]:
    """The fault of the forced bytes at a place."""
    gave = attempt(lambda: engine.forced(state), ())
    if gave != task.cuts[place].forced:
        yield Fault(FORCED, place, -1, gave)


def asked_illegal(task: EngineTask, cut: Cut) -> list[int]:
    """Some illegal tokens of a place."""
    illegal = [token for token in range(len(task.pieces)) if token not in cut.legal | task.eos]
    return illegal[:: max(1, len(illegal) // ILLEGAL_ASKED)]


def mask_faults(gave: Any, task: EngineTask, place: int) -> Iterator[Fault]:
    """The first wrong id of a mask, and the first wrong EOS id."""
    if isinstance(gave, Failed) or gave is None:
        yield Fault("", place, -1, gave or NONE_GIVEN)
        return
    try:
        mask = mask_of(gave, len(task.pieces))
    except GuidedVizError as error:
        yield Fault("", place, -1, Failed(str(error)))
        return
    legal = task.cuts[place].legal
    wrong = {token for token, allowed in enumerate(mask.tolist()) if allowed != (token in legal)}
    of_text = "" if legal else DEAD
    at_end = wrong & task.eos
    for kind, tokens in ((ENDING, at_end), (of_text, wrong - at_end)):
        if tokens:
            token = min(tokens, key=lambda one: (len(task.pieces[one]), one))
            yield Fault(kind, place, token, bool(mask[token]))


def value_faults(engine: OwnEngine, task: EngineTask, place: int, states: States) -> Iterator[Fault]:
    """The fault of a state that is no value; at this place the engine was right before."""
    said = attempt(say_no_value, (engine, task, place, states))
    if said:
        if not isinstance(said, Failed):
            said = Failed(said)
        yield Fault(STATES, place, -1, said)


def say_no_value(engine: OwnEngine, task: EngineTask, place: int, states: States) -> str:
    """Why a state is no value; empty if it is one."""
    cut = task.cuts[place]
    state = states[cut.tokens]
    if not isinstance(state, Hashable):
        return "the state cannot be hashed: a tuple can, a list cannot"
    hash(state)
    again = state
    if cut.tokens:
        *before, last = cut.tokens
        again = engine.advance(states[tuple(before)], last)
    equal = again == state
    if not equal:
        return "the same step, made twice from one state, gives two states that are not equal"
    mask = attempt(lambda: engine.mask(state), ())
    if any(mask_faults(mask, task, place)):
        return "right at first, and wrong when asked again after other steps: a call must not change anything"
    return ""


def step_engine(engine: OwnEngine, state: Any, token: int) -> Any:
    """The state after a token, or how the step failed."""
    return attempt_raw(lambda: engine.advance(state, token))


def attempt_raw(function: Any, *arguments: Any) -> Any:
    """What a function of the student gives, as it is, or how it failed."""
    kept: list[Any] = []
    failed = attempt(lambda: kept.append(function(*arguments)), ())
    return failed if isinstance(failed, Failed) else kept[0]
