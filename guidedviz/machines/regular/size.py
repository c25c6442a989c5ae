"""The states that a tree adds to an NFA, counted before it is built, and the repeat that adds most."""

from collections.abc import Mapping

from guidedviz.errors import PatternError
from guidedviz.machines.regular.utf8 import shape_chars
from guidedviz.machines.syntax import Call, Chars, Concat, Either, Net, Repeat, Tick, Tree
from guidedviz.machines.work import blame_work, spend


def machine_too_large(seen: str, tree: Tree | None = None) -> PatternError:
    """The error for a machine that is too large."""
    blame = find_blame(tree) if tree else ""
    hint = f"a smaller repeat: {blame} costs most" if blame else f"a smaller pattern{blame_work()}"
    return PatternError("machine", seen=seen, expected="a machine that fits", hint=hint)


def count_states(tree: Tree, calls: Mapping[str, int] | None = None, copies: int | None = None) -> int:
    """The number of states that `build_nfa` adds for a tree; `calls` gives the states of each call.

    A repeat of more than `copies` states is counted later and adds one copy.

    >>> from guidedviz.machines.regular.nfa import build_nfa
    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> count_states(parse_regex("a{1000000}")), len(build_nfa(parse_regex("(ab|é){2,3}")))
    (999999, 10)
    """
    weights = _Weights(calls or {}, copies)
    states = weights.of(tree)
    spend(2 * len(weights.known))
    return states


def find_blame(tree: Tree) -> str:
    """The counted repeat with the most states, as text; "" if there is none.

    >>> from guidedviz.machines.regular.regex import parse_regex
    >>> find_blame(parse_regex("a{3}b{1,200}"))
    '{1,200}'
    """
    weights = _Weights({}, None)
    weights.of(tree)
    if not weights.counted:
        return ""
    _, worst = max(weights.counted, key=lambda found: found[0])
    return str(worst) if worst.position is None else f"{worst} at position {worst.position}"


class _Weights:
    """The states that trees add, and the counted repeats with their states.

    The weight of a shared part is kept, so 2**60 copies take the same time as one.
    """

    def __init__(self, calls: Mapping[str, int], copies: int | None) -> None:
        self.calls = calls
        self.copies = copies
        self.known: dict[int, int] = {}
        self.counted: list[tuple[int, Repeat]] = []

    def of(self, tree: Tree) -> int:
        if id(tree) not in self.known:
            match tree:
                case Chars():
                    states = shape_chars(tree.ranges)[0]
                case Concat(parts):
                    states = sum(map(self.of, parts)) + max(0, len(parts) - 1)
                case Either(options):
                    states = sum(map(self.of, options))
                case Net(places, edges):
                    spend(len(edges))
                    states = sum(self.of(part) for _, part, _ in edges) + places
                case Repeat():
                    states = self.of_repeat(tree)
                case Call(name):
                    states = self.calls.get(name, 0)
                case Tick():
                    states = 0
            self.known[id(tree)] = states
        return self.known[id(tree)]

    def of_repeat(self, repeat: Repeat) -> int:
        each = self.of(repeat.part)
        low = repeat.low
        high = repeat.high
        copies = max(low, 1) if high is None else high
        joints = low + 1 if high is None else max(0, high - 1)
        states = copies * each + joints
        if (high or low) > 1:
            self.counted.append((states, repeat))
            if self.copies is not None and states > self.copies:
                return each + 1
        return states
