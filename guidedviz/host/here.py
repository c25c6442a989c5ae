"""A host in this process, for a notebook: `host = start_host(model)`.

Where uvicorn and starlette are installed, it is the host of the command in a thread, on a free port of this machine.
Elsewhere, as in a browser tab, the functions that answer there are called without a socket (`api/direct.py`).
"""

import json
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from weakref import finalize

from guidedviz.decoding.trace import Trace
from guidedviz.errors import SettingError
from guidedviz.extras import is_missing
from guidedviz.host.api.direct import DirectDesk, DirectEngine
from guidedviz.host.api.plan import Guides
from guidedviz.host.api.run_page import trace_with_guide
from guidedviz.host.api.runs import KeptRuns
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import Guard
from guidedviz.models.connection import read_error
from guidedviz.models.language_model import LanguageModel


@dataclass(eq=False)
class HostHere:
    """A host of this process. It ends when no name refers to it any more."""

    address: str  # "" without a socket
    _answer: Callable[[bytes], Any]
    _runs: KeptRuns
    _guides: Guides  # of this thread

    def ask(self, body: Mapping[str, Any]) -> Any:
        """The answer to a body of /v1/chat/completions, which urllib sends if there is a socket."""
        return self._answer(json.dumps(body).encode())

    def trace(self, reply: Mapping[str, Any]) -> Trace:
        """The run of an answer, for `gv.stage` and `gv.diagnose`."""
        name = reply["guidedviz"]["run"].rpartition("/")[2]
        return trace_with_guide(self._guides, self._runs.find(name))


def start_host(model: LanguageModel) -> HostHere:
    """Start a host of a loaded model in this process.

    >>> host = start_host(gv.load_model("clerk"))
    >>> messages = [{"role": "user", "content": "Is it pink?"}]
    >>> answer = host.ask({"model": "clerk", "messages": messages, "structured_outputs": {"choice": ["yes"]}})
    >>> answer["choices"][0]["message"]["content"]
    'yes'
    """
    guides = Guides(model.vocabulary)
    if is_missing("uvicorn") or is_missing("starlette"):
        desk = DirectDesk(DirectEngine(model))
        return HostHere("", desk.answer, desk.runs, guides)
    from guidedviz.host.app import Service
    from guidedviz.host.server import listen, make_server

    service = Service(Engine(model), Guard({}))
    line = listen("127.0.0.1", 0)
    server = make_server(service)

    def serve_on() -> None:
        server.run(sockets=[line])
        service.engine.close()

    Thread(target=serve_on, name="guidedviz-host", daemon=True).start()
    address = f"http://127.0.0.1:{line.getsockname()[1]}"
    host = HostHere(address, partial(send_chat, address), service.runs, guides)
    finalize(host, setattr, server, "should_exit", True)
    return host


def send_chat(address: str, body: bytes) -> Any:
    """The answer of a host of this machine, which no proxy stands before."""
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{address}/v1/chat/completions", body, headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request) as answer:
            return json.load(answer)
    except HTTPError as error:
        said = read_error(error.read())
        if not said:
            raise
        raise SettingError(said["where"], seen=said["seen"], expected=said["expected"], hint=said["try"]) from None
