"""guidedviz: see the machine, the mask and the model at every step of constrained decoding.

This is the front door. `__init__.pyi` lists its names; each is imported when it is first used.
"""

from typing import Any

from guidedviz import lazy

__version__ = "1.0.0"  # the one place where it stands


def load_writer() -> Any:
    """The writer of pages for traces, which are in a room below the widgets."""
    from guidedviz.widgets import panels

    return panels


def load_guard() -> Any:
    """What runs work of a stranger, which is in a room above the conversations."""
    from guidedviz.checks import guard

    return guard


def load_views() -> Any:
    """What draws traces, machines and vocabularies, which are in rooms below the views."""
    from guidedviz.views import portrait

    return portrait


lazy.load_writer = load_writer
lazy.load_guard = load_guard
lazy.load_views = load_views
__getattr__, __dir__, __all__ = lazy.attach(__name__)
