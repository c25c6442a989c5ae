"""One byte on the stack of a pushdown automaton, and whether the text may end there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from typing import Any

from guidedviz.checks.judge import Case, Mistake, check_function
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.names import name_node
from guidedviz.machines.pushdown.moves import Moves, move_stack, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.visible import visible
from guidedviz.views.stack.stack_film import StackFrame, draw_stack_frame

DEEP = 10_000
SHOWN = 6  # nodes of a stack in a fact
LETTER = 'root ::= "x"'
NESTED = 'root ::= "(" root ")" | "x"'
KINDS = 'root ::= "(" root ")" | "[" root "]" | ""'
CHAIN = 'root ::= item ";"\nitem ::= "a" item?'
PAIRS = r"""root   ::= "{" string ": " value "}"
string ::= "\"" [a-z]+ "\""
value  ::= root | number
number ::= [0-9]+"""
# a grammar, a stack, a byte, and what an answer that fails here has missed
STEPS: tuple[tuple[str, tuple[int, ...], str, str], ...] = (
    (LETTER, (0,), "x", "a read puts the node after the byte in place of the current one"),
    (LETTER, (0,), "y", "a node without a move that is no end refuses the byte: None"),
    (LETTER, (1,), "x", "after the last return the stack is empty, and nothing can be read: None"),
    (LETTER, (), "x", "on an empty stack nothing can be read: None"),
    (NESTED, (1,), "(", "a call reads no byte: push both nodes, then look at the new top"),
    (NESTED, (3, 2), ")", "an end without a move for the byte: pop it, and look at the node below"),
    (NESTED, (3, 3, 2), "x", "the node below the end cannot read this byte, and it is no end: None"),
    (NESTED, (3, 3, 2), ")", "one byte is read once: after a read the step is over"),
    (KINDS, (3, 5), "]", "the node below waits for the other bracket: None"),
    (PAIRS, (5, 11), "}", "n11 cannot read this byte, and it is no end, so nothing returns: None"),
    (PAIRS, (4,), "1", "two calls come before the byte, so two return nodes are pushed"),
    (PAIRS, (4,), "{", "two calls come before the byte, so two return nodes are pushed"),
    (PAIRS, (5, 12, 14), "}", "two rules end before the byte, so two nodes are popped"),
    (PAIRS, (5, 12, 14), "7", "an end that has a move for the byte does not return: the move comes first"),
    (PAIRS, (5, 12, 14), "x", "both rules end, and then n5 cannot read the byte: None"),
    (NESTED, (3,) * DEEP + (1,), "(", f"{DEEP:,} levels deep a step does the same as on top"),
    (CHAIN, (1, *(5,) * DEEP, 4), ";", f"{DEEP:,} rules end before the byte: a loop pops them, recursion cannot"),
)
ENDS = frozenset({2, 6})
TEXTS: tuple[tuple[list[int] | None, str], ...] = (
    ([6], "the current rule may end, and no other rule is on the stack"),
    ([5], "the current rule cannot end at this node"),
    ([5, 6], "n5 is below, and it still waits for a byte"),
    ([6, 5], "the current node is the last item, and it is no end"),
    ([2, 6], "each rule on the stack may end, so all can return"),
    ([6, 5, 6], "n5 is on the stack, and it still waits for a byte"),
    (None, "None is the stack of a text that was refused"),
    ([5, *[6] * DEEP], "n5 is at the bottom, and it still waits for a byte"),
    ([6] * DEEP, f"{DEEP:,} rules return, one after the other"),
)


def check_stack_step(answer: Callable[[Moves, Collection[int], list[int], int], Sequence[int] | None]) -> Verdict:
    """Does `answer(moves, ends, stack, byte)` give the stack after one more byte, or None?

    >>> check_stack_step(lambda moves, ends, stack, byte: [*stack[:-1], moves[stack[-1], byte][1]]).facts[:3]
    (('stack', 'n0'), ('byte', 'y'), ('its move', 'none, and n0 is no end'))
    """
    cases = []
    for text, stack, sign, why in STEPS:
        pda, (moves, ends) = _machine(text)
        byte = ord(sign)
        given = (("stack", _show_stack(stack)), ("byte", visible(sign.encode())), *_say_move(moves, ends, stack, byte))
        draw = partial(_draw, pda, stack)
        expected = move_stack(moves, ends, stack, byte)
        cases.append(Case((moves, ends, list(stack), byte), expected, why, given, draw))
    return check_function(answer, cases, _same, _explain)


def check_may_end(answer: Callable[[Collection[int], list[int] | None], bool]) -> Verdict:
    """Does `answer(ends, stack)` say whether the text may end on this stack?

    >>> print(check_may_end(lambda ends, stack: stack[-1] in ends).facts[-1][1])
    n5 is below, and it still waits for a byte
    """
    cases = [
        Case(
            (ENDS, stack),
            stack is not None and ENDS.issuperset(stack),
            why,
            (("ends", "n2 n6"), ("stack", "None" if stack is None else _show_stack(stack))),
        )
        for stack, why in TEXTS
    ]
    return check_function(answer, cases)


@cache
def _machine(text: str) -> tuple[PDA, tuple[Moves, frozenset[int]]]:
    pda = grammar(text)
    return pda, pushdown_moves(pda)


def _draw(pda: PDA, stack: Sequence[int]) -> Any:
    return draw_stack_frame(StackFrame(pda, b"", tuple(stack)))


def _show_stack(stack: Sequence[int]) -> str:
    """The nodes, the top last.

    >>> _show_stack([5, 12, 14]), _show_stack([3] * 10)
    ('n5 n12 n14', '… 4 more … n3 n3 n3 n3 n3 n3')
    """
    more = f"… {len(stack) - SHOWN:,} more … " * (len(stack) > SHOWN)
    return more + " ".join(map(name_node, stack[-SHOWN:])) or "empty"


def _say_move(moves: Moves, ends: Collection[int], stack: Sequence[int], byte: int) -> tuple[tuple[str, str], ...]:
    if not stack:
        return ()
    move, top = moves.get((stack[-1], byte)), stack[-1]
    said = str(move) if move else f"none, and {name_node(top)} is {'an' if top in ends else 'no'} end"
    return (("its move", said),)


def _same(value: Any, expected: list[int] | None) -> bool:
    return value is None if expected is None else _is_stack(value) and list(value) == expected


def _is_stack(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(type(node) is int for node in value)


def _explain(case: Case, value: Any) -> Mistake:
    expected = case.expected
    gave = (
        ("yours gave", _show_stack(value) if _is_stack(value) else show(value)),
        ("expected", "None" if expected is None else _show_stack(expected)),
    )
    if value is None or _same(value, expected):
        return Mistake(case.why, gave=gave)
    if not _is_stack(value):
        return Mistake("a list of nodes is expected, the top last, or None", gave=gave)
    if expected is not None and list(value) == expected[::-1]:
        return Mistake("the top is the last item of the list", gave=gave)
    return Mistake(case.why, gave=gave)
