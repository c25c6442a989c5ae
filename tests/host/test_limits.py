"""Claims about who may ask: tokens, requests per second, requests at once."""

import os
import re
import sys
from contextlib import suppress

import pytest

from guidedviz.__main__ import main
from guidedviz.errors import SettingError
from guidedviz.host.access import check_token, make_token, read_tokens, warn_of_tokens
from guidedviz.host.app import build_app
from guidedviz.host.limits import Guard, Limits, Refused, name_session

ADA, BOB = "ada-0123456789abcdef", "bob-0123456789abcdef"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_token_of_a_student_names_the_student_and_a_token_of_the_class_the_session():
    token = check_token("a new token", make_token())
    guard = Guard({"Ada": ADA, "": token})
    assert guard.name(f"Bearer {ADA}", "s", "10.0.0.1") == "Ada"
    found = guard.name(f"bearer {token}", "s", "10.0.0.1")
    assert found == f"10.0.0.1/{name_session('s')}"
    assert guard.name(f"bearer {token}", "", "10.0.0.1") == "10.0.0.1/"
    for wrong in ("", "Bearer ", f"Basic {ADA}", f"Bearer {ADA}x", "Bearer \ud800", ADA):
        with pytest.raises(Refused, match="an unknown token, or none"):
            guard.name(wrong, "s", "10.0.0.1")
    assert len(Guard({}).name("", "x" * 1000, "127.0.0.1")) == len("127.0.0.1/") + 32


def test_a_student_has_a_burst_and_then_a_rate():
    clock = Clock()
    guard = Guard({}, Limits(rate=10, burst=3), clock)

    def asked(times, student="Ada"):
        """How many of so many requests are granted."""
        granted = 0
        for _ in range(times):
            with suppress(Refused), guard.counted(student):
                granted += 1
        return granted

    assert asked(5) == 3
    assert asked(1, "Bob") == 1, "another student has a rate of their own"
    clock.now = 0.1
    assert asked(2) == 1
    clock.now = 100
    assert asked(4) == 3


def test_a_student_has_only_so_many_requests_at_once():
    guard = Guard({}, Limits(together=2))
    with guard.counted("Ada"):
        with guard.counted("Ada"), pytest.raises(Refused, match="2 requests at once"), guard.counted("Ada"):
            pass
        with guard.counted("Ada") as account:
            assert account.together == 2
    assert account.together == 0


def test_only_so_many_students_are_remembered():
    guard = Guard({}, Limits(students=3))
    for number in range(10):
        with guard.counted(str(number)):
            pass
    assert list(guard.accounts) == ["7", "8", "9"]


def test_a_file_of_tokens_has_a_line_per_student(tmp_path):
    file = tmp_path / "tokens"
    file.write_text(f"# class 7b\nAda Lovelace {ADA}\n\nBob {BOB}\n")
    assert read_tokens(file) == {"Ada Lovelace": ADA, "Bob": BOB}
    file.write_text(ADA)
    assert read_tokens(file) == {"": ADA}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no token"),
        (b"Ada short", "a token of 5 characters"),
        (f"Ada {ADA}\nBob {ADA}".encode(), "line 2: saw the same name or token twice"),
        (b"\xff\xfe", "other bytes than UTF-8"),
    ],
)
def test_a_wrong_file_of_tokens_is_refused_with_its_line(tmp_path, text, said):
    (tmp_path / "tokens").write_bytes(text)
    with pytest.raises(SettingError, match=said) as caught:
        read_tokens(tmp_path / "tokens")
    assert ADA not in str(caught.value)


# --- tokens that others can see ---


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
@pytest.mark.parametrize("mode", [0o600, 0o400, 0o700, 0o640, 0o604, 0o620, 0o602, 0o777])
def test_a_file_of_tokens_that_others_can_read_is_warned_of(tmp_path, capsys, mode):
    file = tmp_path / "tokens of 7b"
    file.write_text(f"Ada {ADA}\n")
    file.chmod(mode)
    warn_of_tokens(file)
    warning = f"warning: tokens file .*saw mode {mode:o}.*try: chmod 600 '{file}'\n"
    assert re.fullmatch(warning if mode & 0o077 else "", capsys.readouterr().err)


def test_a_token_in_the_command_line_is_warned_of_and_not_repeated(capsys):
    warn_of_tokens(None)
    assert capsys.readouterr().err == ""
    warn_of_tokens(None, ADA)
    said = capsys.readouterr().err
    assert re.search("`ps` shows.*GUIDEDVIZ_TOKEN", said)
    assert ADA not in said


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_the_command_and_a_cluster_warn_of_tokens_that_others_can_see(tmp_path, capsys, monkeypatch):
    file = tmp_path / "tokens"
    file.write_text(f"Ada {ADA}\n")
    file.chmod(0o644)
    found = main(["host", "--tokens", str(file), "--token", BOB, "--port", "70000"])
    assert found == 1
    assert capsys.readouterr().err.count("warning: ") == 2
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingError, match="classroom"):
        build_app({"tokens": str(file)})
    assert capsys.readouterr().err.count("warning: ") == 1
