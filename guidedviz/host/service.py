"""What the host answers. It knows requests and replies, and neither Ray nor a socket.

No request names a path, and no code or pickle is read: a body is token ids or a text.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from urllib.parse import urlsplit

from guidedviz.errors import GuidedVizError, ModelError, SettingError, quoted
from guidedviz.host.classroom.desk import MOST_CHANGE, VERSION, Desk
from guidedviz.host.engine import Engine
from guidedviz.host.limits import Guard
from guidedviz.host.metrics import Counts, Metrics, add_counts, write_counts
from guidedviz.host.replies import BYTES, HTML, TEXT, Handler, Reply, Request, failure, refusal, say
from guidedviz.models.frames import Ask, read_ask, rows_bytes

MOST_TEXT = 1 << 20  # bytes of a text to encode, at most
DELAY = 0.1  # seconds before a refused student hears so
DELAYED = 64  # refusals that are delayed at once
PAGE = Path(__file__).parents[1] / "widgets" / "page" / "dist"  # the teacher's page is built with the widgets
PAGES = {
    "/class": ("class.html", HTML),
    "/class/class.js": ("class.js", "text/javascript; charset=utf-8"),
    "/class/class.css": ("class.css", "text/css; charset=utf-8"),
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Service:
    """A model, and what is asked of it; `whole` says that all requests of the class come to this one."""

    def __init__(self, engine: Engine, guard: Guard, whole: bool = True) -> None:
        self.engine, self.guard, self.metrics = engine, guard, Metrics()
        context: int = engine.card["context"]
        self.most_text = min(MOST_TEXT, max(1 << 14, 16 * context))
        self.most_body = max(self.most_text, 16 + 4 * min(context, 1 << 18), MOST_CHANGE)
        desk = Desk(engine, guard)
        self._delayed = 0
        self._handlers: dict[tuple[str, str], Handler] = {
            ("GET", "/v1/card"): self._card,
            ("GET", "/v1/vocabulary"): self._vocabulary,
            ("GET", "/metrics"): self._metrics,
            ("GET", "/v1/class"): desk.sum_up,
            ("POST", "/v1/encode"): self._encode,
            ("POST", "/v1/logits"): self._logits,
        }
        self._handlers |= desk.handlers if whole else dict.fromkeys(desk.handlers, self._no_class)
        self._class = VERSION if whole else 0

    async def answer(self, request: Request) -> Reply:
        """The reply to a request; an error becomes a reply, too."""
        path = urlsplit(request.path).path if request.path.startswith("/") else ""
        known = any(path == place for _, place in self._handlers)
        reply = await self._answer(request, path)
        self.metrics.answers[path.rpartition("/")[2] if known else "other", reply.status] += 1
        return reply

    async def _answer(self, request: Request, path: str) -> Reply:
        if path == "/v1/health":
            return Reply(200, b'{"status": "ok"}')
        if path in PAGES:
            name, kind = PAGES[path]
            headers = (("Content-Security-Policy", POLICY), ("Cache-Control", "no-store"))
            return Reply(200, (PAGE / name).read_bytes(), kind, headers)
        asked = request.headers
        student = self.guard.name(asked.get("authorization", ""), asked.get("x-guidedviz-student", ""), request.peer)
        if student is None:
            return refusal(401, "token", "an unknown token, or none", "Authorization: Bearer TOKEN")
        handler = self._handlers.get((request.method, path))
        if handler is None:
            return refusal(404, "path", quoted(f"{request.method} {path}"), "a path of protocol 1, such as /v1/card")
        if len(request.body) > self.most_body:
            return refusal(413, "body", f"{len(request.body)} bytes", f"at most {self.most_body}")
        if why := self.guard.refuse(student):
            return await self._slow_down(student, why)
        try:
            return await handler(student, request)
        except ModelError as error:
            return failure(503, error)
        except GuidedVizError as error:
            return failure(400, error)
        except Exception as error:  # a replica that died, memory that is full: the host goes on
            return refusal(500, "host", type(error).__name__, "an answer", "ask again")
        finally:
            self.guard.release(student)

    async def _slow_down(self, student: str, why: str) -> Reply:
        """The refusal of a student who asks too much; it comes late, so that asking again at once gains nothing."""
        if self._delayed < DELAYED:
            self._delayed += 1
            try:
                await asyncio.sleep(DELAY)
            finally:
                self._delayed -= 1
        reply = refusal(429, "student", why, "fewer requests")
        return Reply(reply.status, reply.body, headers=(("Retry-After", "1"),))

    async def _card(self, student: str, request: Request) -> Reply:
        return say({**self.engine.card, "class": self._class})

    async def _vocabulary(self, student: str, request: Request) -> Reply:
        return Reply(200, self.engine.words, BYTES)

    async def _metrics(self, student: str, request: Request) -> Reply:
        processes = self.engine.counts()
        here: Counts = {"queue": float(self.engine.waiting), "students": float(self.guard.active())}
        here |= {f'replica{{process="{name}"}}': 1.0 for name in processes}
        text = write_counts(add_counts([self.metrics.counts(), here, *processes.values()]))
        return Reply(200, text.encode(), TEXT)

    async def _no_class(self, student: str, request: Request) -> Reply:
        """The refusal of a cluster, where each replica would know a part of the class."""
        return refusal(
            404, "class", "a cluster", "a host of one process", "python -m guidedviz host, with --replicas N"
        )

    async def _encode(self, student: str, request: Request) -> Reply:
        if len(request.body) > self.most_text:
            return refusal(413, "text", f"{len(request.body)} bytes", f"at most {self.most_text}")
        try:
            text = request.body.decode()
        except UnicodeDecodeError as error:
            return refusal(400, "text", f"byte {error.start}: {error.reason}", "UTF-8")
        return Reply(200, await self.engine.encode(text), BYTES)

    async def _logits(self, student: str, request: Request) -> Reply:
        """The logits of a text, unless the student expects another model than this one."""
        card = self.engine.card
        wanted = request.headers.get("x-guidedviz-model", card["version"])
        if wanted != card["version"]:
            seen = f"a request for another model ({quoted(wanted, 40)})"
            said = f"one for {card['name']} ({card['version']}), which this host has now"
            return refusal(409, "model", seen, said, "load the model again, and build the guide for its vocabulary")
        ask = self._check(read_ask(request.body))
        if self.engine.waiting >= self.guard.limits.waiting:
            return refusal(503, "host", "too many texts that wait", "a free place", "ask again")
        began = time.perf_counter()
        body = await self.engine.rows(student, ask)
        took = time.perf_counter() - began
        self.metrics.seconds.add(took)
        self.guard.step(student, took)
        return Reply(200, body, BYTES)

    def _check(self, ask: Ask) -> Ask:
        """A request that the model can answer."""
        count, size, context = len(ask.tokens), self.engine.card["size"], self.engine.card["context"]
        if not 0 < count <= context:
            raise SettingError("tokens", seen=f"{count} tokens", expected=f"1 to {context}", hint="shorten the prompt")
        if min(ask.tokens) < 0 or max(ask.tokens) >= size:
            seen = f"ids from {min(ask.tokens)} to {max(ask.tokens)}"
            raise SettingError("tokens", seen=seen, expected=f"ids from 0 to {size - 1}")
        if not -1 <= ask.start < count:
            raise SettingError("start", seen=str(ask.start), expected=f"-1 to {count - 1}")
        if (wanted := rows_bytes(count - ask.first, size, ask.top)) > self.guard.limits.rows_bytes:
            expected = f"at most {self.guard.limits.rows_bytes}"
            raise SettingError("rows", seen=f"{wanted} bytes", expected=expected, hint="ask for fewer rows")
        return ask
