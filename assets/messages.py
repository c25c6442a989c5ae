"""Write messages.d.ts: the types of what the kernel sends to the page.

`decoding/recording.py` has the forms of a recording. Here are those that only the messages of a live stage have; a test
holds every message to its form.

python assets/messages.py           # `make labs` does it too
"""

import json
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from guidedviz.decoding import recording

PAGE = Path(__file__).resolve().parents[1] / "guidedviz" / "widgets" / "page" / "messages.d.ts"
HEAD = """// The messages from kernel to page. assets/messages.py makes this file.

/** A drawing: a name, attributes, and texts or shapes inside; `shared/shapes.js` makes elements of it. */
export type Shapes = [name: string, attributes: Record<string, string | number>, ...inside: (string | Shapes)[]];
"""


class PackedSearch(TypedDict):
    """The tokens that a search found, as bits, or a note why it found none."""

    query: str
    note: NotRequired[str]
    count: NotRequired[recording.Count]
    bits: NotRequired[str]


class PackedAnswer(TypedDict, total=False):
    """An answer to a question about the map: texts of neighbours, what was found, or why a token is forbidden."""

    texts: tuple[recording.Count, tuple[recording.PackedToken, ...]]
    found: PackedSearch
    why: tuple[int, str]


class PackedMapNews(TypedDict):
    """What the page lacks of the map."""

    bits: dict[int, str]
    answers: tuple[PackedAnswer, ...]
    land: NotRequired[recording.PackedLand]


class PackedEdit(TypedDict):
    """The box in which the constraint is edited; its text is sent where the page does not have it."""

    kind: str
    text: NotRequired[str]
    state: Literal["", "compiling", "wrong", "waits", "runs"]
    error: str
    rejects: tuple[str, str] | None
    place: recording.Count | None


class PackedResult(NamedTuple):
    """What a tool gave to a model: the call, the text that the model reads next, and whether the tool failed."""

    call: str
    text: str
    failed: bool


class PackedLesson(TypedDict):
    """What the stage does in a class: the words, and the keys as what each says to the kernel and its label."""

    words: str
    keys: tuple[tuple[str, str], ...]


class PackedLeftOut(NamedTuple):
    """A part of the text that was left out, the probability without it, and the share that is lost."""

    label: str
    said: str
    lost: float


class PackedLooked(TypedDict):
    """What the token before the cursor `place` depends on, and what the numbers mean."""

    place: recording.Count
    words: tuple[str, ...]
    rows: tuple[PackedLeftOut, ...]


class PackedBeside(TypedDict):
    """Another run beside this one: their labels from the place `first` on; the first `same` of these are equal."""

    branch: recording.Count
    words: str
    first: recording.Count
    same: recording.Count
    runs: tuple[recording.Texts, ...]


PackedNewSteps = TypedDict(
    "PackedNewSteps",
    {"from": recording.Count, "add": tuple[recording.PackedStep | None, ...], "next": recording.PackedStep | None},
)


class PackedNews(PackedNewSteps, recording.PackedStage):
    """What the kernel tells a live stage: its state now, and of the rest what the page lacks.

    The steps are those after the first `from`; None stands for the step that the page has as the next one. `top` are
    the milliseconds of a full bar.
    """

    number: NotRequired[recording.Count]
    why: recording.PackedWhy | None
    lesson: PackedLesson | None
    top: NotRequired[tuple[float, str]]
    head: NotRequired[recording.PackedHead]
    machine: NotRequired[recording.PackedMachine | None]
    map: NotRequired[PackedMapNews]
    edit: NotRequired[PackedEdit]
    looked: NotRequired[PackedLooked | None]
    beside: NotRequired[PackedBeside | None]
    results: NotRequired[tuple[PackedResult, ...]]


PLAIN = {int: "number", float: "number", bool: "boolean", str: "string", NoneType: "null"}


def say_type(kind: Any) -> str:
    """An annotation as a type of the page."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind == recording.CheckedShapes:
        return "Shapes"
    if origin in (Annotated, NotRequired):
        return say_type(inner[0])
    if origin is Literal:
        return " | ".join(map(json.dumps, inner))
    if origin in (Union, UnionType):
        return " | ".join(map(say_type, inner))
    if origin is dict:
        return f"Record<number, {say_type(inner[1])}>"
    if origin is tuple and inner[-1] is Ellipsis:
        item = say_type(inner[0])
        return f"({item})[]" if "|" in item else f"{item}[]"
    if origin is tuple:
        return f"[{', '.join(map(say_type, inner))}]"
    return PLAIN.get(kind) or kind.__name__.removeprefix("Packed")


def declare(kind: Any) -> str:
    """A message as an interface, or a tuple with the names of its items."""
    name, hints = (
        say_type(kind),
        {key: say_type(hint) for key, hint in get_type_hints(kind, include_extras=True).items()},
    )
    about = (
        f"/** {' '.join(kind.__doc__.split())} */\n" if kind.__doc__ and not kind.__doc__.startswith("dict(") else ""
    )
    if not is_typeddict(kind):
        return f"{about}export type {name} = [{', '.join(f'{key}: {hint}' for key, hint in hints.items())}];\n"
    fields = (f"  {key}{'?' * (key in kind.__optional_keys__)}: {hint};\n" for key, hint in hints.items())
    return f"{about}export interface {name} {{\n{''.join(fields)}}}\n"


def write_messages() -> str:
    """The types of all messages."""
    known = vars(recording) | globals()
    kinds = [kind for name, kind in known.items() if name.startswith("Packed")]
    return "\n".join([HEAD, *map(declare, kinds)])


if __name__ == "__main__":
    PAGE.write_text(write_messages(), encoding="utf-8")
