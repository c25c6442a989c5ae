"""The teacher's page in Chromium: names are text, the token is asked for, and axe-core finds no fault."""

from __future__ import annotations

import pytest

from guidedviz.models.remote import RemoteModel, Wire, read_address
from tests.browser.test_axe import AUDIT, axe
from tests.host.running import TOKEN, hosting

__all__ = ["axe"]
pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("axe")]
HOSTILE = "<img src=x onerror=document.title='hacked'>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_class_page_shows_names_as_text_and_has_no_fault(browser, axe, bard, scheme):
    with hosting(bard, {HOSTILE: "a-token-of-a-student", "teacher": TOKEN}) as host:
        RemoteModel(Wire(read_address(host.address, "a-token-of-a-student"))).logits([1])
        page, said = browser.new_page(), []
        page.on("pageerror", lambda error: said.append(str(error)))
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{host.address}/class")
        page.get_by_label("Token of the teacher").fill(TOKEN)
        page.keyboard.press("Enter")
        page.wait_for_selector("tbody tr")
        assert page.locator("tbody td").first.inner_text() == HOSTILE
        page.evaluate(axe)
        assert page.evaluate(AUDIT, page.query_selector("html").as_element()) == []
        assert (page.title(), said) == ("The class", [])
        page.close()
