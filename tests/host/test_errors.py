"""Claims about the errors of a host and of its client: each says what to try."""

import ast
import json
from pathlib import Path

import pytest

import guidedviz
from guidedviz.errors import ModelError, SettingError
from guidedviz.host.app import reply
from guidedviz.host.standing import read_report
from guidedviz.models.connection import Connection, read_address

PACKAGE = Path(guidedviz.__file__).parent
CLIENT = [PACKAGE / "models" / name for name in ("remote.py", "reports.py", "frames.py")]
FILES = [*sorted((PACKAGE / "host").glob("*.py")), *CLIENT]
ERRORS = {"SettingError", "ModelError", "TraceError", "VocabularyError", "GuidedVizError", "Refused"}


def calls_of_errors(file):
    """The calls in a file that make an error."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [call for call in calls if call.func.id in ERRORS]


def says_what_to_try(call):
    """Whether a call that makes an error gives a hint: the fifth value of `Refused`, else the word `hint`."""
    given = [word.value for word in call.keywords if word.arg == "hint"]
    if call.func.id == "Refused":
        given += call.args[4:5]
    if not given:
        return False
    return not (isinstance(given[0], ast.Constant) and not given[0].value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_each_error_in_the_source_says_what_to_try(file):
    calls = [call for call in calls_of_errors(file) if not says_what_to_try(call)]
    silent = [f"line {call.lineno}: {ast.unparse(call)}" for call in calls]
    assert silent == []


def test_the_source_has_errors_to_look_at():
    assert sum(len(calls_of_errors(file)) for file in FILES) > 50


@pytest.mark.parametrize("error", [SettingError("x", seen="y", expected="z"), ModelError("x"), KeyError("secret")])
def test_an_error_of_another_room_is_answered_with_something_to_try(error):
    said = json.loads(reply(error).body)["error"]
    assert said["try"]
    assert "secret" not in said["try"]


def test_a_report_of_another_shape_says_what_to_try():
    for body in (b"", b"[]", b"{}", b'{"nickname": ""}', b'{"more": 1}', b"[" * 9999):
        with pytest.raises(SettingError) as caught:
            read_report(body)
        assert caught.value.hint


def test_what_a_host_refuses_says_on_the_client_what_to_try():
    wire = Connection(read_address("http://127.0.0.1:9"))
    for status in (400, 401, 403, 404, 409, 418):
        assert wire._refused(status, b"{}").hint
