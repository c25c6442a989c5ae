"""An engine of one's own: a right one passes all milestones and the exam, a usual mistake fails at its milestone."""

import os
import re

import pytest

import guidedviz as gv
from guidedviz.checks.exam import draw_exam
from tests.checks.answers.ideas import IDEAS, MEASURED, engine_with
from tests.checks.answers.own_engine import (
    MILESTONES,
    MISTAKES,
    OTHER_WAYS,
    SEED,
    engine_space,
    first_failing,
    judge_mistake,
)
from tests.labs.sources import LABS, build

here = pytest.mark.usefixtures("in_this_process")
MILESTONE_PARTS = engine_space()
MyEngine = MILESTONE_PARTS["MyEngine"]


@here
def test_the_solution_passes_every_milestone_and_the_exam():
    assert first_failing(engine_space()) == ("", None)


@pytest.mark.parametrize(("milestone", "mistake", "old", "new"), MISTAKES, ids=[row[1] for row in MISTAKES])
@pytest.mark.quick(*{row[0]: row[1] for row in reversed(MISTAKES)}.values())  # the first of each milestone
def test_a_usual_mistake_fails_first_at_its_milestone(apart, milestone, mistake, old, new):
    found, said = apart.submit(judge_mistake, old, new).result()
    assert found == milestone, said
    assert said.startswith("✗ not yet right: ")
    assert "\n" in said


@here
@pytest.mark.parametrize("change", OTHER_WAYS.values(), ids=OTHER_WAYS)
def test_another_way_is_right_at_every_milestone(change):
    assert first_failing(engine_space(*change)) == ("", None)


SAID_OF_RUNS = {
    ("while not may_end(ends, stack):", "while stack[-1] not in ends:"): "n2 may end, n3 below may not: go on",
    ("stack = push_byte(moves, ends, stack, ways[0])", "return run"): "only u may come: the next byte is forced, too",
    ("    return run", '    return run.decode(errors="ignore").encode()'): (
        "only <0xC3> may come; a run may end inside a character"
    ),
    ("while not may_end(ends, stack):", "while stack:"): "the text may end: stop",
    ("if len(ways) != 1:", "if not ways or len(run) > 9:"): "several bytes may come: stop",
    ("run += bytes(ways)", 'run += b"?"'): "only x may come",
}


@here
@pytest.mark.parametrize(("change", "said"), SAID_OF_RUNS.items(), ids=SAID_OF_RUNS.values())
def test_a_wrong_run_says_where_it_must_stop_or_go_on(change, said):
    verdict = gv.checks.forced_moves(engine_space(*change)["forced_bytes"])
    assert said in dict(verdict.facts)["because"]


@here
def test_what_is_said_of_usual_mistakes_names_the_way_out():
    def because(name, old, new):
        verdict = getattr(gv.checks, name)(engine_space(old, new)[MILESTONES[name]])
        return dict(verdict.facts)["because"]

    assert because("push", "[move[2], move[1]]", "[move[1], move[2]]") == (
        "a call reads no byte: push the return node first, the start on top, then look at the new top"
    )
    third = because("split_node", "return accepted, dependent", "return accepted, dependent, set()")
    assert third == "two sets are expected: the accepted tokens, and the dependent ones"
    assert because("trie", "return trie", "return [*trie, ({}, [])]") == (
        "2 nodes, and only 1 of them can be reached from the root"
    )
    inside = because("rows", "rows[state].values()", "inside(rows[state], trie, step, state)")
    assert inside == "the row of q1 is too many: no token leads to this state"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_rows_of_a_grammar_are_named_where_they_do_not_end():
    rows_of_all = changed('if all(move[0] == "read" for move in moves.values()):', "if moves:")
    said = "a table with calls has no end of states: build rows only if every move is a read"
    assert dict(gv.checks.engine_masks(rows_of_all).facts)["because"] == said
    assert said in dict(gv.checks.engine(rows_of_all, seed=SEED).facts)["grammars"]


ENDLESS = {
    "draw_trie": ("for byte in piece:", "while True:"),
    "draw_rows": ("if state not in rows:", "if True:"),
    "draw_stacks": ("node = left.pop()", "node = left[-1]"),
    "draw_split": ("place, stack = waiting.pop()", "place, stack = waiting[-1]"),
    "write": ("return self.masks[state]", "while True: pass"),
}


def shown_by(drawn, old="", new=""):
    """What the notebook shows where it draws, and what it has defined; all cells above run, as by "Run All"."""
    space = {}
    for kind, source in build.read_cells(build.read_source("project")):
        code = build.settle_exercise(source, True)
        if old:
            code = code.replace(old, new)
        above, _, last = code.rpartition("\n")
        if last.startswith(f"{drawn}("):
            exec(above, space)
            return eval(last, space), space
        if kind == "code":
            exec(code, space)
    return pytest.fail("nothing is drawn")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
@pytest.mark.parametrize("drawn", ENDLESS)
@pytest.mark.quick("draw_trie")
def test_an_endless_answer_is_not_drawn(drawn):
    shown, _ = shown_by(drawn, *ENDLESS[drawn])
    assert shown.startswith("here is")


@here
def test_the_picture_of_an_index_has_a_state_per_row_and_its_tokens_on_the_arrows():
    figure, space = shown_by("draw_rows")
    rows = space["build_rows"](space["trie"], space["laugh"].step, 0)
    assert rows[2] == {0: 1, 2: 2, 3: 1, 4: 3, 5: 3}
    assert "q2  0 3 → q1 · 2 → q2 · 4 5 → q3" in figure.text
    assert figure.text.startswith(f"machine: {len(rows)} states")


@here
@pytest.mark.parametrize("name", MILESTONES)
def test_what_is_not_written_is_open_and_what_is_nothing_is_wrong(name):
    check = getattr(gv.checks, name)
    assert check(None).result == check(...).result == "open"
    assert check(7).result == check("x").result == "wrong"


PAGE = (LABS / "teaching" / "project.md").read_text(encoding="utf-8")
SAMPLES = {}
for code in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
    exec(code, SAMPLES)
THREE = [SAMPLES["NaiveEngine"], MyEngine, SAMPLES["ExcellentEngine"]]


@here
@pytest.mark.parametrize("engine", THREE)
def test_the_sample_engines_of_the_teacher_pass_the_exam(engine):
    assert gv.checks.engine_masks(engine)
    assert gv.checks.engine(engine, seed=SEED)


def test_the_teachers_page_names_each_mistake_at_its_milestone():
    rows = re.findall(r"^\| [A-Z].*\. \| (\d|the exam)", PAGE, re.MULTILINE)
    found = {"the exam" if name == "engine" else str(place) for place, name in enumerate(MILESTONES, 1)}
    assert len(rows) >= 8
    assert set(rows) == found


class Begun:
    """The class of the student's notebook."""

    def __init__(self, moves, ends, pieces, eos):
        self.initial = (0,)

    def mask(self, state): ...


class Crashes(Begun):
    def mask(self, state):
        raise ZeroDivisionError("oh no")


class Remembers(MyEngine):
    """It goes on from its last step, whatever state it is given."""

    def advance(self, state, token):
        again = state == self.initial and hasattr(self, "last")
        after = super().advance(self.last if again else state, token)
        self.last = after or state
        return after


class Hides(MyEngine):
    """Its states are equal to none."""

    class State(tuple):
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    def advance(self, state, token):
        after = super().advance(tuple(state), token)
        return None if after is None else self.State(after)

    def mask(self, state):
        return super().mask(tuple(state))

    def forced(self, state):
        return super().forced(tuple(state))


@here
def test_a_begun_class_is_open_and_one_that_crashes_says_where():
    assert gv.checks.engine(Begun).result == "open"
    assert gv.checks.engine_masks(Begun).result == "open"
    said = dict(gv.checks.engine(Crashes, seed=SEED).facts)
    assert said["grammars"].startswith("✗ at the start: ZeroDivisionError: oh no")
    assert dict(gv.checks.engine_masks(Crashes).facts)["yours"] == "at the start: ZeroDivisionError: oh no"


@here
@pytest.mark.parametrize("engine", [Remembers, Hides])
def test_a_state_that_is_no_value_is_found(engine):
    verdict = gv.checks.engine(engine, seed=SEED)
    assert not verdict
    assert not gv.checks.engine_masks(engine)


@here
def test_a_call_without_a_seed_asks_something_new_and_its_seed_asks_the_same_again():
    first = gv.checks.engine(Crashes)
    assert first.said != gv.checks.engine(Crashes).said
    (seed,) = re.findall(r"gv\.checks\.engine\(Crashes, seed=(\d+)\)", first.said)
    draw_exam.cache_clear()
    assert gv.checks.engine(Crashes, seed=int(seed)).facts == first.facts


@here
@pytest.mark.parametrize("seed", range(100, 112))
@pytest.mark.quick("100")
def test_the_exam_is_right_about_a_right_engine(seed):
    verdict = gv.checks.engine(MyEngine, seed=seed)
    assert verdict, verdict


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_an_endless_engine_is_stopped():
    class Endless(Begun):
        def mask(self, state):
            while True:
                pass

    verdict = gv.checks.engine_masks(Endless)
    assert "it does not end" in dict(verdict.facts)["yours"]


def changed(old, new):
    """The solution with one change, which no check of a milestone before the class is asked about."""
    return engine_space(old, new)["MyEngine"]


class ForgetsGrammars(MyEngine):
    def mask(self, state):
        return super().mask(state) if self.rows else None


class ForgetsRegexes(MyEngine):
    def mask(self, state):
        return None if self.rows else super().mask(state)


@here
@pytest.mark.parametrize("engine", [ForgetsGrammars, ForgetsRegexes])
def test_a_forgotten_return_of_some_masks_is_named(engine):
    said = "mask gives None and not a set of ids: is a `return` missing?"
    assert said in repr(gv.checks.engine(engine, seed=SEED))
    assert said in repr(gv.checks.engine_masks(engine))


short_of = "return (*left[-{}:], move[1])".format
CUTS = [changed("return (*left, move[1])", short_of(most)) for most in (3, 6, 12)]
THIN = {
    "one EOS id": changed("legal |= self.eos", "legal |= {*sorted(self.eos)[:1]}"),
    "the top two nodes": changed("self.advance(state, token)}", "self.advance(state[-2:], token)}"),
    "a stack of 3 nodes": CUTS[0],
    "a stack of 6 nodes": CUTS[1],
    "a stack of 12 nodes": CUTS[2],
}


@here
@pytest.mark.parametrize("engine", THIN.values(), ids=THIN)
@pytest.mark.parametrize("seed", [1, 2, 30, 32, 34])
@pytest.mark.quick(*(f"1-{name}" for name in THIN))
def test_the_exam_finds_at_each_seed_what_only_depth_or_a_second_eos_shows(engine, seed):
    assert not gv.checks.engine(engine, seed=seed)


@here
def test_the_small_tasks_are_deep_enough_for_a_short_stack():
    assert not gv.checks.engine_masks(CUTS[0])
    assert "(((((((" in repr(gv.checks.engine_masks(CUTS[1]))


@here
def test_the_small_tasks_end_inside_a_character():
    class Characters(MyEngine):
        def __init__(self, moves, ends, pieces, eos):
            whole = [piece.decode(errors="ignore").encode() for piece in pieces]
            super().__init__(moves, ends, whole, eos)

    assert "token 0 '<0xC3>' is legal, and yours forbids it" in repr(gv.checks.engine_masks(Characters))


@here
def test_what_was_never_asked_is_not_called_right():
    class Another(MyEngine):
        def __init__(self, moves, ends):
            pass

    said = dict(gv.checks.engine(Another, seed=SEED).facts)
    assert said["grammars"].startswith("✗ at the start: TypeError")
    for name in ("states as values", "the end", "dead ends", "forced bytes"):
        assert said[name] == "not asked"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows cannot fork")
def test_a_jump_without_end_is_named_in_its_line():
    class Endless(MyEngine):
        def forced(self, state):
            while True:
                pass

    said = dict(gv.checks.engine(Endless, seed=SEED).facts)
    assert said["forced bytes"].startswith("✗ at the start: forced does not end")
    assert said["regexes"] == "✓"
    assert said["deep texts"] == "not asked"


@here
@pytest.mark.parametrize("check", [lambda: gv.checks.engine(CUTS[1], seed=2), lambda: gv.checks.engine_masks(CUTS[1])])
def test_a_failing_task_is_built_again_by_the_code_in_the_verdict(check):
    facts = dict(check().facts)
    space = {"gv": gv}
    exec(facts.get("take one out") or facts["take it out"], space)
    given = [space[name] for name in ("moves", "ends", "pieces", "eos")]
    masks = []
    for make in (MyEngine, CUTS[1]):
        engine = make(*given)
        state = engine.initial
        for token in space["tokens"]:
            state = engine.advance(state, token)
        masks.append(engine.mask(state))
    assert masks[0] != masks[1]


@here
def test_a_list_in_the_place_of_a_stack_is_shown_as_one():
    def push_list(*given):
        stack = MILESTONE_PARTS["push_byte"](*given)
        return [*stack] if stack else stack

    assert dict(gv.checks.push(push_list).facts)["yours gave"] == "the list [1]"


@here
def test_tokens_and_texts_of_a_fault_are_quoted_and_eos_is_named():
    said = repr(gv.checks.engine_masks(changed("if may_end(self.ends, state):", "if state:")))
    assert "at the start: token 2 (EOS) is illegal" in said
    said = repr(gv.checks.engine_masks(changed("self.advance(state, token)}", "None}")))
    assert "every byte passes: the stack (3, 1) becomes (2,)" in said


@here
@pytest.mark.parametrize("name", IDEAS)
@pytest.mark.quick(every=3)
def test_an_engine_with_an_idea_of_the_notebook_passes_the_exam(name):
    verdict = gv.checks.engine(engine_with(name), seed=SEED)
    assert verdict, verdict


def test_the_ideas_of_the_notebook_have_the_ratios_that_were_measured_in_their_order():
    text = (LABS / "src" / "project.py").read_text(encoding="utf-8")
    rows = re.findall(r"^# \| .*?\*([a-zA-Z ]+)\*.*? \| ([\d.]+)x \| ([\d.]+)x \|", text, re.MULTILINE)
    _, *ideas = MEASURED
    assert [row[0] for row in rows] == ideas
    for name, *said in rows:
        for shown, base, mine in zip(said, MEASURED["none"], MEASURED[name], strict=True):
            assert float(shown) == pytest.approx(base / mine, rel=0.13)
