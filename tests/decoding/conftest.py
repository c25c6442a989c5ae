"""The tasks of the slider, built once."""

import pytest

from guidedviz.decoding.timing import build_tasks


@pytest.fixture(scope="session")
def tasks(clerk):
    return build_tasks(clerk)
