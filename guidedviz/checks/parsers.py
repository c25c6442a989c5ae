"""Exercises on parsers: the moves of a stack, and those of Earley's parser."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.machines import kept_machine
from guidedviz.checks.verdict import Case, Verdict, cases_of, check_function, say_difference, show
from guidedviz.machines.earley.items import Chart, Item, Rules, complete, predict, scan
from guidedviz.machines.pushdown.pda import Moves, move_stack, pushdown_moves
from guidedviz.machines.visible import name_node, visible
from guidedviz.views.figure import Figure
from guidedviz.views.stack.cards import StackFrame, draw_stack_frame
from guidedviz.views.stack.earley import draw_frame, earley_frames

# -- moves of a stack ----------------------------------------------------------------------------------------------

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


# -- moves of Earley's parser --------------------------------------------------------------------------------------

SUM = ("sum", "+", "digit")
DIGIT = Item("digit", ("1",), 0, 0)
SUMS: Rules = {"sum": [SUM, ("digit",)], "digit": [("0",), ("1",)]}
LIST: Rules = {"list": [(), ("list", "item")], "item": [("blank", "x")], "blank": [(), (" ",)]}
COLUMNS: tuple[tuple[Rules, list[Item], int], ...] = (  # rules, a column, and its place
    ({"digit": [("1",)]}, [Item("start", ("digit",), 0, 0)], 0),
    ({"digit": [("1",)]}, [DIGIT], 0),
    (SUMS, [Item("start", ("sum",), 0, 0)], 0),
    (SUMS, [Item("sum", SUM, 2, 0)], 2),
    (SUMS, [Item("sum", ("sum", "+", "sum"), 2, 0), Item("sum", ("sum", "+", "sum"), 2, 2)], 4),
    ({"a": [("b", "x"), ("y",)], "b": [("c", "y")], "c": [("a", "z")]}, [Item("a", ("b", "x"), 0, 0)], 0),
    (LIST, [Item("start", ("list",), 0, 0)], 0),
    (LIST, [Item("list", ("list", "item"), 1, 0), Item("item", ("blank", "x"), 2, 0)], 3),
)
READ: tuple[tuple[list[Item], str], ...] = (  # a column, and the character that is read
    ([DIGIT], "1"),
    ([DIGIT], "2"),
    ([Item("sum", SUM, 0, 0), Item("sum", SUM, 1, 0), Item("sum", SUM, 2, 0), Item("sum", SUM, 3, 0)], "+"),
    ([Item("sum", SUM, 1, 0), Item("sum", SUM, 1, 2), Item("root", ("sum",), 1, 0)], "+"),
    ([Item("pair", ("x", "x"), 0, 3), Item("pair", ("x", "x"), 1, 2), Item("pair", ("x", "X"), 1, 2)], "x"),
    ([Item("start", ("sum",), 0, 0), Item("word", ("s",), 0, 0)], "s"),  # a name of a rule has this letter, too
    ([Item("list", (), 0, 1), Item("item", ("blank", "x"), 0, 1), Item("blank", (" ",), 0, 1)], " "),
)
GRAMMARS: tuple[tuple[Rules, str], ...] = (  # rules, and a text
    ({"root": [("digit",)], "digit": [("1",)]}, "1"),
    ({"root": [("a", "b", "b")], "b": [("x",)]}, "axx"),
    ({"root": [("a", "root"), ("b",)]}, "aab"),
    ({"root": [("a", "x"), ("ab",)], "a": [("x",)], "ab": [("x", "x")]}, "xx"),
    ({"root": [("root", "+", "root"), ("1",)]}, "1+1+1"),
    ({"root": [("open",), ("half",), ("x",)], "open": [("(", "root", ")")], "half": [("(", "root", "]")]}, "((x])"),
)


def check_predict(answer: Callable[[Rules, list[Item], int], Iterable[Item]]) -> Verdict:
    """Does `answer(rules, column, place)` give the column with all items that may begin at its place?

    >>> check_predict(lambda rules, column, place: column)
    ✗ not yet right: on input 1 of 8, the first on which it fails
        column      start → • digit (from 0)
        place       0
        yours gave  start → • digit (from 0)
        expected    start → • digit (from 0); digit → • 1 (from 0)
        because     digit → • 1 (from 0) is missing: for each rule that some item waits for, its items begin here, once
    """
    why = "for each rule that some item waits for, its items begin here, once"
    cases = cases_of(predict, {why: COLUMNS}, "", "column", "place", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_scan(answer: Callable[[list[Item], str], Iterable[Item]]) -> Verdict:
    """Does `answer(column, character)` give the first items of the next column?

    >>> print(check_scan(lambda column, character: [item for item in column if item.wanted == character]).facts[-1][1])
    digit → 1 • (from 0) is missing: the dot of each item that wants exactly this character moves by one
    """
    why = "the dot of each item that wants exactly this character moves by one"
    cases = cases_of(scan, {why: READ}, "column", "read", spell=show_items)
    return check_function(answer, cases, _say_items, _same_items, show_items)


def check_complete(answer: Callable[[Chart, Item], Iterable[Item]]) -> Verdict:
    """Does `answer(chart, done)` give the items that waited for a finished one, with their dots moved?

    >>> check_complete(lambda chart, done: [item.moved for item in chart[-1] if item.wanted == done.rule])
    ✗ not yet right: on input 1 of 23, the first on which it fails
        text        1, column 1
        done        digit → 1 • (from 0)
        yours gave  nothing
        expected    root → digit • (from 0)
        because     root → digit • (from 0) is missing: in column 0 digit was awaited: move these dots by one
    """
    cases = []
    for rules, text in GRAMMARS:
        for chart, done in finished_items(rules, text):
            begun = text[: len(chart) - 1]
            given = (("text", f"{begun}, column {len(begun)}"), ("done", str(done)))
            why = f"in column {done.origin} {done.rule} was awaited: move these dots by one"
            draw = partial(_draw_chart, rules, begun)
            cases.append(Case(([*map(list, chart)], done), complete(chart, done), why, given, draw))
    return check_function(answer, cases, _say_items, _same_items, show_items)


def _draw_chart(rules: Rules, text: str) -> Figure:
    """The chart of a text as the film of Earley's algorithm shows it."""
    return draw_frame(earley_frames(rules, text)[-1])


def finished_items(rules: Rules, text: str) -> Iterator[tuple[Chart, Item]]:
    """Each finished item while a text is read, with the columns so far.

    >>> [done.rule for _, done in finished_items(*GRAMMARS[0])]
    ['digit', 'root']
    """
    chart: Chart = []
    column = [Item("start", ("root",), 0, 0)]
    for sign in [*text, ""]:
        chart.append(column)
        for item in column:
            if item.wanted is None and item.rule != "start":
                yield chart, item
                column += [new for new in complete(chart, item) if new not in column]
            column += [new for new in predict(rules, [item], len(chart) - 1) if new not in column]
        column = scan(column, sign)


def _same_items(value: Any, expected: Sequence[Item]) -> bool:
    return sorted(map(tuple, value)) == sorted(expected)


def _say_items(case: Case, value: Any) -> str:
    """What is wrong with a student's list of items."""
    items = [Item(*item) for item in value]
    wrong = say_difference(items, case.expected, str) or "an item comes twice"
    return f"{wrong}: {case.why}"


def show_items(items: Any) -> str:
    """Items as people write them; what is no list of items as a value.

    >>> show_items([DIGIT]), show_items(7)
    ('digit → • 1 (from 0)', '7')
    """
    try:
        return "; ".join(str(Item(*item)) for item in items) or "nothing"
    except (TypeError, IndexError, KeyError):
        return show(items)
