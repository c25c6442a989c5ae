"""Stacks whose cells count the parts of repeats: what changes when a grammar has rules that are counted.

    root ::= "<" "ab"{2,5000} ">"       After "<aba" the cell of the counted rule has the counts ((1, 1),): one part was
                                        read before this one. At the "b" the part ends. The same call begins once more,
                                        with the counts ((2, 2),), or it ends and ">" is read.

Cells of one call with different counts are merged into one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from guidedviz.machines.graph import grouped
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.counting import ANY_COUNT, NO_PARTS, NONE_LEFT, Counts, count_tick, join_counts
from guidedviz.machines.pushdown.stack import Cell, Configuration, Stacks


@dataclass
class Counting:
    """Counts in cells. Those that behave alike while `longest` bytes are read become one.

    A part of a repeat has at least one byte: `count_repeats` counts no others.
    """

    nodes: RuleNodes
    longest: int | None  # None: all counts are kept apart

    def merge_alike(self, counts: Counts, rule: int) -> Counts:
        """Merge the counts of a rule that behave alike; those of a rule that is not counted all do."""
        limit = self.nodes.counts[rule]
        if limit is None:
            return ANY_COUNT
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
        """The configurations that a counted length allows; those that arrive before a tick have passed it."""
        for node, cell in arrived:
            tick = self.nodes.ticks.get(node)
            check = self.nodes.checks.get(node)
            if tick:
                counts = count_tick(cell.counts, tick.highest)
                if counts != NONE_LEFT:
                    yield tick.after, stacks.recount(cell, counts)
            elif check is None or count_tick(cell.counts, check) != NONE_LEFT:
                yield node, cell

    def join(self, stacks: Stacks, cells: Iterable[Cell]) -> list[Cell]:
        """The same stacks with one cell for all counts of a call."""
        calls = grouped(((cell.node, cell.rule, cell.below), cell) for cell in cells)
        return [stacks.recount(same[0], join_counts(cell.counts for cell in same)) for same in calls.values()]
