"""How tokens are chosen: the settings of a decode, which are checked once, where they enter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from guidedviz.decoding.annotations import AtLeastOne, Between, Count, check_fields, check_number
from guidedviz.errors import SettingError, quoted
from guidedviz.tokens.jump import SPELLING_WAYS

Temperature = Annotated[float, Between(0, 100)]  # 0 is greedy
TopP = Annotated[float, Between(1e-9, 1)]
Bias = Annotated[float, Between(-100, 100)]  # the range of OpenAI's `logit_bias`


@dataclass(frozen=True)
class Settings:
    """How tokens are chosen. Temperature 0 is greedy; top_k 0 keeps all tokens."""

    temperature: Temperature = 1.0
    top_k: Count = 0
    top_p: TopP = 1.0
    seed: Count = 0
    max_tokens: AtLeastOne = 200
    bias: Mapping[int, Bias] = field(default_factory=dict)
    jump_forward: str = ""  # how forced bytes are spelled; "" if the model is asked for every token
    draft: Any = field(default=None, metadata={"kept": False})  # a draft of decoding/speculation

    def __post_init__(self) -> None:
        bias = {} if self.bias is None else self.bias
        object.__setattr__(self, "bias", check_bias(bias))
        object.__setattr__(self, "jump_forward", read_way(self.jump_forward))
        check_fields(self)

    @property
    def changes(self) -> str:
        """What besides the mask changes the probabilities that a token is drawn from.

        >>> Settings(temperature=0.5, top_k=40, bias={7: 2}).changes, Settings().changes
        ('bias · T 0.50 · top-k 40', '')
        """
        said = []
        if self.bias:
            said.append("bias")
        if self.temperature != 1:
            said.append(f"T {self.temperature:.2f}")
        return " · ".join(said + self.cuts)

    @property
    def cuts(self) -> list[str]:
        """How the tail of the distribution is cut."""
        said = []
        if self.top_k:
            said.append(f"top-k {self.top_k}")
        if self.top_p < 1:
            said.append(f"top-p {self.top_p:g}")
        return said


def read_way(given: Any) -> str:
    """How forced bytes are spelled: True is the first way, False is none.

    >>> read_way(True), read_way("longest"), read_way(False)
    ('canonical', 'longest', '')
    """
    if isinstance(given, bool):
        return SPELLING_WAYS[0] if given else ""
    if not isinstance(given, str) or given not in ("", *SPELLING_WAYS):
        expected = "False, True, " + " or ".join(map(repr, SPELLING_WAYS))
        raise SettingError("jump_forward", seen=quoted(given), expected=expected)
    return given


def check_bias(bias: Any, size: int | None = None) -> dict[int, float]:
    """A bias per token id, which is below `size` if it is given."""
    if not isinstance(bias, Mapping):
        expected = "a mapping from token ids to numbers from -100 to 100"
        raise SettingError("bias", seen=quoted(bias), expected=expected, hint="bias={token: -100}")
    ids = Count if size is None else Annotated[int, Between(0, size - 1)]
    tokens = [check_number(ids, token, "token id in logit bias") for token in bias]
    return {t: check_number(Bias, bias[t], f"logit bias of token {t}") for t in tokens}
