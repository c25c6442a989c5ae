"""Two machines for one grammar share no algorithm: where they agree with each other and with a list, all are right."""

from contextlib import suppress
from functools import reduce

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from guidedviz.errors import PatternError
from guidedviz.machines.earley.earley import build_earley
from guidedviz.machines.grammars.gbnf import parse_grammar
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.tokens.build_guide import guide
from tests.common import texts_up_to
from tests.machines.oracle import Listing
from tests.strategies import draw_walk, grammars, vocabularies

LONGEST = 5
TEXTS = [text.encode() for text in texts_up_to(Listing.LETTERS, LONGEST)]
NEAR = sorted({text[:size] for text in TEXTS for size in range(LONGEST + 1)})


def build(builder, text):
    """The machine; None if no text can ever be finished."""
    with suppress(PatternError):
        return builder(parse_grammar(text))


@given(grammars)
@example('root ::= s\ns ::= s s | "a"')
@example('root ::= e root "b" | "a"\ne ::= "é"?')
@example('root ::= (e*)* "a"\ne ::= "b"?')
@example('root ::= "a" root "b" | u | ""\nu ::= "a" root "🙂"')
def test_both_machines_read_exactly_the_texts_that_can_be_listed(text):
    listed = Listing(parse_grammar(text), LONGEST)
    pda = build(PDA, text)
    earley = build(build_earley, text)
    if not listed.finishing["root"]:
        assert pda is earley is None
        return
    for machine in (earley, pda):
        states = states_of(machine)
        begun = {word for word, state in states.items() if state is not None}
        assert begun == listed.begun["root"]
        finished = {word for word in begun if machine.is_accepting(states[word])}
        assert finished == listed.texts["root"]


def states_of(machine):
    """The state of each text; a machine may refuse a grammar that is too ambiguous, if it says so."""
    states = {b"": machine.initial}
    try:
        for word in NEAR[1:]:
            before = states[word[:-1]]
            states[word] = machine.step(before, word[-1])
    except PatternError as error:
        assume("few ways to read" not in str(error))
        raise
    return states


@given(grammars, vocabularies(), st.data())
def test_both_machines_have_the_same_masks_on_every_walk(text, vocabulary, data):
    pda = build(PDA, text)
    earley = build(build_earley, text)
    assume(pda is not None)
    ours = guide(pda, vocabulary)
    other = guide(earley, vocabulary)
    for state, tokens in draw_walk(data, ours):
        twin = reduce(other.advance, tokens, other.initial)
        assert np.array_equal(ours.mask(state), other.mask(twin))
        assert ours.forced(state) == other.forced(twin)
