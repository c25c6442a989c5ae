"""The plain walk as an array, for tests of the quick ones."""

import numpy as np

from guidedviz.tokens.trie import walk_steps


def walk(trie, machine, state):
    """The live nodes, root included; one entry more than nodes, False."""
    live = np.zeros(len(trie) + 1, dtype=np.bool_)
    live[[0, *(node for node, _ in walk_steps(trie, machine, state))]] = True
    return live
