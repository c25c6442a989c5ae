"""The switch for automated notebook runs: there is no user input, and the output is identical on every machine."""

import os


def headless() -> bool:
    """Whether GUIDEDVIZ_HEADLESS is set."""
    return _is_set("GUIDEDVIZ_HEADLESS")


def for_site() -> bool:
    """Whether GUIDEDVIZ_SITE is set too: pictures follow the page's theme, and live objects give their recordings."""
    return headless() and _is_set("GUIDEDVIZ_SITE")


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")
