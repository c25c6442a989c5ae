"""Claims about POST /v1/look: it says what the library says, within a bound, and of one's own runs only."""

import pytest

import guidedviz as gv
from guidedviz.host.api import look
from guidedviz.views.dependence import pack_dependence
from tests.host.api.asking import ask_chat, refusal
from tests.host.api.test_again import WARM, name_of

LOOK = "/v1/look"


@pytest.fixture(scope="module")
def warm(clerk_host):
    """An answer that was drawn at temperature 1."""
    return ask_chat(clerk_host, WARM)


def test_it_is_what_the_library_says(clerk_host, warm):
    run = clerk_host.service.runs.find(name_of(warm))
    tokens = [*run.model.encode(run.plan.prompt), *(step.token for step in run.steps[:4])]
    found = gv.decoding.leave_out(run.model, tokens, run.steps[4].token)
    said = ask_chat(clerk_host, {"run": run.name, "step": 5}, LOOK)
    wanted = pack_dependence(found, 5)
    assert said["place"] == 5
    assert said["words"] == wanted["words"]
    assert [row[0] for row in said["rows"]] == [row[0] for row in wanted["rows"]]
    lost = [found.lost(part) for part in found.parts]
    assert [row[2] for row in said["rows"]] == pytest.approx(lost, abs=0.002)


def test_a_long_text_is_read_only_so_often(clerk_host, monkeypatch):
    monkeypatch.setattr(look, "MOST_PASSES", 16)
    body = {"model": "clerk", "prompt": "1 " * 40, "max_tokens": 1}
    said = ask_chat(clerk_host, body, "/v1/completions")
    rows = ask_chat(clerk_host, {"run": name_of(said), "step": 1}, LOOK)["rows"]
    assert 8 < len(rows) <= 16


@pytest.mark.parametrize(
    ("about", "status", "field"),
    [
        ({"run": "unknown"}, 404, "run"),
        ({"step": 0}, 400, "step"),
        ({"step": 1 << 40}, 400, "step"),
        ({"step": "1"}, 400, "step"),
        ({"token": 1}, 400, "token"),
    ],
)
def test_what_is_not_there_is_refused(clerk_host, warm, about, status, field):
    body = {"run": name_of(warm)} | about
    assert refusal(clerk_host, body, LOOK)[:2] == (status, field)
