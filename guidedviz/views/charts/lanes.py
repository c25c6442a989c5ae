"""Charts in lanes: two with boxes on one clock, and one with the steps of a text.

A simulated server (a lane for the device, one for the CPU, one per request), when the forward pass and the mask of each
token ran, and the masks of several engines.
"""

from collections.abc import Iterator
from statistics import fmean

from guidedviz.decoding.trace import EngineRun, Overlap
from guidedviz.errors import expect, shorten
from guidedviz.machines.visible import counted
from guidedviz.serving.simulation import Served, Timeline
from guidedviz.tokens.compare import Comparison, Disagreement, on_one_line
from guidedviz.views.charts import plot
from guidedviz.views.figure import Figure

LANE, TOP = 24.0, 2  # pixels per lane; lanes above the requests
TICKS = 8
REQUESTS = 8  # that are drawn
WAITS = "waits for its machine or a place"
KINDS: tuple[plot.SpanKind, ...] = (
    ("forward pass", "blue", "solid"),
    ("masks", "gold", "solid"),
    ("compile", "orange", "hatched"),
    (WAITS, "soft", "hollow"),
    ("decodes", "sky", "solid"),
)


def draw_timeline(timeline: Timeline, title: str = "") -> Figure:
    """A simulated run with its first eight requests.

    >>> from guidedviz.serving import Costs, Request, simulate
    >>> run = simulate([Request(0, 3), Request(0, 2, "order", compile_ms=5, mask_ms=1)], Costs(forward=4))
    >>> print(draw_timeline(run).text)
    simulated: 18 ms, 4 passes, 2 requests
    request 0, no schema: arrives 0.0 ms, joins 0.0 ms, first token 4.0 ms, done 13.0 ms, 4.5 ms per token
    request 1, order: arrives 0.0 ms, joins 8.0 ms, first token 13.0 ms, done 18.0 ms, 5.0 ms per token
    """
    expect(timeline, Timeline, "draw_timeline", "a timeline", "gv.serving.simulate(requests, costs)")
    end, shown = max(one.done for one in timeline.served), timeline.served[:REQUESTS]
    note = f"simulated: {end:.0f} ms, {len(timeline.passes)} passes, {counted(len(timeline.served), 'request')}"
    note += f", of which {REQUESTS} are drawn" * (len(timeline.served) > REQUESTS)
    lines = [_say(n, one) for n, one in enumerate(shown)]
    schemas = (one.request.schema or "no schema" for one in shown)
    y = plot.lanes_axis(["device", "CPU", *(shorten(f"{n} {schema}", 24) for n, schema in enumerate(schemas))])
    x = plot.Axis("ms", 0.0, end, plot.round_ticks(end, TICKS))
    series = plot.spans_by_kind(KINDS, _boxes(timeline, len(y.ticks)))
    chart = plot.Chart(title or "a simulated server", x, y, series, (note,), height=LANE * len(y.ticks))
    return plot.draw_chart(chart, "\n".join([note, *lines]))


def _boxes(timeline: Timeline, lanes: int) -> Iterator[tuple[str, plot.Box]]:
    """The boxes of the device and the CPU, and of each request."""
    for one in timeline.passes:
        rows = f"{len(one.rows)} rows"
        yield "forward pass", (*one.forward, lanes, f"forward pass: {_took(one.forward)}, {rows}")
        yield "masks", (*one.masks, lanes - 1, f"masks: {_took(one.masks)}, {rows}")
        yield "compile", (*one.compiling, lanes - 1, f"compile, the batch waits: {_took(one.compiling)}")
    for number, served in enumerate(timeline.served[:REQUESTS]):
        lane, said = lanes - TOP - number, _say(number, served)
        start, end = served.compiling
        yield WAITS, (served.request.arrives, start, lane, said)
        yield "compile", (start, end, lane, f"compile: {end - start:.1f} ms; {said}")
        yield WAITS, (end, served.joined, lane, said)
        for one in timeline.passes:
            if number in one.rows:
                yield "decodes", (one.compiling[1], one.end, lane, said)


def _took(span: tuple[float, float]) -> str:
    return f"{span[1] - span[0]:.1f} ms"


def _say(number: int, one: Served) -> str:
    times = f"arrives {one.request.arrives:.1f} ms, joins {one.joined:.1f} ms, first token {one.first:.1f} ms"
    name = one.request.schema or "no schema"
    return f"request {number}, {name}: {times}, done {one.done:.1f} ms, {one.per_token_ms:.1f} ms per token"


# --- the forward pass and the mask of each token: lanes for the device and the CPU ---

CLOCK_TICKS, OVERLAPPED = 6, 6  # the most ticks and tokens
LEAST = 1 / 760  # of the clock: a shorter wait is not drawn
CLOCK_KINDS: tuple[plot.SpanKind, ...] = (
    ("forward", "blue", "solid"),
    ("mask", "gold", "solid"),
    ("logits wait", "orange", "hatched"),
)


def draw_overlap(record: Overlap, engine: str = "") -> Figure:
    """The first tokens of a record: above one by one, below side by side, both on the same clock.

    >>> from guidedviz.decoding.trace import Turn
    >>> turns = [Turn((0, 4), (4, 5), 5.5)], [Turn((0, 4), (0, 1), 4.5)]
    >>> runs = tuple(EngineRun("trie", beside, tuple(some)) for beside, some in zip((False, True), turns))
    >>> print(draw_overlap(Overlap(runs, "toy", "cpu", "2026-11-20", "JSON", 5, "TOY")).text)
    trie, 1 of 1 token, TOY: toy; cpu
    one by one: forward 4.00 ms, mask 1.00 ms, the logits wait 1.00 ms, 5.50 ms per token
    side by side: forward 4.00 ms, mask 1.00 ms, the logits wait 0.00 ms, 4.50 ms per token
    """
    expect(record, Overlap, "draw_overlap", "a record", "gv.decoding.Overlap.load(path)")
    pair = record.pair(engine)
    shown = [run.turns[:OVERLAPPED] for run in pair]
    starts = [min(*run.turns[0].forward, *run.turns[0].mask) for run in pair]
    end = max(turns[-1].chosen - start for turns, start in zip(shown, starts, strict=True))

    def boxes() -> Iterator[tuple[str, plot.Box]]:
        for top, turns, start in zip((7.0, 3.0), shown, starts, strict=True):
            for number, turn in enumerate(turns):
                spans = turn.forward, turn.mask, (turn.forward[1], turn.mask[1])
                for lane, ((kind, *_), (low, up)) in enumerate(zip(CLOCK_KINDS, spans, strict=True)):
                    if kind != "logits wait" or up - low > LEAST * end:
                        told = f"{'token' if kind == 'forward' else kind} {number}: {up - low:.2f} ms"
                        yield kind, (low - start, up - start, top - lane, told)

    lanes = "one by one: device", "CPU", "logits wait", "", "side by side: device", "CPU", "logits wait"
    source = "live" if record.source == "LIVE" else record.source
    where = source + f", {record.date}" * (source != "live")
    notes = f"{where} · {record.model} · {record.device}", *map(_say_run, pair)
    x, series = plot.Axis("ms", 0.0, end, plot.round_ticks(end, CLOCK_TICKS)), plot.spans_by_kind(CLOCK_KINDS, boxes())
    title = f"{pair[0].engine}: masks and forward passes"
    chart = plot.Chart(title, x, plot.lanes_axis(lanes), series, notes, height=170.0)
    about = f"{len(shown[0])} of {counted(len(pair[0].turns), 'token')}, {source}: {record.model}; {record.device}"
    return plot.draw_chart(chart, "\n".join([f"{pair[0].engine}, {about}", *map(_say_run, pair)]))


def _say_run(run: EngineRun) -> str:
    forward = fmean(turn.forward[1] - turn.forward[0] for turn in run.turns)
    mask = fmean(turn.mask[1] - turn.mask[0] for turn in run.turns)
    times = f"forward {forward:.2f} ms, mask {mask:.2f} ms, the logits wait {run.overhead:.2f} ms"
    return f"{'side by side' if run.beside else 'one by one'}: {times}, {run.per_token:.2f} ms per token"


# --- several engines along one text: where each agrees with our mask, and the kinds of their differences ---


COMPARISON_HINT = "gv.compare_engines(constraint, vocabulary, text)"
ABOUT = "does an engine's mask agree with ours before this token? − tokens that it omits, + tokens that it adds"
MOST_STEPS, PITCH, ENGINE_LANE = 40, 84.0, 52.0  # steps that are drawn, and pixels per step and per engine
AGREES, NOT_ASKED = "agrees", "stopped: it is not asked any more"
SIGNS = {  # per kind of difference: a mark and its colour
    "forced only": ("1", "green"),
    "known fault": ("!", "orange"),
    "lawful choice": ("≈", "blue"),
    "ours": ("×", "ink"),
    "not known": ("?", "gold"),
}


def draw_comparison(comparison: Comparison) -> Figure:
    """One lane per engine and one place per step; a ring where the masks agree, a dot per difference.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> print(draw_comparison(gv.compare_engines("a|ab", v, "ab", ["outlines-core"])).text.partition("\\n")[2])
      0 before ab: 2 legal
          outlines-core: known fault, takes the first alternative that fits (1 missing): ab
          outlines-core refuses ab
      1 before the end: 1 legal, all agree
    """
    expect(comparison, Comparison, "draw_comparison", "a comparison", COMPARISON_HINT)
    steps, left = comparison.steps[:MOST_STEPS], comparison.steps[MOST_STEPS:]
    dots: dict[str, list[tuple[float, float, str, str]]] = {kind: [] for kind in (AGREES, *SIGNS)}
    stopped: list[tuple[str, plot.Box]] = []
    for lane, (engine, _) in zip(range(len(comparison.engines), 0, -1), comparison.engines, strict=False):
        for place, step in enumerate(steps):
            told = f"{engine}, before {comparison.name_next(step)}, {step.legal:,} legal\n"
            found = [each for each in step.differences if each.engine == engine]
            if not found:
                dots[AGREES].append((place, lane, told + AGREES, ""))
            for number, each in enumerate(found):  # side by side
                spot = place + 0.3 * (number - (len(found) - 1) / 2)
                words = SIGNS[each.kind][0] + f" {_say_counts(each)}" * (len(found) == 1)
                dots[each.kind].append((spot, lane, f"{told}{each}: {comparison.name_tokens(each)}", words))
            if engine in step.refused_by:
                end = len(steps) - 0.5
                stopped.append((NOT_ASKED, (place + 0.5, end, lane, f"{engine} refuses {comparison.name_next(step)}")))
                break
    series = [*plot.spans_by_kind([(NOT_ASKED, "soft", "hollow")], stopped)]
    for kind in (kind for kind in dots if dots[kind]):
        xs, ys, hover, above = zip(*dots[kind], strict=True)
        mark, colour = SIGNS.get(kind, ("", "soft"))
        look: plot.Look = "hollow" if kind == AGREES else "solid"
        series.append(plot.Series(f"{mark} {kind}".strip(), "dots", xs, ys, hover, colour, look, words=above))
    notes = [shorten(on_one_line(comparison.constraint), 100), ABOUT, *_say_ends(comparison)]
    more = f"{len(left):,} more steps are not drawn; {sum(bool(step.differences) for step in left):,} have a difference"
    ticks = tuple((float(n), shorten(comparison.name_next(step), 14)) for n, step in enumerate(steps))
    x = plot.Axis("", -0.5, max(1, len(steps)) - 0.5, ticks, grid=False, mono=True)
    y = plot.lanes_axis([f"{shorten(name, 22)} {version}" for name, version in comparison.engines])
    width = min(760.0, PITCH * max(3, len(steps)))
    notes += [more] * bool(left)
    height = ENGINE_LANE * (len(y.ticks) + 0.3)
    chart = plot.Chart("engines along one text", x, y, tuple(series), tuple(notes), width, height)
    return plot.draw_chart(chart, str(comparison))


def _say_counts(found: Disagreement) -> str:
    """The numbers of tokens that an engine omits and adds."""
    return " ".join(f"{sign}{len(ids):,}" for sign, ids in (("−", found.missing), ("+", found.extra)) if ids)


def _say_ends(comparison: Comparison) -> Iterator[str]:
    """The engines that were not asked, or not until the end, and why."""
    for name, why in comparison.unable:
        yield f"{name} cannot take the constraint: {on_one_line(why)}"
    for step in comparison.steps:
        for name in step.refused_by:
            yield f"{name} refuses {comparison.name_next(step)} at {step.position}, and is not asked again"
        if step.stopped:
            yield f"the text ends here: the constraint does not allow {comparison.name_next(step)}"
