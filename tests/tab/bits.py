"""Masks and texts on this Python, as digests: WebAssembly has 32 bits, so a 32-bit Python must print the same lines.

tests/tab/bits.sh FOLDER     as root on Debian: put a 32-bit Python into FOLDER, run it there and here, and compare
"""

from collections.abc import Iterator
from hashlib import sha256
from random import Random
from typing import Any

import numpy as np

import guidedviz as gv
from bench.cases import CASES, build_sample


def machines() -> Iterator[tuple[str, Any]]:
    """Machines with their names: regexes and schemas of the benches."""
    for pattern in ("(a|[a-e]b){1,3}", "é+|日?", r"\d{2}[^x]*the", r"((ab)*\s|日)+", "[a-zé]{3,9}"):
        yield pattern, gv.regex(pattern)
    for case in CASES:
        if case.regex:
            yield case.name, gv.regex(case.regex)
        elif case.grammar:
            yield case.name, gv.grammar(case.grammar)
    for case in build_sample()[::10]:
        yield case.name, gv.json_schema(case.schema)


def digest_walk(machine: Any, vocabulary: gv.Vocabulary, engine: str, random: Random) -> str:
    """The masks along a random walk of at most 12 tokens."""
    guide = gv.guide(machine, vocabulary, engine=engine)
    digest = sha256()
    state = guide.initial
    for _ in range(12):
        mask = guide.mask(state)
        digest.update(np.packbits(mask).tobytes() + guide.forced(state) + bytes([guide.is_accepting(state)]))
        legal = [int(token) for token in np.flatnonzero(mask) if token not in vocabulary.eos]
        if not legal:
            break
        state = guide.advance(state, random.choice(legal))
    return digest.hexdigest()[:16]


def main() -> None:
    """Print one line per machine and engine, then texts that the models decode."""
    clerk = gv.load_model("clerk")
    bard = gv.load_model("bard")
    for name, machine in machines():
        for engine in ("index", "split", "trie"):
            try:
                said = digest_walk(machine, clerk.vocabulary, engine, Random(name))
            except gv.GuidedVizError as error:  # an engine that does not take this machine
                said = error.where
            print(name, engine, said)
    for model, prompt, machine in (
        (clerk, "Nested JSON:\n", gv.json()),
        (bard, "To be", gv.regex("[a-z]+( [a-z]+)*")),
    ):
        trace = gv.record(model, prompt, gv.guide(machine, model.vocabulary), seed=3, max_tokens=24)
        print(model.name, trace.text.encode())


if __name__ == "__main__":
    main()
