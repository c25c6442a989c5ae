"""Vocabularies, the trie, and the ways to compute masks."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
