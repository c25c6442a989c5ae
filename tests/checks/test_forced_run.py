"""A wrong answer of lab 08 is told at the byte or the place where it goes wrong, and an endless one is stopped."""

import re
from random import Random

import pytest

import guidedviz as gv
from guidedviz.checks.forced_run import PRICES, SPELLED, count_kept
from guidedviz.tokens.jump import find_jump
from guidedviz.tokens.spelling import longest_tokens
from tests.checks.answers import forced, heal, speedup


def facts_of(verdict):
    assert verdict.result == "wrong", verdict
    return dict(verdict.facts)


each_check = pytest.mark.parametrize("check", [gv.checks.forced, gv.checks.heal, gv.checks.speedup])


@each_check
def test_a_crash_or_a_value_of_another_kind_is_a_wrong_answer(check):
    for value in (-7, 99, 0.5, "yes", [1], (1, 2, 3), object(), float("nan")):
        assert facts_of(check(lambda *given, value=value: value))["because"]
    assert "ZeroDivisionError" in facts_of(check(lambda *given: 1 / 0))["yours gave"]
    assert facts_of(check("yes"))["yours is"] == "'yes'"


def test_the_smallest_input_on_which_a_loop_does_not_end_is_shown():
    def wait(tokens, legal):
        while legal and len(legal[0]) > 1:
            pass
        return len(tokens)

    facts = facts_of(gv.checks.heal(wait))
    assert facts["legal[0]"] == "{b'a', b'ab'}"
    assert "does not end" in facts["yours gave"]


# -- a forced run --------------------------------------------------------------------------------------------------


def first_way(machine, state):
    """Goes on with the first byte that may come, as if there were no choice."""
    run = b""
    while not machine.is_accepting(state):
        run += bytes([next(byte for byte in range(256) if machine.step(state, byte) is not None)])
        state = machine.step(state, run[-1])
    return run


def one_state_after(machine, state):
    """Counts the states that may come next, not the bytes."""
    run = b""
    while not machine.is_accepting(state):
        ways = {machine.step(state, byte): byte for byte in range(256) if machine.step(state, byte) is not None}
        if len(ways) > 1:
            break
        ((state, byte),) = ways.items()
        run += bytes([byte])
    return run


def state_0_is_nothing(machine, state):
    """Takes state 0 for none."""
    run = b""
    while not machine.is_accepting(state):
        ways = [byte for byte in range(256) if machine.step(state, byte)]
        if len(ways) != 1:
            break
        run, state = run + bytes(ways), machine.step(state, ways[0])
    return run


def only_where_it_begins(machine, state):
    """Asks only at first whether the text may end."""
    return b"" if machine.is_accepting(state) else forced(machine, state, lambda *given: False)


@pytest.mark.parametrize(
    ("answer", "input_", "because"),
    [
        (lambda machine, state: b"", "regex a, in q0", "here only a may come, and the text may not end, so a is"),
        (lambda machine, state: forced(machine, state)[:1], "regex ab, in q0", "after a only b may come"),
        (lambda machine, state: forced(machine, 0), "regex ab, in q1", "here only b may come"),
        (first_way, "regex a|b, in q0", "here there is a choice, a b, so a is not forced"),
        (one_state_after, "regex a|b, in q0", "here there is a choice"),
        (lambda *given: forced(*given, lambda *given: False), "regex ab?, in q0", "after a the text may end, so b is"),
        (only_where_it_begins, "regex ab?, in q0", "after a the text may end, so b is not forced"),
        (state_0_is_nothing, "regex (ab)*, in q1", "here only b may come"),
        (lambda *given: forced(*given) + b"x", "regex a, in q0", "after a x cannot come"),
        (lambda *given: forced(*given, bytes_=range(1, 256)), r"regex a\x00b?, in q0", "after a only <0x00> may come"),
        (lambda *given: forced(*given, bytes_=range(128)), "regex café[0-9]", "after caf only <0xC3> may come"),
        (lambda *given: forced(*given)[:7], r'regex \{"name": "[a-z]+"\}', 'after {"name" only : may come'),
        (lambda *given: list(forced(*given)), "regex a, in q0", "bytes are expected"),
        (lambda *given: forced(*given).decode(), "regex a, in q0", "bytes are expected"),
    ],
)
def test_a_wrong_run_is_told_at_the_byte_where_it_goes_wrong(answer, input_, because):
    facts = facts_of(gv.checks.forced(answer))
    assert facts["input"].startswith(input_)
    assert because in facts["because"]


def test_a_run_may_be_built_in_a_bytearray():
    assert gv.checks.forced(lambda *given: bytearray(forced(*given)))


def test_the_picture_goes_the_way_of_the_student_s_bytes():
    past = gv.checks.forced(lambda *given: forced(*given, lambda *given: False)).figure
    assert "now in q2" in past.text
    dead = gv.checks.forced(lambda *given: forced(*given) + b"<x").figure
    assert "now in q1" in dead.text
    assert "&lt;" in dead.svg


# -- what is left to the model -------------------------------------------------------------------------------------


def goes_on(piece, left):
    return piece.startswith(left) and piece != left


def places(tokens, legal):
    """Every place where a legal piece begins with all that is left and is longer it."""
    left = [b"".join(tokens[place:]) for place in range(len(tokens))]
    return [place for place, pieces in enumerate(legal) if any(goes_on(one, left[place]) for one in pieces)]


def only_the_last(tokens, legal):
    return len(tokens) - (len(tokens) - 1 in places(tokens, legal))


def from_the_end(tokens, legal):
    """Stops at the first place, seen from the end, where nothing is longer."""
    keep = len(tokens)
    while keep - 1 in places(tokens, legal):
        keep -= 1
    return keep


def one_token_ahead(tokens, legal):
    """Compares with a token, not with all that is left."""
    found = (i for i, token in enumerate(tokens) if any(goes_on(piece, token) for piece in legal[i]))
    return next(found, len(tokens))


def equal_is_beyond(tokens, legal):
    left = [b"".join(tokens[i:]) for i in range(len(tokens))]
    found = (i for i in range(len(tokens)) if any(one.startswith(left[i]) for one in legal[i]))
    return next(found, len(tokens))


def longer_is_beyond(tokens, legal):
    left = [b"".join(tokens[i:]) for i in range(len(tokens))]
    found = (i for i in range(len(tokens)) if any(len(one) > len(left[i]) for one in legal[i]))
    return next(found, len(tokens))


def by_name(tokens, legal):
    """Looks a token up by what it is, not by where it stands."""
    found = (i for i, token in enumerate(tokens) if tokens.index(token) in places(tokens, legal))
    return next(found, len(tokens))


@pytest.mark.parametrize(
    ("answer", "tokens", "because"),
    [
        (lambda tokens, legal: 0, [b"a"], "what is left from place 0 is a, and no legal piece begins with it"),
        (lambda tokens, legal: len(tokens), [b"a"], "left from place 0 is a, and ab begins with it and is longer"),
        (lambda tokens, legal: len(tokens) - 1, [], "a number of tokens is expected, from 0 to 0"),
        (only_the_last, [b"a", b"b"], "left from place 0 is ab, and abc begins"),
        (lambda *given: (places(*given) or [len(given[0])])[-1], [b'{"', b"na", b"me", b'"'], 'place 1 is name"'),
        (from_the_end, [b"a", b"b"], "left from place 0 is ab"),
        (one_token_ahead, [b"a", b"b"], "left from place 0 is ab, and no legal piece"),
        (equal_is_beyond, [b"a"], "no legal piece begins with it"),
        (longer_is_beyond, [b"ab"], "no legal piece begins with it"),
        (by_name, [b"a", b"a"], "left from place 1 is a, and aa begins"),
        (lambda tokens, legal: bool(places(tokens, legal)), [b"a"], "no legal piece begins with it"),
    ],
)
def test_a_wrong_number_of_tokens_is_told_by_what_is_left(answer, tokens, because):
    facts = facts_of(gv.checks.heal(answer))
    assert facts["tokens"] == str(tokens)
    assert because in facts["because"]


def test_pieces_are_bytes_and_not_text():
    def as_text(tokens, legal):
        assert all(token.decode() for token in tokens)
        return heal(tokens, legal)

    assert "UnicodeDecodeError" in facts_of(gv.checks.heal(as_text))["yours gave"]


def test_an_answer_that_changes_what_it_is_given_is_told_so():
    def take_off(tokens, legal):
        keep = heal(tokens, legal)
        del tokens[keep:]
        return keep

    facts = facts_of(gv.checks.heal(take_off))
    assert facts["but"] == "it changed its input; work on a copy"
    assert "expected" not in facts


def test_the_inputs_tell_what_a_forced_run_is():
    """Each token is legal in its place."""
    assert all(token in pieces for tokens, legal in SPELLED for token, pieces in zip(tokens, legal, strict=True))
    assert {count_kept(tokens, legal) for tokens, legal in SPELLED} >= {0, 1, 2, 3}


def test_the_library_keeps_as_many_tokens():
    random, healed = Random(8), set()
    for _ in range(200):
        pieces = {b"a", b"b", *(bytes(random.choices(b"ab", k=random.randint(2, 4))) for _ in range(4))}
        v = gv.Vocabulary(sorted(pieces))
        run = "".join(random.choices("ab", k=random.randint(1, 6)))
        g = gv.guide(gv.regex(f"{run}[ab]"), v)
        tokens, states = list(longest_tokens(v, run.encode())), [g.initial]
        for token in tokens:
            states.append(g.advance(states[-1], token))
        legal = [{v.pieces[token] for token in g.mask(state).nonzero()[0]} for state in states[:-1]]
        keep = count_kept([v.pieces[token] for token in tokens], legal)
        healed.add(keep < len(tokens))
        if keep:
            assert find_jump(g, None, [], [g.initial], "longest").tokens == tuple(tokens[:keep])
    assert healed == {True, False}


# -- the speed-up --------------------------------------------------------------------------------------------------


def test_with_nothing_forced_nothing_is_gained_and_with_free_reading_it_is_the_bound():
    for fraction, pass_ms, token_ms, rows in PRICES:
        value = speedup(fraction, pass_ms, token_ms, rows)
        assert fraction or value == 1
        assert token_ms or value == pytest.approx(1 / (1 - fraction))
        assert rows < 10_000 or value == pytest.approx(1, abs=1e-3)


def price(reads_naive, reads_jump, pass_rows=False):
    """A speed-up by what a token is thought to cost to read, without jump-forward and with it."""

    def answer(fraction, pass_ms, token_ms, rows):
        pass_ms *= rows if pass_rows else 1
        naive = pass_ms + reads_naive(fraction, rows) * token_ms
        return naive / ((1 - fraction) * pass_ms + reads_jump(fraction, rows) * token_ms)

    return answer


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        (lambda fraction, *given: 1 / (1 - fraction), ("0.5", "1", "1", "1")),
        (lambda *given: 1 / speedup(*given), ("0.5", "1", "0", "1")),
        (lambda *given: 1.0, ("0.5", "1", "0", "1")),
        (lambda fraction, *given: speedup(min(1 - fraction, 0.5), *given), ("0", "1", "0", "1")),
        (lambda *given: speedup(*given[:3], 1), ("0.75", "9", "1", "8")),
        (price(lambda f, rows: rows, lambda f, rows: (1 - f) * rows), ("0.5", "1", "1", "1")),
        (price(lambda f, rows: rows, lambda f, rows: f * rows), ("0", "9", "1", "1")),
        (price(lambda f, rows: 0, lambda f, rows: rows), ("0", "9", "1", "1")),
        (price(lambda f, rows: rows, lambda f, rows: 1), ("0.75", "9", "1", "8")),
        (price(lambda f, rows: rows, lambda f, rows: rows, True), ("0.75", "9", "1", "8")),
        (lambda *given: round(speedup(*given), 2), ("0.5", "1", "1", "1")),
    ],
)
def test_a_wrong_speed_up_is_told_by_the_two_times(answer, given):
    facts = facts_of(gv.checks.speedup(answer))
    assert (facts["fraction"], facts["pass_ms"], facts["token_ms"], facts["rows"]) == given
    assert re.search(r"= [\d.]+ ms without jump-forward, and .* = [\d.]+ ms with it", facts["because"])
