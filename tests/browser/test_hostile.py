"""Hostile texts at every place of a recording, of a message and of a page: nothing runs, nothing is fetched.

All places are tried together, again and again with other texts; those that a page needs as they are, so that it shows
anything, are tried alone. A page may fail to show a damaged recording; it may not do what the recording says.
"""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import guidedviz as gv
from guidedviz.decoding.samplers import Task
from guidedviz.files import shipped
from guidedviz.models.chat import Prompt
from guidedviz.widgets.display import RECORDING
from guidedviz.widgets.player_page import BUNDLES, NO_KINDS, bundles_of, page_css, read_bundle
from guidedviz.widgets.predict import ASKED
from guidedviz.widgets.sharing import make_bar
from tests.browser.watched import POLICY, Watched
from tests.common import regex_guide
from tests.hostile import Attack

pytestmark = pytest.mark.browser
GRAMMAR = 'root ::= "{" pair{1,3} "}"\npair ::= ["a]+ ":" (list | [0-9]) ","?\nlist ::= "[" [0-9] "]" | "[" root "]"'
PIECES = [b"<eos>", b"{", b'"a"', b":", b"[", b"1", b",", b"]", b"}", b"x", b"0", b"\xe2\x82"]
KINDS = [f"{kind}, recorded" for kind in ("stage", "film", "fold", "fraction", "tree")]
KINDS += [f"{kind}, live" for kind in ("stage", "predict", "predict open", "score", "picture")]
ROUNDS = {"recorded": 3, "live": 2}  # the page shows both with the same code
NEEDED: list[str] = []  # of the kinds before
TEXT = (1, 2, 3, 4, 5, 7, 6, 8, 0)


def rule(tokens):
    wanted = TEXT[min(len(tokens) - 1, len(TEXT) - 1)]
    return [9.0 if token == wanted else 7.0 if token == 9 else 1.0 for token in range(len(PIECES))]


class Lesson:
    """A role that says a line, as the teacher's stage does in a class."""

    bar = staticmethod(lambda: make_bar("The class sees this run.", stop="stop"))
    start = moved = stop = staticmethod(lambda *stage: None)
    hear = staticmethod(lambda said, stage: False)


def build_run():
    """A model that writes a nested text, and the guide with its machine, its stack and its map."""
    model = gv.ToyModel(PIECES, rule, eos={0})
    return model, gv.guide(gv.grammar(GRAMMAR), model.vocabulary)


def build():
    """Every kind of widget."""
    model, nested = build_run()
    prompt = Prompt("x<|s|>", (9,), ("x", "<|s|>"))
    payoff = gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))
    drawing = gv.draw_machine(gv.regex("ab"))
    asked = gv.predict("How `many`?", choices=["a", "b"], answer="a", reveal=["said", lambda: print(1), drawing])
    return {
        "stage": gv.stage(model, prompt, nested, temperature=0, max_tokens=6, edit=nested.machine.grammar.text),
        "film": gv.film(gv.views.minimal_frames("ab|cb"), "a film"),
        "fold": gv.folded(gv.regex("(abc|xyz)[0-9]")),
        "fraction": gv.fraction_slider(replace(payoff, runs=payoff.runs[:2])),
        "predict": asked,
        "score": gv.score(),
        "tree": gv.text_tree(Task(model, "x", regex_guide(model, '["x]a?|1'))),
        "picture": gv.bias_sliders(model, "x", ["x", '"a"']),
    }


@pytest.fixture(scope="module")
def shown():
    """What each kind of widget plays without a kernel, and the first message of those that a kernel tells more."""
    patch = pytest.MonkeyPatch()
    for name in ("GUIDEDVIZ_HEADLESS", "GUIDEDVIZ_SITE"):
        patch.setenv(name, "1")
    widgets = build()
    bundles = {kind: widget._repr_mimebundle_() for kind, widget in widgets.items()}
    found = {f"{kind}, recorded": bundle[RECORDING]["shown"] for kind, bundle in bundles.items() if RECORDING in bundle}
    for name in ("GUIDEDVIZ_HEADLESS", "GUIDEDVIZ_SITE"):
        patch.delenv(name)
    with ThreadPoolExecutor(1) as alone:  # Playwright's loop runs in this thread, and a widget would wait for it
        found |= alone.submit(tell).result()
    patch.undo()
    ASKED.clear()
    return json.loads(json.dumps(found))


def honest(shown):
    """One recording of each kind of widget."""
    return {name.split(",")[0]: one for name, one in shown.items() if "recorded" in name or name == "predict, live"}


def tell():
    """The messages of a kernel."""
    widgets = build()
    stage = widgets["stage"].take(4).join(Lesson())
    stage.go(2)
    stage.edit('root ::= "{" "b"', "grammar")
    widgets["predict open"] = gv.predict("Which `one`?", choices=["a", "b"], answer="a")
    widgets["predict"].commit("b")
    stage.display.hear({"do": "map", "ask": "texts", "of": 0})
    heard = {}
    for kind in (name.removesuffix(", live") for name in KINDS if "live" in name):
        wire = widgets[kind].display.widget if kind != "picture" else widgets[kind].widget.children[-1]
        wire.send = lambda content, buffers=None, kind=kind: heard.update({f"{kind}, live": content})
        wire.tell(everything=True)
    return heard


@pytest.fixture(scope="module")
def bare_page(browser):
    """A page of the bundles."""
    page = Watched(browser, r"http://bare\.test/$")
    html = "<!doctype html><meta charset=utf-8><title>x</title><body data-jp-theme-light=true>"
    about = {"body": html, "content_type": "text/html", "headers": POLICY}
    page.page.route("http://bare.test/", lambda route: route.fulfill(**about))
    page.page.goto("http://bare.test/")
    yield page
    page.close()


def test_every_kind_of_widget_is_tried():
    assert {name.split()[0].rstrip(",") for name in KINDS} == {path.stem for path in BUNDLES.glob("*.js")} - NO_KINDS


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.quick("stage, live")
def test_no_text_of_a_widget_does_anything_on_the_page(shown, bare_page, name):
    kind = name.split()[0].rstrip(",")
    live = name.split(", ")[1]
    for bundle in bundles_of([kind]):
        bare_page.call("load", bundle, read_bundle(f"{bundle}.js"), page_css(kind))

    def show(records, pressed):
        return bare_page.call("show", kind, live == "live", pressed, records)

    attack = Attack(shown[name], show, bare_page.faults)
    attack.run(ROUNDS[live], guess=NEEDED)
    NEEDED.extend(attack.needed)
    attack.report(name)
