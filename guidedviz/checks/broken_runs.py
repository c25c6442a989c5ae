"""The exercise on a run that nobody has explained: three services with one fault each, and a seed that chooses.

A fault is a keyword of the schema that refuses the right answer. The verdict tests the keyword that is named: it leaves
it out of the schema, and asks whether the rest accepts the right answer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from operator import index
from typing import Any

from guidedviz.checks.function import is_empty
from guidedviz.checks.guard import safe_copy
from guidedviz.checks.verdict import NOT_BEGUN, Verdict, show
from guidedviz.decoding.looks import LOW_MASS
from guidedviz.decoding.loop import record
from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError, quoted
from guidedviz.machines.machine import Machine
from guidedviz.machines.schema.json_schema import json_schema
from guidedviz.models.load import load_model
from guidedviz.tokens.build_guide import guide

PATIENT_MODEL = "clerk"
EXPLAINED_FORM = '{"seed": 1, "step": 8, "cause": "maxLength"}'


@dataclass(frozen=True)
class BrokenService:
    """A sentence that a service reads, the right answer, and the schema: a product, a color and a price."""

    sentence: str
    right: str
    product: Mapping[str, Any]
    color: Mapping[str, Any]
    price: Mapping[str, Any]

    def schema(self, without: str = "") -> str:
        """The schema, or what is left of it without a keyword."""
        properties = {}
        for name in ("product", "color", "price"):
            rules: Mapping[str, Any] = getattr(self, name)
            properties[name] = {keyword: value for keyword, value in rules.items() if keyword != without}
        return json.dumps({"type": "object", "properties": properties, "required": [*properties]})

    def machine(self, without: str = "") -> Machine[Any]:
        """The machine of the schema, or of what is left of it without a keyword."""
        return json_schema(self.schema(without))

    @property
    def keywords(self) -> set[str]:
        """The keywords that the schema has for its values."""
        return {*self.product, *self.color, *self.price}


ANY_PRODUCT = {"type": "string", "minLength": 1, "maxLength": 30}
ANY_COLOR = {"enum": ["red", "green", "pink", "blue"]}
# Without `multipleOf`: 100 would explain the run of the box as well as its `minimum` of 20 does.
ANY_PRICE = {"type": "number", "minimum": 0, "maximum": 100}
SERVICES = (
    BrokenService(
        "The lamp is pink and costs $12.50.",
        '{"product": "lamp", "color": "pink", "price": 12.5}',
        ANY_PRODUCT | {"minLength": 10},
        ANY_COLOR,
        ANY_PRICE,
    ),
    BrokenService(
        "The box is red and costs $12.50.",
        '{"product": "box", "color": "red", "price": 12.5}',
        ANY_PRODUCT,
        ANY_COLOR,
        ANY_PRICE | {"minimum": 20},
    ),
    BrokenService(
        "The chair is green and costs $20.",
        '{"product": "chair", "color": "green", "price": 20}',
        ANY_PRODUCT,
        {"enum": ["Red", "Green", "Pink", "Blue"]},
        ANY_PRICE,
    ),
)
LAMP = BrokenService(  # of the example that a class looks at; two keywords refuse the right answer
    "The lamp is pink and costs $12.50.",
    '{"product": "lamp", "color": "pink", "price": 12.5}',
    {"type": "string"},
    {"enum": ["red", "green", "blue"]},
    {"type": "number", "maximum": 10},
)


def broken_run(seed: int) -> Trace:
    """One of three broken runs; which one, the seed says.

    >>> broken_run(4).text
    '{"product": "box", "color": "red", "price": 100.0}'
    """
    number = _whole(seed)
    if number is None:
        hint = "your seat, or the day of your birthday"
        raise SettingError("broken_run, seed", seen=quoted(seed), expected="a whole number", hint=hint)
    return _decode(number % len(SERVICES))


@cache
def _decode(number: int) -> Trace:
    return run_of(SERVICES[number])


def run_of(service: BrokenService) -> Trace:
    """What the model writes under the schema of a service.

    >>> run_of(LAMP).text
    '{"product": "lamp", "color": "green", "price": 1.5}'
    """
    prompt = f"{service.sentence}\nJSON with product, color, price:\n"
    model = load_model(PATIENT_MODEL)
    constraint = guide(service.machine(), model.vocabulary)
    return record(model, prompt, constraint, temperature=0)


def check_broken(answer: Any) -> Verdict:
    """Do the step, counted from 1, and the keyword in `answer` explain the run of its seed?

    >>> check_broken({"seed": 4, "step": 18, "cause": "maximum"})
    ✗ not yet right: the step is right, the cause is not
        cause       'maximum'
        because     without it the schema still refuses {"product": "box", "color": "red", "price": 12.5}
    """
    found = safe_copy(answer)
    if is_empty(found):
        return NOT_BEGUN
    if not isinstance(found, dict) or set(found) != {"seed", "step", "cause"}:
        return _wrong("seed, step and cause are expected", "answer", found, f"its form is {EXPLAINED_FORM}")
    seed = _whole(found["seed"])
    step = _whole(found["step"])
    if seed is None:
        return _wrong("the seed is no whole number", "seed", found["seed"], "give the seed of your run")
    run = broken_run(seed)
    last = len(run.steps)
    if step is None or not 1 <= step <= last:
        return _wrong("the run has no such step", "step", found["step"], f"its steps have the numbers 1 to {last}")
    because = _judge_step(run, step)
    if because:
        return _wrong("the fault is at another step", "step", step, because)
    service = SERVICES[seed % len(SERVICES)]
    because = _judge_cause(service, found["cause"])
    if because:
        return _wrong("the step is right, the cause is not", "cause", found["cause"], because)
    return Verdict("right", f"without this keyword the schema accepts {service.right}")


def _wrong(said: str, name: str, value: Any, because: str) -> Verdict:
    return Verdict("wrong", said, ((name, show(value)), ("because", because)))


def _whole(value: Any) -> int | None:
    """A whole number of any type; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def _judge_step(run: Trace, step: int) -> str:
    """What is wrong with a step; "" for the first one at which the mask refused most of what the model wanted."""
    first = next(number for number, one in enumerate(run.steps, 1) if one.mass < LOW_MASS)
    mass = run.steps[step - 1].mass
    if mass >= LOW_MASS:
        return f"Z is {mass:.2f} there: the mask refuses little of what the model wants"
    if step > first:
        return "the mask refuses much there, too, but the text had left the right one before: look at Z from the start"
    return ""


def _judge_cause(service: BrokenService, cause: Any) -> str:
    """What is wrong with a cause; "" for the keyword without which the right answer is accepted."""
    words = set(re.findall("[a-z]+", str(cause).lower()))
    named = [keyword for keyword in sorted(service.keywords) if keyword.lower() in words]
    if len(named) != 1:
        return "name one keyword of JSON Schema that this run's schema has, such as `maxLength`"
    places = {name for name in ("product", "color", "price") if named[0] in getattr(service, name)}
    asked = words & {"product", "color", "price"}
    if asked and not asked & places:
        return f"the schema has no `{named[0]}` there"
    machine = service.machine(without=named[0])
    if machine.accepts(service.right.encode()):
        return ""
    return f"without it the schema still refuses {service.right}"
