"""Constrained decoding in production: frameworks, packed masks, scheduling, the compile cache and routing."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
