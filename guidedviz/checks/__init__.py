"""Checks of the labs' exercises: `gv.checks.softmax(answer)` grades a student's answer."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
