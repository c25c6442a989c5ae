"""What the host answers: one ASGI application, which uvicorn serves in one process and Ray Serve in each replica.

No request names a path, and no code or pickle is read: a body is token ids, a text, or JSON. Before it
is answered, `Service` checks where it comes from, who asks, and how much.
"""

import asyncio
import re
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from ipaddress import IPv6Address
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from guidedviz.errors import GuidedVizError, ModelError, SettingError, quoted
from guidedviz.extras import need
from guidedviz.files import parse_json
from guidedviz.host.access import find_tokens, warn_of_tokens
from guidedviz.host.api.routes import (
    AGAIN_PATH,
    API_PATHS,
    COMPLETION_PATHS,
    LOOK_PATH,
    MODEL_PATH,
    MOST_ASKED,
    RUN_PATH,
    CompletionDesk,
    EventStream,
    send_stream,
)
from guidedviz.host.batcher import CACHE, MB, Engine
from guidedviz.host.classroom import CLASS_PAGE, MOST_CHANGE, VERSION, Desk, no_class, say, serve_front, serve_page
from guidedviz.host.limits import Guard, Limits, Refused, is_loopback
from guidedviz.models.frames import JSON, OCTETS, Ask, body_type, read_ask, rows_bytes
from guidedviz.models.load import load_here
from guidedviz.models.model import check_tokens

Counted = TypeVar("Counted")
Done = TypeVar("Done")
OPEN = {"/", "/v1/health", *CLASS_PAGE}  # told without a token
MOST_BODY = 1 << 13  # bytes of a body
MOST_ENCODED = 1 << 20  # of a text to encode
MOST_VALUES = 1 << 16  # of the messages of a conversation
SECONDS_TO_SEND = 20.0  # for the body of a request
PART = 1 << 16  # bytes of an answer that are written at once; the next ones wait until these are read
BUSY_DELAY = 1.0  # seconds before who gets no answer now hears so: hundreds of them would keep the host busy
PROTOCOL_PAGE = "guidedviz/host/README.md"
ANSWERING = ", answering"
LONG_REQUESTS = {  # requests that take long; who sends one may ask for something else meanwhile
    ("GET", "/v1/run"): ", following",
    **{("POST", path): ANSWERING for path in COMPLETION_PATHS},
}
ERROR_TYPES = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}
DELAY = 0.1  # seconds before a student who asks too much hears so: asking again at once gains nothing


class Service:
    """A model, and what is asked of it; `whole` says that all requests of the class come to this one."""

    def __init__(self, engine: Engine, guard: Guard, whole: bool = True) -> None:
        self.engine = engine
        self.guard = guard
        context: int = engine.card["context"]
        most_text = min(MOST_ENCODED, max(1 << 14, 16 * context))
        most_ids = max(most_text, 16 + 4 * min(context, 1 << 18))
        self.most = {"/v1/encode": most_text, "/v1/chat": most_text, "/v1/logits": most_ids, "/v1/run": MOST_CHANGE}
        self.most.update(dict.fromkeys(API_PATHS, MOST_ASKED))
        desk = Desk(engine, guard)
        self.desk = desk
        api = CompletionDesk(engine, guard)
        self.runs = api.runs
        self._class = VERSION if whole else 0
        self.start = token_hex(8) if whole else ""  # which start of the host this is
        self._handlers: dict[tuple[str, str], Callable[[Request], Coroutine[Any, Any, Response]]] = {
            ("GET", "/"): serve_front,
            ("GET", "/v1/health"): self._health,
            ("GET", "/v1/card"): self._card,
            ("GET", "/v1/vocabulary"): self._vocabulary,
            ("POST", "/v1/encode"): self._encode,
            ("POST", "/v1/chat"): self._chat,
            ("POST", "/v1/logits"): self._logits,
            ("GET", RUN_PATH): api.show_run,
            ("GET", "/v1/runs"): api.list_runs,
            ("GET", "/v1/models"): api.models,
            ("GET", MODEL_PATH): api.model,
            ("POST", "/v1/chat/completions"): api.chat,
            ("POST", "/v1/completions"): api.plain,
            ("POST", "/v1/responses"): api.response,
            ("POST", "/v1/inspect"): api.inspect,
            ("POST", AGAIN_PATH): api.again,
            ("POST", LOOK_PATH): api.look,
            ("GET", "/v1/class"): desk.sum_up,
            ("POST", "/v1/class"): desk.report if whole else no_class,
            ("POST", "/v1/class/forget"): desk.forget if whole else no_class,
            ("GET", "/v1/run"): desk.follow if whole else no_class,
            ("POST", "/v1/run"): desk.show if whole else no_class,
            **{("GET", path): serve_page for path in CLASS_PAGE},
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; errors become replies."""
        if scope["type"] != "http":
            await live(receive, send)
            return
        with ExitStack() as counted:
            try:
                response = await self._let_in(Request(scope, receive), counted)
            except Exception as error:  # a replica that died, memory that is full: the host goes on
                response = reply(error, without_name(scope["path"]))
            if response:
                response.headers["X-Content-Type-Options"] = "nosniff"
                if self.start:
                    response.headers["X-Guidedviz-Start"] = self.start
                if isinstance(response, EventStream):
                    await do_or_leave(send_stream(response, send), receive)
                else:
                    await send_in_parts(response, send)

    async def _let_in(self, request: Request, counted: ExitStack) -> Response | None:
        """The answer to a request that may come in; None if the student has left before."""
        path = request.scope["path"]
        headers = request.headers
        method = "GET" if request.method == "HEAD" else request.method
        known = without_name(path)
        handler = self._handlers.get((method, known), self._unknown)
        limits = self.guard.limits
        check_sender(headers, known, self.guard.guarded)
        peer = request.client.host if request.client else ""
        if known == RUN_PATH:
            visitor = f"{peer}, pages"
            await enter(counted, self.guard.counted(visitor), DELAY)
            page = await handler(request)
            await enter(counted, self.guard.sent(visitor, peer, len(page.body)), BUSY_DELAY)
            return page
        if known in OPEN:
            return await handler(request)
        check_kind(method, path, headers.get("content-type", ""))
        student = self.guard.name(headers.get("authorization", ""), headers.get("x-guidedviz-student", ""), peer)
        beside = LONG_REQUESTS.get((method, path), "")
        most = limits.answers if beside == ANSWERING else limits.together
        account = await enter(counted, self.guard.counted(student + beside, most), DELAY)
        body = await receive_body(headers, request.receive, self.most.get(path, MOST_BODY))
        if body is None:
            return None
        request.scope["state"] = {"body": body, "student": student, "account": account, "peer": peer}
        answer = await do_or_leave(handler(request), request.receive)
        if answer and len(answer.body) > PART:
            await enter(counted, self.guard.sent(student, peer, len(answer.body)), BUSY_DELAY)
        return answer

    async def _unknown(self, request: Request) -> Response:
        """The refusal of a path that there is not, or not with this method."""
        path = request.scope["path"]
        status = 404
        if without_name(path) in {known for _, known in self._handlers}:
            status = 405
        seen = quoted(f"{request.method} {path}")
        hint = f"the table of requests in {PROTOCOL_PAGE}"
        raise Refused(status, "path", seen, "a path of the protocol, such as /v1/card", hint)

    async def _health(self, request: Request) -> Response:
        return say({"status": "ok"})

    async def _card(self, request: Request) -> Response:
        return say({**self.engine.card, "class": self._class})

    async def _vocabulary(self, request: Request) -> Response:
        return Response(self.engine.words, media_type=OCTETS)

    async def _encode(self, request: Request) -> Response:
        try:
            text = request.state.body.decode()
        except UnicodeDecodeError as error:
            seen = f"byte {error.start}: {error.reason}"
            hint = "send the text encoded as UTF-8"
            raise SettingError("text", seen=seen, expected="UTF-8", hint=hint) from None
        return Response(await self.engine.encode(text), media_type=OCTETS)

    async def _chat(self, request: Request) -> Response:
        """The prompt of messages; without a template, and for messages that it does not take, no repeat helps."""
        body: bytes = request.state.body
        try:
            messages = parse_json(body, MOST_VALUES)
        except (ValueError, RecursionError):
            expected = "JSON: a text, or a list of messages"
            hint = '[{"role": "user", "content": "..."}]'
            raise SettingError("messages", seen=quoted(body), expected=expected, hint=hint) from None
        more = {}
        if isinstance(messages, dict) and "messages" in messages:
            more = messages
            messages = messages["messages"]
        try:
            prompt = await self.engine.chat(messages, more.get("tools", ()), bool(more.get("think", True)))
        except ModelError as error:
            raise Refused(409, error.where, error.seen, error.expected, error.hint) from None
        check_tokens(prompt.tokens, self.engine.card["context"], self.engine.card["size"])
        return say({"parts": prompt.parts, "tokens": prompt.tokens})

    async def _logits(self, request: Request) -> Response:
        """The logits of a text, unless the student expects another model than this one."""
        card = self.engine.card
        wanted = request.headers.get("x-guidedviz-model", card["version"])
        if wanted != card["version"]:
            seen = f"a request for another model ({quoted(wanted, 40)})"
            said = f"one for {card['name']} ({card['version']}), which this host has now"
            raise Refused(409, "model", seen, said, "load the model again, and build the guide for its vocabulary")
        ask = self._check(read_ask(request.state.body))
        self.guard.check_room(self.engine.waiting)
        began = time.monotonic()
        body = await self.engine.rows(request.state.student, ask)
        ended = time.monotonic()
        request.state.account.steps.append((ended, ended - began))
        return Response(body, media_type=OCTETS)

    def _check(self, ask: Ask) -> Ask:
        """A request that the model can answer."""
        count = len(ask.tokens)
        size = self.engine.card["size"]
        check_tokens(ask.tokens, self.engine.card["context"], size)
        if not -1 <= ask.start < count:
            expected = f"-1 to {count - 1}"
            hint = "-1 for the last row alone"
            raise SettingError("start", seen=str(ask.start), expected=expected, hint=hint)
        wanted = rows_bytes(count - ask.first, size)
        if wanted > self.guard.limits.rows_bytes:
            expected = f"at most {self.guard.limits.rows_bytes}"
            raise SettingError("rows", seen=f"{wanted} bytes", expected=expected, hint="ask for fewer rows")
        return ask


def open_service(
    tokens: Mapping[str, str], model: str, device: str, rate: float, cache_mb: int, whole: bool = True
) -> Service:
    """The service of a model that is loaded here."""
    guard = Guard(tokens, Limits(rate=rate, burst=2 * rate))
    return Service(Engine(load_here(model, device), cache_mb * MB), guard, whole)


def without_name(path: str) -> str:
    """A path; of one that ends with the name of a run or of a model, what stands before the name.

    >>> without_name("/runs/7f3a"), without_name("/v1/models/clerk"), without_name("/v1/models")
    ('/runs/', '/v1/models/', '/v1/models')
    """
    for prefix in (RUN_PATH, MODEL_PATH):
        if path.startswith(prefix):
            return prefix
    return path


async def enter(counted: ExitStack, count: AbstractContextManager[Counted], delay: float) -> Counted:
    """Count a request; one that is refused hears so after a pause."""
    try:
        return counted.enter_context(count)
    except Refused:
        await asyncio.sleep(delay)
        raise


async def live(receive: Receive, send: Send) -> None:
    """Agree to start and to end, which Ray Serve asks first and last."""
    asked = ""
    while asked != "lifespan.shutdown":
        message = await receive()
        asked = message["type"]
        if not asked.startswith("lifespan."):
            return
        await send({"type": f"{asked}.complete"})


async def do_or_leave(wanted: Coroutine[Any, Any, Done], receive: Receive) -> Done | None:
    """What a coroutine gives; None if the student hangs up before that, and nothing more is computed."""
    work = asyncio.ensure_future(wanted)
    gone = asyncio.ensure_future(receive())
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        gone.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})


HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)(:(?P<port>[1-9][0-9]{0,4}))?")


def read_host(said: Sequence[str]) -> str:
    """The name in the only header Host, in small letters and without its port; "" where it has another form.

    >>> read_host(["Class.school:8765"]), read_host(["[::1]:8765"])
    ('class.school', '::1')
    >>> read_host(["127.0.0.1:80@evil.com"]), read_host(["[::1]evil.com"]), read_host(["a", "b"])
    ('', '', '')
    """
    found = None
    if len(said) == 1:
        found = HOST.fullmatch(said[0].lower())
    if found is None or int(found["port"] or 0) >= 1 << 16:
        return ""
    name = found["name"]
    if not name.startswith("["):
        return name
    try:
        return str(IPv6Address(name[1:-1]))
    except ValueError:
        return ""


def check_sender(headers: Headers, path: str, guarded: bool) -> None:
    """Refuse what another web page sends: by a name that is not this machine's (DNS rebinding), or across origins.

    A host with tokens may have any name: no page has the token. The class page may be linked, because it holds nothing,
    and the page of a run, because its name cannot be guessed.
    """
    said = headers.getlist("host")
    name = read_host(said)
    seen = quoted(", ".join(said))
    if not name:
        hint = "an address such as http://127.0.0.1:8765, and a proxy that passes on the header Host"
        raise Refused(403, "header Host", seen, "one name of a machine, with a port or without one", hint)
    if not guarded and not is_loopback(name):
        hint = "the address with 127.0.0.1, or a host with a token"
        raise Refused(403, "header Host", seen, "a name of this machine alone", hint)
    host = said[0].lower()
    origins = headers.getlist("origin")
    site = headers.get("sec-fetch-site", "none")
    own = [[], [f"http://{host}"], [f"https://{host}"]]
    is_own = [one.lower() for one in origins] in own
    if path not in (RUN_PATH, *OPEN) and not (is_own and site in ("none", "same-origin")):
        seen = quoted(", ".join(origins) or site)
        raise Refused(403, "origin", seen, "no other web page", "the page /class")


async def send_in_parts(answer: Response, send: Send) -> None:
    """Send an answer. The server takes the next part when the last one was read, and keeps no copy of the whole."""
    await send({"type": "http.response.start", "status": answer.status_code, "headers": answer.raw_headers})
    body = answer.body
    for place in range(0, len(body) or 1, PART):
        end = place + PART
        goes_on = end < len(body)
        await send({"type": "http.response.body", "body": body[place:end], "more_body": goes_on})


def check_kind(method: str, path: str, said: str) -> None:
    """Refuse a body of a type that a web page may send anywhere, such as a form's."""
    kind = said.partition(";")[0].strip().lower()
    wanted = body_type(path)
    if method == "POST" and kind != wanted and (kind or wanted == JSON):
        raise Refused(415, "header Content-Type", quoted(said), wanted, f"the header Content-Type: {wanted}")


async def receive_body(headers: Headers, receive: Receive, most: int) -> bytes | None:
    """The body of a request; None if the student has left before it was whole."""
    said = int(headers.get("content-length", "0"))
    body = bytearray()
    more = True
    try:
        async with asyncio.timeout(SECONDS_TO_SEND):
            while more:
                size = max(len(body), said)
                if size > most:
                    raise Refused(413, "body", f"{size} bytes", f"at most {most}", "send less in one request")
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                body += message.get("body", b"")
                more = message.get("more_body", False)
    except TimeoutError:
        expected = f"all of it within {SECONDS_TO_SEND:g} s"
        hint = "again, over a faster connection"
        raise Refused(408, "body", f"{len(body)} bytes", expected, hint) from None
    return bytes(body)


def reply(error: Exception, path: str = "") -> Response:
    """An error as a reply in four parts; on the paths of the API it has OpenAI's fields, too."""
    if not isinstance(error, GuidedVizError):
        error = Refused(500, "host", type(error).__name__, "an answer", "ask again")
    status = 400
    if isinstance(error, Refused):
        status = error.status
    elif isinstance(error, ModelError):
        status = 503
    hint = error.hint or f"a request as {PROTOCOL_PAGE} describes it"  # of errors from the rooms below
    parts = {"where": error.where, "seen": error.seen, "expected": error.expected, "try": hint}
    if path in API_PATHS:
        message = str(error) if error.hint else f"{error}; try: {hint}"
        kind = ERROR_TYPES.get(status, "invalid_request_error")
        parts |= {"message": message, "type": kind, "param": error.where, "code": str(status)}
    response = say({"error": parts}, status)
    if status in (429, 503):
        response.headers["Retry-After"] = "1"
    elif status in (408, 413):  # the rest of the body is not read
        response.headers["Connection"] = "close"
    return response


# Several processes with the model: replicas of Ray Serve (`serve run deploy/serve.yaml`).
#
# Ray's proxies bring each request to a replica, which has the same application as the host of one process. A request
# names its whole text, so any replica can answer it; one that dies takes only its kept prefixes with it.


DEFAULTS: dict[str, Any] = {
    "model": "clerk",
    "device": "auto",
    "tokens": "",
    "open": False,
    "rate": Limits.rate,
    "cache_mb": CACHE // MB,
}


class Replica:
    """One process with the model."""

    def __init__(self, tokens: Mapping[str, str], model: str, device: str, rate: float, cache_mb: int) -> None:
        self._service = open_service(tokens, model, device, rate, cache_mb, whole=False)

    def __serve_build_asgi_app__(self) -> Any:  # Ray's name: `serve.ingress` mounts what it returns
        return self._service


def build_app(arguments: Mapping[str, Any]) -> Any:
    """The application for `serve run`, from the arguments of a config file (deploy/serve.yaml explains them).

    Without a token (the variable GUIDEDVIZ_TOKEN, or a file of tokens) it is refused, unless `open` says that only this
    machine can reach it.
    """
    unknown = sorted(set(arguments) - set(DEFAULTS))
    if unknown:
        known = ", ".join(sorted(DEFAULTS))
        hint = "correct its name in deploy/serve.yaml"
        raise SettingError("args", seen=quoted(unknown[0]), expected=known, hint=hint)
    chosen = DEFAULTS | dict(arguments)
    file = Path(chosen["tokens"]) if chosen["tokens"] else None
    tokens = find_tokens(file)
    warn_of_tokens(file)
    if not tokens and chosen["open"] is not True:
        hint = "set GUIDEDVIZ_TOKEN, or `open: true` if only this machine can reach it"
        raise SettingError("args", seen="no token", expected="a token", hint=hint)
    serve = need("ray.serve", "classroom", "serve run")
    deployment = serve.deployment(serve.ingress()(Replica), name="model")
    model = str(chosen["model"])
    device = str(chosen["device"])
    return deployment.bind(tokens, model, device, float(chosen["rate"]), int(chosen["cache_mb"]))
