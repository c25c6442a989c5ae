"""Answers to the exercises on tokens."""

import numpy as np

from guidedviz.machines.machine import read


def sort_token(rule, state, piece):
    finished = rule.is_accepting(state)
    for byte in piece:
        state = rule.step(state, byte)
        if state is None:
            return "dependent" if finished else "rejected"
        finished = finished or rule.is_accepting(state)
    return "accepted"


def sort_by_all_states(rule, state, piece):
    states = [state]
    for byte in piece:
        states.append(None if states[-1] is None else rule.step(states[-1], byte))
    if states[-1] is not None:
        return "accepted"
    return np.array(["rejected", "dependent"])[int(any(rule.is_accepting(one) for one in states if one is not None))]


def fill_mask(parts, on_stack):
    accepted = set().union(*(accepted for accepted, _ in parts))
    dependent = set().union(*(dependent for _, dependent in parts))
    return accepted | {token for token in dependent - accepted if on_stack(token)}


def mask_by_recursion(parts, on_stack, known=frozenset()):
    known = known.union(*(accepted for accepted, _ in parts))
    if not parts:
        return known
    return {*filter(on_stack, parts[0][1] - known)} | mask_by_recursion(parts[1:], on_stack, known)


def storage(count, size):
    ways = {"accepted": 4 * count, "rejected": 4 * (size - count), "bits": -(-size // 8)}
    return min(ways.items(), key=lambda way: way[1])


def heal(tokens, legal):
    left = b"".join(tokens)
    for place, piece in enumerate(tokens):
        if any(one.startswith(left) and one != left for one in legal[place]):
            return place
        left = left[len(piece) :]
    return len(tokens)


def heal_by_recursion(tokens, legal):
    left = b"".join(tokens)
    if not tokens or any(one.startswith(left) and one != left for one in legal[0]):
        return 0
    return 1 + heal_by_recursion(tokens[1:], legal[1:])


def speedup(fraction, pass_ms, token_ms, rows):
    naive = pass_ms + token_ms * rows
    return naive / ((1 - fraction) * pass_ms + token_ms * rows)


def faults(machine, state, pieces, allowed):
    legal = {token for token, piece in enumerate(pieces) if read(machine, piece, state) is not None}
    return legal - allowed, allowed - legal


RIGHT = {
    "sort_token": sort_token,
    "fill_mask": fill_mask,
    "storage": storage,
    "heal": heal,
    "speedup": speedup,
    "faults": faults,
}
LONGER = "one.startswith(left) and one != left"
SMALLEST = "min(ways.items(), key=lambda way: way[1])"
QUOTIENT = "naive / ((1 - fraction) * pass_ms + token_ms * rows)"
WRONG = {
    "sort_token": [
        ('"accepted"', '"dependent"', "the rule reads all of it"),
        ('"rejected"', '"accepted"', "the rule cannot read it"),
        ('"dependent"', '"rejected"', "the rules below it on the stack decide"),
        ("finished or rule", "rule", r"before the piece the rule is finished and \.}"),
        (
            "finished = rule.is_accepting(state)\n    for",
            "finished = False\n    for",
            "before the piece the rule is finished",
        ),
        ("finished = finished or rule.is_accepting(state)", "pass", "after a the rule is finished"),
        (
            "        state = rule",
            "        if finished:\n            return 'dependent'\n        state = rule",
            "reads all of it",
        ),
        (
            'return "accepted"',
            'return "accepted" if rule.is_accepting(state) else "dependent"',
            "the rule reads all of it",
        ),
        ("finished = rule.is_accepting(state)\n", "finished = rule.is_accepting(state := rule.initial)\n", "the rule"),
        ("rule.step(state, byte)", "rule.step(rule.initial, byte)", "the rule"),
        ('"accepted"', '"ACCEPTED"', '"accepted", "rejected" or "dependent" is expected'),
    ],
    "fill_mask": [
        (lambda parts, on_stack: set(), "token 1 is accepted at one node"),
        ("return accepted |", "return accepted or", "token 2 is context-dependent, and legal"),
        (" if on_stack(token)", "", "token 2 .* illegal on this stack"),
        ("dependent - accepted", "dependent", "known without the stack"),
        ("dependent - accepted", "range(10)", "known without the stack"),
        ("for accepted, _ in parts", "for accepted, _ in parts[:1]", "accepted at one|known without"),
        ("set().union(*(dependent for", "set.intersection(*(dependent for", "token 2 is context-dependent, and legal"),
        ("on_stack(token)", "on_stack({token})", "on_stack takes one id"),
        (lambda parts, on_stack: [token in parts[0][0] for token in range(9)], "np.flatnonzero"),
        (lambda parts, on_stack: parts[0], "ids are whole numbers"),
        (lambda parts, on_stack: [b"a"], "these are pieces"),
        ("return ", "return {9} | ", "token 9 is rejected at every node"),
    ],
    "storage": [
        (SMALLEST, '"accepted", 4 * count', "accepted takes 32 bytes, rejected 0, bits 1"),
        (SMALLEST, '"rejected", 4 * (size - count)', "accepted takes 0 bytes"),
        (', "bits": -(-size // 8)', "", "bits [56]"),
        ("-(-size // 8)", "size // 8", "bits 6"),
        ("-(-size // 8)", "size / 8", "bits 6"),
        ("4 * ", "", "accepted takes"),
        (SMALLEST, f"{SMALLEST}[0]", "a pair is expected"),
        ('"bits"', '"bitset"', "a pair is expected"),
    ],
    "heal": [
        (LONGER, "True", "what is left from place 0 is a, and no legal piece begins with it"),
        (LONGER, "False", "left from place 0 is a, and ab begins with it and is longer"),
        ("return len(tokens)", "return len(tokens) - 1", "a number of tokens is expected, from 0 to 0"),
        (LONGER, "len(one) > len(left)", "no legal piece begins with it"),
        ("one.startswith(left)", "left.startswith(one)", "begins with it"),
        (LONGER, "one.startswith(piece) and one != piece", "no legal piece"),
        ("left = left[len(piece) :]", "pass", "left from place 1 is"),
        ("return place", "return bool(place)", "a number of tokens is expected|begins with it"),
        ('left = b"".join(tokens)', 'left = b"".join(tokens).decode().encode()', "."),
        ("    left = b", "    while legal and len(legal[0]) > 1:\n        pass\n    left = b", "does not end"),
    ],
    "speedup": [
        (QUOTIENT, "1 / (1 - fraction)", r"\(1 - 0.5\) × 1 \+ 1 × 1 = 1.5 ms with it"),
        (QUOTIENT, "((1 - fraction) * pass_ms + token_ms * rows) / naive", "ms without jump-forward"),
        ("1 - fraction", "fraction", "ms"),
        (" * rows", "", "1 × 8"),
        ("naive = pass_ms + token_ms * rows", "naive = pass_ms", "without jump-forward"),
        (QUOTIENT, f"round({QUOTIENT}, 2)", "ms with it"),
        (QUOTIENT, f"f'{{{QUOTIENT}}} times'", "a number is expected"),
        (QUOTIENT, f"100 * {QUOTIENT}", "ms"),
    ],
    "faults": [
        (lambda *given: (set(), set()), "token 0, a, is legal, and the engine omits it, so it is missing"),
        ("legal - allowed, allowed - legal", "allowed - legal, legal - allowed", "so it is not|so it is missing"),
        (", allowed - legal", ", set()", "b, is illegal, and the engine allows it, so it is extra"),
        ("piece, state", "piece, machine.initial", "so it is not missing"),
        ("piece, state", "piece[-1:], state", "token"),
        ("is not None", "in machine.accepting", "token"),
        ("legal - allowed,", "{pieces.index(pieces[one]) for one in legal - allowed},", "the engine allows it"),
        ("legal - allowed, allowed - legal", "legal ^ allowed", "two sets of ids are expected"),
        ("legal - allowed, ", "[one in legal for one in range(6)], ", "np.flatnonzero"),
        ("legal - allowed,", "{*pieces},", "these are pieces"),
        ("legal - allowed,", "legal - allowed or None,", "a set of ids is expected"),
    ],
}
UNUSUAL = {
    "sort_token": [(sort_by_all_states,)],
    "fill_mask": [(mask_by_recursion,)],
    "storage": [("-(-size // 8)", "size // 8 + (size % 8 > 0)")],
    "heal": [(heal_by_recursion,)],
    "speedup": [(QUOTIENT, "1 / (1 - fraction * pass_ms / naive)")],
}
