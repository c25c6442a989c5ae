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
    check_engine(engine, index)
    if engine in PREPARE:
        return RealGuide(engine, ask(machine), vocabulary)
    if index is not None:
        hint = "gv.build_index(machine, vocabulary)"
        expect(index, Index, "guide, index", "an Index", hint).check(machine, vocabulary)
        engine = "index"
    elif engine == "auto":
        engine = usual_engine(machine)
    if engine == "trie":
        return MachineGuide(machine, vocabulary, Lazy(machine, vocabulary))
    if engine == "split":  # the machine as it is given, so that its stacks name the rules that were written
        return split_guide(build_split(machine, vocabulary, inline=False))
    return index_guide(machine, vocabulary, index)


def check_engine(engine: Any, index: Index | None) -> None:
    """Refuse what is not the name of an engine, and an index for another engine than its own."""
    if not isinstance(engine, str) or engine not in ENGINES:
        raise SettingError("guide, engine", seen=quoted(engine), expected=f"one of {str(ENGINES)[1:-1]}")
    if index is not None and engine not in ("auto", "index"):
        seen = f"engine {engine!r}"
        raise SettingError("guide, index", seen=seen, expected="an Index and its engine", hint="gv.build_index")


def usual_engine(machine: Machine[Any]) -> str:
    """The engine of ours that is quickest for a machine."""
    if isinstance(machine, DFA):
        return "index"
    return "split" if isinstance(machine, PDA) else "trie"


def index_guide(machine: Machine[Any], vocabulary: Vocabulary, index: Index | None) -> MachineGuide:
    """The guide of a finite machine: with an index, or without if that would take too much memory."""
    if isinstance(machine, PDA) and machine.finite:  # it counts, so it has too many states
        return split_guide(Split(machine, vocabulary))
    if not isinstance(machine, DFA):
        raise not_finite("guide, engine 'index'", machine)
    if len(machine) * len(vocabulary) > MASK_BYTES:
        return MachineGuide(machine, vocabulary, Lazy(machine, vocabulary))
    return MachineGuide(machine, vocabulary, Indexed(machine, vocabulary, index))


def name_guide(guide: Guide) -> str:
    """What a guide is, in a few words.

    >>> name_guide(gv.guide(gv.regex("[0-9]"), gv.Vocabulary([b"1"])))
    'DFA(2 states, 1 accepting)'
    """
    if guide.machine is None:
        return type(guide).__name__
    machine = shorten(repr(guide.machine), 60)
    return f"{guide.name} · {machine}" if isinstance(guide, RealGuide) else machine
