"""Sampling, the loop, its records, and jump-forward."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
