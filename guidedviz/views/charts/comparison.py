"""Several engines along one text: where each agrees with our mask, and the kinds of their differences."""

from collections.abc import Iterator

from guidedviz.errors import expect, shorten
from guidedviz.tokens.compare import Comparison, Disagreement, on_one_line
from guidedviz.views.charts.chart import Axis, Box, Chart, Look, Series, lanes_axis, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

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
    stopped: list[tuple[str, Box]] = []
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
    series = [*spans_by_kind([(NOT_ASKED, "soft", "hollow")], stopped)]
    for kind in (kind for kind in dots if dots[kind]):
        xs, ys, hover, above = zip(*dots[kind], strict=True)
        mark, colour = SIGNS.get(kind, ("", "soft"))
        look: Look = "hollow" if kind == AGREES else "solid"
        series.append(Series(f"{mark} {kind}".strip(), "dots", xs, ys, hover, colour, look, words=above))
    notes = [shorten(on_one_line(comparison.constraint), 100), ABOUT, *_say_ends(comparison)]
    more = f"{len(left):,} more steps are not drawn; {sum(bool(step.differences) for step in left):,} have a difference"
    ticks = tuple((float(n), shorten(comparison.name_next(step), 14)) for n, step in enumerate(steps))
    x = Axis("", -0.5, max(1, len(steps)) - 0.5, ticks, grid=False, mono=True)
    y = lanes_axis([f"{shorten(name, 22)} {version}" for name, version in comparison.engines])
    width = min(760.0, PITCH * max(3, len(steps)))
    notes += [more] * bool(left)
    height = ENGINE_LANE * (len(y.ticks) + 0.3)
    chart = Chart("engines along one text", x, y, tuple(series), tuple(notes), width, height)
    return draw_chart(chart, str(comparison))


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
