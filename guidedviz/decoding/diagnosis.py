"""The likely cause of a bad run, from its record: findings with their evidence, and what was looked at.

`diagnose` runs each look of `LOOKS`. A look reads one thing of the record; with the guide, the tokens are read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from typing import Any, NamedTuple

from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import CHOSEN, ENDS, End, Step, Trace, taken_back
from guidedviz.errors import GuidedVizError, SettingError, escaped, expect
from guidedviz.machines.machine import next_bytes, read
from guidedviz.machines.pushdown.distance import bytes_to_end
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, visible
from guidedviz.markup import Element, node, notice, table
from guidedviz.tokens.explain import expected_next
from guidedviz.tokens.guide import Guide, check_guide
from guidedviz.tokens.guide import guide as make_guide
from guidedviz.tokens.vocabulary import Vocabulary

UNSEEN = "whether the values are right: no mask and no record can tell"


@dataclass(frozen=True)
class Finding:
    """A likely cause: its name, the step that shows it first, the evidence, what to check and what to try."""

    name: str
    step: int  # the place in `trace.steps`
    seen: str
    check: str
    cure: str

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The finding without its name and its step, line by line."""
        return ("seen", self.seen), ("check", self.check), ("try", self.cure)


@dataclass(frozen=True)
class Diagnosis:
    """The findings of a run, the likeliest cause first; none if the run looks sound."""

    findings: tuple[Finding, ...]
    ended: str  # how long the run was and how it ended, in words
    looked: tuple[str, ...]
    skipped: tuple[str, ...] = ()  # what could not be looked at without the guide

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the findings."""
        return tuple(finding.name for finding in self.findings)

    @property
    def head(self) -> str:
        """The result in one line."""
        result = counted(len(self.findings), "finding") if self.findings else "the run looks sound"
        return f"{result} · {self.ended}"

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What was looked at, and what was not."""
        skipped = (("not looked at", "; ".join(self.skipped) + " (this needs the guide)"),) if self.skipped else ()
        return ("looked at", "; ".join(self.looked)), *skipped, ("not visible", UNSEEN)

    def __repr__(self) -> str:
        lines = [self.head]
        for number, finding in enumerate(self.findings, 1):
            lines.append(f"{number}. {finding.name}, at step {finding.step}")
            lines += [f"   {name:<5}  {said}" for name, said in finding.rows]
        return escaped("\n".join([*lines, *(f"{name}: {said}" for name, said in self.notes)]))

    def _repr_html_(self) -> str:
        icon, colour = ("!", "#b3400a") if self.findings else ("✓", "#0b6e4f")
        lines = (part for name, said in self.notes for part in (node("br"), f"{name}: {escaped(said)}"))
        notes = node("div", *[*lines][1:], style="margin-top:6px;font-size:.85em;opacity:.75")
        return str(notice(f"{icon} {escaped(self.head)}", colour, *map(_show, self.findings), notes))


def _show(finding: Finding) -> Element:
    title = node("b", escaped(finding.name)), f", at step {finding.step}"
    return node("div", *title, table((name, escaped(said)) for name, said in finding.rows), style="margin:8px 0 0")


# A run as a diagnosis reads it: the steps that stand, and what the guide says when it reads their tokens again.


LIMITS = ("max_tokens", "context")  # ends that no rule of the text asked for


class Placed(NamedTuple):
    """A step and its place in the trace."""

    place: int
    step: Step


@dataclass(frozen=True)
class Replay:
    """A guide reads the tokens again: the state before each, and the place where it refuses one."""

    states: tuple[Any, ...]
    refused: Placed | None = None
    why: str = ""


@dataclass(frozen=True)
class Run:
    """A trace and the guide that belongs to it, if there is one."""

    trace: Trace
    guide: Guide | None

    @cached_property
    def steps(self) -> list[Placed]:
        """The steps whose tokens stand in the output."""
        gone = set(chain(*taken_back(self.trace.steps)))
        return [Placed(at, step) for at, step in enumerate(self.trace.steps) if at not in gone and step.token >= 0]

    @cached_property
    def asked(self) -> list[Placed]:
        """The steps with a forward pass of the model."""
        return [placed for placed in self.steps if placed.step.how in CHOSEN]

    @property
    def last(self) -> int:
        """The place of the last step."""
        return len(self.trace.steps) - 1

    @property
    def end(self) -> End:
        """How the run ended."""
        return self.trace.steps[-1].end

    @property
    def limited(self) -> bool:
        """Whether a limit ended the run."""
        return self.end in LIMITS

    def tail(self, most: int = 24) -> str:
        """The end of the text, in quotes."""
        text = visible(self.trace.output)
        return f'"{"…" * (len(text) > most)}{text[-most:]}"'

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The vocabulary of the guide."""
        return self.guide.vocabulary if self.guide else None

    @cached_property
    def machine(self) -> Any:
        """The machine of the guide, if it has one."""
        return self.guide.machine if self.guide else None

    @cached_property
    def replay(self) -> Replay:
        """The guide's states; it stops at the first token that the guide refuses."""
        assert self.guide is not None
        states = [self.guide.initial]
        for placed in self.steps:
            try:
                states.append(self.guide.advance(states[-1], placed.step.token))
            except GuidedVizError:
                known = placed.step.token < len(self.guide.vocabulary)
                why = self.guide.explain(states[-1], placed.step.token).reason if known else "no such id"
                return Replay(tuple(states), placed, why)
        return Replay(tuple(states))

    def explain(self, one: Placed, token: int) -> str:
        """Why the guide refuses a token at a step; "" if there is no guide or it does not get there."""
        number = self.steps.index(one)
        if self.guide is None or number >= len(self.replay.states) or token >= len(self.guide.vocabulary):
            return ""
        return self.guide.explain(self.replay.states[number], token).reason


# Where the mask refused what the model wanted: the legal mass Z is small there.


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


# How a run ended: with an empty mask, in a loop, ever deeper, or in the middle of its text.


BLANKS = 8  # tokens of whitespace only, one after the other
REPEATED = 12  # tokens of a loop
TIMES = 4  # that its cycle is seen
DEEPER = 8  # open rules more than in the middle of the run


def find_empty_mask(run: Run) -> Iterator[Finding]:
    """No token was legal, and the text was not complete."""
    if run.end != "dead_end":
        return
    seen = f"after {run.tail()} no token is legal, in state {run.trace.steps[-1].state or 'unnamed'}"
    check = "which rule removed the last legal token: ask each rule alone for its mask of this state"
    cure = "change the rule that removed it"
    if run.machine and (state := read(run.machine, run.trace.output)) is not None:
        missing = _missing_bytes(run, state)
        if missing:
            seen = f"after {run.tail()} the machine expects {expected_next(run.machine, state)}, and no token begins "
            seen += "with it" if len(missing) == 1 else "with one of them"
            check = "whether a byte is a token: vocabulary.ids(bytes([byte]))"
            cure = "spell it in another way in the grammar, or take a vocabulary with a token for each byte"
        elif count := _legal_alone(run, state):
            seen += f"; the machine alone allows {count:,} {'token' if count == 1 else 'tokens'} there"
            check = "the other rules that change the mask, such as a least length or forbidden words"
            cure = "let the other rule give way where only its tokens are legal"
    yield Finding("empty mask", run.last, seen, check, cure)


def _missing_bytes(run: Run, state: Any) -> bytes:
    """What the machine expects, if no text token begins with any of it."""
    vocabulary = run.guide.vocabulary if run.guide else None
    firsts = {vocabulary.pieces[token][0] for token in vocabulary.text_ids} if vocabulary else set()
    expected = next_bytes(run.machine, state)
    return b"" if firsts.intersection(expected) else bytes(expected)


def _legal_alone(run: Run, state: Any) -> int:
    """How many tokens the machine alone allows."""
    assert run.guide is not None
    return int(make_guide(run.machine, run.guide.vocabulary, "trie").mask(state).sum())


def find_loop(run: Run) -> Iterator[Finding]:
    """The model wrote whitespace, or the same tokens, again and again."""
    blank = [list(group) for is_blank, group in groupby(run.steps, lambda one: not one.step.piece.strip()) if is_blank]
    longest = max(blank, key=len, default=[])
    if len(longest) >= BLANKS:
        refused = [one for one in longest if one.step.mass < LOW]
        seen = f"{len(longest)} tokens of whitespace in a row, all legal"
        seen += f"; at step {refused[0].place} {say_refused(refused[0], run)}" if refused else ""
        check = 'where the grammar repeats whitespace without a limit: [ \\n]*, whitespace="any"'
        yield Finding("whitespace loop", longest[0].place, seen, check, 'at most one blank: " "?, whitespace="space"')
        return
    tokens = [one.step.token for one in run.steps]
    if run.limited and (cycle := find_cycle(tokens)):
        said = visible(b"".join(one.step.piece for one in run.steps[-cycle:]))
        first = len(tokens) - _looped(tokens, cycle)
        seen = f'the last {len(tokens) - first} tokens repeat "{said}"'
        check, cure = "which rule repeats without a limit", "a limit in the grammar ({0,20}, maxItems), or sample at a "
        yield Finding("repetition loop", run.steps[first].place, seen, check, cure + "temperature above 0")


def find_cycle(tokens: Sequence[int]) -> int:
    """The length of the shortest cycle that the end of a text repeats; 0 if there is none.

    >>> find_cycle([7, *[1, 2, 3] * 5]), find_cycle(list(range(30)))
    (3, 0)
    """
    cycles = (
        size for size in range(1, len(tokens) // TIMES + 1) if _looped(tokens, size) >= max(TIMES * size, REPEATED)
    )
    return next(cycles, 0)


def _looped(tokens: Sequence[int], cycle: int) -> int:
    """How many tokens at the end equal the one a cycle before, and the first cycle."""
    count = 0
    while count + cycle < len(tokens) and tokens[-1 - count] == tokens[-1 - count - cycle]:
        count += 1
    return count + cycle


def find_nesting(run: Run) -> Iterator[Finding]:
    """Rules were opened and never closed until a limit ended the run."""
    depths = [len(one.step.stack) for one in run.steps]
    if not run.limited or len(depths) < 2:
        return
    half = len(depths) // 2
    if depths[-1] < depths[half] + DEEPER or min(depths[half:]) < depths[half]:
        return
    place, before = run.steps[half].place, depths[half]
    seen = f"of {before} rules open at step {place} none is closed, and {depths[-1]} are open at the end: {run.tail()}"
    check = "a rule that calls itself between two texts: gv.views.draw_depth(machine, text)"
    yield Finding("unbounded nesting", place, seen, check, "gv.within(guide, max_tokens), or a deepest level")


def find_cut(run: Run) -> Iterator[Finding]:
    """A limit ended the run in the middle of its text."""
    if not run.limited or run.guide is None or run.replay.refused:
        return
    state = run.replay.states[-1]
    if run.guide.is_accepting(state):
        return
    needed = bytes_to_end(run.machine, read(run.machine, run.trace.output)) if run.machine else None
    end = f"; its shortest end takes {needed} bytes more" if needed else ""
    limit = f"{len(run.steps)} tokens" if run.end == "max_tokens" else "the model's context"
    seen = f"{limit} ended the text at {run.tail()}, which is not complete{end}"
    check = "the length of the longest right answer, in tokens"
    yield Finding("cut in the middle", run.last, seen, check, "gv.within(guide, max_tokens), or more tokens")


# Whether the mask was the right one: applied at all, for this vocabulary, and for everything that was asked for.


NEARLY_ALL = 0.99  # of the vocabulary, legal at each step


def find_no_mask(run: Run) -> Iterator[Finding]:
    """The record names a constraint, and each step allowed everything."""
    if not run.trace.constraint and run.guide is None:
        return
    if not run.asked or min(one.step.legal for one in run.asked) < NEARLY_ALL * run.trace.vocabulary_size:
        return
    if run.guide is not None and not run.replay.refused and run.trace.guide is run.guide:
        return  # the guide itself allows this much
    size, least = run.trace.vocabulary_size, min(one.step.legal for one in run.asked)
    share = f"all {size:,}" if least == size else f"at least {least:,} of {size:,}"
    seen = f"at each of {len(run.asked)} steps {share} tokens were legal"
    if run.trace.constraint:
        seen += f", although the record names the constraint {run.trace.constraint!r}"
    place = run.asked[0].place
    if run.guide and (refused := run.replay.refused):
        seen += f'; the guide would have refused "{visible(refused.step.piece)}" at step {refused.place}'
        place = refused.place
    check = "the log of the server: did the constraint compile, and what happens if it does not?"
    yield Finding("no mask", place, seen, check, "let the request fail: do not catch the error of gv.guide")


def find_wrong_mask(run: Run) -> Iterator[Finding]:
    """The guide refuses a token of the text, or another vocabulary was used, or the machine refuses the text."""
    assert run.guide is not None
    check = "one vocabulary for model and guide: guide.vocabulary.fingerprint == model.vocabulary.fingerprint"
    cure = "gv.guide(machine, model.vocabulary) after each change of the tokenizer; key stored masks by its fingerprint"
    if other := _other_piece(run):
        token, pieces = other.step.token, run.guide.vocabulary.pieces
        mine = f'"{visible(pieces[token])}"' if token < len(pieces) else "no token"
        seen = f'token {token} is "{visible(other.step.piece)}" in the record and {mine} in the vocabulary of the guide'
        yield Finding("stale mask", other.place, seen, check, cure)
    elif refused := run.replay.refused:
        seen = f'the guide refuses "{visible(refused.step.piece)}" at step {refused.place}: {run.replay.why}'
        check = "where the mask was switched on, and whether each token reached the guide"
        yield Finding(
            "text outside the language", refused.place, seen, check, "let one guide read all tokens: gv.tagged"
        )
    elif run.machine and (died := _refused_by_machine(run)):
        seen = f'each token was legal by the mask, and the machine refuses the text at "{visible(died.step.piece)}"'
        yield Finding("stale mask", died.place, seen, check, cure)


def _other_piece(run: Run) -> Placed | None:
    """The first token that has other bytes in the vocabulary of the guide."""
    assert run.guide is not None
    pieces = run.guide.vocabulary.pieces
    others = (one for one in run.steps if one.step.token >= len(pieces) or pieces[one.step.token] != one.step.piece)
    return next(others, None)


def _refused_by_machine(run: Run) -> Placed | None:
    """The first step after which the machine cannot read the text."""
    assert run.guide is not None
    state = run.machine.initial
    for one in run.steps:
        if one.step.token not in run.guide.vocabulary.eos:
            state = read(run.machine, one.step.piece, state)
        if state is None:
            return one
    return None


def find_same_bytes(run: Run) -> Iterator[Finding]:
    """A chosen token has the bytes of another id: the probability is divided, and a ban of one id leaves the other."""
    for one in run.asked:
        ids = {candidate.token for candidate in one.step.candidates if candidate.piece == one.step.piece}
        known = run.guide.vocabulary.ids(one.step.piece) if run.guide else ()
        if run.guide and one.step.token in known:
            ids = {token for token in known if run.guide.vocabulary.is_text(token)}  # not the name of a special token
        if len(ids) > 1 and one.step.piece:
            seen = f'"{visible(one.step.piece)}" is the text of ids {", ".join(map(str, sorted(ids)))}; '
            seen += f"{one.step.token} was taken ({probability(one.step.raw)})"
            check = "vocabulary.ids(piece), and which ids a ban or a bias names"
            cure = "name tokens by their bytes: vocabulary.ids(piece) gives all ids"
            yield Finding("same bytes, several ids", one.place, seen, check, cure)
            return


def find_notes(run: Run) -> Iterator[Finding]:
    """The machine does not enforce all that its source says."""
    if notes := run.machine.notes if isinstance(run.machine, DFA | PDA) else ():
        check = "machine.notes; judge the output with a validator, too"
        cure = 'correct the keyword, or gv.json_schema(schema, unknown="error")'
        yield Finding("keyword not enforced", 0, "; ".join(notes), check, cure)


# The looks, and what they find together.


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
    "no mask": (*REFUSED, "text outside the language", "cut in the middle"),
    "whitespace loop": ("cut in the middle",),
    "repetition loop": ("cut in the middle",),
    "unbounded nesting": ("repetition loop", "cut in the middle"),
    "text outside the language": (*REFUSED, "cut in the middle"),
    "stale mask": (*REFUSED, "no mask", "whitespace loop", "repetition loop", "cut in the middle"),
}


def _without_symptoms(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    gone = {name for finding in findings for name in EXPLAINS.get(finding.name, ())}
    return tuple(finding for finding in findings if finding.name not in gone)
