"""Sliders for logit bias: what a constant added to some logits does to the whole distribution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import apply_bias, probability, softmax
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import need
from guidedviz.models.model import Model, check_model, check_text
from guidedviz.views.charts.distribution import draw_bars
from guidedviz.views.figure import Figure
from guidedviz.views.words import kept_source, label, reading
from guidedviz.widgets.display import Display, Shown, mime_bundle

ROWS = 9  # bars, unless more tokens have a slider


def bias_sliders(
    model: Model, prompt: str, tokens: Iterable[str | int], *, bias: Mapping[str | int, float] | None = None
) -> BiasSliders:
    """One slider per token, from -100 to 100, and the next token's distribution before and after the bias."""
    check_model(model, "gv.bias_sliders, model")
    expect(tokens, Iterable, "gv.bias_sliders, tokens", "texts and token ids")
    expect(bias, Mapping | None, "gv.bias_sliders, bias", "a bias per token")
    if isinstance(tokens, str | bytes):
        raise SettingError("gv.bias_sliders, tokens", seen=quoted(tokens), expected="a list of texts and token ids")
    biased = {_token(model, token): amount for token, amount in (bias or {}).items()}
    return BiasSliders(model, prompt, {_token(model, token): 0.0 for token in tokens} | biased)


class BiasSliders(Shown):
    """What `gv.bias_sliders` returns. The model runs once; after that a bias is only arithmetic."""

    def __init__(self, model: Model, prompt: str, bias: Mapping[int, float]) -> None:
        self._logits = np.asarray(model.logits(list(start(model, prompt).tokens)), dtype=np.float64)
        self._title = f"next token after “{reading(prompt[-40:])}”"
        self._source, self._pieces = model.source, model.vocabulary.pieces
        self._sliders: dict[int, Any] = {}
        self.before = softmax(self._logits)
        self.display = Display("picture", lambda everything: {"drawing": self._draw(self._source).drawing.shapes})
        self._change(dict(bias))

    def set(self, token: int, amount: float) -> BiasSliders:
        """Change the bias of one token."""
        return self._change({**self.bias, token: amount})

    def reset(self) -> BiasSliders:
        """Set all sliders to zero."""
        return self._change(dict.fromkeys(self.bias, 0.0))

    def _change(self, bias: dict[int, float]) -> BiasSliders:
        self.after, self.bias = softmax(apply_bias(self._logits, bias)), bias
        for token, slider in self._sliders.items():
            slider.value = bias[token]
        self.display.tell()
        self.display.save()
        return self

    @property
    def figure(self) -> Figure:
        """Before and after as a still picture."""
        return self._draw(kept_source(self._source))

    @cached_property
    def widget(self) -> Any:
        """The sliders, a reset button and the bars."""
        widgets = need("ipywidgets", "lab", "gv.bias_sliders")
        reset = widgets.Button(description="Reset", tooltip="Set all sliders to zero")
        reset.on_click(lambda _: self.reset())
        look = {"style": {"description_width": "8em"}, "layout": {"width": "600px"}}
        for token, amount in self.bias.items():
            name = label(self._pieces[token])
            slider = widgets.FloatSlider(amount, min=-100, max=100, step=0.5, description=name, **look)
            slider.observe(lambda change, token=token: self.set(token, change["new"]), "value")
            self._sliders[token] = slider
        return widgets.VBox([*self._sliders.values(), reset, self.display.widget])

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return mime_bundle(self.figure, lambda: self.widget, **wanted)

    def _draw(self, source: str) -> Figure:
        rows = self._rows()
        names = [label(self._pieces[token]) + self._sign(token) for token in rows]
        series = {"before": self.before[rows].tolist(), "after": self.after[rows].tolist()}
        marked = {place for place, token in enumerate(rows) if self.bias.get(token)}
        drawn = draw_bars(names, series, title=f"{source}: {self._title}", marked=marked)
        return Figure(drawn.drawing, f"Bias: {', '.join(map(self._say, self.bias))}", drawn.alt)

    def _rows(self) -> list[int]:
        """The tokens with a slider, then the likeliest before or after, in the order before the bias."""
        best = np.maximum(self.before, self.after)
        likeliest = np.argsort(-best, kind="stable")[: ROWS + len(self.bias)].tolist()
        rows = list(dict.fromkeys([*self.bias, *likeliest]))[: max(ROWS, len(self.bias))]
        return sorted(rows, key=lambda token: (-self.before[token], token))

    def _say(self, token: int) -> str:
        odds = f"{probability(self.before[token])} → {probability(self.after[token])}"
        return f"{label(self._pieces[token])}{self._sign(token)}: {odds}"

    def _sign(self, token: int) -> str:
        return f" {self.bias[token]:+g}" if self.bias.get(token) else ""


def _token(model: Model, token: str | int) -> int:
    """A token id, given as an id or as a text that is exactly one token."""
    if not isinstance(token, str):
        return model.vocabulary.as_id(token)
    written = model.vocabulary.ids(check_text("gv.bias_sliders, token", token).encode())
    ids = written or tuple(model.encode(token))
    if len(ids) == 1 or written:
        return ids[0]
    seen = f"{len(ids)} tokens: " + " | ".join(map(model.vocabulary.display, ids))
    raise SettingError(f"a slider for {quoted(token)}", seen=seen, expected="one token", hint="one of these")
