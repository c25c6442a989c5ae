"""Drawings are data: Python and the page know the same elements, and no bundle parses what arrives."""

import re
from pathlib import Path

import pytest

from guidedviz.errors import TraceError
from guidedviz.markup import ELEMENTS, FORMS, PLAIN, check_shapes, node, together

PAGE = Path("guidedviz/widgets/page")
SHAPES = (PAGE / "shared" / "shapes.js").read_text(encoding="utf-8")
PARSES = re.compile(
    r"(inner|outer)HTML|insertAdjacent|setHTML|srcdoc|cssText|DOMParser|parseFromString|ContextualFragment|insertRule"
    r"|document\.write|\beval\(|new Function|create\w*\((\w+,)?\W*(style|script|iframe)"
)


def strings(name: str) -> set[str]:
    """The words in the strings of a constant of shapes.js."""
    found = re.search(rf"const {name} = .*?;\n", SHAPES, re.DOTALL)
    return set(" ".join(re.findall(r'"([^"]*)"', found[0])).split())


def test_python_and_the_page_know_the_same_elements_and_attributes():
    assert strings("ELEMENTS") == ELEMENTS
    assert strings("PLAIN") == PLAIN
    assert set(re.findall(r'\["([\w-]+)", ', SHAPES.split("FORMS = ")[1].split("]);")[0])) == set(FORMS)


@pytest.mark.parametrize("bundle", sorted((PAGE / "dist").glob("*.js")), ids=lambda path: path.name)
def test_no_bundle_parses_what_arrives(bundle):
    assert not PARSES.search(bundle.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "shapes",
    [
        *("<svg/>", None, [], ["svg"], ["script", {}], ["g:iframe", {}], ["foreignObject", {}], ["g", {}, 7]),
        ["svg", {}, ["style", {}, "a{}"]],
        *(["g", {name: "x"}] for name in ("onload", "style", "class")),
        ["g", {"class": "gv-" * 50_000 + "!"}],
        *(["rect", {"fill": fill}] for fill in ("url(http://sentinel)", ["none"])),
        *(["image", {"href": href}] for href in ("http://sentinel", "data:image/svg+xml;base64,AAAA")),
        ["text", {}, "a" * 2_000_000],
    ],
)
def test_what_is_no_drawing_is_refused(shapes):
    with pytest.raises(TraceError, match="recording, drawing"):
        check_shapes(shapes, "recording, drawing")


def test_a_drawing_as_deep_as_a_stranger_likes_is_refused():
    deep = ["g", {}]
    for _ in range(900):
        deep = ["g", {}, deep]
    with pytest.raises(TraceError):
        check_shapes(deep, "recording, drawing")


def test_a_text_never_becomes_an_element_and_a_script_ends_nothing():
    assert str(node("p", "<b>", together(["</p>"]))) == "<p>&lt;b&gt;&lt;/p&gt;</p>"
    assert "</script>" not in str(node("script", "a</ScRipt>b<!--"))[:-9].replace("</ScRipt>", "</script>")


def test_shapes_have_no_styles_and_pass_their_own_check():
    drawn = node("svg", node("style", "a{}"), node("rect", fill="none", style="x"), "<b>", xmlns="x", width=1.234)
    assert drawn.shapes == ["svg", {"width": 1.23}, ["rect", {"fill": "none"}], "<b>"]
    check_shapes(drawn.shapes, "recording")
