"""The still picture of the stage: its parts in their places, in letters that can be read, and the words of the page."""

import re
import xml.etree.ElementTree as ET
from itertools import accumulate, combinations

import pytest

import guidedviz as gv
from guidedviz.decoding.trace import END_IN_WORDS
from guidedviz.files import shipped
from guidedviz.machines.machine import read
from guidedviz.markup import node
from guidedviz.models.chat import Prompt
from guidedviz.views.figure import Figure, wide
from guidedviz.views.machine.picture import ABOVE_INSIDE, draw_inside
from guidedviz.views.stack.stack_table import write_strips
from tests.common import constant_model, regex_guide
from tests.views.layout.drawn import overlap

PIECES = [b'{"', b"name", b'":', b' "', b"Ada", b'"}', b".", b"[", b"]", b"</s>"]
PROPERTIES = {"name": {"type": "string"}}
PERSON = gv.json_schema({"type": "object", "properties": PROPERTIES, "required": ["name"]})
NESTED = gv.grammar('root ::= "[" root "]" | "."')


LIST = [{7, 6}, {6}, {8}]  # of masks


def toy(*likes):
    """A model that likes some tokens, the first most."""
    return gv.ToyModel(PIECES, lambda tokens: [4.0 - likes.index(t) if t in likes else 0.0 for t in range(10)], eos={9})


def listed(cursor):
    """The still of a run under a list of masks."""
    guide = gv.static_masks(toy().vocabulary, LIST)
    run = gv.record(toy(7, 6), "Ada", guide)
    return gv.views.draw_stage(run, cursor, guide=guide)


def recorded(machine=None, likes=(7, 6), **settings):
    model = toy(*likes)
    guide = gv.guide(machine, model.vocabulary) if machine else None
    return gv.record(model, "Ada" * 60, guide, max_tokens=20, **settings)


STILLS = {
    "without a constraint": lambda: gv.views.draw_stage(recorded(temperature=0.5, bias={6: 3.0}), 3),
    "at the prompt": lambda: gv.views.draw_stage(recorded(NESTED), 0, machine=NESTED),
    "a stack": lambda: gv.views.draw_stage(recorded(NESTED, temperature=0), 3, machine=NESTED),
    "at the end": lambda: gv.views.draw_stage(recorded(NESTED, (6,)), machine=NESTED),
    "a large machine": lambda: gv.views.draw_stage(recorded(PERSON, (0, 1, 2, 4, 5)), 2, machine=PERSON),
    "forced": lambda: gv.views.draw_stage(recorded(PERSON, jump_forward=True), 0, machine=PERSON),
    "a map": lambda: gv.views.draw_stage(recorded(NESTED), 4, split=gv.guide(NESTED, toy().vocabulary).split),
    "a list of masks": lambda: listed(1),
    "a box": lambda: gv.views.draw_stage(recorded(PERSON), 2, machine=PERSON, box="[a-z]" * 90),
}


def parts(figure, name):
    """The parts of a still picture with this name: their left, top, width and height, and their texts."""
    found = []

    def look(element, x, y):
        if shift := re.fullmatch(r"translate\((\S+) (\S+)\)", element.get("transform", "")):
            x += float(shift[1])
            y += float(shift[2])
        if element.get("data-part") == name:
            rectangles = (e for e in element if e.tag.endswith("rect"))
            ground = next(rectangles, None)
            size = (float(ground.get("width")), float(ground.get("height"))) if ground is not None else (0.0, 0.0)
            labels = [e for e in element.iter() if e.tag.endswith("text")]
            texts = ["".join(e.itertext()) for e in labels]
            found.append((x, y, *size, texts))
        for inside in element:
            look(inside, x, y)

    look(ET.fromstring(figure.svg), 0.0, 0.0)
    return found


@pytest.mark.parametrize("name", STILLS)
def test_no_two_panels_overlap_all_stand_in_the_picture_and_every_letter_is_at_least_12_pixels_high(name):
    figure = STILLS[name]()
    root = ET.fromstring(figure.svg)
    panels = [panel for part in ("box", "text", "machine", "next", "map") for panel in parts(figure, part)]
    boxes = [(x, y, x + width, y + height) for x, y, width, height, _ in panels]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    assert min(*lefts, *tops) >= 0
    assert max(rights) <= float(root.get("width")) == 920
    assert max(bottoms) <= float(root.get("height"))
    assert not [pair for pair in combinations(boxes, 2) if overlap(*pair)]
    assert [e.text for e in root.iter() if float(e.get("font-size", 12)) < 12] == []
    scaled = [e for e in root.iter() if "scale" in e.get("transform", "")]
    assert not [e for e in scaled if any("text" in t.tag for t in e.iter())]


def chat(*texts, name="<|im_start|>"):
    """A run from a chat prompt: a special token, then a text, and so on; it ends with EOS."""
    words = [""]
    for text in texts:
        words += [name, text]
    model = toy(6, 9)
    prompt = Prompt("".join(words), (6,), words)
    guide = regex_guide(model, "\\.")
    return gv.record(model, prompt, guide, seed=1)


def test_a_special_token_that_the_machine_names_is_a_chip_in_text_and_bars():
    pieces = [b"a", b"<a>", b"<a>", b"</s>"]  # an id that is special, and one that spells it
    logits = [0.0, 2.0, 0.0, 0.0]
    toy = constant_model(pieces, logits, eos={3}, special={2})
    trace = gv.record(toy, "a", gv.guide(gv.grammar('root ::= <a> "<a>" "a"'), toy.vocabulary), temperature=0)
    assert [texts for *_, texts in parts(gv.draw_strip(trace), "special")] == [["<a>"], ["</s>"]]
    bars = gv.draw_distribution(trace.steps[0])
    assert len(parts(bars, "special")) == 2, "of four tokens"
    figure = gv.views.draw_stage(trace, 1)
    assert "⟪" not in figure.svg + figure.alt


def test_a_special_token_is_a_chip_and_its_characters_typed_are_a_text():
    figure = gv.views.draw_stage(chat("user\nWhat is <|im_start|> in it?\n", "assistant\n"))
    assert [texts for *_, texts in parts(figure, "special")] == [["im_start"], ["im_start"], ["</s>"]]
    [(*_, texts)] = parts(figure, "text")
    assert "".join(texts).startswith("im_startuser↵What is <|im_start|> in it?↵im_startassistant↵.")
    assert figure.svg.count('aria-label="special token &lt;|im_start|&gt;"') == 2
    assert "(special token <|im_start|>)user↵What is <|im_start|> in it?↵(special token <|im_start|>)" in figure.alt


@pytest.mark.parametrize("name", ["<|im_start|>", "<|" + "n" * 300 + "|>", "\x00<b>\ud800\u202e" * 50, " ", "漢" * 99])
def test_the_parts_of_a_chat_prompt_stand_in_their_panel_one_after_the_other(name):
    trace = chat("a b" * 200, "", "x" * 300, " \n\n" * 9, name=name)
    root = ET.fromstring(gv.views.draw_stage(trace).svg)
    [panel] = [e for e in root.iter() if e.get("data-part") == "text"]
    ends = {}
    for child in panel[1]:
        if place := re.fullmatch(r"translate\((\S+) (\S+)\)", child.get("transform", "")):
            x, y = map(float, place.groups())
            rectangles = (e for e in child.iter() if e.tag.endswith("rect"))
            box = next(rectangles, None)
            width = wide("".join(child.itertext()), 15) if box is None else float(box.get("width"))
            assert ends.get(y, 0) <= x + 0.1
            ends[y] = x + width
    panel_width = float(panel[0].get("width"))
    assert max(ends.values()) <= panel_width - 20


def test_what_else_than_the_mask_changed_the_draw_stands_in_the_head_of_the_panel():
    run = recorded(temperature=0.5, bias={6: 3.0})
    figure = gv.views.draw_stage(run, 3)
    [(*_, texts)] = parts(figure, "changes")
    assert texts == ["bias · T 0.50"]
    assert parts(gv.views.draw_stage(recorded(), 3), "changes") == []
    assert "as drawn (bias · T 0.50)" in STILLS["without a constraint"]().alt


def test_without_a_constraint_a_special_token_that_cannot_be_drawn_is_no_mask():
    trace = gv.Trace.load(shipped("traces/smollm2/ada-free.trace.json"))
    still = gv.views.draw_stage(trace, len(trace.steps))
    assert trace.steps[-1].mass < 0.9999
    assert "taken as the likeliest, p 0.82" in still.alt
    shown = still.svg + still.alt
    assert not [word for word in ("removed", "of the legal", "✕") if word in shown]


def test_a_map_that_shows_the_stack_takes_the_place_of_the_machine():
    trace = recorded(NESTED)
    split = gv.guide(NESTED, toy().vocabulary).split
    plain = gv.views.draw_stage(trace, 4, machine=NESTED)
    asked = gv.views.draw_stage(trace, 4, machine=NESTED, split=split)
    counts = [[len(parts(figure, part)) for part in ("map", "machine")] for figure in (plain, asked)]
    assert counts == [[0, 1], [1, 0]]
    assert "context-dependent" in asked.alt


def test_under_a_list_of_masks_the_map_shows_the_mask_of_the_next_token():
    found = []
    for cursor in range(4):
        [(*_, texts)] = parts(listed(cursor), "map")
        legal = [words for words in texts if words.startswith("legal")]
        found.append((texts[1], legal))
    places = ("position 0", "position 1", "position 2", "the end")
    assert found == [(f"10 tokens · {place}", [f"legal {2 if '0' in place else 1}"]) for place in places]


def test_the_still_of_a_live_stage_has_its_map_and_its_constraint_box():
    masks = gv.static_masks(toy().vocabulary, LIST)
    stages = [gv.stage(toy(7, 6), "Ada", masks, show=1)]
    stages += [gv.stage(toy(6), "Ada", edit=r"\[\.\]\n?", show=1)]
    mapped, edited = (str(one._repr_mimebundle_()) for one in stages)
    assert "Mask: 2 of 10 tokens legal" in mapped
    assert "constraint box" not in mapped
    assert "Machine in q1" in edited
    assert "constraint box: " in edited


def test_it_is_described_for_people_who_cannot_see_it():
    alt = STILLS["a stack"]().alt
    draw = "taken as the likeliest, p"
    for said in ("step 3 of 20", draw, "next token, probability before and", "Legal mass Z", "stack: depth 3"):
        assert said in alt


def test_the_place_in_the_run_and_the_settings_stand_below():
    trace = recorded(NESTED, seed=4)
    figures = [gv.views.draw_stage(trace, cursor) for cursor in range(3)]
    found = [parts(figure, "controls")[0][4] for figure in figures]
    for cursor, texts in enumerate(found):
        assert texts == [f"step {cursor} of 20", "T 1.00 · seed 4"]


def test_the_end_is_told_after_the_last_step_and_not_before_it():
    model = constant_model([b"a", b"b"], [1, 2])
    trace = gv.record(model, "a", regex_guide(model, "ab"))
    told = [END_IN_WORDS["complete"] in gv.views.draw_stage(trace, cursor).svg for cursor in (1, 2)]
    assert told == [False, True]


@pytest.mark.parametrize("text", ["[A-Z]+: [a-z]+\n", "[0-9]{4}-[0-9]{2}-[0-9]{2}"])
def test_a_machine_in_a_long_row_is_wrapped_and_stands_there_whole(text):
    drawn, height = draw_inside(gv.regex(text), [0], 418, 352)
    assert "in part" not in str(drawn)
    assert height <= 352
    assert str(drawn).count("data-state=") == len(gv.regex(text))


@pytest.mark.parametrize("text", ["a", "abba", "abbababbaab"])
@pytest.mark.quick("abba")
def test_of_a_machine_that_does_not_fit_the_part_around_the_current_state_is_shown(text):
    machine = gv.regex("[ab]*a[ab]{6}")
    path = list(accumulate(text.encode(), machine.step, initial=machine.initial))
    drawn, height = draw_inside(machine, path, 420, 330)
    svg = str(drawn)
    assert "states, in part" in svg
    left, top = map(float, re.search(r'<svg[^>]*><g transform="translate\((\S+) (\S+)\)">', svg).groups())
    x, y = map(float, re.search(r'class="gv-state gv-lit".*?<rect x="(\S+)" y="(\S+)"', svg).groups())
    assert 0 <= x + left <= 420
    assert 0 <= y + top <= height - ABOVE_INSIDE


def test_the_open_rules_pile_upward_from_the_ground_below_the_active_rule_and_outer_ones_become_edges():
    state = read(NESTED, b"[" * 7)
    drawn, high = write_strips(NESTED, state, 300, 160)
    figure = Figure(node("svg", drawn, width=300, height=high), "", "")
    strips = parts(figure, "frame")
    assert [(texts[0], texts[-1]) for *_, texts in strips] == [("▸", "7"), ("root", "6"), ("root", "5"), ("root", "4")]
    edges = [float(e.get("y")) for e in ET.fromstring(figure.svg).iter() if e.get("height") == "8"]
    tops = [y for _, y, *_ in strips]
    assert tops + sorted(edges) == sorted(tops + edges), "the innermost is the highest, and edges are below strips"
    assert len(edges) == 3
    assert max(edges) < high - 20, "the ground is below them"
    assert "… 3 more · depth 7" in figure.svg
