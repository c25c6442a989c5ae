"""Answers to `sort_token`, `fill_mask` and `storage`."""

import math

import numpy as np

from guidedviz.checks.tokens.token_sorting import ways_to_store
from tests.checks.answers import sort_token, storage

# -- sort_token ----------------------------------------------------------------------------------------------------


def only_at_the_end(rule, state, piece):
    """Forgets that a rule may have been finished before the byte that it cannot read."""
    for byte in piece:
        before, state = state, rule.step(state, byte)
        if state is None:
            return "dependent" if rule.is_accepting(before) else "rejected"
    return "accepted"


def not_before_the_piece(rule, state, piece):
    finished = False
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(state)
    return "accepted"


def only_before_the_piece(rule, state, piece):
    answer = sort_token(rule, state, piece)
    return (
        "dependent"
        if answer != "accepted" and rule.is_accepting(state)
        else "rejected"
        if answer == "dependent"
        else answer
    )


def asks_where_it_is_finished(rule, state, piece):
    """Says "dependent" as soon as the rule is finished, though it may read on."""
    for byte in piece:
        if rule.is_accepting(state):
            return "dependent"
        state = rule.step(state, byte)
        if state is None:
            return "rejected"
    return "accepted"


def yes_if_it_ends_accepting(rule, state, piece):
    answer = sort_token(rule, state, piece)
    for byte in piece:
        state = rule.step(state, byte) if state is not None else None
    return answer if answer != "accepted" or rule.is_accepting(state) else "dependent"


def asks_none(rule, state, piece):
    """Goes on with None instead of a state."""
    finished = rule.is_accepting(state)
    for byte in piece:
        state = rule.step(state, byte)
        finished = finished or rule.edges[state] == ()
    return "accepted" if state is not None else "dependent" if finished else "rejected"


def steps_from_the_start(rule, state, piece):
    """Reads each byte from the first state."""
    finished = rule.is_accepting(state)
    for byte in piece:
        after = rule.step(state, byte)
        if after is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(after)
    return "accepted"


def finished_once_it_began(rule, state, piece):
    answer = sort_token(rule, state, piece)
    return "dependent" if answer == "rejected" and rule.step(state, piece[0]) else answer


def by_recursion(rule, state, piece, finished=False):
    if not piece:
        return "accepted"
    finished = finished or rule.is_accepting(state)
    after = rule.step(state, piece[0])
    return (
        ("dependent" if finished else "rejected") if after is None else by_recursion(rule, after, piece[1:], finished)
    )


def by_all_states(rule, state, piece):
    states = [state]
    for byte in piece:
        states.append(None if states[-1] is None else rule.step(states[-1], byte))
    if states[-1] is not None:
        return "accepted"
    return np.array(["rejected", "dependent"])[int(any(rule.is_accepting(one) for one in states if one is not None))]


# -- fill_mask -----------------------------------------------------------------------------------------------------


def ask_first(parts, on_stack):
    """Looks up each context-dependent token of each node, although another node accepts some of them."""
    legal = set().union(*(accepted for accepted, _ in parts))
    for _, dependent in parts:
        legal |= {token for token in dependent if on_stack(token)}
    return legal


def in_order(parts, on_stack):
    """Looks up what no node before accepts."""
    legal = set()
    for accepted, dependent in parts:
        legal |= {token for token in dependent - legal if on_stack(token)} | accepted
    return legal


def in_place(parts, on_stack):
    accepted, dependent = parts[0]
    for more, others in parts[1:]:
        accepted.update(more)
        dependent.update(others)
    return accepted | {token for token in dependent - accepted if on_stack(token)}


def both(join_accepted, join_dependent, keep=lambda dependent, on_stack: set(filter(on_stack, dependent))):
    """Each set joined by a function of sets."""

    def answer(parts, on_stack):
        accepted = join_accepted(*(one for one, _ in parts))
        return accepted | keep(join_dependent(*(one for _, one in parts)) - accepted, on_stack)

    return answer


def recursive(parts, on_stack, known=frozenset()):
    known = known.union(*(accepted for accepted, _ in parts))
    if not parts:
        return known
    return {*filter(on_stack, parts[0][1] - known)} | recursive(parts[1:], on_stack, known)


def by_masks(parts, on_stack):
    legal = np.zeros(10, dtype=bool)
    for accepted, _ in parts:
        legal[list(accepted)] = True
    for token in sorted(set().union(*(dependent for _, dependent in parts))):
        legal[token] = legal[token] or on_stack(token)
    return np.flatnonzero(legal)


# -- storage -------------------------------------------------------------------------------------------------------


def smallest(ways):
    return lambda count, size: min(ways(count, size).items(), key=lambda way: way[1])


def without(kind):
    return smallest(lambda count, size: {k: n for k, n in ways_to_store(count, size).items() if k != kind})


def bits(number):
    return smallest(lambda count, size: ways_to_store(count, size) | {"bits": number(size)})


WRONG = {
    "sort_token": {
        "always ask": (lambda rule, state, piece: "dependent", "the rule reads all of it"),
        "always yes": (lambda rule, state, piece: "accepted", "the rule cannot read it"),
        "no third verdict": (
            lambda *given: sort_token(*given).replace("dependent", "rejected"),
            "the rules below it on the stack decide",
        ),
        "the first byte": (
            lambda rule, state, piece: "rejected" if rule.step(state, piece[0]) is None else "accepted",
            "decide",
        ),
        "finished at the last state only": (only_at_the_end, r"before the piece the rule is finished and \.}"),
        "not before the piece": (not_before_the_piece, "before the piece the rule is finished"),
        "only before the piece": (only_before_the_piece, "after a the rule is finished"),
        "ask where it is finished": (asks_where_it_is_finished, "after a the rule is finished|the rule reads all"),
        "yes only where it is finished": (yes_if_it_ends_accepting, "the rule reads all of it"),
        "from the start": (lambda rule, state, piece: sort_token(rule, rule.initial, piece), "the rule"),
        "each byte from the first state": (steps_from_the_start, "the rule"),
        "finished once it has read a byte": (finished_once_it_began, "is not finished anywhere"),
        "None as a state": (asks_none, "TypeError"),
        "capitals": (lambda *given: sort_token(*given).upper(), '"accepted", "rejected" or "dependent" is expected'),
        "True and False": (
            lambda *given: {"accepted": True, "rejected": False, "dependent": None}[sort_token(*given)],
            '"accepted", "rejected" or "dependent" is expected',
        ),
        "no for an unfinished rule": (
            lambda *given: sort_token(*given).replace("rejected", "dependent"),
            "not finished anywhere",
        ),
    },
    "fill_mask": {
        "nothing": (lambda parts, on_stack: set(), "token 1 is accepted at one node"),
        "the stack forgotten": (both(set.union, lambda *sets: set()), "token 2 is context-dependent, and legal"),
        "all that depend": (
            both(set.union, set.union, lambda some, on_stack: some),
            "token 2 .* illegal on this stack",
        ),
        "what the stack refuses": (
            both(set.union, set.union, lambda some, on_stack: {one for one in some if not on_stack(one)}),
            "token 2 is context-dependent, and legal",
        ),
        "each dependent token looked up": (ask_first, "known without the stack"),
        "in order": (in_order, "known without the stack"),
        "all tokens looked up": (
            lambda parts, on_stack: {token for token in range(10) if on_stack(token)},
            "known without the stack",
        ),
        "accepted at every node": (both(set.intersection, set.union), "known without the stack|accepted at one node"),
        "dependent at every node": (both(set.union, set.intersection), "token 2 is context-dependent, and legal"),
        "the first node": (lambda parts, on_stack: both(set.union, set.union)(parts[:1], on_stack), "accepted at one"),
        "the last node": (lambda parts, on_stack: both(set.union, set.union)(parts[-1:], on_stack), "at one node"),
        "its input changed": (in_place, "work on a copy"),
        "the stack asked for a set": (
            lambda parts, on_stack: parts[0][0] | (parts[0][1] if parts[0][1] and on_stack(parts[0][1]) else set()),
            "on_stack takes one id",
        ),
        "a mask": (
            lambda parts, on_stack: [token in both(set.union, set.union)(parts, on_stack) for token in range(9)],
            "np.flatnonzero",
        ),
        "two sets": (lambda parts, on_stack: parts[0], "ids are whole numbers"),
        "pieces": (lambda parts, on_stack: [b"a"], "these are pieces"),
        "ids of no node": (
            lambda parts, on_stack: both(set.union, set.union)(parts, on_stack) | {9},
            "token 9 is rejected at every node",
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
    "fill_mask": {
        "recursion": recursive,
        "a NumPy mask": by_masks,
        "a generator": lambda parts, on_stack: iter(both(set.union, set.union)(parts, on_stack)),
        "a list": lambda parts, on_stack: sorted(both(set.union, set.union)(parts, on_stack)),
    },
    "storage": {
        "a list": lambda count, size: [*storage(count, size)],
        "math.ceil": bits(lambda size: math.ceil(size / 8)),
        "a NumPy integer": lambda count, size: (storage(count, size)[0], np.int64(storage(count, size)[1])),
        "a generator": lambda count, size: iter(storage(count, size)),
    },
}
