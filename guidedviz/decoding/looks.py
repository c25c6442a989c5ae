"""What a diagnosis looks at: each look reads a run again and yields findings. Cuts and loops have their own files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from guidedviz.decoding.recording import End
from guidedviz.decoding.sampling import probability
from guidedviz.decoding.trace import CHOSEN, Step, Trace, standing_places
from guidedviz.errors import SettingError
from guidedviz.machines.machine import Machine, next_bytes, read
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.visible import counted, visible
from guidedviz.tokens.budget import within
from guidedviz.tokens.build_guide import guide
from guidedviz.tokens.guide import Guide, expected_next, guide_states
from guidedviz.tokens.vocabulary import Vocabulary


class WantedToken(NamedTuple):
    """A step at which the mask refused what the model wanted, and what the model took instead."""

    place: int  # of the step
    mass: float
    wanted: bytes | None  # None if many tokens share what the mask removed
    wanted_raw: float
    taken: bytes
    taken_raw: float
    why: str  # what the machine says of the token that was wanted

    @property
    def words(self) -> str:
        """The refusal in one line."""
        said = f"Z is {probability(self.mass)}"
        if self.wanted is None:
            return said
        taken = visible(self.taken) or "an id without bytes"
        said += f': the model wanted "{visible(self.wanted)}" ({probability(self.wanted_raw)})'
        said += f' and took "{taken}" ({probability(self.taken_raw)})'
        return f"{said}; {self.why}" if self.why else said

    def where(self, step: int) -> str:
        """At which step it is, counted from 1; "" if that is the one spoken of."""
        return "" if self.place == step else f"at step {self.place + 1} "


class Finding(NamedTuple):
    """A likely cause: its name, the step that shows it first (its place in `trace.steps`), and the evidence.

    In words a step is counted from 1, as on the stage.
    """

    name: str
    step: int
    facts: tuple[str, ...]
    refusal: WantedToken | None = None
    cure: str = ""  # what to try, where the usual advice does not fit this run
    follows: bool = False  # whether another finding, a refusal, is its cause

    @property
    def seen(self) -> str:
        """The evidence in one line."""
        said = list(self.facts)
        if self.refusal:
            said.insert(0, self.refusal.where(self.step) + self.refusal.words)
        return "; ".join(said)


SHOWN_END = 24  # characters of the text, from its end
ENDS_BY_LIMIT = ("max_tokens", "context", "cut")  # ends that no rule of the text asked for


class Placed(NamedTuple):
    """A step and its place in the trace."""

    place: int
    step: Step


@dataclass(frozen=True)
class Run:
    """A trace and the guide that belongs to it, if there is one."""

    trace: Trace
    guide: Guide | None

    @cached_property
    def steps(self) -> list[Placed]:
        """The steps whose tokens stand in the output."""
        placed = [Placed(place, self.trace.steps[place]) for place in standing_places(self.trace.steps)]
        return [one for one in placed if one.step.token >= 0]

    @cached_property
    def asked(self) -> list[Placed]:
        """The steps with a forward pass of the model."""
        return [placed for placed in self.steps if placed.step.how in CHOSEN]

    @property
    def end(self) -> End:
        """How the run ended."""
        return self.trace.steps[-1].end

    def tail(self) -> str:
        """The end of the text, in quotes."""
        text = visible(self.trace.output)
        if len(text) > SHOWN_END:
            text = "…" + text[-SHOWN_END:]
        return f'"{text}"'

    @property
    def machine(self) -> Machine[Any] | None:
        """The machine of the guide, if it has one."""
        return self.guide.machine if self.guide else None

    @cached_property
    def states(self) -> list[Any]:
        """The guide's states before each token and after the last, up to the first token that it refuses."""
        if self.guide is None:
            return []
        tokens = (placed.step.token for placed in self.steps)
        return guide_states(self.guide, self.guide.initial, tokens)

    @property
    def refused(self) -> Placed | None:
        """The first step whose token the guide refuses."""
        if 0 < len(self.states) <= len(self.steps):
            return self.steps[len(self.states) - 1]
        return None

    def explain(self, one: Placed, token: int) -> str:
        """Why the guide refuses a token at a step; "" if there is no guide or it does not get there."""
        number = self.steps.index(one)
        if self.guide is None or number >= len(self.states):
            return ""
        if token >= len(self.guide.vocabulary):
            return "no such id"
        return self.guide.explain(self.states[number], token).reason


LOW_MASS = 0.1  # of Z; right runs of `clerk` stay above 0.7
DEEPER = 8  # open rules more than in the middle of the run
NEARLY_ALL = 0.99  # of the vocabulary, legal at each step


def find_empty_mask(run: Run) -> Iterator[Finding]:
    """No token was legal, and the text was not complete."""
    if run.end != "dead_end":
        return
    last = len(run.trace.steps) - 1
    seen = f"no token is legal, in state {run.trace.steps[last].state or 'unnamed'}"
    state = read(run.machine, run.trace.output) if run.machine else None
    if run.guide and run.machine and state is not None:
        seen = say_dead_end(run.machine, run.guide.vocabulary, state, seen)
    yield Finding("empty mask", last, (f"after {run.tail()} {seen}",))


def say_dead_end(machine: Machine[Any], vocabulary: Vocabulary, state: Any, seen: str) -> str:
    """What is seen, and what the machine says of it."""
    first = {vocabulary.pieces[token][0] for token in vocabulary.text_ids}
    expected = next_bytes(machine, state)
    if expected and first.isdisjoint(expected):
        return f"the machine expects {expected_next(machine, state)}, and no token begins with that"
    count = int(guide(machine, vocabulary, "trie").mask(state).sum())
    if count:
        seen += f"; the machine alone allows {counted(count, 'token')} there"
    return seen


def find_refused_text(run: Run) -> Iterator[Finding]:
    """The constraint refuses a text that another program wrote."""
    refusal = run.trace.refusal
    if run.end == "refused" and refusal:
        yield Finding("refused text", len(run.trace.steps) - 1, (refusal.words,))


def find_no_mask(run: Run) -> Iterator[Finding]:
    """There was to be a constraint, and each step allowed everything."""
    constraint = run.trace.constraint
    size = run.trace.vocabulary_size
    least = min((one.step.legal for one in run.asked), default=-1)
    if least < NEARLY_ALL * size:
        return
    has_own_guide = run.guide is run.trace.guide and not run.refused
    if has_own_guide and (run.guide or not constraint):
        return  # the guide itself allows all, or there was to be none
    least_or_all = f"all {size:,}" if least == size else f"at least {least:,} of {size:,}"
    seen = f"at each of {len(run.asked)} steps {least_or_all} tokens were legal"
    if constraint:
        seen += f", although the record names the constraint {constraint!r}"
    facts = [seen]
    if run.refused:
        piece = visible(run.refused.step.piece)
        facts.append(f'the guide would have refused "{piece}" at step {run.refused.place + 1}')
    yield Finding("no mask", (run.refused or run.asked[0]).place, tuple(facts))


def find_wrong_mask(run: Run) -> Iterator[Finding]:
    """Another vocabulary was used, or the guide refuses a token of the text, or the machine refuses the text."""
    assert run.guide is not None
    vocabulary = run.guide.vocabulary
    state = run.machine.initial if run.machine else None
    for one in run.steps:
        step = one.step
        piece = f'"{visible(step.piece)}"'
        if step.token >= len(vocabulary) or vocabulary.pieces[step.token] != step.piece:
            yield Finding("stale mask", one.place, (say_other_token(step, vocabulary),))
            return
        if one == run.refused:
            seen = f"the guide refuses {piece} at step {one.place + 1}: {run.explain(one, step.token)}"
            yield Finding("text outside the language", one.place, (seen,))
            return
        if run.machine and step.token not in vocabulary.eos:
            state = read(run.machine, step.piece, state)
            if state is None:
                seen = f"each token was legal by the mask, and the machine refuses the text at {piece}"
                yield Finding("stale mask", one.place, (seen,))
                return


def say_other_token(step: Step, vocabulary: Vocabulary) -> str:
    """What the record and the vocabulary of the guide say of a token."""
    said = f'token {step.token} is "{visible(step.piece)}" in the record'
    other = "no token"
    if step.token < len(vocabulary):
        other = f'"{visible(vocabulary.pieces[step.token])}"'
    return f"{said} and {other} in the vocabulary of the guide"


def cure_by_limit(run: Run, otherwise: str) -> str:
    """To give the guide the limit of the run, if a text of the guide is sure to fit; otherwise something else."""
    if run.guide is None:
        return otherwise
    count = len(run.steps)
    try:
        within(run.guide, count)
    except SettingError as error:
        return f"{otherwise} (for gv.within {count} are too few: expected {error.expected})"
    return f"gv.within(guide, {count}), or {otherwise}"


def find_nesting(run: Run) -> Iterator[Finding]:
    """Rules were opened and never closed until a limit ended the run."""
    later = run.steps[len(run.steps) // 2 :]
    depths = [len(one.step.stack) for one in later]
    if run.end not in ENDS_BY_LIMIT or not depths:
        return
    first = depths[0]
    last = depths[-1]
    if min(depths) == first and last >= first + DEEPER:
        place = later[0].place
        seen = f"of {first} rules open at step {place + 1} none is closed"
        seen += f", and {last} are open at the end: {run.tail()}"
        yield Finding("unbounded nesting", place, (seen,), cure=cure_by_limit(run, "a deepest level"))


def find_refusals(run: Run) -> Iterator[Finding]:
    """The mask refused what the model wanted. The first such step counts: the text after it is another one.

    Refused whitespace is told apart: a model that breaks lines after each brace wants it in sound runs, too.
    """
    blank = [one for one in run.asked if one.step.mass < LOW_MASS and wanted_blank(one.step)]
    other = refused_words(run)
    if other:
        early = other[0] == run.asked[0]
        yield say_low("early mask" if early else "over-tight constraint", other, run)
    if blank:
        yield say_low("whitespace refused", blank, run)


def refused_words(run: Run) -> list[Placed]:
    """The steps at which the mask refused what the model wanted, if that was no whitespace."""
    return [one for one in run.asked if one.step.mass < LOW_MASS and not wanted_blank(one.step)]


def wanted_blank(step: Step) -> bool:
    """Whether the likeliest token was whitespace, and illegal."""
    if not step.candidates:
        return False
    likeliest = step.candidates[0]
    return likeliest.piece.isspace() and not likeliest.legal


def say_low(name: str, steps: Sequence[Placed], run: Run) -> Finding:
    """The finding of steps whose legal mass is low; the first of them is the evidence."""
    facts = []
    if len(steps) > 1:
        facts.append(f"Z is below {LOW_MASS} at {len(steps)} of {len(run.asked)} steps")
    return Finding(name, steps[0].place, tuple(facts), refusal_at(steps[0], run))


def refusal_at(one: Placed, run: Run) -> WantedToken:
    """What the model wanted at a step, and what it had to take."""
    step = one.step
    most = next((candidate for candidate in step.candidates if not candidate.legal), None)
    if most is None:
        return WantedToken(one.place, step.mass, None, 0.0, step.piece, step.raw, "")
    why = run.explain(one, most.token)
    return WantedToken(one.place, step.mass, most.piece, most.raw, step.piece, step.raw, why)


def find_same_bytes(run: Run) -> Iterator[Finding]:
    """A chosen token has the bytes of another id: the probability is divided, and a ban of one id leaves the other."""
    for place, step in run.asked:
        if run.guide:
            vocabulary = run.guide.vocabulary
            ids = set(filter(vocabulary.is_text, vocabulary.ids(step.piece)))
        else:
            ids = {candidate.token for candidate in step.candidates if candidate.piece == step.piece}
        if len(ids) > 1 and step.token in ids and step.piece:
            names = ", ".join(map(str, sorted(ids)))
            seen = f'"{visible(step.piece)}" is the text of ids {names}'
            taken = f"{step.token} was taken ({probability(step.raw)})"
            yield Finding("same bytes, several ids", place, (seen, taken))
            return


def find_notes(run: Run) -> Iterator[Finding]:
    """The machine does not enforce all that its source says."""
    if isinstance(run.machine, DFA | PDA) and run.machine.notes:
        yield Finding("keyword not enforced", 0, tuple(run.machine.notes))
