"""Hostile texts on whole pages: a run in a file, the site, the class page, a notebook's page, and stills."""

import gzip
import json
import re
from base64 import b64decode

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import guidedviz as gv
from guidedviz.checks.verdict import Verdict
from guidedviz.decoding.diagnosis import ADVICE, Diagnosis
from guidedviz.decoding.looks import Finding
from guidedviz.decoding.recording import compress
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.frame import MachineFrame
from guidedviz.widgets.notebook_page import STATE, VIEW, PageExporter
from guidedviz.widgets.player_page import BUNDLES, play_place
from tests.browser.test_hostile import build_run, honest, shown
from tests.browser.watched import POLICY, Watched
from tests.common import constant_model
from tests.hostile import NAMES, Attack, put, text
from tests.site.load import load_site

__all__ = ["shown"]
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def files(browser):
    """A page that opens files, and may ask for nothing else."""
    page = Watched(browser, r"file:///", offline=True)
    page.page.set_viewport_size({"width": 1300, "height": 12_000})  # every recording is in sight
    yield page
    page.close()


def visit(files, path, search=""):
    """Open a file, press what can be pressed, and say which strange elements are on the page."""
    files.page.goto(f"file://{path}")
    played = files.call("play")
    places = files.page.locator(".gv-place").count()
    assert played >= places / 2, "most recordings are shown"
    if search:
        files.page.locator(".search input").fill(search)
        files.page.locator(".found a").first.wait_for()
    files.call("pressAll")
    return files.call("count")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run in a file: the trace, and its recording unpacked."""
    path = tmp_path_factory.mktemp("run") / "run.json"
    model, guide = build_run()
    gv.record(model, "x", guide, temperature=0, max_tokens=3).save(path)
    trace = json.loads(path.read_text(encoding="utf-8"))
    return {"trace": trace, "recording": json.loads(gzip.decompress(b64decode(trace.pop("recording"))))}


def pack(record):
    """The file of a run, as text."""
    return json.dumps(record["trace"] | {"recording": compress(record["recording"])})


def test_a_player_of_an_unchecked_recording_does_nothing_that_the_recording_says(run, files, tmp_path):
    """The page itself is safe, if somebody puts another recording into its file."""
    path = tmp_path / "run.json"
    page = tmp_path / "run.html"
    path.write_text(pack(run), encoding="utf-8")
    gv.Trace.load(path).page(page, step=2)
    whole = page.read_text(encoding="utf-8")
    kept = compress(run["recording"])
    nonce = re.search(r'data-nonce="([^"]+)"', whole)[1]
    place = str(play_place("stage", kept, nonce, 2))
    assert whole.count(place) == 1

    def show(records, pressed):
        places = [place.replace(kept, compress(one)) for one in records]
        page.write_text(whole.replace(place, "".join(places)), "utf-8")
        visit(files, page)
        seen = files.call("numbers")
        return [("", seen)] * len(records)

    attack = Attack(run["recording"], show, files.faults)
    attack.texts = {name: paths for name, paths in attack.texts.items() if not name.startswith(("map", "drawings"))}
    texts = [attack.write(attack.texts, turn) for turn in range(3)]
    shapes = [attack.add_shapes(5 * turn) for turn in range(3)]
    attack.try_all([{}, *texts, attack.write(attack.others, 0, ["value of CSS"]), attack.add_keys(0), *shapes])
    attack.report("a recording put into the file of a page")


def words_of(names=NAMES):
    """Every hostile text, each with its number."""
    return [text(name, 9_000_000 + number) for number, name in enumerate(names)]


def outputs_of(words):
    """What a cell that ran prints and shows of some texts."""
    for one in words:
        yield new_output("stream", text=one)
        yield new_output("execute_result", {"text/plain": one})
        yield new_output("error", ename=one, evalue=one, traceback=[one])


@pytest.mark.slow
def test_no_text_of_a_lab_does_anything_on_the_site(files, tmp_path):
    """What cells print, names of pages, and the search; recordings are played by the code of the page below."""
    site = load_site()
    site.write_files(tmp_path / "files")

    def show(title, words):
        pages = [site.Place("index.html", title), site.Place("labs/a.html", title)]
        cells = [new_markdown_cell("# A"), new_code_cell(words[-1], outputs=[*outputs_of(words)])]
        html = site.render(new_notebook(cells=cells), pages[0], pages)
        (tmp_path / "index.html").write_text(html, encoding="utf-8", errors="replace")
        found = site.reading.read_site(tmp_path)
        (tmp_path / "files" / "index.js").write_text(site.reading.search_index(found), encoding="utf-8")
        return visit(files, tmp_path / "index.html", search="a")

    harmless = show("a title", ["a"] * len(NAMES))
    assert show(words_of(["out of every element"])[0], words_of()) == harmless
    assert files.faults() == []


CLASS = {
    "facts": "bard · numpy · 1 student",
    "run": {"steps": 3, "followers": 2},
    "students": [{"name": "Ada", "steps": 3, "ms": 1.5, "ago": 2}],
    "standing": [{"nickname": "Ada", "lab": "03_fsm", "place": "`check` advance", "state": "right", "ago": 100}],
    "projects": [{"nickname": "Ada", "milestones": [["A trie", "right"]], "ratios": [2.0, 1.5, 3.0]}],
    "questions": [
        {"id": "1", "lab": "03", "text": "How `many`?", "answers": 3, "sessions": 2, "bars": [["a", 2], ["b", 1]]},
        {"id": "2", "lab": "", "text": "Which?", "answers": 1, "sessions": 1, "bars": [["a", 1]]},
    ],
    "open": "1",
}


@pytest.mark.slow
def test_no_text_of_a_class_does_anything_on_the_page_of_the_teacher(browser):
    page = Watched(browser, r"http://class\.test/")
    files = {"": "class.html", "class.js": "class.js", "class.css": "class.css"}

    def serve(route):
        name = route.request.url.rpartition("/")[2]
        if name in files:
            return route.fulfill(path=BUNDLES / files[name], headers=POLICY)
        return route.fulfill(json=CLASS)

    page.page.route("http://class.test/**", serve)
    page.page.goto("http://class.test/")
    page.page.locator("#standing tr").wait_for()
    facts = page.call("count")
    attack = Attack(CLASS, lambda records, _: page.call("answerClass", records), page.faults)
    attack.run(rounds=len(NAMES))
    assert page.call("count") == facts
    page.close()
    attack.report("the page of the teacher")


def test_no_text_of_a_notebook_does_anything_on_its_page_which_asks_nobody(shown, files, tmp_path):
    """`jupyter nbconvert --to guidedviz`: saved widgets, what cells print, and the name of the notebook."""
    kinds = honest(shown)

    def show(saved, words):
        state = {f"m{at}": {"state": {"kind": kind, "saved": one}} for at, (kind, one) in enumerate(saved)}
        shows = [new_output("display_data", {VIEW: {"model_id": name}, "text/plain": words[0]}) for name in state]
        about = {"widgets": {STATE: {"state": state}}, "title": words[0]}
        cell = new_code_cell(words[0], outputs=[*shows, *outputs_of(words)])
        notebook = new_notebook(cells=[new_markdown_cell("# A $x$"), cell], metadata=about)
        html, _ = PageExporter().from_notebook_node(notebook, {"metadata": {"name": words[0]}})
        (tmp_path / "page.html").write_text(html, encoding="utf-8", errors="replace")
        return visit(files, tmp_path / "page.html")

    tries = []
    for kind, record in kinds.items():
        attack = Attack(record, lambda *given: [], list)
        changes = (attack.write(attack.texts, 2), attack.write(attack.others, 1) | attack.add_keys(1))
        tries += [(kind, put(record, each)) for each in changes]
    harmless = show([(kind, kinds[kind]) for kind, _ in tries], ["a"] * len(NAMES))
    assert files.faults() == [], "the page asks nobody"
    assert show(tries, words_of()) == harmless
    assert files.faults() == []


def stills(words):
    """What a notebook shows of a text without a widget; that a figure has no element that does anything is held by
    tests/views/test_hostile.py.
    """
    arrows = (Arrow(0, 1, ((0, 0),), words),)
    frame = MachineFrame(Sketch((words, "b"), arrows, 0, frozenset({1}), ((words, frozenset({0})),)), words)
    drawn = gv.draw_machine(frame, 0, title=words, died=words)
    found = Diagnosis((Finding(next(iter(ADVICE)), 1, (words,)),), words, (words,), (words,))
    verdict = Verdict("wrong", words, ((words, words), ("because", words)), drawn)
    asked = gv.predict(words, choices=[words, "b"], answer="b", reveal=[words, lambda: print(words), drawn])
    model = constant_model([words.encode(errors="replace"), b"<eos>"], [1.0, 0.0], eos={1})
    run = gv.record(model, words.encode(errors="replace").decode(), max_tokens=2)
    shown = [drawn, asked, gv.stage(run), gv.film([frame, frame], words), gv.folded(frame.sketch)]
    return [verdict._repr_html_(), found._repr_html_(), *(one._repr_mimebundle_()["text/html"] for one in shown)]


@pytest.mark.parametrize("nth", [12, pytest.param(1, marks=pytest.mark.slow)], ids=["each twelfth", "all"])
def test_no_text_of_a_still_picture_does_anything(files, tmp_path, monkeypatch, nth):
    """As an image, which runs nothing, and as part of the page, which could."""
    monkeypatch.setenv("GUIDEDVIZ_HEADLESS", "1")
    page = tmp_path / "stills.html"
    for site, every in ("", 8), ("1", 2):
        monkeypatch.setenv("GUIDEDVIZ_SITE", site)
        texts = words_of()[:: every * nth]
        facts = []
        for used in (["a"] * len(texts), texts):
            body = "".join(html for words in used for html in stills(words))
            page.write_text(f"<!doctype html><meta charset=utf-8><body>{body}", encoding="utf-8", errors="replace")
            facts.append(visit(files, page))
        assert facts[0] == facts[1]
    assert files.faults() == []
