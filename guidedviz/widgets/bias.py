"""Sliders on chosen tokens, and what a constant added to their logits does to the whole distribution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from guidedviz.decoding.loop import Model
from guidedviz.decoding.sampling import Floats, apply_logit_bias, softmax
from guidedviz.errors import SettingError
from guidedviz.views.bars import draw_bars
from guidedviz.views.figure import Figure
from guidedviz.views.words import kept_source, label, probability, reading, say_origin, short
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.show import OnPage, show

ROWS = 9


def bias_sliders(
    model: Model, prompt: str, tokens: Iterable[str | int], *, bias: Mapping[str | int, float] | None = None
) -> BiasSliders:
    """A slider for each token, from -100 to 100, and the next token's distribution before and after."""
    start = {_token(model, token): float(amount) for token, amount in (bias or {}).items()}
    chosen = {_token(model, token): 0.0 for token in tokens} | start
    return BiasSliders(model, prompt, chosen)


class BiasSliders(OnPage):
    """What `gv.bias_sliders` gives; the model ran once, the rest is arithmetic."""

    kind = "bias"

    def __init__(self, model: Model, prompt: str, bias: Mapping[int, float]) -> None:
        self.cell = ("", "")
        move_in(self)
        self.bias, self.prompt, self.note = dict(bias), prompt, ""
        self._pieces = model.vocabulary.pieces
        self._logits = np.asarray(model.logits(model.encode(prompt)), dtype=np.float64)
        self._about = say_origin(model.name, model.device, len(self._pieces))
        self._source = model.source
        self.before, self.after = softmax(self._logits), self._biased()

    def set(self, token: int, amount: float) -> BiasSliders:
        """Another bias for one token."""
        before = self.bias
        try:
            self.bias = {**before, token: float(amount)}
            self.after, self.note = self._biased(), ""
        except SettingError as error:
            self.bias = before
            self.note = str(error)
        self._tell()
        return self

    def reset(self) -> BiasSliders:
        """All sliders to zero."""
        self.bias = dict.fromkeys(self.bias, 0.0)
        return self.set(next(iter(self.bias), 0), 0.0)

    @property
    def figure(self) -> Figure:
        """Before and after as a still picture."""
        rows = self._rows()
        names = [label(self._pieces[token]) + self._sign(token) for token in rows]
        series = {"before": [float(self.before[t]) for t in rows], "after": [float(self.after[t]) for t in rows]}
        marked = {place for place, token in enumerate(rows) if self.bias.get(token)}
        title = f"{kept_source(self._source)}: next token after “{reading(self.prompt[-40:])}”"
        drawn = draw_bars(names, series, title=title, marked=marked)
        return Figure(drawn.svg, repr(self), drawn.alt)

    def __repr__(self) -> str:
        return f"Bias: {', '.join(map(self._say, self.bias))}"

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(self.figure, self, **wanted)

    def _biased(self) -> Floats:
        return softmax(apply_logit_bias(self._logits, self.bias))

    def _say(self, token: int) -> str:
        odds = f"{probability(self.before[token])} → {probability(self.after[token])}"
        return f"{label(self._pieces[token])}{self._sign(token)}: {odds}"

    def _sign(self, token: int) -> str:
        return f" {self.bias[token]:+g}" if self.bias.get(token) else ""

    def _rows(self) -> list[int]:
        """The tokens with a slider and the likeliest before or after, in the order before."""
        first = np.maximum(self.before, self.after)
        wanted = set(self.bias) | set(np.argsort(-first, kind="stable")[:ROWS].tolist())
        most = sorted(wanted, key=lambda t: (t not in self.bias, -first[t]))[: max(ROWS, len(self.bias))]
        return sorted(most, key=lambda t: (-self.before[t], t))

    def _hear(self, said: dict[str, Any]) -> None:
        if said.get("do") == "bias":
            self.set(int(said["token"]), float(said["value"]))
        elif said.get("do") == "reset":
            self.reset()

    def _news(self, everything: bool) -> dict[str, Any]:
        rows = self._rows()
        shown = [[t, label(self._pieces[t]), short(self.before[t]), short(self.after[t]), True] for t in rows]
        rest = [max(0.0, round(1 - float(p[rows].sum()), 6)) for p in (self.before, self.after)]
        return {
            "sliders": [[token, label(self._pieces[token]), amount] for token, amount in self.bias.items()],
            "rows": shown,
            "rest": rest,
            "source": self._source,
            "about": self._about,
            "prompt": reading(self.prompt),
            "words": repr(self),
            "note": self.note,
        }


def _token(model: Model, token: str | int) -> int:
    """An id as it is; a text must be exactly one token."""
    if isinstance(token, int):
        return token
    ids = model.vocabulary.ids(token.encode()) or tuple(model.encode(token))
    if len(ids) == 1 or model.vocabulary.ids(token.encode()):
        return ids[0]
    cut = " | ".join(model.vocabulary.display(i) for i in ids)
    seen = f"{len(ids)} tokens: {cut}"
    raise SettingError(f"a slider for {token!r}", seen=seen, expected="one token", hint="one of these")
