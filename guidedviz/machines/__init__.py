"""Machines over bytes: regexes, grammars, JSON Schema, and the algorithms on them."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
