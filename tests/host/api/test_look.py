"""Claims about POST /v1/look: it says what the library says, within a bound, and of one's own runs only."""

import pytest

import guidedviz as gv
from guidedviz.host.api import look
from guidedviz.views.dependence import pack_dependence
from tests.host.api.asking import ask_chat, refusal, send
from tests.host.api.test_again import WARM, name_of
from tests.host.api.test_runs import ADA, BOB
from tests.host.running import hosting

LOOK = "/v1/look"


@pytest.fixture(scope="module")
def warm(clerk_host):
    """An answer that was drawn at temperature 1."""
    return ask_chat(clerk_host, WARM)


def test_it_is_what_the_library_says(clerk_host, warm):
    run = clerk_host.service.runs.find(name_of(warm))
    drawn = [step.token for step in run.steps[:4]]
    tokens = [*run.model.encode(run.plan.prompt), *drawn]
    found = gv.decoding.leave_out(run.model, tokens, run.steps[4].token)
    said = ask_chat(clerk_host, {"run": run.name, "step": 5}, LOOK)
    assert said["place"] == 5
    assert said["words"] == pack_dependence(found, 5)["words"]
    rows = pack_dependence(found, 5)["rows"]
    assert [row[0] for row in said["rows"]] == [row[0] for row in rows]
    for row, part in zip(said["rows"], found.parts, strict=True):
        assert row[2] == pytest.approx(found.lost(part), abs=0.002)


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


def test_a_run_of_another_student_is_not_read_again(bard):
    with hosting(bard, {"ada": ADA, "bob": BOB}) as host:
        said = ask_chat(host, {"model": "bard", "prompt": "To be", "max_tokens": 2}, "/v1/completions", token=ADA)
        body = {"run": name_of(said), "step": 2}
        statuses = [send(host, LOOK, body, token=token)[0] for token in (ADA, BOB, "")]
        assert statuses == [200, 403, 401]
        assert send(host, LOOK, body, token=ADA, Origin="http://evil.example")[0] == 403
