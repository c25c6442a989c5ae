"""The moves of a deterministic pushdown automaton: one stack, and at most one move per node and byte.

The table is the one of a predictive LL(1) parser (Lewis and Stearns, 1968). The stack is a list of nodes: the last is
the current node, below it lie the nodes where the callers go on.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from guidedviz.errors import SettingError
from guidedviz.machines.graph import reach
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import visible

Read = tuple[Literal["read"], int]  # the node after the byte
Called = tuple[Literal["call"], int, int]  # the first node of the rule, and the node where its caller goes on
Moves = Mapping[tuple[int, int], Read | Called]  # by node and byte


def pushdown_moves(pda: PDA | DFA) -> tuple[Moves, frozenset[int]]:
    """The move of each node on each byte, and the nodes where a rule may end. A finite machine never calls.

    >>> pushdown_moves(gv.regex("a|ba"))
    ({(0, 97): ('read', 1), (0, 98): ('read', 2), (2, 97): ('read', 1)}, frozenset({1}))

    >>> moves, ends = pushdown_moves(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> [(node, chr(byte), move) for (node, byte), move in moves.items() if node < 2]
    [(0, '(', ('read', 1)), (0, 'x', ('read', 2)), (1, '(', ('call', 0, 3)), (1, 'x', ('call', 0, 3))]
    >>> pushdown_moves(gv.grammar('root ::= "a" root "a" | [ab]?'))
    Traceback (most recent call last):
    guidedviz.errors.SettingError: pushdown_moves: saw two moves in root on a, expected one; try: ...
    """
    if isinstance(pda, DFA):
        return finite_moves(pda), pda.accepting
    nodes = pda.nodes
    if any(nodes.counts):
        raise SettingError("pushdown_moves", seen="a counted repeat", expected="none", hint="a shorter repeat")
    moves = {}

    def check_free(node: int, byte: int) -> None:
        if (node, byte) in moves:
            seen = f"two moves in {nodes.name_of(node)} on {visible(bytes([byte]))}"
            hint = "pda.step, which keeps all possible stacks"
            raise SettingError("pushdown_moves", seen=seen, expected="one", hint=hint)

    for node in range(len(nodes)):
        for byte, move in _moves_at(pda, node):
            check_free(node, byte)
            moves[node, byte] = move
    for node in nodes.ends:  # on these bytes the rule is left, so there must be no other move
        for byte in _bytes_after(pda, nodes.rule_of[node]):
            check_free(node, byte)
    return moves, nodes.ends


def finite_moves(machine: DFA) -> Moves:
    """The moves of a finite machine: each reads a byte."""
    moves: dict[tuple[int, int], Read | Called] = {}
    for state, edges in enumerate(machine.edges):
        for low, high, target in edges:
            for byte in range(low, high + 1):
                moves[state, byte] = ("read", target)
    return moves


def _moves_at(pda: PDA, node: int) -> Iterator[tuple[int, Read | Called]]:
    """What a node does on each byte that it can read itself or by a call."""
    nodes = pda.nodes
    for low, high, target in nodes.edges[node]:
        for byte in range(low, high + 1):
            yield byte, ("read", target)
    for rule, after in nodes.calls[node]:
        first = {*pda.stacks.closure(nodes.starts[rule]).reads}
        if rule in nodes.skipped:  # the rule is called and ends at once, without a byte
            first |= pda.stacks.closure(after).reads.keys()
        for byte in first:
            yield byte, ("call", nodes.starts[rule], after)


def _bytes_after(pda: PDA, rule: int) -> Iterator[int]:
    """The bytes that may come after a rule has ended."""
    nodes = pda.nodes
    calls = [(node, called, after) for node, row in enumerate(nodes.calls) for called, after in row]

    def callers(ended: int) -> Iterator[int]:
        """The rules that may end with this one."""
        return (nodes.rule_of[node] for node, called, after in calls if called == ended and after in nodes.ends)

    ending = reach([rule], callers)
    return (byte for _, called, after in calls if called in ending for byte in pda.stacks.closure(after).reads)


def move_stack(moves: Moves, ends: frozenset[int], stack: Sequence[int], byte: int) -> list[int] | None:
    """The stack after one more byte, or None if the text cannot go on with it.

    >>> moves, ends = pushdown_moves(gv.grammar('root ::= "(" root ")" | "x"'))
    >>> move_stack(moves, ends, [1], ord("(")), move_stack(moves, ends, [3, 2], ord(")"))
    ([3, 1], [2])
    """
    stack = list(stack)
    while stack:
        node = stack.pop()
        move = moves.get((node, byte))
        if move is None:
            if node not in ends:
                return None
        elif move[0] == "read":
            return [*stack, move[1]]
        else:
            _, start, after = move
            stack += [after, start]
    return None
