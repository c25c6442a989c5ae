"""Compile, mask, apply, advance: the four calls that every engine has, as code that runs, for one regex.

`run_verbs` executes the code of an engine along a text, so the table shows what was run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from guidedviz.errors import SettingError, quoted
from guidedviz.extras import need
from guidedviz.tokens.by_hand import GuidedFSM
from guidedviz.tokens.engines.llguidance import build_tokenizer
from guidedviz.tokens.engines.outlines_core import build_tokens
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

TIME = "[0-9]{2}:[0-9]{2}"


@dataclass(frozen=True)
class Verbs:
    """The calls of one engine. The names `vocabulary`, `pieces`, `eos`, `regex`, `logits` and `token` are given."""

    engine: str
    package: str  # that must be installed
    compile: str
    mask: str
    apply: str
    advance: str
    about: str  # one sentence


KEEP = "kept = logits[ids].copy(); logits[:] = -np.inf; logits[ids] = kept"
FOUR_VERBS = (
    Verbs(
        "NanoGPT's FSM",
        "",
        "fsm = GuidedFSM(vocabulary, accepting=5)\n"
        "for place in (0, 1, 3, 4): fsm.add_transition(place, list('0123456789'), place + 1)\n"
        "fsm.add_transition(2, ':', 3)",
        "ids = list(fsm.allowed_tokens())",
        KEEP,
        "fsm.advance(token)",
        "Transitions by hand on single characters; it knows no longer token, and no EOS.",
    ),
    Verbs(
        "outlines-core",
        "outlines_core",
        "guide = outlines_core.Guide(outlines_core.Index(regex, tokens))",
        "ids = guide.get_tokens()",
        KEEP,
        "guide.advance(token)",
        "The index has the tokens of every state before the first token is written.",
    ),
    Verbs(
        "xgrammar",
        "xgrammar",
        "info = xgrammar.TokenizerInfo(pieces, stop_token_ids=eos)\n"
        "matcher = xgrammar.GrammarMatcher(xgrammar.GrammarCompiler(info).compile_regex(regex))\n"
        "words = xgrammar.allocate_token_bitmask(1, len(pieces))",
        "matcher.fill_next_token_bitmask(words)",
        "xgrammar.apply_token_bitmask_inplace(torch.from_numpy(logits), words[0])",
        "matcher.accept_token(token)",
        "A packed mask per row; the stack of the matcher is in C++.",
    ),
    Verbs(
        "llguidance",
        "llguidance",
        "matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_regex(regex))\n"
        "words = llguidance.numpy.allocate_token_bitmask(1, len(pieces))",
        "llguidance.numpy.fill_next_token_bitmask(matcher, words)",
        "llguidance.numpy.apply_token_bitmask_inplace(logits[None], words)",
        "matcher.consume_token(token)",
        "A walk of the trie at each step; by default the mask of a forced run has only its longest token.",
    ),
    Verbs(
        "guidedviz",
        "",
        "guide = gv.guide(gv.regex(regex), vocabulary)\nstate = guide.initial",
        "mask = guide.mask(state)",
        "logits[~mask] = -np.inf",
        "state = guide.advance(state, token)",
        "States are values: an old state stays valid, so going back needs no call.",
    ),
)


def run_verbs(verbs: Verbs, vocabulary: Vocabulary, tokens: Sequence[int]) -> list[int]:
    """How many logits are left before each of these tokens and at the end, by the code of the engine.

    >>> v = gv.Vocabulary([*(bytes([48 + digit]) for digit in range(10)), b":", b"12", b"</s>"], eos={12})
    >>> run_verbs(FOUR_VERBS[-1], v, [1, 2, 10, 11]), run_verbs(FOUR_VERBS[0], v, [1, 2, 10, 4, 5])
    ([11, 10, 1, 11, 1], [10, 10, 1, 10, 10, 0])
    """
    check_vocabulary(vocabulary, "run_verbs")
    if not isinstance(verbs, Verbs):
        raise SettingError("run_verbs", seen=quoted(verbs), expected="one of gv.serving.FOUR_VERBS")
    names = _names(verbs, vocabulary)
    exec(verbs.compile, names)  # the code stands above; nothing of it comes from outside
    left = []
    for token in [*tokens, None]:
        names |= {"logits": np.zeros(len(vocabulary), np.float32), "token": token}
        exec(verbs.mask, names)
        exec(verbs.apply, names)
        left.append(int(np.isfinite(names["logits"]).sum()))
        if token is not None:
            exec(verbs.advance, names)
    return left


def _names(verbs: Verbs, vocabulary: Vocabulary) -> dict[str, Any]:
    """What the code of an engine may use."""
    import guidedviz

    names: dict[str, Any] = {"gv": guidedviz, "np": np, "vocabulary": vocabulary, "GuidedFSM": GuidedFSM, "regex": TIME}
    hidden = vocabulary.special - vocabulary.eos
    pieces = [b"" if token in hidden else piece for token, piece in enumerate(vocabulary.pieces)]
    names |= {"pieces": pieces, "eos": sorted(vocabulary.eos)}
    if verbs.package:
        names[verbs.package] = need(verbs.package, "engines")
    if verbs.package == "xgrammar":
        names["torch"] = need("torch", "hub")
    if verbs.package == "llguidance":
        need("llguidance.numpy", "engines")
        names["tokenizer"] = build_tokenizer(vocabulary)
    if verbs.package == "outlines_core":
        names["tokens"] = build_tokens(vocabulary)
    return names
