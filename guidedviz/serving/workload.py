"""Requests for the simulation: when each arrives, what it writes, and what its constraint costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import Annotated

from guidedviz.decoding.records import Between, Count, Milliseconds
from guidedviz.errors import SettingError, quoted

BelowOne = Annotated[float, Between(0, 0.99)]


@dataclass(frozen=True)
class Request:
    """One request; a request without a schema is not constrained."""

    arrives: Milliseconds
    tokens: Annotated[int, Between(1)]  # that it writes
    schema: str = ""
    compile_ms: Milliseconds = 0.0
    mask_ms: Milliseconds = 0.0  # per mask
    prompt: Count = 0  # tokens
    forced: BelowOne = 0.0  # the share of its tokens that its grammar forces


def make_requests(
    count: int,
    *,
    per_second: float,
    tokens: int = 128,
    prompt: int = 0,
    constrained: float = 1.0,
    schemas: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    skew: float = 1.0,
    unique: bool = False,
    forced: float = 0.0,
    seed: int = 0,
) -> tuple[Request, ...]:
    """Requests at random times, `per_second` on average; a share of them has a schema.

    `schemas` has the milliseconds of a compile and of a mask of each schema. The schema of rank r is asked for in
    proportion to 1 / r ** skew. With `unique`, no two requests have the same schema.

    >>> [(request.schema, request.mask_ms) for request in make_requests(3, per_second=10, schemas=[(5, 0.1)])]
    [('schema 0', 0.1), ('schema 0', 0.1), ('schema 0', 0.1)]
    """
    for name, value, good, expected in (
        ("count", count, count > 0, "1 or more"),
        ("per_second", per_second, per_second > 0, "more than 0"),
        ("constrained", constrained, 0 <= constrained <= 1, "a share from 0 to 1"),
        ("schemas", schemas, len(schemas) > 0, "the milliseconds of a compile and of a mask, per schema"),
    ):
        if not good:
            raise SettingError(f"make_requests, {name}", seen=quoted(value), expected=expected)
    random = Random(seed)
    arrivals = accumulate(random.expovariate(per_second / 1e3) for _ in range(count))
    weights = [1 / rank**skew for rank in range(1, len(schemas) + 1)]
    with_schema = set(random.sample(range(count), round(constrained * count)))
    found = []
    for number, arrives in enumerate(arrivals):
        request = Request(round(arrives, 3), tokens, prompt=prompt)
        if number in with_schema:
            (place,) = random.choices(range(len(schemas)), weights)
            compile_ms, mask_ms = schemas[place]
            name = f"schema {number if unique else place}"
            request = replace(request, schema=name, compile_ms=compile_ms, mask_ms=mask_ms, forced=forced)
        found.append(request)
    return tuple(found)
