"""The two commands of `make test` that run tests leave none out: those with a browser, and those without."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent


def test_make_opens_every_folder_that_has_tests_with_a_browser():
    """The unit tests leave them out, wherever they are."""
    makefile = (TESTS.parent / "Makefile").read_text(encoding="utf-8")
    (folders,) = re.findall(
        r"^browser-two:\n.* (tests/browser .*) \$\(addprefix --ignore=,\$\(BROWSER_ONE\)\)", makefile, re.MULTILINE
    )
    marked = {
        path for path in TESTS.rglob("test_*.py") if re.search(r"pytest\.mark\.browser\b", path.read_text("utf-8"))
    }
    named = {path for folder in folders.split() for path in (TESTS.parent / folder).rglob("test_*.py")}
    assert marked - {Path(__file__).resolve()} <= named


def test_all_that_make_keeps_from_the_unit_tests_is_marked_for_a_browser():
    """They do not even import it."""
    for path in (TESTS / "browser").glob("test_*.py"):
        assert re.search(r"^pytestmark = .*pytest\.mark\.browser\b", path.read_text("utf-8"), re.MULTILINE), path
