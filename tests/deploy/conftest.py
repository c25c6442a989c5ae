"""The browser of the tests in tests/browser."""

from tests.browser.conftest import browser

__all__ = ["browser"]
