"""A guide for a machine and a vocabulary: which engine computes its masks, and what each can take."""

from collections.abc import Hashable
from typing import Any

from guidedviz.errors import SettingError, expect, quoted, shorten
from guidedviz.machines.machine import Machine
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.tokens.engines import PREPARE, ask
from guidedviz.tokens.guide import MASK_BYTES, Guide, Indexed, MachineGuide, split_guide
from guidedviz.tokens.index import Index, live_machine, not_finite
from guidedviz.tokens.lazy import Lazy
from guidedviz.tokens.real_guide import RealGuide
from guidedviz.tokens.split import Split, build_split
from guidedviz.tokens.vocabulary import Vocabulary, check_vocabulary

ENGINES = ("auto", "index", "split", "trie", *PREPARE)


def guide(machine: Machine[Any], vocabulary: Vocabulary, engine: str = "auto", index: Index | None = None) -> Guide:
    """A guide that allows the tokens after which a complete text of the machine can still be reached.

    An `index` built before is used instead of a new one, if it was built for this machine and this vocabulary.

    >>> v = gv.Vocabulary([b"3", b".5", b".", b"42", b"x", b"</s>"], eos={5})
    >>> g = gv.guide(gv.regex(r"[0-9]+(\\.[0-9]+)?"), v)
    >>> after = g.advance(g.initial, 3)
    >>> [v.display(token) for token in g.mask(after).nonzero()[0]]
    ['3', '.5', '.', '42', '</s>']
    """
    machine = live_machine(machine, "guide")
    expect(machine.initial, Hashable, "guide, machine.initial", "a value", "a tuple or an int")
    check_vocabulary(vocabulary, "guide")
    if not isinstance(engine, str) or engine not in ENGINES:
        raise SettingError("guide, engine", seen=quoted(engine), expected=f"one of {str(ENGINES)[1:-1]}")
    if index is not None and engine not in ("auto", "index"):
        seen = f"engine {engine!r}"
        raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")
    if engine in PREPARE:
        return RealGuide(engine, ask(machine), vocabulary)
    if index is not None:
        hint = "gv.build_index(machine, vocabulary)"
        expect(index, Index, "guide, index", "an Index", hint).check(machine, vocabulary)
    elif engine == "auto":
        engine = "index" if isinstance(machine, DFA) else "split" if isinstance(machine, PDA) else "trie"
    if engine == "trie":
        return MachineGuide(machine, vocabulary, Lazy(machine, vocabulary))
    if engine == "split":  # the machine as it is given, so that its stacks name the rules that were written
        return split_guide(build_split(machine, vocabulary, inline=False))
    if isinstance(machine, PDA) and machine.finite:  # it counts, so it has too many states for an index
        return split_guide(Split(machine, vocabulary))
    if not isinstance(machine, DFA):
        raise not_finite("guide, engine 'index'", machine)
    fits = len(machine) * len(vocabulary) <= MASK_BYTES  # otherwise each mask is walked when it is asked for
    return MachineGuide(machine, vocabulary, Indexed(machine, vocabulary, index) if fits else Lazy(machine, vocabulary))


def name_guide(guide: Guide) -> str:
    """What a guide is, in a few words.

    >>> name_guide(gv.guide(gv.regex("[0-9]"), gv.Vocabulary([b"1"])))
    'DFA(2 states, 1 accepting)'
    """
    parts = [guide.name] if isinstance(guide, RealGuide) else []
    parts += [] if guide.machine is None else [shorten(repr(guide.machine), 60)]
    return " · ".join(parts) or type(guide).__name__
