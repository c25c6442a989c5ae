"""What a simulated server is asked for: requests, costs, and a policy. All times are milliseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from random import Random
from typing import Annotated, Literal

from guidedviz.decoding.annotations import AtLeastOne, Between, Count, Milliseconds, Share, check_fields, check_number
from guidedviz.errors import SettingError


@dataclass(frozen=True)
class Request:
    """One request; a request without a schema is not constrained."""

    arrives: Milliseconds
    tokens: AtLeastOne  # that it writes
    schema: str = ""
    compile_ms: Milliseconds = 0.0
    mask_ms: Milliseconds = 0.0  # per mask
    prompt: Count = 0  # tokens

    def __post_init__(self) -> None:
        check_fields(self, "Request, ")


@dataclass(frozen=True)
class Costs:
    """Milliseconds on the device and on the CPU, and how much runs at the same time."""

    forward: Milliseconds  # of one pass
    row: Milliseconds = 0.0  # of one pass, more per row
    token: Milliseconds = 0.0  # more per token of a prompt
    host: Milliseconds = 0.0  # of scheduling, per pass
    apply: Milliseconds = 0.0  # per constrained row: copy its mask to the device and apply it
    rows: AtLeastOne = 256  # the most rows of a batch
    threads: AtLeastOne = 1  # masks at the same time

    def __post_init__(self) -> None:
        check_fields(self, "Costs, ")
        if self.forward == self.row == 0:
            raise SettingError("Costs, forward", seen="0", expected="more than 0, so that time goes on")


@dataclass(frozen=True)
class Policy:
    """How a server schedules: vLLM's V0 engine was Policy("blocks", "none"), its V1 engine began as Policy()."""

    compile: Literal["parks", "blocks"] = "parks"  # only this request waits, or the whole batch
    overlap: Literal["none", "masks", "all"] = "none"  # what the CPU does during the forward pass; "all": also schedule

    def __post_init__(self) -> None:
        check_fields(self, "Policy, ")


def make_requests(
    count: int,
    *,
    per_second: float,
    tokens: int = 128,
    prompt: int = 0,
    constrained: float = 1.0,
    schemas: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    unique: bool = False,
    seed: int = 0,
) -> tuple[Request, ...]:
    """Requests at random times, `per_second` on average; a share of them has a schema.

    `schemas` has the milliseconds of a compile and of a mask of each schema. The schema of rank r is asked for in
    proportion to 1 / r. With `unique`, no two requests have the same schema.

    >>> [(request.schema, request.mask_ms) for request in make_requests(3, per_second=10, schemas=[(5, 0.1)])]
    [('schema 0', 0.1), ('schema 0', 0.1), ('schema 0', 0.1)]
    """
    check_number(AtLeastOne, count, "make_requests, count")
    check_number(Annotated[float, Between(1e-9)], per_second, "make_requests, per_second")
    check_number(Share, constrained, "make_requests, constrained")
    random = Random(seed)
    arrivals = accumulate(random.expovariate(per_second / 1e3) for _ in range(count))
    weights = [1 / rank for rank in range(1, len(schemas) + 1)]
    with_schema = set(random.sample(range(count), round(constrained * count)))
    found = []
    for number, arrives in enumerate(arrivals):
        request = Request(round(arrives, 3), tokens, prompt=prompt)
        if number in with_schema:
            (place,) = random.choices(range(len(schemas)), weights)
            compile_ms, mask_ms = schemas[place]
            name = f"schema {number if unique else place}"
            request = replace(request, schema=name, compile_ms=compile_ms, mask_ms=mask_ms)
        found.append(request)
    return tuple(found)
