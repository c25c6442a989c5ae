"""Wrong arguments are refused by name, and no message of a page can break a widget."""

import asyncio
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.files import shipped
from guidedviz.views.machine.construction import dfa_frames
from guidedviz.widgets.wire import Wire
from tests.common import constant_model, regex_guide
from tests.widgets.toy import settled

MACHINE = gv.grammar('root ::= "(" root ")" | "x"')
MODEL = constant_model([b"(", b")", b"x", b"x)", b"</s>"], [3.0, 2.0, 1.0, 0.5, 0.0], eos={4})
GUIDE = gv.guide(MACHINE, MODEL.vocabulary)
FINITE = regex_guide(MODEL, "[(]?x[)]?")
TRACE = gv.record(MODEL, "x", GUIDE, max_tokens=4)
RUNS = gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))
WRONG = [None, 3, -1, 2.5, 10**30, float("nan"), True, "no such thing", b"bytes"]
WRONG += [[1], {}, {"a": 1}, object(), lambda: 0]


def refused(call, *args, **settings):
    """Whether the call is refused with an error of ours; any other exception fails the test."""
    try:
        call(*args, **settings)
    except gv.GuidedVizError as error:
        return len(str(error)) < 500
    return False


# --- arguments ---

CHANGED = {"prompt": "x", "temperature": 99999, "seed": 1, "max_tokens": 5, "top_k": 1, "top_p": 0.5, "bias": {0: 1}}
CHANGED |= {"constraint": "x", "jump_forward": "nonsense", "edit": True}


@pytest.mark.parametrize("name", CHANGED)
def test_a_recording_refuses_settings_of_its_own(name):
    with pytest.raises(gv.SettingError, match=rf"gv.stage\(trace\), {name}: saw .*, expected no settings"):
        gv.stage(TRACE, **{name: CHANGED[name]})


CALLS = {
    "stage, model": lambda wrong: gv.stage(wrong, "x", steps=1),
    "stage, prompt": lambda wrong: gv.stage(MODEL, wrong, steps=1),
    "stage, guide": lambda wrong: gv.stage(MODEL, "x", wrong, steps=1),
    "stage of a trace, guide": lambda wrong: gv.stage(TRACE, guide=wrong),
    **{
        f"stage, {name}": lambda wrong, name=name: gv.stage(MODEL, "x", GUIDE, **{"steps": 1, name: wrong})
        for name in gv.stage.__kwdefaults__
    },
    "film, frames": gv.film,
    "film, title": lambda wrong: gv.film(dfa_frames("a"), wrong),
    "folded, machine": gv.folded,
    "bias_sliders, model": lambda wrong: gv.bias_sliders(wrong, "x", ["("]),
    "bias_sliders, prompt": lambda wrong: gv.bias_sliders(MODEL, wrong, ["("]),
    "bias_sliders, amount": lambda wrong: gv.bias_sliders(MODEL, "x", ["("], bias={"x": wrong}),
    "bias_sliders, tokens": lambda wrong: gv.bias_sliders(MODEL, "x", wrong),
    "bias_sliders, token": lambda wrong: gv.bias_sliders(MODEL, "x", [wrong]),
    "bias_sliders, bias": lambda wrong: gv.bias_sliders(MODEL, "x", ["("], bias=wrong),
    "fraction_slider, model": gv.fraction_slider,
    "predict, choices": lambda wrong: gv.predict("?", choices=wrong, answer="a"),
    "predict, answer": lambda wrong: gv.predict("?", choices=["a", "b"], answer=wrong),
    "predict, number": lambda wrong: gv.predict("?", number=wrong),
    "predict, within": lambda wrong: gv.predict("?", number=1, within=wrong),
    "predict, reveal": lambda wrong: gv.predict("?", number=1, reveal=wrong),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_refused_by_an_error_of_ours(call):
    assert sum(refused(call, wrong) for wrong in WRONG) >= 3


# --- messages ---

DO = "play pause reset back go end step choose speed set map picture edit go_back turn all find why read state compare"
DO = f"{DO} rest move painted hello commit prompt model beside insert look".split()
KEYS = "branch cursor token value name kind text ask of chain row column state on place rows time number answer".split()
WORDS = [*"temperature seed top_k top_p bard regex schema grammar texts find why x /(/ \\x ((".split()]
NUMBERS = st.integers(-2, 6) | st.integers() | st.floats() | st.just(10**400)
LEAVES = st.none() | st.booleans() | NUMBERS | st.sampled_from(WORDS) | st.text(max_size=4)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner), max_leaves=4
)
MESSAGES = st.dictionaries(st.sampled_from(KEYS), LEAVES, max_size=4).flatmap(
    lambda rest: st.sampled_from(DO).map(lambda do: {"do": do, **rest})
)


@example([{"do": "map", "ask": "find", "of": "\ud800"}])
@example([{"do": "edit", "kind": kind, "text": "\ud800"} for kind in ("regex", "grammar", "schema", "\ud800")])
@given(st.lists(MESSAGES | JSON, max_size=12))
def test_no_message_breaks_a_widget(messages):
    async def page():
        shown = [
            gv.stage(MODEL, "x", GUIDE, steps=2, max_tokens=6, edit=MACHINE.grammar.text),
            gv.stage(TRACE, guide=GUIDE, steps=2),
            gv.folded(FINITE.machine),
            gv.predict("?", choices=["x", "y"], answer="x"),
            gv.predict("?", number=1),
            gv.fraction_slider(RUNS),
        ]
        for one in shown:
            wire = Wire("stage", one.display.hear, one.display.news)
            for said in messages:
                wire.hear(said)
            await asyncio.sleep(0)
            assert json.dumps(one.display.news(True), allow_nan=False, ensure_ascii=False).encode()
            wire.close()
        for stage in shown[:2]:
            stage.pause()
        await settled()

    asyncio.run(page())
