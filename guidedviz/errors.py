"""The errors of this library. Each says where it happened, what was seen, what was expected and what to try."""

from collections.abc import Iterable
from copyreg import __newobj__  # type: ignore[attr-defined]
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, TypeVar

MOST_QUOTED = 80  # characters of a user's value in a message
T = TypeVar("T")
_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = MOST_QUOTED


def quoted(value: object, most: int = MOST_QUOTED) -> str:
    r"""A value as an error quotes it: its repr, cut to `most` characters. It never raises.

    >>> print(quoted("a\n\ud800"), quoted("x" * 1000, most=8), quoted(b"\xff"), quoted([1, {"a": 2}]))
    'a\n\ud800' 'xxxxxx… b'\xff' [1, {'a': 2}]
    """
    try:
        shown = repr(value[:most]) if isinstance(value, str | bytes) else _REPR.repr(value)
    except Exception:  # a value's own __repr__ may fail
        shown = f"a {type(value).__name__}"
    return escaped(shorten(shown, most))


def shorten(text: str, most: int = MOST_QUOTED) -> str:
    """The first `most` characters of a text, with a sign where more follows.

    >>> shorten("constrained", 8)
    'constra…'
    """
    if len(text) <= most:
        return text
    return text[: most - 1] + "…"


def escaped(text: str) -> str:
    r"""A text in which control characters and lone surrogates are escaped; line ends stay.

    >>> print(escaped("a\t\ud800é"))
    a\t\ud800é
    """
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The most similar known name, in quotes; "" if none is similar. Long names and very many would take long.

    >>> nearest("vlaue", ["root", "value"]), nearest("x", ["root", "value"])
    ('"value"', '')
    """
    if len(name) > 60:
        return ""
    short = [each for each in known if len(each) <= 60]
    close = get_close_matches(name, short[:5000], 1, cutoff)
    return f'"{close[0]}"' if close else ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint with the most similar known name; "" if none is similar.

    >>> did_you_mean("vlaue", ["value", "key"]), did_you_mean("x", ["value"])
    ('did you mean "value"?', '')
    """
    near = nearest(name, known)
    return f"did you mean {near}?" if near else ""


class GuidedVizError(ValueError):
    """The base class of all errors of this library.

    >>> print(gv.GuidedVizError("logit bias of token 3", seen="120", expected="-100 to 100", hint="clip it"))
    logit bias of token 3: saw 120, expected -100 to 100; try: clip it
    """

    def __init__(self, where: str, *, seen: str = "", expected: str = "", hint: str = "") -> None:
        self.where = escaped(where)
        self.seen = escaped(seen)
        self.expected = escaped(expected)
        self.hint = escaped(hint)
        said = []
        if seen:
            said.append(f"saw {self.seen}")
        if expected:
            said.append(f"expected {self.expected}")
        message = self.where
        if said:
            message += ": " + ", ".join(said)
        if hint:
            message += f"; try: {self.hint}"
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickled error keeps its message and its parts."""
        return __newobj__, (type(self), *self.args), self.__dict__


class PatternError(GuidedVizError):
    """A regex, grammar or schema that cannot become a machine."""


class GrammarError(PatternError):
    """A grammar's text that cannot be read; the message shows the line with a caret and the hint beside it."""

    def __init__(
        self, where: str, *, seen: str, expected: str, hint: str = "", picture: str = "", position: int = 0
    ) -> None:
        super().__init__(where, seen=seen, expected=expected, hint=hint)
        self.picture = picture  # the line and its caret
        self.position = position  # the offset in the text
        message = f"{self.where}: {self.seen}, expected {self.expected}"
        if picture:
            message += f"\n{picture}"
        if hint:
            message += f" {self.hint}" if picture else f"\n {self.hint}"
        self.args = (message,)


class VocabularyError(GuidedVizError):
    """A tokenizer or token list that cannot become a vocabulary."""


class IllegalToken(GuidedVizError):
    """A token that the mask of this state forbids."""


class EmptyMask(GuidedVizError):
    """A mask that leaves nothing to choose from."""


class SettingError(GuidedVizError):
    """A temperature, bias, seed or other setting out of its range."""


class ModelError(GuidedVizError):
    """A model that cannot be found, loaded, or run in the memory there is."""


class TraceError(GuidedVizError):
    """A trace file that is damaged or of another version."""


class SchemaWarning(UserWarning):
    """A keyword of a schema that looks like a mistake for another one."""


class NoTextWarning(UserWarning):
    """A machine that accepts no complete text."""


class SpelledTokenWarning(UserWarning):
    """A tag whose begin or end is a text, and the vocabulary has a special token of this text."""


class ChatWarning(UserWarning):
    """A chat model that is asked with plain text, or whose template was stopped when the model was loaded."""


def expect(value: object, kind: type[T] | Any, where: str, expected: str, hint: str = "") -> T:
    """The value, if it is of this type; else an error that names the function or its parameter.

    >>> expect(None, str, "draw_chart, text", "the text of a grammar")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw_chart, text: saw None, expected the text of a grammar
    """
    if not isinstance(value, kind):
        seen = "None" if value is None else type(value).__name__
        raise SettingError(where, seen=seen, expected=expected, hint=hint)
    return value


def check_length(where: str, text: str, most: int) -> None:
    """Refuse a pattern, or a part of one, of more than so many characters."""
    if len(text) > most:
        raise PatternError(where, seen=f"{len(text):,} characters", expected=f"at most {most:,}")
