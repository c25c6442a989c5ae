"""How a schema is read: what the standard leaves open, and what servers add to it."""

from dataclasses import dataclass

from guidedviz.errors import PatternError, quoted

SETTINGS = {
    "whitespace": ("space", "one", "compact", "any", "inside"),
    "extra_keys": ("closed", "open"),
    "unknown": ("note", "error"),
}


@dataclass(frozen=True)
class SchemaSettings:
    """How a schema is read: whitespace, keys that it does not name, what is ignored; then what structural tags add.

    >>> SchemaSettings(extra_keys="none")
    Traceback (most recent call last):
    guidedviz.errors.PatternError: schema, extra_keys: saw 'none', expected 'closed' or 'open'
    """

    whitespace: str = "space"
    extra_keys: str = "closed"
    unknown: str = "note"
    most_blanks: int | None = None  # one behind the other
    any_order: bool = False  # of keys; it is not checked which of them come, and how often
    excludes: tuple[str, ...] = ()  # texts that occur in no key, and in no string without a pattern or format

    def __post_init__(self) -> None:
        for name, known in SETTINGS.items():
            value = getattr(self, name)
            if value not in known:
                expected = " or ".join(map(repr, known))
                raise PatternError(f"schema, {name}", seen=quoted(value), expected=expected)
