"""The site: its links are checked, its index holds what a page says, and recordings answer what a page asks."""

import json

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import guidedviz as gv
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.predict import ASKED
from tests.site.load import BUILD, load, load_site


@pytest.fixture(scope="module")
def site():
    return load_site()


@pytest.fixture
def play_alone(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    monkeypatch.setenv("GUIDEDVIZ_SITE", "1")
    return lambda shown: shown._repr_mimebundle_()[RECORDING]


def read(site, tmp_path, **pages):
    for name, html in pages.items():
        (tmp_path / f"{name}.html").write_text(html, encoding="utf-8")
    return site.reading.read_site(tmp_path)


def render(site, *cells):
    return site.render(new_notebook(cells=list(cells)), site.Place("a.html", "A"), [])


@pytest.mark.parametrize("wheels", [["guidedviz-1.0.0-py3-none-any.whl"], ["numpy-2.4.6-cp314-cp314-wasm32.whl"]])
def test_labs_run_in_a_course_for_a_tab_only_if_numpy_is_in_it(site, tmp_path, wheels):
    python = tmp_path / "static" / "pyodide-0123456789"
    python.mkdir(parents=True)
    for name in wheels:
        (python / name).touch()
    assert site.runs_labs(tmp_path) == wheels[0].startswith("numpy")


@pytest.fixture
def lite(monkeypatch):
    """The builder of the course for a tab; its Pyodide has a NumPy whose wheel cannot be fetched."""
    lite = load("lite_build", BUILD.parents[1] / "lite" / "build.py")
    monkeypatch.setattr(lite, "fetch_wheels", lambda *given: {})
    monkeypatch.setattr(lite, "get_pyodide", lambda cache: cache)
    monkeypatch.setattr(lite, "read_lock", lambda path: {"packages": {"numpy": {"depends": []}}})
    return lite


def test_a_course_for_a_tab_without_numpy_is_refused_with_what_to_do(lite, tmp_path):
    lite.require_numpy(["rpds-py"], tmp_path)
    with pytest.raises(SystemExit, match=r"saw no NumPy for Pyodide(?s:.*)expected(?s:.*)LITE_FLAGS=--without-numpy"):
        lite.lay_python(tmp_path / "python", tmp_path, offline=True, without_numpy=False)


def test_a_link_to_a_missing_page_or_anchor_or_a_load_from_another_host_is_found_with_its_page(site, tmp_path):
    links = '<a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a><a href="../d.html">4</a>'
    links += '<a href="https://arxiv.org/abs/1">1</a><script src="https://cdn.test/x.js"></script>'
    pages = read(site, tmp_path, a=links, b='<h2 id="there">B</h2>')
    assert site.reading.find_broken(tmp_path, pages) == [
        "a.html: b.html#gone: the page has no such anchor",
        "a.html: c.html: there is no such file",
        "a.html: ../d.html: leads out of the site",
        "a.html: https://cdn.test/x.js: is loaded from another host",
    ]
    assert "c.html" not in str(site.reading.find_broken(tmp_path, pages, {"c.html"}))


def test_the_index_has_the_prose_below_each_heading_and_nothing_of_the_frame(site, tmp_path):
    html = (
        "<nav>every page</nav><h1 id=top>One <code>a</code><a class='anchor-link' href='#top'>¶</a></h1>"
        "<p>A stack, or <b>PDA</b>.</p><script>code</script><h2 id=two>Two</h2><p>x</p><p>y</p>"
    )
    script = site.reading.search_index(read(site, tmp_path, a=html))
    found = json.loads(script.removeprefix("window.siteIndex = ").removesuffix(";\n"))
    assert found == [
        {"file": "a.html", "page": "One a", "anchor": "top", "heading": "One a", "text": "A stack, or PDA."},
        {"file": "a.html", "page": "One a", "anchor": "two", "heading": "Two", "text": "x y"},
    ]


def test_the_code_of_a_question_holds_the_answer_and_is_not_on_the_page(site, play_alone):
    shown = new_output("display_data", gv.predict("How many?", number=37)._repr_mimebundle_())
    metadata = {"jupyter": {"source_hidden": True}}
    cell = new_code_cell("gv.predict('How many?', number=37)", outputs=[shown], metadata=metadata)
    html = render(site, new_markdown_cell("# A"), cell)
    assert "gv.predict" not in html
    assert html.index("How many?") < html.index("<summary>Answer</summary>") < html.index("<strong>37</strong>")


def test_the_score_asks_nobody_for_answers_on_a_page_that_cannot_take_them(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    monkeypatch.setenv("GUIDEDVIZ_SITE", "1")
    ASKED.clear()
    asked = [gv.predict(f"How many of {number}?", number=37) for number in range(2)]
    shown = gv.score()._repr_mimebundle_()
    assert len(asked) == 2
    assert "Predictions on this page: 2. In the notebook you answer first" in shown["text/html"]
    assert "to answer" not in str(shown)
    monkeypatch.setenv("GUIDEDVIZ_SITE", "")
    assert repr(gv.score()) == "No predictions yet: 2 to answer."
    ASKED.clear()


def test_links_between_labs_lead_to_their_pages_and_an_empty_cell_of_a_table_is_no_heading(site):
    text = "[1](../01.ipynb) [2](02.ipynb#x) [3](https://a.test/3.ipynb)\n\n| | a |\n| --- | --- |\n| b | 1 |"
    html = render(site, new_markdown_cell(text))
    for part in ('href="../01.html"', 'href="02.html#x"', 'href="https://a.test/3.ipynb"', "<th>a</th>"):
        assert part in html
    assert "<th></th>" not in html


def test_a_recorded_fold_answers_every_press(play_alone):
    shown = play_alone(gv.folded(gv.regex("(abc|xyz|def)[0-9]")))["shown"]
    assert shown["chains"]
    for page in [shown, *shown["pages"]]:
        for chain in page["chains"]:
            turn = f'{{"do":"turn","chain":{chain["name"]}}}'
            answer = shown["pages"][page["moves"][turn]]
            turned = next(one for one in answer["chains"] if one["name"] == chain["name"])
            assert turned["open"] != chain["open"]
        assert '{"do":"all","unfold":true}' in page["moves"]


def test_without_the_site_a_built_notebook_has_no_recording(monkeypatch):
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    monkeypatch.delenv("GUIDEDVIZ_SITE", raising=False)
    bundle = gv.folded(gv.regex("abc"))._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
