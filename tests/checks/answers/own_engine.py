"""Engines of one's own: the solution of the project, and the usual mistakes, each one change of it.

A mistake is found by the check of the first milestone whose part it is in, before the exam.
"""

from functools import cache

import guidedviz as gv
from guidedviz.commands.exercises import read_exercises

# the checks in the order of the notebook, and what each judges
MILESTONES = {
    "trie": "build_trie",
    "rows": "build_rows",
    "push": "push_byte",
    "split_node": "split_node",
    "engine_masks": "MyEngine",
    "forced_moves": "forced_bytes",
    "engine": "MyEngine",
}
SEED = 3  # of the exam in tests


@cache
def solution():
    """All exercises of the project, solved, with the cells that they need."""
    codes = {}
    for exercise in read_exercises("project"):
        for code in (*exercise.needed, exercise.solved):
            codes[code] = None
    return "\n\n".join(codes)


def engine_space(old="", new=""):
    """What the solution defines, with each place of a fragment replaced."""
    code = solution()
    assert old in code, f"{old!r} is not in the solution"
    space = {"inside": inside}
    exec(code.replace(old, new) if old else code, space)
    return space


def first_failing(space):
    """The first milestone whose check does not pass, with its verdict; "" if all do."""
    for name, part in MILESTONES.items():
        options = {"seed": SEED} if name == "engine" else {}
        verdict = getattr(gv.checks, name)(space[part], **options)
        if not verdict:
            return name, verdict
    return "", None


def judge_mistake(old, new):
    """The first milestone that a changed solution fails, and what is said."""
    name, verdict = first_failing(engine_space(old, new))
    return name, repr(verdict)


def inside(row, trie, step, state):
    """The states after the tokens, and those after their first byte."""
    return [*row.values()] + [after for byte in trie[0][0] if (after := step(state, byte)) is not None]


NO_BYTES = "if not self.pieces[token]:\n            return None"
EMPTY_AFTER_EOS = NO_BYTES.replace("None", "() if token in self.eos else None")
READ = "return (*left, move[1])"
POPPED = """after = (*left, move[1])
            idle = ends - {node for node, _ in moves}
            while len(after) > 1 and after[-1] in idle:
                after = after[:-1]
            return after"""
CALL = "left += [move[2], move[1]]"
LAST_CALL = """if move[2] not in ends - {node for node, _ in moves}:
                left.append(move[2])
            left.append(move[1])"""
# right in another way than the solution: what it does, and the change
OTHER_WAYS = {
    "pops a node that has ended and reads nothing more": (READ, POPPED),
    "the last call of a rule pushes no return node": (CALL, LAST_CALL),
}
# the milestone that finds it, what the student forgot, and the change
MISTAKES = [
    ("trie", "a piece without bytes is text", "if piece:", "if True:"),
    ("trie", "of equal pieces only the last is kept", "[1].append(token)", "[1][:] = [token]"),
    ("trie", "a child is made anew", "if byte not in trie[node][0]:", "if True:"),
    ("trie", "a node that nothing leads to", "return trie", "return [*trie, ({}, [])]"),
    ("rows", "the start is always 0", "rows, waiting = {}, [start]", "rows, waiting = {}, [0]"),
    ("rows", "a row says where the walk began", "dict.fromkeys(ids, here)", "dict.fromkeys(ids, state)"),
    ("rows", "only the row of the start", "waiting.extend(rows[state].values())", "pass"),
    ("rows", "a row for a state inside a token", "rows[state].values()", "inside(rows[state], trie, step, state)"),
    ("rows", "of equal tokens only the first", "dict.fromkeys(ids, here)", "dict.fromkeys(ids[:1], here)"),
    ("push", "a list is no value", "return (*left, move[1])", "return [*left, move[1]]"),
    ("push", "the return node is on top of the call", "[move[2], move[1]]", "[move[1], move[2]]"),
    ("push", "the empty stack means refused", "    return ()", "    return None"),
    ("push", "every node may end", " and node not in ends", " and node is None"),
    ("split_node", "what goes past the rule is rejected", "if stack else ()", "if stack else None"),
    ("split_node", "all is accepted", "(accepted if stack else dependent)", "accepted"),
    ("split_node", "the node stands on the start", "[(0, (node,))]", "[(0, (0, node))]"),
    ("forced_moves", "a run goes on where the text may end", "while not may_end(ends, stack):", "while stack:"),
    ("forced_moves", "the first of several choices", "if len(ways) != 1:", "if not ways:"),
    ("forced_moves", "one byte is enough", "stack = push_byte(moves, ends, stack, ways[0])", "return run"),
    ("engine_masks", "EOS is always legal", "if may_end(self.ends, state):", "if state:"),
    ("engine_masks", "EOS where the top rule may end", "may_end(self.ends, state)", "state[-1] in self.ends"),
    ("engine_masks", "the stack below is not read", "if self.advance(state, token)}", "if True}"),
    ("engine_masks", "a mask per node, for all stacks", "self.masks[state]", "self.masks[state[-1:]]"),
    ("engine_masks", "a token without bytes is a step", "if not self.pieces[token]:", "if token is None:"),
    ("engine_masks", "the empty stack after EOS", NO_BYTES, EMPTY_AFTER_EOS),
    ("engine_masks", "one EOS id", "legal |= self.eos", "legal |= {*sorted(self.eos)[:1]}"),
    ("engine", "no jumps", "return forced_bytes(self.moves, self.ends, state)", 'return b""'),
    ("engine", "long tokens are cut", "for byte in self.pieces[token]:", "for byte in self.pieces[token][:8]:"),
]
