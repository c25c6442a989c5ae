"""Constrained decoding in production: a logits processor, packed masks, and simulated servers."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
