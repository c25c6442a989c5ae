"""Drawings look the same wherever they are shown: on the site, in a saved run, in an exported notebook, in the class.

The front page of the site had no styles of drawings: its machine was black. Lab pages had them from a still picture.
"""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import guidedviz as gv
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.notebook_page import STATE, VIEW, PageExporter
from guidedviz.widgets.predict import ASKED
from tests.browser.test_hostile import build, build_run
from tests.site.load import load_site

pytestmark = pytest.mark.browser
SIZE = {"width": 1366, "height": 768}
UNFOLD = "document.querySelectorAll('main > details').forEach((one) => (one.open = true))"  # answers to questions
# a state, its ring, an arrow, its head and its label, what is lit; a frame of the stack; a bar of the next token
MACHINE = {"gv-disc", "gv-ring", "gv-line", "gv-head", "gv-label", "gv-lit"}
STAGE = MACHINE | {"gv-row", "gv-after", "gv-struck", "gv-chip"}
STACK = STAGE | {"gv-frame-card", "gv-block", "gv-frame", "gv-rule", "gv-box", "gv-open"}


@pytest.fixture(scope="module")
def recordings():
    """What the widgets of each kind save: the kind, and its recording."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GUIDEDVIZ_HEADLESS", "GUIDEDVIZ_SITE"):
            patch.setenv(name, "1")
        bundles = {kind: widget._repr_mimebundle_() for kind, widget in build().items()}
    ASKED.clear()
    return {kind: bundle[RECORDING] for kind, bundle in bundles.items() if RECORDING in bundle}


@pytest.fixture
def show(browser):
    """Opens a file without a network, and waits until everything on it plays."""
    context = browser.browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")

    def open_file(path):
        page = context.new_page()
        page.goto(f"file://{path}")
        page.evaluate(UNFOLD)
        for place in page.locator(".gv-place").all():  # it plays when it comes into sight
            place.scroll_into_view_if_needed()
            place.locator(".gv-stage").first.wait_for()
        return page

    yield open_file
    context.close()


def step_to_the_middle(page):
    """Where states are lit and calls are open."""
    page.locator(".gv-live-stage").first.focus()
    page.keyboard.press("Home")
    for cursor in range(1, 5):
        page.keyboard.press("ArrowRight")
        page.locator(f".gv-live-stage[data-cursor='{cursor}']").first.wait_for()


@pytest.mark.slow
def test_a_page_of_the_site_with_every_kind_of_widget_and_no_still_picture(recordings, site, show, looks):
    builder = load_site()
    outputs = [new_output("display_data", {RECORDING: one, "text/html": ""}) for one in recordings.values()]
    notebook = new_notebook(cells=[new_markdown_cell("# A"), new_code_cell("", outputs=outputs)])
    place = builder.Place("labs/kinds.html", "A")
    (site / place.file).write_text(builder.render(notebook, place, [place]), encoding="utf-8")
    assert {"stage", "film", "fold", "fraction"} <= {*recordings}
    page = show(site / place.file)
    step_to_the_middle(page)
    assert looks.compare_page(page) == []
    assert looks.seen >= STACK | {"gv-film", "gv-folded", "gv-fraction"}


@pytest.mark.slow
def test_the_pictures_of_the_reference_are_files_with_their_own_styles(site, show):
    page = show(site / "reference" / "index.html")
    assert page.locator(".gv").count() == 0
    widths = page.locator("main img").evaluate_all("images => images.map((image) => image.naturalWidth)")
    assert widths
    assert min(widths) > 0


@pytest.mark.slow
def test_the_page_of_a_saved_run(show, looks, tmp_path):
    model, guide = build_run()
    gv.record(model, "x", guide, temperature=0, max_tokens=6).page(tmp_path / "run.html", 3)
    page = show(tmp_path / "run.html")
    step_to_the_middle(page)
    assert looks.compare_page(page) == []
    assert looks.seen >= STACK


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.slow
def test_an_exported_notebook(recordings, show, looks, tmp_path, theme):
    state = {kind: {"state": {"kind": kind, "saved": one["shown"]}} for kind, one in recordings.items()}
    outputs = [new_output("display_data", {VIEW: {"model_id": kind}, "text/plain": ""}) for kind in recordings]
    about = {"widgets": {STATE: {"state": state}}}
    cell = new_code_cell("", outputs=outputs)
    html, _ = PageExporter(theme=theme).from_notebook_node(new_notebook(cells=[cell], metadata=about))
    (tmp_path / "page.html").write_text(html, encoding="utf-8")
    page = show(tmp_path / "page.html")
    assert page.locator("body").get_attribute("data-jp-theme-light") == ("true" if theme == "light" else "false")
    step_to_the_middle(page)
    assert [line for root in page.locator(".gv-stage").all() for line in looks.compare(root)] == []
    assert looks.seen >= STACK | {"gv-film", "gv-folded", "gv-fraction"}


@pytest.mark.slow
def test_every_page_of_the_site(show, looks, tmp_path):
    """The front page with its map, the texts, all labs and all optional pages, which take minutes to build."""
    builder = load_site()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GUIDEDVIZ_SITE", "GUIDEDVIZ_HEADLESS", "CUDA_VISIBLE_DEVICES"):
            patch.setenv(name, "")
        builder.build(tmp_path / "site", builder.labs.lab_names())
    decks = tmp_path / "site" / "slides"  # they show one slide at a time, and have tests of their own
    for path in sorted({*(tmp_path / "site").rglob("*.html")} - {*decks.iterdir()}):
        page = show(path)
        assert looks.compare_page(page) == [], path
        if path.parent == tmp_path / "site" and path.name == "index.html":
            step_to_the_middle(page)
            page.locator(".gv-tabs [data-name='map']").click()
            page.locator(".gv-map-card").wait_for()
            assert looks.compare_page(page) == []
        page.close()
    assert looks.seen >= STACK | {"gv-film", "gv-folded", "gv-fraction", "gv-map"}
