"""Long work shows its progress; short work, a headless notebook and other threads show none."""

import logging
import re
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tqdm.notebook import tqdm_notebook

import guidedviz as gv
from guidedviz import progress
from guidedviz.progress import Progress, with_progress
from guidedviz.tokens.index import compute_index

LIBRARY = Path(gv.__file__).parent


@pytest.fixture
def watched(monkeypatch):
    """A notebook that somebody looks at; the bar comes at once."""
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    monkeypatch.setattr(progress, "PATIENCE", 0)


def work():
    return list(with_progress(range(9), "quiet", "part"))


def test_work_of_less_than_a_second_shows_nothing(watched, monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 1)
    assert work() == [*range(9)]
    assert capsys.readouterr().err == ""


def test_long_work_shows_how_far_it_is(watched, capsys):
    with Progress("slow", "part", 3) as work:
        work.tick()
        work.tick()
        assert (work.bar.n, work.bar.total) == (2, 3)
    assert "slow: " in capsys.readouterr().err


@pytest.mark.parametrize("quiet", ["headless", "file", "no tqdm"])
def test_nothing_is_shown_where_nobody_looks(watched, monkeypatch, capsys, quiet):
    if quiet == "headless":
        monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    elif quiet == "file":
        monkeypatch.setattr(progress, "in_notebook", lambda: False)
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    assert work() == [*range(9)]
    assert capsys.readouterr().err == ""


def test_a_thread_shows_nothing(watched, capsys):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert capsys.readouterr().err == ""


def test_a_terminal_is_watched_and_a_file_is_not(monkeypatch):
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    for is_terminal in (True, False):
        monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda shown=is_terminal: shown))
        assert progress.is_watched() == is_terminal


def test_a_record_and_an_index_are_such_work(watched, capsys):
    toy = gv.ToyModel([b"a", b"b"], lambda tokens: np.zeros(2))
    gv.record(toy, "a", max_tokens=5)
    assert "record: " in capsys.readouterr().err
    compute_index.cache_clear()
    gv.build_index(gv.regex("(ab|ba)*"), toy.vocabulary)
    assert "index: " in capsys.readouterr().err


def test_an_error_closes_the_bar(watched, capsys):
    def broken():
        yield from range(3)
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        list(with_progress(broken(), "broken", "part", 9))
    assert capsys.readouterr().err.endswith("\r"), "the line is cleared"


@pytest.mark.parametrize("parts", [3, 9])
def test_no_bar_stays_in_a_notebook(watched, monkeypatch, parts):
    """A run ends at its end token, long before its limit: the bar goes as it does at the limit, and is not red."""
    monkeypatch.setattr("tqdm.auto.tqdm", tqdm_notebook)
    with Progress("early", "part", 9) as work:
        for _ in range(parts):
            work.tick()
    _, shown, _ = work.bar.container.children
    assert shown.bar_style != "danger"
    assert work.bar.container.layout.visibility == "hidden"


def test_only_commands_and_checks_print():
    """What commands say is printed: the host is one, and a check shows what the student's function prints."""
    may_print = {"__main__.py", "host/access.py", "host/server.py", "checks/guard.py"}
    for path in LIBRARY.rglob("*.py"):
        name = path.relative_to(LIBRARY).as_posix()
        if re.search(r"^ *print\(", path.read_text(), re.MULTILINE) and "node_modules" not in name:
            assert name in may_print or name.startswith("commands/")


def test_the_library_logs_what_it_loads_and_builds(monkeypatch):
    lines = []
    for level in ("info", "debug"):
        monkeypatch.setattr(logging.getLogger("guidedviz"), level, lambda text, *parts: lines.append(text % parts))
    gv.guide(gv.regex("a"), gv.load_model("bard").vocabulary)
    loaded, built = lines
    assert "loaded bard" in loaded
    assert "engine auto" in built
