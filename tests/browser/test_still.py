"""The still picture and the page say the same about the same run: labels, order and words of every part they share."""

import xml.etree.ElementTree as ET

import pytest

import guidedviz as gv
from guidedviz.models.chat import Prompt
from guidedviz.views.charts.bars import NOT_ASKED_WORDS
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
    stage = bare.show_stage(gv.stage(trace, guide=guide, steps=len(trace.steps)))
    for cursor in (len(trace.steps), 0, len(trace.steps) // 2):
        stage.root.get_by_role("slider", name="step").fill(str(cursor))  # also into a forced text
        stage.wait(cursor)
        page = stage.root.evaluate(TEXTS)
        still = ET.fromstring(gv.views.draw_stage(trace, cursor, machine=machine).svg)
        for part in ("token", "special"):
            assert [squash(words) for words in parts(still, part)] == [squash(words) for words in page[part]]
        rows = parts(still, "row")
        for row, shown in zip(rows, page["row"], strict=True):
            label, odds = [squash(words) for words in row if words not in "▸✕"]
            assert label in squash(shown)
            assert odds in squash(shown)
        [(_, head, *_)] = parts(still, "next")
        for words in head.replace("legal", "").replace("Z", "").split(" · "):
            assert rows == [] or squash(words) in squash(page["next"]), "Z, and how many tokens are legal"
        assert rows or squash(NOT_ASKED_WORDS) in squash(page["next"]), "why there are no rows"
        [text] = parts(still, "text")
        assert squash(text[-1]) in squash(page["text"]) or not cursor, "what is said of the step"
        assert squash(text).startswith(squash(page["prompt"])), "the prompt"
        assert squash(trace.constraint or "no constraint") in squash(page["stage"])
        for stack in parts(still, "stack"):
            top = [squash(words).rstrip("…") for words in stack if words != "▸"][:3]
            depth = "".join(stack).split("depth ")[1].split()[0]
            shown = squash(page["stack"][0])
            assert all(words in shown for words in top), "rule, what it waits for, and height"
            assert shown.startswith(f"{top[0]}{depth}"), "the depth is the height of the top"
