"""Hosts of the models that the API is asked for."""

import pytest

import guidedviz as gv
from tests.host.running import hosting


@pytest.fixture(scope="module")
def clerk_host(clerk):
    """A host of clerk, which has no chat template."""
    with hosting(clerk) as running:
        yield running


@pytest.fixture(scope="module")
def scout_host():
    """A host of scout, which thinks and calls tools."""
    with hosting(gv.load_model("scout")) as running:
        yield running
