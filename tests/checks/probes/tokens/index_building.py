"""Answers to `step_set`, `walk` and `index`."""

from collections import deque

import numpy as np

from guidedviz.machines.work import reach
from tests.checks.answers import index, step_set, walk

# -- step_set ------------------------------------------------------------------------------------------------------


def move(nfa, states, byte, reads=lambda low, byte, high: low <= byte <= high):
    return {target for state in states for low, high, target in nfa.edges[state] if reads(low, byte, high)}


def close(nfa, states):
    return set(reach(states, nfa.epsilon.__getitem__))


def step_with(reads):
    return lambda nfa, states, byte: close(nfa, move(nfa, states, byte, reads))


def one_epsilon_edge(nfa, states, byte):
    found = move(nfa, states, byte)
    return found.union(*(nfa.epsilon[state] for state in found))


def first_edge_only(nfa, states, byte):
    firsts = [nfa.edges[state][0] for state in states if nfa.edges[state]]
    return close(nfa, {target for low, high, target in firsts if low <= byte <= high})


def first_state_only(nfa, states, byte):
    return next((found for state in sorted(states) if (found := step_set(nfa, {state}, byte))), set())


def around_forever(nfa, states, byte):
    waiting = list(move(nfa, states, byte))
    for state in waiting:
        waiting.extend(nfa.epsilon[state])
    return set(waiting)


def by_descent(nfa, states, byte, known=True):
    found = set()

    def add(state):
        if not known or state not in found:
            found.add(state)
            for target in nfa.epsilon[state]:
                add(target)

    for state in move(nfa, states, byte):
        add(state)
    return found


def in_place(nfa, states, byte):
    new = step_set(nfa, states, byte)
    states.clear()
    states |= new
    return states


def until_nothing_is_new(nfa, states, byte):
    found, size = move(nfa, states, byte), -1
    while size != len(found):
        size = len(found)
        found = found.union(*(nfa.epsilon[state] for state in found))
    return frozenset(found)


# -- walk ----------------------------------------------------------------------------------------------------------


def walk_everything(node, machine, state):
    """Goes below refused nodes."""
    found = dict.fromkeys(node.tokens, state) if state is not None else {}
    for byte, child in node.children.items():
        found |= walk_everything(child, machine, machine.step(state, byte))
    return found


def every_token(node, machine, state):
    """Collects the pieces first, and asks the machine then."""
    found, waiting = {}, [(b"", node)]
    for piece, one in waiting:
        waiting += [(piece + bytes([byte]), child) for byte, child in one.children.items()]
        here = state
        for byte in piece:
            here = machine.step(here, byte) if here is not None else None
        found |= dict.fromkeys(one.tokens, here) if here is not None else {}
    return found


def from_the_root(node, machine, state):
    """Reads each piece again from its first byte."""
    found, waiting = {}, [(b"", node)]
    for piece, one in waiting:
        for byte, child in one.children.items():
            here = state
            for each in [*piece, byte]:
                here = here if here is None else machine.step(here, each)
            if here is not None:
                waiting.append((piece + bytes([byte]), child))
                found |= dict.fromkeys(child.tokens, here)
    return found


def walk_on(state_of, tokens_of=lambda child: child.tokens):
    """Takes `state_of(before, after)` along into the subtree."""

    def answer(node, machine, state):
        found = dict.fromkeys(tokens_of(node), state)
        for byte, child in node.children.items():
            after = machine.step(state, byte)
            if after is not None:
                found |= answer(child, machine, state_of(state, after))
        return found

    return answer


def children_only(node, machine, state):
    ways = ((machine.step(state, byte), child) for byte, child in node.children.items())
    return {token: after for after, child in ways if after is not None for token in child.tokens}


def results_lost(node, machine, state):
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        if (after := machine.step(state, byte)) is not None:
            results_lost(child, machine, after)
    return found


def truth_of_the_state(node, machine, state):
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        if after := machine.step(state, byte):
            found |= truth_of_the_state(child, machine, after)
    return found


def stops_at_the_first_refused(node, machine, state):
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        if (after := machine.step(state, byte)) is None:
            break
        found |= stops_at_the_first_refused(child, machine, after)
    return found


def leaves_only(node, machine, state):
    found = {} if node.children else dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        if (after := machine.step(state, byte)) is not None:
            found |= leaves_only(child, machine, after)
    return found


def accepting_only(node, machine, state):
    return {token: after for token, after in walk(node, machine, state).items() if machine.is_accepting(after)}


def asks_first(node, machine, state):
    """Calls itself for a refused child too, and returns at once."""
    if state is None:
        return {}
    below = (asks_first(child, machine, machine.step(state, byte)) for byte, child in node.children.items())
    return dict.fromkeys(node.tokens, state) | {token: after for row in below for token, after in row.items()}


def with_a_stack(node, machine, state):
    found, waiting = {}, deque([(node, state)])
    while waiting:
        one, here = waiting.pop()
        found.update((token, here) for token in one.tokens)
        after = {child: machine.step(here, byte) for byte, child in one.children.items()}
        waiting.extend((child, there) for child, there in after.items() if there is not None)
    return found


def asks_twice(node, machine, state):
    found = {token: np.int64(state) for token in node.tokens}
    for byte, child in node.children.items():
        if machine.step(state, byte) is not None:
            found |= asks_twice(child, machine, machine.step(state, byte))
    return found


# -- index ---------------------------------------------------------------------------------------------------------


def all_machine_states(root, machine, walk):
    return {state: walk(root, machine, state) for state in range(len(machine))}


def without_memory(root, machine, walk):
    index, waiting = {}, [machine.initial]
    for state in waiting:
        index[state] = walk(root, machine, state)
        waiting += index[state].values()
    return index


def one_level(root, machine, walk):
    first = walk(root, machine, machine.initial)
    return {machine.initial: first} | {state: walk(root, machine, state) for state in first.values()}


def walks_from_the_start(root, machine, walk):
    return {state: walk(root, machine, machine.initial) for state in index(root, machine, walk)}


def by_recursion(root, machine, walk, state=0, rows=None):
    rows = {} if rows is None else rows
    if state not in rows:
        rows[state] = walk(root, machine, state)
        for after in rows[state].values():
            by_recursion(root, machine, walk, after, rows)
    return rows


def in_rounds(root, machine, walk):
    rows, new = {}, {machine.initial}
    while new:
        rows |= {np.int32(state): walk(root, machine, state) for state in new}
        new = {after for row in rows.values() for after in row.values()} - {*map(int, rows)}
    return rows


WRONG = {
    "step_set": {
        "no epsilon edges": (move, "n1 is missing: an epsilon edge leads from n2"),
        "one epsilon edge in a row": (one_epsilon_edge, "is missing: an epsilon edge leads from"),
        "the epsilon edges before the byte": (lambda nfa, s, byte: move(nfa, close(nfa, s), byte), "is missing"),
        "the lowest byte only": (step_with(lambda low, byte, high: low == byte), "an edge that reads b leads there"),
        "the highest byte left out": (step_with(lambda low, byte, high: low <= byte < high), "an edge that reads a"),
        "any byte": (step_with(lambda low, byte, high: True), "n1 is too many: no edge that reads b"),
        "the first edge of each state": (first_edge_only, "is missing: an edge that reads a leads there"),
        "the first state that can": (first_state_only, "is missing"),
        "the old states stay": (lambda nfa, states, byte: states | step_set(nfa, states, byte), "n0 is too many"),
        "a closure without the states themselves": (
            lambda *given: step_set(*given) - move(*given),
            "an edge that reads a leads there from n0",
        ),
        "endless on a cycle": (around_forever, "it does not end|MemoryError"),
        "recursion on a cycle": (lambda *given: by_descent(*given, known=False), "RecursionError"),
        "None for the empty set": (lambda *given: step_set(*given) or None, "the empty set"),
        "a mask": (lambda nfa, *given: [n in step_set(nfa, *given) for n in range(len(nfa))], "np.flatnonzero"),
        "names": (lambda *given: {f"n{state}" for state in step_set(*given)}, "states are whole numbers"),
        "its states changed": (in_place, "work on a copy"),
        "wrong arity": (lambda nfa, states: set(), "the check calls it with 3 arguments"),
    },
    "walk": {
        "everything walked": (walk_everything, "nothing below that node is legal"),
        "every token, every byte": (every_token, "nothing below that node is legal"),
        "each piece from its first byte": (from_the_root, "each node needs one step"),
        "the state stays": (walk_on(lambda before, after: before), "token 0 leads from q0 to q1, not to 0"),
        "children only": (children_only, "is legal: every byte passes"),
        "the results of subtrees lost": (results_lost, "is legal: every byte passes"),
        "state 0 taken for None": (truth_of_the_state, "is legal: every byte passes"),
        "stops at the first refused child": (stops_at_the_first_refused, "is legal"),
        "leaves only": (leaves_only, "is legal"),
        "complete texts only": (accepting_only, "is legal"),
        "one id per node": (walk_on(lambda before, after: after, lambda child: child.tokens[:1]), "is legal"),
        "a set of ids": (lambda *given: {*walk(*given)}, "the ids are right; a dictionary is expected"),
        "a mask": (lambda *given: [token in walk(*given) for token in range(6)], "a dictionary .*np.flatnonzero"),
        "the bytes": (lambda *given: {bytes([65 + token]): state for token, state in walk(*given).items()}, "pieces"),
        "None where nothing is legal": (lambda *given: walk(*given) or None, "the empty dictionary"),
        "an id too many": (lambda *given: walk(*given) | {99: 0}, "an id is not in the vocabulary"),
        "no return": (lambda *given: walk(*given) if given[1].is_accepting(0) else None, "empty dictionary"),
    },
    "index": {
        "the initial state only": (lambda root, m, walk: {0: walk(root, m, 0)}, "q1 has no row, and token 0 leads"),
        "all states of the machine": (all_machine_states, "q1 has a row, and no token leads there"),
        "endless": (without_memory, "it does not end|MemoryError"),
        "one level": (one_level, "q\\d has no row, and token"),
        "every walk from the start": (walks_from_the_start, "in the row of q1, token 0 is illegal"),
        "without empty rows": (
            lambda *given: {state: row for state, row in index(*given).items() if row},
            "q1 has no row|q0 has no row",
        ),
        "rows of ids": (lambda *given: {s: {*row} for s, row in index(*given).items()}, "in the row of q0, the ids"),
        "a list of rows": (lambda *given: [*index(*given).values()], "for each state its row"),
        "names of states": (lambda *given: {f"q{s}": row for s, row in index(*given).items()}, "q0 has no row"),
        "the walk instead of its result": (lambda root, m, walk: {0: walk}, "in the row of q0, a dictionary"),
        "the initial state left out": (
            lambda *given: {state: row for state, row in index(*given).items() if state},
            "the machine starts there",
        ),
        "None for a state": (lambda *given: index(*given) | {None: {}}, "None has a row"),
        "ids counted from 1": (
            lambda *given: {s: {t + 1: n for t, n in row.items()} for s, row in index(*given).items()},
            "in the row of q0",
        ),
    },
}
RIGHT = {
    "step_set": {
        "recursion": by_descent,
        "until nothing is new": until_nothing_is_new,
        "a list, with states twice": lambda *given: [*step_set(*given)] * 2,
        "a generator": lambda *given: (state for state in step_set(*given)),
        "a NumPy array": lambda *given: np.array(sorted(step_set(*given)), dtype=np.int64),
        "a closure before the byte too": lambda nfa, states, byte: step_set(nfa, close(nfa, states), byte),
    },
    "walk": {
        "a stack instead of recursion": with_a_stack,
        "asks twice, and counts with NumPy": asks_twice,
        "the question at the beginning": asks_first,
    },
    "index": {
        "recursion": by_recursion,
        "in rounds, with NumPy numbers": in_rounds,
        "its own walk": lambda root, machine, _: index(root, machine, walk),
    },
}
