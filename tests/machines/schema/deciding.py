"""One claim for many schemas: a validator and our machines tell the good values from the bad ones."""

import json
from typing import Any

import guidedviz as gv


def assert_decided(schema: Any, validator: Any, good: list[Any], bad: list[Any]) -> None:
    machines = [gv.json_schema(schema, extra_keys=mode) for mode in ("open", "closed")]
    for values, legal in ((good, True), (bad, False)):
        for value in values:
            assert validator.is_valid(value) == legal, value
            text = json.dumps(value).encode()
            assert [machine.accepts(text) for machine in machines] == [legal, legal], value
