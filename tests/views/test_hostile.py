"""Every view with hostile names stays well-formed XML, and every wrong argument is an error of ours that names it."""

import inspect
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import guidedviz as gv
from guidedviz.decoding.overlap import EngineRun, Overlap, Turn
from guidedviz.decoding.samplers import Task
from guidedviz.errors import GuidedVizError
from guidedviz.markup import ELEMENTS
from guidedviz.views.charts.payoff import draw_payoff
from guidedviz.views.layout.sketch import Arrow, Sketch
from guidedviz.views.machine.frame import MachineFrame
from guidedviz.views.theme import LIGHT, stand_alone

NASTY = "\x00\x1b]0;<b>&\"'\ud800\uffff\u202e␀"
RAW = b"\x00\x1b<&\"'\xff\xfe"
V = gv.Vocabulary([bytes([byte]) for byte in RAW] + [RAW, b"<&", b"", b"a", b"end\x07"], eos={12})
REGEX = gv.regex(r"[\x00-\xff]{2}|\x00\x1b<")
PDA = gv.grammar('root ::= "<" root ">" | [\\x00-\\x1f]+ | \'&"\''.replace("'", '"').replace('"&""', '"&"'))
SKETCH = Sketch((NASTY, "b"), (Arrow(0, 1, ((0, 0),), NASTY), Arrow(1, 0, ((60, 60),))), 0, frozenset({1}),
                ((NASTY, frozenset({0})),))  # fmt: skip
FRAME = MachineFrame(SKETCH, NASTY)
WALK = gv.tokens.lazy_walk(REGEX, V)
COMPARED = gv.compare_engines("a|<&", V, "a", ["llguidance"])
GUIDE = gv.guide(gv.regex("(?:<&|&<)a"), V)
TOY = gv.ToyModel(V.pieces, lambda tokens: [0.0] * len(V), eos={12})
RUN = replace(
    gv.record(TOY, "a", GUIDE, seed=1, max_tokens=3),
    model=NASTY,
    constraint=NASTY,
    device=NASTY,
    prompt=NASTY * 2,
    prompt_parts=(NASTY, NASTY),
)
SPELLED = replace(gv.spellings(TOY, "a", gv.guide(gv.regex('<&"a'), V)), model=NASTY)
TASK = Task(TOY, "a", GUIDE)
PAYOFF = gv.decoding.Payoff(gv.decoding.Cost(2.5, 0.25), (), (((NASTY, True), (NASTY, False)),) * 20, NASTY, NASTY,
                            "2026-11-22", "canonical", "RECORDED")  # fmt: skip
TURN = Turn((0.0, 5.0), (5.0, 9.0), 10.0)
OVERLAP = Overlap((EngineRun("trie", False, (TURN,)), EngineRun("trie", True, (TURN,))), NASTY, NASTY, "2026-11-21",
                  NASTY, 5, "RECORDED")  # fmt: skip
SERVED = gv.serving.simulate([gv.serving.Request(0, 2, NASTY)], gv.serving.Costs(forward=1))
MAPPED = gv.guide(REGEX, V)
SPLIT = gv.build_split(PDA, V)
VIEWS = {  # of every view, arguments that are right and hostile
    "draw_machine": (REGEX, [0, 1]),
    "draw_verdicts": (PDA, [RAW, NASTY, "<", "\x00", ""]),
    "draw_stack_table": (PDA, "<\x00>"),
    "draw_shared_stacks": (PDA, "<<\x00"),
    "draw_branches": (PDA, ["<\x00", "<<"]),
    "draw_cut": (PDA, ["<\x00"], "\x1f>"),
    "draw_expansion": (PDA, "<\x00", ["\x1f>"]),
    "draw_derivation": (gv.earley(PDA), "<\x00"),
    "draw_map": (MAPPED,),
    "draw_split": (SPLIT, 0),
    "draw_split_nodes": (SPLIT,),
    "draw_token_table": (MAPPED,),
    "draw_walks": ([WALK],),
    "draw_flat_trie": (REGEX, [RAW[:2], RAW[2:4]]),
    "draw_comparison": (COMPARED,),
    "draw_bars": ([NASTY], {NASTY: [-1.0], "b": [2.0]}),
    "draw_costs": (RUN,),
    "draw_rings": ([(NASTY, RAW.decode("utf-8", "replace"), NASTY)], NASTY),
    "draw_stage": (RUN,),
    "draw_strip": (RUN,),
    "draw_distribution": (RUN.steps[0],),
    "draw_spellings": (SPELLED,),
    "draw_rollback": (RUN,),
    "draw_passes": ({NASTY: RUN},),
    "draw_overlap": (OVERLAP,),
    "draw_break_even": ({NASTY: (1.0, 1.0)},),
    "draw_timeline": (SERVED,),
    "draw_positions": (RUN,),
    "to_dot": (REGEX,),
}
OTHERS = {
    "a sketch": lambda: gv.draw_machine(FRAME, 0, title=NASTY, died=NASTY),
    "a grammar": lambda: gv.draw_machine(PDA, "<\x00", title=NASTY),
    "a tree of texts": lambda: gv.text_tree(TASK).figure,
    "a stage without a step": lambda: gv.views.draw_stage(replace(RUN, steps=())),
    "a payoff": lambda: draw_payoff(PAYOFF, 0.5),
    "a table with a rest": lambda: gv.draw_stack_table(PDA, "<\x00>", unread=RAW),
}


@pytest.mark.parametrize("name", [name for name in [*VIEWS, *OTHERS] if name != "to_dot"])
def test_hostile_names_never_make_a_picture_blank(name):
    if name in OTHERS:
        figure = OTHERS[name]()
    else:
        draw = getattr(gv.views, name)
        figure = draw(*VIEWS[name], **{"title": NASTY} if "title" in inspect.signature(draw).parameters else {})
    root = ElementTree.fromstring(figure.svg)
    alone = stand_alone(figure.svg)
    assert {each.tag.split("}")[1] for each in root.iter()} <= ELEMENTS | {"style"}
    keys = [key for each in root.iter() for key in each.attrib]
    assert not [key for key in keys if key.startswith("on")]
    assert "var(--gv" not in alone
    ground = ElementTree.fromstring(alone)[0]
    assert (ground.get("fill"), ground.get("width")) == (LIGHT["page"], root.get("width")), "opaque without a page"
    said, heard = (re.findall(r"\w+", words) for words in (figure.alt, root.get("aria-label")))
    assert said == heard, "a reader of the screen hears what is said"
    assert "\x1b" not in figure.svg + figure.text + figure.alt
    assert figure.text.isprintable() or set(filter(lambda c: not c.isprintable(), figure.text)) <= {"\n", "\u202e"}


UNCHECKED = {"compact", "folded", "every", "mass", "stack", "state", "machines"}  # flags and states
WRONG = [None, 3.5, object(), b"\xff", "no such", [None], {}, -1]


@pytest.mark.parametrize("name", VIEWS)
def test_a_wrong_argument_is_an_error_of_ours(name):
    draw = getattr(gv.views, name)
    good = VIEWS[name]
    names = list(inspect.signature(draw).parameters)
    for wrong in WRONG:
        places = (n for n in range(len(good)) if n < len(names) and names[n] not in UNCHECKED)
        tries = [((*good[:n], wrong, *good[n + 1 :]), {}) for n in places]
        tries += [(good, {name: wrong}) for name in names[len(good) :] if name not in UNCHECKED]
        for positional, keyword in tries:
            try:
                draw(*positional, **keyword)
            except GuidedVizError:
                continue
            except Exception as error:
                pytest.fail(f"{name}{positional}{keyword}: {type(error).__name__}: {error}")
