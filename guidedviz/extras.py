"""Packages of the extras: each is imported where it is used, and if it is missing, an error says what to install.

`lab` has notebooks, widgets and Graphviz, `hub` has torch and transformers, `smollm` reads GGUF files, `engines` has
the real engines, `classroom` has uvicorn, Ray and JupyterHub, `frameworks` has Outlines, guidance and others, which do
not fit beside `engines`.

An environment variable is the switch for automated notebook runs: there is no user input, and the output is identical
on every machine.
"""

import os
from importlib import import_module
from typing import Any, Literal

from guidedviz.errors import SettingError
from guidedviz.files import PACKAGE

Extra = Literal["lab", "hub", "engines", "classroom", "frameworks", "smollm"]


def need(module: str, extra: Extra, where: str = "") -> Any:
    """Import a package of an extra; if it is missing, the error says how to install the extra.

    >>> need("json.nothing", "lab", "gv.film")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: gv.film: saw No module named 'json.nothing', expected the package json of ...
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        seen = str(error)
        if isinstance(error, ModuleNotFoundError) and error.name == package:
            seen = "it is not installed"
        where = where or f"package {package}"
        expected = f"the package {package} of the extra {extra!r}"
        raise SettingError(where, seen=seen, expected=expected, hint=how_to_install(extra)) from error


def is_missing(module: str) -> bool:
    """Whether a package cannot be imported.

    >>> is_missing("numpy"), is_missing("numpy.nothing")
    (False, True)
    """
    try:
        import_module(module)
    except ImportError:
        return True
    return False


def installed(name: str) -> str:
    """The version of a package, "" if it is not installed."""
    from importlib import metadata  # a tenth of the start of a process that asks for no version

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def how_to_install(extra: Extra) -> str:
    """The command that installs an extra, for a clone or for an installed wheel."""
    clone = PACKAGE.parent
    alone = ", in an environment of its own" if extra == "frameworks" else ""
    if (clone / "pyproject.toml").exists():
        return f'pip install -e ".[{extra}]" in {clone}{alone}'
    return f'pip install "guidedviz[{extra}]"{alone}'


def headless() -> bool:
    """Whether GUIDEDVIZ_HEADLESS is set."""
    return _is_set("GUIDEDVIZ_HEADLESS")


def for_site() -> bool:
    """Whether GUIDEDVIZ_SITE is set too: pictures follow the page's theme, and live objects give their recordings."""
    return headless() and _is_set("GUIDEDVIZ_SITE")


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")
