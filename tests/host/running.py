"""A host on loopback, in a thread."""

import threading
from contextlib import contextmanager

from guidedviz.host.app import Service
from guidedviz.host.batcher import Engine
from guidedviz.host.limits import Guard
from guidedviz.host.server import listen, make_server
from guidedviz.models.connection import Connection, read_address
from guidedviz.models.remote import RemoteModel

TOKEN = "a-token-of-the-class"


class Running:
    """A host that runs, and what is asked of it in a test."""

    def __init__(self, service, port=0, files=(None, None)):
        self.service, line = service, listen("127.0.0.1", port)
        self.port = line.getsockname()[1]
        self.server = make_server(service, *files)
        scheme = "https" if files[0] else "http"
        self.address = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self.server.run, args=([line],), daemon=True)
        self._thread.start()

    @property
    def lines(self):
        return self.server.server_state.connections

    def stop(self):
        self.server.config.timeout_graceful_shutdown = 0.2  # not two seconds for a follower who waits for a step
        self.server.should_exit = True
        self._thread.join(10)
        self.service.engine.close()

    def wire(self, token="", **settings):
        return Connection(read_address(self.address, token), **settings)

    def model(self, token="", patience=5.0):
        return RemoteModel(self.wire(token, patience=patience))


@contextmanager
def hosting(model, tokens=None, limits=None, port=0, cache=1 << 26, files=(None, None), whole=True):
    service = Service(Engine(model, cache), Guard(tokens or {}, limits), whole)
    host = Running(service, port, files)
    try:
        yield host
    finally:
        host.stop()
