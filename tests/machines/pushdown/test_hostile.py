"""Grammars and texts that are meant to hurt end in time: with the right answer, or with an error that says why."""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import PatternError
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.pushdown import step as graph_file
from guidedviz.machines.pushdown.pda import JSON_GBNF
from guidedviz.tokens import lazy
from tests.common import in_time, with_end

LONG = 20_000
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def lines(*rules):
    return "\n".join(rules)


@pytest.fixture(autouse=True)
def _in_time():
    with in_time(20):  # a hostile grammar took too long
        yield


READ = [
    ('root ::= e e e\ne ::= "" | e', b"", b"a" * LONG),
    ("root ::= " + "x? " * 300 + '\nx ::= "a" | "(" x ")"', b"a" * 299 + b"((a))", b"a" * 301),
    ('root ::= x{0,5000}\nx ::= "a" | "b" x', b"a" * 5000, b"a" * 5001),
    ('root ::= "a" root "a" | "b" root "b" | ""', b"ab" * 200 + b"ba" * 200, b"ab" * 400),
    (JSON_GBNF, b'"' + b"x" * LONG + b'"', b"[" + b"1," * LONG + b"]"),
    (lines("root ::= r0", *(f'r{n} ::= r{(n + 1) % 1000} "x" | "a"' for n in range(1000))), b"a" + b"x" * 999, b"x"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), READ, ids=[text[:40] for text, _, _ in READ])
@pytest.mark.quick(every=4)
def test_it_is_read(text, good, bad):
    machine = gv.grammar(text)
    assert machine.accepts(good)
    assert not machine.accepts(bad)


REFUSED = [
    (lines(*(f"r{n} ::= r{(n + 1) % 5000}" for n in range(5000)), "root ::= r0"), "can never finish"),
    ('root ::= ("a"?){1000000}', "rule root: .*NFA states.*smaller repeat: .1000000. at position 15"),
    ('root ::= (((("a"{0,100}){0,100}){0,100}){0,100}){0,100}', "rule root: .*NFA states"),
    ("root ::= " + '"a"? ' * 2_000, "rule root: .*moves from NFA to DFA"),
    ('root ::= "' + "a" * 50_000 + '"', "rule root: .*NFA states"),
    ('root ::= "' + "a" * 1_000_001 + '"', "saw 1,000,012 characters, expected at most 1,000,000"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text[:40] for text, _ in REFUSED])
@pytest.mark.quick(every=4)
def test_it_is_refused_and_says_why(text, why):
    with pytest.raises(PatternError, match=why) as caught:
        gv.grammar(text)
    assert len(str(caught.value)) < 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "why"),
    [('s s | "a"', "500 stacks at one place of s,"), ('s s s | s s | "a"*', "300,000 moves for one byte in s,")],
)
def test_a_text_that_can_be_read_in_too_many_ways_ends_in_an_error_that_names_the_rule(rules, why):
    machine = gv.grammar(f'root ::= "<" s ">"\ns ::= {rules}')
    assert machine.accepts(b"<" + b"a" * 50 + b">")
    with pytest.raises(PatternError, match=why) as caught:
        machine.accepts(b"<" + b"a" * LONG)
    assert caught.value.expected == "few ways to read a text"
    assert caught.value.hint == "rules that are not ambiguous"
    assert machine.accepts(b"<aa>"), "the machine stays good"


@pytest.mark.slow
def test_a_mask_of_an_ambiguous_grammar_ends_in_the_same_error(monkeypatch):
    """All pieces go on differently, and each is read in a hundred ways."""
    monkeypatch.setattr(lazy, "MOST_WALK_MOVES", 500_000)
    nested = " | ".join(f'"{letter}" s "{letter}"' for letter in LETTERS)
    machine = gv.grammar(f"root ::= s\ns ::= s s | {nested} | [a-z ]")
    pieces = [f"{one}{other}".encode() for one, other in product(LETTERS, LETTERS[:9])]
    guide = gv.guide(machine, gv.Vocabulary(pieces), engine="trie")
    with pytest.raises(PatternError, match="saw more than 500,000 moves for one mask in s, expected"):
        guide.mask(read(machine, b"abcde" * 10))


@pytest.mark.parametrize("engine", ["split", "trie"])
def test_a_mask_where_thousands_of_rules_may_be_empty_ends_in_an_error(engine):
    machine = gv.grammar("root ::= " + "a " * 2_000 + '\na ::= "x" | ""')
    vocabulary = gv.Vocabulary([b"x", b"xx", b"xxx", b"y"])
    guide = gv.guide(machine, vocabulary, engine=engine)
    with pytest.raises(PatternError, match="300,000 moves for one byte in root"):
        guide.mask(guide.initial)


json_texts = st.text(st.sampled_from('[]{}":,1 a'), max_size=12)


@given(st.lists(json_texts, min_size=2, max_size=6), st.integers(5, 60))
def test_what_is_forgotten_is_made_again_and_held_states_stay_good(texts, kept):
    plain = gv.grammar(JSON_GBNF)
    held = []
    with pytest.MonkeyPatch.context() as patch:
        machine = gv.grammar(JSON_GBNF)
        patch.setattr(graph_file, "MOST_KEPT", kept)
        for text in [*texts, '{"a":[[1', *texts]:
            data = text.encode()
            assert machine.accepts(data) == plain.accepts(data)
            held.append((read(machine, data[:3]), read(plain, data[:3])))
        by_number = {}
        for state, same in held:
            if state is not None:
                assert by_number.setdefault(state.number, state) is state
                assert machine.stack(state) == plain.stack(same)
                assert next_bytes(machine, state) == next_bytes(plain, same)


def test_threads_that_ask_one_machine_at_once_all_get_the_right_answers(monkeypatch):
    """A page asks for masks, stacks and pictures at once, while the machine forgets."""
    monkeypatch.setattr(graph_file, "MOST_KEPT", 60)
    machine = gv.grammar(JSON_GBNF)
    texts = [b'{"a": [1, {"b": null}]}', b'{"a":[1,2,}', b"[1.5e3, true]", b"[[[[[["]
    stack = ("array", "array", "object", "root")
    expected = [
        (legal, begun, stack, 4) for legal, begun in ((True, True), (False, False), (True, True), (False, True))
    ]

    def ask(text):
        state = read(machine, b'{"a":[[')
        branches = len(machine.branches(state))
        return machine.accepts(text), machine.accepts_prefix(text), machine.stack(state), branches

    pace = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(ask, texts * 30))
    finally:
        sys.setswitchinterval(pace)
    assert answers == expected * 30


@pytest.mark.parametrize("state", [0, "q0", gv.grammar('root ::= [a-z]+ ("," root)?').initial])
def test_what_is_no_state_of_this_machine_is_refused(state):
    machine = gv.json()
    vocabulary = with_end([b"[", b"]"])
    guide = gv.guide(machine, vocabulary)
    asked = [machine.stack, machine.frames, machine.branches, machine.unfinished]
    asked += [machine.places, machine.depth, machine.is_accepting, guide.mask]
    asked.append(lambda state: guide.explain(state, 0))
    for ask in asked:
        with pytest.raises(
            gv.SettingError, match=r"^state: saw (0|str|a state of another machine), expected a state of PDA"
        ):
            ask(state)


MACHINES = [gv.json(), gv.earley('root ::= "a"'), gv.regex("a")]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_step_from_no_state_or_by_no_byte_is_an_error_of_ours_and_the_dead_state_stays_dead(machine):
    assert [machine.step(None, byte) for byte in b"a["] == [None, None]
    assert not machine.is_accepting(None)
    other = gv.grammar('root ::= "b"').initial
    for state in ("q0", 10**9, -1, [], other):
        with pytest.raises(gv.SettingError, match=r"^state: saw .*, expected a state of"):
            machine.step(state, ord("a"))
    for byte in (256, "a", None, 1.5):
        with pytest.raises(gv.SettingError, match=r"^byte: saw .*, expected a number from 0 to 255"):
            machine.step(machine.initial, byte)
    with pytest.raises(gv.SettingError, match="text to read: saw str, expected bytes"):
        machine.accepts("a")
