"""The deterministic-fraction slider: how many tokens the constraint fixes, and how much time jump-forward saves by it.

The page moves on its own from what it was sent once; where the handles rest, a live run is timed in a thread, and a
run that nobody waits for any more is stopped.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from datetime import date
from functools import partial
from time import perf_counter
from typing import Any

from guidedviz.decoding.loop import Model
from guidedviz.decoding.models import LanguageModel
from guidedviz.decoding.payoff import PLACES, Parts, Passes, Payoff, Timed, find_place, fixed_share, group_passes
from guidedviz.decoding.tasks import Task, build_tasks
from guidedviz.decoding.timing import measure_cost, time_task
from guidedviz.errors import GuidedVizError, SettingError
from guidedviz.files import shipped
from guidedviz.headless import headless
from guidedviz.views.figure import Figure, drawing
from guidedviz.views.payoff import draw_payoff
from guidedviz.views.payoff_plot import AXES, HEIGHT, WIDTH, draw_plot, say_times
from guidedviz.views.words import kept_source, label, milliseconds
from guidedviz.widgets.cells import move_in
from guidedviz.widgets.runner import WORKER
from guidedviz.widgets.show import OnPage, running_loop, show

ROWS = (1, 2, 4, 8, 16, 32, 64, 128)  # texts side by side
SLOW = 80.0  # milliseconds a pass, from which on nobody waits for 64 of them
CLOSED = "This slider is closed: its runs stay, no new one is timed."
EXPECTED = "a language model, or recorded runs: gv.Payoff.load(path)"
Wish = tuple[int, int]  # the place of a task, and the rows


def fraction_slider(model: Model | Payoff, *, fraction: float = 0.7, rows: int = 1) -> FractionSlider:
    """The slider over a live model, or over recorded runs: `gv.fraction_slider(gv.Payoff.load(path))`.

    A model whose pass takes longer than 80 ms shows the runs that came with guidedviz; so does a headless notebook.
    """
    if isinstance(model, Payoff):
        return FractionSlider(model, None, (), fraction, rows)
    if not hasattr(model, "logits"):
        raise SettingError("gv.fraction_slider", seen=repr(model), expected=EXPECTED, hint="gv.load_model('clerk')")
    slow = "" if headless() else say_slow(model)
    if slow or headless():
        return FractionSlider(Payoff.load(shipped("traces/jump-cpu.json")), None, (), fraction, rows, slow)
    if not isinstance(model, LanguageModel):
        raise SettingError("gv.fraction_slider", seen=type(model).__name__, expected=EXPECTED)
    tasks = build_tasks(model)
    about = (model.name, model.device, date.today().isoformat(), "canonical", model.source)
    payoff = Payoff(measure_cost(model), (), tuple(task.text for task in tasks), *about)
    return FractionSlider(payoff, model, tasks, fraction, rows)


def say_slow(model: Model) -> str:
    """What is said of a model that is too slow for live runs; nothing of any other."""
    token = model.vocabulary.text_ids[0]
    model.logits([token])  # the first pass of a model takes longer than those that follow
    began = perf_counter()
    model.logits([token, token])
    took = 1000 * (perf_counter() - began)
    said = f"A pass of {model.name} takes {milliseconds(took)}, too long to wait for: these runs are recorded."
    return said if took > SLOW else ""


class FractionSlider(OnPage):
    """What `gv.fraction_slider` gives: two handles, the runs that were timed, and a page that shows them."""

    kind = "fraction"

    def __init__(
        self,
        payoff: Payoff,
        model: LanguageModel | None,
        tasks: tuple[Task, ...],
        fraction: float,
        rows: int,
        note: str = "",
    ) -> None:
        self.place, self.rows = find_place(fraction), _check_rows(rows)
        self.cell = ("", "")
        move_in(self)  # once nothing can be refused any more: it closes an older slider
        self.payoff, self.note = payoff, note
        self._model, self._tasks = model, tasks
        self._wish: Wish | None = None  # what is timed now or next
        self._running: asyncio.Task[None] | None = None
        self._sent, self._led = 0, False  # how many runs the page has; whether code moved the handles

    # --- what a person or a notebook does ---

    def go(self, fraction: float, rows: int = 1) -> FractionSlider:
        """Put both handles somewhere; the run that was under way is stopped."""
        self.place, self.rows = find_place(fraction), _check_rows(rows)
        self._wish, self._led = None, True
        return self._moved()

    def measure(self, fraction: float | None = None, rows: int | None = None) -> FractionSlider:
        """Go there and time a run at once, without a page."""
        if self._model is None:
            raise SettingError("measure", seen="no live model", hint="gv.fraction_slider(model) has one")
        self.go(PLACES[self.place] if fraction is None else fraction, self.rows if rows is None else rows)
        timing = WORKER.submit(time_task, self._model, self._tasks[self.place], self.rows, lambda: False)
        if found := timing.result():
            self._keep(found)
        return self._moved()

    def close(self) -> None:
        """Stop, and let go of the model; the runs stay as a picture."""
        self._wish, self._model, self._tasks = None, None, ()
        self.note = CLOSED
        self._tell()
        super().close()

    @property
    def figure(self) -> Figure:
        """The curves, the runs so far and the text where the handles stand, as a still picture."""
        return draw_payoff(replace(self.payoff, source=kept_source(self.payoff.source)), PLACES[self.place], self.rows)

    def __repr__(self) -> str:
        return self.figure.text

    def _repr_mimebundle_(self, **wanted: Any) -> Any:
        return show(self.figure, self, **wanted)

    # --- the live runs ---

    def _hear(self, said: dict[str, Any]) -> None:
        if said.get("do") == "move":
            self._wish = None
        elif said.get("do") == "rest" and said.get("place") in range(len(PLACES)) and said.get("rows") in ROWS:
            self.place, self.rows = int(said["place"]), int(said["rows"])
            if said.get("time") and self._model is not None:
                self._time((self.place, self.rows))
        self._moved()

    def _time(self, wish: Wish) -> None:
        """Time this next; what is under way for another wish stops."""
        self._wish, self.note = wish, ""
        if (self._running is None or self._running.done()) and (loop := running_loop()):
            self._running = loop.create_task(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while (wish := self._wish) is not None and self._model is not None:
            task, rows = self._tasks[wish[0]], wish[1]
            timing = partial(time_task, self._model, task, rows, partial(self._is_stale, wish))
            try:
                found = await loop.run_in_executor(WORKER, timing)
            except Exception as error:  # the notebook stays alive whatever a model does
                if self._wish is wish:
                    self._fail(error)
                continue
            if found and self._model is not None:
                self._keep(found)
            self._wish = None if self._wish is wish else self._wish
            self._moved()

    def _is_stale(self, wish: Wish) -> bool:
        return self._wish is not wish

    def _fail(self, error: Exception) -> None:
        self._wish = None
        self.note = str(error) if isinstance(error, GuidedVizError) else f"{type(error).__name__}: {error}"
        self._moved()

    def _keep(self, run: Timed) -> None:
        """A run takes the place of an older one of the same place and rows."""
        others = tuple(old for old in self.payoff.runs if (old.asked, old.rows) != (run.asked, run.rows))
        self._sent = 0 if len(others) < len(self.payoff.runs) else self._sent
        self.payoff = replace(self.payoff, runs=(*others, run))

    # --- what the page is told ---

    def _moved(self) -> FractionSlider:
        self._tell()
        if self._wire is not None and self._wish is None:
            self._wire.saved = self._everything()
        return self

    def _news(self, everything: bool) -> dict[str, Any]:
        """The runs that the page does not have yet, and what is timed."""
        since, self._sent = self._sent, len(self.payoff.runs)
        if everything:
            return self._everything()
        led, self._led = {"at": self._at} if self._led else {}, False
        return led | self._standing(since)

    def _everything(self) -> dict[str, Any]:
        return pack_head(self.payoff, self._model is not None) | self._standing(0) | {"at": self._at}

    def _standing(self, since: int) -> dict[str, Any]:
        runs = [pack_run(run) for run in self.payoff.runs[since:]]
        return {"from": since, "add": runs, "timing": self._wish is not None, "note": self.note}

    @property
    def _at(self) -> list[int]:
        return [self.place, ROWS.index(self.rows)]


def pack_head(payoff: Payoff, live: bool) -> dict[str, Any]:
    """All that a page needs to move on its own: the plot, the two constants, a text for each place."""
    empty = replace(payoff, runs=())
    where = f"{payoff.model} · {payoff.device}" + f" · {payoff.date}" * (payoff.source == "RECORDED")
    return {
        "head": {"source": payoff.source, "about": where, "live": live},
        "plot": drawing(WIDTH, HEIGHT, *draw_plot(empty, 0.0, 1), alt="speed-up over the share of fixed tokens"),
        "scale": AXES,
        "cost": asdict(payoff.cost),
        "texts": [pack_preview(parts) for parts in payoff.previews],
        "places": PLACES,
        "rows": ROWS,
    }


def pack_parts(parts: Parts, passes: Passes) -> dict[str, Any]:
    """A text token by token, and how many tokens each pass of jump-forward reads."""
    return {"parts": [[label(text.encode()), fixed] for text, fixed in parts], **asdict(passes)}


def pack_preview(parts: Parts) -> dict[str, Any]:
    """A text before it is timed."""
    passes = group_passes(parts)
    counts = {"share": round(fixed_share(parts), 4), "passes": [len(parts), len(passes.read)]}
    return pack_parts(parts, passes) | counts


def pack_run(run: Timed) -> dict[str, Any]:
    """A live run, and where it stands."""
    return pack_parts(run.parts, group_passes(run.parts, run.jump_passes)) | {
        "place": find_place(run.asked),
        "rows": run.rows,
        "share": round(run.fraction, 4),
        "passes": [run.naive_passes, run.jump_passes],
        "tokens": [run.naive_passes, run.tokens],
        "speedup": round(run.speedup, 3),
        "times": say_times(run.speedup),
        "took": [round(run.naive_ms, 3), round(run.jump_ms, 3)],
        "said": [milliseconds(run.naive_ms), milliseconds(run.jump_ms)],
        "difference": run.difference,
    }


def _check_rows(rows: int) -> int:
    if rows not in ROWS:
        raise SettingError("rows", seen=repr(rows), expected=", ".join(map(str, ROWS)))
    return int(rows)
