"""Requests for the simulation: when each arrives, what it writes, and what its constraint costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import Annotated

from guidedviz.decoding.records import MOST, Between, Count, Milliseconds
from guidedviz.errors import SettingError, expect, quoted

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

    def __post_init__(self) -> None:
        for name in ("arrives", "compile_ms", "mask_ms"):
            check_number(f"Request, {name}", getattr(self, name), "milliseconds from 0")
        for name, least in (("tokens", 1), ("prompt", 0)):
            check_whole(f"Request, {name}", getattr(self, name), least)
        check_number("Request, forced", self.forced, "a share from 0 to 0.99")
        if self.forced > 0.99 or not isinstance(self.schema, str):
            seen = f"forced {quoted(self.forced)}, schema {quoted(self.schema)}"
            raise SettingError("Request", seen=seen, expected="a share from 0 to 0.99, and the name of a schema")


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
    check_number("make_requests, per_second", per_second, "more than 0", least=1e-9)
    check_number("make_requests, constrained", constrained, "a share from 0 to 1", most=1)
    check_whole("make_requests, count", count, 1)
    check_number("make_requests, skew", skew, "a number from 0")
    expect(seed, int, "make_requests, seed", "a whole number")
    if not _are_pairs(schemas):
        expected = "the milliseconds of a compile and of a mask, per schema"
        raise SettingError("make_requests, schemas", seen=quoted(schemas), expected=expected)
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


def _are_pairs(schemas: object) -> bool:
    if not isinstance(schemas, list | tuple) or not schemas:
        return False
    return all(isinstance(one, list | tuple) and len(one) == 2 for one in schemas)


def check_number(where: str, value: object, expected: str, least: float = 0.0, most: float = MOST) -> None:
    """Refuse what is not a number from `least` to `most`.

    >>> check_number("Request, arrives", "8", "milliseconds from 0")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: Request, arrives: saw '8', expected milliseconds from 0
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise SettingError(where, seen=quoted(value), expected=expected)


def check_whole(where: str, value: object, least: int, expected: str = "") -> None:
    """Refuse what is not a whole number from `least` up.

    >>> check_whole("Costs, rows", 1.5, 1)
    Traceback (most recent call last):
    guidedviz.errors.SettingError: Costs, rows: saw 1.5, expected a whole number from 1
    """
    if type(value) is not int or value < least:
        raise SettingError(where, seen=quoted(value), expected=expected or f"a whole number from {least}")


def check_requests(requests: object, where: str) -> None:
    """Refuse what is not one or more requests.

    >>> check_requests([Request(0, 1), 3], "simulate, requests")
    Traceback (most recent call last):
    guidedviz.errors.SettingError: simulate, requests: saw int, expected requests; try: gv.serving.make_requests
    """
    hint = "gv.serving.make_requests"
    given: Sequence[object] = expect(requests, list | tuple, where, "a list of requests", hint)
    if not given:
        raise SettingError(where, seen="none", expected="one or more", hint=hint)
    for one in given:
        expect(one, Request, where, "requests", hint)
