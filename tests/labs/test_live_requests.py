"""What sends requests prints the same with the client of OpenAI, with urllib, and without a socket."""

import json
import sys
from urllib.request import build_opener

import nbformat
import pytest

from guidedviz.host import here
from tests.labs.sources import build, run_cells

NAME = "deeper/a_request"
LAB = "14_in_production"
LAB_BEGINS = ("import json", "clerk = ", "host = start_host")
BEGINS = ("import importlib", "class Order", "host, client", "content = ", "price, colors", "replies = ")


def run_requests(name=NAME, begins=BEGINS):
    """What the cells of the requests leave behind."""
    if name == NAME:
        pytest.importorskip("pydantic")
    return run_cells(name, *begins, __name__="__main__")


def committed(name, begin):
    cells = nbformat.read(build.target(name, False), as_version=4).cells
    (cell,) = [cell for cell in cells if cell.source.startswith(begin)]
    return cell.outputs[0].text


@pytest.fixture(params=["openai", "urllib", "direct"])
def way(request, monkeypatch):
    """Who sends the requests."""
    if request.param == "openai":
        pytest.importorskip("openai")
    else:
        monkeypatch.setitem(sys.modules, "openai", None)
    if request.param == "direct":
        monkeypatch.setattr(here, "is_missing", lambda package: True)
    return request.param


@pytest.fixture
def sent(monkeypatch):
    """What urllib sends."""
    found = []

    def count(*handlers):
        found.append("urllib")
        return build_opener(*handlers)

    monkeypatch.setattr(here.urllib.request, "build_opener", count)
    return found


@pytest.mark.quick("openai")
def test_a_request_prints_the_same_whoever_sends_it(way, sent, capsys):
    space = run_requests()
    assert capsys.readouterr().out == committed(NAME, "replies = ")
    assert bool(space["client"]) == (way == "openai")
    assert len(sent) == (len(space["bodies"]) if way == "urllib" else 0)


@pytest.mark.quick("urllib")
def test_the_request_of_lab_14_prints_the_same_and_its_run_is_kept(way, sent, capsys):
    space = run_requests(LAB, LAB_BEGINS)
    said = capsys.readouterr().out
    assert said == committed(LAB, "host = start_host")
    run = space["host"].trace(space["reply"])
    assert f"{run.text}\n" == said
    assert run.steps[10].piece == b"pink", "the stage opens there"
    assert ("client" in space, len(sent)) == (way == "openai", int(way == "urllib"))


@pytest.mark.parametrize("name", [NAME, LAB])
def test_no_output_holds_an_address(name):
    text = json.dumps([cell.get("outputs") for cell in nbformat.read(build.target(name, True), 4).cells])
    assert "127.0.0.1" not in text
    assert "/runs/" not in text
