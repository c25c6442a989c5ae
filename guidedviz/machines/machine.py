"""A machine reads bytes one by one. A state is a value; None is the dead state, from which no text can be completed.

Regexes, grammars and schemas all become machines. Bytes that move every state alike are of one kind (in regex engines:
a byte class): in `[0-9]+|a` there are three, the digits, a, and all others. So a step is computed once per kind.

Next: `machines/regular/nfa.py`.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable
from weakref import proxy

from guidedviz import lazy
from guidedviz.errors import SettingError, expect, quoted
from guidedviz.machines.names import whole_names
from guidedviz.machines.visible import name_state

S = TypeVar("S", bound=Hashable)  # a state of a machine
EACH = bytes(range(256))  # every byte is a kind of its own
LOW_CONTROLS = frozenset(range(0x20))  # control characters; JSON text has them only between its tokens


class Steps(Protocol[S]):
    """`step` returns a new state; None if no complete text can be reached."""

    def step(self, state: S, byte: int) -> S | None: ...


class Machine(ABC, Generic[S]):
    """A machine has an initial state, steps, and knows in which states a text may end."""

    initial: S
    marks: tuple[str, ...] = ()  # texts that begin or end a tag

    @property
    def byte_rows(self) -> "Sequence[Edges]":
        """The edges over bytes of every state, or of every node of its rules; none if it has no such table."""
        return ()

    @cached_property
    def kinds(self) -> bytes:
        """The kind of every byte: bytes of one kind move every state alike."""
        return EACH

    @property
    def reads_names(self) -> bool:
        """Whether it can read the name of a special token: it tells FF from C0, which is in no UTF-8 either.

        >>> gv.regex("a*").reads_names, gv.tagged(begin=gv.special("<x>")).reads_names
        (False, True)
        """
        return self.kinds[0xFF] != self.kinds[0xC0]

    @abstractmethod
    def step(self, state: S | None, byte: int) -> S | None:
        """The next state; None if no complete text can be reached."""

    @abstractmethod
    def is_accepting(self, state: S | None) -> bool:
        """Whether the text may end here."""

    def accepts(self, data: bytes) -> bool:
        """Whether this is a complete text."""
        return self.is_accepting(read(self, data))

    def accepts_prefix(self, data: bytes) -> bool:
        """Whether this can become a complete text."""
        return read(self, data) is not None

    def stack(self, state: S) -> tuple[str, ...]:
        """The names of the open rules, innermost first; a finite machine has none."""
        return ()

    def describe(self, state: S) -> str:
        """The state's name for people.

        >>> gv.regex("a*b").describe(1), gv.json().describe(gv.json().initial)
        ('q1', 'n0')
        """
        return name_state(state) if isinstance(state, int) else str(state)

    _repr_html_ = lazy.show_html


class OwnMachine(Machine[Any]):
    """A machine that somebody wrote, with `initial`, `step` and `is_accepting`."""

    def __init__(self, written: Any) -> None:
        self.written = written
        self.initial = written.initial
        self._step = written.step
        self._is_accepting = written.is_accepting

    def __repr__(self) -> str:
        return repr(self.written)

    def step(self, state: Any, byte: int) -> Any:
        return None if state is None else self._step(state, byte)

    def is_accepting(self, state: Any) -> bool:
        return state is not None and bool(self._is_accepting(state))


def as_machine(given: object, where: str) -> Machine[Any]:
    """A machine as it is; an object of another class that has the three parts of a machine is wrapped.

    >>> as_machine("[0-9]+", "draw")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: draw: saw str, expected a machine; try: gv.regex(text)
    """
    if isinstance(given, Machine):
        return given
    try:
        return OwnMachine(given)
    except AttributeError:
        raise SettingError(where, seen=type(given).__name__, expected="a machine", hint="gv.regex(text)") from None


def check_bytes(data: object) -> None:
    """Refuse a text that is not bytes."""
    if not isinstance(data, Iterable) or isinstance(data, str):
        raise SettingError("text to read", seen=type(data).__name__, expected="bytes", hint="text.encode()")


def to_bytes(text: bytes | str) -> bytes:
    """A text as bytes; lone surrogates are encoded too."""
    expect(text, bytes | str, "text", "str or bytes")
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def read(machine: Machine[S], data: Iterable[int], state: S | None = None) -> S | None:
    """The state after these bytes, from `state` or the initial one; None if they are not possible.

    >>> read(gv.regex("a*b"), b"aab"), read(gv.regex("a*b"), b"ba")
    (1, None)
    """
    check_bytes(data)
    state = machine.initial if state is None else state
    for byte in data:
        state = machine.step(state, byte)
        if state is None:
            return None
    return state


def read_path(machine: Machine[S], data: bytes, state: S | None = None) -> tuple[S, ...]:
    """The states along these bytes, from `state` or the initial one, up to the first byte that cannot be read.

    >>> read_path(gv.regex("ab*"), b"abx")
    (0, 1, 1)
    """
    path = [machine.initial if state is None else state]
    for byte in data:
        reached = machine.step(path[-1], byte)
        if reached is None:
            break
        path.append(reached)
    return tuple(path)


def no_step(machine: object, state: object, byte: object = 0) -> SettingError:
    """The error of a step from something that is not a state of this machine, or by something that is not a byte.

    >>> print(no_step("the machine", "q0"))
    state: saw str, expected a state of the machine; try: machine.initial, or what machine.step returns
    >>> print(no_step("the machine", 0, 256))
    byte: saw 256, expected a number from 0 to 255
    """
    if not (isinstance(byte, int) and 0 <= byte < 256):
        return SettingError("byte", seen=quoted(byte), expected="a number from 0 to 255")
    if state is None:
        hint = "if state is None, before; machine.step gives None for a byte that cannot come"
        return SettingError("state", seen="None, which is no state", expected=f"a state of {machine!s}", hint=hint)
    if isinstance(state, Remembers):
        seen = "a state of another machine"
    else:
        seen = quoted(state) if isinstance(state, int) else type(state).__name__
    hint = "machine.initial, or what machine.step returns"
    return SettingError("state", seen=seen, expected=f"a state of {machine!s}", hint=hint)


def next_bytes(machine: Machine[S], state: S) -> bytes:
    """The bytes that may come next, in order.

    >>> next_bytes(gv.regex("[0-3]x"), 0)
    b'0123'
    """
    kinds = machine.kinds
    live = set()
    for kind, byte in first_bytes(kinds).items():
        if machine.step(state, byte) is not None:
            live.add(kind)
    return bytes([byte for byte, kind in enumerate(kinds) if kind in live])


CONTINUING = range(0x80, 0xC0)  # continuation bytes of UTF-8


def forced_bytes(machine: Machine[S], state: S, limit: int = 10_000) -> bytes:
    """The bytes that must come next, up to a choice or an accepting state, cut to whole characters and names.

    SGLang compresses such chains of states and does not run the model for them (LMSYS, "Fast JSON decoding for local
    LLMs with compressed finite state machine", 2024-02).

    >>> forced_bytes(gv.regex("name: [a-z]+"), 0), forced_bytes(gv.regex("cafés?"), 0), forced_bytes(gv.regex("é|è"), 0)
    (b'name: ', b'caf\\xc3\\xa9', b'')
    """
    run = bytearray()
    seen = {state}
    while len(run) < limit and not machine.is_accepting(state):
        choices = next_bytes(machine, state)
        if len(choices) != 1:
            break
        after = machine.step(state, choices[0])
        if after is None or after in seen:
            break
        run += choices
        seen.add(after)
        state = after
    if any(byte in CONTINUING for byte in next_bytes(machine, state)):
        while run and run.pop() in CONTINUING:  # the last character is not complete
            pass
    return whole_names(bytes(run))


@runtime_checkable
class Remembers(Protocol):
    """A state with the steps that are known: kind of byte -> next state."""

    @property
    def moves(self) -> dict[int, Any]: ...


Edges = Iterable[tuple[int, int, int]]  # of one state: lowest byte, highest byte, target
ALL_BYTES = (1 << 256) - 1  # a set of bytes as 256 bits: byte n is in it if bit n is 1


def byte_kinds(states: Iterable[Edges]) -> bytes:
    """The kind of every byte, from the edges of every state.

    >>> kinds = byte_kinds([[(48, 57, 1)], [(48, 52, 2), (97, 97, 1)]])
    >>> [kinds[byte] for byte in b"049a "]
    [3, 3, 2, 1, 0]
    """
    kinds = [ALL_BYTES]
    for moved in dict.fromkeys(_sets_by_target(states)):
        if len(kinds) == 256:
            break
        parts = []
        for kind in kinds:
            parts += [kind & ~moved, kind & moved]
        kinds = [part for part in parts if part]
    kind_of = bytearray(256)
    for number, kind in enumerate(kinds):
        while kind:  # its bytes, the highest first
            byte = kind.bit_length() - 1
            kind_of[byte] = number
            kind -= 1 << byte
    return bytes(kind_of)


def _sets_by_target(states: Iterable[Edges]) -> Iterator[int]:
    """The set of bytes that leads from each state to each of its targets."""
    for edges in states:
        found: dict[int, int] = defaultdict(int)
        for low, high, target in edges:
            found[target] |= (2 << high) - (1 << low)  # the bits from low to high
        yield from found.values()


@lru_cache(maxsize=16)
def first_bytes(kinds: bytes) -> Mapping[int, int]:
    """The first byte of every kind, in the order of the bytes.

    >>> dict(first_bytes(bytes([2, 2, 0] + [1] * 253)))
    {2: 0, 0: 2, 1: 3}
    """
    return {kind: kinds.index(kind) for kind in dict.fromkeys(kinds)}


@lru_cache(maxsize=256)
def kind_spans(kinds: bytes) -> tuple[tuple[int, int], ...]:
    """For every byte the lowest and the highest byte around it of the same kind, with only such bytes between them.

    >>> spans = kind_spans(bytes([2, 2, 0] + [2] * 253))
    >>> spans[1], spans[2], spans[200]
    ((0, 1), (2, 2), (3, 255))
    """
    spans = list[tuple[int, int]]()
    for _, bytes_of_kind in groupby(range(256), kinds.__getitem__):
        row = list(bytes_of_kind)
        spans += [(row[0], row[-1]) for _ in row]
    return tuple(spans)


R = TypeVar("R", bound=Remembers)
NOT_COMPUTED = object()


class ReadsSteps(Protocol[R]):
    """What computes the steps of one machine, and knows its states."""

    def read_byte(self, state: R, byte: int) -> R | None: ...
    def owns(self, state: object) -> bool: ...


class LazySteps(Generic[R]):
    """The steps of one machine. One thread at a time computes new ones: a page asks for masks and pictures at once.

    The machine holds its steps, so they hold the machine weakly: in a cycle it would stay, with all its states and the
    masks of its guide, until Python collects the oldest garbage.
    """

    def __init__(self, machine: object, kinds: bytes, reader: ReadsSteps[R]) -> None:
        self.machine = proxy(machine)
        self.kinds = kinds
        self.reader: ReadsSteps[R] = proxy(reader)
        self.lock = RLock()

    def step(self, state: R | None, byte: int) -> R | None:
        """The next state; None if no text can go on so. Only a step not known yet checks whose state it is."""
        try:
            kind = self.kinds[byte]
            after = state.moves.get(kind, NOT_COMPUTED)  # type: ignore[union-attr]
        except (AttributeError, IndexError, TypeError):
            if state is None:
                return None
            raise no_step(self.machine, state, byte) from None
        if after is NOT_COMPUTED:
            with self.lock:
                after = state.moves[kind] = self.reader.read_byte(self.own(state), byte)  # type: ignore[union-attr]
        next_state: R | None = after
        return next_state

    def own(self, state: Any) -> R:
        """The state, if it is one of this machine."""
        if not self.reader.owns(state):
            raise no_step(self.machine, state)
        owned: R = state
        return owned
