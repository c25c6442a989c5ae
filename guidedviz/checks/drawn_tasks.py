"""Tasks for an engine that nobody has seen: random constraints and vocabularies, and texts cut into tokens.

A grammar is kept if at most one move fits each node and byte. The pieces are cut out of random texts of the language,
so most of them are legal somewhere. A deep text opens many rules before it closes them. The expected masks are found by
reading every piece, byte by byte.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from random import Random
from typing import Any

from guidedviz.checks.forced_bytes import forced_run
from guidedviz.errors import GuidedVizError
from guidedviz.machines.machine import Machine, next_bytes, read
from guidedviz.machines.pushdown.moves import Moves, move_stack, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA, grammar
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.regular.regex import regex
from guidedviz.machines.schema.json_schema import json_schema

CUTS_OF_A_TASK = 15
MOST_PATH_TOKENS = 8
LONGEST_DRAWN = 40  # of a random text of the language
TEXTS = 8  # from which pieces are cut
PIECES = 48
LEAST_BYTES = 3  # different bytes of a constraint
DEEP_WAITING = 16  # nodes of a stack that wait at the deepest place of a deep text
MOST_DEEP_BYTES = 240
DEEP_PIECES = 12

Task = tuple[str, PDA | DFA, str]  # a constraint as its author wrote it, its machine, and the code that makes it


@dataclass(frozen=True)
class Cut:
    """A place in a text: the tokens so far, and what is right there."""

    tokens: tuple[int, ...]
    state: Any  # of the machine
    legal: frozenset[int]
    forced: bytes


@dataclass(frozen=True)
class EngineTask:
    """A constraint, a vocabulary, and the places at which an engine is asked."""

    constraint: str
    machine: PDA | DFA
    pieces: tuple[bytes, ...]
    eos: frozenset[int]
    paths: tuple[tuple[int, ...], ...]
    code: str = ""  # makes the machine

    @cached_property
    def table(self) -> tuple[Moves, frozenset[int]]:
        """The moves and the ends that an engine gets."""
        return pushdown_moves(self.machine)

    @cached_property
    def cuts(self) -> tuple[Cut, ...]:
        """The places along the paths, each once, the shortest first."""
        places = {path[:end] for path in self.paths for end in range(len(path) + 1)}
        return tuple(self.cut(tokens) for tokens in sorted(places, key=self._length))

    def _length(self, tokens: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return len(self.text(tokens)), len(tokens), tokens

    def text(self, tokens: Sequence[int]) -> bytes:
        """The bytes of some tokens."""
        return b"".join(self.pieces[token] for token in tokens)

    def cut(self, tokens: tuple[int, ...]) -> Cut:
        """What is right after some tokens."""
        state: Any = read(self.machine, self.text(tokens))
        legal = legal_ids(self.machine, state, self.pieces, self.eos)
        return Cut(tokens, state, legal, forced_run(self.machine, state))


def legal_ids(machine: Machine[Any], state: Any, pieces: Sequence[bytes], eos: frozenset[int]) -> frozenset[int]:
    """The legal ids, found by reading every piece; an id without bytes is legal only if it is EOS and the text may end.

    >>> sorted(legal_ids(regex("ab*"), 1, [b"b", b"a", b"", b"", b"bb"], frozenset({3})))
    [0, 3, 4]
    """
    legal = set()
    for token, piece in enumerate(pieces):
        if piece and token not in eos and read(machine, piece, state) is not None:
            legal.add(token)
    if machine.is_accepting(state):
        legal |= eos
    return frozenset(legal)


# -- random constraints --------------------------------------------------------------------------------------------

LETTERS = "abc01"


def draw_regex(draw: Random, depth: int = 2) -> str:
    """A regex of a few letters.

    >>> draw_regex(Random(7))
    '(0+)+(([0-9])*)+'
    """
    if depth == 0:
        return draw.choice([draw.choice(LETTERS), draw.choice(LETTERS), "[ab]", "[0-9]", "é", "[éè]"])
    parts = []
    for _ in range(draw.randint(1, 3)):
        part = draw_regex(draw, depth - 1)
        parts.append(
            part + draw.choice(["", "", "?", "*", "+"]) if len(part) == 1 else f"({part})" + draw.choice("?*+")
        )
    if draw.random() < 0.3:
        parts.insert(draw.randrange(len(parts) + 1), "|")
    return "".join(parts).strip("|") or "a"


def draw_grammar(draw: Random) -> str:
    """A grammar of lists and pairs that hold each other, with random signs and random parts."""
    opening, closing, comma, colon, end = draw.sample("()[]{}<>,;:=.!", 5)
    inner = draw.choice(["root", "item", "item | root"])
    if inner == "item | root":
        inner = "(item | root)"
    many = draw.choice(
        [f'({inner} ("{comma}" {inner})*)?', f'{inner} ("{comma}" {inner})*', f"{inner}*", f'({inner} "{comma}")*']
    )
    key = draw.choice(["", f'name "{colon}" ', f'(name "{colon}")? '])
    bodies = [f'"{opening}" {key}{many} "{closing}"', f'"{opening}" {many} "{end}" {inner} "{closing}"']
    others = draw.choice(["", " | item", f' | "{end}"', f' | "x" root "{closing}"'])
    item = draw.choice(["[0-9]+", '"0" | [1-9] [0-9]*', "[0-9] [0-9]", '"-"? [0-9]'])
    return f"root ::= {draw.choice(bodies)}{others}\nitem ::= {item}\nname ::= [a-c]+"


def draw_schema(draw: Random) -> dict[str, Any]:
    """A schema of an object: enums, numbers, lists, and perhaps the same object inside itself."""
    kinds: list[Callable[[], dict[str, Any]]] = [
        lambda: {"enum": draw.sample(["red", "green", "grey", "blue", 1, None], 2)},
        lambda: {"type": "boolean"},
        lambda: {"type": "integer"},
        lambda: {"type": "array", "items": {"type": "integer"}},
        lambda: {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    ]
    names = draw.sample(["id", "name", "on", "né"], draw.randint(1, 3))
    properties = {name: draw.choice(kinds)() for name in names}
    if draw.random() < 0.5:
        properties["in"] = {"type": "array", "items": {"$ref": "#"}}
    return {"type": "object", "properties": properties, "required": [*properties]}


def regex_task(draw: Random) -> Task:
    """A regex with its machine."""
    text = draw_regex(draw)
    return text, regex(text), f"gv.regex({text!r})"


def grammar_task(draw: Random) -> Task:
    """A grammar with its machine."""
    text = draw_grammar(draw)
    return text, grammar(text), f"gv.grammar({text!r})"


def schema_task(draw: Random) -> Task:
    """A schema with its machine; one blank follows each colon and comma."""
    schema = draw_schema(draw)
    machine = json_schema(schema, whitespace="one")
    return json.dumps(schema, ensure_ascii=False), machine, f'gv.json_schema({schema!r}, whitespace="one")'


def any_task(draw: Random) -> Task:
    """A constraint of any kind."""
    return draw.choice([regex_task, grammar_task, schema_task])(draw)


def draw_constraint(draw: Random, make: Callable[[Random], Task]) -> Task:
    """A constraint that has at most one move per node and byte, and reads several bytes."""
    while True:
        try:
            task = make(draw)
            moves, _ = pushdown_moves(task[1])
        except GuidedVizError:
            continue
        if len({byte for _, byte in moves}) >= LEAST_BYTES:
            return task


# -- random vocabularies and texts ---------------------------------------------------------------------------------


def draw_text(draw: Random, machine: Machine[Any]) -> bytes:
    """The beginning of a random text of a machine, or all of it."""
    text = bytearray()
    state: Any = machine.initial
    while len(text) < LONGEST_DRAWN:
        ways = next_bytes(machine, state)
        if not ways or (machine.is_accepting(state) and draw.random() < 0.2):
            break
        byte = draw.choice(ways)
        text.append(byte)
        state = machine.step(state, byte)
    return bytes(text)


def draw_pieces(draw: Random, machine: Machine[Any], longest: int = 4) -> list[bytes]:
    """Pieces cut out of texts of a machine, single bytes, and some in which a byte is wrong."""
    texts = [draw_text(draw, machine) for _ in range(TEXTS)]
    letters = sorted({byte for text in texts for byte in text})
    pieces = {bytes([byte]) for byte in letters}
    for _ in range(4 * PIECES):
        text = draw.choice(texts)
        if len(pieces) >= PIECES or not text:
            break
        start = draw.randrange(len(text))
        piece = bytearray(text[start : start + draw.randint(1, longest)])
        if draw.random() < 0.25:
            piece[draw.randrange(len(piece))] = draw.choice([*letters, ord("z")])
        pieces.add(bytes(piece))
    found = sorted(pieces)
    draw.shuffle(found)
    return found


def odd_pieces(draw: Random, machine: Machine[Any]) -> list[bytes]:
    """Pieces as few tokenizers have them: twice the same, without bytes, long, and without some of the bytes."""
    pieces = draw_pieces(draw, machine, longest=20)
    pieces += draw.sample(pieces, min(4, len(pieces)))
    pieces += [b"", b"", b"\xff", b"\x00"]
    missing = draw.choice(sorted({byte for piece in pieces for byte in piece}))
    kept = [piece for piece in pieces if missing not in piece]
    draw.shuffle(kept)
    return kept


def draw_task(draw: Random, make: Callable[[Random], Task], odd: bool, ends: int) -> EngineTask:
    """A task with `ends` EOS ids and `CUTS_OF_A_TASK` places, or fewer if the language has fewer."""
    constraint = draw_constraint(draw, make)
    draw_some = odd_pieces if odd else draw_pieces
    task = with_pieces(constraint, draw_some(draw, constraint[1]), ends)
    return replace(task, paths=tuple(draw_paths(draw, task)))


def with_pieces(constraint: Task, pieces: Sequence[bytes], ends: int) -> EngineTask:
    """A task without paths; the last `ends` ids are EOS."""
    text, machine, code = constraint
    eos = frozenset(range(len(pieces), len(pieces) + ends))
    return EngineTask(text, machine, (*pieces, *repeat(b"", ends)), eos, (), code)


def draw_paths(draw: Random, task: EngineTask) -> Iterator[tuple[int, ...]]:
    """Random ways through a task, until enough places are met."""
    met: set[tuple[int, ...]] = {()}
    for _ in range(CUTS_OF_A_TASK):
        path: tuple[int, ...] = ()
        while len(path) < MOST_PATH_TOKENS and len(met) < CUTS_OF_A_TASK:
            choices = sorted(task.cut(path).legal - task.eos)
            if not choices:
                break
            path = (*path, draw.choice(choices))
            met.add(path)
        yield path


# -- deep texts ----------------------------------------------------------------------------------------------------


def draw_deep_task(draw: Random, ends: int) -> EngineTask:
    """A grammar whose rules hold themselves, and one way through a text that opens many of them and closes all."""
    text = b""
    while not text:
        constraint = draw_constraint(draw, grammar_task)
        text = draw_deep_text(draw, *pushdown_moves(constraint[1]))
    pieces = {bytes([byte]) for byte in text}
    pieces.update(draw_pieces(draw, constraint[1]))
    for _ in range(DEEP_PIECES):
        start = draw.randrange(len(text))
        pieces.add(text[start : start + draw.randint(2, 6)])
    task = with_pieces(constraint, sorted(pieces), ends)
    return replace(task, paths=(cut_at_random(draw, text, task.pieces),))


def draw_deep_text(draw: Random, moves: Moves, ends: frozenset[int]) -> bytes:
    """A text in which the number of waiting nodes grows to `DEEP_WAITING` and falls to none; empty if it does not.

    >>> nested = pushdown_moves(grammar('root ::= "(" root ")" | "x"'))
    >>> draw_deep_text(Random(1), *nested)
    b'((((((((((((((((x))))))))))))))))'
    """
    letters = sorted({byte for _, byte in moves})
    stack = [0]
    text = b""
    deepest = 0
    while len(text) < MOST_DEEP_BYTES:
        after = {byte: move_stack(moves, ends, stack, byte) for byte in letters}
        waiting = {byte: count_waiting(ends, left) for byte, left in after.items() if left is not None}
        if not waiting:
            return b""
        wanted = max(waiting.values()) if deepest < DEEP_WAITING else min(waiting.values())
        byte = draw.choice([byte for byte, count in waiting.items() if count == wanted])
        text += bytes([byte])
        stack = after[byte] or []
        deepest = max(deepest, wanted)
        if deepest >= DEEP_WAITING and wanted == 0:
            return text
    return b""


def count_waiting(ends: frozenset[int], stack: Sequence[int]) -> int:
    """The nodes of a stack at which the text cannot end."""
    return sum(node not in ends for node in stack)


def cut_at_random(draw: Random, text: bytes, pieces: Sequence[bytes]) -> tuple[int, ...]:
    """A text as tokens, each drawn from those that fit."""
    path = []
    read_bytes = 0
    while read_bytes < len(text):
        fits = [token for token, piece in enumerate(pieces) if piece and text.startswith(piece, read_bytes)]
        path.append(draw.choice(fits))
        read_bytes += len(pieces[path[-1]])
    return tuple(path)
