"""What a logits processor saw, as traces: one per row of `generate`.

The texts of a run are a tree, because samples of one prompt share their beginning and beam search drops and copies
rows. A node is a text. The step from it is made when the token that follows is seen, which is in the next call. The
token after the last call is in the output of `generate` only.
"""

import logging
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from guidedviz.decoding.inspection import measure
from guidedviz.decoding.recording import End, How
from guidedviz.decoding.trace import (
    NO_TOKEN,
    NOTHING_MEASURED,
    Measured,
    Point,
    Step,
    Trace,
    is_complete,
    make_step,
    start_watch,
)
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.machines.names import split_names
from guidedviz.tokens.build_guide import name_guide
from guidedviz.tokens.guide import Guide
from guidedviz.tokens.vocabulary import Vocabulary, join_pieces

log = logging.getLogger("guidedviz")
MOST_NODES = 20_000  # steps of a run that are recorded, about 100 MB
LEAST_MEASURED = 16  # nodes whose probabilities are kept, for drafts that are taken back


@dataclass(eq=False)
class SeenText:
    """A text of a run: where it stands, and the steps that followed."""

    state: Any
    depth: int  # tokens after the prompt
    measured: Measured | None = None  # dropped after a while: a row of 128,256 tokens takes 2 MB
    forward_ms: float = 0.0
    steps: dict[int, Step] = field(default_factory=dict)  # by token
    after: dict[int, "SeenText"] = field(default_factory=dict)


class RecordedRows:
    """The tree of the texts of one call of `generate`."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self._watch = start_watch()
        self._measured: deque[SeenText] = deque()
        self.begin(0, "")

    def begin(self, start: int, device: str) -> None:
        """Begin new texts after prompts of this many tokens."""
        self.start = start
        self.device = device
        self.count = 0
        self.roots: dict[tuple[int, ...], SeenText] = {}
        self.rows: list[list[int]] = []  # of the last call, or of the output

    def see(self, rows: list[list[int]], states: Mapping[int, Any], logits: Any) -> None:
        """Note the logits of the rows that are open: `states` has the guide's state by the number of the row."""
        spent_ms = self._watch()
        self.rows = rows
        for number, state in states.items():
            node = self._grow(rows[number], state)
            if node and node.measured is None and self.count < MOST_NODES:
                self._note(node, logits[number][: len(self.guide.vocabulary)], spent_ms)
        while len(self._measured) > max(LEAST_MEASURED, 2 * len(rows)):
            self._measured.popleft().measured = None
        self._watch()

    def _note(self, node: SeenText, logits: Any, spent_ms: float) -> None:
        """Keep the probabilities after a text for the next call."""
        try:
            node.measured = measure(self.guide, node.state, logits)
        except GuidedVizError:  # no finite logit: generate itself fails, or drops this row
            return
        node.forward_ms = spent_ms
        self._measured.append(node)
        for token in self.guide.vocabulary.eos:  # a beam that ends is in no later call
            self._step(node, token)

    def _grow(self, row: list[int], state: Any) -> SeenText | None:
        """The node of a row; None if the row before it is not known."""
        if len(row) == self.start:
            return self.roots.setdefault(tuple(row), SeenText(state, 0))
        before = self._find(row[:-1])
        token = row[-1]
        if before is None or self._step(before, token) is None:
            return None
        if token not in before.after:
            if self.count + 1 == MOST_NODES:
                log.warning("LogitsProcessor: after %s steps the rest of the run is not recorded", f"{MOST_NODES:,}")
            before.after[token] = SeenText(state, before.depth + 1)
            self.count += 1
        return before.after[token]

    def _find(self, row: list[int]) -> SeenText | None:
        """The node of a row that was seen."""
        node = self.roots.get(tuple(row[: self.start]))
        for token in row[self.start :]:
            if node:
                node = node.after.get(token)
        return node

    def _step(self, node: SeenText, token: int) -> Step | None:
        """The step from a text to a legal token; None if its probabilities are not kept."""
        if token not in node.steps and node.measured and node.measured[1][token]:
            end: End = "eos" if token in self.guide.vocabulary.eos else ""
            node.steps[token] = self._make_step(node, token, "sampled", end)
        return node.steps.get(token)

    def _make_step(self, node: SeenText, token: int, how: How, end: End) -> Step:
        point = Point((), (node.state,))
        measured = node.measured or NOTHING_MEASURED
        step = make_step(self.guide, point, token, how, measured, end=end, forward_ms=node.forward_ms)
        return replace(step, position=node.depth)

    def traces(self) -> tuple[Trace, ...]:
        """The trace of each row."""
        return tuple(map(self._trace, self.rows))

    def _trace(self, row: list[int]) -> Trace:
        root = self.roots.get(tuple(row[: self.start]))
        if root is None:
            hint = "processor.read(model.generate(**inputs, logits_processor=[processor]))"
            expected = "what generate returned in this run, with the prompts"
            raise SettingError("LogitsProcessor.read", seen="a row with another prompt", expected=expected, hint=hint)
        parts = parts_of_prompt(self.guide.vocabulary, row[: self.start])
        return Trace(
            steps=tuple(self._walk(root, row[self.start :])),
            prompt="".join(parts),
            model="transformers",
            device=self.device,
            date=date.today().isoformat(),
            constraint=name_guide(self.guide),
            seed=0,
            temperature=1.0,
            vocabulary_size=len(self.guide.vocabulary),
            guide=self.guide,
            prompt_parts=parts if len(parts) > 1 else (),
        )

    def _walk(self, node: SeenText, tokens: list[int]) -> Iterator[Step]:
        """The steps to these tokens; the last one says how the text ends."""
        for token in tokens:
            step = self._step(node, token)
            if step is None:  # the limit of what is recorded, or a token that another processor put
                yield self._make_step(replace(node, measured=None), NO_TOKEN, "none", "stop")
                return
            if step.end or token not in node.after:
                yield replace(step, end=step.end or self._end_after(node, token))
                return
            yield step
            node = node.after[token]
        yield self._close(node)

    def _close(self, node: SeenText) -> Step:
        """The step after the last token that was seen: the only legal one, or how it ends."""
        if node.measured is None:
            return self._make_step(node, NO_TOKEN, "none", "stop")
        legal = node.measured[1].nonzero()[0].tolist()
        if len(legal) == 1:
            [token] = legal
            step = self._make_step(node, token, "sampled", "")
            return replace(step, end=self._end_after(node, token))
        end: End = "stop"
        if not legal:
            end = "complete" if self.guide.is_accepting(node.state) else "dead_end"
        return self._make_step(node, NO_TOKEN, "none", end)

    def _end_after(self, node: SeenText, token: int) -> End:
        """How a text ends whose last token this is: a limit may cut it."""
        if token in self.guide.vocabulary.eos:
            return "eos"
        after = self.guide.advance(node.state, token)
        if is_complete(self.guide, after):
            return "complete"
        return "stop" if self.guide.is_accepting(after) else "cut"


def parts_of_prompt(vocabulary: Vocabulary, tokens: Sequence[int]) -> tuple[str, ...]:
    """The texts and special tokens of a prompt in turn, without the padding before it.

    >>> v = gv.Vocabulary([b"a", b"b", b"</s>"], eos={2})
    >>> parts_of_prompt(v, [2, 2, 0, 1]), parts_of_prompt(v, [2, 0])
    (('ab',), ('', '</s>', 'a'))
    """
    start = 0
    if list(tokens[:2]) == [tokens[0], tokens[0]] and not vocabulary.is_text(tokens[0]):
        while start < len(tokens) and tokens[start] == tokens[0]:
            start += 1
    known = [token for token in tokens[start:] if token < len(vocabulary)]
    parts = split_names(join_pieces(vocabulary.named, known))
    return tuple(part.decode("utf-8", "replace") for part in parts)
