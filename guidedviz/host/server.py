"""`python -m guidedviz host`: uvicorn serves the application in one process, within bounds that uvicorn leaves open.

A request has to be whole in time, an answer has to be read in time, and an address has only so many connections: if it
opens more, the one that has waited longest without a request is closed.
"""

import argparse
import asyncio
import signal
import socket
import ssl
from collections import defaultdict
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from guidedviz.errors import SettingError, escaped, quoted
from guidedviz.host.access import find_tokens, make_token, warn_of_tokens
from guidedviz.host.app import Service, open_service, reply
from guidedviz.host.classroom import HOST_PLACES
from guidedviz.host.limits import Refused, is_loopback

MOST_HEAD = 1 << 14  # bytes
SECONDS_TO_ASK = 10.0  # for the head of a request, from the first byte on
SECONDS_TO_READ = 20.0  # for an answer, from the first bytes on that wait for their reader
UNREAD = 1 << 16  # bytes that wait for a slow reader here, and twice as many in the system, which would take megabytes
SECONDS_IDLE = 120  # between two requests
SECONDS_TO_END = 2  # for the requests that run when the host ends
CONNECTIONS = 4000
PER_ADDRESS = 1000


class Crowd:
    """The connections of a server by address, in each the one that has waited longest for a request first."""

    def __init__(self) -> None:
        self._lines: defaultdict[str, dict[Line, None]] = defaultdict(dict)

    def enter(self, line: "Line") -> None:
        """Count a connection, or move it to the end."""
        self.leave(line)
        self._lines[line.address][line] = None

    def leave(self, line: "Line") -> None:
        """Forget a connection."""
        self._lines[line.address].pop(line, None)
        if not self._lines[line.address]:
            del self._lines[line.address]

    def make_room(self, address: str) -> None:
        """Where there are too many, close the one that has waited longest: of this address, or of a large crowd."""
        if len(self._lines[address]) > PER_ADDRESS:
            crowds = [self._lines[address]]
        elif sum(map(len, self._lines.values())) > CONNECTIONS:
            crowds = sorted(self._lines.values(), key=len, reverse=True)
        else:
            return
        for line in chain.from_iterable(crowds):
            if line.waits:
                self.leave(line)
                line.transport.abort()
                return


class Line(H11Protocol):
    """A connection."""

    def __init__(self, crowd: Crowd, **options: Any) -> None:
        super().__init__(**options)
        self.address = ""
        self._crowd = crowd
        self._unasked: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether this connection has no request that is answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; where there are too many, another one makes room."""
        super().connection_made(transport)
        # an answer is two writes, and the second one would wait 40 ms for the other side
        line = transport.get_extra_info("socket")
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
        transport.set_write_buffer_limits(UNREAD)  # HTTPS has another limit
        self.address = self.client[0] if self.client else ""
        self._unasked = self.loop.call_later(SECONDS_TO_ASK, transport.abort)
        self._crowd.enter(self)
        self._crowd.make_room(self.address)

    def data_received(self, data: bytes) -> None:
        """Read; a head that has begun has a deadline, however slowly it comes."""
        super().data_received(data)
        if self.waits:
            self._unasked = self._unasked or self.loop.call_later(SECONDS_TO_ASK, self.transport.abort)
        elif self._unasked:
            self._unasked.cancel()
            self._unasked = None

    def on_response_complete(self) -> None:
        """Wait for the next request; what is left of the answer has a deadline of its own."""
        self._read_on()
        if self.flow.write_paused:
            self._wait_for_reader()
        super().on_response_complete()
        if not self.transport.is_closing():
            self._crowd.enter(self)

    def pause_writing(self) -> None:
        """The answer is not read: it has a deadline, however slowly it is read from now on."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """The answer is read again."""
        super().resume_writing()
        if self.waits:
            self._read_on()

    def _wait_for_reader(self) -> None:
        self._unread = self._unread or self.loop.call_later(SECONDS_TO_READ, self.transport.abort)

    def _read_on(self) -> None:
        if self._unread:
            self._unread.cancel()
        self._unread = None

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        for timer in (self._unasked, self._unread):
            if timer:
                timer.cancel()
        self._crowd.leave(self)
        super().connection_lost(error)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request, in four parts."""
        if self.waits:
            expected = f"METHOD /path HTTP/1.1, a Host, and at most {MOST_HEAD} bytes of headers"
            hint = "an http:// address in a client that speaks HTTP/1.1, or https:// for a host with a certificate"
            body = bytes(reply(Refused(400, "request", "no HTTP/1.1", expected, hint)).body)
            head = ["HTTP/1.1 400 Bad Request", "Content-Type: application/json", f"Content-Length: {len(body)}"]
            self.transport.write("\r\n".join([*head, "Connection: close", "", ""]).encode() + body)
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
            service,
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
        family = socket.AF_INET6 if ":" in bind else socket.AF_INET
        return socket.create_server((bind, port), family=family, backlog=1024)
    except OSError as error:
        seen = error.strerror or str(error)
        hint = f"--port 0 for any free port; for another address than {escaped(bind)} --bind"
        raise SettingError(f"--port {port}", seen=seen, expected="a free port and an address here", hint=hint) from None


def allow_connections() -> None:
    """Allow this process as many connections as the host takes, where the system lets it."""
    with suppress(ImportError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 2 * CONNECTIONS)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def serve(options: argparse.Namespace) -> None:
    """Answer HTTP in this process, until it is interrupted or told to end."""
    tokens = find_tokens(options.tokens, options.token)
    warn_of_tokens(options.tokens, options.token)
    check_bind(options.bind, bool(tokens))
    check_numbers(options)
    check_certificate(options.certfile, options.keyfile)
    service = open_service(tokens, options.model, options.device, options.rate, options.cache_mb)
    allow_connections()
    line = listen(options.bind, options.port)
    server = make_server(service, options.certfile, options.keyfile)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn repeats the signal when it has ended
    print(say_start(options, line.getsockname()[1], repr(service.engine.model), bool(tokens)), flush=True)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[line])
    finally:
        service.engine.close()


def check_bind(bind: str, has_token: bool) -> None:
    """Refuse to listen outside this machine without a token.

    >>> check_bind("127.0.0.1", has_token=False)
    """
    if has_token or is_loopback(bind):
        return
    hint = f"GUIDEDVIZ_TOKEN={make_token()} python -m guidedviz host --bind {escaped(bind)}"
    raise SettingError(f"--bind {quoted(bind)}", seen="no token", expected="a token outside of this machine", hint=hint)


def check_numbers(options: argparse.Namespace) -> None:
    """Refuse numbers out of their range."""
    ranges = {"port": (0, 65535), "rate": (1, 1e6), "cache_mb": (1, 1 << 20)}
    for name, (low, high) in ranges.items():
        number = getattr(options, name)
        if not low <= number <= high:
            where = f"--{name.replace('_', '-')}"
            expected = f"{low:g} to {high:g}"
            hint = f"leave {where} out for the default"
            raise SettingError(where, seen=str(number), expected=expected, hint=hint)


def check_certificate(certificate: Path | None, key: Path | None) -> None:
    """Refuse a certificate for HTTPS that cannot be read, or a key alone."""
    if key and not certificate:
        hint = "--certfile cert.pem --keyfile key.pem"
        raise SettingError("--keyfile", seen="no certificate", expected="--certfile, too", hint=hint)
    if certificate:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            seen = error.strerror or type(error).__name__
            expected = "a certificate and its key, as PEM files"
            hint = "--certfile cert.pem --keyfile key.pem"
            raise SettingError("--certfile", seen=seen, expected=expected, hint=hint) from None


def say_start(options: argparse.Namespace, port: int, about: str, guarded: bool) -> str:
    """Where the host is, and what a student writes."""
    name = options.bind if is_loopback(options.bind) else socket.getfqdn()
    if ":" in name:
        name = f"[{name}]"
    scheme = "https" if options.certfile else "http"
    address = f"{scheme}://{name}:{port}"
    given = f'"{address}"'
    if guarded:
        given += ', token="..."'
    lines = [about, f"listening on {options.bind}, port {port}", f"in a lab: gv.load_model({given})"]
    for path, words in HOST_PLACES.items():
        lines.append(f"{address}{path}: {words}")
    return "\n".join(lines)
