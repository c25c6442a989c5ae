"""One engine in a process of its own, so that a schema on which it takes too long can be given up."""

from __future__ import annotations

from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

from bench.masks.cases import Case
from bench.masks.engines import Engine, find_engines
from guidedviz.tokens.machine_guide import guide
from guidedviz.tokens.spelling import longest_tokens
from guidedviz.tokens.vocabulary import Vocabulary

OURS = "guidedviz"
WARM_UP = Case("warm-up", ('{"a": 1}',), schema={"type": "object", "properties": {"a": {"type": "integer"}}})
PATIENCE = 10.0  # seconds for one schema
MOST = 240.0  # seconds for all schemas


def time_schema(engine: Engine, case: Case, vocabulary: Vocabulary) -> dict[str, Any]:
    """Seconds of the compile, and of the mask before every token of the text and after the last."""
    tokens = list(longest_tokens(vocabulary, case.texts[0].encode()))
    engine.forget()
    began = perf_counter()
    try:
        compiled = engine.compile(case)
        spent = perf_counter() - began
        session, masks = compiled.open(), []
        for token in [*tokens, None]:
            start = perf_counter()
            session.mask()
            masks.append(perf_counter() - start)
            if token is not None and not session.advance(token):
                return {"said": "refuses its text", "wrong": True}
    except Exception as error:  # a refusal is a result
        return {"said": f"{type(error).__name__}: {error}".splitlines()[0][:200], "after": perf_counter() - began}
    return {"compile": spent, "masks": masks, "nbytes": compiled.nbytes(), "states": compiled.states()}


def serve(name: str, pipe: Connection) -> None:
    """Answer cases until there are no more."""
    vocabulary = Vocabulary.llama3()
    found, missing = find_engines(vocabulary, {OURS: guide}, ["outlines-core" if name == OURS else name])
    engine = found[0] if name == OURS else found[1] if len(found) > 1 else None
    if engine:
        time_schema(engine, WARM_UP, vocabulary)
    pipe.send(engine.name if engine else f"missing: {missing[0]}")
    while engine and (case := pipe.recv()) is not None:
        pipe.send(time_schema(engine, case, vocabulary))


@dataclass
class Worker:
    """The process of an engine; started again after a schema that took too long, it gets no more after `MOST`."""

    name: str
    spent: float = 0.0
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(self.name, other), daemon=True)
        self.process.start()
        other.close()  # so that a process that ends is noticed
        self.title: str = self.pipe.recv()

    def time(self, case: Case) -> dict[str, Any]:
        """The figures of one schema."""
        if self.spent > MOST:
            return {"said": f"not asked after {MOST:g} s"}
        began = perf_counter()
        self.pipe.send(case)
        answered = self.pipe.poll(PATIENCE)
        self.spent += perf_counter() - began
        if answered:
            figures: dict[str, Any] = self.pipe.recv()
            return figures
        self.process.kill()
        self.__post_init__()
        return {"said": f"no answer within {PATIENCE:g} s", "after": PATIENCE}
