"""guidedviz: see the machine, the mask and the model at every step of constrained decoding.

This is the front door. `__init__.pyi` lists its names; each is imported when it is first used.
"""

from guidedviz.lazy import attach

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = attach(__name__)
