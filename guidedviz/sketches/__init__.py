"""What of a machine or an algorithm is drawn, without any SVG."""

from guidedviz.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
