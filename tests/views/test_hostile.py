"""Every view with hostile names stays well-formed XML, and every wrong argument is an error of ours that names it."""

import inspect
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import guidedviz as gv
from guidedviz.decoding.distribution import Task
from guidedviz.decoding.overlap import EngineRun, Overlap, Turn
from guidedviz.errors import GuidedVizError
from guidedviz.markup import ELEMENTS
from guidedviz.views.layout.sketch import Arrow, Sketch

NASTY = "\x00\x1b]0;<b>&\"'\ud800\uffff\u202e␀"
RAW = b"\x00\x1b<&\"'\xff\xfe"
V = gv.Vocabulary([bytes([byte]) for byte in RAW] + [RAW, b"<&", b"", b"a", b"end\x07"], eos={12})
REGEX = gv.regex(r"[\x00-\xff]{2}|\x00\x1b<")
PDA = gv.grammar('root ::= "<" root ">" | [\\x00-\\x1f]+ | \'&"\''.replace("'", '"').replace('"&""', '"&"'))
SKETCH = Sketch((NASTY, "b"), (Arrow(0, 1, ((0, 0),), NASTY), Arrow(1, 0, ((60, 60),))), 0, frozenset({1}),
                ((NASTY, frozenset({0})),), NASTY)  # fmt: skip
WALK = gv.tokens.lazy_walk(REGEX, V)
COMPARED = gv.compare_engines("a|<&", V, "a", ["llguidance"])
GUIDE = gv.guide(gv.regex("(?:<&|&<)a"), V)
TOY = gv.ToyModel(V.pieces, lambda tokens: [0.0] * len(V), eos={12})
RUN = replace(
    gv.record(TOY, "a", GUIDE, seed=1, max_tokens=3), model=NASTY, constraint=NASTY, device=NASTY, prompt=NASTY
)
SPELLED = replace(gv.spellings(TOY, "a", gv.guide(gv.regex('<&"a'), V)), model=NASTY)
TASK = Task(TOY, "a", GUIDE)
PAYOFF = gv.decoding.Payoff(gv.decoding.Cost(2.5, 0.25), (), (((NASTY, True), (NASTY, False)),) * 20, NASTY, NASTY,
                            "2026-11-22", "canonical", "RECORDED")  # fmt: skip
TURN = Turn((0.0, 5.0), (5.0, 9.0), 10.0)
OVERLAP = Overlap((EngineRun("trie", False, (TURN,)), EngineRun("trie", True, (TURN,))), NASTY, NASTY, "2026-11-21",
                  NASTY, 5, "RECORDED")  # fmt: skip
SERVED = gv.serving.simulate([gv.serving.Request(0, 2, NASTY)], gv.serving.Costs(forward=1))
FIGURES = {
    "machine": lambda: gv.draw_machine(SKETCH, 0, title=NASTY, died=NASTY),
    "regex": lambda: gv.draw_machine(REGEX, [0, 1], title=NASTY),
    "machines": lambda: gv.views.draw_machines(SKETCH, REGEX, titles=[NASTY]),
    "verdicts": lambda: gv.views.draw_verdicts(PDA, [RAW, NASTY, "<", "\x00", ""], title=NASTY),
    "grammar": lambda: gv.draw_machine(PDA, "<\x00", title=NASTY),
    "stack": lambda: gv.draw_stack(PDA, "<\x1f"),
    "stack table": lambda: gv.draw_stack_table(PDA, "<\x00>", unread=RAW),
    "shared stacks": lambda: gv.views.draw_shared_stacks(PDA, "<<\x00"),
    "branches": lambda: gv.views.draw_branches(PDA, ["<\x00", "<<"]),
    "cut": lambda: gv.views.draw_cut(PDA, ["<\x00"], "\x1f>"),
    "depth": lambda: gv.views.draw_depth(PDA, "<\x00>"),
    "tree": lambda: gv.views.draw_derivation(gv.earley(PDA), "<\x00"),
    "map": lambda: gv.draw_map(gv.guide(REGEX, V), title=NASTY),
    "xor": lambda: gv.views.draw_xor(gv.guide(REGEX, V), 0, 1, title=NASTY),
    "split": lambda: gv.draw_split(gv.build_split(PDA, V), "<", title=NASTY),
    "split nodes": lambda: gv.views.draw_split_nodes(gv.build_split(PDA, V), title=NASTY),
    "token table": lambda: gv.views.draw_token_table(gv.guide(REGEX, V), title=NASTY),
    "walk": lambda: gv.views.draw_walk(WALK, title=NASTY),
    "walks": lambda: gv.views.draw_walks([WALK], title=NASTY),
    "flat trie": lambda: gv.views.draw_flat_trie(REGEX, [RAW[:2], RAW[2:4]]),
    "batch": lambda: gv.views.draw_batch({NASTY: [3, 1]}, gv.decoding.Cost(1.0, 1.0), title=NASTY),
    "comparison": lambda: gv.draw_comparison(COMPARED),
    "bars": lambda: gv.draw_bars([NASTY], {NASTY: [1.0], "b": [2.0]}, title=NASTY),
    "costs": lambda: gv.draw_costs(RUN),
    "stage": lambda: gv.views.draw_stage(RUN),
    "strip": lambda: gv.draw_strip(RUN),
    "distribution": lambda: gv.draw_distribution(RUN.steps[0], title=NASTY),
    "spellings": lambda: gv.views.draw_spellings(SPELLED),
    "rollback": lambda: gv.views.draw_rollback(RUN),
    "text tree": lambda: gv.views.draw_text_tree(TASK),
    "payoff": lambda: gv.views.draw_payoff(PAYOFF),
    "overlap": lambda: gv.views.draw_overlap(OVERLAP),
    "break-even": lambda: gv.views.draw_break_even({NASTY: (1.0, 1.0)}, title=NASTY),
    "throughput": lambda: gv.views.draw_throughput({NASTY: {0: 1, 1: 2}}),
    "timeline": lambda: gv.views.draw_timeline(SERVED, title=NASTY),
    "positions": lambda: gv.views.draw_positions(RUN, title=NASTY),
}


@pytest.mark.parametrize("name", FIGURES)
def test_hostile_names_never_make_a_picture_blank(name):
    figure = FIGURES[name]()
    tags = {each.tag.split("}")[1] for each in ElementTree.fromstring(figure.svg).iter()}
    assert tags <= ELEMENTS | {"style"}
    assert "\x1b" not in figure.svg + figure.text + figure.alt
    assert figure.text.isprintable() or set(filter(lambda c: not c.isprintable(), figure.text)) <= {"\n", "\u202e"}


GOOD = {
    "draw_machine": (REGEX, [0]),
    "draw_verdicts": (REGEX, ["<"]),
    "draw_stack": (PDA, "<"),
    "draw_stack_table": (PDA, "<"),
    "draw_shared_stacks": (PDA, "<"),
    "draw_branches": (PDA, ["<"]),
    "draw_depth": (PDA, "<"),
    "draw_cut": (PDA, ["<"], ">"),
    "draw_derivation": (PDA, "<"),
    "draw_map": (gv.guide(REGEX, V),),
    "draw_xor": (gv.guide(REGEX, V), 0, 1),
    "draw_split": (gv.build_split(PDA, V), "<"),
    "draw_split_nodes": (gv.build_split(PDA, V),),
    "draw_token_table": (gv.guide(REGEX, V),),
    "draw_walk": (WALK,),
    "draw_walks": ([WALK],),
    "draw_comparison": (COMPARED,),
    "to_dot": (REGEX,),
    "draw_bars": (["a"], {"p": [1.0]}),
    "draw_costs": (RUN,),
    "draw_stage": (RUN,),
    "draw_strip": (RUN,),
    "draw_distribution": (RUN.steps[0],),
    "draw_spellings": (SPELLED,),
    "draw_rollback": (RUN,),
    "draw_text_tree": (TASK,),
    "draw_payoff": (PAYOFF, 0.5, 1),
    "draw_overlap": (OVERLAP,),
    "draw_batch": ({"a": [1]}, gv.decoding.Cost(1.0, 1.0)),
    "draw_break_even": ({"a": (1.0, 1.0)},),
    "draw_throughput": ({"a": {0: 1}},),
    "draw_timeline": (SERVED,),
    "draw_positions": (RUN,),
}
UNCHECKED = {
    "compact",
    "folded",
    "every",
    "mass",
    "stack",
    "state",
    "a",
    "b",
}  # flags, and states, which a guide checks
WRONG = [None, 3.5, object(), b"\xff", "no such", [None], {}, -1]


@pytest.mark.parametrize("name", GOOD)
def test_a_wrong_argument_is_an_error_of_ours(name):
    draw, good = getattr(gv.views, name), GOOD[name]
    names = list(inspect.signature(draw).parameters)
    for wrong in WRONG:
        tries = [((*good[:n], wrong, *good[n + 1 :]), {}) for n in range(len(good)) if names[n] not in UNCHECKED]
        tries += [(good, {name: wrong}) for name in names[len(good) :] if name not in UNCHECKED]
        for positional, keyword in tries:
            try:
                draw(*positional, **keyword)
            except GuidedVizError:
                continue
            except Exception as error:
                pytest.fail(f"{name}{positional}{keyword}: {type(error).__name__}: {error}")
