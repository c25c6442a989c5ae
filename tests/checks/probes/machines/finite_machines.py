"""Answers to `advance` and `several_words`."""

import numpy as np

import guidedviz as gv
from tests.checks.answers import BARD, advance

# -- advance -------------------------------------------------------------------------------------------------------


def first_where(fits):
    return lambda moves, state, token: next((move[2] for move in moves if fits(move, state, token)), None)


def first_only(moves, state, token):
    for source, tokens, target in moves:
        if source == state and token in tokens:
            return target
        return None


def last_of_all(moves, state, token):
    found = None
    for source, tokens, target in moves:
        found = target if source == state and token in tokens else None
    return found


def raises(moves, state, token):
    return {(source, one): target for source, tokens, target in moves for one in tokens}[state, token]


def takes_off(moves, state, token):
    while moves:
        source, tokens, target = moves.pop(0)
        if source == state and token in tokens:
            return target
    return None


def by_table(moves, state, token):
    return {(source, one): target for source, tokens, target in moves for one in tokens}.get((state, token))


def by_recursion(moves, state, token):
    if not moves:
        return None
    (source, tokens, target), *others = moves
    return target if source == state and token in tokens else by_recursion(others, state, token)


# -- several_words -------------------------------------------------------------------------------------------------

VOCABULARY = gv.Vocabulary([character.encode() for character in BARD])
WORDS = (
    (0, "UPPER", 1), (1, "UPPER", 1), (1, " ", 2), (2, "UPPER", 1), (1, ":", 3), (3, " ", 4),
    (4, "LOWER", 5), (5, "LOWER", 5), (5, "\n", 6),
)  # fmt: skip


def build(*moves, start=0, accepting=6):
    fsm = gv.GuidedFSM(VOCABULARY, start=start, accepting=accepting)
    for source, what, target in moves:
        fsm.add_transition(source, what, target)
    return fsm


def without(*places):
    return build(*(move for place, move in enumerate(WORDS) if place not in places))


SPACE_LOOP = ((0, "UPPER", 9), (9, ["UPPER", " "], 9), (9, ":", 3), *(move for move in WORDS if move[0] > 2))
UNROLLED = [(f"s{source}", what, f"s{target}") for source, what, target in WORDS]

WRONG = {
    "advance": {
        "any token": (first_where(lambda move, state, token: move[0] == state), "no transition reads token 6"),
        "any state": (first_where(lambda move, state, token: token in move[1]), "leaves state 0, and this is state 1"),
        "0 taken for None": (lambda *given: advance(*given) or None, "a state is expected"),
        "the first transition only": (first_only, "None means that no transition fits"),
        "the last transition only": (last_of_all, "None means that no transition fits"),
        "the next by number": (
            lambda moves, state, token: moves[state % len(moves)][2] if token in moves[state % len(moves)][1] else None,
            "leaves state 0, and this is state 1",
        ),
        "an exception for None": (raises, "KeyError"),
        "False for None": (lambda *given: advance(*given) if advance(*given) is not None else False, "answer is None"),
        "-1 for None": (lambda *given: -1 if advance(*given) is None else advance(*given), "the answer is None"),
        "the state stays": (
            lambda moves, state, token: (advance(moves, state, token), state)[
                0 if advance(moves, state, token) is not None else 1
            ],
            "the answer is None",
        ),
        "the whole transition": (lambda moves, state, token: moves[0], "a whole number is expected"),
        "the token instead of its set": (first_where(lambda m, state, token: m[:2] == (state, {token})), "None means"),
        "its list emptied": (takes_off, "work on a copy"),
        "wrong arity": (lambda transitions, token: None, "the check calls it with 3 arguments"),
    },
    "several_words": {
        **{f"without {WORDS[place]}": (without(place), "no transition leaves|may not end in") for place in range(9)},
        "a space as a loop": (build(*SPACE_LOOP), "may end in 6"),
        "two spaces": (build(*WORDS, (2, " ", 2)), "may end in 6"),
        "a space in front": (build(*WORDS, (0, " ", 2)), "may end in 6"),
        "may end too early": (build(*WORDS, accepting=[5, 6]), "may end in 5"),
        "never accepting": (build(*WORDS, accepting="end"), "may not end in 6"),
        "several lines": (build(*WORDS, (6, "UPPER", 1)), "may end in 6"),
        "a regex with a mistake": ("[A-Z ]+: [a-z]+\n", "may end in"),
        "a machine that accepts nothing": (
            gv.machines.difference(gv.regex("a"), gv.regex("a")),
            "no transition leaves",
        ),
        "a function": (lambda: None, "no machine"),
    },
}
RIGHT = {
    "advance": {
        "a table": by_table,
        "recursion": by_recursion,
        "a NumPy integer": lambda *given: None if advance(*given) is None else np.int64(advance(*given)),
        "next with a default": first_where(lambda move, state, token: move[0] == state and token in move[1]),
    },
    "several_words": {
        "other names of states": build(*UNROLLED, ("s6", "LOWER", "nowhere"), start="s0", accepting="s6"),
        "more states than needed": build(
            *((0, "UPPER", 7), (7, "UPPER", 1), (7, " ", 2), (7, ":", 3)),
            *(move for move in WORDS if move[0]),
            (8, ":", 9),
        ),
        "tokens one by one": build(*((s, [*what] if what in (" ", ":") else what, t) for s, what, t in WORDS)),
        "a finite machine": gv.regex("[A-Z]+( [A-Z]+)*: [a-z]+\n"),
        "accepting where nothing leaves": build(*WORDS, accepting=None),
    },
}
