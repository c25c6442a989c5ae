"""Bounded numbers are decided as arithmetic decides them."""

import itertools
import math
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import guidedviz as gv

INTEGER, DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)"), re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")
ODD = ["", " 1", "1 ", *"- +1 01 -01 1. .5 -.5 1e2 1E-2 0x1 1,0 00 --1 Infinity NaN".split()]

digits = st.text(st.sampled_from("0159"), min_size=1, max_size=4)
decimals = st.builds(
    lambda sign, whole, fraction: Decimal(f"{sign}{whole}.{fraction}"), st.sampled_from(["", "-"]), digits, digits
) | st.sampled_from(
    [Decimal(text) for text in ("0", "0.5", "-0.5", "9.99", "100", "-1", "1e-9", "1e20", "0.05", "0.5004")]
)
KEYS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")


def is_legal(text, form, bounds):
    """The rule of the docstring in arithmetic: no minus where nothing below zero is left."""
    if not form.fullmatch(text):
        return False
    value = Decimal(text)
    above = all(value >= bounds[key] if key == "minimum" else value > bounds[key] for key in KEYS[:2] if key in bounds)
    below = all(value <= bounds[key] if key == "maximum" else value < bounds[key] for key in KEYS[2:] if key in bounds)
    least = max((bounds[key] for key in KEYS[:2] if key in bounds), default=Decimal(-1))
    if form is INTEGER:
        least = math.floor(least) + 1 if bounds.get("exclusiveMinimum") == least else math.ceil(least)
    return above and below and not (text.startswith("-") and least >= 0)


def near(bound):
    """Numerals around a bound: itself, neighbours in its last digit, longer and shorter ones, both signs."""
    step = Decimal(1).scaleb(bound.as_tuple().exponent)
    for value in (bound, bound + step, bound - step, bound + step / 10, bound - step / 10, bound * 10, bound / 10):
        text = format(value, "f")
        yield from (text, text.removeprefix("-"), f"-{text}", text + "0", text.split(".")[0], text.split(".")[0] + ".0")
        yield from (text[:-1], text + ".00", text.rstrip("0"), text.rstrip("0").rstrip("."))


def test_a_long_bound_is_not_rounded():
    bound = 10**40 + 7
    machine = gv.json_schema({"type": "number", "minimum": -bound, "maximum": bound})
    for sign in ("", "-"):
        assert machine.accepts(f"{sign}{bound}".encode())
        assert not machine.accepts(f"{sign}{bound + 1}".encode())


@given(st.dictionaries(st.sampled_from(KEYS), decimals, max_size=3), st.booleans(), st.lists(decimals, max_size=8))
def test_bounds_are_exact(bounds, whole, others):
    form = INTEGER if whole else DECIMAL
    texts = [text for value in [*bounds.values(), *others] for text in near(value)] + ODD
    texts += [str(value) for value in range(-12, 13)] + ["-0", "0.0", "-0.0"]
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


@pytest.mark.parametrize(("low", "high"), [("0.5", "0.5004"), ("0.05", "0.0501"), ("1", "1.002"), ("7.25", "7.255")])
@pytest.mark.parametrize(("above", "under"), itertools.product(KEYS[:2], KEYS[2:]))
def test_bounds_that_begin_alike_are_exact(low, high, above, under):
    bounds = {above: Decimal(low), under: Decimal(high)}
    machine = gv.json_schema({"type": "number", **bounds})
    for step in range(-30, 80):
        text = format(Decimal(low) + Decimal(step) / 10_000, "f")
        for numeral in (text, text + "0", text.rstrip("0").rstrip(".")):
            assert machine.accepts(numeral.encode()) == is_legal(numeral, DECIMAL, bounds), numeral
