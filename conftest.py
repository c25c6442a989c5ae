"""The examples in docstrings assume `import guidedviz as gv`, as those of NumPy assume `np`."""

import pytest

import guidedviz


@pytest.fixture(scope="session", autouse=True)
def _import_gv(doctest_namespace):
    doctest_namespace["gv"] = guidedviz


@pytest.fixture(autouse=True)
def _judge_in_a_thread(request, monkeypatch):
    """The examples of checks: a fork for each answer takes a tenth of a second."""
    if request.node.nodeid.startswith("guidedviz/checks"):
        monkeypatch.setattr("guidedviz.checks.guard.FORKS", False)
