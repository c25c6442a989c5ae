"""Exercises on walks of a trie, and on the index made of them."""

from collections import UserList
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.checks.cases import Case, read_table
from guidedviz.checks.compare import say_difference, say_kind
from guidedviz.checks.function import check_function
from guidedviz.checks.masks import legal_tokens
from guidedviz.checks.texts import machine_cases
from guidedviz.checks.values import Failed, Function, attempt
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.graph import reach
from guidedviz.machines.machine import read
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.guide import explain_token
from guidedviz.tokens.trie import Node
from guidedviz.tokens.vocabulary import Vocabulary

# -- two walks of a trie that skip what the machine refuses --------------------------------------------------------

WalkRow = dict[int, int]  # legal token -> the state after it
# a regex, the text read so far, and pieces
WALKS = read_table(r"""
    "3", b"", [b"3"]
    "3", b"", [b"x"]
    "3|4", b"", [b"3", b"4"]
    "34", b"", [b"34", b"35"]
    "34|4", b"", [b"34", b"4"]
    "4", b"", [b"34", b"3567890", b"4"]
    "a*", b"", [b"aaaaaaaaa"]
    "(ab)*", b"", [b"ab", b"aba", b"b"]
    "ab*", b"", [b"a", b"abb", b"ac", b"acb", b"b", b"a"]
    r"\d+(\.\d+)?", b"3", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]
    r"\d+(\.\d+)?", b"3.", [b"1", b"12", b"125", b"12.", b"1.5", b".", b".5", b"a", b"and", b"ant"]
""")


@dataclass(frozen=True)
class CountingDFA(DFA):
    """A DFA that records its steps."""

    @cached_property
    def steps(self) -> list[int]:
        return []

    def step(self, state: int | None, byte: int) -> int | None:
        self.steps.append(byte)
        return super().step(state, byte)


class CountingList(UserList[int]):
    """Numbers that count how often one of them was read, also where NumPy reads them all."""

    looks = 0

    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return self.data[place]


class Flat(NamedTuple):
    """A trie depth first: for each node its byte, its depth, the nodes of its subtree, and the ids that end there."""

    byte: CountingList
    depth: CountingList
    size: list[int]
    ends: list[list[int]]


def flatten(pieces: Sequence[bytes]) -> Flat:
    """The trie of some pieces, depth first.

    >>> flatten([b"a", b"ab", b"ac", b"b"])
    Flat(byte=[97, 98, 99, 98], depth=[1, 2, 2, 1], size=[3, 1, 1, 1], ends=[[0], [1], [2], [3]])
    """
    nodes = list_nodes(pieces)
    size = [sum(other.startswith(one) for other in nodes) for one in nodes]
    ends = [[token for token, piece in enumerate(pieces) if piece == one] for one in nodes]
    return Flat(CountingList(one[-1] for one in nodes), CountingList(len(one) for one in nodes), size, ends)


def list_nodes(pieces: Sequence[bytes]) -> list[bytes]:
    """Each beginning of a piece once, depth first.

    >>> list_nodes([b"b", b"ab", b"ac"])
    [b'a', b'ab', b'ac', b'b']
    """
    return sorted({piece[:end] for piece in pieces for end in range(1, len(piece) + 1)})


def check_walk(answer: Any) -> Verdict:
    """Does `answer(node, machine, state)` find the legal tokens and their next states, without refused subtrees?

    >>> check_walk(lambda node, machine, state: dict.fromkeys(node.tokens, state))
    ✗ not yet right: on input 1 of 11, the first on which it fails
        machine     regex 3, in q0: nothing was read
        pieces      [b'3']
        yours gave  {}
        expected    {0: 1}
        because     token 0 is legal: every byte passes: q0 to q1
    """

    def limited(machine: DFA, state: int, pieces: list[bytes]) -> Any:
        root = Vocabulary(pieces).trie.root
        counting = CountingDFA(machine.edges, machine.accepting)
        gave = attempt(answer, (root, counting, state))
        if gave == walk(root, machine, state):
            wrong = _find_wrong_child(answer, root, machine, state)
            if wrong:
                said = f"right at the root, wrong {wrong}: tokens that end at `node` belong to the result"
                return Failed(said)
        asked = len(counting.steps)
        enough = count_nodes_needed(machine, state, pieces)
        if asked > enough:
            said = f"it asks the machine {asked} times, {enough} would do: once per child, never below a refused one"
            return Failed(said)
        return gave

    def reference(machine: DFA, state: int, pieces: list[bytes]) -> WalkRow:
        return walk(Vocabulary(pieces).trie.root, machine, state)

    cases = machine_cases(reference, WALKS, "pieces")
    return check_function(limited if callable(answer) else answer, cases, say_tokens)


def _find_wrong_child(answer: Function, root: Node, machine: DFA, state: int) -> str:
    """The first node below the root at which a walk is wrong; empty if there is none."""
    for byte, child in root.children.items():
        after = machine.step(state, byte)
        if after is None:
            continue
        gave = attempt(answer, (child, DFA(machine.edges, machine.accepting), after))
        if gave != walk(child, machine, after):
            return f"at the node of {show(bytes([byte]))[1:]} in q{after}"
    return ""


def check_jump(answer: Any) -> Verdict:
    """Does `answer(machine, state, tree)` find the legal ids without reading a node below a refused one?

    >>> check_jump(lambda machine, state, tree: {0})
    ✗ not yet right: on input 2 of 11, the first on which it fails
        machine     regex 3, in q0: nothing was read
        pieces      [b'x']
        yours gave  {0}
        expected    set()
        because     token 0 is illegal: x cannot come: expected 3
    """

    def limited(machine: DFA, state: Any, pieces: list[bytes]) -> Any:
        tree = flatten(pieces)
        gave = attempt(answer, (machine, state, tree))
        if tree.ends != flatten(pieces).ends:
            return Failed("it changed tree.ends: collect the tokens in a set of its own")
        looks = (tree.byte.looks + tree.depth.looks) // 2
        enough = count_nodes_needed(machine, state, pieces)
        if looks > 2 * enough:
            said = f"it looks at {looks} nodes, and {enough} would do: skip all that is below a refused node"
            return Failed(said)
        return gave

    cases = machine_cases(legal_tokens, WALKS, "pieces")
    return check_function(limited if callable(answer) else answer, cases, say_jump)


def say_jump(case: Case, value: Any) -> str:
    """Why an id is legal or illegal, and the usual slip if it gives the same wrong ids.

    >>> case = machine_cases(legal_tokens, [("4", b"", [b"3", b"4"])], "pieces")[0]
    >>> print(say_jump(case, set()))
    token 1 is legal: every byte passes: q0 to q1. It stands after a refused subtree: continue at exactly i + size
    """
    said = say_tokens(case, value)
    machine, state, pieces = case.arguments
    if value == jump_flat(machine, state, pieces, beyond=1):
        said += ". It stands after a refused subtree: continue at exactly i + size"
    elif value == jump_flat(machine, state, pieces, refused=lambda after: not after):
        said += ". State 0 is a state, too: only None says that the machine refuses the byte"
    return said


def jump_flat(
    machine: DFA,
    state: int,
    pieces: list[bytes],
    beyond: int = 0,
    refused: Callable[[int | None], bool] = lambda after: after is None,
) -> set[int]:
    """The ids that the loop finds; with a slip it goes on `beyond` a subtree, or takes other states as `refused`.

    >>> jump_flat(gv.regex("4"), 0, [b"3", b"4"]), jump_flat(gv.regex("4"), 0, [b"3", b"4"], beyond=1)
    ({1}, set())
    """
    tree = flatten(pieces)
    legal = set[int]()
    states: list[int | None] = [state]
    place = 0
    while place < len(tree.byte):
        del states[tree.depth[place] :]
        after = machine.step(states[-1], tree.byte[place])
        if refused(after):
            place += tree.size[place] + beyond
        else:
            states.append(after)
            legal.update(tree.ends[place])
            place += 1
    return legal


def count_nodes_needed(machine: DFA, state: Any, pieces: list[bytes]) -> int:
    """The nodes at which a walk asks the machine, if it skips all that is below a refused one."""
    return sum(read(machine, node[:-1], state) is not None for node in list_nodes(pieces))


def say_tokens(case: Case, value: Any) -> str:
    """Why the first wrong id is legal or illegal, or to which state it leads."""
    if say_kind(value, case.expected):
        return ""
    machine, state, pieces = case.arguments
    row = case.expected
    known = range(len(pieces))
    wrong = {*value} ^ {*row}
    if not wrong:
        wrong = {token for token in row if str(value[token]) != str(row[token])}
    token = min(wrong, key=lambda one: (len(pieces[one]) if one in known else 0, one))
    if token not in known:
        return f"{token} is not in the vocabulary"
    why = explain_token(machine, Vocabulary(pieces), state, token)
    verdict = "legal" if why.legal else "illegal"
    return f"token {token} is {verdict}: {why.reason}"


# -- the index from walks ------------------------------------------------------------------------------------------

# a regex, nothing that was read, and pieces
INDEXES = read_table(r"""
    "a", b"", [b"a"]
    "a", b"", [b"b"]
    "ab", b"", [b"a", b"b"]
    "a*", b"", [b"a", b"aa"]
    "abc", b"", [b"a", b"bc", b"ab"]
    "(ab)*", b"", [b"ab", b"aba", b"b"]
    "[0-9]{4}-[0-9]{2}", b"", [b"1", b"12", b"-", b"1-", b"-1", b"123"]
    r"\d+(\.\d+)?", b"", [b"3", b"42", b".", b".5", b"3.", b"7.5", b"..", b"3x", b"x"]
""")


def check_index(answer: Any) -> Verdict:
    """Does `answer(root, machine, walk)` give a row for each state that tokens lead to from the initial one?

    >>> check_index(lambda root, machine, walk: {machine.initial: walk(root, machine, machine.initial)})
    ✗ not yet right: on input 1 of 8, the first on which it fails
        machine     regex a, in q0: nothing was read
        pieces      [b'a']
        yours gave  {0: {0: 1}}
        expected    {0: {0: 1}, 1: {}}
        because     the row of q1 is missing: a row for each state that tokens lead to from the initial one
    """

    def build(machine: DFA, state: int, pieces: list[bytes]) -> Any:
        walked: list[int] = []

        def record_walk(node: Node, machine: DFA, state: int) -> WalkRow:
            walked.append(state)
            return walk(node, machine, state)

        rows = index_rows(machine, state, pieces)  # before the answer can change the machine
        gave = attempt(answer, (Vocabulary(pieces).trie.root, machine, record_walk))
        if gave == rows and len(walked) > len(gave):
            return Failed(f"it walks {len(walked)} times for {len(gave)} states: once per state is enough")
        return gave

    def say(case: Case, value: Any) -> str:
        kind = say_kind(value, case.expected)
        found = say_difference(value, case.expected, "the row of q{}".format)
        if kind or not found:
            return kind
        return f"{found}: a row for each state that tokens lead to from the initial one"

    cases = machine_cases(index_rows, INDEXES, "pieces", why=lambda *given: "a row is what walk gives for its state")
    return check_function(build if callable(answer) else answer, cases, say)


def index_rows(machine: DFA, start: int, pieces: list[bytes]) -> dict[int, WalkRow]:
    """The rows of all states that tokens lead to.

    >>> index_rows(gv.regex("ab"), 0, [b"a", b"b"])
    {0: {0: 1}, 1: {1: 2}, 2: {}}
    """
    root = Vocabulary(pieces).trie.root
    states = reach([start], lambda state: walk(root, machine, state).values())
    return {state: walk(root, machine, state) for state in states}


def walk(node: Node, machine: DFA, state: int) -> WalkRow:
    """The legal tokens at a node and below it, each with the state after it."""
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= walk(child, machine, after)
    return found
