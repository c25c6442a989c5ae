"""A plain host on loopback, in a thread."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

from guidedviz.host.engine import LocalEngine
from guidedviz.host.limits import Guard
from guidedviz.host.plain import PlainHost
from guidedviz.host.service import Service
from guidedviz.models.remote import RemoteModel, Wire, read_address

TOKEN = "a-token-of-the-class"


class Running:
    """A host that runs, and what is asked of it in a test."""

    def __init__(self, service, port=0, context=None):
        self.service, self._loop = service, asyncio.new_event_loop()
        self._host, ready = PlainHost(service), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(port, context, ready), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        self.address = f"http://127.0.0.1:{self.port}"

    def _run(self, port, context, ready):
        self.port = self._loop.run_until_complete(self._host.start("127.0.0.1", port, context))
        self._loop.call_soon(ready.set)
        self._loop.run_forever()

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._host.stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def model(self, token="", patience=5.0):
        return RemoteModel(Wire(read_address(self.address, token), patience=patience))


@contextmanager
def hosting(model, tokens=None, limits=None, port=0, cache=1 << 26, context=None):
    host = Running(Service(LocalEngine(model, cache), Guard(tokens or {}, limits)), port, context)
    try:
        yield host
    finally:
        host.stop()
