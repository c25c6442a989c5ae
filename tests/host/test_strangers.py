"""Claims about strangers: other web pages, half requests, guessed tokens, invented sessions, hostile hosts."""

import json
import socket
import time
from collections import Counter
from contextlib import ExitStack, suppress
from urllib.request import urlopen

import pytest
from starlette.datastructures import Headers

import guidedviz as gv
from guidedviz.errors import ModelError
from guidedviz.host import app, server
from guidedviz.host.app import check_sender
from guidedviz.host.limits import WRONG, Guard, Limits, Refused
from guidedviz.host.standing import NEW
from guidedviz.models.connection import HOST_PATIENCE, read_address
from guidedviz.models.remote import MOST_RUN, read_card
from tests.host.running import TOKEN, hosting
from tests.host.test_host import JSON, ask, talk

PLACE = {"nickname": "Ada", "lab": "03_fsm", "place": "Which?"}
PLACE |= {"state": "answered", "choices": ["a", "b"], "answer": "a"}
RUN = {"name": "", "begins": False, "steps": 0, "shown": "a"}
LONG = RUN | {"shown": "y" * MOST_RUN}
KINDS = dict.fromkeys(("/v1/class", "/v1/class/forget", "/v1/run", "/v1/chat", "/v1/again"), "application/json")
KINDS |= dict.fromkeys(("/v1/logits", "/v1/encode"), "application/octet-stream")
FORMS = ["text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]


def tell(host, path, said, *headers, name="127.0.0.1"):
    """Post JSON; gives the status and the error."""
    body = json.dumps(said).encode()
    return talk(host, ask("POST", path, *headers, body=body, host=name))


def connect(host):
    return socket.create_connection(("127.0.0.1", host.port), timeout=5)


# --- other web pages ---


@pytest.mark.parametrize("path", ["/v1/class", "/v1/class/forget", "/v1/run", "/v1/chat", "/v1/again", "/v1/look"])
@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Type: text/plain", "Origin: http://evil.example", "Sec-Fetch-Site: cross-site"],  # no-cors
        [JSON, "Origin: null"],
        [JSON, "Sec-Fetch-Site: cross-site"],
        [JSON, "Sec-Fetch-Site: same-site"],  # another port of this machine
    ],
)
def test_another_web_page_changes_nothing(host, path, headers):
    status, error = tell(host, path, {}, *headers)
    assert status == 403
    assert error["where"] == "origin"
    assert error["expected"] == "no other web page"


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize("path", KINDS)
def test_no_form_can_ask_for_anything(host, path, kind):
    status, error = tell(host, path, {}, f"Content-Type: {kind}")
    assert (status, error["expected"]) == (415, KINDS[path])


def test_json_is_sent_as_json(host):
    assert tell(host, "/v1/class", PLACE)[0] == 415


@pytest.mark.parametrize("path", ["/v1/card", "/v1/class", "/v1/run", "/class", "/v1/health"])
@pytest.mark.parametrize("name", ["evil.example:8765", "127.0.0.1:80@evil.com", "[::1]evil.com"])
def test_a_host_without_a_token_knows_only_names_of_this_machine(host, path, name):
    """A page of evil.example whose name now stands for 127.0.0.1 is of the same origin: only the name shows it."""
    status, error = talk(host, ask("GET", path, host=name))
    assert (status, error["where"]) == (403, "header Host")


NAMES_OF_THIS_MACHINE = [
    "127.0.0.1", "127.0.0.1:1", "127.0.0.1:8765", "127.0.0.1:65535", "127.9.9.9", "localhost", "LocalHost:80",
    "[::1]", "[::1]:8765", "[0:0::0:1]:80",
]  # fmt: skip
NO_NAMES = [
    "", " ", ".", ":", ":80", "@", "[]", "[::1", "::1", "::1:80", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:080",
    "127.0.0.1:65536", "127.0.0.1:99999999", "127.0.0.1:-1", "127.0.0.1:+80", "127.0.0.1:8 0", "127.0.0.1:80:80",
    "127.0.0.1:evil.com", "127.0.0.1:80@evil.com", "evil.com@127.0.0.1", "127.0.0.1/", "127.0.0.1:80/x", "127.0.0.1?x",
    "127.0.0.1#x", "127.0.0.1,evil.com", "127.0.0.1 evil.com", "127.0.0.1\\evil.com", "127.0.0.1\tx", "127.0.0.1:80\n",
    "[::1]evil.com", "[::1].evil.com", "[::1]:evil.com", "[::1]:80@evil.com", "[::1]:", "[::1%lo]", "[::1%25lo]:80",
    "[::1]%lo", "[127.0.0.1]", "[localhost]", "[:::1]", "[::g]", "http://127.0.0.1", "localhost%2eevil.com",
    "localhost..", "localhost\u0661", "127.0.0.\u00b9", "127.0.0.1:\u00b2",
]  # fmt: skip
NAMES_OF_OTHERS = [
    "localhost.", "127.0.0.1.", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.01", "0.0.0.0", "[::]",
    "evil.com", "evil.com:80", "localhost.evil.com", "127.0.0.1.evil.com", "localhost-evil.com", "[::2]", "[fe80::1]",
]  # fmt: skip


def is_let_in(guarded, *headers):
    """Whether a request with these headers is let in."""
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
    try:
        check_sender(Headers(raw=raw), "/v1/card", guarded)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("guarded", [False, True])
def test_a_header_host_is_one_name_and_a_port_and_nothing_else(guarded):
    for name in NAMES_OF_THIS_MACHINE:
        assert is_let_in(guarded, ("host", name)), name
    for name in NO_NAMES:
        assert not is_let_in(guarded, ("host", name)), name
    for name in NAMES_OF_OTHERS:
        assert is_let_in(guarded, ("host", name)) == guarded, name
    assert not is_let_in(guarded)
    assert not is_let_in(guarded, ("host", "127.0.0.1"), ("host", "127.0.0.1"))


@pytest.mark.parametrize("guarded", [False, True])
def test_an_origin_is_that_of_this_host_and_nothing_else(guarded):
    host = ("host", "127.0.0.1:8765")
    for origin in ("http://127.0.0.1:8765", "https://127.0.0.1:8765", "HTTP://127.0.0.1:8765"):
        assert is_let_in(guarded, host, ("origin", origin)), origin
    for origin in (
        "", "null", "127.0.0.1:8765", "://127.0.0.1:8765", "x://127.0.0.1:8765", "http://127.0.0.1", "http://127.0.0.1:1",
        "http://evil.com", "http://evil.com://127.0.0.1:8765", "http://127.0.0.1:8765@evil.com", "http://127.0.0.1:8765/",
        "http://127.0.0.1:8765.evil.com", "http://localhost:8765",
    ):  # fmt: skip
        assert not is_let_in(guarded, host, ("origin", origin)), origin
    assert not is_let_in(guarded, host, ("origin", "http://127.0.0.1:8765"), ("origin", "http://evil.com"))


def test_the_page_of_this_host_may_ask_and_may_be_linked(host, guarded):
    own = f"127.0.0.1:{host.port}"
    same = ["Sec-Fetch-Site: same-origin", f"Origin: http://{own}"]
    assert tell(host, "/v1/class/forget", {}, JSON, *same, name=own)[0] == 200
    assert talk(host, ask("GET", "/class", "Sec-Fetch-Site: cross-site"))[0] == 200
    signed = ask("GET", "/v1/card", f"Authorization: Bearer {TOKEN}", host="class.school")
    assert talk(guarded, signed)[0] == 200, "a host with a token may stand behind any name"


# --- what is kept and sent ---


def test_the_front_page_and_the_list_of_runs_say_where_to_go_without_a_script(host):
    with urlopen(f"{host.address}/") as answer:
        front = answer.read().decode()
    for place in ('<a href="/runs">', '<a href="/class">', "<code>/v1</code>"):
        assert place in front
    with urlopen(f"{host.address}/runs") as answer:
        assert b"<noscript>" in answer.read()


def test_a_student_gets_only_so_many_bytes_of_a_run(bard):
    with hosting(bard, limits=Limits(run_bytes=1000, run_rate=1000.0)) as host:
        status, _ = tell(host, "/v1/run", RUN | {"shown": "y" * 1800}, JSON)
        assert status == 200
        wire = host.wire(patience=0)
        assert wire.ask("GET", "/v1/run")
        with pytest.raises(ModelError, match="status 429"):
            wire.ask("GET", "/v1/run")
        assert host.wire(patience=0).ask("GET", "/v1/run"), "another student"
        wire.patience = 5.0
        assert wire.ask("GET", "/v1/run"), "later"


def read_slowly(host, student, lines):
    """A connection that asks for the run, and reads next to nothing of it."""
    line = lines.enter_context(socket.socket())
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(20)
    line.connect(("127.0.0.1", host.port))
    line.sendall(ask("GET", "/v1/run", f"X-Guidedviz-Student: {student}") * 4)
    return line


@pytest.mark.slow
def test_hundreds_of_slow_readers_keep_nobody_waiting_and_take_little_memory(bard):
    with hosting(bard, limits=Limits(sent_bytes=40 << 20)) as host, ExitStack() as lines:
        tell(host, "/v1/run", LONG, JSON)
        readers = [read_slowly(host, number, lines) for number in range(200)]
        began = time.perf_counter()
        assert talk(host, ask("GET", "/v1/health"))[0] == 200
        assert time.perf_counter() - began < 10
        answers = [reader.recv(400) for reader in readers]
        statuses = Counter(answer[9:12] for answer in answers)
        assert statuses == {b"200": 19, b"503": 181}, "half of 40 MB for an address"
        status, error = talk(host, ask("GET", "/v1/run"))
        assert status == 503
        assert error["expected"] == f"at most {20 << 20} for address 127.0.0.1"
        held = sum(line.transport.get_write_buffer_size() for line in [*host.lines])
        assert held < 20 * 2 * server.UNREAD + 200 * 8 * 1024
        lines.close()
        assert host.wire(patience=5.0).ask("GET", "/v1/run", most=2 << 20)


def test_an_answer_that_is_read_too_slowly_is_closed_in_time(bard, monkeypatch):
    monkeypatch.setattr(server, "SECONDS_TO_READ", 0.3)
    with hosting(bard) as host, ExitStack() as lines:
        tell(host, "/v1/run", LONG, JSON)
        line = read_slowly(host, "Ada", lines)
        began = time.monotonic()
        found = 0
        with suppress(ConnectionError):
            while part := line.recv(20_000):
                found += len(part)
                time.sleep(0.02)
        assert found < MOST_RUN
        assert time.monotonic() - began < 10


def test_what_is_on_its_way_has_shares_for_all_an_address_and_a_student():
    tokens = {"": TOKEN, "Ada": f"{TOKEN}-2", "Bob": f"{TOKEN}-3"}
    guard = Guard(tokens, Limits(sent_bytes=800))

    def send(*sent):
        with ExitStack() as on_their_way:
            for student, address, size in sent:
                on_their_way.enter_context(guard.sent(student, address, size))

    send(("Ada", "a", 900))  # one answer may have any size
    send(("Ada", "a", 50), ("Ada", "a", 50))
    for many, seen in (
        ([("Ada", "a", 50), ("Ada", "b", 51)], "at most 100 for student Ada"),
        ([("a/1", "a", 300), ("a/2", "a", 101)], "at most 400 for address a"),
        ([("a/1", "a", 400), ("b/1", "b", 400), ("Bob", "b", 1)], "at most 800 for all"),
    ):
        with pytest.raises(Refused, match=seen) as caught:
            send(*many)
        assert caught.value.status == 503
        assert bool(caught.value.hint)
    send(("a/1", "a", 400), ("Ada", "a", 100), ("Bob", "a", 100))  # students with tokens have no share of an address


# --- half requests and too many connections ---


def open_lines(host, count, data):
    """So many connections with half a request each."""
    lines = ExitStack()
    for _ in range(count):
        line = lines.enter_context(connect(host))
        with suppress(ConnectionError):
            line.sendall(data)
    return lines


HALVES = [b"", b"GET /v1/ca", b"GET /v1/card HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
          b"POST /v1/logits HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50\r\n\r\nabc"]  # fmt: skip


@pytest.mark.slow
def test_thousands_of_half_requests_keep_nobody_out(bard):
    with hosting(bard) as host:
        student = host.model()
        with open_lines(host, 4000, b"GET /v1/ca"):
            began = time.perf_counter()
            assert host.model().logits([1]).shape == (65,)
            assert student.logits([2]).shape == (65,)
            assert time.perf_counter() - began < 10
            assert len(host.lines) <= server.PER_ADDRESS + 2


@pytest.mark.parametrize(
    ("secure", "data"), [*((False, data) for data in HALVES), (True, b""), (True, b"\x16\x03\x01")]
)
def test_half_a_request_and_half_a_handshake_are_closed_in_time(bard, monkeypatch, certificate, secure, data):
    for module, name in ((server, "SECONDS_TO_ASK"), (app, "SECONDS_TO_SEND")):
        monkeypatch.setattr(module, name, 0.2)
    files = certificate if secure else (None, None)
    with hosting(bard, files=files) as host, connect(host) as line:
        began = time.monotonic()
        line.sendall(data)
        closes_within(line, began, 2)


def test_a_request_that_comes_byte_by_byte_is_closed_in_time(bard, monkeypatch):
    monkeypatch.setattr(server, "SECONDS_TO_ASK", 0.4)
    with hosting(bard) as host, connect(host) as line:
        line.sendall(ask("GET", "/v1/health"))
        assert line.recv(1000).startswith(b"HTTP/1.1 200")
        began = time.monotonic()
        with suppress(ConnectionError):
            for _ in range(100):
                line.sendall(b"G")
                time.sleep(0.02)
        closes_within(line, began, 1.5)


def closes_within(line, began, seconds):
    with suppress(ConnectionError):
        while line.recv(1000):
            pass
    assert time.monotonic() - began < seconds


def test_an_answer_that_nobody_reads_is_one_of_the_requests_at_once(bard):
    with hosting(bard, limits=Limits(together=2)) as host:
        tell(host, "/v1/run", LONG, JSON)
        with ExitStack() as lines:
            for _ in range(2):
                read_slowly(host, "", lines)
            time.sleep(0.3)
            assert talk(host, ask("GET", "/v1/run"))[0] == 429
        assert host.wire(patience=5.0).ask("GET", "/v1/run", most=2 << 20)


# --- tokens ---


def test_a_token_that_was_right_stays_right_while_its_address_is_slowed_down():
    guard = Guard({"Ada": TOKEN, "Bob": f"{TOKEN}-2"}, now=lambda: now)
    now = 0.0

    def name(token, address="10.0.0.1"):
        return guard.name(f"Bearer {token}", "", address)

    assert name(TOKEN) == "Ada"
    for number in [*range(WRONG), *[3] * 50]:  # a program that repeats its wrong token guesses nothing
        with pytest.raises(Refused, match="an unknown token") as wrong:
            name(f"wrong-{number}")
    assert name(TOKEN) == "Ada"
    with pytest.raises(Refused, match="10 wrong tokens") as slowed:
        name(f"{TOKEN}-2")
    assert (wrong.value.status, slowed.value.status) == (401, 429)
    assert name(f"{TOKEN}-2", "10.0.0.2") == "Bob", "another address"
    now = 61.0
    assert name(f"{TOKEN}-2") == "Bob"


# --- what a hostile host says ---


CARD = {"protocol": 2, "name": "x", "device": "cpu", "vocabulary": "v", "version": "1", "context": 9, "size": 9}


@pytest.mark.parametrize(
    "said",
    [b"", b"[" * 5000, b"<script>", {"name": 1}, {"version": "1\r\nX: y"}, {"version": "x" * 100_000},
     {"name": "a\u202eb"}, {"device": "\ud800"}, {"vocabulary": "x\n"}, {"context": True}],
)  # fmt: skip
def test_a_card_with_a_strange_text_is_an_error_in_four_parts(said):
    address = read_address("http://h", "")
    assert read_card(json.dumps(CARD).encode(), address)["version"] == "1"
    body = said if isinstance(said, bytes) else json.dumps(CARD | said).encode()
    with pytest.raises(ModelError, match="expected the card of a model"):
        read_card(body, address)


def test_the_other_one_of_http_and_https_is_named_at_once(host, bard, certificate):
    began = time.monotonic()
    with pytest.raises(ModelError, match=r"saw no answer in https, expected an address that begins with http://"):
        gv.load_model(host.address.replace("http", "https"))
    with (
        hosting(bard, files=certificate) as secure,
        pytest.raises(ModelError, match=r"saw no answer in http, .* try: gv.load_model\(\"https://127"),
    ):
        gv.load_model(secure.address.replace("https", "http"))
    assert time.monotonic() - began < HOST_PATIENCE / 6


# --- sessions ---


def test_one_address_gets_few_sessions_and_each_votes_once(bard):
    with hosting(bard) as host:

        def vote(number, answer):
            secret = f"X-Guidedviz-Student: a-secret-of-student-number-{number}"
            return tell(host, "/v1/class", PLACE | {"answer": answer}, JSON, secret)[0]

        statuses = [vote(number, "a") for number in range(NEW + 2)]
        assert statuses == [200] * NEW + [429] * 2
        assert vote(1, "b") == 200, "the same one again"
        said = host.wire().ask("GET", "/v1/class")
        [question] = json.loads(said)["questions"]
        assert question["bars"] == [["a", NEW], ["b", 0]]
