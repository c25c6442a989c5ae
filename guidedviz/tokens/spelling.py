"""A text as tokens: those that fit at a place, the longest each time, and how far two texts are the same."""

from collections.abc import Iterable, Iterator, Sequence

from guidedviz.errors import VocabularyError, quoted
from guidedviz.tokens.vocabulary import Vocabulary


def fitting_tokens(vocabulary: Vocabulary, text: bytes, start: int) -> list[int]:
    """The text ids whose bytes the text has from this position on, the shortest first.

    >>> fitting_tokens(Vocabulary([b"a", b"ab", b"b", b"ab"]), b"xabc", 1)
    [0, 1, 3]
    """
    last = min(start + vocabulary.longest, len(text))
    found: list[int] = []
    for end in range(start + 1, last + 1):
        found += filter(vocabulary.is_text, vocabulary.ids(text[start:end]))
    return found


def longest_tokens(vocabulary: Vocabulary, text: bytes) -> Iterator[int]:
    """Cut a text into its longest tokens; the tokenizer itself often chooses other ids.

    >>> list(longest_tokens(Vocabulary([b"a", b"ab", b"b", b"<s>"], special={3}), b"abba"))
    [1, 2, 0]
    """
    start = 0
    while start < len(text):
        found = fitting_tokens(vocabulary, text, start)
        if not found:
            seen = quoted(text[start : start + 1])
            raise VocabularyError("a text in tokens", seen=seen, expected="a byte that some token has")
        token = max(found, key=lambda token: len(vocabulary.pieces[token]))
        yield token
        start += len(vocabulary.pieces[token])


def spell_longest(vocabulary: Vocabulary, text: bytes) -> list[int]:
    """The same as a list; no tokens at all if some byte has none.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> spell_longest(v, b"aba"), spell_longest(v, b"abc")
    ([1, 0], [])
    """
    try:
        return list(longest_tokens(vocabulary, text))
    except VocabularyError:
        return []


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """The number of elements that two sequences have in common at their start.

    >>> shared_length([1, 2, 3], [1, 2, 4, 5])
    2
    """
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))


def join_pieces(vocabulary: Vocabulary, tokens: Iterable[int]) -> bytes:
    """The bytes of some tokens, one after the other."""
    return b"".join(vocabulary.pieces[token] for token in tokens)
