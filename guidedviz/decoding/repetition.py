"""Loops of tokens: whitespace, or a cycle that the end of a text repeats.

A loop may be the consequence of a refusal: the model wanted to go on, was not allowed to, and never found its way back.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile
from operator import eq

from guidedviz.decoding.cut_text import may_end_after
from guidedviz.decoding.looks import ENDS_BY_LIMIT, LOW_MASS, Finding, Placed, Run, refusal_at, refused_words
from guidedviz.machines.visible import visible

BLANKS_OF_LOOP = 8  # tokens of whitespace only, one after the other
TOKENS_OF_LOOP = 12  # tokens of a loop
CYCLES_SEEN = 4  # that its cycle is seen


def find_loop(run: Run) -> Iterator[Finding]:
    """The model wrote whitespace, or the same tokens, again and again."""
    blanks = longest_blank(run.steps)
    if len(blanks) >= BLANKS_OF_LOOP:
        seen = f"{len(blanks)} tokens of whitespace in a row, all legal"
        refused = next((one for one in blanks if one.step.mass < LOW_MASS), None)
        refusal = refusal_at(refused, run) if refused else None
        yield Finding("whitespace loop", blanks[0].place, (seen,), refusal)
        return
    found = find_cycle([one.step.token for one in run.steps])
    if found and run.end in ENDS_BY_LIMIT:
        yield say_repetition(run, *found)


def say_repetition(run: Run, size: int, count: int) -> Finding:
    """The last `count` tokens repeat a cycle; a refusal where it begins is its cause."""
    pieces = [one.step.piece for one in run.steps[-size:]]
    facts = [f'the last {count} tokens repeat "{visible(b"".join(pieces))}"']
    end = len(run.steps)
    if all(may_end_after(run, taken) for taken in range(end - count, end + 1)):
        facts.append("it might have ended before each of them")
    begin = run.steps[-count].place
    refused = refused_words(run)
    if not refused or not begin - 1 <= refused[0].place <= begin + size:
        return Finding("repetition loop", begin, tuple(facts))
    place = refused[0].place
    facts.append(f"it follows from step {place + 1}, where the model wanted something else")
    cure = f"first what is to try at step {place + 1}"
    return Finding("repetition loop", begin, tuple(facts), cure=cure, follows=True)


def longest_blank(steps: Sequence[Placed]) -> Sequence[Placed]:
    """The longest sequence of steps whose tokens are whitespace; the first of them."""
    runs = groupby(steps, lambda one: one.step.piece.strip() == b"")
    blanks = [list(run) for is_blank, run in runs if is_blank]
    return max(blanks, key=len, default=[])


def find_cycle(tokens: Sequence[int]) -> tuple[int, int] | None:
    """The length of the shortest cycle that the end of a text repeats, and how many tokens do so.

    >>> find_cycle([7, *[1, 2, 3] * 5]), find_cycle(list(range(30)))
    ((3, 15), None)
    """
    for size in range(1, len(tokens) // CYCLES_SEEN + 1):
        equal = map(eq, reversed(tokens), reversed(tokens[:-size]))
        count = size + sum(takewhile(bool, equal))
        if count >= max(CYCLES_SEEN * size, TOKENS_OF_LOOP):
            return size, count
    return None
