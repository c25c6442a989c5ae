"""Random walks of presses, keys, drags and reloads: at every move the page stands where a model of the stage stands."""

import random

import numpy as np
import pytest

import guidedviz as gv
from guidedviz.views.words import label
from tests.browser.bare import StagePage
from tests.widgets.toy import PIECES, rule

pytestmark = pytest.mark.browser
MOST = 14  # tokens of a run
MOVES = 12


class Expected:
    """The output and the cursor. The toy takes the likeliest token, so that all that comes can be told before."""

    def __init__(self, prompt):
        self.prompt = prompt
        self.output = []
        self.cursor = 0

    def step(self):
        if self.cursor == len(self.output) < MOST:
            self.output.append(int(np.argmax(rule(self.prompt + self.output, end=False))))
        self.cursor = min(self.cursor + 1, len(self.output))

    def end(self):
        while self.cursor < MOST:
            self.step()

    def go(self, cursor):
        self.cursor = max(0, min(cursor, len(self.output)))

    def take(self, token):
        if self.cursor == MOST:
            return
        if self.output[self.cursor : self.cursor + 1] != [token]:
            self.output[self.cursor :] = [token]
        self.cursor += 1


def drag(stage, expected, chance):
    """Drag the slider of the steps to some step."""
    if not expected.output:
        return
    cursor = chance.randrange(1, len(expected.output) + 1)
    box = stage.root.locator(".gv-scrub").bounding_box()
    mouse = stage.page.mouse
    thumb = 16
    for place, move in ((0, mouse.down), (cursor, mouse.up)):
        share = place / len(expected.output)
        mouse.move(box["x"] + thumb / 2 + share * (box["width"] - thumb), box["y"] + box["height"] / 2, steps=3)
        move()
    expected.go(cursor)


def move(stage, expected, chance):
    """One thing that a person does, on the page and in the model."""
    keys = {
        "ArrowRight": expected.step,
        "ArrowLeft": lambda: expected.go(expected.cursor - 1),
        "Home": lambda: expected.go(0),
        "End": expected.end,
        "r": lambda: (expected.output.clear(), expected.go(0)),
    }
    what = chance.choices(
        ["ArrowRight", "ArrowLeft", "Home", "End", "r", "row", "chip", "drag"], [6, 3, 1, 2, 1, 4, 2, 2]
    )[0]
    if what in keys:
        stage.root.focus()
        stage.page.keyboard.press(what)
        keys[what]()
    elif what == "row":
        if expected.cursor < MOST:
            stage._wait_for("root.dataset.ready === 'true'", 15)  # the rows of the next token, not of the last one
        row = stage.root.locator("button.gv-row:visible").nth(chance.randrange(3))
        token = int(row.get_attribute("data-token"))
        row.click()
        expected.take(token)
    elif what == "chip" and expected.output:
        place = chance.randrange(len(expected.output))
        stage.root.locator(".gv-chip").nth(place).click()
        expected.go(place)
    elif what == "drag":
        drag(stage, expected, chance)


def follow(bare, stage, expected):
    """Wait until the page stands where the model stands."""
    stage.wait(expected.cursor)
    names = [label(PIECES[token]) for token in expected.output]
    bare.wait(lambda: stage.tokens == names)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.quick("2")
def test_the_page_stands_where_a_model_of_the_stage_stands(bare, seed):
    chance = random.Random(seed)
    model = gv.ToyModel(PIECES, lambda tokens: rule(tokens, end=False), eos={0})
    live = gv.stage(model, "say ", temperature=0, max_tokens=MOST)
    stage = bare.show_stage(live)
    expected = Expected(model.encode("say "))
    for count in range(MOVES):
        if count == MOVES // 2:
            stage = StagePage(bare, bare.show(live))  # what a reload shows
            follow(bare, stage, expected)
        stage.root.locator("button.gv-row:visible").first.wait_for()
        move(stage, expected, chance)
        follow(bare, stage, expected)
    bare.wait(lambda: live.player.cursor == expected.cursor)
    assert [step.token for step in live.player.steps] == expected.output
