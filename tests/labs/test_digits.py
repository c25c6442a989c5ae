"""No output prints a figure of a model to more than four significant digits: the fifth differs between processors."""

import json
import re

import nbformat
import pytest

from tests.labs.sources import NAMES, build

MOST = 4
IMAGE = re.compile(r'data:image/[^"]*')  # its text is not compared between machines
FIGURE = re.compile(r"(?<![\w.])\d[\d,]*\.\d+(?:e[-+]?\d+)?")  # a whole number is a count
EXACT = {  # what stands in the code of a cell whose figures are no model's, and what they are
    "apply_bias([0.0, 200.0]": "the softmax of two given logits",
    "print(match(7, 5)": "dot products of two given vectors in double precision",
    "simulate(five, costs": "milliseconds of a simulated server, in Python's own numbers",
    "simulate(three, costs": "milliseconds of a simulated server, in Python's own numbers",
}


def digits(figure):
    """How many significant digits a number has.

    >>> digits("0.0346881"), digits("1,234.50"), digits("3.72e-44")
    (6, 6, 3)
    """
    mantissa = figure.split("e")[0]
    return len(mantissa.replace(",", "").replace(".", "").lstrip("0"))


def texts_of(output):
    """What is compared of an output: what was printed, or one text for each form that it has."""
    if output.output_type == "stream":
        return [output.text]
    forms = output.get("data", {}).values()
    return [form if isinstance(form, str) else json.dumps(form) for form in forms]


def long_figures(cell):
    """The figures of a cell with too many digits; where times are measured, nobody compares them."""
    if cell.cell_type != "code" or "NBVAL_IGNORE_OUTPUT" in cell.source:
        return []
    figures = []
    for output in cell.outputs:
        for text in texts_of(output):
            figures += FIGURE.findall(IMAGE.sub("", text))
    return [figure for figure in figures if digits(figure) > MOST]


def is_exact(cell):
    """Whether the figures of a cell are no model's."""
    return any(code in cell.source for code in EXACT)


def cells_of(name, solved):
    return nbformat.read(build.target(name, solved), as_version=4).cells


@pytest.mark.parametrize("solved", [False, True], ids=["open", "solved"])
@pytest.mark.parametrize("name", NAMES)
def test_no_figure_of_a_model_has_more_than_four_digits(name, solved):
    cells = [cell for cell in cells_of(name, solved) if not is_exact(cell)]
    found = {cell.id: long_figures(cell) for cell in cells}
    too_long = {cell: figures for cell, figures in found.items() if figures}
    assert not too_long, "print fewer digits, such as gv.sampling.probability(p) or {p:.4g}"


def test_the_figures_of_prints_pages_and_charts_are_read():
    page = {"text/html": 'p = 0.1547991 <img src="data:image/png;base64,1.23456789">', "text/plain": "0.25, 12,345"}
    chart = {"application/vnd.plotly.v1+json": {"y": [1, 103.16936]}}
    outputs = [{"output_type": "stream", "name": "stdout", "text": "1.00000e-05"}]
    outputs += [{"output_type": "display_data", "metadata": {}, "data": data} for data in (page, chart)]
    cell = nbformat.from_dict({"cell_type": "code", "source": "", "outputs": outputs})
    assert long_figures(cell) == ["1.00000e-05", "0.1547991", "103.16936"]
