"""Stand-ins for Colab, VS Code and a terminal: what each is told and what it shows. None of them runs here."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

import guidedviz as gv
from guidedviz import front_end
from guidedviz.decoding.sampling import probability
from tests.common import constant_model


class TerminalInteractiveShell:
    """IPython's shell in a terminal has this name."""


class ZMQInteractiveShell:
    """And this one in a kernel."""

    kernel = object()


@pytest.fixture
def shell(monkeypatch):
    def use(kind):
        found = kind() if kind else None
        monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))

    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    return use


@pytest.fixture
def stage(clerk):
    prompt = "Ada is 36.\nJSON with age:\n"
    guide = gv.guide(gv.regex(r'\{"age": [0-9]+\}'), clerk.vocabulary)
    return gv.stage(clerk, prompt, guide, temperature=0)


@pytest.mark.parametrize(
    ("kind", "found"),
    [(ZMQInteractiveShell, (True, False)), (TerminalInteractiveShell, (False, True)), (None, (False, False))],
)
def test_notebook_terminal_and_script_are_told_apart(shell, kind, found):
    shell(kind)
    assert (front_end.in_notebook(), front_end.in_terminal()) == found


def test_a_script_steps_a_stage_as_text_with_the_words_of_the_page(shell, stage):
    shell(None)
    assert "no step yet" in str(stage)
    assert "next: stage.take()" in str(stage)
    stage.take(2)
    words = stage.panels.news(stage.player, 0, type(stage._page)())["add"][1]["words"]
    text = str(stage)
    assert f"step 2 of 2 · {words}" in text
    assert re.search(rf"^ *> +{stage.player.steps[1].token} ", text, re.MULTILINE)
    stage.go(1)
    assert "step 1 of 2" in str(stage)
    stage.play()
    assert "the run has ended" in str(stage)


def test_the_step_of_a_diagnosis_is_the_one_that_text_and_picture_are_about_to_draw(shell, clerk):
    shell(None)
    guide = gv.guide(gv.regex(r'\{"city": "(Paris|Rome)"\}'), clerk.vocabulary)
    run = gv.record(clerk, "Ada lives in London.\nJSON with city:\n", guide, temperature=0)
    (finding,) = gv.diagnose(run).findings
    assert f"at step {finding.step + 1}" in repr(gv.diagnose(run)), "counted from 1, as on the stage"
    text = str(gv.stage(run, show=finding.step))
    for said in (
        f"step {finding.step} of {len(run.steps)}",
        "next token: “Paris” taken as the likeliest",
        f"Z {probability(run.steps[finding.step].mass)} · ",
        "forbidden: “London” · L cannot come: expected P R",
        "stage.go(n)",
    ):
        assert said in text
    assert "stage.choose" not in text, "a recording refuses another token"
    assert "next token, probability before and as drawn (T 0.00): London" in gv.views.draw_stage(run, finding.step).alt


def test_a_refused_choice_is_said_in_the_text(shell, stage):
    shell(None)
    stage.choose(5)
    assert "cannot come" in str(stage)


def test_a_terminal_shows_the_text_and_a_notebook_the_widget(shell, stage):
    shell(TerminalInteractiveShell)
    assert stage._repr_mimebundle_() == {"text/plain": str(stage)}
    shell(None)
    assert "text/html" in stage._repr_mimebundle_()[0]


def test_a_hostile_text_cannot_write_to_the_terminal(shell):
    shell(None)
    hostile = "\x1b[2J\x9b1m"
    toy = constant_model([hostile.encode(), b"</s>"], [9, 0], {1})
    assert not {"\x1b", "\x9b", "\x07"} & set(str(gv.stage(toy, hostile, constraint="\x1b]0;x\x07").take(2)))


def test_in_colab_its_widget_manager_is_switched_on_and_the_bundle_says_where_it_is(monkeypatch, stage):
    """anywidget does it; what it adds must reach the page."""
    monkeypatch.delenv("GUIDEDVIZ_HEADLESS", raising=False)
    asked = []
    colab, output = ModuleType("google.colab"), ModuleType("google.colab.output")
    output.enable_custom_widget_manager = lambda: asked.append(True)
    output._widgets = SimpleNamespace(_installed_url="https://manager.example/")
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    data, about = stage._repr_mimebundle_()
    assert asked
    assert about["application/vnd.jupyter.widget-view+json"]["colab"]["custom_widget_manager"]["url"]
    assert data["text/html"].startswith("<img")
    assert "Colab: " in gv.readiness()


def test_vs_code_is_told_what_its_widgets_need(shell, monkeypatch):
    monkeypatch.setenv("VSCODE_PID", "7")
    shell(None)
    assert "VS Code" not in gv.readiness(), "a script in its terminal shows no widgets"
    shell(ZMQInteractiveShell)
    assert "jupyter.widgetScriptSources" in gv.readiness()
