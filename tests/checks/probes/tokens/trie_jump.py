"""Answers to `jump` and `whole`."""

import numpy as np

from guidedviz.machines.machine import next_bytes
from tests.checks.answers import jump, whole

# -- jump ----------------------------------------------------------------------------------------------------------


def walk_without_jumps(machine, state, tree):
    legal, states = set(), {0: state}
    for i in range(len(tree.byte)):
        above = states.get(tree.depth[i] - 1)
        states[tree.depth[i]] = after = None if above is None else machine.step(above, tree.byte[i])
        legal |= set(tree.ends[i]) if after is not None else set()
    return legal


def reads_all_first(machine, state, tree):
    np.array(tree.byte)
    return jump(machine, state, tree)


def backwards(machine, state, tree):
    """Looks for the longest depth first."""
    max(reversed(tree.depth))
    return jump(machine, state, tree)


def state_stays(machine, state, tree):
    """Asks every node of the first state."""
    legal, i = set(), 0
    while i < len(tree.byte):
        after = machine.step(state, tree.byte[i])
        legal.update(tree.ends[i] if after is not None else ())
        i += 1 if after is not None else tree.size[i]
    return legal


def ends_before_the_step(machine, state, tree):
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[tree.depth[i] :]
        legal.update(tree.ends[i])
        after = machine.step(states[-1], tree.byte[i])
        states += [after] if after is not None else []
        i += 1 if after is not None else tree.size[i]
    return legal


def first_id_only(machine, state, tree):
    return jump(machine, state, tree._replace(ends=[ends[:1] for ends in tree.ends]))


def into_the_tree(machine, state, tree):
    """Collects the tokens in a list of the tree."""
    legal = jump(machine, state, tree)
    tree.ends[0] += [token for token in legal if token not in tree.ends[0]]
    return legal


def truth_of_the_state(machine, state, tree):
    """Takes state 0 for None."""
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[tree.depth[i] :]
        if after := machine.step(states[-1], tree.byte[i]):
            states.append(after)
            legal.update(tree.ends[i])
        i += 1 if after else tree.size[i]
    return legal


def by_recursion(machine, state, tree, start=0, end=None):
    end, legal = len(tree.byte) if end is None else end, set()
    while start < end:
        after = machine.step(state, tree.byte[start])
        if after is not None:
            legal |= {*tree.ends[start], *by_recursion(machine, after, tree, start + 1, start + tree.size[start])}
        start += tree.size[start]
    return legal


def by_a_table(machine, state, tree):
    """Keeps the state of each depth in a dictionary."""
    states, i = {0: state}, 0
    while i < len(tree.byte):
        depth = tree.depth[i]
        states[depth] = machine.step(states[depth - 1], tree.byte[i])
        if states[depth] is None:
            i += tree.size[i]
            continue
        yield from tree.ends[i]
        i += 1


# -- whole ---------------------------------------------------------------------------------------------------------


def search(key=lambda here, there: (here, there), start=lambda machine, state: state, bytes_=range(256), most=10**6):
    """Walks side by side and remembers what `key` makes of a pair."""

    def answer(machine, state, part):
        pairs = [(start(machine, state), part.initial)]
        seen = {key(*pairs[0])}
        for here, there in pairs:
            for byte in bytes_:
                inner = part.step(there, byte)
                if inner is None:
                    continue
                after = machine.step(here, byte)
                if after is None:
                    return False
                if key(after, inner) not in seen and len(pairs) < most:
                    seen.add(key(after, inner))
                    pairs.append((after, inner))
        return True

    return answer


def up_to(length):
    """Tries texts of a few bytes only."""

    def answer(machine, state, part):
        pairs = {(state, part.initial)}
        for _ in range(length):
            moves = [(here, there, byte) for here, there in pairs for byte in next_bytes(part, there)]
            if any(machine.step(here, byte) is None for here, _, byte in moves):
                return False
            pairs = {(machine.step(here, byte), part.step(there, byte)) for here, there, byte in moves}
        return True

    return answer


def endless(machine, state, part):
    pairs = [(state, part.initial)]
    for here, there in pairs:
        for byte in range(256):
            if (inner := part.step(there, byte)) is not None:
                if (after := machine.step(here, byte)) is None:
                    return False
                pairs.append((after, inner))
    return True


def accepts_as_much(machine, state, part):
    """Asks whether the machine may end wherever the slice may."""
    pairs = [(state, part.initial)]
    for here, there in pairs:
        if part.is_accepting(there) and not machine.is_accepting(here):
            return False
        for byte in next_bytes(part, there):
            if (after := machine.step(here, byte)) is None:
                return False
            if (after, part.step(there, byte)) not in pairs:
                pairs.append((after, part.step(there, byte)))
    return True


def spoil(machine, state, part):
    object.__setattr__(machine, "edges", part.edges)
    return True


def by_depth(machine, state, part, seen=None, there=None):
    """By recursion, with the pairs that were seen."""
    seen, there = (set(), part.initial) if seen is None else (seen, there)
    if (state, there) in seen:
        return True
    seen.add((state, there))
    ways = ((machine.step(state, byte), part.step(there, byte)) for byte in next_bytes(part, there))
    return all(after is not None and by_depth(machine, after, part, seen, inner) for after, inner in ways)


WRONG = {
    "jump": {
        "one on instead of a jump": (walk_without_jumps, "3 was refused: continue after its subtree"),
        "all nodes read first": (reads_all_first, "3 was refused: continue after its subtree"),
        "all depths read first": (backwards, "3 was refused: continue after its subtree"),
        "no jump": (lambda *given: jump(*given, cut=lambda size: 1), "illegal|subtree"),
        "a jump too far": (lambda *given: jump(*given, cut=lambda size: size + 1), "is legal"),
        "endless": (lambda *given: jump(*given, cut=lambda size: 0), "does not end"),
        "old states stay": (lambda *given: jump(*given, back=lambda depth: depth + 1), "token"),
        "too many states removed": (lambda *given: jump(*given, back=lambda depth: depth - 1), "IndexError"),
        "the first state for all": (state_stays, "token . is"),
        "ends before the step": (ends_before_the_step, "is illegal"),
        "one id per node": (first_id_only, "is legal"),
        "state 0 taken for None": (truth_of_the_state, "is legal"),
        "the tree changed": (into_the_tree, "tree.ends"),
        "places of nodes": (
            lambda m, state, tree: {*range(len(tree.byte))} if jump(m, state, tree) else set(),
            "token",
        ),
        "a mask": (lambda *given: [token in jump(*given) for token in range(6)], "np.flatnonzero"),
        "pieces": (lambda *given: {b"3"}, "these are pieces"),
        "None where nothing is legal": (lambda *given: jump(*given) or None, "it returns None here"),
        "an id too many": (lambda *given: jump(*given) | {99}, "an id is not in the vocabulary"),
    },
    "whole": {
        "one byte only": (up_to(1), "aaaa begins a text of the slice"),
        "four bytes only": (up_to(4), "begins a text of the slice"),
        "20 bytes only": (up_to(20), "begins a text of the slice"),
        "machine states remembered": (search(lambda here, there: here), "ab begins a text of the slice"),
        "slice states remembered": (search(lambda here, there: there), "aaaa begins a text of the slice"),
        "at most five pairs": (search(most=5), "begins a text of the slice"),
        "from the initial state": (search(start=lambda machine, state: machine.initial), "begins a text of the slice"),
        "ASCII only": (search(bytes_=range(128)), "begins a text of the slice"),
        "no byte 0": (search(bytes_=range(1, 256)), "<0x00> begins a text of the slice"),
        "always": (lambda *given: True, "b begins a text"),
        "never": (lambda *given: False, "can read each text"),
        "the same machine": (lambda machine, state, part: machine == part, "can read each text"),
        "must accept as much": (accepts_as_much, "can read each text"),
        "the other way round": (lambda m, state, part: search()(part, part.initial, m), "text"),
        "pairs again and again": (endless, "does not end"),
        "1 and 0": (lambda *given: int(whole(*given)), "True or False is expected"),
        "no return at the end": (lambda *given: whole(*given) and None, "return missing"),
        "a machine changed": (spoil, "work on a copy"),
    },
}
RIGHT = {
    "jump": {
        "recursion over subtrees": by_recursion,
        "a generator and a table": by_a_table,
        "a NumPy array": lambda *given: np.array(sorted(jump(*given)), dtype=np.int32),
        "ids several times": lambda *given: [*jump(*given)] * 2,
    },
    "whole": {
        "recursion": by_depth,
        "a set of pairs": search(),
        "a NumPy bool": lambda *given: np.bool_(whole(*given)),
        "its bytes from the edges": lambda machine, state, part: search(
            bytes_=sorted({b for row in part.edges for low, high, _ in row for b in range(low, high + 1)})
        )(machine, state, part),
    },
}
