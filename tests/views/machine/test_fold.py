"""Folded machines: a chain is a row of bytes with nothing to decide in between, and folding loses nothing."""

import re
from collections import Counter
from itertools import accumulate

from hypothesis import assume, given
from hypothesis import strategies as st

import guidedviz as gv
from guidedviz.errors import GuidedVizError
from guidedviz.machines.regular.nfa import build_nfa
from guidedviz.machines.regular.regex import parse_regex, regex
from guidedviz.views.layout.fold import find_chains, fold, fold_loops, inside_row
from guidedviz.views.layout.sketch import Arrow, sketch_dfa, sketch_nfa, sketch_pda
from guidedviz.views.machine.picture import draw_machine
from tests.strategies import grammars, regexes
from tests.views.layout.drawn import of_class

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
NAME |= {"additionalProperties": False}


def unfolded_again(sketch):
    """Every arrow of a folded sketch as arrows of one byte."""
    found = []
    for arrow in sketch.arrows:
        row = (arrow.source, *arrow.through, arrow.target)
        parts = [arrow.ranges]
        if arrow.through:
            parts = [(one,) for one in arrow.ranges]
        found += [Arrow(*ends, ranges, arrow.call) for *ends, ranges in zip(row[:-1], row[1:], parts, strict=True)]
    return found


def made(make, text):
    """What is made of a text; no example where it is too large."""
    try:
        return make(text)
    except GuidedVizError:
        return assume(False)


MAKERS = [lambda text: sketch_dfa(regex(text)), lambda text: sketch_nfa(build_nfa(parse_regex(text)))]
sketches = st.builds(made, st.sampled_from(MAKERS), regexes)
rules = st.builds(lambda text: sketch_pda(made(gv.grammar, text)), grammars)


@given(sketches | rules)
def test_folding_loses_nothing(sketch):
    folded = fold(sketch)
    arrows = sorted(unfolded_again(folded), key=repr)
    assert arrows == sorted(sketch.arrows, key=repr)
    assert (folded.names, folded.initial) == (sketch.names, sketch.initial)
    assert folded.accepting == sketch.accepting
    sources = {arrow.source for arrow in folded.arrows}
    targets = {arrow.target for arrow in folded.arrows}
    assert not folded.folded & (sources | targets)
    begins = {nodes[0] for _, nodes in sketch.rules}
    assert not folded.folded & begins, "a rule begins at no state inside"


@given(regexes)
def test_the_text_of_a_chain_is_what_it_reads_and_all_that_can_be_folded_is(text):
    machine = made(regex, text)
    moves = [(state, byte, machine.step(state, byte)) for state in range(len(machine)) for byte in range(256)]
    moves = [move for move in moves if move[2] is not None]  # all there are, byte by byte
    out = Counter(source for source, _, _ in moves)
    into = Counter(target for _, _, target in moves)
    lonely = {state for state in range(1, len(machine)) if out[state] == into[state] == 1} - machine.accepting
    folded = fold(sketch_dfa(machine))
    assert folded.folded == lonely
    for arrow in folded.arrows:
        row = (arrow.source, *arrow.through, arrow.target)
        read = [(source, low, target) for source, (low, _), target in zip(row, arrow.ranges, row[1:], strict=False)]
        assert not arrow.through or (set(read) <= set(moves) and len(read) == len(row) - 1 == len(arrow.ranges))


@given(sketches, st.data())
def test_a_chain_around_a_state_stays_unfolded(sketch, data):
    chains = find_chains(sketch)
    every = {state for chain in chains for state in inside_row(chain)}
    kept = data.draw(st.frozensets(st.integers(0, len(sketch.names) - 1)))
    now = fold(sketch, kept)
    assert now.unfolded | now.folded == every
    assert now.unfolded == {s for chain in chains if kept & {*inside_row(chain)} for s in inside_row(chain)}
    assert fold(sketch, every).arrows == sketch.arrows, "all unfolded, it is the machine itself"


def test_a_json_string_folds_to_one_loop_and_the_keys_stay_readable():
    sketch = sketch_dfa(gv.json_schema(NAME, whitespace="compact"))
    folded = fold(fold_loops(sketch))
    (loop,) = [arrow for arrow in folded.arrows if arrow.folds_loop]
    assert (loop.source, loop.target) == (9, 9)
    assert len(loop.through) == 12
    assert len(folded.arrows) == 3
    assert "any but" in gv.draw_machine(gv.json_schema(NAME), folded=True).svg
    unfolded = fold_loops(sketch, {loop.through[0]})
    assert unfolded.arrows == sketch.arrows, "a current state inside is drawn"


@given(sketches)
def test_a_folded_loop_touches_nothing_else(sketch):
    folded = fold_loops(sketch)
    assert not folded.folded & (sketch.accepting | {sketch.initial})
    sources = {arrow.source for arrow in folded.arrows}
    targets = {arrow.target for arrow in folded.arrows}
    assert not folded.folded & (sources | targets)
    kept = {arrow for arrow in folded.arrows if not arrow.folds_loop}
    assert kept <= set(sketch.arrows)


RECORD = gv.regex(r'\{"name": "[A-Z][a-z]+", "sex": "(male|female|other)", "age": [0-9]+\}')
RULES = gv.grammar('root ::= "ab" list "cd"\nlist ::= "[xyz" root? "]"')
SVG = "{http://www.w3.org/2000/svg}"


def reads(nodes):
    """What arrows read, as their titles say it."""
    titles = [node.find(f"{SVG}title").text for node in nodes]
    return [title.split(": ", 1)[1] for title in titles]


def chains(figure):
    return [node for node in of_class(figure.svg, "gv-chain") if node.get("data-arrow")]


def test_a_chain_is_one_thick_arrow_with_its_text():
    figure = draw_machine(RECORD, folded=True)
    texts = sorted(reads(chains(figure)))
    assert texts == [
        '",␣"age":␣ (9 states inside)',
        '",␣"sex":␣" (10 states inside)',
        "ale (2 states inside)",
        "fem (2 states inside)",
        "other (4 states inside)",
        '{"name":␣" (9 states inside)',
    ]
    assert len(of_class(figure.svg, "gv-state")) == 46 - 36
    assert "stroke-width: 3.4" in re.search(r"\.gv-chain \.gv-line \{(.*?)\}", figure.svg)[1], "thick, not only dark"


def test_the_chain_that_a_text_is_in_stays_unfolded():
    path = list(accumulate(b'{"name": "Ada", "s', RECORD.step, initial=0))
    figure = draw_machine(RECORD, at=path, folded=True)
    lit = [node.get("data-state") for node in of_class(figure.svg, "gv-lit")]
    assert lit == [str(path[-1]), None], "in the machine, and in the legend"
    on, *_ = [node for node in chains(figure) if "gv-on" in node.get("class").split()]
    assert reads([on]) == ['{"name":␣" (9 states inside)']
    count = on.find(f"{SVG}text[@class='gv-nth']")
    assert "".join(count.itertext()) == "1 … 10", "the bytes that took it"
    assert figure.text.startswith(f"machine: 46 states, 26 of them folded, now in q{path[-1]}")


def test_rules_are_folded_inside_and_calls_are_not():
    figure = draw_machine(RULES, folded=True)
    assert reads(chains(figure)) == [f"{text} inside)" for text in ("ab (1 state", "cd (1 state", "[xyz (3 states")]
    calls = of_class(figure.svg, "gv-call")
    assert len([node for node in calls if node.get("data-arrow")]) == 2
    inside = draw_machine(RULES, "ab[x", folded=True)
    texts = reads(chains(inside))
    assert texts[2:] == ["[", "x", "y", "z"]
