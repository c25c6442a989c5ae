"""A toy to play the stage with: a model of a few dozen pieces and a guide that allows four sentences."""

import asyncio
import json
import time
import zlib

import numpy as np

import guidedviz as gv
from guidedviz.tokens.guide import Explanation, Guide

WORDS = [b'{"name": "Ada"}', b'{"name": "Bob"}', b'{"name": "Ada", "age": 36}', b'{"name": "Bob", "age": 7}']
PIECES = [b"<eos>", b"{", b'{"', b"name", b'":', b' "', b"Ada", b"A", b"da", b"Bob", b'"', b'"}', b"}", b",", b" "]
PIECES += [b'", "', b"age", b": ", b":", b"36", b"3", b"6", b"7", b"\n", b"Sure", b"<script>window.hacked=1</script>"]
PIECES += [b"<img src=x onerror=window.hacked=1>", b"\xe2\x82", "\u202e".encode(), b"say"]


def rule(tokens, slow=0.0, end=True):
    """Logits that look like a model's: a few likely tokens, and never the same twice."""
    time.sleep(slow)
    seed = zlib.crc32(repr(list(tokens)[-6:]).encode())
    noise = np.random.default_rng(seed)
    logits = noise.normal(0, 2.2, len(PIECES))
    logits[0] = -4 if end else -1e9
    return logits


def toy_model(slow=0.0, end=True):
    return gv.ToyModel(PIECES, lambda tokens: rule(tokens, slow, end), eos={0})


class WordsGuide(Guide):
    """Exactly one of a few byte strings: simple enough to be read, and a true guide."""

    def __init__(self, vocabulary, words=WORDS):
        self.vocabulary = vocabulary
        self.words = words
        self.initial = b""

    def mask(self, state):
        after = [state + piece for piece in self.vocabulary.pieces]
        legal = np.array([any(word.startswith(a) for word in self.words) for a in after])
        legal[list(self.vocabulary.eos)] = self.is_accepting(state)
        return legal

    def advance(self, state, token):
        if not self.mask(state)[token]:
            raise gv.IllegalToken(f"token {token}")
        return state + self.vocabulary.pieces[token]

    def is_accepting(self, state):
        return state in self.words

    def forced(self, state):
        return b""

    def label(self, state):
        return f"q{len(state)}"

    def stack(self, state):
        return ("object", "root") if state else ("root",)

    def explain(self, state, token):
        piece = self.vocabulary.pieces[token]
        reached = [state + piece[: i + 1] for i in range(len(piece))]
        live = [any(w.startswith(one) for w in self.words) for one in reached]
        died = live.index(False) if False in live else None
        seen = piece[: len(piece) if died is None else died]
        states = tuple(self.label(state + seen[:i]) for i in range(len(seen) + 1))
        here = state + seen
        expected = " or ".join(sorted({w[len(here) :][:1].decode() or "end" for w in self.words if w.startswith(here)}))
        reason = f"After {len(seen)} bytes only {expected} may follow."
        return Explanation(token, piece, died is None, died, expected, states, self.stack(state), reason)


def told(shown, everything=True):
    """What a page would be told, as JSON."""
    return json.loads(json.dumps(shown.display.news(everything), allow_nan=False))


class Page:
    """A page of a stage that paints everything at once and keeps what it was told."""

    def __init__(self, stage):
        self.steps = []
        self.told = []
        self.masks = {}
        self.saved = {}
        stage.display.wire = self
        self.stage = stage
        self.tell(everything=True)

    def tell(self, everything=False):
        news = told(self.stage, everything)
        self.steps[news["from"] :] = [self.news["next"] if step is None else step for step in news["add"]]
        self.masks |= {int(number): mask for number, mask in news.get("map", {}).get("bits", {}).items()}
        self.told.append(news)

    def close(self):
        self.stage = None

    @property
    def news(self):
        """What it was told last."""
        return self.told[-1]

    @property
    def shown(self):
        """The step whose distribution and mask are shown: the next one or, at the end, the last one."""
        return [*self.steps[self.news["cursor"] :], self.news["next"] or self.steps[-1]][0]

    @property
    def tokens(self):
        return [step["token"] for step in self.steps]


async def settled():
    """Wait for all that runs in the loop."""
    while waits := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(waits)
