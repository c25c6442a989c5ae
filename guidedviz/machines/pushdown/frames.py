"""The stacks in words: which rules are open, where each stands, what it waits for.

    root ::= "(" root ")" | "x"         after "((" there are three frames of root: one stands at node 1 and waits for
                                        "(" or "x", two will go on at node 3 and wait for ")"

A cell is an open call. With the node where its caller stands, or will go on, it is a frame. A stack is listed from its
innermost frame down, along the first path; `list_branches` lists the frames of all stacks.
"""

from dataclasses import dataclass

from guidedviz.machines.pushdown.counting import Bounds
from guidedviz.machines.pushdown.stack import Cell, Stacks, State
from guidedviz.machines.visible import visible_bytes

MOST_SHOWN = 40  # frames of a stack
MOST_SHARED = 60  # frames of all stacks
MOST_BYTES = 12  # that are listed one by one
BLANKS = frozenset(b" \t\n\v\f\r")
ASCII = frozenset(range(128))
CONTROLS = frozenset([*range(32), 127])


@dataclass(frozen=True)
class Frame:
    """One open rule: the node where it stands (innermost) or will go on, and what may come there."""

    rule: str
    node: int
    waits: str
    number: int  # of the open call, the same at every step; 0 is the root's


@dataclass(frozen=True)
class SharedFrame:
    """A frame that several stacks may share, and the numbers of the frames that may lie below it; 0 is the bottom.

    A number is the same at every step. When there are very many frames, some numbers in `below` are not listed.
    """

    number: int
    rule: str
    node: int
    below: tuple[int, ...]


def list_branches(stacks: Stacks, state: State) -> tuple[SharedFrame, ...]:
    """The frames of all stacks, tops first; a frame that several stacks share is listed once."""
    found = dict.fromkeys((node, cell) for node, cells in state.tops for cell in cells)
    waiting = list(found)
    shared: list[SharedFrame] = []
    for node, cell in waiting:  # it grows
        if len(shared) == MOST_SHARED:
            break
        below = dict.fromkeys(stacks.list_below(cell))
        waiting += [configuration for configuration in below if configuration not in found]
        found.update(below)
        numbers = tuple(number_frame(stacks, *configuration) for configuration in below)
        shared.append(SharedFrame(number_frame(stacks, node, cell), stacks.nodes.name_of(node), node, numbers or (0,)))
    return tuple(shared)


def number_frame(stacks: Stacks, node: int, cell: Cell) -> int:
    """The number of a frame."""
    return 1 + cell.number * len(stacks.nodes) + node


def make_frame(stacks: Stacks, node: int, cell: Cell) -> Frame:
    """An open call at a node, in words."""
    nodes = stacks.nodes
    limit = nodes.counts[cell.rule]
    place = node
    if limit and not stacks.closure(node).reads:  # at the end of a part: the next one may begin
        place = nodes.starts[cell.rule]
    waits = say_waits(stacks, place, may_end(stacks, node, cell))
    if limit and cell.rule == nodes.rule_of[node]:
        waits += f" ({limit.describe(cell.counts)})"
    return Frame(nodes.name_of(node), node, waits, cell.number)


def may_end(stacks: Stacks, node: int, cell: Cell) -> bool:
    """Whether an open rule may end at its node: at the end of a part, or after enough parts of a counted repeat."""
    nodes = stacks.nodes
    limit = nodes.counts[cell.rule]
    if not isinstance(limit, Bounds):
        return node in nodes.ends
    if node == nodes.starts[cell.rule]:
        return limit.may_stop(cell.counts)
    _, enough = limit.after_part(cell.counts)
    return enough and node in nodes.ends


def say_waits(stacks: Stacks, node: int, may_end_here: bool | None = None) -> str:
    """What may come at a node, in words; optional whitespace is not named. None: the node says whether it may end.

    >>> pairs = gv.grammar('root ::= [0-9] [ \\t]* ("," | ";") root?')
    >>> [say_waits(pairs.stacks, node) for node in range(3)]
    ['0-9', ', or ;', '0-9 or its end']
    >>> say_waits(gv.grammar(r'root ::= [^"\\x00-\\x1F]*').stacks, 0)
    'any character but " controls or its end'
    """
    parts = _say_bytes(frozenset(stacks.closure(node).reads))
    if may_end_here is None:
        may_end_here = node in stacks.nodes.ends
    if may_end_here:
        parts.append("its end")
    if len(parts) == 1:
        return parts[0]
    return " ".join(parts[:-1]) + " or " + parts[-1]


def _say_bytes(choices: frozenset[int]) -> list[str]:
    """These bytes as words; of most of ASCII it says what is missing."""
    if len(choices & ASCII) > len(ASCII) // 2:
        return [_say_many(choices)]
    if len(choices & BLANKS) > 1 and choices - BLANKS:  # a single blank is a character like others
        choices -= BLANKS
    if not choices:
        return []
    said = visible_bytes(choices, limit=MOST_BYTES)
    if said.endswith((" byte", " more")):
        return [said]
    return said.split()


def _say_many(choices: frozenset[int]) -> str:
    """Most of ASCII, described by what is missing."""
    said = "any character" if choices - ASCII else "any of ASCII"
    missing = ASCII - choices
    words = []
    if missing - CONTROLS:
        words.append(visible_bytes(missing - CONTROLS))
    if missing & CONTROLS:
        words.append("controls")
    if not words:
        return said
    return f"{said} but {' '.join(words)}"
