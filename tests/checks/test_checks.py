"""A check says right, not done yet, or on which first input an answer fails and why; it never raises."""

import re
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given

import guidedviz as gv
from guidedviz.checks.cases import Case
from guidedviz.checks.earley import GRAMMARS, finished_items
from guidedviz.checks.forced_bytes import SPELLED, count_kept
from guidedviz.checks.function import check_function
from guidedviz.checks.grammars import GIVEN, LISTS, MIRROR
from guidedviz.checks.masks import SETS, SLICES, TOKENS, shortest_refused, sort_by_ends, ways_to_store
from guidedviz.checks.texts import say_texts
from guidedviz.checks.verdict import Verdict, show
from guidedviz.machines.machine import read
from guidedviz.tokens.jump import find_jump
from guidedviz.tokens.vocabulary import longest_tokens
from tests.checks.answers import FUNCTIONS, RIGHT, UNUSUAL, VALUES, WRONG, changed, check
from tests.checks.answers.functions import smaller_while_it_can, step_set_one_level, step_set_without_memory
from tests.checks.answers.machines import levels
from tests.checks.answers.own_engine import MILESTONES
from tests.checks.answers.wrong import is_refused, not_refused
from tests.common import legal_tokens
from tests.strategies import regexes, show_rules

here = pytest.mark.usefixtures("in_this_process")


def crash(*_):
    raise ZeroDivisionError("oh no")


def not_written(*_):
    raise NotImplementedError


def other(value):
    """The same value in other types, as NumPy, generators and subclasses give it."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int | float):
        return np.array(value)[()]
    if isinstance(value, dict):
        others = {other(key): other(one) for key, one in value.items()}
        return type("Mapping", (dict,), {})(others)
    if isinstance(value, tuple):
        return tuple(map(other, value))
    if isinstance(value, list | np.ndarray):
        return (other(one) for one in value)
    if isinstance(value, set):
        return frozenset(map(other, value))
    if isinstance(value, str):
        return type("Text", (str,), {})(value)
    return value


class Rude:
    """A value that fails whatever is done with it."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    def __iter__(self):
        raise RuntimeError("no iteration")

    __hash__ = None


# -- every check ---------------------------------------------------------------------------------------------------


def test_every_check_has_a_right_answer_and_six_wrong_ones():
    names = [name for name, _ in WRONG]
    assert set(RIGHT) == set(gv.checks.__all__) - set(MILESTONES)  # those have mutants of a whole engine
    assert [name for name in RIGHT if names.count(name) < 6] == []


@here
@pytest.mark.parametrize(("name", "answer"), [*RIGHT.items(), *UNUSUAL])
def test_a_right_answer_is_right(name, answer):
    verdict = check(name, answer)
    assert verdict.result == "right", verdict


@here
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_right_answer_may_have_other_types(name):
    def answer(*given):
        return other(FUNCTIONS[name](*given))

    verdict = check(name, answer)
    assert verdict.result == "right", verdict


@pytest.mark.parametrize("most", [1, pytest.param(None, marks=pytest.mark.slow)], ids=["first", "all"])
@pytest.mark.parametrize("name", RIGHT)
def test_a_wrong_answer_is_wrong_and_says_why(name, most, apart):
    assert apart.submit(not_refused, name, most).result() == []


def test_a_verdict_without_a_reason_is_found():
    gave = ("yours gave", "2")
    because = ("because", "it is odd")
    assert is_refused(Verdict("wrong", "", (gave, because)))
    assert not is_refused(Verdict("wrong", "", (gave,)))
    error = ("yours gave", "NameError: x")
    assert not is_refused(Verdict("wrong", "", (error, because)))
    assert not is_refused(Verdict("right", "", (because,)))


@here
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.quick(every=2)
class TestEveryFunction:
    def test_an_empty_answer_is_not_done_yet(self, name):
        for empty in (None, ..., lambda *_: None, lambda *_: ..., not_written):
            assert check(name, empty).result == "open"
        assert check(name, lambda *_: None).said.startswith("it returned None on every input")

    def test_a_wrong_one_is_wrong_and_never_raises(self, name):
        nested = ([None], [[1]], {1: 2}, {0: True}, {0: [1]})
        values = (*nested, "?", 3.5, 7, (1, 2, 3), Rude(), ValueError)
        values += (float("nan"), ValueError("returned"))
        answers = [lambda *_, value=value: value for value in values]
        for wrong in (*answers, crash, lambda: 1, 7, "x"):
            verdict = check(name, wrong)
            assert verdict.result == "wrong"
            assert repr(verdict)
            assert verdict._repr_html_()

    def test_a_crash_is_shown_with_its_input(self, name):
        facts = check(name, crash).facts
        assert dict(facts)["yours gave"] == "ZeroDivisionError: oh no"
        assert facts[0][0] != "yours gave"


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.quick(every=3)
def test_an_empty_value_is_not_done_yet(name):
    assert check(name, None).result == "open"
    assert check(name, ...).result == "open"


# -- verdicts ------------------------------------------------------------------------------------------------------


def test_the_first_failing_input_is_shown():
    cases = [Case((number,), number) for number in (1, 2, 3)]
    verdict = check_function(lambda x: x if x < 2 else 0, cases)
    assert dict(verdict.facts)["input"] == "2"
    assert "input 2 of 3" in verdict.said


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("i += tree.size[i]", "i += tree.size[i] + 1", "continue at exactly i + size"),
        ("if after is None:", "if not after:", "State 0 is a state, too"),
    ],
)
def test_the_check_of_the_jump_names_the_usual_slips(old, new, why):
    verdict = gv.checks.jump(changed("jump", old, new))
    assert why in dict(verdict.facts)["because"]


@pytest.mark.parametrize("bias", [{"yes": 100}, {259: 1000}])
def test_a_bias_that_is_not_allowed_gets_its_error_and_no_other_reason(bias):
    facts = dict(check("only_answers", bias).facts)
    assert facts["yours gave"].startswith("SettingError: ")
    assert "because" not in facts


@pytest.mark.parametrize(
    ("bias", "why"),
    [
        ({b"yes": 34, b"no": 34}, "raise both more, and no other token"),
        ({b"yes": 100, b"no": 90}, "raise both by the same number"),
    ],
)
def test_a_bias_that_is_too_small_and_one_that_changes_the_ratio_get_their_own_reason(clerk, bias, why):
    ids = {token: amount for word, amount in bias.items() for token in clerk.vocabulary.ids(word)}
    assert dict(gv.checks.only_answers(ids, clerk).facts)["because"].endswith(why)


def test_a_card_escapes_what_a_student_wrote_and_cuts_what_is_long():
    assert "<b>" not in Verdict("wrong", "<b>", (("<b>", "<b>"),))._repr_html_()
    assert len(show(list(range(1000)))) == 160


@pytest.mark.parametrize(
    ("name", "change", "because"),
    [
        ("masked_loop", ("seed, position", "seed, 0"), "each position, from 0, has its own draw"),
        (
            "masked_loop",
            ("gv.sampling.apply_mask(model.logits([*tokens, *new]), legal)", "model.logits([*tokens, *new])"),
            "only this token is legal: the mask comes before the softmax",
        ),
        ("masked_loop", ("return new", "return [*tokens, *new]"), "without those that were given"),
        ("step_set", ("<= high", "< high"), "the edges with low <= byte <= high"),
        (
            "walk",
            ("walk(child, machine, after)", "walk(child, machine, machine.step(state, byte))"),
            "asks the machine 2 times, 1 would do: once per child",
        ),
        ("masked_loop", ("[*tokens, *new]", "tokens"), "the model reads all tokens so far"),
        ("masked_loop", ("sample(gv.sampling.softmax(logits), seed, position)", "np.argmax(logits)"), "is drawn"),
        ("token_mask", ('raise ValueError("no legal token")', "return None"), "raise a ValueError"),
        ("compile_pattern", ('"+*":', '"+":'), "* is ? with a loop"),
        ("step_set", step_set_without_memory, "(here they form a cycle)"),
        ("step_set", step_set_one_level, "then epsilon edges until no state is new"),
        ("schema_to_regex", ("schema_to_regex(value)", "LEAVES[value['type']]"), "the function calls itself"),
        ("who_emptied", smaller_while_it_can, "need not be the smallest"),
        ("may_end", ("stack is not None and ", "bool(stack) and "), "on an empty stack no rule waits"),
    ],
)
def test_the_sentence_names_the_mistake(name, change, because):
    answer = changed(name, *change) if isinstance(change, tuple) else change
    facts = dict(check(name, answer).facts)
    assert because in facts.get("because", facts["yours gave"])


# -- machines ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error::FutureWarning")  # Python's, of a set in a set
@pytest.mark.parametrize("wrong", ["[0--1]", "1[1-0]"])
def test_a_class_without_a_digit_is_named_and_python_does_not_warn(wrong):
    verdict = check("at_most", lambda n: f"{wrong}|{n}")
    facts = dict(verdict.facts)
    assert facts["error"].endswith("expected a class with a digit; try: leave this part out where no digit is smaller")


def test_of_a_regex_that_nobody_could_read_the_length_is_said():
    def answer(n):
        return FUNCTIONS["at_most"](n) if n < 10**6 else "0|" * 60_000 + "0"

    facts = dict(check("at_most", answer).facts)
    assert facts["yours gave"] == "it gave a text of more than 100,000 characters"
    assert re.fullmatch(r"a regex of \d{3} characters", facts["expected"])


@pytest.mark.parametrize(
    ("answer", "text", "yours", "path"),
    [
        ("[0-9]*", "the empty text", "accepts it", "q0"),
        ("[0-9]", "00", "refuses it", "q0 → q1 ✕ 0"),
        ("é+|[0-9]+", "é", "accepts it", "q0 → q2 → q3"),
    ],
)
def test_the_shortest_wrong_text_is_shown_with_its_path(answer, text, yours, path):
    facts = dict(say_texts(gv.regex, Case((), "[0-9]+"), answer).gave)
    assert facts["text"] == text
    assert facts["yours"] == yours
    assert facts["its path"] == path
    assert facts["expected"] != yours


@given(regexes, regexes)
def test_the_shown_text_is_judged_as_python_judges_it(one, other):
    assume(one and gv.regex(one) != gv.regex(other))
    facts = dict(say_texts(gv.regex, Case((), other), one).gave)
    text = gv.machines.shortest_difference(gv.regex(one), gv.regex(other))
    accepted = bool(re.fullmatch(one, text.decode(), re.ASCII))
    assert facts["yours"] == ("accepts it" if accepted else "refuses it")


def test_of_a_long_path_the_two_ends_are_named():
    found = say_texts(gv.regex, Case((), "a{41}"), "a{40}")
    assert dict(found.gave)["its path"] == "q0 → q1 → q2 → … → q37 → q38 → q39 → q40"


@pytest.mark.parametrize(("name", "truth"), [("mirror", MIRROR), ("lists", LISTS)])
def test_the_given_grammar_is_not_done_yet_whatever_its_blanks(name, truth):
    assert check(name, f"\n{GIVEN[truth]}\n").result == "open"
    assert check(name, " \n").result == "open"


def test_the_bugs_of_the_list_come_one_after_another():
    first = GIVEN[LISTS]
    second = first.replace('item ("," item?)*', '(item ("," item?)*)?')
    third = second.replace("[0-9]+", '"0" | [1-9] [0-9]*')
    texts = [dict(check("lists", one).facts)["text"] for one in (first, second, third)]
    assert texts == ["[]", "[00]", "[0,]"]


@pytest.mark.parametrize("count", [5, 49])
def test_a_grammar_of_some_levels_fails_one_level_deeper(count):
    verdict = check("mirror", levels(count))
    assert len(dict(verdict.facts)["text"]) > 2 * count
    assert verdict.said.startswith("every text of up to ")
    assert len(dict(verdict.facts)["because"]) <= 160


# -- the references of the checks against other oracles ------------------------------------------------------------


def test_the_charts_are_those_of_the_library():
    for rules, text in GRAMMARS:
        chart, _ = list(finished_items(rules, text))[-1]
        columns = gv.earley(show_rules(rules)).chart(text.encode())
        sizes = [len(column) for column in chart[:-1]]
        expected = [len(column.items) for column in columns[:-1]]
        assert sizes == expected


def test_a_sorted_token_is_what_python_s_re_says_of_the_rule():
    """Dependent where a part of the token completes the rule, accepted where more than the token can complete it."""
    for text, begun, piece in TOKENS:
        data = (begun + piece).decode()
        ends = range(len(begun) + 1, len(data))
        complete = [end for end in ends if re.fullmatch(text, data[:end])]
        longer = [data + rest for rest in ("", "0", "a", "b", '"', 'a"')]
        goes_on = any(re.fullmatch(text, one) for one in longer)
        machine = gv.regex(text)
        right = "dependent" if complete else "rejected"
        if goes_on:
            right = "accepted"
        assert sort_by_ends(machine, read(machine, begun), piece)[0] == right


def test_no_set_can_be_stored_in_two_ways_of_the_same_size():
    for count, size in SETS:
        ways = sorted(ways_to_store(count, size).values())
        assert ways[0] < ways[1]


def legal_pieces(guide, state):
    return {guide.vocabulary.pieces[token] for token in legal_tokens(guide, state)}


def test_the_library_keeps_as_many_tokens_of_a_forced_run():
    kept = {count_kept(tokens, legal) for tokens, legal in SPELLED}
    assert kept >= {0, 1, 2}
    random = Random(8)
    healed = set()
    for _ in range(200):
        pieces = {b"a", b"b"}
        for _ in range(4):
            length = random.randint(2, 4)
            pieces.add(bytes(random.choices(b"ab", k=length)))
        v = gv.Vocabulary(sorted(pieces))
        run = "".join(random.choices("ab", k=random.randint(1, 6)))
        g = gv.guide(gv.regex(f"{run}[ab]"), v)
        tokens = list(longest_tokens(v, run.encode()))
        states = [g.initial]
        for token in tokens:
            states.append(g.advance(states[-1], token))
        legal = [legal_pieces(g, state) for state in states[:-1]]
        keep = count_kept([v.pieces[token] for token in tokens], legal)
        healed.add(keep < len(tokens))
        if keep:
            jump = find_jump(g, None, [], [g.initial], "longest")
            assert jump.tokens == tuple(tokens[:keep])
    assert healed == {True, False}


def test_the_shortest_refused_text_is_refused_and_no_slice_has_a_shorter_one():
    for text, begun, part in SLICES:
        machine = gv.regex(text)
        inner = gv.regex(part)
        state = read(machine, begun)
        found = shortest_refused(machine, state, inner)
        assert (found is None) == FUNCTIONS["whole"](machine, state, inner)
        if found is not None:
            assert inner.accepts_prefix(found)
            assert not machine.accepts_prefix(begun + found)
            assert machine.accepts_prefix(begun + found[:-1])


# -- pictures ------------------------------------------------------------------------------------------------------


def test_a_picture_shows_what_the_answer_did():
    assert "now in n0" in check("step_set", lambda nfa, states, byte: {0}).figure.text
    assert "now in q1, where b cannot come" in check("forced", lambda machine, state: b"ab").figure.text
    assert "&lt;" in check("forced", changed("forced", "return run", "return run + b'<x'")).figure.svg
    assert check("complete", lambda chart, done: []).figure.text.startswith("the text 1, 1 lexeme; chart: 2 columns")


@pytest.mark.parametrize("answer", [gv.sampling.softmax, partial(gv.sampling.softmax, temperature=1.0)])
def test_a_function_of_the_library_is_no_answer_also_with_an_argument_filled_in(answer):
    assert "a function of the library" in repr(gv.checks.softmax(answer))
