"""What is drawn of a large machine or grammar: the states, or the rules, nearest to the current one."""

from collections.abc import Collection, Iterable, Mapping

from guidedviz.machines.work import grouped
from guidedviz.views.layout.sketch import Sketch, by_state

MOST_STATES = 300  # of a larger machine the neighbourhood of one state is drawn
MOST_ARROWS = 1200
NEAR = 40  # states in that neighbourhood
MOST_NODES = 150  # of a larger grammar the neighbourhood of one rule is drawn
NEAR_NODES = 70  # in that neighbourhood
LEAST_NODES = 6  # a smaller rule counts as so many


def choose_states(sketch: Sketch, among: Collection[int], start: int) -> Collection[int]:
    """All unfolded states or, if there are many, those nearest to one."""
    states, inside = [state for state in among if state not in sketch.folded], frozenset(among)
    arrows = [arrow for arrow in sketch.arrows if arrow.source in inside]
    if len(states) <= MOST_STATES and len(arrows) <= MOST_ARROWS:
        return states
    into, out = by_state(arrows)
    ahead = {state: [arrow.target for arrow in found] for state, found in out.items()}
    behind = {state: [arrow.source for arrow in found] for state, found in into.items()}
    return nearest(start, ahead, NEAR * 2 // 3, {}) | nearest(start, behind, NEAR // 3, {})


def choose_rules(sketch: Sketch, at: int) -> list[tuple[str, tuple[int, ...]]]:
    """All rules or, for a large grammar, those nearest by calls to the rule of a node, in the grammar's order."""
    size = {n: max(LEAST_NODES, len({*nodes} - sketch.folded)) for n, (_, nodes) in enumerate(sketch.rules)}
    if sum(size.values()) <= MOST_NODES:
        return [*sketch.rules]
    rule_of = {node: rule for rule, (_, nodes) in enumerate(sketch.rules) for node in nodes}
    number = {name: rule for rule, (name, _) in enumerate(sketch.rules)}
    calls = [(rule_of[arrow.source], number[arrow.call]) for arrow in sketch.arrows if arrow.call]
    near = grouped(pair for caller, called in calls for pair in ((caller, called), (called, caller)))
    return [sketch.rules[rule] for rule in sorted(nearest(rule_of.get(at, 0), near, NEAR_NODES, size))]


def nearest(start: int, near: Mapping[int, Iterable[int]], most: int, size: Mapping[int, int]) -> dict[int, None]:
    """The states or rules nearest to one, as many as fit; `size` is 1 where it says nothing."""
    found, room = {start: None}, most - size.get(start, 1)
    for one in (queue := [start]):
        for other in near.get(one, ()):
            if other not in found and size.get(other, 1) <= room:
                found[other], room = None, room - size.get(other, 1)
                queue.append(other)
    return found
