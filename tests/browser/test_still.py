"""The still picture and the page say the same about the same run: labels, order and words of every part they share."""

import xml.etree.ElementTree as ET

import pytest

import guidedviz as gv
from guidedviz.models.chat import Prompt
from guidedviz.views.charts.bars import NOT_ASKED_WORDS
from guidedviz.views.figure import WIDE, picture, show_figure
from tests.browser.access import CONTRAST
from tests.common import regex_guide

pytestmark = pytest.mark.browser
BOXES = "The piano holds a kettle, which holds a lemon.\nNested JSON:\n"
TEXTS = """root => {
  const seen = (node) => node.checkVisibility() && node.getBoundingClientRect().width > 0;
  const all = (selector) => [...root.querySelectorAll(selector)].filter(seen).map((node) => node.textContent);
  const part = (name) => all(`[data-part=${name}]`);
  return {
    token: all(".gv-chip"), row: part("row"), next: part("next").join(), stack: all(".gv-frame-card"),
    text: part("text").join(), prompt: all(".gv-prompt").join(), special: all(".gv-special"), stage: root.textContent,
  };
}"""


def squash(words):
    """A text without spaces and signs that only place it."""
    return "".join(words).translate(dict.fromkeys(map(ord, " ▸✕\n")))


def parts(root, name):
    """The texts of each part of a still picture."""
    found = [element for element in root.iter() if element.get("data-part") == name]
    return [["".join(e.itertext()) for e in part.iter() if e.tag.endswith("text")] for part in found]


@pytest.fixture(scope="module")
def runs():
    clerk = gv.load_model("clerk")
    guide = gv.guide(gv.json(), clerk.vocabulary)
    finite = regex_guide(clerk, '\\{"(piano|kettle)": "[a-z]+"\\}')
    talk = "What is <|im_start|>?\nYes or no:\n"
    parts = ("", "<|im_start|>", f"user\n{talk}", "<|im_end|>", "\n", "<|im_start|>", "assistant\n")
    chat = Prompt("".join(parts), clerk.encode(talk), parts)
    answer = regex_guide(clerk, "yes|no")
    return {
        "a chat prompt": (gv.record(clerk, chat, answer, seed=1), answer),
        "a stack": (gv.record(clerk, BOXES, guide, seed=1), guide),
        "a finite machine, forced tokens": (gv.record(clerk, BOXES, finite, jump_forward=True), finite),
        "no constraint": (gv.record(clerk, BOXES, temperature=0.6, bias={3: 5.0}, max_tokens=12), None),
    }


@pytest.mark.parametrize("name", ["a chat prompt", "a stack", "a finite machine, forced tokens", "no constraint"])
@pytest.mark.quick("a finite machine, forced tokens")
def test_the_still_picture_says_what_the_page_says(bare, runs, name):
    trace, guide = runs[name]
    machine = guide.machine if guide else None
    bare.page.emulate_media(reduced_motion="reduce")  # the stack does not walk through the bytes of a token
    stage = bare.show_stage(gv.stage(trace, guide=guide, steps=len(trace.steps)))
    stage.wait(len(trace.steps))
    for cursor in (len(trace.steps), 0, len(trace.steps) // 2):
        stage.root.get_by_role("slider", name="step").fill(str(cursor))  # also into a forced text
        stage.wait(cursor)
        page = stage.root.evaluate(TEXTS)
        still = ET.fromstring(gv.views.draw_stage(trace, cursor, machine=machine).svg)
        assert [squash(words) for words in parts(still, "token")] == list(map(squash, page["token"]))
        rows = parts(still, "row")
        assert len(rows) == len(page["row"])
        for row, shown in zip(rows, page["row"], strict=True):
            label, odds = [words for words in row if words not in "▸✕"]
            assert squash(label) in squash(shown)
            assert squash(odds) in squash(shown)
        [(_, head, *_)] = parts(still, "next")
        for words in head.replace("legal", "").replace("Z", "").split(" · "):
            assert rows == [] or squash(words) in squash(page["next"]), "Z, and how many tokens are legal"
        assert rows or squash(NOT_ASKED_WORDS) in squash(page["next"]), "why there are no rows"
        [text] = parts(still, "text")
        assert squash(text[-1]) in squash(page["text"]) or not cursor, "what is said of the step"
        assert squash("".join(text)).startswith(squash(page["prompt"])), "the prompt"
        assert [squash(words) for words in parts(still, "special")] == page["special"]
        assert squash(trace.constraint or "no constraint") in squash(page["stage"])
        for stack in parts(still, "stack"):
            top = [squash(words).rstrip("…") for words in stack if words != "▸"][:3]
            assert page["stack"], "the page shows the stack too"
            assert all(words in squash(page["stack"][0]) for words in top), "rule, what it waits for, and height"
            [said] = [words for words in stack if "depth " in words]
            depth = said.split("depth ")[1].split()[0]
            assert page["stack"][0].startswith(f"{top[0]}{depth}"), "the depth is the height of the top"


def test_a_special_token_of_a_prompt_or_of_a_run_is_a_chip_with_a_name(bare, runs):
    """The characters that a person typed are no chip."""
    trace, guide = runs["a chat prompt"]
    stage = bare.show_stage(gv.stage(trace, guide=guide, steps=len(trace.steps)))
    stage.wait(len(trace.steps))
    names = ["<|im_start|>", "<|im_end|>", "<|im_start|>", "<|end|>"]
    found = [stage.root.get_by_role("img", name=f"special token {name}", exact=True) for name in names]
    assert [each.count() for each in found] == [2, 1, 2, 1]
    assert [each.first.inner_text() for each in found] == ["im_start", "im_end", "im_start", "end"]
    assert "user↵What is <|im_start|>?↵Yes or no:↵" in stage.root.locator(".gv-prompt").inner_text()
    for theme in ("Light", "Dark"):
        bare.theme(theme)
        assert stage.root.locator(".gv-tape").evaluate(CONTRAST) == {}
    sizes = "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
    assert min(stage.root.locator(".gv-special").evaluate_all(sizes)) >= 12
    stage.root.press("Home")
    stage.wait(0)
    assert stage.root.locator(".gv-chip .gv-special").count() == 1, "a token that is still to come"


STILLS = {
    "machine": lambda: gv.draw_machine(gv.regex("[A-Z][a-z]+: [a-z]+(, [a-z]+)*!\\n")),
    "wide machine": lambda: gv.draw_machine(gv.json()),
    "strip": lambda: gv.draw_strip(gv.record(gv.load_model("clerk"), BOXES, max_tokens=30)),
    "bars": lambda: gv.draw_bars(["a", "b"], {"p": [0.2, 0.8]}, title="a title"),
}
OF_JUPYTERLAB = "body > div { overflow: auto } img { max-width: 100% }"


@pytest.mark.parametrize("show", [picture, show_figure])
@pytest.mark.parametrize("name", STILLS)
@pytest.mark.quick("strip-picture")
def test_on_a_phone_a_still_keeps_its_letters_and_scrolls_in_its_own_box(bare, name, show):
    figure = STILLS[name]()
    width = figure.drawing.attributes["width"]
    bare.page.set_content(f"<body style='margin:0'><style>{OF_JUPYTERLAB}</style><div>{show(figure)}</div>")
    image = bare.page.locator("img, svg")
    box = image.locator("xpath=..")
    for room in (390, 720, 1500):
        bare.resize(room, 844)
        scale = image.bounding_box()["width"] / width
        assert 12 * scale > 9, "letters of 12 units"
        assert scale <= 1.001
        assert bare.page.evaluate("document.documentElement.scrollWidth") <= room
        assert box.evaluate("box => box.scrollHeight <= box.clientHeight")
        if room > 390 and width <= WIDE:
            assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), "a notebook shows it whole"
