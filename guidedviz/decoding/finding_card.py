"""A finding as a card of a notebook: its step among the tokens of the run, what the model wanted beside what it took.

One fact per line, and each token is a box. The card is made of lines and not of a table: a table has smaller letters.
"""

from collections.abc import Iterator, Sequence

from guidedviz.decoding.looks import Finding, WantedToken
from guidedviz.decoding.sampling import probability
from guidedviz.errors import escaped, shorten
from guidedviz.machines.visible import visible
from guidedviz.markup import Element, node

TOKENS_BEFORE = 5  # tokens that are shown before the step of a finding
TOKENS_AFTER = 3
LONGEST_BOX = 40  # characters of a box
BOX = "border-radius:3px;padding:0 5px;margin:0 2px;font-family:monospace;white-space:pre;"
PALE = f"{BOX}border:1px solid #8888;opacity:.75"
TAKEN = f"{BOX}border:2px solid #0072b2;background-color:#0072b22a"
REFUSED = f"{BOX}border:2px dashed #c2307f"
PALE_NAME = "opacity:.75"


def write_finding(number: int, finding: Finding, advice: tuple[str, str], pieces: Sequence[bytes]) -> Element:
    """The lines of a finding; `pieces` are the tokens of the run, one per step."""
    check, cure = advice
    title = node("strong", f"{number}. {finding.name}")
    lines = [write_line(title, f" at step {finding.step + 1}")]
    if finding.step < len(pieces):
        lines.append(write_line(*write_place(finding.step, pieces)))
    if finding.refusal:
        lines += write_refusal(finding.refusal, finding.step)
    lines += map(write_said, finding.facts)
    lines.append(write_named("check", check))
    lines.append(write_named("try", cure))
    return node("div", *lines, style="margin:8px 0 0")


def write_line(*inside: Element | str) -> Element:
    """One line of a card."""
    return node("div", *inside, style="margin:3px 0")


def write_said(text: str) -> Element:
    """A fact in a line of its own."""
    return write_line(escaped(text))


def write_named(name: str, text: str) -> Element:
    """A fact with its name in front."""
    return write_line(node("span", f"{name}: ", style=PALE_NAME), escaped(text))


def write_token(piece: bytes, look: str) -> Element:
    """A token as a box."""
    shown = shorten(visible(piece), LONGEST_BOX) or "no token"
    return node("span", escaped(shown), style=look)


def write_place(step: int, pieces: Sequence[bytes]) -> Iterator[Element | str]:
    """The tokens around a step, with the token of this step marked."""
    first = max(0, step - TOKENS_BEFORE)
    last = step + TOKENS_AFTER + 1
    if first:
        yield "… "
    for place, piece in enumerate(pieces[first:last], first):
        yield write_token(piece, TAKEN if place == step else PALE)
    if last < len(pieces):
        yield " …"


def write_refusal(refusal: WantedToken, step: int) -> Iterator[Element]:
    """What the model wanted beside what it took, and why the first was refused, one reason per line."""
    mass = f"{refusal.where(step)}Z is {probability(refusal.mass)}"
    if refusal.wanted is not None:
        wanted = write_token(refusal.wanted, REFUSED)
        taken = write_token(refusal.taken, TAKEN)
        odds = probability(refusal.wanted_raw), probability(refusal.taken_raw)
        yield write_line("wanted ", wanted, f" {odds[0]}, refused · taken ", taken, f" {odds[1]}")
    yield write_said(mass)
    if refusal.why:
        refused, _, expected = refusal.why.partition(": ")  # the bytes of a token never show a blank
        yield write_named("why", refused)
        if expected:
            yield write_said(expected)
