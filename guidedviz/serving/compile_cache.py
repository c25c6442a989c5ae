"""A cache of compiled constraints: what its key must hold, how many bytes it keeps, and what leaves first."""

from __future__ import annotations

import json
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from gc import get_referents
from hashlib import sha256
from threading import Lock
from types import FunctionType, ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from guidedviz.errors import SettingError, expect, quoted
from guidedviz.extras import installed
from guidedviz.tokens.trie import Trie
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

T = TypeVar("T")
SHARED = (type, ModuleType, Vocabulary, Trie, str, bytes, int)  # not counted: in all guides the same, or small


def cache_key(grammar: str | Mapping[str, Any], vocabulary: Vocabulary, engine: str = "auto", **options: Any) -> str:
    """The key of a compiled constraint: the grammar, the vocabulary's tokens, the engine with its version, the options.

    The order of a schema's properties is part of the key, because it is the order in which an engine writes them.

    >>> v = gv.Vocabulary([b"{", b"}"])
    >>> cache_key('{"type": "object"}', v) == cache_key({"type": "object"}, v)
    True
    >>> cache_key("[0-9]+", v) == cache_key("[0-9]+", v, engine="trie")
    False
    """
    check_vocabulary(vocabulary, "cache_key")
    if not isinstance(grammar, str | Mapping):
        raise SettingError("cache_key, grammar", seen=quoted(grammar), expected="a text, or a schema as a dict")
    try:
        parts = [_plain(grammar), vocabulary.fingerprint, engine, engine_version(engine), sorted(options.items())]
        return sha256(json.dumps(parts).encode()).hexdigest()
    except (TypeError, ValueError, RecursionError) as error:
        raise SettingError("cache_key", seen=str(error), expected="what JSON can hold") from None


def _plain(grammar: str | Mapping[str, Any]) -> Any:
    """A schema as JSON holds it, whether it is given as a text or as a dict; any other text as it is."""
    if isinstance(grammar, str) and grammar.lstrip().startswith("{"):
        try:
            return {"schema": json.loads(grammar)}
        except (ValueError, RecursionError):
            return grammar  # a grammar may begin with a brace, too
    return grammar if isinstance(grammar, str) else {"schema": dict(grammar)}


def engine_version(engine: str) -> str:
    """The version of the package that compiles: guidedviz for our engines."""
    package = engine if installed(engine) else "guidedviz"
    return f"{package} {installed(package)}".strip()


@dataclass
class Entry(Generic[T]):
    """A compiled constraint, its bytes, and how often it was asked for."""

    value: T
    nbytes: int
    uses: int = 1


class CompileCache(Generic[T]):
    """Compiled constraints by key, bounded by bytes; what was used longest ago leaves first (LRU).

    Threads that ask for the same key wait for one compile. A guide grows while its masks are computed, so it is
    measured again after 2, 4, 8, ... uses.

    >>> cache = CompileCache(most_bytes=100, size=len)
    >>> [cache.get(key, lambda: "x" * 60) for key in ("a", "b", "b")][0][:3], cache
    ('xxx', CompileCache(1 entry, 60 of 100 bytes: 1 hit, 2 misses, 1 evicted))
    """

    def __init__(self, most_bytes: int, size: Callable[[Any], int] | None = None) -> None:
        if type(most_bytes) is not int or most_bytes < 0:
            raise SettingError("CompileCache, most_bytes", seen=quoted(most_bytes), expected="a whole number from 0")
        self.most_bytes, self._size = most_bytes, size or memory_of
        self.hits = self.misses = self.evicted = self.nbytes = 0
        self._entries: OrderedDict[str, Entry[T]] = OrderedDict()
        self._lock, self._compiling = Lock(), dict[str, Lock]()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __repr__(self) -> str:
        held = f"{_count(len(self), 'entry', 'entries')}, {self.nbytes:,} of {self.most_bytes:,} bytes"
        asked = f"{_count(self.hits, 'hit')}, {_count(self.misses, 'miss', 'misses')}, {self.evicted} evicted"
        return f"CompileCache({held}: {asked})"

    def get(self, key: str, compile: Callable[[], T]) -> T:
        """The value of this key; it is compiled if it is not there. An error of the compile is not kept."""
        expect(key, str, "CompileCache.get, key", "a text", "gv.serving.cache_key(schema, vocabulary)")
        expect(compile, Callable, "CompileCache.get, compile", "a function that compiles")
        with self._lock:
            own = self._compiling.setdefault(key, Lock())
        try:
            with own:
                with self._lock:
                    if entry := self._entries.get(key):
                        self.hits += 1
                        self._use(key, entry)
                        return entry.value
                    self.misses += 1
                value = compile()
                with self._lock:
                    self._keep(key, Entry(value, self._size(value)))
                return value
        finally:
            with self._lock:
                if not own.locked():
                    self._compiling.pop(key, None)

    def _use(self, key: str, entry: Entry[T]) -> None:
        self._entries.move_to_end(key)
        entry.uses += 1
        if entry.uses & (entry.uses - 1) == 0:
            del self._entries[key]
            self.nbytes -= entry.nbytes
            self._keep(key, Entry(entry.value, self._size(entry.value), entry.uses))

    def _keep(self, key: str, entry: Entry[T]) -> None:
        """Keep an entry; what does not fit is not kept."""
        self._entries[key] = entry
        self.nbytes += entry.nbytes
        while self.nbytes > self.most_bytes:
            _, oldest = self._entries.popitem(last=False)
            self.nbytes -= oldest.nbytes
            self.evicted += 1


def memory_of(value: Any) -> int:
    """The bytes of an object and all it refers to, without vocabularies, modules and classes.

    >>> memory_of(np.zeros(1000, np.uint8)) - memory_of(np.zeros(0, np.uint8))
    1000
    """
    seen: set[int] = set()
    total, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, FunctionType):
            waiting += [*(one.__closure__ or ()), *(one.__defaults__ or ())]
        elif isinstance(one, np.ndarray):
            total += sys.getsizeof(one) if one.base is None else one.nbytes
        else:
            total += sys.getsizeof(one, 0)
            waiting += (part for part in get_referents(one) if not isinstance(part, SHARED))
    return total


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
