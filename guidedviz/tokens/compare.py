"""Compare the masks of all engines with ours along one text, and name the reason of each difference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.errors import GuidedVizError, SettingError, shorten
from guidedviz.extras import installed
from guidedviz.machines.grammars.caret import show_line
from guidedviz.machines.machine import Machine, to_bytes
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.engines import PREPARE, VARIANTS, Matcher, ask, prepared
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
        return "\n".join([*lines, *(line for step in self.steps for line in self._lines(step))])

    def _lines(self, step: ComparedStep) -> Iterator[str]:
        shown = self.name_next(step)
        yield f"{step.position:3} before {shown}: {step.legal:,} legal" + ", all agree" * (not step.differences)
        yield from (f"      {found}: {self.name_tokens(found)}" for found in step.differences)
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
        names = " ".join(shorten(self.vocabulary.display(token), 24) for token in tokens[:NAMED_TOKENS])
        return names + " …" * (len(tokens) > NAMED_TOKENS)


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
    matchers, unable = dict[str, Matcher](), dict[str, str]()
    for name in engines:
        if name not in ALL_ENGINES:
            raise SettingError("compare, engines", seen=repr(name), expected=", ".join(map(repr, ALL_ENGINES)))
        try:
            matchers[name] = prepared(name, vocabulary)(asked)
        except GuidedVizError as error:
            unable[name] = error.seen
    versions = tuple((name, installed(name.partition(",")[0])) for name in matchers)
    ours, state, steps = guide(asked.machine, vocabulary), asked.machine.initial, list[ComparedStep]()
    for position, token in enumerate([*tokens, None]):
        mask, found = ours.mask(state), list[Disagreement]()
        for name, matcher in matchers.items():
            found += find_differences(
                EnginePosition(name, asked, vocabulary, tuple(tokens[:position]), state, matcher), mask
            )
        legal = token is not None and bool(mask[token])
        goes_on = token is not None and legal and token not in vocabulary.eos
        refused = [name for name, matcher in matchers.items() if goes_on and not matcher.take(tokens[position])]
        stopped = token is not None and not legal
        steps.append(ComparedStep(position, token, int(mask.sum()), tuple(found), tuple(refused), stopped))
        if token is None or not goes_on:
            break
        matchers = {name: matcher for name, matcher in matchers.items() if name not in refused}
        state = ours.advance(state, token)
    return Comparison(str(asked), vocabulary, versions, tuple(unable.items()), tuple(steps))
