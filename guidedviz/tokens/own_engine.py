"""An engine that somebody wrote: what its class offers, and the matcher that stands for it beside the real engines.

    MyEngine(moves, ends, pieces, eos)      its mask, advance and forced are asked with a state, as those of a guide are

The moves are those of `gv.machines.pushdown_moves`. States are values, so a copied matcher is the engine in the same
state.
"""

from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.moves import Moves, pushdown_moves
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.arrays import Mask, read_only
from guidedviz.tokens.vocabulary import Vocabulary, read_id


class OwnEngine(Protocol):
    """What an engine offers. A mask is a set of ids or an array of bools; no state is changed by a call."""

    initial: Hashable

    def mask(self, state: Any) -> Collection[int] | Mask: ...
    def advance(self, state: Any, token: int) -> Hashable | None: ...
    def forced(self, state: Any) -> bytes: ...


Prepared = tuple[Moves, Collection[int], list[bytes], Collection[int]]  # moves, ends of rules, pieces, EOS ids
MakeEngine = Callable[[*Prepared], OwnEngine]


@dataclass(eq=False)
class OwnMatcher:
    """An engine in one of its states, with the methods of a real engine's matcher."""

    engine: OwnEngine
    state: Any
    vocabulary: Vocabulary

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        return mask_of(self.engine.mask(self.state), len(self.vocabulary))

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        after = self.engine.advance(self.state, token)
        if after is None:
            return False
        self.state = after
        return True

    def may_end(self) -> bool:
        """Whether the engine allows an EOS id."""
        mask = self.mask()
        return any(mask[token] for token in self.vocabulary.eos)

    def copy(self) -> Self:
        """A copy that can be advanced independently: states are values."""
        return replace(self)

    def forced(self) -> bytes:
        """The bytes that must come next."""
        return bytes(self.engine.forced(self.state))


def mask_of(given: Any, size: int) -> Mask:
    """A mask of an engine as an array of bools.

    >>> mask_of({0, 2}, 3).tolist(), mask_of([True, False, True], 3).tolist()
    ([True, False, True], [True, False, True])
    >>> mask_of({3}, 3)
    Traceback (most recent call last):
    guidedviz.errors.SettingError: the mask of your engine: saw 3, expected ids from 0 to 2
    """
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Collection):
        raise _wrong_mask(given, "a set of ids, or an array of bools")
    if size and len(given) == size and all(isinstance(one, bool) for one in given):
        return read_only(np.array(list(given), dtype=np.bool_))
    mask = np.zeros(size, dtype=np.bool_)
    for one in given:
        token = read_id(one, size)
        if token is None:
            raise _wrong_mask(one, f"ids from 0 to {size - 1}")
        mask[token] = True
    return read_only(mask)


def _wrong_mask(seen: object, expected: str) -> SettingError:
    return SettingError("the mask of your engine", seen=quoted(seen), expected=expected)


def text_pieces(vocabulary: Vocabulary) -> list[bytes]:
    """The bytes of each token as an engine gets them: none for an id that is never text, such as EOS.

    >>> text_pieces(Vocabulary([b"a", b"</s>"], eos={1}))
    [b'a', b'']
    """
    return [piece if vocabulary.is_text(token) else b"" for token, piece in enumerate(vocabulary.pieces)]


def prepare_engine(machine: Machine[Any], vocabulary: Vocabulary) -> Prepared:
    """What the class of an engine gets: the moves, the nodes where a rule may end, the pieces and the EOS ids."""
    if not isinstance(machine, PDA | DFA):
        seen = type(machine).__name__
        raise SettingError("an engine of your own", seen=seen, expected="a regex, a grammar or a schema")
    moves, ends = pushdown_moves(machine)
    return moves, ends, text_pieces(vocabulary), set(vocabulary.eos)


def start_engine(make: MakeEngine, given: Prepared, vocabulary: Vocabulary) -> OwnMatcher:
    """An engine at the start of a text."""
    engine = make(*given)
    return OwnMatcher(engine, engine.initial, vocabulary)
