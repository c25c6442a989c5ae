"""Functions from records and machines to figures."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
