"""Claims about many clients at once, and about clients that leave."""

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from guidedviz.host.limits import Limits
from tests.host.api.asking import CHAT, PERSON, ask_chat, refusal, send
from tests.host.running import TOKEN, hosting

OPEN_END = {"model": "clerk", "prompt": "The lamp", "structured_outputs": {"regex": "[a-z ]{900}"}, "max_tokens": 900}


def begin(host, body, path="/v1/completions"):
    """Ask, and read the begin of the answer."""
    text = json.dumps(body).encode()
    line = socket.create_connection(("127.0.0.1", host.port), timeout=10)
    head = [
        f"POST {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(text)}",
    ]
    line.sendall("\r\n".join([*head, "", ""]).encode() + text)
    return line


def wait_for(reached, seconds=10):
    end = time.monotonic() + seconds
    while not reached() and time.monotonic() < end:
        time.sleep(0.01)
    assert reached()


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_frees_its_rows_and_its_run_says_stopped(clerk_host, stream):
    kept = clerk_host.service.runs
    before = len(kept)
    line = begin(clerk_host, OPEN_END | {"stream": stream, "n": 2})
    wait_for(lambda: len(kept) == before + 2)
    runs = kept.of("127.0.0.1/", teacher=False)[:2]
    wait_for(lambda: all(len(run.steps) > 3 for run in runs))
    line.close()
    wait_for(lambda: all(run.verdict == "stopped" for run in runs))
    engine = clerk_host.service.engine
    wait_for(lambda: engine.waiting == 0 and engine._running.done())


def test_thirty_clients_at_once_each_get_their_answer(clerk_host):
    body = CHAT | {"response_format": PERSON, "max_tokens": 3}
    alone = ask_chat(clerk_host, body)["choices"]
    passes = clerk_host.service.engine.reader.passes
    with ThreadPoolExecutor(30) as clients:
        for answer in clients.map(ask_chat, [clerk_host] * 30, [body] * 30):
            assert answer["choices"] == alone
    assert clerk_host.service.engine.reader.passes - passes < 30 * 3  # texts share passes


def test_too_many_answers_at_once_are_refused(bard):
    body = {"model": "bard", "prompt": "To be", "max_tokens": 100}
    with hosting(bard, {"": TOKEN}, Limits(answers=1)) as host:
        assert refusal(host, body, "/v1/completions")[:2] == (401, "token")
        with ThreadPoolExecutor(4) as clients:
            asked = [clients.submit(send, host, "/v1/completions", body, token=TOKEN) for _ in range(4)]
            assert {one.result()[0] for one in asked} == {200, 429}
