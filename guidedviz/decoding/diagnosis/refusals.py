"""Where the mask refused what the model wanted: the legal mass Z is small there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from guidedviz.decoding.diagnosis.finding import Finding
from guidedviz.decoding.diagnosis.run import Placed, Run
from guidedviz.decoding.odds import probability
from guidedviz.machines.visible import visible

LOW = 0.1  # of Z; sound runs of `clerk` stay above 0.9


def find_refusals(run: Run) -> Iterator[Finding]:
    """The mask refused what the model wanted. The first such step counts: the text after it is another one."""
    low = [one for one in run.asked if one.step.mass < LOW]
    if not low:
        return
    first, seen = low[0], say_refused(low[0], run) + _say_again(low, run)
    if first == run.asked[0]:
        check = "what the model writes without a guide after this prompt"
        cure = "ask for the format in the prompt; if the model reasons first, gv.tagged constrains only what follows"
        yield Finding("early mask", first.place, seen, check, cure)
    else:
        check = "whether a right answer is refused there: machine.accepts(answer)"
        yield Finding("over-tight constraint", first.place, seen, check, "a wider rule, limit or pattern")


def say_refused(one: Placed, run: Run) -> str:
    """What the model wanted at a step, and what it had to take."""
    step = one.step
    most = next((candidate for candidate in step.candidates if not candidate.legal), None)
    if most is None:  # many tokens share what the mask removed
        return f"Z is {probability(step.mass)}"
    chosen = visible(step.piece) or "an id without bytes"
    said = f'the model wanted "{visible(most.piece)}" ({probability(most.raw)})'
    said += f' and took "{chosen}" ({probability(step.raw)})'
    why = run.explain(one, most.token)
    return f"Z is {probability(step.mass)}: {said}" + (f"; {why}" if why else "")


def _say_again(low: list[Placed], run: Run) -> str:
    """How often Z is low, and where most often."""
    if len(low) == 1:
        return ""
    state, times = Counter(one.step.state for one in low).most_common(1)[0]
    where = f", {times} of them in state {state}" if times > 1 and state else ""
    return f"; Z is below {LOW} at {len(low)} of {len(run.asked)} steps{where}"
