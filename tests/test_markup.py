"""Drawings are data: Python and the page know the same elements, and no bundle parses what arrives."""

import re
from pathlib import Path

import pytest

from guidedviz.errors import TraceError
from guidedviz.markup import ELEMENTS, FORMS, MARKED_TEXT, PLAIN, check_shapes, node, together, with_marks

PAGE = Path("guidedviz/widgets/page")
SHAPES = (PAGE / "shared" / "shapes.js").read_text(encoding="utf-8")
PREDICT = (PAGE / "kinds" / "predict.js").read_text(encoding="utf-8")
MARKED = {  # tests/page/predict.test.js has the same
    "it is *not* so": "it is <em>not</em> so",
    "the **tenth** of `a*b*`": "the <strong>tenth</strong> of <code>a*b*</code>",
    "2<sup>10</sup> and *2<sup>n</sup>*": "2<sup>10</sup> and <em>2<sup>n</sup></em>",
    "2 * 3 * 4, a*b*c, **, * a*": "2 * 3 * 4, a*b*c, **, * a*",
    "*<img src=x onerror=hack()>*": "<em>&lt;img src=x onerror=hack()&gt;</em>",
    "<sup><b>1</b></sup><sup></sup>": "&lt;sup&gt;&lt;b&gt;1&lt;/b&gt;&lt;/sup&gt;&lt;sup&gt;&lt;/sup&gt;",
}
PARSES = re.compile(
    r"(inner|outer)HTML|insertAdjacent|setHTML|srcdoc|cssText|DOMParser|parseFromString|ContextualFragment|insertRule"
    r"|document\.write|\beval\(|new Function|create\w*\((\w+,)?\W*(style|script|iframe)"
)


def strings(name: str) -> set[str]:
    """The words in the strings of a constant of shapes.js."""
    found = re.search(rf"const {name} = .*?;\n", SHAPES, re.DOTALL)
    return set(" ".join(re.findall(r'"([^"]*)"', found[0])).split())


def test_marks_become_a_few_elements_and_all_else_stays_text():
    for text, written in MARKED.items():
        assert str(with_marks(text)) == written, text
    pattern = PREDICT.split("const MARKS = /")[1].split("/gu;")[0]
    assert pattern.replace(r"\p{L}\p{N}_", r"\w").replace(r"<\/", "</") == MARKED_TEXT.pattern, "the page has the same"


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
    deep = []
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
