"""Claims about sessions: each belongs to a secret, and a classmate who lacks it reaches nothing of it.

The classmate has the same address, the same nickname and the token of the class, as in a school behind one address.
"""

import json
from http.client import HTTPConnection
from secrets import token_urlsafe

import pytest

from guidedviz.host.limits import Limits, name_session
from guidedviz.models.frames import Ask, pack_ask
from tests.host.running import TOKEN, hosting

TEACHER, ADA_TOKEN, BOB_TOKEN = "a-token-of-the-teacher", "a-token-of-ada-lovelace", "a-token-of-bob-the-other"
ADA = token_urlsafe(24)
PLACE = {"nickname": "Ada", "lab": "03_fsm"}
ANSWER = PLACE | {"place": "Which?", "state": "answered", "choices": ["a", "b"], "answer": "a"}
CHECK = PLACE | {"place": "check advance", "state": "right"}
STOLEN = {**ANSWER, "answer": "b"}, {**CHECK, "state": "wrong"}
RUN = {"name": "", "begins": True, "steps": 1, "shown": "a"}
ASKED = pack_ask(Ask((1, 2, 3)))
JSON, BYTES = "application/json", "application/octet-stream"


def send(host, method, path, body=b"", token=TOKEN, secret=None, kind=JSON, **headers):
    """One request; gives the status and the body of its answer."""
    line = HTTPConnection("127.0.0.1", host.port, timeout=10)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": kind, **headers}
    if secret is not None:
        headers["X-Guidedviz-Student"] = secret
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    line.request(method, path, body, headers)
    answer = line.getresponse()
    said = answer.status, answer.read().decode("latin-1")
    line.close()
    return said


def look(host, token=TEACHER):
    """Where the students stand, and the bars of the question."""
    said = json.loads(send(host, "GET", "/v1/class", token=token)[1])
    standing = sorted((one["nickname"], one["place"], one["state"]) for one in said["standing"])
    return standing, [dict(question["bars"]) for question in said["questions"]]


@pytest.fixture
def room(bard):
    """A host of a class where Ada has answered a question and passed a check."""
    with hosting(bard, {"": TOKEN, "teacher": TEACHER}) as host:
        for told in (ANSWER, CHECK):
            assert send(host, "POST", "/v1/class", told, secret=ADA) == (200, "{}")
        assert send(host, "POST", "/v1/logits", ASKED, secret=ADA, kind=BYTES)[0] == 200
        yield host


def test_two_students_with_one_address_and_one_nickname_have_two_sessions(room):
    other = token_urlsafe(24)
    for told in STOLEN:
        assert send(room, "POST", "/v1/class", told, secret=other) == (200, "{}")
    standing, bars = look(room)
    assert standing == [("Ada", "check advance", "right"), ("Ada", "check advance", "wrong")]
    assert bars == [{"a": 1, "b": 1}]


NO_SECRETS = [None, "", "Ada", "x" * 21]
WRONG_SECRETS = [
    token_urlsafe(24), name_session(ADA), ADA.swapcase(), ADA[:-1], ADA + "x", f'"{ADA}"', f"127.0.0.1/{ADA}",
    f"127.0.0.1/{name_session(ADA)}", "127.0.0.1/Ada, following", "teacher" * 4, "Ada" * 10, "%" * 30, "*" * 30,
]  # fmt: skip


def attack(room, secret):
    """Everything that the protocol offers, with this secret; gives all that is answered."""
    heard = []
    for told in STOLEN:
        heard.append(send(room, "POST", "/v1/class", told, secret=secret))
        named = told | {"session": name_session(ADA)}  # what an earlier protocol or another one might read
        heard.append(send(room, "POST", "/v1/class", named, secret=secret))
        heard.append(send(room, "POST", "/v1/class?student=Ada", told, secret=secret))
        headers = {"X-Forwarded-For": "127.0.0.1", "Cookie": "session=Ada"}
        heard.append(send(room, "POST", "/v1/class", told, secret=secret, **headers))
    for path in ("/v1/class", "/v1/class/Ada", "/v1/run?known=Ada", "/v1/logits", "/v1/card", "/v1/sessions"):
        heard += [send(room, method, path, secret=secret) for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE")]
    heard.append(send(room, "POST", "/v1/class/forget", {}, secret=secret))
    heard.append(send(room, "POST", "/v1/run", RUN, secret=secret))
    heard.append(send(room, "POST", "/v1/logits", ASKED, secret=secret, kind=BYTES))
    heard.append(send(room, "POST", "/v1/chat", "Ada", secret=secret))
    return [body for _, body in heard]


@pytest.mark.parametrize("secret", [*NO_SECRETS, *WRONG_SECRETS], ids=range(17))  # drawn anew in each process
@pytest.mark.quick("0", "4", "8")
def test_a_classmate_without_the_secret_reaches_nothing_of_a_session(room, secret):
    desk = room.service.desk
    session = name_session(ADA)
    before = desk.standing.students[session]
    account = room.service.guard.accounts[f"127.0.0.1/{session}"]
    heard = attack(room, secret)
    assert desk.standing.students[session] is before, "nobody writes, ends or takes over it"
    assert len(account.steps) == 1
    assert account.together == 0
    assert desk.run.known == ""
    assert not any(ADA in body or session in body for body in heard), "nobody reads it"
    standing, [bars] = look(room)
    assert ("Ada", "check advance", "right") in standing
    assert bars["a"] == 1
    assert len(standing) == 1 or secret not in NO_SECRETS, "without a secret there is no session"


@pytest.mark.parametrize("secret", NO_SECRETS)
def test_without_a_secret_a_report_is_refused_and_says_what_to_try(room, secret):
    status, body = send(room, "POST", "/v1/class", CHECK, secret=secret)
    error = json.loads(body)["error"]
    assert (status, error["where"]) == (400, "header X-Guidedviz-Student")
    assert "newer guidedviz" in error["try"]


def test_a_classmate_uses_up_nothing_of_a_student_with_a_secret(bard):
    with hosting(bard, {"": TOKEN}, Limits(rate=1, burst=8, together=1)) as host:
        for secret in (None, "Ada", token_urlsafe(24)):
            assert 429 in [send(host, "GET", "/v1/card", secret=secret)[0] for _ in range(11)]
        found = [send(host, "GET", "/v1/card", secret=ADA)[0] for _ in range(5)]
        assert found == [200] * 5


def test_the_host_keeps_no_secret(room):
    desk = room.service.desk
    kept = [room.service.guard.accounts, desk.standing.students, desk.standing.questions, vars(desk._sessions)]
    assert ADA not in repr(kept)


def test_with_a_token_per_student_the_token_says_who_it_is_and_nothing_else_does(bard):
    with hosting(bard, {"": TOKEN, "ada": ADA_TOKEN, "bob": BOB_TOKEN, "teacher": TEACHER}) as host:
        for secret in (ADA, token_urlsafe(24), "", None):
            for told in (ANSWER, CHECK | {"nickname": "Ada again"}):
                assert send(host, "POST", "/v1/class", told, ADA_TOKEN, secret) == (200, "{}")
        for told in STOLEN:
            send(host, "POST", "/v1/class", told, BOB_TOKEN, ADA)
        standing, bars = look(host)
        assert standing == [("Ada", "check advance", "wrong"), ("Ada again", "check advance", "right")]
        assert bars == [{"a": 1, "b": 1}]
        send(host, "POST", "/v1/class", CHECK, TOKEN, ADA)
        assert len(look(host)[0]) == 3, "a token of the class beside that of a student"
