"""The two sliders: how many tokens a constraint fixes, and what is added to a logit.

The fraction slider shows the time that jump-forward saves. The constants of its cost model are measured first, until
two measurements agree. The page moves the handles without the kernel. Where they rest, live runs are timed in a thread;
moving on stops them.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import date
from functools import cached_property, partial
from time import perf_counter
from typing import Any, Self

import numpy as np

from guidedviz.decoding import timing
from guidedviz.decoding.loop import start
from guidedviz.decoding.payoff import FRACTIONS, MarkedTokens, Payoff, Timed, median_run, nearest_fraction
from guidedviz.decoding.sampling import apply_bias, softmax
from guidedviz.decoding.timing import SliderTask, build_tasks
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import need
from guidedviz.files import shipped
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.model import Model, check_model, check_utf8
from guidedviz.models.remote import RemoteModel
from guidedviz.views.charts.payoff import (
    AXES,
    DRAWING_HEIGHT,
    DRAWING_WIDTH,
    draw_payoff,
    draw_plot,
    find_run,
    say_point,
    say_spread,
    say_times,
)
from guidedviz.views.charts.threshold import draw_threshold
from guidedviz.views.figure import Figure, drawing
from guidedviz.views.words import kept_source, label, milliseconds, reading
from guidedviz.widgets.display import Display, Shown, is_still, mime_bundle
from guidedviz.widgets.runner import WORKER, running_loop, say_failure

ROWS = (1, 2, 4, 8, 16, 32, 64, 128)  # texts side by side
PLACES = range(len(FRACTIONS))
PLACE = nearest_fraction(0.7)  # where it opens
ROUNDS = 5  # of a live run; the median counts
SLOW = 80.0  # milliseconds; with a slower forward pass, recorded runs are shown
UNSTABLE = (
    f"No two measurements of the cost of a pass and of a token agree within {timing.WITHIN:.0%}: this machine is busy. "
)
MEDIAN = f"{UNSTABLE}The cost model has their median; run the cell again later."
UNFIT = f"{UNSTABLE}These runs are recorded; run the cell again later."
CLOSED = "This slider is closed: its runs stay, no new run is timed."
EXPECTED = "a language model, or recorded runs: gv.decoding.Payoff.load(path)"
Wish = tuple[SliderTask, int]  # a task, and the rows


def fraction_slider(model: Model | Payoff) -> "FractionSlider":
    """A slider over the runs of a live model, or recorded runs: `gv.fraction_slider(gv.decoding.Payoff.load(path))`.

    It shows recorded runs for a model whose forward pass takes longer than 80 ms or that is on a shared host, on a
    machine that is too busy to time runs, and where nobody can click.
    """
    if isinstance(model, Payoff):
        return FractionSlider(model)
    check_model(model, "gv.fraction_slider, model")
    recorded = partial(FractionSlider, Payoff.load(shipped("traces/jump-cpu.json")))
    if is_still():
        return recorded()
    if slow := say_slow(model):
        return recorded(note=slow)
    if not isinstance(model, LanguageModel):
        raise SettingError("gv.fraction_slider, model", seen=type(model).__name__, expected=EXPECTED)
    if (found := timing.calibrate(model)) is None:
        return recorded(note=UNFIT)
    cost, stable = found
    tasks = build_tasks(model)
    about = (model.name, model.device, date.today().isoformat(), "canonical", model.source)
    payoff = Payoff(cost, (), tuple(task.text for task in tasks), *about)
    return FractionSlider(payoff, model, tasks, "" if stable else MEDIAN)


def say_slow(model: Model) -> str:
    """A note about a model that is too slow for live runs, or shared with others; "" for any other."""
    if isinstance(model, RemoteModel):
        return f"{model.name} is on a shared host, whose times depend on other students: these runs are recorded."
    token = model.vocabulary.text_ids[0]
    model.logits([token])  # the first pass of a model takes longer than those that follow
    began = perf_counter()
    model.logits([token, token])
    took = 1000 * (perf_counter() - began)
    said = f"A forward pass of {model.name} takes {milliseconds(took)}, too long for live runs: these are recorded."
    return said if took > SLOW else ""


class FractionSlider(Shown):
    """What `gv.fraction_slider` returns: two handles, the runs that were timed, and a page that shows them."""

    def __init__(
        self,
        payoff: Payoff,
        model: LanguageModel | None = None,
        tasks: tuple[SliderTask, ...] = (),
        note: str = "",
    ) -> None:
        self.place, self.rows = PLACE, ROWS[0]
        self.payoff, self.note = payoff, note
        self._model, self._tasks = model, tasks
        self._wish: Wish | None = None  # the run that is timed now or next
        self._running: asyncio.Task[None] | None = None
        saved = partial(self._pack, everything=True)
        self.display = Display("fraction", self._news, self._hear, saved=saved, on_close=self._release)

    def _release(self) -> None:
        """Stop, and release the model; the runs stay as a picture."""
        self._wish, self._model, self._tasks = None, None, ()
        self.note = CLOSED
        self.display.tell()

    @property
    def figure(self) -> Figure:
        """The curves, the runs so far and the handle, as a still picture."""
        kept = replace(self.payoff, source=kept_source(self.payoff.source))
        return draw_payoff(kept, FRACTIONS[self.place], self.rows)

    def _hear(self, said: Any) -> None:
        match said:
            case {"do": "move"}:
                self._wish = None
            case {"do": "rest", "place": int(place), "rows": int(rows)} if place in PLACES and rows in ROWS:
                self.place, self.rows = place, rows
                if said.get("time") and self._model is not None:
                    self._time((self._tasks[place], rows))
        self._moved()

    def _time(self, wish: Wish) -> None:
        """Time these runs next; others stop."""
        if loop := running_loop():
            self._wish, self.note = wish, ""
            if self._running is None or self._running.done():
                self._running = loop.create_task(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while (wish := self._wish) is not None and self._model is not None:
            timed = partial(timing.time_task, self._model, *wish, partial(self._is_stale, wish))
            rounds: list[Timed] = []
            try:
                while len(rounds) < ROUNDS and (found := await loop.run_in_executor(WORKER, timed)):
                    if self._wish is not wish:
                        break
                    rounds.append(found)
                    self._keep(rounds)
                    self._moved()
            except Exception as error:  # the notebook goes on whatever a model does
                if self._wish is wish:
                    self.note = say_failure(error)
            self._wish = None if self._wish is wish else self._wish
            self._moved()

    def _is_stale(self, wish: Wish) -> bool:
        return self._wish is not wish

    def _keep(self, rounds: list[Timed]) -> None:
        """Keep the median run in place of an older one with its place and rows."""
        run = median_run(rounds)
        old = find_run(self.payoff, nearest_fraction(run.asked), run.rows)
        self.payoff = replace(self.payoff, runs=(*(one for one in self.payoff.runs if one is not old), run))

    def _moved(self) -> None:
        self.display.tell()
        if self._wish is None:
            self.display.save()

    def _news(self, everything: bool) -> dict[str, Any]:
        """The runs, and whether one is timed; a new page gets the plot, and a first page starts a first run."""
        if everything and self._model is not None and not self.payoff.runs and self._wish is None:
            self._time((self._tasks[self.place], self.rows))
        return self._pack(everything)

    def _pack(self, everything: bool) -> dict[str, Any]:
        runs, cost = list(map(pack_run, self.payoff.runs)), asdict(self.payoff.cost)
        news = {"runs": runs, "cost": cost, "timing": self._wish is not None, "note": self.note}
        at = {"at": [self.place, ROWS.index(self.rows)]}
        return pack_head(self.payoff, self._model is not None) | at | news if everything else news


def pack_head(payoff: Payoff, live: bool) -> dict[str, Any]:
    """What the page needs to move without the kernel: the plot, and a text per place."""
    where = f"{payoff.model} · {payoff.device}" + f" · {payoff.date}" * (payoff.source == "RECORDED")
    plot = draw_plot(replace(payoff, runs=()), 0.0, 1)
    return {
        "head": {"source": payoff.source, "about": where, "live": live},
        "plot": drawing(DRAWING_WIDTH, DRAWING_HEIGHT, *plot, alt="speed-up over the share of forced tokens").shapes,
        "axes": AXES,
        "texts": list(map(pack_parts, payoff.previews)),
        "places": FRACTIONS,
        "rows": ROWS,
    }


def pack_parts(parts: MarkedTokens) -> list[tuple[str, bool]]:
    """A text token by token."""
    return [(label(text.encode()), fixed) for text, fixed in parts]


def pack_run(run: Timed) -> dict[str, Any]:
    """A live run and its point in the plot."""
    took = [milliseconds(run.naive_ms), milliseconds(run.jump_ms)]
    return {
        "place": nearest_fraction(run.asked),
        "rows": run.rows,
        "parts": pack_parts(run.parts),
        "passes": [run.naive_passes, run.jump_passes],
        "share": run.fraction,
        "speedup": run.speedup,
        "spread": [min(run.speedups), max(run.speedups)] if run.speedups else [],
        "title": say_point(run),
        "took": [round(run.naive_ms, 3), round(run.jump_ms, 3)],
        "tookText": took,
        "told": f"measured {say_times(run.speedup)} a token{say_spread(run)}: {took[1]} for {run.tokens} "
        f"tokens instead of {took[0]} for {run.naive_passes}; both outputs: {run.difference}",
    }


# Sliders for logit bias: a constant added to some logits, as a threshold in the whole distribution.


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
    written = model.vocabulary.ids(check_utf8("gv.bias_sliders, token", token).encode())
    ids = written or tuple(model.encode(token))
    if len(ids) == 1 or written:
        return ids[0]
    seen = f"{len(ids)} tokens: " + " | ".join(map(model.vocabulary.display, ids))
    raise SettingError(f"a slider for {quoted(token)}", seen=seen, expected="one token", hint="one of these")
