"""Several engines along one text: where each agrees with our mask, and the kinds of their differences."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from guidedviz.errors import expect, shorten
from guidedviz.tokens.compare import ComparedStep, Comparison, Disagreement, on_one_line
from guidedviz.views.charts.chart import Axis, Chart, Mark, Series, lanes_axis, spans_by_kind
from guidedviz.views.charts.plot import draw_chart
from guidedviz.views.figure import Figure

COMPARISON_HINT = "gv.compare_engines(constraint, vocabulary, text)"
COMPARISON_NOTE = (
    "does an engine's mask agree with ours before this token? − tokens that it omits, + tokens that it adds"
)
MOST_COMPARED_STEPS = 40  # steps that are drawn
STEP_PITCH = 84.0
ENGINE_LANE = 52.0
AGREES = "agrees"
NOT_ASKED = "stopped: it is not asked any more"
DIFFERENCE_SIGNS = {  # per kind of difference: a mark and its colour
    "forced only": ("1", "green"),
    "known fault": ("!", "gold"),
    "lawful choice": ("≈", "blue"),
    "ours": ("×", "ink"),
    "not known": ("?", "soft"),
}


def draw_comparison(comparison: Comparison) -> Figure:
    """One lane per engine and one place per step; a ring where the masks agree, a dot per difference.

    >>> v = gv.Vocabulary([b"a", b"b", b"ab", b"</s>"], eos={3})
    >>> print(gv.draw_comparison(gv.compare_engines("a|ab", v, "ab", ["outlines-core"])).text.partition("\\n")[2])
      0 before ab: 2 legal
          outlines-core: known fault, takes the first alternative that fits (1 missing): ab
          outlines-core refuses ab
      1 before the end: 1 legal, all agree
    """
    expect(comparison, Comparison, "draw_comparison", "a comparison", COMPARISON_HINT)
    steps = comparison.steps[:MOST_COMPARED_STEPS]
    dots = defaultdict[str, list[Mark]](list)
    stopped = []
    for number, (engine, _) in enumerate(comparison.engines):
        lane = len(comparison.engines) - number
        for place, step in enumerate(steps):
            for kind, shift, hover, words in _compare_step(comparison, engine, step):
                dots[kind].append(Mark(place + shift, lane, hover=hover, words=words))
            if engine in step.refused_by:
                refused = f"{engine} refuses {comparison.name_next(step)}"
                span = Mark(len(steps) - 0.5, lane, place + 0.5, refused)
                stopped.append((NOT_ASKED, span))
                break
    series = [*spans_by_kind([(NOT_ASKED, "soft", "hollow")], stopped)]
    kinds = (AGREES, *DIFFERENCE_SIGNS)
    series += [_dots_of(kind, dots[kind]) for kind in kinds if kind in dots]
    names = [shorten(comparison.name_next(step), 14) for step in steps]
    ticks = tuple((float(place), name) for place, name in enumerate(names))
    end = max(1, len(steps)) - 0.5
    x = Axis("", -0.5, end, ticks, grid=False, mono=True)
    engines = [f"{shorten(name, 22)} {version}" for name, version in comparison.engines]
    y = lanes_axis(engines)
    notes = tuple(_comparison_notes(comparison))
    width = min(760.0, STEP_PITCH * max(3, len(steps)))
    height = ENGINE_LANE * (len(y.ticks) + 0.3)
    chart = Chart("engines along one text", x, y, tuple(series), notes, width, height)
    return draw_chart(chart, str(comparison))


def _compare_step(comparison: Comparison, engine: str, step: ComparedStep) -> Iterator[tuple[str, float, str, str]]:
    """The dots of an engine at a step, side by side: the kind, the shift, and the words of each."""
    following = comparison.name_next(step)
    told = f"{engine}, before {following}, {step.legal:,} legal\n"
    found = [each for each in step.differences if each.engine == engine]
    if not found:
        yield AGREES, 0, told + AGREES, ""
    for number, each in enumerate(found):
        shift = 0.3 * (number - (len(found) - 1) / 2)
        words, _ = DIFFERENCE_SIGNS[each.kind]
        if len(found) == 1:
            words += f" {_say_difference(each)}"
        tokens = comparison.name_tokens(each)
        yield each.kind, shift, f"{told}{each}: {tokens}", words


def _dots_of(kind: str, dots: Sequence[Mark]) -> Series:
    if kind == AGREES:
        return Series(kind, "dots", tuple(dots), "soft", "hollow")
    sign, colour = DIFFERENCE_SIGNS[kind]
    return Series(f"{sign} {kind}", "dots", tuple(dots), colour)


def _comparison_notes(comparison: Comparison) -> Iterator[str]:
    """What is compared, which engines were not asked, or not until the end, and what is not drawn."""
    yield shorten(on_one_line(comparison.constraint), 100)
    yield COMPARISON_NOTE
    for name, why in comparison.unable:
        yield f"{name} cannot take the constraint: {on_one_line(why)}"
    for step in comparison.steps:
        following = comparison.name_next(step)
        for name in step.refused_by:
            yield f"{name} refuses {following} at {step.position}, and is not asked again"
        if step.stopped:
            yield f"the text ends here: the constraint does not allow {following}"
    left = comparison.steps[MOST_COMPARED_STEPS:]
    if left:
        different = sum(bool(step.differences) for step in left)
        yield f"{len(left):,} more steps are not drawn; {different:,} have a difference"


def _say_difference(found: Disagreement) -> str:
    """The numbers of tokens that an engine omits and adds."""
    said = []
    if found.missing:
        said.append(f"−{len(found.missing):,}")
    if found.extra:
        said.append(f"+{len(found.extra):,}")
    return " ".join(said)
