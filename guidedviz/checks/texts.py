"""An answer that is itself a machine is right if it accepts the same texts as another."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.cases import Case, Spell
from guidedviz.checks.compare import say_kind
from guidedviz.checks.function import Mistake
from guidedviz.checks.guard import Failed
from guidedviz.checks.verdict import WIDTH, Facts, Verdict, show
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.machines.machine import Machine, read, read_path
from guidedviz.machines.regular.compare import shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import name_state, visible
from guidedviz.tokens.by_hand import wire
from guidedviz.tokens.explain import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.words import reading

# -- automata ------------------------------------------------------------------------------------------------------

LONGEST = 12  # states of a path that are all named
ACCEPTS = ("refuses it", "accepts it")


def wire_tokens(wired: Any) -> DFA:
    """The machine of transitions whose tokens are bytes."""
    return wire([(source, bytes([token]), to) for source, tokens, to in wired[0] for token in tokens], wired[1])


def no_machine(answer: Any, error: Exception) -> Verdict:
    """Says why an answer cannot be read as a machine."""
    said = "it is no text and no machine" if type(answer) is Failed else str(error)
    return Verdict("wrong", "no machine can be made of it", (("yours is", show(answer)), ("error", said)))


def say_text(text: bytes, accepted: bool) -> Facts:
    """A text, whether the answer accepts it, and whether it must."""
    return ("text", show_text(text)), ("yours", ACCEPTS[accepted]), ("expected", ACCEPTS[not accepted])


def show_text(text: bytes) -> str:
    """A text in words."""
    return shorten(reading(text.decode("utf-8", "backslashreplace")) or "the empty text", WIDTH)


def say_refusal(machine: Machine[Any], text: bytes) -> str:
    """Why a machine refuses a text.

    >>> say_refusal(gv.regex("ab?"), b"ax")
    'after a, x cannot come: expected b or the end'
    """
    vocabulary, state = Vocabulary([text, b"</s>"], eos={1}), read(machine, text)
    at, token = (machine.initial, 0) if state is None else (state, 1)
    return explain_token(machine, vocabulary, at, token).reason


def machine_cases(
    reference: Callable[..., Any],
    rows: Iterable[Sequence[Any]],
    *names: str,
    why: Callable[..., str] = lambda *given: "",
    spell: Spell = show,
    title: str = "",
) -> list[Case]:
    """A case per row: a regex, a text that was read, and more arguments; with a title, a picture of the path is drawn.

    >>> [case.arguments[1:] for case in machine_cases(DFA.step, [("ab", b"a", 98)], "byte")]
    [(1, 98)]
    """
    cases = []
    for text, begun, *more in rows:
        machine = regex(text)
        state: Any = read(machine, begun)
        words = f"regex {text}, in q{state}: {show(begun)[1:] if begun else 'nothing'} was read"
        given = (("machine", words), *zip(names, map(spell, more), strict=True))
        draw = partial(draw_path, machine, more[0], state, title) if title else None
        arguments = (machine, state, *more)
        cases.append(Case(arguments, reference(*arguments), why(*arguments), given, draw))
    return cases


def draw_path(machine: DFA, text: bytes, state: int, title: str) -> Figure:
    """The path of a text through a machine from a state, and the first byte that the machine cannot read."""
    path = read_path(machine, text, state)
    return draw_machine(machine, path, title=title, died=visible(text[len(path) - 1 : len(path)]))


# -- regexes of schemas --------------------------------------------------------------------------------------------


def same_texts(build: Callable[[Any], DFA], value: Any, expected: Any) -> bool:
    """Do the machines of two answers accept the same texts?"""
    return not say_kind(value, expected) and build(value) == build(expected)


def say_texts(build: Callable[[Any], DFA], case: Case, value: Any) -> Mistake:
    """The shortest text on which the machine of an answer is wrong, with its path.

    >>> say_texts(regex, Case((), "[0-9]+"), "[0-9]*").gave[1:]
    (('text', 'the empty text'), ('yours', 'accepts it'), ('expected', 'refuses it'), ('its path', 'q0'))
    """
    if kind := say_kind(value, case.expected) or "the regex is empty" * (value == ""):
        return Mistake(kind)
    gave = ("yours gave", show(value))
    try:
        machine = build(value)
    except (GuidedVizError, RecursionError) as error:
        return Mistake(f"no machine can be made of it · {case.why}", gave=(gave, ("error", str(error))))
    text = shortest_difference(machine, build(case.expected)) or b""
    facts = (gave, *say_text(text, machine.accepts(text)))
    if build is wire_tokens:  # the answer's own states are not those of the machine, which has the fewest
        return Mistake(case.why, gave=facts)
    path = read_path(machine, text)
    names, died = [name_state(state) for state in path], visible(text[len(path) - 1 : len(path)])
    because = f"it may {'' if machine.accepts(text) else 'not '}end in {names[-1]}"
    if died:
        because = f"no transition leaves {names[-1]} with {died}"
        names[-1] += f" ✕ {died}"
    if len(names) > LONGEST:
        names[3:-4] = ["…"]
    figure = draw_path(machine, text, machine.initial, "yours")
    return Mistake(f"{because} · {case.why}".removesuffix(" · "), figure, (*facts, ("its path", " → ".join(names))))
