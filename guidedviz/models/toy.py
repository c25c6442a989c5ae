"""A toy model: logits by a function of your own."""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from guidedviz.errors import SettingError, VocabularyError, quoted
from guidedviz.models.chat import Messages, Prompt, no_template
from guidedviz.models.model import Array, Source, check_utf8
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.vocabulary import Vocabulary


class ToyModel:
    """Logits by a function of your own.

    >>> toy = ToyModel([b"a", b"b"], lambda tokens: [0.0, float(len(tokens))])
    >>> toy.logits(toy.encode("ab")).tolist()
    [0.0, 2.0]
    """

    name = "toy"
    device = "cpu"
    source: Source = "TOY"
    has_template = False

    def __init__(
        self, pieces: Iterable[bytes], rule: Callable[[list[int]], npt.ArrayLike], eos: Iterable[int] = ()
    ) -> None:
        if not callable(rule):
            raise SettingError("toy rule", seen=quoted(rule), expected="a function from tokens to logits")
        if isinstance(pieces, Iterable):
            pieces = tuple(pieces)
        self.vocabulary = Vocabulary(pieces, eos=eos)
        self._rule = rule

    def chat(self, messages: Messages) -> Prompt:
        """A toy has no chat template."""
        raise no_template(self.name)

    def encode(self, text: str) -> list[int]:
        """The longest piece first."""
        try:
            return [*longest_tokens(self.vocabulary, check_utf8("text", text).encode())]
        except VocabularyError as error:
            raise SettingError("prompt", seen=error.seen, expected="pieces of the toy vocabulary") from None

    def logits(self, tokens: list[int]) -> npt.NDArray[np.float32]:
        """The function's answer, one number per token."""
        answer = self._rule(tokens)
        expected = f"{len(self.vocabulary)} logits"
        try:
            with np.errstate(over="ignore"):  # too large for 32 bits is infinite
                values = np.asarray(answer).astype(np.float32, casting="same_kind")
        except (TypeError, ValueError, OverflowError):
            raise SettingError("toy rule", seen=quoted(answer), expected=expected, hint="a list of floats") from None
        if values.shape != (len(self.vocabulary),):
            raise SettingError("toy rule", seen=f"shape {values.shape}", expected=expected)
        return values

    def all_logits(self, tokens: list[int], start: int = 0) -> list[Array]:
        """The logits after the token at `start` and after each later one."""
        return [self.logits(tokens[:end]) for end in range(start + 1, len(tokens) + 1)]
