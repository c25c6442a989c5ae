"""Exercises on the stack of a pushdown automaton."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.cases import Case, cases_of
from guidedviz.checks.function import check_function
from guidedviz.checks.grammars import kept_machine
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.pushdown.moves import Moves, move_stack, pushdown_moves
from guidedviz.machines.visible import name_node, visible
from guidedviz.views.stack.stack_film import StackFrame, draw_stack_frame

DEEP = 4_000  # more than the frames that Python and IPython allow
SHOWN = 6  # nodes of a stack in a fact
LETTER = 'root ::= "x"'
NESTED = 'root ::= "(" root ")" | "x"'
KINDS = 'root ::= "(" root ")" | "[" root "]" | ""'
CHAIN = 'root ::= item ";"\nitem ::= "a" item?'
PAIRS = r"""root   ::= "{" string ": " value "}"
string ::= "\"" [a-z]+ "\""
value  ::= root | number
number ::= [0-9]+"""
STEPS: dict[str, list[tuple[str, list[int], str]]] = {  # a grammar, a stack (the top last), a byte
    "a read puts the node after the byte in place of the current one": [(LETTER, [0], "x")],
    "a node without a move that is no end refuses the byte: None": [(LETTER, [0], "y"), (PAIRS, [5, 11], "}")],
    "on an empty stack nothing can be read: None": [(LETTER, [1], "x"), (LETTER, [], "x")],
    "a call reads no byte: push both nodes, then look at the new top": [
        (NESTED, [1], "("), (PAIRS, [4], "1"), (PAIRS, [4], "{"),
    ],
    "an end without a move for the byte: pop it, and look at the node below": [
        (NESTED, [3, 2], ")"), (NESTED, [3, 3, 2], "x"), (KINDS, [3, 5], "]"),
    ],
    "one byte is read once: after a read the step is over": [(NESTED, [3, 3, 2], ")")],
    "two rules end before the byte, so two nodes are popped": [(PAIRS, [5, 12, 14], "}"), (PAIRS, [5, 12, 14], "x")],
    "an end that has a move for the byte does not return: the move comes first": [(PAIRS, [5, 12, 14], "7")],
    f"{DEEP:,} levels deep a step does the same as on top: a loop pops them, recursion cannot": [
        (NESTED, [3] * DEEP + [1], "("), (CHAIN, [1, *[5] * DEEP, 4], ";"),
    ],
}  # fmt: skip
ENDS = frozenset({2, 6})
STACKS: dict[str, list[list[int] | None]] = {
    "every rule on the stack may end, so the text may": [[6], [2, 6], [6] * DEEP],
    "a node that is not in ends waits for a byte, wherever it stands": [[4], [5, 6], [6, 5, 6], [5, *[6] * DEEP]],
    "on an empty stack no rule waits, so the text may end": [[]],
    "None is the stack of a text that was refused": [None],
}


def check_stack_step(answer: Callable[[Moves, Collection[int], list[int], int], Sequence[int] | None]) -> Verdict:
    """Does `answer(moves, ends, stack, byte)` give the stack after one more byte, or None?

    >>> check_stack_step(lambda moves, ends, stack, byte: [*stack[:-1], moves[stack[-1], byte][1]]).facts[:3]
    (('stack', 'n0'), ('byte', 'y'), ('its move', 'none, and n0 is no end'))
    """
    cases = []
    for why, rows in STEPS.items():
        for text, stack, sign in rows:
            pda, byte = kept_machine(text), ord(sign)
            moves, ends = pushdown_moves(pda)
            given = [("stack", show_stack(stack)), ("byte", visible(sign.encode()))]
            if stack:
                is_end = f"none, and {name_node(stack[-1])} is {'an' if stack[-1] in ends else 'no'} end"
                given.append(("its move", str(moves.get((stack[-1], byte), is_end))))
            draw = partial(draw_stack_frame, StackFrame(pda, b"", tuple(stack)))
            expected = move_stack(moves, ends, stack, byte)
            cases.append(Case((moves, ends, stack, byte), expected, why, tuple(given), draw))
    return check_function(answer, cases, spell=show_stack)


def check_may_end(answer: Callable[[Collection[int], list[int] | None], bool]) -> Verdict:
    """Does `answer(ends, stack)` say whether the text may end on this stack?

    >>> print(check_may_end(lambda ends, stack: stack[-1] in ends).facts[-1][1])
    a node that is not in ends waits for a byte, wherever it stands
    """

    def reference(ends: Collection[int], stack: list[int] | None) -> bool:
        return stack is not None and ENDS.issuperset(stack)

    trials = {why: [(ENDS, stack) for stack in stacks] for why, stacks in STACKS.items()}
    return check_function(answer, cases_of(reference, trials, "ends", "stack", spell=show_stack))


def show_stack(stack: Any) -> str:
    """The nodes, the top last; what is no stack as a value.

    >>> show_stack([5, 12, 14]), show_stack([3] * 10), show_stack(None)
    ('n5 n12 n14', '… 4 more … n3 n3 n3 n3 n3 n3', 'None')
    """
    if not isinstance(stack, list | tuple) or not all(type(node) is int for node in stack):
        return show(stack)
    more = f"… {len(stack) - SHOWN:,} more … " * (len(stack) > SHOWN)
    return more + " ".join(map(name_node, stack[-SHOWN:])) or "empty"
