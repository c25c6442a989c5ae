"""One claim for many schemas: a validator and our machines tell the good values from the bad ones."""

import json
from decimal import Decimal
from itertools import islice, permutations, product
from typing import Any

import guidedviz as gv

MOST_SPELLINGS = 120


def assert_decided(schema: Any, validator: Any, good: list[Any], bad: list[Any]) -> None:
    machines = [gv.json_schema(schema, extra_keys=mode) for mode in ("open", "closed")]
    for values, legal in ((good, True), (bad, False)):
        for value in values:
            assert validator.is_valid(value) == legal, value
            text = json.dumps(value).encode()
            assert [machine.accepts(text) for machine in machines] == [legal, legal], value


def choices(values, blanks, plain):
    """Every combination of spellings of the values."""
    spelled = [list(islice(spell(value, blanks, plain), MOST_SPELLINGS)) for value in values]
    return product(*spelled)


def spell(value, blanks=(", ", ": ", ""), plain=True):
    """A value with its keys in every order; integers without a fraction, characters escaped or plain."""
    comma, colon, around = blanks
    if isinstance(value, dict):
        for keys in permutations(value):
            heads = [json.dumps(key, ensure_ascii=False) + colon for key in keys]
            values = [value[key] for key in keys]
            for items in choices(values, blanks, plain):
                inside = comma.join(map("".join, zip(heads, items, strict=True)))
                yield around + "{" + around + inside + "}" + around
    elif isinstance(value, list):
        for items in choices(value, blanks, plain):
            inside = comma.join(items)
            yield around + "[" + around + inside + "]" + around
    elif isinstance(value, float):
        number = format(Decimal(repr(value)), "f")
        if value.is_integer():
            number = str(int(value))
        yield around + number + around
    else:
        yield around + json.dumps(value, ensure_ascii=not plain) + around
