"""Claims about the two tiers of tests: which tests, and which parameters of a test, run in `make test`."""

import re
from pathlib import Path
from types import SimpleNamespace

from tests.tiers import mark_slow

TESTS = Path(__file__).resolve().parent


def item(name, mark=None):
    """A test as pytest collects it, and the marks that it is given."""
    given = []
    return SimpleNamespace(nodeid=name, get_closest_marker=lambda _: mark, add_marker=given.append, given=given)


def test_the_parameters_that_quick_does_not_name_are_slow():
    quick = SimpleNamespace(args=("one", "three-[4]"), kwargs={})
    items = [item(f"a.py::test[{name}]", quick) for name in ("one", "two", "three-[4]")]
    assert mark_slow([*items, item("a.py::other[two]")]) == {}
    assert [[mark.name for mark in one.given] for one in items] == [[], ["slow"], []]


def test_a_name_that_no_parameter_has_is_told():
    quick = SimpleNamespace(args=("one", "tow"), kwargs={})
    items = [item("a.py::test[one]", quick), item("a.py::test[two]", quick)]
    assert mark_slow(items) == {"a.py::test": {"tow"}}


def test_the_first_and_each_third_parameter_after_it_stay_quick():
    third = SimpleNamespace(args=(), kwargs={"every": 3})
    items = [item(f"a.py::test[{number}]", third) for number in range(5)]
    assert mark_slow(items) == {}
    assert [one.nodeid for one in items if not one.given] == ["a.py::test[0]", "a.py::test[3]"]


def test_make_opens_every_folder_that_has_tests_with_a_browser():
    """The unit tests leave them out, wherever they are."""
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    (folders,) = re.findall(r'-m "browser and not slow" (.*)', makefile)
    marked = {
        path for path in TESTS.rglob("test_*.py") if re.search(r"pytest\.mark\.browser\b", path.read_text("utf-8"))
    }
    named = {path for folder in folders.split() for path in (TESTS.parent / folder).rglob("test_*.py")}
    assert '-m "not browser and not slow"' in makefile
    assert marked - {Path(__file__).resolve()} <= named


def test_all_that_make_keeps_from_the_unit_tests_is_marked_for_a_browser():
    """They do not even import it."""
    for path in (TESTS / "browser").glob("test_*.py"):
        assert re.search(r"^pytestmark = .*pytest\.mark\.browser\b", path.read_text("utf-8"), re.MULTILINE), path
