"""Special tokens in machines: a name that no text can spell.

For a machine the special token `<think>` is the byte FF, its text, and the byte FE. Neither byte occurs in UTF-8, so a
machine over text never reads a name, and a text that spells `<think>` is never the token. Machines read names byte by
byte like everything else; `tokens/vocabulary.py` gives each special id its name.

    gv.tagged(begin=gv.special("<think>"), end=gv.special("</think>"))
    gv.grammar('root ::= <think> (!</think>)* </think> [0-9]+')
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import PatternError, check_length, expect, quoted
from guidedviz.machines.machine import Edges, Machine, next_bytes
from guidedviz.machines.names import SOME_NAME, has_surrogate
from guidedviz.machines.ranges import NAME_BEGINS, NAME_ENDS
from guidedviz.machines.regular.algebra import code_machine, code_net, difference
from guidedviz.machines.syntax import ANY_CHARACTER, Chars, Repeat, Tree, concat, either, literal

BEGINS = Chars(((NAME_BEGINS, NAME_BEGINS),))
ENDS = Chars(((NAME_ENDS, NAME_ENDS),))
FEW_NAMES = 5  # in one sentence
FEW_LETTERS = 16  # of neighbouring bytes: more are a class
LISTED_LETTERS = 100_000  # of all names that are listed
SHOWN_LETTERS = 1_000  # of all names that may come next
NAME_CHARACTERS = 65_536  # of one special token


@dataclass(frozen=True)
class Special:
    """The special token with this text, where a string would be the text itself."""

    name: str

    def __post_init__(self) -> None:
        expect(self.name, str, "special", "the text of a special token")
        if not self.name or has_surrogate(self.name):
            raise PatternError("special", seen=quoted(self.name), expected="a text of at least one character")
        check_length("special", self.name, NAME_CHARACTERS)

    def __str__(self) -> str:
        return self.name


def special(name: str) -> Special:
    r"""A special token by its text, as a begin or an end of `gv.tagged`; a string there is text.

    >>> call = gv.tagged(begin=gv.special("[TOOL_CALLS]"), machine=gv.regex("[0-9]+"), end=gv.special("</s>"))
    >>> call.accepts(b"\xff[TOOL_CALLS]\xfe12\xff</s>\xfe"), call.accepts_prefix(b"[TOOL_CALLS]x")
    (True, True)
    """
    return Special(name)


def named(name: str) -> Tree:
    """The special token with this text."""
    return concat(BEGINS, literal(name), ENDS)


def spell(text: str | Special) -> Tree:
    """A text, or a special token, as a tree."""
    return named(text.name) if isinstance(text, Special) else literal(text)


ANY_NAME = concat(BEGINS, Repeat(ANY_CHARACTER, 1, None), ENDS)


def other_names(names: Iterable[str]) -> Tree:
    """Any special token but these."""
    return code_net(difference(code_machine(ANY_NAME), code_machine(either(*map(named, names)))))


NamesOf = Callable[[int, int], Iterable[str]]  # the texts of the special ids from one to another


def no_names(first: int, last: int) -> Iterable[str]:
    """Where there is no vocabulary, ids have no names."""
    raise PatternError("ids", seen="no vocabulary", expected="the one that has these ids", hint="vocabulary=")


def read_special(text: str, names_of: NamesOf = no_names) -> Tree:
    """`<think>` by its text, `<[128010]>` or `<[5-9,12]>` by ids; `!` before it: one character, or any other token."""
    inside = text.removeprefix("!")
    names = [inside]
    if inside.startswith("<["):
        names = []
        for pair in inside[2:-2].split(","):
            first, _, last = pair.partition("-")
            names += names_of(int(first), int(last or first))
    if text.startswith("!"):
        return either(ANY_CHARACTER, other_names(names))
    return either(*map(named, names))


def next_names(machine: Machine[Any], state: Any) -> list[str]:
    """The special tokens that may come next, if they are few; else that one may come.

    >>> think = gv.tagged(begin=special("<think>"), end=special("</think>"))
    >>> next_names(think, think.initial), next_names(gv.json(), gv.json().initial)
    (['<think>'], [])
    """
    begun = machine.step(state, 0xFF)
    if begun is None:
        return []
    names: list[str] = []
    waiting = [(b"", begun)]
    for text, after in waiting:  # it grows
        choices = next_bytes(machine, after)
        if len(choices) > FEW_NAMES or len(waiting) > SHOWN_LETTERS:
            return [SOME_NAME]
        for byte in choices:
            if byte == 0xFE:
                names.append(text.decode())
            else:
                waiting.append((text + bytes([byte]), machine.step(after, byte)))
    if len(names) <= FEW_NAMES:
        return names
    return [*names[:FEW_NAMES], "…"]


def names_in(machine: Machine[Any]) -> set[str]:
    """The special tokens that a machine names one by one; classes such as `!<think>` are left out.

    >>> sorted(names_in(gv.grammar("root ::= <a> | <b> !<c>")))
    ['<a>', '<b>']
    """
    edges = machine.byte_rows
    begins = {target for row in edges for low, high, target in row if low <= 0xFF <= high}
    return {name.decode() for start in begins for name in _listed_names(edges, start)}


def _listed_names(edges: Sequence[Edges], start: int) -> list[bytes]:
    """The names whose letters begin at a state; [] if these are too many to list."""
    names = []
    waiting = [(b"", start)]
    for text, state in waiting:  # it grows
        for low, high, target in edges[state]:
            if high - low > FEW_LETTERS or len(waiting) > LISTED_LETTERS:
                return []
            if high == 0xFE:
                names.append(text)
            else:
                letters = [bytes([byte]) for byte in range(low, high + 1)]
                waiting.extend((text + letter, target) for letter in letters)
    return names
