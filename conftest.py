"""The examples in docstrings assume `import guidedviz as gv`, as those of NumPy assume `np`."""

import pytest

import guidedviz


@pytest.fixture(scope="session", autouse=True)
def _import_gv(doctest_namespace):
    doctest_namespace["gv"] = guidedviz
