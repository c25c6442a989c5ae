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
from guidedviz.widgets.display import Display, Message, Shown, is_still, mime_bundle
from guidedviz.widgets.runner import WORKER, running_loop, say_failure

ROWS = (1, 2, 4, 8, 16, 32, 64, 128)  # texts side by side
PLACES = range(len(FRACTIONS))
PLACE = nearest_fraction(0.7)  # where it opens
ROUNDS = 5  # of a live run; the median counts
SLOW = 80.0  # milliseconds; with a slower forward pass, recorded runs are shown
UNSTABLE = (
    f"No two measurements of the cost of a pass and of a token agree within {timing.WITHIN:.0%}: this machine is busy. "
)
Wish = tuple[LanguageModel, SliderTask, int]  # who writes, the task, and the rows


def fraction_slider(model: Model | Payoff) -> "FractionSlider":
    """A slider over the runs of a live model, or recorded runs: `gv.fraction_slider(gv.decoding.Payoff.load(path))`.

    It shows recorded runs for a model whose forward pass takes longer than 80 ms or that is on a shared host, on a
    machine that is too busy to time runs, and where nobody can click.
    """
    if isinstance(model, Payoff):
        return FractionSlider(model)
    check_model(model, "gv.fraction_slider, model")
    if is_still():
        return _recorded_slider("")
    slow = say_slow(model)
    if slow:
        return _recorded_slider(slow)
    if not isinstance(model, LanguageModel):
        expected = "a language model, or recorded runs: gv.decoding.Payoff.load(path)"
        raise SettingError("gv.fraction_slider, model", seen=type(model).__name__, expected=expected)
    found = timing.calibrate(model)
    if found is None:
        return _recorded_slider(f"{UNSTABLE}These runs are recorded; run the cell again later.")
    cost, stable = found
    tasks = build_tasks(model)
    texts = tuple(task.text for task in tasks)
    today = date.today().isoformat()
    payoff = Payoff(cost, (), texts, model.name, model.device, today, "canonical", model.source)
    note = "" if stable else f"{UNSTABLE}The cost model has their median; run the cell again later."
    return FractionSlider(payoff, model, tasks, note)


def _recorded_slider(note: str) -> "FractionSlider":
    return FractionSlider(Payoff.load(shipped("traces/jump-cpu.json")), note=note)


def say_slow(model: Model) -> str:
    """A note about a model that is too slow for live runs, or shared with others; "" for any other."""
    if isinstance(model, RemoteModel):
        return f"{model.name} is on a shared host, whose times depend on other students: these runs are recorded."
    token = model.vocabulary.text_ids[0]
    model.logits([token])  # the first pass of a model takes longer than those that follow
    began = perf_counter()
    model.logits([token, token])
    took = 1000 * (perf_counter() - began)
    if took <= SLOW:
        return ""
    return f"A forward pass of {model.name} takes {milliseconds(took)}, too long for live runs: these are recorded."


class FractionSlider(Shown):
    """What `gv.fraction_slider` returns: two handles, the runs that were timed, and a page that shows them."""

    def __init__(
        self,
        payoff: Payoff,
        model: LanguageModel | None = None,
        tasks: tuple[SliderTask, ...] = (),
        note: str = "",
    ) -> None:
        self.payoff = payoff
        self.place = PLACE
        self.rows = ROWS[0]
        self.note = note
        self._model = model
        self._tasks = tasks
        self._wish: Wish | None = None  # the run that is timed now or next
        self._running: asyncio.Task[None] | None = None
        self.display = Display("fraction", self._news, self._hear, saved=self._pack_all, on_close=self._release)

    def _release(self) -> None:
        """Stop, and release the model; the runs stay as a picture."""
        self._wish = None
        self._model = None
        self._tasks = ()
        self.note = "This slider is closed: its runs stay, no new run is timed."
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
                self.place = place
                self.rows = rows
                if said.get("time"):
                    self._time()
        self._moved()

    def _time(self) -> None:
        """Time the runs at which the handles stand; others stop."""
        loop = running_loop()
        if loop and self._model is not None:
            self._wish = self._model, self._tasks[self.place], self.rows
            self.note = ""
            if self._running is None or self._running.done():
                self._running = loop.create_task(self._run())

    async def _run(self) -> None:
        """Time what is wished until nothing is."""
        while self._wish is not None:
            wish = self._wish
            try:
                await self._time_rounds(wish)
            except Exception as error:  # the notebook goes on whatever a model does
                if self._wish is wish:
                    self.note = say_failure(error)
            if self._wish is wish:
                self._wish = None
            self._moved()

    async def _time_rounds(self, wish: Wish) -> None:
        """Show the median of the rounds after each of them; another wish ends them."""
        timed = partial(timing.time_task, *wish, lambda: self._wish is not wish)
        rounds: list[Timed] = []
        while len(rounds) < ROUNDS:
            found = await asyncio.get_running_loop().run_in_executor(WORKER, timed)
            if found is None or self._wish is not wish:
                return
            rounds.append(found)
            self._keep(median_run(rounds))
            self._moved()

    def _keep(self, run: Timed) -> None:
        """Keep a run in place of an older one with its place and rows."""
        old = find_run(self.payoff, nearest_fraction(run.asked), run.rows)
        others = [one for one in self.payoff.runs if one is not old]
        self.payoff = replace(self.payoff, runs=(*others, run))

    def _moved(self) -> None:
        self.display.tell()
        if self._wish is None:
            self.display.save()

    def _news(self, everything: bool) -> Message:
        """The runs, and whether one is timed; a new page gets the plot, and a first page starts a first run."""
        if everything and not self.payoff.runs and self._wish is None:
            self._time()
        return self._pack_all() if everything else self._pack()

    def _pack(self) -> Message:
        return {
            "runs": [pack_timed(run) for run in self.payoff.runs],
            "cost": asdict(self.payoff.cost),
            "timing": self._wish is not None,
            "note": self.note,
        }

    def _pack_all(self) -> Message:
        """All that is shown: the plot and a text per place too, so that the page moves without the kernel."""
        payoff = self.payoff
        about = f"{payoff.model} · {payoff.device}"
        if payoff.source == "RECORDED":
            about += f" · {payoff.date}"
        head = {"source": payoff.source, "about": about, "live": self._model is not None}
        plot = draw_plot(replace(payoff, runs=()), 0.0, 1)
        alt = "speed-up over the share of forced tokens"
        sheet = drawing(DRAWING_WIDTH, DRAWING_HEIGHT, *plot, alt=alt)
        texts = list(map(pack_parts, payoff.previews))
        at = [self.place, ROWS.index(self.rows)]
        fixed = {"head": head, "plot": sheet.shapes, "axes": AXES, "texts": texts}
        return fixed | {"places": FRACTIONS, "rows": ROWS, "at": at} | self._pack()


def pack_parts(parts: MarkedTokens) -> list[tuple[str, bool]]:
    """A text token by token."""
    return [(label(text.encode()), fixed) for text, fixed in parts]


def pack_timed(run: Timed) -> Message:
    """A live run and its point in the plot."""
    naive = milliseconds(run.naive_ms)
    jump = milliseconds(run.jump_ms)
    spread = []
    if run.speedups:
        spread = [min(run.speedups), max(run.speedups)]
    told = f"measured {say_times(run.speedup)} a token{say_spread(run)}"
    told += f": {jump} for {run.tokens} tokens instead of {naive} for {run.naive_passes}"
    told += f"; both outputs: {run.difference}"
    packed: Message = {"place": nearest_fraction(run.asked), "rows": run.rows, "parts": pack_parts(run.parts)}
    packed |= {"passes": [run.naive_passes, run.jump_passes], "share": run.fraction}
    packed |= {"speedup": run.speedup, "spread": spread, "title": say_point(run)}
    packed["took"] = [round(run.naive_ms, 3), round(run.jump_ms, 3)]
    return packed | {"tookText": [naive, jump], "told": told}


# Sliders for logit bias: a constant added to some logits, as a threshold in the whole distribution.

REACH = 8.0  # of a slider to both sides; a larger bias widens it
PROMPT_END = 40  # characters of a prompt that the title shows


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
    amounts = {_token(model, token): amount for token, amount in (bias or {}).items()}
    shown = {_token(model, token): 0.0 for token in tokens}
    return BiasSliders(model, prompt, shown | amounts)


class BiasSliders(Shown):
    """What `gv.bias_sliders` returns. The model runs once; after that a bias is only arithmetic."""

    def __init__(self, model: Model, prompt: str, bias: Mapping[int, float]) -> None:
        self._logits = np.asarray(model.logits(list(start(model, prompt).tokens)), dtype=np.float64)
        end = reading(prompt[-PROMPT_END:])
        self._title = f"next token after “…{end}”" if len(prompt) > PROMPT_END else f"next token after “{end}”"
        self._source = model.source
        self._pieces = model.vocabulary.pieces
        self._sliders: dict[int, Any] = {}
        self.before = softmax(self._logits)
        self.display = Display("picture", lambda everything: {"drawing": self._draw(self._source).drawing.shapes})
        self._first = dict(bias)
        self._change(self._first)

    def set(self, token: int, amount: float) -> Self:
        """Change the bias of one token."""
        return self._change({**self.bias, token: amount})

    def reset(self) -> Self:
        """Set all sliders as they were at the start."""
        return self._change(self._first)

    def _change(self, bias: dict[int, float]) -> Self:
        self.after = softmax(apply_bias(self._logits, bias))
        self.bias = bias
        for token, slider in self._sliders.items():
            _move_slider(slider, bias[token])
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
        reset = widgets.Button(description="Reset", tooltip="Set all sliders as they were at the start")
        reset.on_click(lambda _: self.reset())
        look = {"style": {"description_width": "8em"}, "layout": {"width": "600px"}}
        for token, amount in self.bias.items():
            name = label(self._pieces[token])
            slider = widgets.FloatSlider(0.0, min=-REACH, max=REACH, step=0.5, description=name, **look)
            _move_slider(slider, amount)
            slider.observe(lambda change, token=token: self.set(token, change["new"]), "value")
            self._sliders[token] = slider
        return widgets.VBox([*self._sliders.values(), reset, self.display.widget])

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return mime_bundle(self.figure, lambda: self.widget, **wanted)

    def _draw(self, source: str) -> Figure:
        return draw_threshold(self._pieces, self.before, self.after, self.bias, f"{source}: {self._title}")


def _move_slider(slider: Any, amount: float) -> None:
    """Move a slider; a bias beyond its ends widens it."""
    slider.min = min(slider.min, -abs(amount))
    slider.max = max(slider.max, abs(amount))
    slider.value = amount


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
