"""Claims about a host on loopback: it gives the model's logits, and it refuses what is hostile."""

import json
import random
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.request import Request, urlopen

import pytest

import guidedviz as gv
from guidedviz.errors import ModelError, SettingError
from guidedviz.host.app import reply
from guidedviz.host.classroom import sum_up_class
from guidedviz.host.limits import Guard, Limits
from guidedviz.models import connection
from guidedviz.models.chat import ChatTemplate
from guidedviz.models.connection import Connection, read_address
from guidedviz.models.frames import Ask, pack_ask, read_prompt
from guidedviz.models.language_model import LanguageModel
from guidedviz.models.load import embedded_folder
from guidedviz.models.remote import RemoteModel
from guidedviz.models.tokenizer import Tokenizer
from tests.common import regex_guide
from tests.host.running import TOKEN, hosting

JSON = "Content-Type: application/json"
HI = {"role": "user", "content": 'é"'}


def talk(host, data):
    """Send bytes; gives the status and the error of the answer, (0, {}) where the connection is closed instead."""
    answer = head = body = b""
    with socket.create_connection(("127.0.0.1", host.port), timeout=5) as line, suppress(ConnectionError):
        line.sendall(data)
        while part := line.recv(1 << 16):
            answer += part
            head, _, body = answer.partition(b"\r\n\r\n")
            length = next((int(row.split()[1]) for row in head.lower().split(b"\r\n") if b"content-length" in row), 0)
            if length and len(body) >= length:
                break
    if not answer:
        return 0, {}
    error = json.loads(body).get("error", {}) if b"application/json" in head else {}
    return int(head.split()[1]), error


def ask(method, path, *headers, body=b"", host="127.0.0.1"):
    """A request as bytes."""
    length = f"Content-Length: {len(body)}"
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", length, *headers, "", ""]
    return "\r\n".join(head).encode() + body


def post(path, body, *headers):
    return ask("POST", path, "Content-Type: application/octet-stream", *headers, body=body)


def test_the_address_of_a_host_is_a_model(host, bard):
    model = gv.load_model(host.address)
    assert repr(model) == f"127.0.0.1:{host.port} · bard · NumPy · cpu: 65 tokens"
    assert model.source == "LIVE"
    assert model.vocabulary == bard.vocabulary
    assert model.context == bard.context
    for text in ("To be\n", ""):
        assert model.encode(text) == bard.encode(text)


def test_its_logits_are_those_of_the_model_in_16_bits(host, bard):
    model = host.model()
    text = bard.encode("To be, or not to be")
    for end in (1, 5, len(text)):
        own = bard.logits(text[:end])
        lost = (own.max() - own) / 2048 + 1e-4
        assert (abs(model.logits(text[:end]) - own) <= lost).all()
    assert model.all_logits(text, 3) == pytest.approx(bard.all_logits(text, 3), abs=1e-2)
    assert model.logits(text) is not model.logits(text)


@pytest.fixture(scope="module")
def asked(clerk):
    """clerk with a chat template, on a host; the model, the host and its model."""
    words = Tokenizer(embedded_folder("clerk"))
    source = "{% if enable_thinking is false %}quiet {% endif %}{% if tools %}{{ tools[0].function.name }} {% endif %}"
    source += "{% for m in messages %}{% if m.role == 'no' %}{{ raise_exception('no such role') }}{% endif %}"
    source += "{{ m.role }}: {{ m.content }}<|end|>{% endfor %}"
    template = ChatTemplate(source, words)
    model = LanguageModel("clerk", clerk.network, words, clerk.vocabulary, template)
    with hosting(model) as host:
        yield model, host, host.model()


@pytest.mark.parametrize(
    ("messages", "settings", "said"),
    [
        ("Hi <|end|>", {}, "user: Hi <|end|><|end|>"),
        ([HI, HI | {"role": "assistant"}], {}, 'user: é"<|end|>assistant: é"<|end|>'),
        ("Hi", {"tools": [{"name": "add", "parameters": {"type": "object"}}]}, "add user: Hi<|end|>"),
        ("Hi", {"think": False}, "quiet user: Hi<|end|>"),
    ],
    ids=["a text", "messages", "tools", "no thinking"],
)
def test_chat_on_a_host_gives_the_prompt_of_its_model(asked, messages, settings, said):
    model, _, far = asked
    here = model.chat(messages, **settings)
    there = far.chat(messages, **settings)
    assert there == here == said
    assert (there.tokens, there.parts) == (here.tokens, here.parts)
    assert far.encode(there) == [*here.tokens]


@pytest.mark.parametrize(
    ("body", "status", "seen"),
    [
        (b"[", 400, "messages"),
        (b"7", 400, "model.chat"),
        (b'{"messages": "a", "tools": 3}', 400, "model.chat, tools"),
        (b'{"messages": "a", "tools": [{"name": ""}]}', 400, "model.chat, tools[0]"),
        (b"[" * 9000, 400, "messages"),
        (b'"\ud800"', 400, "model.chat, messages[0]['content']"),
        (b"\xff", 400, "messages"),
        (b'"' + b"a " * 2000 + b'"', 400, "tokens"),
        (b'[{"role": "no", "content": ""}]', 409, "model.chat"),
        (b'"' + b"x" * 20_000 + b'"', 413, "body"),
    ],
    ids=range(10),
)
def test_a_conversation_that_cannot_be_read_is_refused_and_the_host_goes_on(asked, body, status, seen):
    _, host, far = asked
    answer = talk(host, ask("POST", "/v1/chat", JSON, body=body))
    assert answer[0] == status
    assert answer[1]["where"] == seen
    assert far.chat("Hi").tokens


def test_a_host_without_a_chat_template_says_so_at_once(host):
    model = host.model(patience=0.1)
    assert not model.has_template
    with pytest.raises(ModelError, match=r"bard has no chat template, expected a chat model; try: gv.load_model"):
        model.chat("Hi")


@pytest.mark.parametrize(
    "body",
    [b"", b"7", b'{"parts": []}', b'{"parts": [7], "tokens": [1]}', b'{"parts": ["a"], "tokens": [-1]}', b"[" * 9999],
)
def test_a_hostile_host_gives_no_prompt(body):
    with pytest.raises(SettingError, match=r"body of the answer: saw .*expected"):
        read_prompt(body, 65)


def test_the_variables_name_a_host_and_its_token(guarded, monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_MODEL", guarded.address)
    assert isinstance(gv.load_model(token=TOKEN), RemoteModel)
    monkeypatch.setenv("GUIDEDVIZ_TOKEN", TOKEN)
    assert isinstance(gv.load_model(), RemoteModel)


def test_a_variable_brings_the_hosts_model_to_labs_that_name_it(host, monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_MODEL", raising=False)
    monkeypatch.setenv("GUIDEDVIZ_HOST", host.address)
    for name in ("bard", "auto"):
        assert isinstance(gv.load_model(name), RemoteModel)
    assert gv.load_model("clerk").name == "clerk", "the host has another model"
    assert gv.load_model("bard", device="numpy").name == "bard"


@pytest.mark.parametrize("token", ["", "another-token-of-16"])
def test_without_the_right_token_nothing_but_its_health_is_told(guarded, token):
    with pytest.raises(ModelError, match=r"refused the token.*gv\.load_model\(address, token="):
        gv.load_model(guarded.address, token=token)
    wire = guarded.wire(token)
    assert wire.ask("GET", "/v1/health") == b'{"status": "ok"}'
    for path in ("/v1/vocabulary", "/v1/nothing", "/v1/class", "/v1/models", "/v1/runs"):
        with pytest.raises(ModelError, match="refused the token"):
            wire.ask("GET", path)


@pytest.mark.parametrize(
    "address", ["http://", "http://a:b", "http://u@h", "http://h/?q", "https://h:99999", "http://é"]
)
def test_another_address_is_refused_without_a_request(address):
    with pytest.raises(ModelError, match="no address of a host"):
        gv.load_model(address, token="")


def test_a_token_of_two_lines_is_refused_without_a_request():
    with pytest.raises(ModelError, match="printable ASCII"):
        gv.load_model("http://h", token="a\r\nX: y")


LOGITS = b"POST /v1/logits HTTP/1.1\r\nHost: 127.0.0.1\r\n"
RUN = b"POST /v1/run HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
HOSTILE = {
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\n", 400),
    "another version": (b"GET / HTTP/9\r\n\r\n", 400),
    "a long head": (b"GET / HTTP/1.1\r\n" + b"A: " + b"x" * 20000, 400),
    "no host": (b"GET /v1/card HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /v1/card HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n", 400),
    "two lengths": (LOGITS + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
    "an empty chunked body": (LOGITS + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "no length": (LOGITS + b"\r\n", 400),
    "a negative length": (LOGITS + b"Content-Length: -5\r\n\r\n", 400),
    "a huge length": (LOGITS + b"Content-Length: 99999999999999\r\n\r\n", 413),
    "a long run": (RUN + b"Content-Length: 2000000\r\n\r\n", 413),
    "a path of a file": (ask("GET", "/../../etc/passwd"), 404),
    "a whole address": (ask("GET", "http://other/"), 404),
    "an address that cannot be read": (ask("GET", "//["), 404),
    "another method": (ask("DELETE", "/v1/card"), 405),
    "a pickle": (post("/v1/logits", b"\x80\x04\x95\x00."), 400),
    "no tokens": (post("/v1/logits", pack_ask(Ask(()))), 400),
    "a negative token": (post("/v1/logits", pack_ask(Ask((-1,)))), 400),
    "a token that is too large": (post("/v1/logits", pack_ask(Ask((65,)))), 400),
    "a count that lies": (post("/v1/logits", struct.pack("<4siI", b"GVQ2", -1, 2**32 - 1)), 400),
    "a start behind the end": (post("/v1/logits", pack_ask(Ask((1, 2), start=2))), 400),
    "too many tokens": (post("/v1/logits", pack_ask(Ask((1,) * 2000))), 400),
    "text that is not UTF-8": (post("/v1/encode", b"\xff"), 400),
    "a text of unknown characters": (post("/v1/encode", "東".encode()), 400),
    "a long text": (post("/v1/encode", b"x" * 16385), 413),
    "another model": (post("/v1/logits", pack_ask(Ask((1,))), "X-Guidedviz-Model: x<script>"), 409),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_request_gets_an_error_in_four_parts_and_the_host_goes_on(host, name):
    data, status = HOSTILE[name]
    seen, error = talk(host, data)
    assert seen == status
    assert set(error) == {"where", "seen", "expected", "try"}
    assert all(0 < len(part) < 300 for part in error.values())
    assert host.model().logits([1]).shape == (65,)


@pytest.mark.parametrize("error", [SettingError("x", seen="y", expected="z"), ModelError("x"), KeyError("secret")])
def test_an_error_of_another_room_is_answered_with_something_to_try(error):
    said = json.loads(reply(error).body)["error"]
    assert said["try"]
    assert "secret" not in str(said)


def test_a_connection_that_ends_in_the_middle_does_no_harm(host):
    for data in (b"", b"GET", LOGITS + b"Content-Length: 50\r\n\r\nabc"):
        with socket.create_connection(("127.0.0.1", host.port)) as line:
            line.sendall(data)
    assert host.model().logits([1]).shape == (65,)


def test_a_student_uses_one_connection(bard):
    with hosting(bard) as host:
        model = host.model()
        for token in range(9):
            model.logits([token])
        assert len(host.lines) == 1
        assert model.wire.retries == 0


def test_a_large_answer_is_refused_before_it_is_computed(bard):
    with hosting(bard, limits=Limits(rows_bytes=1000)) as host, pytest.raises(SettingError, match="fewer rows"):
        host.model().all_logits([1] * 50, 0)


def test_an_unexpected_failure_is_an_answer_and_the_host_goes_on(bard, monkeypatch):
    async def fail(text):
        raise ConnectionResetError("the replica died, and this is its secret")

    with hosting(bard) as host:
        with monkeypatch.context() as broken:
            broken.setattr(host.service.engine, "encode", fail)
            status, error = talk(host, post("/v1/encode", b"To be"))
        assert (status, error["seen"]) == (500, "ConnectionResetError")
        assert host.model().encode("To be") == bard.encode("To be")


def test_a_student_who_leaves_is_not_computed_for(bard):
    with hosting(bard) as host:
        host.service.engine.wait = 0.3
        with socket.create_connection(("127.0.0.1", host.port)) as line:
            line.sendall(post("/v1/logits", pack_ask(Ask((1, 2)))))
            time.sleep(0.05)
        time.sleep(0.5)
        assert host.service.engine.reader.tokens == 0
        found = [account.together for account in host.service.guard.accounts.values()]
        assert found == [0]


def test_a_run_goes_on_when_the_host_is_started_again(bard):
    guide = regex_guide(bard, "[a-z]{30}")
    whole = gv.record(bard, "A", guide, seed=1).text
    with hosting(bard) as first:
        model = first.model()
        steps = gv.decode(model, "A", guide, seed=1)
        text = b"".join(next(steps).piece for _ in range(9))
    drawn = random.getstate()
    with ThreadPoolExecutor() as pool:
        rest = pool.submit(lambda: b"".join(step.piece for step in steps))
        while not model.waiting:
            time.sleep(0.01)
        assert f"The host 127.0.0.1:{first.port} does not answer" in model.waiting
        with hosting(bard, port=first.port):
            assert text + rest.result(10) == whole.encode()
    assert model.waiting == ""
    assert model.wire.retries > 0
    assert random.getstate() == drawn, "a student's own draws stay as they were"


def test_a_host_that_stays_away_is_an_error_in_four_parts(bard):
    with hosting(bard) as host:
        model = host.model(patience=0.2)
    said = r"^host 127\.0\.0\.1:\d+: saw .*refused.*, expected an answer; try: .*the run goes on where it was.*clerk"
    with pytest.raises(ModelError, match=f"(?i){said}"):
        model.logits([1])


def test_a_slow_answer_is_told(bard, monkeypatch):
    monkeypatch.setattr(connection, "SLOW_ANSWER", 0.05)
    with hosting(bard) as host, ThreadPoolExecutor() as pool:
        model = host.model(patience=0)
        host.service.engine.wait = 0.2
        asking = pool.submit(model.logits, [1])
        said = set()
        while not asking.done():
            said.add(model.waiting.partition(";")[0])
            time.sleep(0.01)
        assert said == {"", f"The host {model.host} does not answer (it is slow)"}


def test_an_answer_that_never_ends_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        pool.submit(drip, server)
        address = read_address(f"http://127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(ModelError, match="takes too long"):
            Connection(address, patience=0, timeout=0.2).ask("GET", "/v1/card")


def drip(server):
    """Send an answer byte by byte."""
    line, _ = server.accept()
    with line, suppress(OSError):
        line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            line.sendall(b"x")
            time.sleep(0.02)


def test_a_host_that_has_another_model_now_is_refused_by_name(bard, clerk):
    with hosting(bard) as host:
        model = host.model()
    with hosting(clerk, port=host.port), pytest.raises(ModelError, match=r"expected one for clerk .*load the model"):
        model.logits([1])


def test_a_guide_of_another_vocabulary_is_refused_and_names_the_host(host, clerk):
    guide = regex_guide(clerk, "a+")
    with pytest.raises(SettingError, match=rf"a guide over .*4,096.* and 127\.0\.0\.1:{host.port} · bard with .*65"):
        next(gv.decode(host.model(), "A", guide))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 418])
def test_what_a_hostile_host_says_is_escaped_and_short(status):
    wire = Connection(read_address("http://127.0.0.1:9"))
    said = {"error": dict.fromkeys(("where", "seen", "expected", "try"), "\x1b" * 999)}
    for body in (b"{}", json.dumps(said).encode()):
        error = wire._refused(status, body)
        assert str(error).isprintable()
        assert len(str(error)) < 4000
        assert error.hint
    assert "status 418" in str(wire._refused(418, b"{}"))


def test_an_answer_that_is_too_long_is_not_read(host):
    with pytest.raises(ModelError):
        host.wire(patience=0).ask("GET", "/v1/vocabulary", most=10)


def test_the_class_page_shows_the_names_of_tokens_and_the_steps(bard):
    ada = "ada-0123456789abcdef"
    with hosting(bard, {"Ada <b>": ada, "teacher": TOKEN}) as host:
        host.model(ada).logits([1])
        said = json.loads(host.wire(TOKEN).ask("GET", "/v1/class"))
        assert [(one["name"], one["steps"]) for one in said["students"]] == [("Ada <b>", 1)]
        assert said["facts"].startswith("bard · NumPy · cpu · 1 students · 0.0 steps per second")


@pytest.mark.parametrize(
    ("path", "kind"), [("", "text/html"), ("/class.js", "text/javascript"), ("/class.css", "text/css")]
)
def test_the_class_page_is_files_under_a_policy_that_allows_nothing_else(guarded, path, kind):
    page = Request(f"{guarded.address}/class{path}")
    head = Request(page.full_url, method="HEAD")
    with urlopen(page, timeout=5) as answer, urlopen(head, timeout=5) as short:
        headers = answer.headers
        assert len(answer.read()) == int(short.headers["Content-Length"])
        assert short.read() == b""
    assert headers["Content-Type"] == f"{kind}; charset=utf-8"
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in headers["Content-Security-Policy"]
    assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")


def test_with_one_token_for_the_class_students_have_numbers_while_they_take_steps():
    guard = Guard({"": TOKEN})
    for session in "ab":
        with guard.counted(guard.name(f"Bearer {TOKEN}", session, "10.0.0.1")) as account:
            account.steps.append((1000.0, 0.01))
    card = {"name": "bard", "device": "cpu"}
    for now, names in ((1001.0, ["student 1", "student 2"]), (1099.0, [])):
        said = sum_up_class(guard.accounts, card, 0, guard.named, now=now)
        assert [one["name"] for one in said["students"]] == names


def test_https_needs_a_certificate_that_is_trusted(bard, certificate, monkeypatch):
    with hosting(bard, files=certificate) as host:
        address = host.address
        with pytest.raises(ModelError, match=r"expected a trusted certificate"):
            gv.load_model(address)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        assert gv.load_model(address).logits([1]).shape == (65,)
