"""Exercises on the stack of a pushdown automaton.

A case writes a stack as its nodes, the top last: "5 11". 4,000 nodes are more than the frames that Python and IPython
allow, so that recursion fails where a loop does not: "3*4000 1".
"""

from collections.abc import Collection
from functools import partial
from itertools import repeat
from typing import Any

from guidedviz.checks.cases import Case, cases_of, read_trials
from guidedviz.checks.function import check_function
from guidedviz.checks.grammars import kept_machine
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.pushdown.moves import Moves, move_stack, pushdown_moves
from guidedviz.machines.visible import name_node, visible
from guidedviz.views.stack.stack_film import StackFrame, draw_stack_frame

SHOWN_NODES = 6  # of a stack in a fact
ENDING_NODES = frozenset({2, 6})
AUTOMATA = {
    "letter": 'root ::= "x"',
    "nested": 'root ::= "(" root ")" | "x"',
    "brackets": 'root ::= "(" root ")" | "[" root "]" | ""',
    "chain": 'root ::= item ";"\nitem ::= "a" item?',
    "pairs": r"""root   ::= "{" string ": " value "}"
string ::= "\"" [a-z]+ "\""
value  ::= root | number
number ::= [0-9]+""",
}


def read_stack(text: str) -> list[int]:
    """The nodes of a stack.

    >>> read_stack("5 11"), read_stack("3*4 1")
    ([5, 11], [3, 3, 3, 3, 1])
    """
    stack: list[int] = []
    for part in text.split():
        node, _, times = part.partition("*")
        stack.extend(repeat(int(node), int(times or 1)))
    return stack


# a grammar, a stack, a byte
STACK_STEPS = read_trials("""
a read puts the node after the byte in place of the current one
    "letter", "0", "x"
a node without a move that is no end refuses the byte: None
    "letter", "0", "y"
    "pairs", "5 11", "}"
on an empty stack nothing can be read: None
    "letter", "1", "x"
    "letter", "", "x"
a call reads no byte: push the return node first, the start on top, then look at the new top
    "nested", "1", "("
    "pairs", "4", "1"
    "pairs", "4", "{"
an end without a move for the byte: pop it, and look at the node below
    "nested", "3 2", ")"
    "nested", "3 3 2", "x"
    "brackets", "3 5", "]"
one byte is read once: after a read the step is over
    "nested", "3 3 2", ")"
two rules end before the byte, so two nodes are popped
    "pairs", "5 12 14", "}"
    "pairs", "5 12 14", "x"
an end that has a move for the byte does not return: the move comes first
    "pairs", "5 12 14", "7"
4,000 levels deep a step does the same as on top: a loop pops them, recursion cannot
    "nested", "3*4000 1", "("
    "chain", "1 5*4000 4", ";"
""")
STACKS = read_trials(
    build=lambda text: (ENDING_NODES, None if text is None else read_stack(text)),
    text="""
every rule on the stack may end, so the text may
    "6"
    "2 6"
    "6*4000"
a node that is not in ends waits for a byte, wherever it stands
    "4"
    "5 6"
    "6 5 6"
    "5 6*4000"
on an empty stack no rule waits, so the text may end
    ""
None is the stack of a text that was refused
    None
""",
)


def check_stack_step(answer: Any) -> Verdict:
    """Does `answer(moves, ends, stack, byte)` give the stack after one more byte, or None?

    >>> check_stack_step(lambda moves, ends, stack, byte: [*stack[:-1], moves[stack[-1], byte][1]]).facts[:3]
    (('stack', 'n0'), ('byte', 'y'), ('its move', 'none, and n0 is no end'))
    """
    cases = []
    for why, rows in STACK_STEPS.items():
        for name, nodes, sign in rows:
            pda = kept_machine(AUTOMATA[name])
            moves, ends = pushdown_moves(pda)
            stack = read_stack(nodes)
            byte = ord(sign)
            given = [("stack", show_stack(stack)), ("byte", visible(sign.encode()))]
            if stack:
                given.append(("its move", _say_move(moves, ends, stack[-1], byte)))
            draw = partial(draw_stack_frame, StackFrame(pda, b"", tuple(stack)))
            expected = move_stack(moves, ends, stack, byte)
            cases.append(Case((moves, ends, stack, byte), expected, why, tuple(given), draw))
    return check_function(answer, cases, spell=show_stack)


def _say_move(moves: Moves, ends: Collection[int], node: int, byte: int) -> str:
    move = moves.get((node, byte))
    if move is not None:
        return str(move)
    article = "an" if node in ends else "no"
    return f"none, and {name_node(node)} is {article} end"


def check_may_end(answer: Any) -> Verdict:
    """Does `answer(ends, stack)` say whether the text may end on this stack?

    >>> print(check_may_end(lambda ends, stack: stack[-1] in ends).facts[-1][1])
    a node that is not in ends waits for a byte, wherever it stands
    """

    def reference(ends: Collection[int], stack: list[int] | None) -> bool:
        return stack is not None and ENDING_NODES.issuperset(stack)

    return check_function(answer, cases_of(reference, STACKS, "ends", "stack", spell=show_stack))


def show_stack(stack: Any) -> str:
    """The nodes, the top last; what is no stack as a value.

    >>> show_stack([5, 12, 14]), show_stack([3] * 10), show_stack(None)
    ('n5 n12 n14', '… 4 more … n3 n3 n3 n3 n3 n3', 'None')
    """
    if not isinstance(stack, list | tuple) or not all(type(node) is int for node in stack):
        return show(stack)
    names = " ".join(map(name_node, stack[-SHOWN_NODES:]))
    hidden = len(stack) - SHOWN_NODES
    if hidden > 0:
        return f"… {hidden:,} more … {names}"
    return names or "empty"
