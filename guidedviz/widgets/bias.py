"""Sliders for logit bias: a constant added to some logits, as a threshold in the whole distribution."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from guidedviz.decoding.loop import start
from guidedviz.decoding.sampling import apply_bias, softmax
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import need
from guidedviz.models.model import Model, check_model, check_text
from guidedviz.views.charts.distribution import draw_threshold
from guidedviz.views.figure import Figure
from guidedviz.views.words import kept_source, label, reading
from guidedviz.widgets.display import Display, Shown, mime_bundle

REACH = 8.0  # of a slider to both sides; a larger bias widens it


def bias_sliders(
    model: Model, prompt: str, tokens: Iterable[str | int], *, bias: Mapping[str | int, float] | None = None
) -> "BiasSliders":
    """One slider per token, and the whole vocabulary on a log scale with each bias as a threshold.

    A slider goes from -8 to 8, and further for a larger bias.
    """
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
        self._title = f"next token after “{'…' * (len(prompt) > 40)}{reading(prompt[-40:])}”"
        self._source, self._pieces = model.source, model.vocabulary.pieces
        self._sliders: dict[int, Any] = {}
        self.before = softmax(self._logits)
        self.display = Display("picture", lambda everything: {"drawing": self._draw(self._source).drawing.shapes})
        self._change(dict(bias))

    def set(self, token: int, amount: float) -> Self:
        """Change the bias of one token."""
        return self._change({**self.bias, token: amount})

    def reset(self) -> Self:
        """Set all sliders to zero."""
        return self._change(dict.fromkeys(self.bias, 0.0))

    def _change(self, bias: dict[int, float]) -> Self:
        self.after, self.bias = softmax(apply_bias(self._logits, bias)), bias
        for token, slider in self._sliders.items():
            _reach(slider, bias[token])
            slider.value = bias[token]
        self.display.tell()
        self.display.save()
        return self

    @property
    def figure(self) -> Figure:
        """The thresholds, before and after, as a still picture."""
        return self._draw(kept_source(self._source))

    @cached_property
    def widget(self) -> Any:
        """The sliders, a reset button and the picture."""
        widgets = need("ipywidgets", "lab", "gv.bias_sliders")
        reset = widgets.Button(description="Reset", tooltip="Set all sliders to zero")
        reset.on_click(lambda _: self.reset())
        look = {"style": {"description_width": "8em"}, "layout": {"width": "600px"}}
        for token, amount in self.bias.items():
            name = label(self._pieces[token])
            slider = widgets.FloatSlider(0.0, min=-REACH, max=REACH, step=0.5, description=name, **look)
            _reach(slider, amount)
            slider.value = amount
            slider.observe(lambda change, token=token: self.set(token, change["new"]), "value")
            self._sliders[token] = slider
        return widgets.VBox([*self._sliders.values(), reset, self.display.widget])

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return mime_bundle(self.figure, lambda: self.widget, **wanted)

    def _draw(self, source: str) -> Figure:
        return draw_threshold(self._pieces, self.before, self.after, self.bias, f"{source}: {self._title}")


def _reach(slider: Any, amount: float) -> None:
    """Widen a slider for a bias beyond its ends."""
    slider.min, slider.max = min(slider.min, -abs(amount)), max(slider.max, abs(amount))


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
