"""What a prediction depends on: each token before it is left out, and the model reads the rest again.

This shows what the answer changes with, and not how the model computes it (erasure: Li et al., arXiv 1612.08220).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from guidedviz.decoding.sampling import softmax
from guidedviz.errors import SettingError
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.model import Model, check_model, check_tokens, context_of

MOST_READ = 1e11  # weights times tokens read: about 10 seconds on two cores
MOST_PASSES = 64  # of a model whose weights are not known here, such as one on a host
FEWEST_PARTS = 8  # a text is not cut into fewer, however large the model is


@dataclass(frozen=True)
class LeftOut:
    """Adjacent tokens that were left out, and the token's probability without them."""

    pieces: tuple[bytes, ...]
    probability: float


@dataclass(frozen=True)
class Dependence:
    """A token, the model's probability of it, and what this probability is without each part of the text before it."""

    piece: bytes
    probability: float
    parts: tuple[LeftOut, ...]

    def lost(self, part: LeftOut) -> float:
        """The share of the probability that is lost without a part; 0.0 if the probability does not fall."""
        if part.probability >= self.probability:
            return 0.0
        return 1 - part.probability / self.probability


def leave_out(model: Model, tokens: Sequence[int], token: int) -> Dependence:
    """The model's probability of a token after these tokens, and after all of them but one, for each one.

    The probabilities are those before the mask. Of a long text before a large model, neighbours are left out together.

    >>> toy = gv.ToyModel([b"a", b"b"], lambda tokens: [0, 9 * tokens.count(1)])
    >>> found = leave_out(toy, [0, 1, 0], token=1)
    >>> [(part.pieces, round(found.lost(part), 2)) for part in found.parts]
    [((b'a',), 0.0), ((b'b',), 0.5), ((b'a',), 0.0)]
    """
    check_model(model, "leave_out, model")
    vocabulary = model.vocabulary
    before = check_tokens(tokens, int(min(context_of(model), 1e9)), len(vocabulary))
    if len(before) < 2:
        raise SettingError("leave_out, tokens", seen="one token", expected="two or more, so that one may be left out")
    token = vocabulary.as_id(token)
    reader = own_caches(model)
    size = part_size(model, len(before))
    chances = [float(softmax(reader.logits(text))[token]) for text in texts_to_read(before, size)]
    return dependence_of(vocabulary.pieces, token, before, size, chances)


def texts_to_read(before: list[int], size: int) -> Iterator[list[int]]:
    """What the model reads: the text before the token, then this text without each part."""
    yield before
    for _, left in without_parts(before, size):
        yield left


def dependence_of(
    pieces: Sequence[bytes], token: int, before: list[int], size: int, chances: Sequence[float]
) -> Dependence:
    """What a token depends on, from its probability after each of the `texts_to_read`."""
    whole, *others = chances
    parts = []
    for (gone, _), probability in zip(without_parts(before, size), others, strict=True):
        parts.append(LeftOut(tuple(pieces[one] for one in gone), probability))
    return Dependence(pieces[token], whole, tuple(reversed(parts)))


def without_parts(tokens: list[int], size: int) -> Iterator[tuple[list[int], list[int]]]:
    """Each part of a text and the text without it, from the end, so that the longest beginnings are read once.

    >>> list(without_parts([1, 2, 3], size=2))
    [([3], [1, 2]), ([1, 2], [3])]
    """
    for part in reversed(range(0, len(tokens), size)):
        end = part + size
        yield tokens[part:end], tokens[:part] + tokens[end:]


def own_caches(model: Model) -> Model:
    """The same weights with caches of their own, so that the model still knows the texts that it read."""
    return model.side_by_side(1) if isinstance(model, LanguageModel) else model


def part_size(model: Any, count: int) -> int:
    """How many neighbours are left out together, so that the work stays within its limit.

    >>> part_size(gv.ToyModel([b"a"], lambda tokens: [0]), 40), part_size(gv.ToyModel([b"a"], lambda tokens: [0]), 1000)
    (1, 16)
    """
    passes = float(MOST_PASSES)
    if isinstance(model, LanguageModel):
        read = count / 2  # tokens per pass, on average: those before the part are known
        passes = MOST_READ / (model.network.weights * read)
    return ceil(count / max(passes, FEWEST_PARTS))
