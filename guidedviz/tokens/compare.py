"""Compare the masks of all engines with ours along one text, and name the reason of each difference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidedviz.errors import GuidedVizError, SettingError, shorten
from guidedviz.extras import installed
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.machines.visible import show_line
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.engines import PREPARE, VARIANTS, Asked, Matcher, ask, prepared
from guidedviz.tokens.reasons import Disagreement, EnginePosition, find_differences
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

ALL_ENGINES = (*PREPARE, *VARIANTS)
NAMED_TOKENS = 6  # tokens of a difference that are named


@dataclass(frozen=True)
class ComparedStep:
    """One position of the text: our mask and the differences of the engines."""

    position: int
    token: int | None  # the next token; None after the last
    legal: int  # tokens that our mask allows
    differences: tuple[Disagreement, ...]
    refused_by: tuple[str, ...]  # engines that reject the next token; they are not compared any further
    stopped: bool = False  # whether the constraint forbids the next token


@dataclass(frozen=True)
class Comparison:
    """All steps of a comparison; `str()` formats them as text."""

    constraint: str
    vocabulary: Vocabulary
    engines: tuple[tuple[str, str], ...]  # a name and its version
    unable: tuple[tuple[str, str], ...]  # an engine, and why it rejects the constraint
    steps: tuple[ComparedStep, ...]

    def __str__(self) -> str:
        names = ", ".join(f"{name} {version}" for name, version in self.engines)
        lines = [f"{on_one_line(self.constraint)}: {names or 'no engine'}"]
        lines += [f"cannot take it: {name}: {on_one_line(why)}" for name, why in self.unable]
        for step in self.steps:
            lines += self._lines(step)
        return "\n".join(lines)

    def _lines(self, step: ComparedStep) -> Iterator[str]:
        shown = self.name_next(step)
        agree = "" if step.differences else ", all agree"
        yield f"{step.position:3} before {shown}: {step.legal:,} legal{agree}"
        for found in step.differences:
            yield f"      {found}: {self.name_tokens(found)}"
        for name in step.refused_by:
            yield f"      {name} refuses {shown}"
        if step.stopped:
            yield f"      the constraint does not allow {shown}"

    def name_next(self, step: ComparedStep) -> str:
        """The token that follows a step."""
        return "the end" if step.token is None else self.vocabulary.display(step.token)

    def name_tokens(self, found: Disagreement) -> str:
        """The first tokens of a difference."""
        tokens = (*found.missing, *found.extra)
        names = [shorten(self.vocabulary.display(token), 24) for token in tokens[:NAMED_TOKENS]]
        if len(tokens) > NAMED_TOKENS:
            names.append("…")
        return " ".join(names)


def on_one_line(text: str) -> str:
    """A text with signs for line ends, in which nothing is hidden."""
    return show_line(text.replace("\n", "↵"))


def compare_engines(
    constraint: Machine[Any] | str | Mapping[str, Any],
    vocabulary: Vocabulary,
    text: str | bytes | Sequence[int],
    engines: Iterable[str] = ALL_ENGINES,
) -> Comparison:
    """Compare our masks with those of every installed engine along a text or its token ids.

    >>> v = Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> found = compare_engines("a|ab", v, "ab", ["outlines-core"])
    >>> for step in found.steps:
    ...     print(step.legal, *step.differences)
    2 outlines-core: known fault, takes the first alternative that fits (1 missing)
    1
    """
    check_vocabulary(vocabulary, "compare_engines")
    asked = ask(constraint)
    if isinstance(text, str | bytes):
        tokens = list(longest_tokens(vocabulary, to_bytes(text)))
    else:
        tokens = [vocabulary.as_id(token) for token in text]
    matchers, unable = load_matchers(engines, asked, vocabulary)
    versions = tuple((name, installed(name.partition(",")[0])) for name in matchers)
    steps = tuple(compare_steps(asked, vocabulary, tokens, matchers))
    return Comparison(str(asked), vocabulary, versions, tuple(unable.items()), steps)


def load_matchers(
    engines: Iterable[str], asked: Asked, vocabulary: Vocabulary
) -> tuple[dict[str, Matcher], dict[str, str]]:
    """The engines at the start of a text, and why others do not take the constraint."""
    matchers = dict[str, Matcher]()
    unable = dict[str, str]()
    for name in engines:
        if name not in ALL_ENGINES:
            raise SettingError("compare, engines", seen=repr(name), expected=", ".join(map(repr, ALL_ENGINES)))
        try:
            matchers[name] = prepared(name, vocabulary)(asked)
        except GuidedVizError as error:
            unable[name] = error.seen
    return matchers, unable


def compare_steps(
    asked: Asked, vocabulary: Vocabulary, tokens: Sequence[int], matchers: dict[str, Matcher]
) -> Iterator[ComparedStep]:
    """Compare the masks before each token and at the end; an engine that refuses a token is left out from there on."""
    ours = guide(asked.machine, vocabulary)
    state = asked.machine.initial
    for position, token in enumerate([*tokens, None]):
        mask = ours.mask(state)
        found: list[Disagreement] = []
        for name, matcher in matchers.items():
            place = EnginePosition(name, asked, vocabulary, tuple(tokens[:position]), state, matcher)
            found += find_differences(place, mask)
        step = ComparedStep(position, token, int(mask.sum()), tuple(found), ())
        if token is None or not mask[token]:
            yield replace(step, stopped=token is not None)
            return
        if token in vocabulary.eos:
            yield step
            return
        refused = tuple(name for name, matcher in matchers.items() if not matcher.take(token))
        yield replace(step, refused_by=refused)
        matchers = {name: matcher for name, matcher in matchers.items() if name not in refused}
        state = ours.advance(state, token)
