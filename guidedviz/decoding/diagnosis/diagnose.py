"""`diagnose` names the likely cause of a bad run from its record.

Each look reads one thing of the record and may find one cause. With the guide, the tokens are also read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from guidedviz.decoding.diagnosis.endings import find_cut, find_empty_mask, find_loop, find_nesting
from guidedviz.decoding.diagnosis.finding import Diagnosis, Finding
from guidedviz.decoding.diagnosis.masks import find_no_mask, find_notes, find_same_bytes, find_wrong_mask
from guidedviz.decoding.diagnosis.refusals import find_refusals
from guidedviz.decoding.diagnosis.run import Run
from guidedviz.decoding.trace import ENDS, Trace
from guidedviz.errors import SettingError, expect
from guidedviz.machines.visible import counted
from guidedviz.tokens.guide import Guide, check_guide


class Look(NamedTuple):
    """What is looked at, how, and whether this needs the guide."""

    what: str
    find: Callable[[Run], Iterator[Finding]]
    guided: bool = False


LOOKS = (  # the likeliest cause first
    Look("empty masks", find_empty_mask),
    Look("whether a mask was applied", find_no_mask),
    Look("the text, read again by the guide", find_wrong_mask, guided=True),
    Look("loops of tokens", find_loop),
    Look("open rules", find_nesting),
    Look("what the mask refused (Z)", find_refusals),
    Look("ids with the same bytes", find_same_bytes),
    Look("whether the text is complete", find_cut, guided=True),
    Look("keywords that are not enforced", find_notes, guided=True),
)


def diagnose(trace: Trace, guide: Guide | None = None) -> Diagnosis:
    """Name the likely causes of a bad run, with evidence, what to check and what to try.

    The guide is by default that of the trace. A trace from a file has none: give the guide, or fewer things are looked
    at. If another guide is given, the run is judged by it.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: [2, 1, 0], eos={2})
    >>> run = gv.record(toy, "a", gv.guide(gv.regex(r"ab\\$"), toy.vocabulary))
    >>> run.text, diagnose(run).names, diagnose(run).findings[0].seen
    ('ab', ('empty mask',), 'after "ab" the machine expects $, and no token begins with it')
    """
    expect(trace, Trace, "diagnose, trace", "a trace", "gv.record(model, prompt, guide)")
    if guide is not None:
        check_guide(guide, "diagnose, guide")
    if not trace.steps:
        raise SettingError("diagnose, trace", seen="no steps", expected="at least one", hint="gv.record")
    run = Run(trace, guide or trace.guide)
    looks = [look for look in LOOKS if run.guide or not look.guided]
    findings = tuple(finding for look in looks for finding in look.find(run))
    skipped = tuple(look.what for look in LOOKS if look not in looks)
    ended = f"{counted(len(trace.tokens), 'token')} · {ENDS.get(run.end, 'not ended')}"
    return Diagnosis(_without_symptoms(findings), ended, tuple(look.what for look in looks), skipped)


REFUSED = ("over-tight constraint", "early mask")
EXPLAINS = {  # a cause -> findings that are only its symptoms
    "no mask": (*REFUSED, "cut in the middle"),
    "whitespace loop": ("cut in the middle",),
    "repetition loop": ("cut in the middle",),
    "unbounded nesting": ("repetition loop", "cut in the middle"),
    "text outside the language": (*REFUSED, "cut in the middle"),
    "stale mask": (*REFUSED, "no mask", "whitespace loop", "repetition loop", "cut in the middle"),
}


def _without_symptoms(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    gone = {name for finding in findings for name in EXPLAINS.get(finding.name, ())}
    return tuple(finding for finding in findings if finding.name not in gone)
