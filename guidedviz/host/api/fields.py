"""The fields of a request's body: each is taken by who knows it. What nobody takes is refused, never ignored."""

from typing import Any, Self

from guidedviz.errors import SettingError, nearest, quoted
from guidedviz.files import parse_json

MOST_BODY_VALUES = 1 << 16
BODY_HINT = '{"model": "clerk", "messages": [{"role": "user", "content": "..."}]}'
LARGEST_COUNT = (1 << 63) - 1
JsonObject = dict[str, Any]


def wrong_field(place: str, value: Any, expected: str, hint: str = "") -> SettingError:
    """The error for a value that cannot be taken."""
    hint = hint or f"{expected}, or no such field"
    return SettingError(place, seen=quoted(value), expected=expected, hint=hint)


class Fields:
    """The fields of a JSON object that are not taken yet; null stands for a field that is not there.

    >>> body = Fields({"n": 2, "seed": None, "top": 3})
    >>> body.whole("n", 1, 4, 1), body.whole("seed", 0, 9, 7)
    (2, 7)
    >>> body.refuse_others()
    Traceback (most recent call last):
    guidedviz.errors.SettingError: top: saw a field that is not known here, expected other fields; try: ...
    """

    def __init__(self, values: JsonObject, place: str = "", notes: list[str] | None = None) -> None:
        self.left = {name: value for name, value in values.items() if value is not None}
        self.notes: list[str] = [] if notes is None else notes
        self.aliases = dict[str, str]()  # how the body calls a field that is read by another name
        self._place = place
        self._known = list[str]()

    def place(self, name: str) -> str:
        """Where a field stands in the body."""
        name = self.aliases.get(name, name)
        return f"{self._place}.{name}" if self._place else name

    def take(self, name: str, kinds: type | tuple[type, ...], expected: str, default: Any = None) -> Any:
        """The value of a field, which is one of these types."""
        self._known.append(name)
        value = self.left.pop(name, default)
        if value is default:
            return value
        is_flag = isinstance(value, bool) and kinds is int
        if is_flag or not isinstance(value, kinds):
            raise wrong_field(self.place(name), value, expected)
        return value

    def text(self, name: str, default: str = "") -> str:
        """A field with a text."""
        found: str = self.take(name, str, "a text", default)
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        """A field that is true or false."""
        found: bool = self.take(name, bool, "true or false", default)
        return found

    def whole(self, name: str, low: int, high: int, default: int | None) -> Any:
        """A field with a whole number in a range."""
        expected = f"a whole number from {low:,} to {high:,}"
        found = self.take(name, int, expected, default)
        if found is not default and not low <= found <= high:
            raise wrong_field(self.place(name), found, expected)
        return found

    def number(self, name: str, low: float, high: float, default: float) -> float:
        """A field with a number in a range."""
        expected = f"a number from {low:g} to {high:g}"
        found = self.take(name, (int, float), expected, default)
        if isinstance(found, bool) or not low <= found <= high:
            raise wrong_field(self.place(name), found, expected)
        return float(found)

    def inner(self, name: str) -> Self | None:
        """The fields of an object in a field."""
        found = self.take(name, dict, "an object")
        return None if found is None else type(self)(found, self.place(name), self.notes)

    def note(self, name: str, said: str) -> None:
        """Take a field that has no effect, and say so in the answer."""
        self._known.append(name)
        if self.left.pop(name, None) is not None:
            self.notes.append(f"{self.place(name)}: {said}")

    def refuse_others(self) -> None:
        """Refuse the first field that nobody has taken."""
        for name in self.left:
            near = nearest(name, self._known)
            known = ", ".join(sorted(set(self._known)))
            hint = near or f"the fields {known}"
            expected = "other fields"
            raise SettingError(self.place(name), seen="a field that is not known here", expected=expected, hint=hint)


def read_fields(body: bytes) -> Fields:
    """The fields of a body; what is no JSON object is refused.

    >>> read_fields(b"[1]")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: body: saw b'[1]', expected a JSON object of a bounded size; try: {"model": ...
    """
    try:
        values = parse_json(body, MOST_BODY_VALUES)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        expected = "a JSON object of a bounded size"
        raise SettingError("body", seen=quoted(body), expected=expected, hint=BODY_HINT)
    return Fields(values)
