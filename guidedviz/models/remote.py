"""A model on a shared host: `gv.load_model("http://host:8765", token="...")`."""

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from guidedviz.errors import ModelError, SettingError, VocabularyError, quoted, shorten
from guidedviz.files import IN_TAB
from guidedviz.models import frames
from guidedviz.models.chat import Prompt
from guidedviz.models.connection import GO_ON_WITH, Address, Connection, read_address
from guidedviz.models.messages import Messages, check_messages, offer_tools
from guidedviz.models.model import Array, Source, check_start, check_tokens, check_utf8

MOST_WORD = 200  # characters of a text of the card
MOST_VOCABULARY = 1 << 26
MOST_CHAT = 1 << 23
MOST_RUN = 1 << 20  # characters of a run that the teacher shows
KEPT_LOGITS = 1 << 23  # bytes of logits that are kept, so that the same text gives the same bits again
FIELDS = {"name": str, "device": str, "vocabulary": str, "version": str, "context": int, "size": int, "chat": bool}


def read_card(body: bytes, place: Address) -> dict[str, Any]:
    """The model card of a host."""
    try:
        card = {"chat": False, **json.loads(body)}
        found = {key: card[key] for key in FIELDS}
        if card["protocol"] == frames.PROTOCOL and is_plain_card(found):
            return found | {"name": shorten(found["name"], 40), "device": shorten(found["device"], 60)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    expected = f"the card of a model, protocol {frames.PROTOCOL}"
    hint = "the address that the host printed, and the same version of guidedviz here and there"
    raise ModelError(f"host {place}", seen=quoted(body), expected=expected, hint=hint)


def is_plain_card(card: dict[str, Any]) -> bool:
    """Whether each field has its type, and its texts are short and printable."""
    if any(type(card[key]) is not kind for key, kind in FIELDS.items()):
        return False
    texts = [value for value in card.values() if isinstance(value, str)]
    if not all(text.isprintable() and len(text) <= MOST_WORD for text in texts):
        return False
    return bool(card["version"].isascii())


class RemoteModel:
    """A model that runs on a host. It gives the host's logits, rounded to 16 bits."""

    source: Source = "LIVE"

    def __init__(self, wire: Connection) -> None:
        self.wire = wire
        card = read_card(wire.ask("GET", "/v1/card"), wire.place)
        wire.known = True
        self.host = str(wire.place)
        self.name = f"{wire.place} · {card['name']}"
        self.device = card["device"]
        self.context = card["context"]
        self.version = card["version"]
        self.has_template: bool = card["chat"]
        wire.headers["X-Guidedviz-Model"] = self.version  # a host that has another model by then refuses
        self.vocabulary = frames.read_vocabulary(wire.ask("GET", "/v1/vocabulary", most=MOST_VOCABULARY))
        words = self.vocabulary.fingerprint
        size = len(self.vocabulary)
        if (words, size) != (card["vocabulary"], card["size"]):
            where = f"host {wire.place}"
            wanted = f"{card['size']:,} tokens and the fingerprint {card['vocabulary']}"
            expected = shorten(wanted, 120)
            hint = "load the model again: the host may have changed it"
            raise VocabularyError(where, seen=str(self.vocabulary), expected=expected, hint=hint)
        most = max(8, KEPT_LOGITS // (4 * len(self.vocabulary)))
        self._row = lru_cache(most)(lambda ids: self._ask(frames.Ask(ids))[0])

    def __repr__(self) -> str:
        return f"{self.name} · {self.device}: {len(self.vocabulary):,} tokens"

    @property
    def waiting(self) -> str:
        """What to tell a person while the host does not answer; "" while it does."""
        return self.wire.waiting

    def chat(self, messages: Messages, tools: Iterable[Any] = (), think: bool = True) -> Prompt:
        """The prompt of a question or of messages, by the chat template of the host's model."""
        asked: Any = check_messages(messages)
        offered = offer_tools(tools)
        if offered or not think:
            asked = {"messages": asked, "tools": offered, "think": think}
        body = self.wire.ask("POST", "/v1/chat", json.dumps(asked).encode(), MOST_CHAT)
        return frames.read_prompt(body, len(self.vocabulary))

    def encode(self, text: str) -> list[int]:
        """A text as tokens; the host's tokenizer reads it."""
        if isinstance(text, Prompt):
            return [*text.tokens]
        check_utf8("text", text)
        most = 4 * max(4 * self.context, len(text.encode()) + 64)
        if not text:
            return []
        body = self.wire.ask("POST", "/v1/encode", text.encode(), most)
        return frames.read_ids(body, len(self.vocabulary))

    def logits(self, tokens: Sequence[int]) -> Array:
        """The next token's logits."""
        row: Array = self._row(self._check(tokens)).copy()
        return row

    def all_logits(self, tokens: Sequence[int], start: int = 0) -> Array:
        """The logits after each token from place `start` on, one row per token."""
        ids = self._check(tokens)
        check_start(start, len(ids))
        return self._ask(frames.Ask(ids, start))

    def _ask(self, ask: frames.Ask) -> Array:
        count = len(ask.tokens) - ask.first
        size = len(self.vocabulary)
        body = self.wire.ask("POST", "/v1/logits", frames.pack_ask(ask), frames.rows_bytes(count, size))
        return frames.unpack_rows(body, count, size)

    def _check(self, tokens: Sequence[int]) -> tuple[int, ...]:
        return tuple(check_tokens(tokens, self.context, len(self.vocabulary)))


def mark_used(kept: OrderedDict[Any, Any], key: Any, most: int) -> None:
    """Note that something kept is used now, and forget what was used longest ago when there are too many."""
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)


def find_host(model: Any, where: str) -> Address:
    """The host of a class: that of the model, else that of the variable GUIDEDVIZ_HOST."""
    if isinstance(model, RemoteModel):
        return model.wire.place
    if address := os.environ.get("GUIDEDVIZ_HOST", ""):
        return read_address(address)
    expected = "a model of a host, or the variable GUIDEDVIZ_HOST"
    hint = 'gv.load_model("http://host:8765", token="...")'
    raise SettingError(where, seen="a model of this machine", expected=expected, hint=hint)


def find_remote(name: str, token: str | None, host: str) -> RemoteModel | None:
    """The model at an address, or that of the host if it has this name."""
    if name.lower().startswith(("http://", "https://")):
        if IN_TAB:
            seen = "a browser tab, which reaches no host"
            expected = "an embedded model"
            raise ModelError(quoted(name), seen=seen, expected=expected, hint=GO_ON_WITH)
        return RemoteModel(Connection(read_address(name, token)))
    if not host:
        return None
    wire = Connection(read_address(host, token))
    card = read_card(wire.ask("GET", "/v1/card"), wire.place)
    return RemoteModel(wire) if card["name"] == name else None


# Work in a thread of its own, which lives only while there is work.


class Background:
    """Calls `work` in a thread once for each burst of `wake`; the work handles its own errors."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._asked = False
        self._runs = False

    def wake(self) -> None:
        """Let the work be done; returns at once."""
        with self._lock:
            self._asked = True
            if self._runs:
                return
            self._runs = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._asked:
                    self._runs = False
                    return
                self._asked = False
            self._work()
