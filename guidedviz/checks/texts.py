"""An answer that is itself a machine is right if it accepts the same texts as another.

For automata that is decided, and the shortest text on which they differ is shown with its path: where [0-9]+ is right
and the answer is [0-9]*, it is the empty text. Exercises on a given machine have their cases here, too.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from guidedviz.checks.cases import Case, Spell
from guidedviz.checks.compare import say_kind
from guidedviz.checks.function import Mistake
from guidedviz.checks.values import Failed, Function
from guidedviz.checks.verdict import FACT_CHARACTERS, Facts, Verdict, show
from guidedviz.errors import GuidedVizError, shorten
from guidedviz.machines.machine import Machine, read, read_path
from guidedviz.machines.regular.compare import shortest_difference
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.visible import name_state, visible
from guidedviz.tokens.guide import explain_token
from guidedviz.tokens.vocabulary import Vocabulary
from guidedviz.views.figure import Figure
from guidedviz.views.machine.picture import draw_machine
from guidedviz.views.words import reading

MOST_NAMED_STATES = 12  # states of a path that are all named
ACCEPTS = ("refuses it", "accepts it")

Build = Callable[[Any], DFA]  # the machine of an answer


def no_machine(answer: Any, error: Exception) -> Verdict:
    """Says why an answer cannot be read as a machine."""
    said = "it is no text and no machine" if type(answer) is Failed else str(error)
    return Verdict("wrong", "no machine can be made of it", (("yours is", show(answer)), ("error", said)))


def say_text(text: bytes, accepted: bool) -> Facts:
    """A text, whether the answer accepts it, and whether it must."""
    return ("text", spell_text(text)), ("yours", ACCEPTS[accepted]), ("expected", ACCEPTS[not accepted])


def spell_text(text: bytes) -> str:
    """A text in words."""
    words = reading(text.decode("utf-8", "backslashreplace"))
    return shorten(words or "the empty text", FACT_CHARACTERS)


def say_refusal(machine: Machine[Any], text: bytes) -> str:
    """Why a machine refuses a text.

    >>> say_refusal(gv.regex("ab?"), b"ax")
    'after a, x cannot come: expected b or the end'
    """
    vocabulary = Vocabulary([text, b"</s>"], eos={1})
    state = read(machine, text)
    if state is None:
        return explain_token(machine, vocabulary, machine.initial, 0).reason
    return explain_token(machine, vocabulary, state, 1).reason


# -- answers that are machines -------------------------------------------------------------------------------------


def same_texts(build: Build, value: Any, expected: Any) -> bool:
    """Do the machines of two answers accept the same texts?"""
    return not say_kind(value, expected) and build(value) == build(expected)


def say_texts(build: Build, case: Case, value: Any) -> Mistake:
    """The shortest text on which the machine of an answer is wrong, with its path.

    >>> say_texts(regex, Case((), "[0-9]+"), "[0-9]*").gave[1:]
    (('text', 'the empty text'), ('yours', 'accepts it'), ('expected', 'refuses it'), ('its path', 'q0'))
    """
    found = find_wrong_text(build, case, value)
    if not isinstance(found, bytes):
        return found
    machine = build(value)
    because, path = say_path(machine, found)
    if case.why:
        because = f"{because} · {case.why}"
    facts = (("yours gave", show(value)), *say_text(found, machine.accepts(found)), ("its path", path))
    return Mistake(because, draw_path(machine, found, machine.initial, "yours"), facts)


def find_wrong_text(build: Build, case: Case, value: Any) -> bytes | Mistake:
    """The shortest text on which the machine of an answer is wrong, or why it is no machine."""
    kind = say_kind(value, case.expected)
    if kind:
        return Mistake(kind)
    if value == "":
        return Mistake("the regex is empty")
    try:
        machine = build(value)
    except (GuidedVizError, RecursionError) as error:
        facts = (("yours gave", show(value)), ("error", str(error)))
        return Mistake(f"no machine can be made of it · {case.why}", gave=facts)
    return shortest_difference(machine, build(case.expected)) or b""


def say_path(machine: DFA, text: bytes) -> tuple[str, str]:
    """Why a machine accepts or refuses a text, and the states that it passes.

    >>> say_path(gv.regex("ab"), b"ax")
    ('no transition leaves q1 with x', 'q0 → q1 ✕ x')
    """
    path = read_path(machine, text)
    names = [name_state(state) for state in path]
    died = visible(text[len(path) - 1 : len(path)])
    if died:
        because = f"no transition leaves {names[-1]} with {died}"
        names[-1] += f" ✕ {died}"
    elif machine.accepts(text):
        because = f"it may end in {names[-1]}"
    else:
        because = f"it may not end in {names[-1]}"
    if len(names) > MOST_NAMED_STATES:
        names[3:-4] = ["…"]
    return because, " → ".join(names)


# -- cases of exercises on a given machine -------------------------------------------------------------------------


def machine_cases(
    reference: Function,
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
        was_read = show(begun)[1:] if begun else "nothing"
        place = f"regex {text}, in q{state}: {was_read} was read"
        given = (("machine", place), *zip(names, map(spell, more), strict=True))
        draw = None
        if title:
            draw = partial(draw_path, machine, more[0], state, title)
        arguments = (machine, state, *more)
        cases.append(Case(arguments, reference(*arguments), why(*arguments), given, draw))
    return cases


def draw_path(machine: DFA, text: bytes, state: int, title: str) -> Figure:
    """The path of a text through a machine from a state, and the first byte that the machine cannot read."""
    path = read_path(machine, text, state)
    died = visible(text[len(path) - 1 : len(path)])
    return draw_machine(machine, path, title=title, died=died)
