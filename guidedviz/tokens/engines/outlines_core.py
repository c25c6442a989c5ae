"""outlines-core (dottxt): an index of every state of a regex's machine; its states are values, like ours."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from guidedviz.errors import PatternError
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.tokens.arrays import Mask
from guidedviz.tokens.engines.constraint import Asked, Compile, load, need_eos, refusal
from guidedviz.tokens.vocabulary import Vocabulary


@dataclass(eq=False)
class OutlinesMatcher:
    """The engine's state after some tokens of a text."""

    index: Any
    state: int
    size: int

    def fill(self) -> Any:
        """The engine's list of tokens."""
        return self.index.get_allowed_tokens(self.state)

    def mask(self) -> Mask:
        """True for every id that the engine allows."""
        mask = np.zeros(self.size, dtype=np.bool_)
        mask[self.fill() or []] = True
        mask.flags.writeable = False
        return mask

    def take(self, token: int) -> bool:
        """Append a token; False if the engine rejects it."""
        after = self.index.get_next_state(self.state, token)
        self.state = self.state if after is None else after
        return after is not None

    def may_end(self) -> bool:
        """Whether the text may end here."""
        return bool(self.index.is_final_state(self.state))

    def copy(self) -> OutlinesMatcher:
        """A copy that can be advanced independently."""
        return replace(self)


def prepare(vocabulary: Vocabulary) -> Compile:
    """Prepare the engine for a vocabulary: it gets one EOS id, and the ids of every piece."""
    core, eos, ids = load("outlines-core"), need_eos("outlines-core", vocabulary), defaultdict(list)
    for token in vocabulary.text_ids:
        ids[vocabulary.pieces[token]].append(token)
    tokens = core.Vocabulary(eos[0], dict(ids))

    def compile_asked(asked: Asked) -> OutlinesMatcher:
        if asked.kind != "schema" and isinstance(asked.machine, PDA):
            where, seen, hint = "engine 'outlines-core'", "a grammar with a stack", "a regex or a flat schema"
            raise PatternError(where, seen=seen, expected="a finite machine", hint=hint)
        text = "" if asked.kind == "schema" else asked.regex
        try:
            if asked.kind == "schema":  # the engine converts a schema to a regex itself
                text = load("outlines-core", "outlines_core.json_schema").build_regex_from_schema(asked.text)
            index = core.Index(text, tokens)
        except ValueError as error:
            raise refusal("outlines-core", error) from error
        return OutlinesMatcher(index, index.get_initial_state(), len(vocabulary))

    return compile_asked
