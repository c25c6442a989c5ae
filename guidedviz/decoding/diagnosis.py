"""The likely cause of a bad run, from its record: findings with their evidence, and what was looked at.

`diagnose` runs each look, which finds a cause and the step that shows it; `ADVICE` says what to check and what to try.
With the guide, the tokens are read again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from guidedviz.decoding.cut_text import find_cut
from guidedviz.decoding.finding_card import write_finding, write_named
from guidedviz.decoding.looks import (
    ENDS_BY_LIMIT,
    Finding,
    Run,
    find_empty_mask,
    find_nesting,
    find_no_mask,
    find_notes,
    find_refusals,
    find_refused_text,
    find_same_bytes,
    find_wrong_mask,
)
from guidedviz.decoding.repetition import find_loop
from guidedviz.decoding.trace import CHOSEN, END_IN_WORDS, TRACE_HINT, Trace
from guidedviz.errors import SettingError, escaped, expect
from guidedviz.machines.visible import counted
from guidedviz.markup import Element, notice
from guidedviz.tokens.guide import Guide, check_guide

NEVER_SEEN = "whether the values are right: no mask and no record can tell"
ADVICE = {  # the name of a finding -> what to check, and what to try
    "empty mask": (
        "the mask of each rule alone; is each byte a token?",
        "change the rule that removed the last legal token",
    ),
    "refused text": ("which constraint did the server apply? Its log, the request", "gv.record with the same prompt"),
    "no mask": ("the log of the server: did the constraint compile?", "do not catch the error of gv.guide"),
    "stale mask": ("the fingerprints of model.vocabulary and guide.vocabulary", "gv.guide(machine, model.vocabulary)"),
    "text outside the language": ("which token switched the mask on?", "one guide that reads all tokens: gv.tagged"),
    "whitespace loop": ('[ \\n]* in the grammar, whitespace="any"', 'one blank at most: [ \\n]?, whitespace="space"'),
    "repetition loop": ("which rule repeats without a limit?", "a limit ({0,20}, maxItems), or a temperature above 0"),
    "unbounded nesting": ("a rule that calls itself between two texts", "a deepest level"),
    "early mask": ("what comes without a guide?", "ask for the format in the prompt; after reasoning: gv.tagged"),
    "over-tight constraint": ("does the machine accept a right answer?", "a wider rule, limit or pattern"),
    "whitespace refused": ("are the values right? Then it is harmless", 'ask for JSON in one line; whitespace="any"'),
    "same bytes, several ids": ("the ids that a ban or a bias names", "vocabulary.ids(piece)"),
    "cut in the middle": ("the length of the longest right answer", "more tokens"),
    "keyword not enforced": ("machine.notes", 'correct the keyword, or gv.json_schema(schema, unknown="error")'),
}
ALL_LOOKS: tuple[tuple[str, Callable[[Run], Iterator[Finding]], bool], ...] = (  # True: it needs the guide
    ("empty masks", find_empty_mask, False),  # the likeliest cause first
    ("whether the constraint refuses the text", find_refused_text, False),
    ("whether a mask was applied", find_no_mask, False),
    ("the text, read again by the guide", find_wrong_mask, True),
    ("loops of tokens", find_loop, False),
    ("open rules", find_nesting, False),
    ("what the mask refused (Z)", find_refusals, False),
    ("ids with the same bytes", find_same_bytes, False),
    ("whether the text is complete", find_cut, False),
    ("keywords that are not enforced", find_notes, True),
)
HARMLESS = "whitespace refused"  # if the values are right
REFUSALS = ("over-tight constraint", HARMLESS, "early mask")
EXPLAINS = {  # a cause -> findings that are only its symptoms
    "no mask": (*REFUSALS, "text outside the language", "cut in the middle"),
    "whitespace loop": ("cut in the middle",),
    "repetition loop": ("cut in the middle",),
    "unbounded nesting": ("repetition loop", "cut in the middle"),
    "text outside the language": (*REFUSALS, "cut in the middle"),
    "stale mask": (*REFUSALS, "no mask", "whitespace loop", "repetition loop", "cut in the middle"),
}


def advice_for(finding: Finding) -> tuple[str, str]:
    """What to check and what to try."""
    check, cure = ADVICE[finding.name]
    return check, finding.cure or cure


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a run, the likeliest cause first; none if the run looks sound, or if only a limit ended it."""

    findings: tuple[Finding, ...]
    ended: str  # how long the run was and how it ended, in words
    looked: tuple[str, ...]
    skipped: tuple[str, ...] = ()  # what could not be looked at without the guide
    by_limit: bool = False  # whether a limit ended the run
    other_guide: str = ""  # where the guide that was given is seen not to be that of the run
    pieces: tuple[bytes, ...] = ()  # the tokens of the run, one per step

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def result(self) -> str:
        """How many findings there are or, without one, how the run looks."""
        if set(self.names) == {HARMLESS}:
            return "1 finding, harmless if the values are right"
        if self.findings:
            return counted(len(self.findings), "finding")
        return "no finding, but a limit ended the run" if self.by_limit else "the run looks sound"

    @property
    def head(self) -> str:
        """The result in one line."""
        return f"{self.result} · {self.ended}"

    @property
    def rows(self) -> Iterator[tuple[str, str]]:
        """The findings with their evidence, what to check and what to try; of a sound run, what was looked at."""
        if self.other_guide:
            yield "another guide", self.other_guide
        for number, finding in enumerate(self.findings, 1):
            check, cure = advice_for(finding)
            yield f"{number}. {finding.name}", f"at step {finding.step + 1}"
            yield "seen", finding.seen
            yield "check", check
            yield "try", cure
        yield from self._rest()

    def _rest(self) -> Iterator[tuple[str, str]]:
        """What was not looked at, and of a sound run what was."""
        if self.skipped:
            yield "not looked at", f"{'; '.join(self.skipped)} (this needs the guide)"
        if not self.findings:
            yield "looked at", "; ".join(self.looked)
            yield "not visible", NEVER_SEEN

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.rows)
        lines = [f"{name:<{width}}  {said}" for name, said in self.rows]
        return escaped("\n".join([self.head, *lines]))

    def _repr_html_(self) -> str:
        sign = "!"
        colour = "#b3400a"
        if set(self.names) == {HARMLESS}:
            sign = "?"
            colour = "#0072b2"
        elif not self.findings and not self.by_limit:
            sign = "✓"
            colour = "#0b6e4f"
        return str(notice(f"{sign} {escaped(self.head)}", colour, *self._lines()))

    def _lines(self) -> Iterator[Element]:
        """The findings as cards, and what else is said."""
        if self.other_guide:
            yield write_named("another guide", self.other_guide)
        for number, finding in enumerate(self.findings, 1):
            yield write_finding(number, finding, advice_for(finding), self.pieces)
        for name, said in self._rest():
            yield write_named(name, said)


def diagnose(trace: Trace, guide: Guide | None = None) -> Diagnosis:
    """Name the likely causes of a bad run, with evidence, what to check and what to try.

    The guide is by default that of the trace. A trace from a file has none: give the guide, or fewer things are looked
    at. If another guide is given, the run is judged by it. Steps are counted from 1, as on
    the stage. `finding.step` is the place in `trace.steps`, one less: `gv.stage(trace, show=finding.step)` is about to
    draw this step.

    >>> toy = gv.ToyModel([b"a", b"b", b"</s>"], lambda tokens: [2, 1, 0], eos={2})
    >>> run = gv.record(toy, "a", gv.guide(gv.regex(r"ab\\$"), toy.vocabulary))
    >>> run.text, gv.diagnose(run).names, gv.diagnose(run).findings[0].seen
    ('ab', ('empty mask',), 'after "ab" the machine expects $, and no token begins with that')
    """
    expect(trace, Trace, "diagnose, trace", "a trace", TRACE_HINT)
    if guide is not None:
        check_guide(guide, "diagnose, guide")
    if not trace.steps:
        raise SettingError("diagnose, trace", seen="no steps", expected="at least one", hint="gv.record")
    run = Run(trace, guide or trace.guide)
    looked, skipped, findings = look_at(run)
    ended = f"{counted(len(trace.tokens), 'token')} · {END_IN_WORDS.get(run.end, 'not ended')}"
    causes = tuple(without_symptoms(findings))
    other = ""
    if guide is not None and "no mask" not in [finding.name for finding in causes]:
        other = say_other_guide(run, guide)
    pieces = tuple(step.piece for step in trace.steps)
    return Diagnosis(causes, ended, tuple(looked), tuple(skipped), run.end in ENDS_BY_LIMIT, other, pieces)


def look_at(run: Run) -> tuple[list[str], list[str], list[Finding]]:
    """What is looked at in a run, what is left out because it needs a guide, and all that is found."""
    looked = []
    skipped = []
    findings: list[Finding] = []
    for what, find, needs_guide in ALL_LOOKS:
        if needs_guide and not run.guide:
            skipped.append(what)
        else:
            looked.append(what)
            findings += find(run)
    return looked, skipped, findings


def say_other_guide(run: Run, guide: Guide) -> str:
    """The first step at which a guide allows more or fewer tokens than were legal in the run; "" if there is none."""
    for (place, step), state in zip(run.steps, run.states, strict=False):
        if run.trace.constraint and step.how in CHOSEN:
            allowed = int(guide.mask(state).sum())
            if allowed != step.legal:
                said = f"at step {place + 1} it allows {allowed:,} tokens, and in the run {step.legal:,} were legal"
                return f"the guide that was given is not that of the run: {said}"
    return ""


def without_symptoms(findings: list[Finding]) -> list[Finding]:
    """The findings that no other finding explains; one that follows from another comes last."""
    symptoms: set[str] = set()
    for finding in findings:
        symptoms.update(EXPLAINS.get(finding.name, ()))
    causes = [finding for finding in findings if finding.name not in symptoms]
    return sorted(causes, key=lambda finding: finding.follows)
