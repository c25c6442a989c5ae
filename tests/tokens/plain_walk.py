"""The plain walk as an array, and the bytes of a node, for tests of the quick walks."""

import numpy as np

from guidedviz.tokens.walk import walk_steps


def walk(trie, machine, state):
    """The live nodes, root included; one entry more than nodes, False."""
    live = np.zeros(len(trie) + 1, dtype=np.bool_)
    live[[0, *(node for node, _ in walk_steps(trie, machine, state))]] = True
    return live


def spell(trie, node):
    """The bytes on the way from the root to a node."""
    piece = b""
    while node:
        piece = bytes([trie.byte[node]]) + piece
        node = trie.parent[node]
    return piece
