"""Structural tags: the format in which servers take constraints on text with tool calls and reasoning."""

import warnings
from typing import Any

from guidedviz.errors import NoTextWarning
from guidedviz.machines.pushdown.pda import PDA
from guidedviz.machines.regular.dfa import DFA
from guidedviz.machines.special import no_names
from guidedviz.machines.structural.fields import load_spec, tag_error
from guidedviz.machines.structural.formats import Ends, FormatReader
from guidedviz.machines.work import limited_work


@limited_work()
def structural_tag(spec: Any, vocabulary: Any = None) -> DFA | PDA:
    """The machine of a structural tag, as xgrammar, vLLM, SGLang and TensorRT-LLM take it.

    `spec`: a dict, its JSON text, the path of its file, or an object with `model_dump`; the whole, or only its format.
    `vocabulary` says what token ids name. A token that is given by its text is a special token; a text is never one.

    >>> city = {"type": "regex", "pattern": "[A-Z][a-z]+"}
    >>> call = {"type": "tag", "begin": "<city>", "content": city, "end": "</city>"}
    >>> machine = gv.structural_tag({"type": "triggered_tags", "triggers": ["<"], "tags": [call]})
    >>> machine.accepts(b"In <city>Rome</city>."), machine.accepts_prefix(b"a <b")
    (True, False)
    """
    part = load_spec(spec)
    reader = FormatReader(no_names if vocabulary is None else vocabulary.special_names)
    try:
        machine = reader.rules.machine(reader.read(part, Ends()))
    except RecursionError as error:
        raise tag_error(part.path, "parts nested too deeply", "a flatter structural tag") from error
    if isinstance(machine, DFA) and not machine.accepting:
        warnings.warn("structural_tag: no text meets it, so the machine accepts no text", NoTextWarning, stacklevel=3)
    return machine
