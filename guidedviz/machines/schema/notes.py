"""How a schema is read, and the notes on what it says and the machine does not enforce."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from guidedviz.errors import PatternError, SchemaWarning, nearest, quoted
from guidedviz.machines.schema.keywords import KNOWN, SAYS_NOTHING
from guidedviz.machines.schema.places import below, refusal, show_path
from guidedviz.machines.schema.subschema import Subschema

NEAR = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`

ALLOWED = {
    "whitespace": ("space", "one", "compact", "any"),
    "extra_keys": ("closed", "open"),
    "unknown": ("note", "error"),
    "approximate": (False, True),
}


@dataclass(frozen=True)
class SchemaSettings:
    """How a schema is read: whitespace, keys that it does not name, what is ignored.

    >>> SchemaSettings(extra_keys="none")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected 'closed' or 'open'
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    approximate: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value not in ALLOWED[name]:
                expected = " or ".join(map(repr, ALLOWED[name]))
                raise PatternError(f"schema, {name}", seen=quoted(value), expected=expected)


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part.

    A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could
    constrain and is not supported is an error; `ignored` are the paths of those that approximate=True left out.
    """

    def __init__(self, settings: SchemaSettings, ignored: Mapping[str, str]) -> None:
        self.settings, self.ignored = settings, ignored
        self.texts: dict[str, None] = {}
        for path, seen in ignored.items():
            self.add(path, f"{seen}: not enforced")

    def add(self, path: str, text: str) -> bool:
        """Whether the note is new."""
        note = f"{show_path(path)}: {text}"
        return note not in self.texts and self.texts.setdefault(note) is None

    def check(self, part: Subschema) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in (key for key in part.schema if key not in KNOWN):
            plain = str(key)[:1] in "_$" or str(key).startswith("x-")
            near = "" if plain else nearest(str(key), KNOWN - SAYS_NOTHING, NEAR)
            self.ignore("keyword", below(part.path, key), near)

    def ignore(self, what: str, path: str, near: str) -> None:
        """A keyword or format that JSON Schema does not have; warn of one that looks like a mistake."""
        hint = f"did you mean {near}?" if near else ""
        if self.settings.unknown == "error":
            raise refusal(path, f"a {what} that JSON Schema does not have", "one that it has", hint)
        text = f"not a {what} of JSON Schema, ignored" + (f"; {hint}" if hint else "")
        if self.add(path, text) and hint:
            warnings.warn(f"schema, {show_path(path)}: {text}", SchemaWarning, stacklevel=2)
