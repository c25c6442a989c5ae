"""Serve the application with uvicorn in this process, within bounds that uvicorn leaves open.

A request has to be whole in time, an answer has to be read in time, and an address has only so many connections: if it
opens more, the one that has waited longest without a request is closed.
"""

import argparse
import asyncio
import json
import signal
import socket
from collections import Counter, defaultdict
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from guidedviz.errors import SettingError
from guidedviz.host.app import Service
from guidedviz.host.limits import is_loopback

MOST_HEAD = 1 << 14  # bytes
SECONDS_TO_ASK = 10.0  # for the head of a request, from the first byte on
SECONDS_TO_READ = 20.0  # for the next part of an answer
SECONDS_IDLE = 120  # between two requests
SECONDS_TO_END = 2  # for the requests that run when the host ends
CONNECTIONS, PER_ADDRESS = 4000, 1000


class Crowd:
    """The connections of a server by address: how many, and those without a request, the oldest first."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.idle: defaultdict[str, dict[Line, None]] = defaultdict(dict)

    def make_room(self, address: str) -> None:
        """Where there are too many, close the one that has waited longest: of this address, or of the largest crowd."""
        if self.count[address] > PER_ADDRESS:
            crowd = self.idle[address]
        elif self.count.total() > CONNECTIONS:
            crowd = max(self.idle.values(), key=len)
        else:
            return
        if line := next(iter(crowd), None):
            line.wait(False)
            line.transport.abort()


class Line(H11Protocol):
    """A connection."""

    def __init__(self, crowd: Crowd, **options: Any) -> None:
        super().__init__(**options)
        self._crowd, self._address = crowd, ""
        self._unasked: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; where there are too many, another one makes room."""
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # two writes an answer
        self._address = self.client[0] if self.client else ""
        self._unasked = self.loop.call_later(SECONDS_TO_ASK, transport.abort)
        self._crowd.count[self._address] += 1
        self.wait(True)
        self._crowd.make_room(self._address)

    def wait(self, waits: bool) -> None:
        """Say whether this connection has no request that is answered."""
        idle = self._crowd.idle[self._address]
        idle.pop(self, None)
        if waits:
            idle[self] = None
        elif not idle:
            del self._crowd.idle[self._address]

    def data_received(self, data: bytes) -> None:
        """Read; a head that has begun has a deadline, however slowly it comes."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._unasked = self._unasked or self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)
            return
        self.wait(False)
        if self._unasked:
            self._unasked.cancel()
            self._unasked = None

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self.wait(True)

    def pause_writing(self) -> None:
        """The answer is not read: it has a deadline."""
        super().pause_writing()
        self._unread = self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

    def resume_writing(self) -> None:
        """The answer is read again."""
        super().resume_writing()
        if self._unread:
            self._unread.cancel()

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        for timer in (self._unasked, self._unread):
            if timer:
                timer.cancel()
        self._crowd.count[self._address] -= 1
        if not self._crowd.count[self._address]:
            del self._crowd.count[self._address]
        self.wait(False)
        super().connection_lost(error)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in four parts."""
        if self.cycle is None or self.cycle.response_complete:
            parts = {"where": "request", "seen": "no HTTP/1.1", "try": ""}
            parts["expected"] = f"METHOD /path HTTP/1.1, a Host, and at most {MOST_HEAD} bytes of headers"
            body = json.dumps({"error": parts})
            head = ["HTTP/1.1 400 Bad Request", "Content-Type: application/json", f"Content-Length: {len(body)}"]
            self.transport.write("\r\n".join([*head, "Connection: close", "", body]).encode())
        self.transport.close()


class Server(uvicorn.Server):
    """A server whose connections have to agree on HTTPS in time, for which uvicorn has no setting."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        if self.config.is_ssl:
            loop: Any = asyncio.get_running_loop()
            loop.create_server = partial(loop.create_server, ssl_handshake_timeout=SECONDS_TO_ASK)
        await super().startup(sockets)


def make_server(service: Service, certificate: Path | None = None, key: Path | None = None) -> Server:
    """A server with these bounds."""
    return Server(
        uvicorn.Config(
            service.app,
            loop="asyncio",
            http=partial(Line, Crowd()),  # type: ignore[arg-type]
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,  # anybody may write them
            server_header=False,
            date_header=False,
            timeout_keep_alive=SECONDS_IDLE,
            timeout_graceful_shutdown=SECONDS_TO_END,
            h11_max_incomplete_event_size=MOST_HEAD,
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
    )


def listen(bind: str, port: int) -> socket.socket:
    """A socket that listens; port 0 lets the system choose one."""
    try:
        return socket.create_server(
            (bind, port), family=socket.AF_INET6 if ":" in bind else socket.AF_INET, backlog=1024
        )
    except OSError as error:
        seen = error.strerror or str(error)
        raise SettingError(f"--port {port}", seen=seen, expected="a free port and an address here") from None


def allow_connections() -> None:
    """Allow this process as many connections as the host takes, where the system lets it."""
    with suppress(ImportError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * CONNECTIONS)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def serve_here(service: Service, options: argparse.Namespace, about: str) -> None:
    """Answer HTTP in this process, until it is interrupted or told to end."""
    allow_connections()
    line = listen(options.bind, options.port)
    server = make_server(service, options.certfile, options.keyfile)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn repeats the signal when it has ended
    print(say_start(options, line.getsockname()[1], about, service.guard.guarded), flush=True)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[line])
    finally:
        service.engine.close()


def say_start(options: argparse.Namespace, port: int, about: str, guarded: bool) -> str:
    """Where the host is, and what a student writes."""
    name = options.bind if is_loopback(options.bind) else socket.getfqdn()
    name = f"[{name}]" if ":" in name else name
    address = f"{'https' if options.certfile else 'http'}://{name}:{port}"
    token = ', token="..."' * guarded
    return f'{about}\nlistening on {options.bind}, port {port}\nin a lab: gv.load_model("{address}"{token})'
