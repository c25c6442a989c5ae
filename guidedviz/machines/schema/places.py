"""A place in a schema is a JSON pointer (RFC 6901): it names a subschema, and every error and note begins with it.

{"properties": {"age": {"type": "integr"}}}        schema, #/properties/age/type: saw 'integr', expected a type ...
"""

from guidedviz.errors import PatternError, shorten
from guidedviz.machines.visible import visible

LONGEST_STEP = 80  # characters of a key in a path


class NotEnforced(PatternError):
    """A keyword that no machine of this kind can enforce; approximate=True leaves it out."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        offer = "approximate=True, which leaves it out and says so in machine.notes"
        if hint:
            offer = f"{hint}, or {offer}"
        super().__init__(f"schema, {show_path(path)}", seen=seen, expected=expected, hint=offer)
        self.path = path


class NoValue(Exception):
    """No value of this kind meets a conjunction; another one, or another kind, may have some."""

    def __init__(self, path: str, seen: str, expected: str, hint: str = "") -> None:
        super().__init__(seen)
        self.error = schema_error(path, seen, expected, hint)


def schema_error(path: str, seen: str, expected: str, hint: str = "") -> PatternError:
    """An error about the part of the schema at this path."""
    return PatternError(f"schema, {show_path(path)}", seen=seen, expected=expected, hint=hint)


def below(path: str, *keys: str | int) -> str:
    """The path of a part.

    >>> below("#/properties", "a/b", 0)
    '#/properties/a~1b/0'
    """
    return "/".join((path, *(str(key).replace("~", "~0").replace("/", "~1") for key in keys)))


def show_path(path: str) -> str:
    r"""A path for a message: on one line, long keys cut.

    >>> show_path(below("#", "a\n"))
    '#/a↵'
    """
    steps = (shorten(step, LONGEST_STEP) for step in path.split("/"))
    return "/".join(visible(step.encode(errors="surrogatepass")) for step in steps)
