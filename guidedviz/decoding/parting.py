"""Where two runs part: the first token that one has in another way than the other.

Tokens are compared by their bytes, so the runs may be those of two models.
"""

from collections.abc import Sequence

from guidedviz.decoding.trace import Step
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.vocabulary import shared_length


def parting_of(one: Sequence[Step], other: Sequence[Step]) -> int:
    """The number of first tokens that two runs have in common."""
    mine = [(step.how == "none", step.piece) for step in one]
    theirs = [(step.how == "none", step.piece) for step in other]
    return shared_length(mine, theirs)


def say_parting(one: Sequence[Step], other: Sequence[Step], names: tuple[str, str] = ("run 1", "run 2")) -> str:
    """The same in a sentence, with the token of each run there."""
    place = parting_of(one, other)
    if place == len(one) == len(other):
        return f"Both runs have the same {counted(place, 'token')}."
    goes_on = [f"{name} {_say_next(run, place)}" for name, run in zip(names, (one, other), strict=True)]
    return f"They part after {counted(place, 'token')}: {', '.join(goes_on)}."


def _say_next(run: Sequence[Step], place: int) -> str:
    if place >= len(run) or run[place].how == "none":
        return "ends"
    return f'goes on with "{visible(run[place].piece)}"'
