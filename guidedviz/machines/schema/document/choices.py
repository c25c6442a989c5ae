"""How a schema is read: whitespace, keys that it does not name, what is ignored."""

from __future__ import annotations

from dataclasses import dataclass, fields

from guidedviz.errors import PatternError, quoted

ALLOWED = {
    "whitespace": ("space", "one", "compact", "any"),
    "extra_keys": ("closed", "open"),
    "unknown": ("note", "error"),
    "approximate": (False, True),
}


@dataclass(frozen=True)
class Choices:
    """The settings of `json_schema`.

    >>> Choices(extra_keys="none")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected "closed" or "open"
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    approximate: bool = False

    def __post_init__(self) -> None:
        for name in (field.name for field in fields(self)):
            *others, last = (f'"{word}"' if isinstance(word, str) else str(word) for word in ALLOWED[name])
            if getattr(self, name) not in ALLOWED[name]:
                expected = f"{', '.join(others)} or {last}"
                raise PatternError(f"schema, {name}", seen=quoted(getattr(self, name)), expected=expected)

    @property
    def closed(self) -> bool:
        """Whether an object that names keys or patterns has no other keys, unless the schema allows them."""
        return self.extra_keys == "closed"
