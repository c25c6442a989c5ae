"""How a schema is read, and the notes on what it says and the machine does not enforce.

    {"type": "null", "x-unit": "m"}       #/x-unit: not a keyword of JSON Schema, ignored

A keyword outside every vocabulary is an annotation: it is ignored and noted. A standard keyword that could constrain
and is not supported is an error.
"""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from guidedviz.errors import PatternError, SchemaWarning, nearest, quoted
from guidedviz.machines.schema.clauses import APPLIED
from guidedviz.machines.schema.places import below, schema_error, show_path
from guidedviz.machines.schema.subschema import ANNOTATIONS, HOLD_LIST, HOLD_MAP, HOLD_ONE, Subschema

KEYWORDS = ANNOTATIONS.union(APPLIED, HOLD_ONE, HOLD_LIST, HOLD_MAP).union(
    "type enum const required minProperties maxProperties minItems maxItems minContains maxContains uniqueItems "
    "minLength maxLength pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()
)
LIKE_A_KEYWORD = 0.85  # of difflib's ratio: `propertes` is a near miss of `properties`
SETTINGS = {
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
            if value not in SETTINGS[name]:
                expected = " or ".join(map(repr, SETTINGS[name]))
                raise PatternError(f"schema, {name}", seen=quoted(value), expected=expected)


class Notes:
    """What a schema says that the machine does not enforce. Each note begins with the path of its part.

    `ignored` are the paths of the unsupported keywords that approximate=True left out.
    """

    def __init__(self, settings: SchemaSettings, ignored: Mapping[str, str]) -> None:
        self.settings = settings
        self.ignored = ignored
        self.texts: dict[str, None] = {}
        for path, seen in ignored.items():
            self.add(path, f"{seen}: not enforced")

    def add(self, path: str, text: str) -> bool:
        """Whether the note is new."""
        note = f"{show_path(path)}: {text}"
        is_new = note not in self.texts
        self.texts[note] = None
        return is_new

    def check(self, part: Subschema) -> None:
        """Note the keywords that are outside JSON Schema."""
        for key in part.schema:
            if key in KEYWORDS:
                continue
            near = ""
            if not str(key).startswith(("_", "$", "x-")):
                near = nearest(str(key), KEYWORDS - ANNOTATIONS, LIKE_A_KEYWORD)
            self.ignore("keyword", below(part.path, key), near)

    def ignore(self, what: str, path: str, near: str) -> None:
        """A keyword or format that JSON Schema does not have; warn of one that looks like a mistake."""
        hint = f"did you mean {near}?" if near else ""
        if self.settings.unknown == "error":
            raise schema_error(path, f"a {what} that JSON Schema does not have", "one that it has", hint)
        text = f"not a {what} of JSON Schema, ignored"
        if hint:
            text += f"; {hint}"
        is_new = self.add(path, text)
        if is_new and hint:
            warnings.warn(f"schema, {show_path(path)}: {text}", SchemaWarning, stacklevel=2)
