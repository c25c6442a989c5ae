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


def chained(count, rule, end):
    """Rules r0, r1, ... that each call the next one."""
    rules = [rule.format(n=n, next=n + 1) for n in range(count)]
    return lines("root ::= r0", *rules, end)


@pytest.fixture(autouse=True)
def _in_time():
    with in_time(20):  # a hostile grammar took too long
        yield


READ = [
    ("root ::= root | [a]", b"a", b"a" * LONG),
    ('root ::= e e e\ne ::= "" | e', b"", b"a" * LONG),
    ('root ::= (e*)* "a"\ne ::= "b"?', b"b" * LONG + b"a", b"b" * LONG),
    ("root ::= " + '"a"? ' * 300, b"a" * 300, b"a" * 301),
    ("root ::= " + "x? " * 300 + '\nx ::= "a" | "(" x ")"', b"a" * 299 + b"((a))", b"a" * 301),
    ('root ::= a a a a a a\na ::= b b b b b b\nb ::= c c c c c c\nc ::= "x"?', b"x" * 216, b"x" * 217),
    ('root ::= x{0,5000}\nx ::= "a" | "b" x', b"a" * 5000, b"a" * 5001),
    ('root ::= root "x" | "a"', b"a" + b"x" * LONG, b"x" * LONG),
    ('root ::= "x" root | "a"', b"x" * LONG + b"a", b"x" * LONG),
    ('root ::= e root "x" | "a"\ne ::= "e"?', b"e" * 200 + b"a" + b"x" * 400, b"e" * 200 + b"a" + b"x" * 100),
    ('root ::= "a" root "a" | "b" root "b" | ""', b"ab" * 200 + b"ba" * 200, b"ab" * 400),
    ("root ::= " + "(" * 99 + '"a"' + ")" * 99, b"a", b"aa"),
    ("root ::= .*", "é".encode() * LONG, b"\xc3" * LONG),
    (JSON_GBNF, b'"' + b"x" * LONG + b'"', b"[" + b"1," * LONG + b"]"),
    (chained(1000, 'r{n} ::= r{next} "x"?', 'r1000 ::= "end"'), b"endxx", b"endend"),
    (lines("root ::= r0", *(f'r{n} ::= r{(n + 1) % 1000} "x" | "a"' for n in range(1000))), b"a" + b"x" * 999, b"x"),
    (chained(9, "r{n} ::= r{next} r{next}", 'r9 ::= "a"?'), b"a" * 40, b"b"),
    (lines("root ::= " + " | ".join(f"r{n}" for n in range(1000)),
           *(f'r{n} ::= "w{n};" r{n * 7 % 1000} | "."' for n in range(1000))), b"w5;w35;.", b"w5;w6;."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "good", "bad"), READ, ids=[text[:40] for text, _, _ in READ])
@pytest.mark.quick(every=4)
def test_it_is_read(text, good, bad):
    machine = gv.grammar(text)
    assert machine.accepts(good)
    assert not machine.accepts(bad)


REFUSED = [
    ("root ::= root", "the rule 'root' can never finish"),
    ("root ::= a\na ::= b\nb ::= a", "can never finish"),
    (lines(*(f"r{n} ::= r{(n + 1) % 5000}" for n in range(5000)), "root ::= r0"), "can never finish"),
    ('root ::= ("a"?){1000000}', "rule root: .*NFA states.*smaller repeat: .1000000. at position 15"),
    ('root ::= x{1000000}\nx ::= "a"?', "rule root: .*NFA states"),
    ('root ::= (((("a"{0,100}){0,100}){0,100}){0,100}){0,100}', "rule root: .*NFA states"),
    ("root ::= " + '"a"? ' * 2_000, "rule root: .*moves from NFA to DFA"),
    ("root ::= " + " | ".join(f'"word{n}"' for n in range(6_000)), "rule root: .*NFA states"),
    ('root ::= "' + "a" * 50_000 + '"', "rule root: .*NFA states"),
    ('root ::= "' + "a" * 1_000_001 + '"', "saw 1,000,012 characters, expected at most 1,000,000"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED, ids=[text[:40] for text, _ in REFUSED])
@pytest.mark.quick(every=4)
def test_it_is_refused_and_says_why(text, why):
    with pytest.raises(PatternError, match=why) as caught:
        gv.grammar(text)
    assert len(str(caught.value)) < 500


TWICE = 'root ::= "<" s ">"\ns ::= s s | "a"'
DOUBLED = chained(60, "r{n} ::= r{next} r{next}", 'r60 ::= "a"?')
THRICE = 'root ::= "<" s ">"\ns ::= s s s | s s | "a"*'


SHARED = [(TWICE, "500 stacks at one place of s,"), (THRICE, "300,000 moves for one byte in s,")]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "why"), SHARED)
def test_a_text_that_can_be_read_in_too_many_ways_ends_in_an_error_that_names_the_rule(text, why):
    machine = gv.grammar(text)
    assert machine.accepts(b"<" + b"a" * 50 + b">")
    with pytest.raises(PatternError, match=why) as caught:
        machine.accepts(b"<" + b"a" * LONG)
    assert caught.value.expected == "few ways to read a text"
    assert caught.value.hint == "rules that are not ambiguous"
    assert machine.accepts(b"<aa>"), "the machine stays good"


@pytest.mark.slow
def test_a_mask_of_an_ambiguous_grammar_ends_in_the_same_error(monkeypatch):
    """All pieces go on differently, and each is read in a hundred ways; few pieces are walked one by one."""
    pairs = [f'"{letter}" s "{letter}"' for letter in LETTERS]
    nested = " | ".join(pairs)
    machine = gv.grammar(f"root ::= s\ns ::= s s | {nested} | [a-z ]")
    short = product(LETTERS, LETTERS[:9])
    pieces = ["".join(pair).encode() for pair in short]
    few = gv.Vocabulary(pieces)
    state = read(machine, b"abcde" * 10)
    for vocabulary, most in ((gv.Vocabulary.llama3(), 10_000_000), (few, 500_000)):
        monkeypatch.setattr(lazy, "MOST_WALK_MOVES", most)
        guide = gv.guide(machine, vocabulary, engine="trie")
        said = f"saw more than {most:,} moves for one mask in s, expected"
        with pytest.raises(PatternError, match=said) as caught:
            guide.mask(state)
        assert caught.value.hint == "rules that are not ambiguous"


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
            held.append((read(machine, data[:3]), data))
        for state, data in held:
            if state is not None:
                before = read(plain, data[:3])
                assert machine.stack(state) == plain.stack(before)
                assert next_bytes(machine, state) == next_bytes(plain, before)
                end = read(machine, data[3:], state)
                same = read(plain, data[3:], before)
                assert (end is None) == (same is None)


def test_no_two_states_share_a_number(monkeypatch):
    monkeypatch.setattr(graph_file, "MOST_KEPT", 20)
    machine = gv.grammar(JSON_GBNF)
    held = {}
    for text in (b'{"a":[1,2]}', b'[[["x"]]]', b'{"a":[1,2]}'):
        for size in range(len(text)):
            state = read(machine, text[:size])
            assert held.setdefault(state.number, state) is state


def test_threads_that_ask_one_machine_at_once_all_get_the_right_answers(monkeypatch):
    """A page asks for masks, stacks and pictures at once, while the machine forgets."""
    monkeypatch.setattr(graph_file, "MOST_KEPT", 60)
    machine = gv.grammar(JSON_GBNF)
    texts = [b'{"a": [1, {"b": null}]}', b'[[[["x"]]]]', b'{"a":[1,2,}', b"[1.5e3, true]", b"[[[[[["]
    whole = [True, True, False, True, False]
    begun = [True, True, False, True, True]

    def ask(number):
        state = read(machine, b'{"a":[[', machine.initial)
        branches = len(machine.branches(state))
        rule = machine.unfinished(state).rule
        text = texts[number % len(texts)]
        stack = (machine.stack(state), branches, rule)
        return machine.accepts(text), machine.accepts_prefix(text), stack

    pace = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as threads:
            answers = list(threads.map(ask, range(300)))
    finally:
        sys.setswitchinterval(pace)
    for number, (complete, prefix, stack) in enumerate(answers):
        place = number % len(texts)
        assert complete == whole[place]
        assert prefix == begun[place]
        assert stack == (("array", "array", "object", "root"), 4, "array")


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
    for byte in (256, 10**20, "a", None, 1.5):
        with pytest.raises(gv.SettingError, match=r"^byte: saw .*, expected a number from 0 to 255"):
            machine.step(machine.initial, byte)


@pytest.mark.parametrize("read_it", [*(machine.accepts for machine in MACHINES), MACHINES[1].chart])
def test_a_text_that_is_no_bytes_is_refused(read_it):
    with pytest.raises(gv.SettingError, match="text to read: saw str, expected bytes"):
        read_it("a")
