"""Five ideas that make the engine of the project faster, each one change of an engine that keeps no masks.

`python -m tests.checks.answers.ideas` measures them in the race; the table at the end of the notebook has the ratios.
"""

from functools import cache

import guidedviz as gv
from tests.checks.answers.own_engine import solution

LAPS = 3  # of each engine, in turn
Changes = list[tuple[str, str]]

NO_MASKS_KEPT: Changes = [("        if state not in self.masks:\n", "        if True:\n")]
START = "        self.initial = (0,)\n"
DEPENDENT_READ = "        return accepted | {token for token in dependent if self.advance(state, token)}\n"
PLACES: Changes = [
    (DEPENDENT_READ, "        return accepted | self.go_on(state[:-1], dependent)\n"),
    ("split_node(self.trie, self.read, node)", "self.split_places(node)"),
    (
        "    def forced(self, state):",
        """    def split_places(self, node):
        accepted, places, waiting = set(), {}, [(0, (node,))]
        while waiting:
            place, stack = waiting.pop()
            children, ids = self.trie[place]
            accepted.update(ids)
            for byte, child in children.items():
                after = self.read(stack, byte)
                if after:
                    waiting.append((child, after))
                elif after == ():
                    places.setdefault(byte, []).append(child)
        return accepted, places

    def go_on(self, below, places):
        legal, waiting = set(), []
        for byte, children in places.items():
            after = self.step(below, byte)
            if after:
                waiting += [(child, after) for child in children]
        while waiting:
            place, stack = waiting.pop()
            children, ids = self.trie[place]
            legal.update(ids)
            for byte, child in children.items():
                after = self.step(stack, byte)
                if after:
                    waiting.append((child, after))
        return legal

    def forced(self, state):""",
    ),
]
POPPED: Changes = [
    (START, START + "        self.done = ends - {node for node, _ in moves}\n"),
    (
        "        return self.read(stack, byte) or None\n",
        """        stack = self.read(stack, byte) or None
        while stack and len(stack) > 1 and stack[-1] in self.done:
            stack = stack[:-1]
        return stack
""",
    ),
]
KINDS: Changes = [
    (
        START,
        START
        + """        moved = {byte: [] for byte in range(256)}
        for (node, byte), move in moves.items():
            moved[byte].append((node, move))
        first = {}
        self.kind = [first.setdefault(tuple(sorted(moved[byte])), byte) for byte in range(256)]
        self.known = {}
""",
    ),
    (
        "        return push_byte(self.moves, self.ends, stack, byte)\n",
        """        key = stack, self.kind[byte]
        if key not in self.known:
            self.known[key] = push_byte(self.moves, self.ends, *key)
        return self.known[key]
""",
    ),
]
ARRAYS: Changes = [
    ("class MyEngine:", "import numpy as np\n\n\nclass MyEngine:"),
    (
        "            self.splits[node] = split_node(self.trie, self.read, node)\n",
        """            accepted, dependent = split_node(self.trie, self.read, node)
            row = np.zeros(len(self.pieces), bool)
            row[list(accepted)] = True
            self.splits[node] = row, dependent
""",
    ),
    (
        DEPENDENT_READ,
        """        mask = accepted.copy()
        mask[[token for token in dependent if self.advance(state, token)]] = True
        return mask
""",
    ),
    ("                legal |= self.eos", "                legal[list(self.eos)] = True"),
    ("set(self.rows[state]) if self.rows else self.fill_mask(state)", "self.fill_mask(state)"),
]
IDEAS: dict[str, Changes] = {
    "none": NO_MASKS_KEPT,
    "the mask of each state": [],
    "places in the trie": NO_MASKS_KEPT + PLACES,
    "pop a node": NO_MASKS_KEPT + POPPED,
    "kind": NO_MASKS_KEPT + KINDS,
    "arrays": NO_MASKS_KEPT + ARRAYS,
}
# milliseconds of a first and of a warm mask, measured by `measure` with one thread of an AMD EPYC, November 2026
MEASURED = {
    "none": (1.26, 0.5042),
    "the mask of each state": (1.41, 0.0006),
    "places in the trie": (0.28, 0.0310),
    "pop a node": (0.88, 0.3114),
    "kind": (1.02, 0.2440),
    "arrays": (1.35, 0.4963),
}


@cache
def engine_with(name):
    """The engine with one idea."""
    code = solution()
    for old, new in IDEAS[name]:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    space = {}
    exec(code, space)
    return space["MyEngine"]


def measure():
    """The shortest milliseconds of a first and of a warm mask, by idea."""
    found = {name: [] for name in IDEAS}
    for _ in range(LAPS):
        for name, laps in found.items():
            laps.append(gv.race(engine_with(name), engines=()).laps[1])
    return {
        name: [1e3 * min(times) for times in zip(*[lap[2:] for lap in laps], strict=True)]
        for name, laps in found.items()
    }


if __name__ == "__main__":
    times = measure()
    for name, mine in times.items():
        ratios = [base / one for base, one in zip(times["none"], mine, strict=True)]
        print(f"{name:24} first {mine[0]:6.2f} ms ({ratios[0]:.2g}x), warm {mine[1]:8.4f} ms ({ratios[1]:.3g}x)")
