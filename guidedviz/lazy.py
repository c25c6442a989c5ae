"""Lazy packages: a name is imported when it is first used, so that `import guidedviz` loads no heavy package.

The stub beside a package (`__init__.pyi`) lists its public names. Editors and mypy read the stub, and so does Python.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from guidedviz.files import IN_TAB

# gives what writes the page of a trace: the widgets, which are above the room of traces; the front door sets it
load_writer: Callable[[], Any]
load_guard: Callable[[], Any]  # gives what runs work of a stranger: the checks, which are above it, too
load_views: Callable[[], Any]  # gives what draws a value at the end of a cell, from the room of views


def show_html(value: Any) -> Any:
    """What a notebook shows for a value at the end of a cell: the `_repr_html_` of its class."""
    return load_views().html_of(value)  # noqa: F821 (the front door sets it)


class NoNumPy(ImportError):
    """A site that was built without a network has no NumPy. A notebook shows one sentence and no traceback."""

    def __init__(self, wanted: str) -> None:
        super().__init__(f"{wanted} needs NumPy, which this site lacks: it was built without a network", name="numpy")

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def attach(
    package: str, wrap: Callable[[str, Any], Any] = lambda name, value: value
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` for a package, from the imports in its stub; `wrap` may change a value."""
    homes = _read_stub(Path(str(sys.modules[package].__file__)).with_suffix(".pyi"))

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = homes[name]
        try:
            known = vars(import_module(module))
        except ModuleNotFoundError as error:
            if IN_TAB and error.name == "numpy":
                raise NoNumPy(f"{package}.{name}") from None
            raise
        value = wrap(name, known[original] if original in known else import_module(f"{module}.{original}"))
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(homes), sorted(homes)


def _read_stub(path: Path) -> dict[str, tuple[str, str]]:
    """Public name -> the module that defines it, and its name there."""
    imports = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}
