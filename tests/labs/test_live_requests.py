"""The page of requests prints the same with the client of OpenAI, with urllib, and without a socket."""

import json
import sys
from urllib.request import build_opener

import nbformat
import pytest

from guidedviz.host import here
from tests.labs.sources import build

NAME = "deeper/a_request"
BEGINS = ("import importlib", "class Order", "host, client", "content = ", "price, colors", "replies = ")


def run_requests():
    """What the cells of the requests leave behind."""
    pytest.importorskip("pydantic")
    codes = [code for kind, code in build.read_cells(build.read_source(NAME)) if kind == "code"]
    space = {"__name__": "__main__"}
    for begin in BEGINS:
        (code,) = [code for code in codes if code.startswith(begin)]
        exec(code, space)
    return space


def committed():
    cells = nbformat.read(build.target(NAME, False), as_version=4).cells
    (cell,) = [cell for cell in cells if cell.source.startswith("replies = ")]
    return cell.outputs[0].text


@pytest.mark.parametrize("way", ["openai", "urllib", "direct"])
def test_a_request_prints_the_same_whoever_sends_it(way, monkeypatch, capsys):
    if way == "openai":
        pytest.importorskip("openai")
    else:
        monkeypatch.setitem(sys.modules, "openai", None)
    if way == "direct":
        monkeypatch.setattr(here, "is_missing", lambda package: True)
    sent = []

    def count(*handlers):
        sent.append("urllib")
        return build_opener(*handlers)

    monkeypatch.setattr(here.urllib.request, "build_opener", count)
    space = run_requests()
    assert capsys.readouterr().out == committed()
    assert bool(space["client"]) == (way == "openai")
    assert len(sent) == (len(space["bodies"]) if way == "urllib" else 0)


def test_the_bodies_hold_the_fields_of_three_servers_and_no_output_holds_an_address():
    used = {field for fields in run_requests()["bodies"].values() for field in fields}
    assert used == {"response_format", "structured_outputs", "regex", "ebnf", "json_schema"}
    for solved in (False, True):
        text = json.dumps([cell.get("outputs") for cell in nbformat.read(build.target(NAME, solved), 4).cells])
        assert "127.0.0.1" not in text
        assert "/runs/" not in text
