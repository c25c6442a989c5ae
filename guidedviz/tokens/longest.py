"""A text as tokens without its tokenizer: the longest that fits, each time."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from guidedviz.errors import VocabularyError
from guidedviz.tokens.vocabulary import Vocabulary


def longest_tokens(vocabulary: Vocabulary, text: bytes) -> Iterator[int]:
    """The ids one by one; often not those that the tokenizer itself would choose.

    >>> list(longest_tokens(Vocabulary([b"a", b"ab", b"b", b"<s>"], special={3}), b"abba"))
    [1, 2, 0]
    """
    text_ids, longest = find_texts(vocabulary)
    while text:
        for end in range(min(len(text), longest), 0, -1):
            if found := [token for token in vocabulary.ids(text[:end]) if token in text_ids]:
                yield found[0]
                text = text[end:]
                break
        else:
            raise VocabularyError("a text in tokens", seen=repr(text[:1]), expected="a byte that some token has")


@lru_cache(maxsize=8)
def find_texts(vocabulary: Vocabulary) -> tuple[frozenset[int], int]:
    """The ids that are text, and the length of the longest of them."""
    text_ids = frozenset(vocabulary.text_ids)
    return text_ids, max((len(vocabulary.pieces[token]) for token in text_ids), default=0)


def spell_longest(vocabulary: Vocabulary, text: bytes) -> list[int]:
    """The same in a list; no tokens at all where some byte has none.

    >>> v = Vocabulary([b"a", b"ab"])
    >>> spell_longest(v, b"aba"), spell_longest(v, b"abc")
    ([1, 0], [])
    """
    try:
        return list(longest_tokens(vocabulary, text))
    except VocabularyError:
        return []
