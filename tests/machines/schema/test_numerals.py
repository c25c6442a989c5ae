"""Bounded numbers are decided as arithmetic decides them."""

import math
import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv
from tests.common import assert_reads

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
ODD = ["", " 1", "1 ", *"- +1 01 1. .5 1e2 1E-2 --1 NaN".split()]

digits = st.text(st.sampled_from("0159"), min_size=1, max_size=4)
signs = st.sampled_from(["", "-"])
plain = st.builds("{}{}.{}".format, signs, digits, digits)
odd = st.sampled_from("0 0.5 -0.5 9.99 100 -1 1e-9 1e20 0.05 0.5004 7.25 7.255".split())
decimals = (plain | odd).map(Decimal)
KEYS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
LOWEST = Decimal("-Infinity")
HIGHEST = Decimal("Infinity")


def is_legal(text, form, bounds):
    """The rule of the docstring in arithmetic: no minus where nothing below zero is left."""
    if not form.fullmatch(text):
        return False
    value = Decimal(text)
    minimum = bounds.get("minimum", LOWEST)
    exclusive_minimum = bounds.get("exclusiveMinimum", LOWEST)
    maximum = bounds.get("maximum", HIGHEST)
    exclusive_maximum = bounds.get("exclusiveMaximum", HIGHEST)
    inside = minimum <= value <= maximum and exclusive_minimum < value < exclusive_maximum
    lower = [bounds[key] for key in KEYS[:2] if key in bounds]
    least = max(lower, default=Decimal(-1))
    if form is INTEGER:
        exclusive = exclusive_minimum == least
        least = math.floor(least) + 1 if exclusive else math.ceil(least)
    return inside and not (text.startswith("-") and least >= 0)


def near(bound):
    """Numerals around a bound: itself, neighbours in its last digit, longer and shorter ones, both signs."""
    step = Decimal(1).scaleb(bound.as_tuple().exponent)
    tenth = step / 10
    for value in (bound, bound + step, bound - step, bound + tenth, bound - tenth, bound * 10, bound / 10):
        text = format(value, "f")
        whole = text.split(".")[0]
        yield from (text, f"-{text}", text.removeprefix("-"), whole, whole + ".0", text[:-1], text + "0")


def test_a_long_bound_is_not_rounded():
    bound = 10**40 + 7
    machine = gv.json_schema({"type": "number", "minimum": -bound, "maximum": bound})
    assert_reads(machine, [f"{bound}", f"-{bound}"], [f"{bound + 1}", f"-{bound + 1}"])


some_bounds = st.dictionaries(st.sampled_from(KEYS), decimals, max_size=3)


@given(some_bounds, st.booleans(), st.lists(decimals, max_size=8))
def test_bounds_are_exact(bounds, whole, others):
    form = INTEGER if whole else DECIMAL
    values = [*bounds.values(), *others]
    texts = [text for value in values for text in near(value)]
    texts += [str(value) for value in range(-12, 13)]
    texts += [*ODD, "-0", "0.0", "-0.0"]
    wanted = [text for text in texts if is_legal(text, form, bounds)]
    try:
        machine = gv.json_schema({"type": "integer" if whole else "number", **bounds})
    except gv.PatternError as error:
        if "bounds with no" not in str(error):
            raise
        machine = gv.json_schema(False)
    exponents = not whole and not bounds
    for text in texts:
        legal = text in wanted or (exponents and text in ("1e2", "1E-2"))
        assert machine.accepts(text.encode()) == legal, (bounds, whole, text)
