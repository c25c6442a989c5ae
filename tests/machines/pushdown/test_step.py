"""The step on shared cells reads what the plain step on tuples reads."""

import random

import pytest

import guidedviz as gv
from guidedviz.machines.pushdown.automaton import RuleNodes
from guidedviz.machines.pushdown.step import settle_plainly, step_plainly

GRAMMARS = [
    'root ::= "(" root ")" | "x"',
    'root ::= "a" root "b" | "ab" | ""',
    'root ::= item ("," item)*\nitem ::= "[" root? "]" | [a-c]+',
    'root ::= a b?\na ::= "x" a | ""\nb ::= "x" root "," | "]"',
    'root ::= (empty | "a")* "b"\nempty ::= ""',
]
ALPHABET = b"()x,[]abc"


def ends_plainly(nodes: RuleNodes, stacks: set[tuple[int, ...]]) -> bool:
    """Whether a text may end: a stack without callers stands at an accepting node."""
    alone = [stack[0] for stack in settle_plainly(nodes, stacks) if len(stack) == 1]
    return any(node in nodes.accepting for node in alone)


@pytest.mark.parametrize("text", GRAMMARS)
def test_the_step_on_cells_reads_what_the_plain_step_reads(text):
    pda = gv.grammar(text)
    rng = random.Random(text)
    for _ in range(60):
        state = pda.initial
        stacks = {(pda.nodes.starts[0],)}
        for _ in range(8):
            byte = rng.choice(ALPHABET)
            after = pda.step(state, byte)
            stacks = step_plainly(pda.nodes, stacks, byte)
            assert (after is not None) == bool(stacks)
            if after is None:
                break
            state = after
            assert pda.is_accepting(state) == ends_plainly(pda.nodes, stacks)
