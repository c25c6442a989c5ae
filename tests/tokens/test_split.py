"""The split: masks from what a node alone says, and from as much of the stack as is needed."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, PatternError, SettingError
from guidedviz.machines.machine import read
from tests.common import bytes_of, texts_up_to, with_end
from tests.strategies import draw_walk, grammars, vocabularies

SWITCHES = ("inline", "expand")
options = st.fixed_dictionaries(dict.fromkeys(SWITCHES, st.booleans()))
NESTED = gv.grammar('root ::= "(" root ")" | "[" root "]" | "x"')
PARENTHESES = gv.Vocabulary([b"(", b")", b"x", b"x)", b"[x])", b"]", b"x)]", b"x))"])


def machine_of(text):
    """The machine of a random grammar, if it has any text and is not too ambiguous."""
    try:
        return gv.grammar(text)
    except PatternError:
        assume(False)


def walk_along(data, guide):
    """A few states on a way of legal tokens, in a grammar that the machine itself can read there."""
    try:
        return draw_walk(data, guide, steps=4)
    except PatternError:
        assume(False)


def brute_force(machine, vocabulary, state):
    """Each token byte by byte; in a grammar's machine every way can be finished."""
    text = frozenset(vocabulary.text_ids)
    legal = []
    try:
        for token, piece in enumerate(vocabulary.pieces):
            if token in vocabulary.eos:
                legal.append(machine.is_accepting(state))
            else:
                legal.append(token in text and read(machine, piece, state) is not None)
    except PatternError:  # too ambiguous for the machine itself
        assume(False)
    return legal


@given(vocabularies(), grammars, options, st.data())
@example(
    gv.Vocabulary([b"a", b"b"]),
    'root ::= root root | s\ns ::= s "a" | "b"?\nt ::= s',
    dict.fromkeys(SWITCHES, True),
    None,
)
def test_masks_are_those_of_the_whole_walk_and_of_brute_force(v, text, chosen, data):
    machine = machine_of(text)
    walked = gv.guide(machine, v, engine="trie")
    split = gv.build_split(machine, v, **chosen)
    walk = walk_along(data, walked) if data else [(machine.initial, [])]
    for state, tokens in walk:
        own = read(split.pda, bytes_of(v, tokens))
        assert own is not None
        mask = split.mask(own).tolist()
        assert mask == walked.mask(state).tolist()
        assert mask == brute_force(machine, v, state)
        assert split.mask(own).tolist() == mask, "asked again"


@given(vocabularies(), grammars, st.booleans(), st.data())
def test_what_a_node_says_is_true_of_every_stack(v, text, expand, data):
    """Sure tokens are legal wherever the node is met, and no token is legal that it calls illegal."""
    machine = machine_of(text)
    split = gv.build_split(machine, v, inline=False, expand=expand)
    for state, _ in walk_along(data, gv.guide(machine, v, engine="trie")):
        said = split.answers(state)
        legal = np.array(brute_force(machine, v, state))
        assert legal[said == 1].all()
        assert not legal[said == 0].any()


GRAMMARS = {  # what is hard about stacks
    "a rule that begins with itself": 'root ::= root "+" t | t\nt ::= "a" | "(" root ")"',
    "a rule with many followers": 'root ::= "a" t "a" | "b" t "b" | "(" t ")"\nt ::= "+"* | "(" root ")"',
    "ambiguous": 'root ::= root root | "a" | "(" root ")"',
    "a rule that ends at once in all its callers": 'root ::= s ")"?\ns ::= t "b"?\nt ::= "a" s? "+"?',
    "characters of several bytes": 'root ::= "(" root ")" | [^ab()]+ | "a" | "b"',
}
_, *SHORT = texts_up_to("ab+()", 4)
SIGNS = gv.Vocabulary(
    [*map(str.encode, SHORT), b"\xc3", b"\xa9", b"\xa9)", b"\xa9)(", b"\xe2\x98", b"\x83)))", b"", b"</s>", b"a"],
    eos=[787],
)


@cache
def masks_of_short_texts(text):
    """The machine, and what brute force allows after each text of up to four signs that it reads."""
    machine = gv.grammar(text)
    masks = {}
    for signs in texts_up_to("ab+(", 4):
        data = signs.encode()
        state = read(machine, data)
        if state is not None:
            masks[data] = brute_force(machine, SIGNS, state)
    return machine, masks


@pytest.mark.parametrize("text", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("off", ["", *SWITCHES])
@pytest.mark.quick(every=4)
def test_all_short_texts_of_hard_grammars(text, off):
    machine, masks = masks_of_short_texts(text)
    split = gv.build_split(machine, SIGNS, **({off: False} if off else {}))
    for data, mask in masks.items():
        assert split.mask(read(split.pda, data)).tolist() == mask, data


def test_expansion_leaves_fewer_tokens_to_ask():
    expanded = gv.build_split(gv.json(), SIGNS_OF_JSON, expand=True).build()
    plain = gv.build_split(gv.json(), SIGNS_OF_JSON, expand=False).build()
    few = sum(len(part.dependent) for part in expanded)
    many = sum(len(part.dependent) for part in plain)
    assert 0 < few < many


def test_without_the_check_a_bracket_closes_what_is_not_open():
    right = gv.tokens.split_guide(gv.build_split(NESTED, PARENTHESES, check=True))
    wrong = gv.tokens.split_guide(gv.build_split(NESTED, PARENTHESES, check=False))
    token = PARENTHESES.pieces.index(b"x))")
    state = right.advance(right.initial, 0)
    assert not right.mask(state)[token]
    assert wrong.mask(read(wrong.machine, b"("))[token]
    with pytest.raises(IllegalToken):
        wrong.advance(read(wrong.machine, b"("), token)


SIGNS_OF_JSON = with_end(
    [b'{"', b'"', b'":', b'": "', b'",', b'"}', b'"}]', b'"]}', b"}", b"]", b"]]", b"]}", b"}}", b"},", b"],", b"1",
     b"1}", b"1]", b"1,", b" ", b" [", b"[", b"[[", b"a", b'a"]', b'a"}', b'a":', b",", b", ", b"true}", b"null]"]
)  # fmt: skip


def test_nodes_that_know_the_same_share_its_memory():
    split = gv.build_split(gv.grammar('root ::= "a" [b-d]+ "!" | "e" [b-d]+ "?"'), SIGNS)
    assert split.nbytes < sum(part.nbytes for part in split.build())


def test_a_state_of_another_machine_and_a_node_at_which_no_text_can_stand_are_refused():
    split = gv.build_split(NESTED, SIGNS)
    for ask in (split.mask, split.answers):
        with pytest.raises(SettingError, match="expected a state of PDA"):
            ask(gv.json().initial)
    nodes = split.pda.nodes
    for node in (-1, len(nodes), *nodes.byteless):
        with pytest.raises(SettingError, match=f"split: saw node {node}, expected a node from 0 to"):
            split.node(node)


SHORT_SIGNS = gv.Vocabulary([b"a", b"b", b"ab", b"aab", b"aaaaaaaaa", b"ba"])


def test_rules_that_are_too_large_in_the_place_of_their_calls_stay_rules():
    machine = gv.grammar('root ::= t{0,3}\nt ::= (("a" | "ab"){9})+ ("a")+')
    split = gv.build_split(machine, SHORT_SIGNS)
    assert len(split.pda.nodes.names) == 2
    expected = brute_force(machine, SHORT_SIGNS, machine.initial)
    assert split.mask(split.pda.initial).tolist() == expected


def test_where_an_unknown_stack_has_too_many_ways_the_real_one_is_walked(monkeypatch):
    machine = gv.grammar(GRAMMARS["ambiguous"])
    monkeypatch.setattr("guidedviz.machines.pushdown.unknown_bottom.MOST_WORK", 50)
    split = gv.build_split(machine, SIGNS, inline=False)
    state = read(machine, b"(a")
    assert split.mask(state).tolist() == brute_force(machine, SIGNS, state)
    with pytest.raises(PatternError, match=r"saw more than [0-9]+ moves for one mask in"):
        split.build()
