"""From logits to a token: mask, bias, repetition penalty, temperature, top-k, top-p, sample. NumPy only.

The order is the usual one: mask, bias and penalty change the logits, temperature scales them, softmax turns them into
probabilities, top-k and top-p cut the tail, and one uniform random number picks the token. The mask gives the same
anywhere before top-k. The settings of a decode are checked once, where they enter.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from math import log10
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from guidedviz.decoding.records import AtLeastOne, Between, Count, check_fields, check_number
from guidedviz.errors import EmptyMask, SettingError, quoted
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.jump import SPELLING_WAYS

Temperature = Annotated[float, Between(0, 100)]  # 0 is greedy
TopP = Annotated[float, Between(1e-9, 1)]
Penalty = Annotated[float, Between(0.01, 100)]
MOST_WRITTEN = 200  # that are written unless another number is given
Bias = Annotated[float, Between(-100, 100)]  # the range of OpenAI's `logit_bias`


@dataclass(frozen=True)
class Settings:
    """How tokens are chosen. Temperature 0 is greedy; top_k 0 keeps all tokens; a penalty of 1 changes nothing."""

    temperature: Temperature = 1.0
    top_k: Count = 0
    top_p: TopP = 1.0
    seed: Count = 0
    max_tokens: AtLeastOne = MOST_WRITTEN
    bias: Mapping[int, Bias] = field(default_factory=dict)
    jump_forward: str = ""  # how forced bytes are spelled; "" if the model is asked for every token
    draft: Any = field(default=None, metadata={"kept": False})  # a draft of decoding/speculation
    repetition_penalty: Penalty = 1.0  # of all tokens that are in the text already

    def __post_init__(self) -> None:
        bias = {} if self.bias is None else self.bias
        object.__setattr__(self, "bias", check_bias(bias))
        object.__setattr__(self, "jump_forward", _read_way(self.jump_forward))
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
        if self.repetition_penalty != 1:
            said.append(f"penalty {self.repetition_penalty:g}")
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


LIVE_SETTINGS = ("temperature", "seed", "top_k", "top_p", "repetition_penalty")  # that a stage may change
SETTING_NAMES = tuple(setting.name for setting in fields(Settings))


def _read_way(given: Any) -> str:
    """How forced bytes are spelled: True is the first way, False is none.

    >>> _read_way(True), _read_way("longest"), _read_way(False)
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


Floats = npt.NDArray[np.float64]


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def probability(p: float, digits: int = 2) -> str:
    """A probability with two decimals; a smaller one as "1 in so many". Only zero itself is shown as 0, only one as 1.

    >>> probability(0.876), probability(0.0), probability(0.9999, digits=3)
    ('0.88', '0', '>0.999')
    >>> probability(0.0004), probability(0.0000123), probability(1e-9)
    ('1 in 2,500', '1 in 81,000', '1 in 10⁹')
    """
    if p <= 0:
        return "0"
    if p >= 1:
        return "1"
    if p < 1e-6:
        power = round(-log10(p))
        return f"1 in 10{str(power).translate(RAISED)}"
    least = 10**-digits
    if p < least:
        two_digits = float(f"{1 / p:.2g}")
        return f"1 in {int(two_digits):,}"
    if p > 1 - least / 2:
        return f">{1 - least:g}"
    return f"{p:.{digits}f}"


def as_numbers(where: str, values: npt.ArrayLike) -> Floats:
    """One float per token; an error names the parameter."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SettingError(where, seen=quoted(values), expected="one number per token") from None
    if numbers.ndim != 1 or not len(numbers):
        raise SettingError(where, seen=f"shape {numbers.shape}", expected="one number per token")
    return numbers


def softmax(logits: npt.ArrayLike, temperature: float = 1.0) -> Floats:
    """Probabilities from logits; at temperature 0 the likeliest token has all of it.

    >>> softmax([0.0, 0.0]).tolist(), softmax([0.0, 1.0], temperature=0).tolist()
    ([0.5, 0.5], [0.0, 1.0])
    """
    values = as_numbers("logits", logits)
    temperature = check_number(Temperature, temperature, "temperature")
    top = values.max()
    if not np.isfinite(top):
        strange = np.flatnonzero(~(values < np.inf))
        if len(strange):
            seen = f"{top} for {len(strange):,} of {len(values):,} tokens, first token {strange[0]}"
            hint = "the model's forward pass, such as an overflow in half precision: a mask cannot repair it"
        else:
            seen = f"-inf for all {len(values):,} tokens"
            hint = "the mask, or whatever else forbids tokens"
        raise EmptyMask("softmax", seen=seen, expected="finite logits, or -inf for some", hint=hint)
    if temperature == 0:
        return np.eye(1, len(values), int(values.argmax())).ravel()
    with np.errstate(over="ignore"):  # a tiny temperature
        powers: Floats = np.exp((values - top) / temperature)
    powers /= powers.sum()
    return powers


def as_mask(allowed: Mask | Iterable[int], size: int) -> Mask:
    """One bool per token, from a mask of that size or from token ids.

    >>> as_mask({0, 2}, 3).tolist()
    [True, False, True]
    """
    if isinstance(allowed, np.ndarray) and allowed.dtype == np.bool_:
        if allowed.shape != (size,):
            raise SettingError("mask", seen=f"shape {allowed.shape}", expected=f"one bool for each of {size} tokens")
        return allowed
    if not isinstance(allowed, Iterable):
        raise SettingError("mask", seen=quoted(allowed), expected="one bool per token, or token ids")
    mask = np.zeros(size, dtype=np.bool_)
    ids = Annotated[int, Between(0, size - 1)]
    mask[[check_number(ids, token, "token id in a mask") for token in allowed]] = True
    return mask


def apply_mask(logits: npt.ArrayLike, allowed: Mask | Iterable[int]) -> Floats:
    """Constrained decoding in one line: every forbidden logit becomes minus infinity.

    >>> apply_mask([1.0, 1e30, 2.0], {0, 2}).tolist()
    [1.0, -inf, 2.0]
    """
    values = as_numbers("logits", logits)
    mask = as_mask(allowed, len(values))
    if not mask.any():
        hint = "look at the state: nothing that is legal here is in the vocabulary"
        raise EmptyMask("mask", seen="no legal token", expected="at least one", hint=hint)
    return np.where(mask, values, -np.inf)


def masked_softmax(logits: npt.ArrayLike, allowed: Mask | Iterable[int]) -> Floats:
    """Probabilities after the mask: exactly 0 for forbidden tokens, unchanged ratios among legal ones.

    >>> masked_softmax([0.0, 1e30, 0.0], {0, 2}).tolist()
    [0.5, 0.0, 0.5]
    """
    return softmax(apply_mask(logits, allowed))


def apply_bias(logits: npt.ArrayLike, bias: Mapping[int, float]) -> Floats:
    """Add a constant to chosen logits, -100 to 100 as OpenAI's `logit_bias` has it.

    >>> apply_bias([0.0, 0.0], {1: -100}).tolist()
    [0.0, -100.0]
    """
    values = as_numbers("logits", logits).copy()
    for token, amount in check_bias(bias, len(values)).items():
        values[token] += amount
    return values


def apply_penalty(logits: npt.ArrayLike, tokens: Iterable[int], penalty: float) -> Floats:
    """Weaken the tokens that are in the text already, each once: a logit above 0 is divided, one below 0 multiplied.

    >>> apply_penalty([2.0, -2.0, 1.0], [0, 1, 1], 2).tolist()
    [1.0, -4.0, 1.0]
    """
    values = as_numbers("logits", logits).copy()
    penalty = check_number(Penalty, penalty, "repetition_penalty")
    seen = np.unique(np.fromiter(tokens, dtype=np.int64))
    logits_seen = values[seen]
    values[seen] = np.where(logits_seen > 0, logits_seen / penalty, logits_seen * penalty)
    return values


def top_k(probabilities: npt.ArrayLike, k: int) -> Floats:
    """The k likeliest tokens, scaled to a sum of one.

    >>> top_k(np.array([0.5, 0.3, 0.2]), 1).tolist()
    [1.0, 0.0, 0.0]
    """
    probabilities = _check_probabilities(probabilities)
    if not 0 < check_number(Count, k, "top_k") < len(probabilities):
        return probabilities
    return _scale_kept(probabilities, np.argsort(-probabilities, kind="stable")[:k])


def top_p(probabilities: npt.ArrayLike, p: float) -> Floats:
    """The smallest set of likeliest tokens with a sum of at least p, scaled to a sum of one.

    >>> top_p(np.array([0.5, 0.3, 0.2]), 0.7).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    probabilities = _check_probabilities(probabilities)
    if check_number(TopP, p, "top_p") >= 1:
        return probabilities
    order = np.argsort(-probabilities, kind="stable")
    count = int(np.searchsorted(np.cumsum(probabilities[order]), p)) + 1
    return _scale_kept(probabilities, order[:count])


def sampler_stages(
    logits: npt.ArrayLike, allowed: Mask, settings: Settings, tokens: Iterable[int] = ()
) -> list[Floats]:
    """The probabilities after the mask, and after each of the `changes` of the settings; the last ones are drawn from.

    `tokens` are those in the text, which a repetition penalty weakens.
    """
    values = apply_mask(logits, allowed)
    stages = [softmax(values)]
    if settings.bias:
        values = apply_bias(values, settings.bias)
        stages.append(softmax(values))
    if settings.repetition_penalty != 1:
        values = apply_penalty(values, tokens, settings.repetition_penalty)
        stages.append(softmax(values))
    if settings.temperature != 1:
        stages.append(softmax(values, settings.temperature))
    if settings.top_k:
        stages.append(top_k(stages[-1], settings.top_k))
    if settings.top_p < 1:
        stages.append(top_p(stages[-1], settings.top_p))
    return stages


def _check_probabilities(values: npt.ArrayLike) -> Floats:
    numbers = as_numbers("probabilities", values)
    if not (numbers.min() >= 0 and 0 < numbers.sum() < np.inf):
        seen = f"a sum of {numbers.sum()} and a smallest of {numbers.min()}"
        raise EmptyMask("probabilities", seen=seen, expected="no negative number and a positive sum")
    return numbers


def _scale_kept(probabilities: Floats, ids: npt.NDArray[Any]) -> Floats:
    kept = np.zeros_like(probabilities)
    kept[ids] = probabilities[ids]
    kept /= kept.sum()
    return kept


def sample(probabilities: npt.ArrayLike, seed: int, position: int, stream: int = 0) -> int:
    """A token drawn by its probability. The same seed and position give the same random number, in any order of calls.

    Another stream gives another number, independent of the first.

    >>> sample(np.array([0.0, 1.0]), seed=0, position=0)
    1
    """
    probabilities = _check_probabilities(probabilities)
    edges = np.cumsum(probabilities)
    place = uniform(seed, position, stream) * edges[-1]
    token = np.searchsorted(edges, place, side="right")
    last = np.flatnonzero(probabilities)[-1]
    return int(min(token, last))


def uniform(seed: int, position: int, stream: int = 0) -> float:
    """The random number from 0 to 1 of a position."""
    seeds = [check_number(Count, seed, "seed"), check_number(Count, position, "position")]
    if stream:
        seeds.append(stream)
    return float(np.random.default_rng(seeds).random())
