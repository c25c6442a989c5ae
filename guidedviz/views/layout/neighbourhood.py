"""What is drawn of a large machine or grammar: the states, or the rules, nearest to the current one."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from guidedviz.views.layout.sketch import DrawnRule, Sketch

MOST_DRAWN_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR_STATES = 40  # states in that neighbourhood
MOST_DRAWN_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
NEAR_NODES = 70  # in that neighbourhood
LEAST_NODES = 6  # a smaller rule counts as so many


def choose_states(sketch: Sketch, among: Collection[int], start: int) -> Set[int]:
    """All unfolded states or, if there are many, those nearest to one."""
    inside = frozenset(among)
    states = inside - sketch.folded
    arrows = [arrow for arrow in sketch.arrows if arrow.source in inside]
    if len(states) <= MOST_DRAWN_STATES and len(arrows) <= MOST_ARROWS:
        return states
    ahead = defaultdict(list)
    behind = defaultdict(list)
    for arrow in arrows:
        ahead[arrow.source].append(arrow.target)
        behind[arrow.target].append(arrow.source)
    most_behind = NEAR_STATES // 3
    most_ahead = NEAR_STATES * 2 // 3
    return {*nearest_first(start, ahead, most_ahead), *nearest_first(start, behind, most_behind)}


def choose_rules(sketch: Sketch, node: int) -> Sequence[DrawnRule]:
    """All rules or, for a large grammar, those nearest by calls to the rule of a node, in the grammar's order."""
    size: dict[int, int] = {}
    rule_of: dict[int, int] = {}
    number: dict[str, int] = {}
    for rule, (name, nodes) in enumerate(sketch.rules):
        size[rule] = max(LEAST_NODES, len({*nodes} - sketch.folded))
        rule_of |= dict.fromkeys(nodes, rule)
        number[name] = rule
    if sum(size.values()) <= MOST_DRAWN_NODES:
        return sketch.rules
    near = defaultdict(list)
    for arrow in sketch.arrows:
        if arrow.call:
            caller = rule_of[arrow.source]
            called = number[arrow.call]
            near[caller].append(called)
            near[called].append(caller)
    rules = nearest_first(rule_of.get(node, 0), near, NEAR_NODES, size)
    return [sketch.rules[rule] for rule in sorted(rules)]


def nearest_first(
    start: int, near: Mapping[int, Iterable[int]], most: int, size: Mapping[int, int] | None = None
) -> list[int]:
    """The states or rules nearest to one, as many as fit; each counts 1 unless it has a size.

    >>> nearest_first(5, {5: [6, 7], 6: [8]}, most=3)
    [5, 6, 7]
    """
    sizes = size or {}
    room = most - sizes.get(start, 1)
    found = [start]
    for one in found:
        for other in near.get(one, ()):
            needed = sizes.get(other, 1)
            if other not in found and needed <= room:
                room -= needed
                found.append(other)
    return found
