"""Claims about a host in the process of a notebook, with a socket and without one."""

import socket
import time
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

import guidedviz as gv
from guidedviz.host import here
from guidedviz.host.api.direct import finish_at_once
from tests.host.api.asking import CHAT, PERSON


@pytest.fixture(scope="module")
def served(clerk):
    return here.start_host(clerk)


@pytest.fixture
def direct(clerk, monkeypatch):
    """The host of a place where uvicorn and starlette are not installed."""
    monkeypatch.setattr(here, "is_missing", lambda package: True)
    return here.start_host(clerk)


def settled(reply):
    """An answer without the name of its run and its time."""
    own = {**reply["guidedviz"], "run": ""}
    return {**reply, "id": "", "created": 0, "guidedviz": own}


BODIES = {
    "schema": {"response_format": PERSON},
    "choice": {"structured_outputs": {"choice": ["yes", "no"]}, "logprobs": True, "top_logprobs": 0},
    "ebnf": {"ebnf": 'root ::= "a" root | "b"', "temperature": 1, "seed": 5},
    "stop": {"regex": "[a-z ]+", "stop": ["e"]},
    "cut": {"regex": "[0-9]{9}", "max_tokens": 2},
}


@pytest.mark.parametrize("fields", BODIES.values(), ids=BODIES)
def test_an_answer_without_a_socket_is_the_answer_of_the_host(served, direct, fields):
    one, other = served.ask(CHAT | fields), direct.ask(CHAT | fields)
    assert served.address.startswith("http://127.0.0.1:")
    assert one["guidedviz"]["run"].startswith(f"{served.address}/runs/")
    assert direct.address == ""
    logs = [reply["choices"][0].pop("logprobs") for reply in (one, other)]
    assert bool(logs[0]) == bool(logs[1]) == ("logprobs" in fields)
    assert settled(one) == settled(other)


def test_the_run_of_an_answer_is_a_trace_with_its_guide(served, direct):
    for host in (served, direct):
        reply = host.ask(CHAT | {"response_format": PERSON})
        trace = host.trace(reply)
        assert trace.text == reply["choices"][0]["message"]["content"] == '{"name": "Ada Lovelace", "age": 36}'
        assert trace.steps[-1].end == "eos"
        assert trace.guide


REFUSED = {
    "a removed field": ({"guided_json": {}}, "guided_json: saw a field that was removed"),
    "another model": ({"model": "bard"}, "model: saw 'bard'"),
    "a wrong bias": ({"logit_bias": {"99999": 1}}, "99999"),
}


@pytest.mark.parametrize(("fields", "said"), REFUSED.values(), ids=REFUSED)
def test_what_the_host_refuses_is_an_error_in_both(served, direct, fields, said):
    for host in (served, direct):
        with pytest.raises(gv.GuidedVizError) as caught:
            host.ask(CHAT | fields)
        assert said in str(caught.value).replace('"', "'")


@pytest.mark.parametrize("fields", [{"stream": True}, {"n": 2}])
def test_without_a_socket_there_is_one_whole_answer(direct, fields):
    with pytest.raises(gv.SettingError, match="no socket"):
        direct.ask(CHAT | fields)


def test_a_host_that_nobody_names_any_more_ends(bard, collect):
    host = here.start_host(bard)
    port = urlsplit(host.address).port
    socket.create_connection(("127.0.0.1", port)).close()
    del host
    collect()
    deadline = time.monotonic() + 10
    with suppress(ConnectionRefusedError):
        while time.monotonic() < deadline:
            socket.create_connection(("127.0.0.1", port)).close()
            time.sleep(0.05)
        pytest.fail("it still listens")


def test_a_coroutine_that_waits_is_an_error():
    class Waits:
        def __await__(self):
            yield

    async def wait():
        await Waits()

    with pytest.raises(RuntimeError, match="no event loop"):
        finish_at_once(wait())
