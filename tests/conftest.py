"""The order of the tests, and what is loaded once for many of them."""

import gc
import io
import os
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

import guidedviz as gv
from guidedviz.__main__ import main
from guidedviz.commands import export
from tests.tiers import mark_slow

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the models are small; idle threads of torch slow other workers down

# a loaded machine is no fault of a test; every run draws other examples, except in CI, where a run can be repeated
settings.register_profile("untimed", deadline=None, max_examples=15, derandomize="CI" in os.environ)
settings.register_profile("deep", settings.get_profile("untimed"), max_examples=60)  # make slow
settings.register_profile("thorough", deadline=None, max_examples=1_000)  # pytest --hypothesis-profile=thorough
settings.load_profile("untimed")


gc.set_threshold(500_000)  # a twelfth of the time goes to the collector at its usual 700, and at 50,000 a fifteenth
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# jsonschema would build 38 parsers with it, in three seconds, to check addresses that no test asks for

FORKS = ("tests/checks", "guidedviz/checks")


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """The order of the tests: what forks comes first, because a small process forks soon; browser tests come last.

    Playwright's event loop stays in the thread for the rest of the run.
    """
    unknown = mark_slow(items)
    if unknown and not any("::" in word for word in config.args):
        raise pytest.UsageError(f"the mark `quick` names parameters that these tests have not: {unknown}")
    items.sort(key=lambda item: ("browser" in item.keywords, not item.nodeid.startswith(FORKS)))


def pytest_collection_finish() -> None:
    """What is loaded now stays, so the garbage collector need not look through it again and again."""
    if loaded := {"gguf", "torch", "transformers"} & set(sys.modules):
        raise pytest.UsageError(f"a module of tests loads {loaded} when it is imported; a test that uses it imports it")
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """The process ends without a last search for garbage, which takes two seconds; xgrammar would call that a leak."""
    if "xgrammar" not in sys.modules:
        gc.freeze()


@pytest.fixture
def collect():
    """Frees the garbage of a test; what was there before the test is not looked through, which takes a second."""
    gc.freeze()
    return gc.collect


@pytest.fixture(scope="session")
def toy():
    """The toy model and guide of the widgets' tests; the browser tests run the same file in a notebook cell."""
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "widgets/toy.py")))


@pytest.fixture(scope="session")
def clerk():
    """The model that writes JSON, loaded once."""
    return gv.load_model("clerk")


@pytest.fixture(scope="session")
def clerk_torch():
    """The same weights on torch."""
    return gv.load_model("clerk", device="torch")


@pytest.fixture(scope="session")
def llama3():
    """The 128,256 tokens of Llama 3."""
    return gv.Vocabulary.llama3()


@pytest.fixture(scope="session")
def bard():
    """The model that writes characters, loaded once."""
    return gv.load_model("bard")


@pytest.fixture(scope="session")
def exported(tmp_path_factory):
    """The assignments in a folder for each format, with the wheel for Otter, and what the export says."""
    folders = {form: tmp_path_factory.mktemp(form) for form in export.FORMATS}
    said = io.StringIO()
    with redirect_stdout(said):
        assert [main(["export", form, str(folder)]) for form, folder in folders.items()] == [0, 0]
    return folders, said.getvalue()
