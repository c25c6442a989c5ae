"""The names of states for people: the same in drawings, records, tables and explanations."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

MOST_NAMED = 3  # nodes in the name of one state


def name_state(number: int) -> str:
    """A state of a DFA; the page writes it in the same way in `shared/elements.js`.

    >>> name_state(3)
    'q3'
    """
    return f"q{number}"


def name_node(number: int) -> str:
    """A node of a grammar's rules, or a state of an NFA.

    >>> name_node(5)
    'n5'
    """
    return f"n{number}"


def name_nodes(nodes: Collection[int]) -> str:
    """A state of a pushdown machine, named by its current nodes; its stack is shown beside the name.

    >>> name_nodes([5]), name_nodes([5, 8]), name_nodes(range(7)), name_nodes([])
    ('n5', 'n5 n8', 'n0 n1 n2 …', 'end')
    """
    return " ".join(map(name_node, islice(nodes, MOST_NAMED))) + " …" * (len(nodes) > MOST_NAMED) or "end"
