"""Milestones of an engine of one's own: a trie, the rows of an index, a stack that is a value, a split, forced bytes.

The parts of an engine are functions over plain data, so a check compares data: it names the shortest path of a trie,
the first state of an index, or the smallest stack at which an answer differs. The stack of a node alone ends at an
unknown bottom: `push_byte` gives () where every known rule has returned and the byte is still to be read.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from guidedviz.checks.cases import Case, cases_of, read_table
from guidedviz.checks.compare import say_difference, say_kind
from guidedviz.checks.function import check_function
from guidedviz.checks.grammars import kept_machine
from guidedviz.checks.stacks import AUTOMATA, STACK_STEPS, read_stack, show_stack
from guidedviz.checks.verdict import Verdict, show
from guidedviz.checks.walks import index_rows
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import counted, name_node, name_state, visible

PlainTrie = list[
    tuple[dict[int, int], list[int]]
]  # of each node the children by their bytes, and the ids that end here
Stack = tuple[int, ...]
Step = Callable[[Any, int], Any]

# -- 1: a trie -----------------------------------------------------------------------------------------------------

PIECE_LISTS = [
    [],
    [b"a"],
    [b"a", b"b"],
    [b"ab"],
    [b"ab", b"a"],
    [b"ab", b"ac"],
    [b"a", b"a"],
    [b"", b"a"],
    [b"ab", b"b", b""],
    [b"\xc3\xa9", b"\xc3", b"\x00", b"\xa9"],
    [b'"', b'":', b'": ', b'",', b"a", b'a"', b'"'],
]


def check_trie(answer: Any) -> Verdict:
    """Does `answer(pieces)` give a list of nodes, each its children by their bytes and the ids that end there?

    >>> check_trie(lambda pieces: [({}, [])])
    ✗ not yet right: on input 2 of 11, the first on which it fails
        pieces      [b'a']
        yours gave  [({}, [])]
        expected    [({97: 1}, []), ({}, [0])]
        because     the node of a is missing
    """
    why = "one node for each beginning of a piece, the root first; an id without bytes ends nowhere"
    cases = cases_of(plain_trie, {why: [(pieces,) for pieces in PIECE_LISTS]}, "pieces")
    return check_function(answer, cases, _say_trie, _same_trie)


def plain_trie(pieces: Sequence[bytes]) -> PlainTrie:
    """The trie of some pieces as plain data.

    >>> plain_trie([b"a", b"ab", b""])
    [({97: 1}, []), ({98: 2}, [0]), ({}, [1])]
    """
    trie: PlainTrie = [({}, [])]
    for token, piece in enumerate(pieces):
        node = 0
        for byte in piece:
            children = trie[node][0]
            if byte not in children:
                children[byte] = len(trie)
                trie.append(({}, []))
            node = children[byte]
        if piece:
            trie[node][1].append(token)
    return trie


def read_trie(trie: Any) -> dict[bytes, list[int]]:
    """The ids at each path from the root, the shortest paths first."""
    found: dict[bytes, list[int]] = {}
    waiting = [(b"", 0)]
    for path, node in waiting:  # it grows
        children, ids = trie[node]
        found[path] = sorted(ids)
        if len(path) <= len(trie):
            waiting += [(path + bytes([byte]), child) for byte, child in children.items()]
    return found


def _same_trie(value: Any, expected: PlainTrie) -> bool:
    return len(value) == len(expected) and read_trie(value) == read_trie(expected)


def _say_trie(case: Case, value: Any) -> str:
    yours = read_trie(value)
    right = read_trie(case.expected)
    for path in sorted({*yours, *right}, key=lambda one: (len(one), one)):
        name = f"the node of {visible(path)}" if path else "the root"
        if path not in yours:
            return f"{name} is missing"
        if path not in right:
            return f"{name} is too many: no piece begins so"
        if yours[path] != right[path]:
            return f"{name} has the ids {yours[path]}, expected {right[path]}"
    return f"{counted(len(value), 'node')}, and only {len(right)} of them can be reached from the root"


# -- 2: the rows of an index ---------------------------------------------------------------------------------------

# a regex, the state at the start, and pieces
INDEX_ROWS = read_table(r"""
    "a", 0, [b"a"]
    "a", 0, [b"b"]
    "a", 0, [b"a", b"a"]
    "ab", 0, [b"ab"]
    "ab", 0, [b"a", b"b"]
    "ab", 1, [b"a", b"b"]
    "a*", 0, [b"a", b"aa"]
    "abc", 0, [b"a", b"bc", b"ab"]
    "(ab)*", 0, [b"ab", b"aba", b"b"]
    r"\d+(\.\d+)?", 2, [b"3", b"42", b".", b".5", b"3.", b"7.5"]
    "[0-9]{4}-[0-9]{2}", 0, [b"1", b"12", b"-", b"1-", b"-1", b"123"]
""")


def check_rows(answer: Any) -> Verdict:
    """Does `answer(trie, step, start)` give a row for each state that tokens lead to: legal token -> state after it?

    >>> check_rows(lambda trie, step, start: {start: {}})
    ✗ not yet right: on input 1 of 11, the first on which it fails
        regex       'a'
        start       0
        pieces      [b'a']
        yours gave  {0: {}}
        expected    {0: {0: 1}, 1: {}}
        because     the row of q1 is missing
    """
    cases = []
    for text, start, pieces in INDEX_ROWS:
        machine = regex(text)
        trie = plain_trie(pieces)
        given = (("regex", show(text)), ("start", show(start)), ("pieces", show(pieces)))
        expected = index_rows(machine, start, pieces)
        cases.append(Case((trie, bound_step(machine.step), start), expected, "a row per state", given))
    return check_function(answer, cases, _say_rows)


def bound_step(step: Callable[..., Any], *known: Any) -> Step:
    """A step as a plain function, of which a copy is the function itself: a check copies what it hands out."""
    return lambda state, byte: step(*known, state, byte)


def _say_rows(case: Case, value: Any) -> str:
    wrong_kind = say_kind(value, case.expected)
    said = say_difference(value, case.expected, lambda state: f"the row of {name_state(state)}")
    if said.endswith("too many"):
        said += ": no token leads to this state"
    if wrong_kind or said:
        return wrong_kind or said
    state = next(one for one, row in case.expected.items() if value[one] != row)
    return f"the row of {name_state(state)} is {show(value[state])}, expected {show(case.expected[state])}"


# -- 3: a stack that is a value ------------------------------------------------------------------------------------

LEFT_OVER = "every rule has returned and the byte is not read: the stack is empty, ()"


def check_push(answer: Any) -> Verdict:
    """Does `answer(moves, ends, stack, byte)` give the stack after one more byte, a tuple?

    >>> check_push(lambda moves, ends, stack, byte: stack).facts[:3]
    (('grammar', 'root ::= "x"'), ('stack', 'n0'), ('byte', 'x'))
    """
    cases = []
    for why, rows in STACK_STEPS.items():
        for name, nodes, sign in rows:
            moves, ends = pushdown_moves(kept_machine(AUTOMATA[name]))
            stack = tuple(read_stack(nodes))
            expected = push_byte(moves, ends, stack, ord(sign))
            given = (("grammar", AUTOMATA[name]), ("stack", show_stack(stack)), ("byte", sign))
            said = LEFT_OVER if expected == () else why
            same = partial(_same_stack, idle_nodes(moves, ends))
            cases.append(Case((moves, ends, stack, ord(sign)), expected, said, given, same=same))
    return check_function(answer, cases, _say_stack, spell=_spell_stack)


def push_byte(moves: Moves, ends: Collection[int], stack: Stack, byte: int) -> Stack | None:
    """The stack after a byte; None if it is refused, () if every rule has returned before it was read.

    >>> moves, ends = pushdown_moves(kept_machine(AUTOMATA["nested"]))
    >>> [push_byte(moves, ends, stack, ord(")")) for stack in ((3, 2), (2,), (0,))]
    [(2,), (), None]
    """
    left = list(stack)
    while left:
        node = left.pop()
        move = moves.get((node, byte))
        if move is None:
            if node not in ends:
                return None
        elif move[0] == "read":
            return (*left, move[1])
        else:
            left += [move[2], move[1]]
    return ()


def push_text(moves: Moves, ends: Collection[int], text: bytes) -> Stack:
    """The stack after a text that can be read."""
    stack: Any = (0,)
    for byte in text:
        stack = push_byte(moves, ends, stack, byte)
    return tuple(stack)


def idle_nodes(moves: Moves, ends: Collection[int]) -> frozenset[int]:
    """The nodes where a rule has ended and reads nothing more; a stack means the same without them.

    >>> sorted(idle_nodes(*pushdown_moves(kept_machine(AUTOMATA["nested"]))))
    [2]
    """
    return frozenset(ends).difference(node for node, _ in moves)


def _same_stack(idle: frozenset[int], value: Any, expected: Any) -> bool:
    """Are two stacks the same without idle nodes? An empty one is another answer."""
    if type(value) is not tuple or not value or not expected:
        return type(value) is type(expected) and value == expected
    mine = [node for node in value if node not in idle]
    return mine == [node for node in expected if node not in idle]


def _spell_stack(value: Any) -> str:
    return f"the list {show(value)}" if isinstance(value, list) else show_stack(value)


def _say_stack(case: Case, value: Any) -> str:
    if isinstance(value, list):
        return "a tuple is expected: a state of your engine must be a value, and a list can change"
    return ""


# -- 4: the split of a node ----------------------------------------------------------------------------------------


class SplitCase(NamedTuple):
    """A grammar, and the pieces that are sorted at each of its nodes."""

    grammar: str
    pieces: list[bytes]


SPLITS = (
    SplitCase("letter", [b"x", b"y", b"xx", b""]),
    SplitCase("nested", [b"(", b")", b"x", b"x)", b"))", b"(x)", b"x)("]),
    SplitCase("chain", [b"a", b";", b"aa", b"a;", b";;", b"a;a"]),
    SplitCase("pairs", [b"a", b'"', b'":', b'": ', b'a": 1', b"1", b"1}", b"}", b"}}", b"1}x", b'{"', b'"a']),
)


def check_split_node(answer: Any) -> Verdict:
    """Does `answer(trie, step, node)` give the accepted and the context-dependent tokens of a node?

    >>> check_split_node(lambda trie, step, node: ({0}, set())).facts[-1][1]
    'token 2 xx is dependent: after x every known rule has returned'
    """
    cases = []
    for name, pieces in SPLITS:
        pda = kept_machine(AUTOMATA[name])
        step = bound_step(push_byte, *pushdown_moves(pda))
        trie = plain_trie(pieces)
        for node in range(len(pda.nodes)):
            given = (("grammar", AUTOMATA[name]), ("node", name_node(node)), ("pieces", show(pieces)))
            say = "what push_byte gives for the stack (node,): a stack, () or None"
            cases.append(Case((trie, step, node), sort_at_node(trie, step, node), say, given))
    return check_function(answer, cases, _say_split)


def sort_at_node(trie: PlainTrie, step: Step, node: int) -> tuple[set[int], set[int]]:
    """The accepted and the context-dependent tokens of a node."""
    accepted: set[int] = set()
    dependent: set[int] = set()
    waiting: list[tuple[int, Stack]] = [(0, (node,))]
    while waiting:
        place, stack = waiting.pop()
        children, ids = trie[place]
        found = accepted if stack else dependent
        found.update(ids)
        for byte, child in children.items():
            after = step(stack, byte) if stack else ()
            if after is not None:
                waiting.append((child, after))
    return accepted, dependent


def _say_split(case: Case, value: Any) -> str:
    if len(value) != 2:
        return "two sets are expected: the accepted tokens, and the dependent ones"
    trie, step, node = case.arguments
    yours = [set(part) for part in value]
    wrong = (yours[0] ^ case.expected[0]) | (yours[1] ^ case.expected[1])
    pieces = {ids[0]: path for path, ids in read_trie(trie).items() if ids}
    token = min(wrong, key=lambda one: (len(pieces.get(one, b"")), one))
    if token not in pieces:
        return f"token {token} has no bytes, or is not in the trie"
    piece = pieces[token]
    name = f"token {token} {visible(piece)}"
    stack: Any = (node,)
    for place, byte in enumerate(piece):
        after = step(stack, byte)
        before = ""
        if place:
            before = f"after {visible(piece[:place])} "
        if after is None:
            return f"{name} is rejected: {before}{visible(bytes([byte]))} cannot come"
        if after == ():
            return f"{name} is dependent: {before}every known rule has returned"
        stack = after
    return f"{name} is accepted: the node and the rules that it calls read all of it"


# -- 6: forced bytes -----------------------------------------------------------------------------------------------

FORCED_GRAMMARS = AUTOMATA | {
    "word": 'root ::= "null"',
    "tail": 'root ::= "a" "b"?',
    "letters": 'root ::= [éè] "s"',
    "inside": 'root ::= "(" inner ")"\ninner ::= "[" "x" "]"',
}
# a grammar, and the text read so far
FORCED_AT = read_table(r"""
    "letter", b""
    "letter", b"x"
    "word", b""
    "tail", b""
    "word", b"nu"
    "brackets", b""
    "brackets", b"("
    "nested", b""
    "nested", b"(x"
    "chain", b""
    "chain", b"a"
    "inside", b""
    "inside", b"([x"
    "letters", b""
    "pairs", b""
    "pairs", b'{"a'
    "pairs", b'{"a"'
    "pairs", b'{"a": 1'
    "pairs", b'{"a": {"a": 1}'
""")


def check_forced_moves(answer: Any) -> Verdict:
    """Does `answer(moves, ends, stack)` give the bytes that must come next?

    >>> check_forced_moves(lambda moves, ends, stack: b"").facts[:3]
    (('grammar', 'root ::= "x"'), ('text', 'nothing'), ('stack', 'n0'))
    """
    cases = []
    for name, text in FORCED_AT:
        moves, ends = pushdown_moves(kept_machine(FORCED_GRAMMARS[name]))
        stack = push_text(moves, ends, text)
        given = (("grammar", FORCED_GRAMMARS[name]), ("text", visible(text) or "nothing"), ("stack", show_stack(stack)))
        expected = b"".join(forced_from(moves, ends, stack))
        cases.append(Case((moves, ends, stack), expected, "stop at a choice, and where the text may end", given))
    return check_function(answer, cases, _say_forced)


def _say_forced(case: Case, value: Any) -> str:
    """The first byte at which a run is wrong, and why it comes or does not."""
    moves, ends, stack = case.arguments
    right = case.expected
    if not isinstance(value, bytes):
        return ""
    shared = 0
    for mine, byte in zip(value, right, strict=False):
        if mine != byte:
            break
        stack = push_byte(moves, ends, stack, byte)
        shared += 1
    after = f"after {visible(value[:shared])} " if shared else ""
    if shared == len(right):
        what = "the text may end" if ends.issuperset(stack) else "several bytes may come"
        return f"{after}{what}: stop"
    only = f"{after}only {visible(right[shared : shared + 1])} may come"
    if shared < len(value):
        return only
    return only + _say_early_end(ends, stack, value, right)


def _say_early_end(ends: Collection[int], stack: Stack, value: bytes, right: bytes) -> str:
    """Why a run does not end so early."""
    if stack[-1] in ends:
        waiting = next(node for node in reversed(stack) if node not in ends)
        return f": {name_node(stack[-1])} may end, {name_node(waiting)} below may not: go on"
    if right.decode(errors="ignore").encode() != right:
        return "; a run may end inside a character"
    return ": the next byte is forced, too" if value else ""


def forced_from(moves: Moves, ends: Collection[int], stack: Stack) -> Iterator[bytes]:
    """The bytes that must come next, one by one."""
    while not all(node in ends for node in stack):
        ways = {byte: push_byte(moves, ends, stack, byte) for byte in range(256)}
        live = {byte: after for byte, after in ways.items() if after}
        if len(live) != 1:
            return
        ((byte, stack),) = live.items()
        yield bytes([byte])
