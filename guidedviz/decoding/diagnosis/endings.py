"""How a run ended: with an empty mask, in a loop, ever deeper, or in the middle of its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from guidedviz.decoding.diagnosis.finding import Finding
from guidedviz.decoding.diagnosis.refusals import LOW, say_refused
from guidedviz.decoding.diagnosis.run import Run
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.machines.visible import visible
from guidedviz.tokens.explain import expected_next
from guidedviz.tokens.machine_guide import guide as make_guide

BLANKS = 8  # tokens of whitespace only, one after the other
REPEATED = 12  # tokens of a loop
TIMES = 4  # that its cycle is seen
DEEPER = 8  # open rules more than in the middle of the run


def find_empty_mask(run: Run) -> Iterator[Finding]:
    """No token was legal, and the text was not complete."""
    if run.end != "dead_end":
        return
    seen = f"after {run.tail()} no token is legal, in state {run.trace.steps[-1].state or 'unnamed'}"
    check = "which rule removed the last legal token: ask each rule alone for its mask of this state"
    cure = "change the rule that removed it"
    if run.machine and (state := read(run.machine, run.trace.output)) is not None:
        missing = _missing_bytes(run, state)
        if missing:
            seen = f"after {run.tail()} the machine expects {expected_next(run.machine, state)}, and no token begins "
            seen += "with it" if len(missing) == 1 else "with one of them"
            check = "the bytes that no token has: trace.guide.vocabulary.audit()"
            cure = "spell it in another way in the grammar, or take a vocabulary with a token for each byte"
        elif count := _legal_alone(run, state):
            seen += f"; the machine alone allows {count:,} {'token' if count == 1 else 'tokens'} there"
            check = "the other rules that change the mask, such as a least length or forbidden words"
            cure = "let the other rule give way where only its tokens are legal"
    yield Finding("empty mask", run.last, seen, check, cure)


def _missing_bytes(run: Run, state: Any) -> bytes:
    """What the machine expects, if no text token begins with any of it."""
    vocabulary = run.guide.vocabulary if run.guide else None
    firsts = {vocabulary.pieces[token][0] for token in vocabulary.text_ids} if vocabulary else set()
    expected = next_bytes(run.machine, state)
    return b"" if firsts.intersection(expected) else bytes(expected)


def _legal_alone(run: Run, state: Any) -> int:
    """How many tokens the machine alone allows."""
    assert run.guide is not None
    return int(make_guide(run.machine, run.guide.vocabulary, "trie").mask(state).sum())


def find_loop(run: Run) -> Iterator[Finding]:
    """The model wrote whitespace, or the same tokens, again and again."""
    blank = [list(group) for is_blank, group in groupby(run.steps, lambda one: not one.step.piece.strip()) if is_blank]
    longest = max(blank, key=len, default=[])
    if len(longest) >= BLANKS:
        refused = [one for one in longest if one.step.mass < LOW]
        seen = f"{len(longest)} tokens of whitespace in a row, all legal"
        seen += f"; at step {refused[0].place} {say_refused(refused[0], run)}" if refused else ""
        check = 'where the grammar repeats whitespace without a limit: [ \\n]*, whitespace="any"'
        yield Finding("whitespace loop", longest[0].place, seen, check, 'at most one blank: " "?, whitespace="space"')
        return
    tokens = [one.step.token for one in run.steps]
    if run.limited and (cycle := find_cycle(tokens)):
        said = visible(b"".join(one.step.piece for one in run.steps[-cycle:]))
        first = len(tokens) - _looped(tokens, cycle)
        seen = f'the last {len(tokens) - first} tokens repeat "{said}"'
        check, cure = "which rule repeats without a limit", "a limit in the grammar ({0,20}, maxItems), or sample at a "
        yield Finding("repetition loop", run.steps[first].place, seen, check, cure + "temperature above 0")


def find_cycle(tokens: Sequence[int]) -> int:
    """The length of the shortest cycle that the end of a text repeats; 0 if there is none.

    >>> find_cycle([7, *[1, 2, 3] * 5]), find_cycle(list(range(30)))
    (3, 0)
    """
    cycles = (
        size for size in range(1, len(tokens) // TIMES + 1) if _looped(tokens, size) >= max(TIMES * size, REPEATED)
    )
    return next(cycles, 0)


def _looped(tokens: Sequence[int], cycle: int) -> int:
    """How many tokens at the end equal the one a cycle before, and the first cycle."""
    count = 0
    while count + cycle < len(tokens) and tokens[-1 - count] == tokens[-1 - count - cycle]:
        count += 1
    return count + cycle


def find_nesting(run: Run) -> Iterator[Finding]:
    """Rules were opened and never closed until a limit ended the run."""
    depths = [len(one.step.stack) for one in run.steps]
    if not run.limited or len(depths) < 2:
        return
    half = len(depths) // 2
    if depths[-1] < depths[half] + DEEPER or min(depths[half:]) < depths[half]:
        return
    place, before = run.steps[half].place, depths[half]
    seen = f"of {before} rules open at step {place} none is closed, and {depths[-1]} are open at the end: {run.tail()}"
    check = "a rule that calls itself between two texts: gv.views.draw_depth(machine, text)"
    yield Finding("unbounded nesting", place, seen, check, "gv.within(guide, max_tokens), or a deepest level")


def find_cut(run: Run) -> Iterator[Finding]:
    """A limit ended the run in the middle of its text."""
    if not run.limited or run.guide is None or run.replay.refused:
        return
    state = run.replay.states[-1]
    if run.guide.is_accepting(state):
        return
    needed = bytes_to_end(run.machine, read(run.machine, run.trace.output)) if run.machine else None
    end = f"; its shortest end takes {needed} bytes more" if needed else ""
    limit = f"{len(run.steps)} tokens" if run.end == "max_tokens" else "the model's context"
    seen = f"{limit} ended the text at {run.tail()}, which is not complete{end}"
    check = "the length of the longest right answer, in tokens"
    yield Finding("cut in the middle", run.last, seen, check, "gv.within(guide, max_tokens), or more tokens")
