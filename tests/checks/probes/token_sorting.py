"""Answers to `sort_token`, `merge` and `storage`."""

import math

import numpy as np

from guidedviz.checks.token_sorting import merge_parts, ways_to_store
from tests.checks.answers import sort_token, storage

# -- sort_token ----------------------------------------------------------------------------------------------------


def only_at_the_end(rule, state, piece):
    """Forgets that a rule may have been finished before the byte that it cannot read."""
    for byte in piece:
        before, state = state, rule.step(state, byte)
        if state is None:
            return "ask" if rule.is_accepting(before) else "no"
    return "yes"


def not_before_the_piece(rule, state, piece):
    finished = False
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "ask" if finished else "no"
        finished = finished or rule.is_accepting(state)
    return "yes"


def only_before_the_piece(rule, state, piece):
    answer = sort_token(rule, state, piece)
    return "ask" if answer != "yes" and rule.is_accepting(state) else "no" if answer == "ask" else answer


def asks_where_it_is_finished(rule, state, piece):
    """Says "ask" as soon as the rule is finished, though it may read on."""
    for byte in piece:
        if rule.is_accepting(state):
            return "ask"
        state = rule.step(state, byte)
        if state is None:
            return "no"
    return "yes"


def yes_if_it_ends_accepting(rule, state, piece):
    answer = sort_token(rule, state, piece)
    for byte in piece:
        state = rule.step(state, byte) if state is not None else None
    return answer if answer != "yes" or rule.is_accepting(state) else "ask"


def asks_none(rule, state, piece):
    """Goes on with None instead of a state."""
    finished = rule.is_accepting(state)
    for byte in piece:
        state = rule.step(state, byte)
        finished = finished or rule.edges[state] == ()
    return "yes" if state is not None else "ask" if finished else "no"


def steps_from_the_start(rule, state, piece):
    """Reads each byte from the first state."""
    finished = rule.is_accepting(state)
    for byte in piece:
        after = rule.step(state, byte)
        if after is None:
            return "ask" if finished else "no"
        finished = finished or rule.is_accepting(after)
    return "yes"


def finished_once_it_began(rule, state, piece):
    answer = sort_token(rule, state, piece)
    return "ask" if answer == "no" and rule.step(state, piece[0]) else answer


def by_recursion(rule, state, piece, finished=False):
    if not piece:
        return "yes"
    finished = finished or rule.is_accepting(state)
    after = rule.step(state, piece[0])
    return ("ask" if finished else "no") if after is None else by_recursion(rule, after, piece[1:], finished)


def by_all_states(rule, state, piece):
    states = [state]
    for byte in piece:
        states.append(None if states[-1] is None else rule.step(states[-1], byte))
    if states[-1] is not None:
        return "yes"
    return np.array(["no", "ask"])[int(any(rule.is_accepting(one) for one in states if one is not None))]


# -- merge ---------------------------------------------------------------------------------------------------------


def both(join_yes, join_ask):
    """Each set joined by a function of sets."""
    return lambda parts: (join_yes(*(set(yes) for yes, _ in parts)), join_ask(*(set(ask) for _, ask in parts)))


def in_place(parts):
    for yes, ask in parts[1:]:
        parts[0][0].update(yes)
        parts[0][1].update(ask)
    return parts[0][0], parts[0][1] - parts[0][0]


def in_order(parts):
    """Takes off only what is sure at nodes before."""
    yes, ask = set(), set()
    for sure, asking in parts:
        ask |= asking - yes
        yes |= sure
    return yes, ask


def swapped(parts):
    return merge_parts(parts)[::-1]


def by_counts(parts):
    """Goes through all ids."""
    ids = range(10)
    sure = [i for i in ids if any(i in yes for yes, _ in parts)]
    return sure, (i for i in ids if i not in sure and any(i in ask for _, ask in parts))


def recursive(parts):
    (yes, ask), *others = parts
    if not others:
        return yes, ask - yes
    more, asking = recursive(others)
    return yes | more, (ask | asking) - yes - more


# -- storage -------------------------------------------------------------------------------------------------------


def smallest(ways):
    return lambda count, size: min(ways(count, size).items(), key=lambda way: way[1])


def without(kind):
    return smallest(lambda count, size: {k: n for k, n in ways_to_store(count, size).items() if k != kind})


def bits(number):
    return smallest(lambda count, size: ways_to_store(count, size) | {"bits": number(size)})


WRONG = {
    "sort_token": {
        "always ask": (lambda rule, state, piece: "ask", "the rule reads all of it"),
        "always yes": (lambda rule, state, piece: "yes", "the rule cannot read it"),
        "yes or no": (lambda *given: sort_token(*given).replace("ask", "no"), "the rules below it on the stack decide"),
        "the first byte": (lambda rule, state, piece: "no" if rule.step(state, piece[0]) is None else "yes", "decide"),
        "finished at the last state only": (only_at_the_end, r"before the piece the rule is finished and \.}"),
        "not before the piece": (not_before_the_piece, "before the piece the rule is finished"),
        "only before the piece": (only_before_the_piece, "after a the rule is finished"),
        "ask where it is finished": (asks_where_it_is_finished, "after a the rule is finished|the rule reads all"),
        "yes only where it is finished": (yes_if_it_ends_accepting, "the rule reads all of it"),
        "from the start": (lambda rule, state, piece: sort_token(rule, rule.initial, piece), "the rule"),
        "each byte from the first state": (steps_from_the_start, "the rule"),
        "finished once it has read a byte": (finished_once_it_began, "is not finished anywhere"),
        "None as a state": (asks_none, "TypeError"),
        "capitals": (lambda *given: sort_token(*given).upper(), '"yes", "no" or "ask" is expected'),
        "True and False": (
            lambda *given: {"yes": True, "no": False, "ask": None}[sort_token(*given)],
            '"yes", "no" or "ask" is expected',
        ),
        "no for an unfinished rule": (lambda *given: sort_token(*given).replace("no", "ask"), "not finished anywhere"),
    },
    "merge": {
        "nothing": (lambda parts: (set(), set()), "token 1 is surely legal at one node"),
        "ask forgotten": (lambda parts: (merge_parts(parts)[0], set()), "token 2 asks at one node"),
        "yes and ask overlap": (both(set.union, set.union), "token 1 is surely legal at one node"),
        "sure at every node": (both(set.intersection, set.union), "surely legal at one node"),
        "asks at every node": (both(set.union, set.intersection), "asks at one node"),
        "the first node": (lambda parts: parts[0], "token 2 is surely legal|asks at one node"),
        "the last node": (lambda parts: parts[-1], "surely legal|asks at one node"),
        "in order": (in_order, "surely legal at one node"),
        "swapped": (swapped, "surely legal at one node"),
        "one set": (lambda parts: set.union(*merge_parts(parts)), "two sets are expected"),
        "ids of no node": (lambda parts: (merge_parts(parts)[0] | {9}, merge_parts(parts)[1]), "token 9 is in no set"),
        "its input changed": (in_place, "work on a copy"),
        "masks of True and False": (
            lambda parts: [[i in one for i in range(9)] for one in merge_parts(parts)],
            "np.flatnonzero",
        ),
        "ask asks, yes is removed": (
            lambda parts: (
                merge_parts(parts)[0] - set().union(*(ask for _, ask in parts)),
                set().union(*(ask for _, ask in parts)),
            ),
            "surely legal at one node",
        ),
    },
    "storage": {
        "always accepted": (lambda count, size: ("accepted", 4 * count), "accepted takes 32 bytes, rejected 0, bits 1"),
        "always rejected": (lambda count, size: ("rejected", 4 * (size - count)), "accepted takes 0 bytes"),
        "always bits": (lambda count, size: ("bits", -(-size // 8)), "accepted takes 0 bytes"),
        "no bits": (without("bits"), "bits 5|bits 6"),
        "no rejected": (without("rejected"), "rejected 0"),
        "no accepted": (without("accepted"), "accepted takes"),
        "bits rounded down": (bits(lambda size: size // 8), "bits 6"),
        "bits with a fraction": (bits(lambda size: size / 8), "bits 6"),
        "a bit too many": (bits(lambda size: size // 8 + 1), "bits 5|bits 16,032"),
        "bits of 8 bytes": (bits(lambda size: size), "bits"),
        "one byte per id": (
            smallest(lambda count, size: {"accepted": count, "rejected": size - count, "bits": size / 8}),
            "accepted takes",
        ),
        "the most bytes": (
            lambda count, size: max(ways_to_store(count, size).items(), key=lambda way: way[1]),
            "bytes",
        ),
        "the kind alone": (lambda count, size: storage(count, size)[0], "a pair is expected"),
        "the bytes first": (lambda count, size: storage(count, size)[::-1], "a pair is expected"),
        "another name": (lambda count, size: ("bitset", storage(count, size)[1]), "a pair is expected"),
    },
}
RIGHT = {
    "sort_token": {
        "recursion": by_recursion,
        "all states first": by_all_states,
        "a text of another class": lambda *given: type("Word", (str,), {})(sort_token(*given)),
    },
    "merge": {
        "a list and a generator": by_counts,
        "recursion": recursive,
        "NumPy arrays": lambda parts: [np.array(sorted(one), dtype=int) for one in merge_parts(parts)],
        "frozen sets": lambda parts: tuple(map(frozenset, merge_parts(parts))),
    },
    "storage": {
        "a list": lambda count, size: [*storage(count, size)],
        "math.ceil": bits(lambda size: math.ceil(size / 8)),
        "a NumPy integer": lambda count, size: (storage(count, size)[0], np.int64(storage(count, size)[1])),
        "a generator": lambda count, size: iter(storage(count, size)),
    },
}
