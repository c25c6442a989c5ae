"""Stacks whose cells count the parts of repeats: what changes when a grammar has rules that are counted.

A cell of a counted rule holds how many of its parts were read before. When a part ends, the call may begin once more
with a higher count, or end. Cells of one call with different counts are merged into one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guidedviz.machines.graph import grouped
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import NO_PARTS, NONE_LEFT, Counts, count_tick, join_counts
from guidedviz.machines.pushdown.stack import Cell, Configuration, Stacks


@dataclass
class Counting:
    """Counts in cells. Those that behave alike while `longest` bytes are read become one.

    A part of a repeat has at least one byte: `count_repeats` counts no others.
    """

    nodes: RuleNodes
    longest: int | None  # None: all counts are kept apart

    def merge_alike(self, counts: Counts, rule: int) -> Counts:
        """The counts of a rule as far as they matter; None if it is not counted."""
        limit = self.nodes.counts[rule]
        if limit is None:
            return None
        if self.longest is None:
            return counts
        return limit.merge_alike(counts, self.longest)

    def first_counts(self) -> tuple[Counts, ...]:
        """The counts with which each rule is called."""
        return tuple(self.merge_alike(NO_PARTS, rule) for rule in range(len(self.nodes.names)))

    def after_end(self, stacks: Stacks, cell: Cell) -> Iterator[Configuration]:
        """Where a text may go on at the end of the rule of a cell: in the next repeat, or below."""
        limit = self.nodes.counts[cell.rule]
        may_end = True
        if limit is not None:
            again, may_end = limit.after_part(cell.counts)
            if again != NONE_LEFT:
                next_part = stacks.recount(cell, self.merge_alike(again, cell.rule))
                yield self.nodes.starts[cell.rule], next_part
        if may_end:
            yield from stacks.below(cell)

    def pass_ticks(self, stacks: Stacks, arrived: Iterable[Configuration]) -> Iterator[Configuration]:
        """The configurations that a counted length allows, each with its count."""
        for node, cell in arrived:
            tick = self.nodes.ticks[node]
            if tick is None:
                yield node, cell
                continue
            highest, target = tick
            counts = count_tick(cell.counts, highest)
            if counts == NONE_LEFT:
                continue
            if target == node:  # a check: the character is counted at its end
                yield node, cell
            else:
                yield target, stacks.recount(cell, counts)

    def join(self, stacks: Stacks, cells: Iterable[Cell]) -> list[Cell]:
        """The same stacks with one cell for all counts of a call."""
        calls = grouped(((cell.node, cell.rule, cell.below), cell) for cell in cells)
        return [stacks.recount(same[0], join_counts(cell.counts for cell in same)) for same in calls.values()]
