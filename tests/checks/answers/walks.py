"""Answers to the exercises on walks."""

from collections import deque

from guidedviz.machines.machine import next_bytes


def step_set(nfa, states, byte):
    found = {target for state in states for low, high, target in nfa.edges[state] if low <= byte <= high}
    waiting = list(found)
    for state in waiting:
        new = set(nfa.epsilon[state]) - found
        found |= new
        waiting += new
    return found


def closed_by_descent(nfa, states, byte, known=False):
    found = set()

    def add(state):
        if not known or state not in found:
            found.add(state)
            for target in nfa.epsilon[state]:
                add(target)

    for state in states:
        for low, high, target in nfa.edges[state]:
            if low <= byte <= high:
                add(target)
    return found


def walk(node, machine, state):
    found = dict.fromkeys(node.tokens, state)
    for byte, child in node.children.items():
        after = machine.step(state, byte)
        if after is not None:
            found |= walk(child, machine, after)
    return found


def walk_from_the_root(node, machine, state):
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


def walk_with_a_stack(node, machine, state):
    found, waiting = {}, deque([(node, state)])
    while waiting:
        one, here = waiting.pop()
        found.update((token, here) for token in one.tokens)
        after = {child: machine.step(here, byte) for byte, child in one.children.items()}
        waiting.extend((child, there) for child, there in after.items() if there is not None)
    return found


def index(root, machine, walk):
    rows, waiting = {}, [machine.initial]
    for state in waiting:
        if state not in rows:
            rows[state] = walk(root, machine, state)
            waiting += rows[state].values()
    return rows


def index_by_recursion(root, machine, walk, state=0, rows=None):
    rows = {} if rows is None else rows
    if state not in rows:
        rows[state] = walk(root, machine, state)
        for after in rows[state].values():
            index_by_recursion(root, machine, walk, after, rows)
    return rows


def jump(machine, state, tree):
    legal, states, i = set(), [state], 0
    while i < len(tree.byte):
        del states[tree.depth[i] :]
        after = machine.step(states[-1], tree.byte[i])
        if after is None:
            i += tree.size[i]
        else:
            states.append(after)
            legal.update(tree.ends[i])
            i += 1
    return legal


def walk_without_jumps(machine, state, tree):
    legal, states = set(), {0: state}
    for i in range(len(tree.byte)):
        above = states.get(tree.depth[i] - 1)
        states[tree.depth[i]] = after = None if above is None else machine.step(above, tree.byte[i])
        legal |= set(tree.ends[i]) if after is not None else set()
    return legal


def jump_by_recursion(machine, state, tree, start=0, end=None):
    end, legal = len(tree.byte) if end is None else end, set()
    while start < end:
        after = machine.step(state, tree.byte[start])
        if after is not None:
            legal |= {*tree.ends[start], *jump_by_recursion(machine, after, tree, start + 1, start + tree.size[start])}
        start += tree.size[start]
    return legal


def whole(machine, state, part):
    pairs = [(state, part.initial)]
    for here, there in pairs:
        for byte in range(256):
            after, inner = machine.step(here, byte), part.step(there, byte)
            if inner is not None and after is None:
                return False
            if inner is not None and (after, inner) not in pairs:
                pairs.append((after, inner))
    return True


def whole_by_recursion(machine, state, part, there=0, seen=None):
    seen = set() if seen is None else seen
    if (state, there) in seen:
        return True
    seen.add((state, there))
    ways = ((machine.step(state, byte), part.step(there, byte)) for byte in next_bytes(part, there))
    return all(after is not None and whole_by_recursion(machine, after, part, inner, seen) for after, inner in ways)


def forced(machine, state):
    run = b""
    while not machine.is_accepting(state):
        ways = [byte for byte in range(256) if machine.step(state, byte) is not None]
        if len(ways) != 1:
            break
        run += bytes(ways)
        state = machine.step(state, ways[0])
    return run


RIGHT = {"step_set": step_set, "walk": walk, "index": index, "jump": jump, "whole": whole, "forced": forced}
ROW = "dict.fromkeys(node.tokens, state)"
WRONG = {
    "step_set": [
        ("in waiting", "in []", "n1 is missing: an epsilon edge leads from n2"),
        ("waiting += new", "pass", "is missing: an epsilon edge leads from"),
        ("low <= byte <= high", "low == byte", "an edge that reads b leads there"),
        ("byte <= high", "byte < high", "an edge that reads a"),
        ("low <= byte <= high", "True", "n1 is too many: no edge that reads b"),
        ("nfa.edges[state]", "nfa.edges[state][:1]", "is missing: an edge that reads a leads there"),
        ("in states", "in sorted(states)[:1]", "is missing"),
        ("return found", "return states | found", "n0 is too many"),
        (" - found", "", "it does not end|MemoryError"),
        (closed_by_descent, "RecursionError"),
        ("return found", "return found or None", "the empty set"),
        ("return found", "return [n in found for n in range(len(nfa))]", "np.flatnonzero"),
        ("return found", "return {f'n{state}' for state in found}", "states are whole numbers"),
        (lambda nfa, states: set(), "the check calls it with 3 arguments"),
    ],
    "walk": [
        (
            "if after is not None:",
            "if after is None:\n            all(child.children)\n        else:",
            "nothing below that node",
        ),
        (walk_from_the_root, "each node needs one step"),
        ("machine, after)", "machine, state)", "token 0 leads from q0 to q1, not to 0"),
        ("walk(child, machine, after)", "dict.fromkeys(child.tokens, after)", "is legal: every byte passes"),
        ("found |= walk", "walk", "is legal: every byte passes"),
        ("if after is not None", "if after", "is legal: every byte passes"),
        ("if after is not None:", "if after is None:\n            break\n        else:", "is legal"),
        (ROW, f"{ROW} if machine.is_accepting(state) else {{}}", "is legal"),
        ("node.tokens", "node.tokens[:1]", "is legal"),
        (lambda *given: {*walk(*given)}, "the ids are right; a dictionary is expected"),
        (lambda *given: [token in walk(*given) for token in range(6)], "a dictionary .*np.flatnonzero"),
        (lambda *given: {bytes([65 + token]): state for token, state in walk(*given).items()}, "pieces"),
        (lambda *given: walk(*given) or None, "the empty dictionary"),
        (lambda *given: walk(*given) | {99: 0}, "an id is not in the vocabulary"),
    ],
    "index": [
        ("waiting += rows[state].values()", "pass", "q1 has no row, and token 0 leads"),
        ("[machine.initial]", "[*range(len(machine))]", "q1 has a row, and no token leads there"),
        ("state not in rows", "True", "it does not end|MemoryError"),
        ("machine, state)", "machine, 0)", "in the row of q1, token 0 is illegal"),
        ("return rows", "return {state: {*row} for state, row in rows.items()}", "in the row of q0, the ids"),
        ("return rows", "return [*rows.values()]", "for each state its row"),
        ("return rows", "return {f'q{state}': row for state, row in rows.items()}", "q0 has no row"),
        ("return rows", "return {state: row for state, row in rows.items() if state}", "the machine starts there"),
        ("return rows", "return rows | {None: {}}", "None has a row"),
        (lambda root, machine, walk: {0: walk}, "in the row of q0, a dictionary"),
    ],
    "jump": [
        (walk_without_jumps, "3 was refused: continue after its subtree"),
        ("return legal", "return legal if tree.byte[:] else legal", "3 was refused"),
        ("i += tree.size[i]", "i += 1", "illegal|subtree"),
        ("i += tree.size[i]", "i += tree.size[i] + 1", "is legal"),
        ("i += tree.size[i]", "i += 0", "does not end"),
        ("tree.depth[i] :", "tree.depth[i] + 1 :", "token"),
        ("tree.depth[i] :", "tree.depth[i] - 1 :", "IndexError"),
        ("states[-1]", "state", "token . is"),
        ("after is None", "not after", "is legal"),
        ("tree.ends[i]", "tree.ends[i][:1]", "is legal"),
        ("legal.update(tree.ends[i])", "legal.add(i)", "token"),
        ("return legal", "tree.ends[0].append(7)\n    return legal", "tree.ends"),
        ("return legal", "return [token in legal for token in range(6)]", "np.flatnonzero"),
        (lambda *given: {b"3"}, "these are pieces"),
        ("return legal", "return legal or None", "it returns None here"),
        ("return legal", "return legal | {99}", "an id is not in the vocabulary"),
    ],
    "whole": [
        ("pairs.append((after, inner))", "pass", "begins a text of the slice"),
        ("not in pairs:", "not in pairs and len(pairs) < 5:", "begins a text of the slice"),
        ("(after, inner) not in pairs", "after not in [one for one, _ in pairs]", "ab begins a text of the slice"),
        ("(after, inner) not in pairs", "inner not in [one for _, one in pairs]", "aaaa begins a text of the slice"),
        ("(after, inner) not in pairs", "True", "does not end"),
        ("[(state,", "[(machine.initial,", "begins a text of the slice"),
        ("range(256)", "range(128)", "begins a text of the slice"),
        ("range(256)", "range(1, 256)", "<0x00> begins a text of the slice"),
        ("return False", "return True", "b begins a text"),
        (lambda machine, state, part: machine == part, "can read each text"),
        ("return True", "return 1", "True or False is expected"),
        ("    return True", "", "return missing"),
    ],
    "forced": [
        (lambda machine, state: b"", "here only a may come, and the text may not end, so a is"),
        ("return run", "return run[:1]", "after a only b may come"),
        ("return run", "return run[:20]", "only a may come"),
        ('run = b""', 'run, state = b"", 0', "here only b may come"),
        ("len(ways) != 1", "not ways", "."),
        ("return run", "return run + b'x'", "after a x cannot come"),
        ("len(ways) != 1", "len({machine.step(state, byte) for byte in ways}) != 1", "here there is a choice"),
        ("not machine.is_accepting(state)", "True", "after a the text may end, so b is"),
        (" is not None", "", "here only b may come"),
        ("range(256)", "range(1, 256)", "after a only <0x00> may come"),
        ("range(256)", "range(128)", "after caf only <0xC3> may come"),
        ("return run", "return list(run)", "bytes are expected"),
        ("state = machine.step(state, ways[0])", "pass", "does not end|MemoryError"),
    ],
}
UNUSUAL = {
    "step_set": [(lambda *given: closed_by_descent(*given, known=True),), ("return found", "return [*found] * 2")],
    "walk": [(walk_with_a_stack,)],
    "index": [(index_by_recursion,)],
    "jump": [(jump_by_recursion,)],
    "whole": [(whole_by_recursion,)],
    "forced": [("bytes(ways)", "bytearray(ways)")],
}
