"""The meter of the legal mass Z leaves room for its number."""

import xml.etree.ElementTree as ET

import pytest

from guidedviz.views.charts.distribution import write_meter


@pytest.mark.parametrize("mass", [1.0, 0.5, 1.6e-5, 1e-12, 0.0])
def test_the_bar_ends_before_the_number_begins(mass):
    parts = list(ET.fromstring(f"<g>{write_meter(12, 282, 46, mass)}</g>"))
    bar, number = parts[1], parts[-1]
    ends = float(bar.get("x")) + float(bar.get("width"))
    assert ends < float(number.get("x")) - 7.4 * len(number.text)
