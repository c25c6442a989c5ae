"""The split: masks from what a node alone says, and from as much of the stack as is needed."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import IllegalToken, PatternError, SettingError
from guidedviz.machines.machine import read
from tests.common import bytes_of, legal_tokens, texts_up_to, with_end
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


def pieces(vocabulary, mask):
    return {vocabulary.pieces[token] for token in np.flatnonzero(mask)}


@pytest.mark.parametrize(
    ("written", "yes", "ask", "legal"),
    [
        (b"", {b"(", b"x"}, {b"x)", b"x)]", b"x))", b"[x])"}, {b"(", b"x"}),
        (b"(", {b"(", b"x", b"x)", b"[x])"}, {b"x)]", b"x))"}, {b"(", b"x", b"x)", b"[x])"}),
        (b"((", {b"(", b"x", b"x)", b"[x])"}, {b"x)]", b"x))"}, {b"(", b"x", b"x)", b"[x])", b"x))"}),
        (b"[(", {b"(", b"x", b"x)", b"[x])"}, {b"x)]", b"x))"}, {b"(", b"x", b"x)", b"[x])", b"x)]"}),
        (b"[x", {b"]"}, set(), {b"]"}),
    ],
)
def test_three_answers_by_hand(written, yes, ask, legal):
    split = gv.build_split(NESTED, PARENTHESES)
    state = read(split.pda, written)
    assert pieces(PARENTHESES, split.answers(state) == 1) == yes
    assert pieces(PARENTHESES, split.answers(state) == 2) == ask
    assert pieces(PARENTHESES, split.mask(state)) == legal


GRAMMARS = {  # what is hard about stacks
    "a tail call puts nothing on the stack": 'root ::= "a" root | "(" root ")" | "b"',
    "a rule that begins with itself": 'root ::= root "+" t | t\nt ::= "a" | "(" root ")"',
    "rules that may be empty": 'root ::= s t s "b"\ns ::= "a"?\nt ::= ("(" root ")")*',
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
    for one, other in zip(expanded, plain, strict=True):
        assert set(one.dependent.tolist()) <= set(other.dependent.tolist())


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


def test_a_finite_machine_has_no_stack_to_split():
    with pytest.raises(SettingError, match="split: saw DFA, expected a pushdown machine"):
        gv.guide(gv.regex("a"), SIGNS, engine="split")


def test_a_state_of_another_machine_is_refused():
    split = gv.build_split(NESTED, SIGNS)
    for other in (None, gv.json().initial):
        with pytest.raises(SettingError, match="expected a state of PDA"):
            split.mask(other)
        with pytest.raises(SettingError, match="expected a state of PDA"):
            split.answers(other)


def test_a_node_at_which_no_text_can_stand_has_no_split():
    split = gv.build_split(NESTED, SIGNS)
    nodes = split.pda.nodes
    for node in (-1, len(nodes), *nodes.byteless):
        with pytest.raises(SettingError, match=f"split: saw node {node}, expected a node from 0 to"):
            split.node(node)


def test_json_on_a_real_vocabulary():
    v = gv.Vocabulary.llama3()
    walked = gv.guide(gv.json(), v, engine="trie")
    split = gv.guide(gv.json(), v, engine="split")
    for written in (b"", b'{"a": "', b'[{"a": [1', b'[{"a": {"b": []', b'{"\xe6', b"[[[-1.5e"):
        state = read(gv.json(), written)
        assert (split.mask(state) == walked.mask(state)).all(), written


def test_rules_that_are_too_large_in_the_place_of_their_calls_stay_rules():
    machine = gv.grammar('root ::= t{0,3}\nt ::= (("a" | "ab"){9})+ ("a")+')
    split = gv.build_split(machine, SIGNS)
    assert len(split.pda.nodes.names) == 2
    expected = brute_force(machine, SIGNS, machine.initial)
    assert split.mask(split.pda.initial).tolist() == expected


def test_where_an_unknown_stack_has_too_many_ways_the_real_one_is_walked(monkeypatch):
    machine = gv.grammar(GRAMMARS["ambiguous"])
    monkeypatch.setattr("guidedviz.machines.pushdown.unknown_bottom.MOST_WORK", 50)
    split = gv.build_split(machine, SIGNS, inline=False)
    state = read(machine, b"(a")
    assert split.mask(state).tolist() == brute_force(machine, SIGNS, state)
    with pytest.raises(PatternError, match=r"saw more than [0-9]+ moves for one mask in"):
        split.build()


TOY = with_end([b"{", b"}", b'"a"', b'":', b":", b"[[", b"]", b"]}", b"1", b",", b" "])
TABLE = [  # what was written, and the tokens that may follow
    ("", '{ "a" ": ␣ [[ 1'),  # with ": a text begins whose first letter is a colon
    ("{", '} "a" ": ␣'),
    ('{"a"', ": ␣"),
    ('{"a":', '{ "a" ": [[ 1 ␣'),
    ('{"a":1', "} , 1 ␣"),
    ('{"a":[[', '{ "a" ": [[ ] 1 ␣'),
    ('{"a":[[]', "] ]} , ␣"),
    ('{"a":[[],', '{ "a" ": [[ 1 ␣'),
    ('{"a":[[]]', "} , ␣"),
    ('{"', '{ } ": : [[ ] ]} 1 , ␣'),
    ('{"a":[[]]}', "␣ </s>"),
    ("1", "␣ 1 </s>"),
]


@pytest.mark.parametrize(("written", "legal"), TABLE)
def test_json_on_a_toy_vocabulary(written, legal):
    guide = gv.guide(gv.json(), TOY)
    state = read(guide.machine, written.encode())
    shown = {TOY.display(token) for token in legal_tokens(guide, state)}
    assert shown == set(legal.split())


SENTENCES = [
    (gv.json(), '{"a": [1, {"é": "x\\n"}, []], "b": -1.5e3}', st.sampled_from('{}[]",:1 eé\\')),
    (gv.grammar('root ::= root [+*] root | "(" root ")" | [0-9]+'), "(12+3)*((4)+5)", st.sampled_from("()+*1")),
    (gv.grammar('root ::= "<" name ">" root* "</" name ">"\nname ::= [a-c]'), "<a><b></b><c></c></a>",
     st.sampled_from("<>/abc")),
    (gv.grammar('root ::= s s\ns ::= "a" s "b" | "é"?'), "aabbaaébb", st.sampled_from("abé")),
]  # fmt: skip


def cuts_to_an_end(guide, data):
    """Follow every cut of the bytes into tokens; each piece that is legal on the way, and may the text end there?"""
    tokens = {piece: token for token, piece in enumerate(guide.vocabulary.pieces)}
    at = {0: guide.initial}
    ends = False
    for start in range(len(data) + 1):
        if start in at:
            mask = guide.mask(at[start])
            eos = list(guide.vocabulary.eos)
            ends = start == len(data) and bool(mask[eos].all())
            for end in range(start + 1, len(data) + 1):
                token = tokens.get(data[start:end])
                if token is not None and mask[token]:
                    after = guide.advance(at[start], token)
                    assert at.setdefault(end, after) is after, "two cuts of the same bytes lead to one state"
    return set(at), ends


def guide_of_parts(machine, text):
    """A guide whose tokens are all parts of a text of up to six bytes."""
    data = text.encode()
    pieces = set()
    for size in range(1, 7):
        pieces |= {data[start : start + size] for start in range(len(data))}
    vocabulary = with_end(sorted(pieces))
    return gv.guide(machine, vocabulary)


@pytest.mark.parametrize(("machine", "text", "_"), SENTENCES)
def test_every_cut_of_a_sentence_is_legal_to_its_end(machine, text, _):
    data = text.encode()
    reached, ends = cuts_to_an_end(guide_of_parts(machine, text), data)
    assert reached == set(range(len(data) + 1))
    assert ends is True


@given(st.sampled_from(SENTENCES), st.data())
def test_no_cut_of_a_wrong_sentence_ends_and_every_cut_of_a_right_one_does(case, data):
    machine, text, signs = case
    place = data.draw(st.integers(0, len(text)))
    new = data.draw(signs)
    after = place + data.draw(st.integers(0, 1))
    text = text[:place] + new + text[after:]
    _, ends = cuts_to_an_end(guide_of_parts(machine, text), text.encode())
    assert ends == machine.accepts(text.encode())
