"""What the labs tell of models, records and servers and no output shows is measured here."""

import json
import re
from dataclasses import replace
from importlib import metadata
from itertools import islice
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import tasks

import guidedviz as gv
from guidedviz.checks.grammars import GIVEN, NAMED, SERVICE
from guidedviz.decoding.distribution import share_of
from guidedviz.files import shipped
from guidedviz.host.api.constraint import read_constraint
from guidedviz.host.api.fields import Fields
from guidedviz.serving import Costs, Policy, Request, simulate
from guidedviz.tokens.engines import PREPARE
from tests.labs.sources import build, run_cells

BENCH = Path(__file__).resolve().parents[2] / "assets" / "bench"


def recorded(name):
    return json.loads(shipped(name).read_text(encoding="utf-8"))


def bench_cases(name):
    text = (BENCH / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["cases"]


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def record(model, prompt, machine, **settings):
    """What a model writes under a machine, the likeliest tokens unless a seed is given."""
    if "seed" not in settings:
        settings["temperature"] = 0
    return gv.record(model, prompt, gv.guide(machine, model.vocabulary), **settings)


# -- 00 to 03: logits and masks ------------------------------------------------------------------------------------


def test_the_only_doubt_of_the_plain_run_is_where_the_surname_begins(clerk):
    prompt = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
    steps = gv.record(clerk, prompt).steps
    assert [(step.piece, round(step.raw, 2)) for step in steps if step.raw < 0.9] == [(b" O", 0.36)]


@pytest.mark.slow
def test_a_mask_mends_the_form_of_the_greeted_outputs_and_not_their_names(clerk):
    guide = run_cells("00_start_here", "word = ", until="\ngv.stage", gv=gv, clerk=clerk)["guide"]
    prompt = (
        "Hi! Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
    )
    known = gv.decoding.remember(clerk)
    names = [json.loads(gv.record(known, prompt, guide, seed=seed).text)["name"] for seed in range(10)]
    assert [seed for seed, name in enumerate(names) if name == "Tamsin Okoro"] == [0, 1, 2, 6, 7, 8]
    free = gv.record(known, prompt, None, seed=59)
    shown = gv.record(known, prompt, guide, seed=59)
    assert (free.steps[0].piece, f"{shown.steps[0].mass:.2f}") == (b"Sure", "0.57")
    assert json.loads(shown.text)["name"] == "Tamsin Okoro"


def test_with_a_mask_19_of_the_25_answers_that_did_not_parse_are_right():
    cases = recorded("traces/smollm2/json.json")["cases"]
    broken = [case for case in cases if isinstance(parsed(case["outputs"]["keys, free"]), str)]
    mended = [case for case in broken if parsed(case["outputs"]["keys, mask"]) == case["right"]]
    fenced = [case for case in broken if "```" in case["outputs"]["keys, free"]]
    assert (len(cases), len(broken), len(mended), len(fenced)) == (120, 25, 19, 17)


def test_the_logits_of_clerk_differ_by_much_less_than_a_hundred(clerk):
    texts = ("Hi! ", "The staff was rude and charming.\nLabel:\n", '{"name": "Maria Cohen"')
    assert max(float(np.ptp(clerk.logits(clerk.encode(text)))) for text in texts) < 50


def test_a_bias_of_5_is_above_each_threshold_of_the_labels_and_every_answer_begins_with_the():
    cases = recorded("traces/smollm2/bias.json")["cases"]
    least = [min(case["gap"].values()) for case in cases]
    assert (min(least), max(least), {case["first"] for case in cases}) == (0.14, 4.08, {"The"})
    unbiased = [case["outputs"]["bias 0"] for case in cases]
    assert unbiased.count("The sentiment of this sentence is") == 85
    with_bias_5 = {case["outputs"]["bias 5"] for case in cases}
    assert with_bias_5 == {"positive", "negative", "neutral"}
    for case in cases:
        assert len(case["outputs"]["bias 16"]) > len("positive")


@pytest.mark.slow
def test_no_bias_gives_more_objects_with_the_three_keys_and_a_large_one_ends_objects_after_the_name(clerk):
    prompt = "Hi! Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
    known = gv.decoding.remember(clerk)
    (close,) = clerk.vocabulary.ids(b'"}')
    found = []
    for amount in (0, 4, 8, 12):
        texts = [gv.record(known, prompt, seed=n, bias={close: amount}, max_tokens=30).text for n in range(20)]
        keys = [set(json.loads(text)) for text in texts if gv.json().accepts(text.encode())]
        found.append((len(keys), keys.count({"name", "age", "city"}), sum('Cohen"}' in text for text in texts)))
    assert found == [(8, 6, 0), (10, 6, 1), (10, 5, 3), (7, 1, 13)]


def test_after_the_name_the_end_of_the_object_has_one_in_120_000_and_needs_a_bias_of_11_7(clerk):
    prompt = "Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
    step = gv.record(clerk, prompt, temperature=0).steps[6]
    (close,) = (one.raw for one in step.candidates if one.piece == b'"}')
    assert (step.piece, gv.sampling.probability(close), round(-np.log(close), 1)) == (b'",', "1 in 120,000", 11.7)


def test_with_a_mask_and_a_bias_the_mask_says_what_is_legal_and_the_bias_what_is_preferred(clerk):
    guide = gv.guide(gv.regex("yes|no"), clerk.vocabulary)
    question = "The bag holds a tent, a pen and a sofa. Is there a pen in it?\nYes or no:\n"
    (no,), (sure,) = clerk.vocabulary.ids(b"no"), clerk.vocabulary.ids(b"Sure")
    texts = [gv.record(clerk, question, guide, temperature=0, bias=bias).text for bias in (None, {no: 8, sure: 100})]
    assert texts == ["yes", "no"]


def test_prague_can_be_written_in_parts_that_no_ban_of_its_two_tokens_closes(clerk):
    for part in (b"P", b"rag", b"u", b"e"):
        assert clerk.vocabulary.ids(part)
    sizes = [len(clerk.encode(word)) for word in (" Prague", "Prague")]
    assert sizes == [1, 1]


def test_the_largest_list_of_two_masks_inside_the_hours_has_twenty_texts():
    hours = {f"{hour:02}" for hour in range(24)}
    firsts = [{"0", "1"}, {"0", "1", "2"}, {"2"}]
    seconds = [set.intersection(*({hour[1] for hour in hours if hour[0] == one} for one in first)) for first in firsts]
    assert max(len(first) * len(second) for first, second in zip(firsts, seconds, strict=True)) == 20


JULIET = "JULIET:\nGood night, good night! parting is such sweet "


def test_a_fixed_mask_cuts_cousin_and_stretches_lady(bard):
    lower = gv.char_classes(bard.vocabulary)["LOWER"]
    line_end = bard.encode("\n")
    five = gv.static_masks(bard.vocabulary, [lower] * 5 + [line_end])
    assert [gv.record(bard, JULIET, five, seed=seed).text for seed in (32, 73)] == ["cousi\n", "ladys\n"]
    cousin, lady = (gv.sampling.softmax(bard.logits(bard.encode(JULIET + word))) for word in ("cousi", "lady"))
    assert cousin[bard.encode("n")[0]] > 0.999
    chance = lady[[*lower]].sum()
    assert chance == pytest.approx(0.026, abs=0.001)


def test_top_k_and_top_p_before_the_mask_leave_nothing_after_romeo(bard):
    lower = [*gv.char_classes(bard.vocabulary)["LOWER"]]
    p = gv.sampling.softmax(bard.logits(bard.encode("ROMEO:\n")))
    assert not gv.sampling.top_k(p, 10)[lower].any()
    assert not gv.sampling.top_p(p, 0.95)[lower].any()


def test_the_ids_of_a_public_lesson_are_letters_here(bard):
    assert bard.vocabulary.pieces[52:55] == (b"n", b"o", b"p")
    assert [bard.vocabulary.ids(sign) for sign in (b":", b" ", b"\n")] == [(10,), (1,), (0,)]


def test_after_f_the_model_wants_a_small_letter_and_after_friar_a_space(bard):
    machine = gv.regex("[A-Z]+: [a-z]+\n")
    steps = record(bard, "\n", machine, seed=2, max_tokens=6).steps
    candidates = steps[1].candidates
    lower = sum(c.raw for c in candidates if c.piece.islower())
    assert lower > 0.8
    likeliest = max(steps[5].candidates, key=lambda candidate: candidate.raw)
    assert likeliest.piece == b" "


# -- 11 and 12: jumps, drafts, and what masks change ---------------------------------------------------------------

FORMATS = recorded("traces/format-tax.json")["formats"]


def total(kind, **ways):
    rows = [row for row in FORMATS if all(row[way] == value for way, value in {"temperature": 1.0, **ways}.items())]
    return sum(row[kind] for row in rows)


def test_the_record_of_the_slider_is_what_lab_11_tells_of_it():
    payoff = gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))
    runs = [run for run in payoff.runs if run.rows == 1]
    assert len(runs) == 20
    for run in runs:
        assert run.speedup < 1 / (1 - run.fraction)
    assert max(abs(run.speedup / payoff.cost.speedup(run.fraction) - 1) for run in runs) < 0.17
    assert sum(run.difference == "other text" for run in runs) == 5
    (shown,) = (run for run in runs if run.asked == 0.7)
    assert (shown.naive_passes, shown.jump_passes, shown.tokens) == (74, 18, 63)
    cost = gv.decoding.Cost(2.90, 0.49)
    assert round(cost.speedup(45 / 63), 2) == 2.57


def test_a_mask_saves_no_pass_and_with_jumps_a_constrained_text_takes_fewer_than_a_free_one(clerk):
    keys = {"name": {"enum": ["Ada", "Grace"]}, "age": {"type": "integer", "minimum": 0}, "member": {"type": "boolean"}}
    schema = {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
    machine = gv.json_schema(schema, whitespace="one")
    prompt = "Ada is 36 and is a member.\nJSON with name, age, member:\n"
    free = gv.record(clerk, prompt, temperature=0)
    masked = record(clerk, prompt, machine, jump_forward=False)
    jumped = record(clerk, prompt, machine, jump_forward=True)
    assert free.text == masked.text == jumped.text
    assert (free.passes, masked.passes, jumped.passes) == (19, 19, 5)
    assert sum(step.how == "forced" for step in jumped.steps) == 14
    assert jumped.prefilled == 12


@pytest.mark.parametrize(("blanks", "forced"), [("one", 24), ("space", 15)])
def test_of_an_object_with_six_keys_24_of_52_tokens_are_forced_and_15_if_spaces_are_optional(clerk, blanks, forced):
    lab = run_cells("11_jump_forward", "kinds = ", until="\nwrite(")
    machine = gv.json_schema(lab["six"], whitespace=blanks)
    plain = record(clerk, lab["baker"], machine, jump_forward=False)
    jumped = record(clerk, lab["baker"], machine, jump_forward=True)
    assert plain.text == jumped.text
    assert (plain.passes, jumped.passes) == (52, 52 - forced)


def test_of_24_objects_of_smollm2_canonical_changes_four_and_raw_seven():
    record = recorded("traces/smollm2/jumps.json")
    assert {row["way"]: (row["same values"], row["passes"]) for row in record["table"]} == {
        "plain": (24, 590), "free": (3, 1026), "canonical": (20, 287), "longest": (20, 287), "minimal": (24, 519),
        "raw": (17, 227),
    }  # fmt: skip
    runs = [case["runs"] for case in record["cases"]]
    products = [[parsed(one[way]["text"]).get("product") for way in ("plain", "canonical")] for one in runs]
    assert ["Pink", "Pink Umbrella"] in products
    plain, canonical, raw = ([parsed(one[way]["text"]) for one in runs] for way in ("plain", "canonical", "raw"))
    changed = {place for place in range(24) if canonical[place] != plain[place]}
    assert changed < {place for place in range(24) if raw[place] != plain[place]}


def test_longest_takes_one_pass_per_token_that_it_does_not_append(clerk):
    guide = gv.guide(gv.regex(r'\["[^"]*"(, "[^"]*")*\]'), clerk.vocabulary)
    fruit = "There are lirpi, orange, flag and stove.\nJSON list of things:\n"
    run = gv.record(clerk, fruit, guide, temperature=0, jump_forward="longest")
    assert (len(run.steps), sum(step.how == "forced" for step in run.steps), run.passes) == (15, 5, 10)


def test_both_letters_of_the_puzzle_begin_with_one_byte_and_nothing_is_forced(clerk):
    guide = gv.guide(gv.regex("é|è"), clerk.vocabulary)
    assert "é".encode()[:1] == "è".encode()[:1]
    assert guide.forced(guide.initial) == b""


def test_the_record_has_400_prompts_of_14_kinds_in_each_way():
    ways = [{"asked": asked, "masked": masked} for asked in (False, True) for masked in (False, True)]
    assert [total("prompts", **way) for way in ways] == [400] * 4
    assert len({row["family"] for row in FORMATS}) == 14


def test_every_masked_output_parses_and_36_of_37_tool_calls_and_no_date_are_right_though_not_asked():
    assert total("parses", masked=True) == 800
    right = {}
    for kind in ("tool", "record", "date", "price", "nested"):
        family = {"masked": True, "family": kind}
        not_asked = total("right", asked=False, **family)
        asked = total("right", asked=True, **family)
        prompts = total("prompts", asked=True, **family)
        right[kind] = [not_asked, asked, prompts]
    assert right["tool"][::2] == [36, 37]
    assert right["record"][::2] == [37, 75]
    assert (right["date"], right["price"], right["nested"]) == ([0, 13, 13], [12, 12, 12], [0, 15, 15])


def test_with_the_prompt_the_mask_gains_more_than_chance_allows():
    free, masked = (share_of(total("right", asked=True, masked=masked), 400) for masked in (False, True))
    assert free.high < masked.low


@pytest.mark.parametrize(("most", "least", "count", "low", "high"), [(17, 3, 50, 13, 42), (17, 14, 50, -12, 23)])
def test_the_loss_has_the_interval_that_the_lab_tells(most, least, count, low, high):
    """Newcombe's interval of a difference, from the intervals of both shares."""
    one, two = share_of(most, count), share_of(least, count)
    loss = one.value - two.value
    ends = (loss - np.hypot(one.value - one.low, two.high - two.value),
            loss + np.hypot(one.high - one.value, two.value - two.low))  # fmt: skip
    assert [round(100 * end) for end in ends] == [low, high]


def test_only_the_named_token_opens_the_window_of_the_toy_model_and_a_text_does_the_reverse():
    codes = [code for kind, code in build.read_cells(build.read_source("12_what_masks_change")) if kind == "code"]
    space = {"gv": gv, "np": np}
    exec(next(code for code in codes if code.startswith("listed = ")), space)
    caller, named = space["caller"], space["named"]
    assert [step.legal for step in named.steps] == [9, 9, 9, 9, 9, 2, 1, 9]
    assert named.parts[:4] == ("<tool>. ", "<tool>", "pay", "</tool>")
    text = gv.guide(gv.tagged(begin="<tool>", machine=gv.regex("pay|refund"), end="</tool>"), caller.vocabulary)
    state = text.initial
    for token in caller.encode("<tool>"):
        assert not text.mask(state)[5], "the special token"
        state = text.advance(state, token)
    assert np.flatnonzero(text.mask(state)).tolist() == [6, 9]


def test_xgrammar_also_reads_the_named_end_of_a_thought_as_text():
    xgrammar = pytest.importorskip("xgrammar")
    if metadata.version("xgrammar") != "0.2.8":
        pytest.skip("the table of the page is about version 0.2.8")
    codes = [code for kind, code in build.read_cells(build.read_source("deeper/a_request")) if kind == "code"]
    pydantic = pytest.importorskip("pydantic")
    space = {"gv": gv, "json": json, "clerk": gv.load_model("clerk"), "BaseModel": pydantic.BaseModel}
    for begin in ("class Order", "thought = ", "vocabulary = "):
        exec(next(code for code in codes if code.startswith(begin)), space)
    thought, answer = space["elements"]
    words = {"vocab_type": xgrammar.VocabType.RAW, "stop_token_ids": [0]}
    compiler = xgrammar.GrammarCompiler(xgrammar.TokenizerInfo([*space["vocabulary"].pieces], **words))

    def count_legal(thought, tokens):
        """How many tokens are legal after these; -1 if one of them is not."""
        tag = {"type": "structural_tag", "format": {"type": "sequence", "elements": [thought, answer]}}
        matcher = xgrammar.GrammarMatcher(compiler.compile_structural_tag(json.dumps(tag)))
        if not all(matcher.accept_token(token) for token in tokens):
            return -1
        mask = xgrammar.allocate_token_bitmask(1, 4097)
        matcher.fill_next_token_bitmask(mask)
        return sum(mask[0, token // 32].item() >> token % 32 & 1 for token in range(4097))

    excluded = {"content": {"type": "any_text", "excludes": ["</think>"]}}
    forms = [thought | {"end": "</think>"}, thought, thought | excluded]
    letters = space["clerk"].encode("</think>")
    found = [(count_legal(form, [4096]), count_legal(form, letters)) for form in forms]
    assert found == [(2, 2), (4019, 4019), (2, -1)]


def test_the_host_reads_the_constraint_of_the_body_that_the_page_does_not_run():
    cells = build.read_cells(build.read_source("deeper/a_request"))
    texts = [text for kind, text in cells if kind == "markdown"]
    (text,) = [text for text in texts if "```python\nbodies" in text]
    assert text.startswith("**Not run here**")
    space = {}
    code = text.split("```python\n")[1].split("```")[0]
    exec(code, space)
    (body,) = space["bodies"].values()
    found = read_constraint(Fields(body))
    assert (found.notation, found.field) == ("schema", "response_format.json_schema.schema")
    assert found.build(gv.load_model("clerk").vocabulary).accepts(b'{"color": "pink"}')


def test_the_vocabularies_have_the_names_that_the_lab_tells():
    assert gv.Vocabulary.llama3().special_ids["<|python_tag|>"] == (128_010,)
    pytest.importorskip("mistral_common")
    assert "[TOOL_CALLS]" in gv.Vocabulary.tekken().special_ids


def test_the_run_with_two_windows_is_as_told():
    run = gv.Trace.load(shipped("traces/smollm2/two-windows.trace.json"))
    assert (run.text.count("<<"), run.text.count("<tool>"), run.steps[-1].end) == (2, 1, "eos")
    legal = [run.steps[place].legal for place in (0, 3, 38)]
    assert legal == [49_061, 10, 10]
    assert [(c.piece, round(c.raw, 2)) for c in run.steps[38].candidates[:2]] == [(b"7", 0.53), (b"1", 0.45)]
    assert run_cells("12_what_masks_change", "total = ", gv=gv)["windows"].accepts(run.output)


def test_z_is_as_small_with_the_labels_that_work_as_with_those_that_do_not():
    labels = recorded("traces/smollm2/labels.json")
    rows = [row for row in labels["table"] if row["what"] == "right"]
    hits = {row["way"]: row["hits"] for row in rows}
    found = []
    for way in ("mask with capitals", "mask, order negative, neutral, positive"):
        least = [case["least_z"][way] for case in labels["cases"]]
        middle = median(least)
        found.append((hits[way], round(middle, 2)))
    assert found == [(34, 0.1), (62, 0.07)]


def test_a_format_without_room_for_the_words_costs():
    right = gv.decoding.Rates.load("smollm2/sums-one").shares("last number is right")
    ways = ("number, free", "number, mask", "answer in JSON, free", "answer in JSON, mask", "reasoning in JSON, free")
    assert [round(50 * right[way].value) for way in (*ways, "reasoning in JSON, mask")] == [17, 3, 0, 0, 13, 14]


def test_without_a_mask_no_right_sum_is_in_the_form_and_13_masked_thoughts_are_cut():
    readable = gv.decoding.Rates.load("smollm2/sums-one").shares("right")
    assert all(readable[way].value == 0 for way in readable if way.endswith("free"))
    assert round(50 * readable["reasoning in JSON, mask"].value) == 14
    cases = recorded("traces/smollm2/sums-one.json")["cases"]
    assert sum("reasoning in JSON, mask" in case["cut"] for case in cases) == 13
    free = [(str(case["right"]), case["outputs"]["reasoning in JSON, free"]) for case in cases]
    right = [text for number, text in free if re.findall(r"\d+", text)[-1:] == [number]]
    assert (len(right), sum('"answer"' in text for text in right)) == (13, 0)


def test_a_longer_thought_goes_on_after_the_right_number():
    cases = recorded("traces/smollm2/sums-one.json")["cases"]
    met = [str(case["right"]) in re.findall(r"= (\d+)", case["outputs"]["think, free"]) for case in cases]
    right = gv.decoding.Rates.load("smollm2/sums-one").shares("last number is right")
    assert (sum(met), right["think, free"].value) == (15, 0.08)


def test_the_stage_shows_the_step_at_which_the_title_is_cut(clerk):
    title = {"type": "string", "pattern": "^[A-Za-z0-9 ]+$", "maxLength": 20}
    fields = {"title": title, "pages": {"type": "integer"}}
    machine = gv.json_schema({"type": "object", "properties": fields, "required": list(fields)})
    news = '"The Lantern and the Harbor" was written by Ada Lovelace and has 320 pages.\nJSON with title, pages:\n'
    steps = record(clerk, news, machine).steps
    assert (round(1 / steps[8].mass, -3), steps[8].piece) == (11_000, b"7")
    full = b'{"title": "The Lantern and the '
    assert [byte for byte in range(256) if machine.accepts_prefix(full + bytes([byte]))] == [ord('"')]


def test_clerk_rejects_the_wrong_sum_of_the_small_model_for_a_wrong_sum_of_its_own(clerk):
    sums = "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n"
    thought, small = gv.regex("[^:]{1,80}: [0-9]{1,3}"), gv.load_model("clerk-small")
    run = record(clerk, sums, thought, draft=small)
    assert run.steps[17].piece == b"1"
    assert run.steps[17].dropped == (b"9", b".")
    assert "14 + 5 = 21" in run.text
    assert "14 + 5 = 29" in record(small, sums, thought).text


def test_the_bench_that_is_told_is_the_one_that_is_kept():
    for case in bench_cases("speculation-torch").values():
        assert 1.45 < case["small, 4"]["speed-up"] < 1.75
    for case in bench_cases("speculation").values():
        assert case["small, 4"]["to"] < 1 < case["forced"]["from"]


# -- 13: when it goes wrong ----------------------------------------------------------------------------------------


def test_the_lab_gives_what_its_checks_expect():
    lab = "13_when_it_goes_wrong"
    named = run_cells(lab, "NAMED = ", until="\nliner")["NAMED"]
    assert named.split() == GIVEN[NAMED].split()
    assert run_cells(lab, "service = ", until="\numbrella")["service"] == SERVICE


def test_the_model_wants_the_end_at_two_steps_and_then_seven_tokens_are_legal(clerk):
    prompt = "The box holds a bag, which holds a box, which holds a bag, which holds a box.\nNested JSON:\n"
    steps = record(clerk, prompt, gv.json()).steps
    for step in steps[16:18]:
        assert step.candidates[0].token in clerk.vocabulary.eos
        assert round(step.candidates[0].raw, 3) == 0.999
    assert (steps[16].piece, steps[17].legal, round(steps[17].mass, 5)) == (b"}}", 7, 0.00002)
    pieces = [one.piece for one in steps[17:35]]
    assert pieces == [*[b"\n"] * 17, b"}"]
    assert {(one.legal, one.state) for one in steps[18:35]} == {(7, steps[18].state)}


@pytest.mark.slow
def test_in_thirty_right_runs_of_clerk_z_stays_above_0_7(clerk):
    calm = (task for task, chatty in tasks.stream(3, held_out=True) if not chatty and task.family != "reason")
    for task in islice(calm, 30):
        run = record(clerk, task.prompt, gv.regex(task.pattern))
        assert run.text == task.answer
        assert min(step.mass for step in run.steps) > 0.7


def test_in_all_right_answers_of_smollm2_z_is_tiny():
    cases = recorded("traces/smollm2/json.json")["cases"]
    right = [case for case in cases if json.loads(case["outputs"]["keys, mask"]) == case["right"]]
    assert len(right) == 99
    assert max(case["least_z"]["keys, mask"] for case in right) < 0.0005


def test_the_blanks_of_smollm2_are_as_told():
    rows = recorded("traces/smollm2/blanks.json")["table"]
    cut = {row["way"]: (row["hits"], row["of"]) for row in rows if row["what"] == "cut inside 20 blanks"}
    warm = [cut[f"not asked, T 1, seed {seed}"] for seed in (0, 1)]
    assert cut["keys, T 0, seed 0"] == (3, 20)
    sums = [sum(column) for column in zip(*warm, strict=True)]
    assert sums == [13, 40]
    step = gv.Trace.load(shipped("traces/smollm2/whitespace-loop.trace.json")).steps[30]
    wanted = [(c.piece, round(c.raw, 2), c.legal) for c in step.candidates[:2]]
    assert wanted == [(b"```", 0.44, False), (b"\n", 0.41, True)]


@pytest.mark.slow
def test_three_of_sixty_sums_are_right(clerk):
    names = {"gv": gv, "re": re, "clerk": clerk, "vocabulary": clerk.vocabulary}
    space = run_cells("13_when_it_goes_wrong", "lemons = ", "known = ", **names)
    assert sum(space["is_right"](space["write"](seed).text) for seed in range(1, 61)) == 3


def test_the_run_that_nobody_has_seen_is_small_in_z_where_two_keywords_refuse(clerk):
    colors = {"enum": ["red", "green", "blue"]}
    price = {"type": "number", "maximum": 10}
    fields = {"product": {"type": "string"}, "color": colors, "price": price}
    schema = gv.json_schema({"type": "object", "properties": fields, "required": [*fields]})
    prompt = "The lamp is pink and costs $12.50.\nJSON with product, color, price:\n"
    run = record(clerk, prompt, schema)
    assert (run.text, run.steps[-1].end) == ('{"product": "lamp", "color": "green", "price": 1.5}', "eos")
    low = [(step.piece, gv.sampling.probability(step.mass)) for step in run.steps if step.mass < 0.3]
    assert low == [(b"green", "1 in 17,000"), (b".", "1 in 510")]


def test_the_number_of_the_puzzle_is_33(bard):
    run = record(bard, "\n", gv.regex("[A-Z]+ [0-9]{2}:"), seed=0)
    assert run.text.endswith(" 33:")
    legal = [step.legal for step in run.steps[-3:]]
    assert legal == [1, 1, 1]


@pytest.mark.parametrize("engine", ["auto", *PREPARE])
def test_all_engines_leave_eos_alone_at_the_end_of_a_time(clerk, engine):
    if engine in PREPARE:
        pytest.importorskip(engine.replace("-", "_"))
    guide = gv.guide(gv.regex("[0-9]{2}:[0-9]{2}"), clerk.vocabulary, engine)
    state, left = guide.initial, []
    for token in clerk.encode("07:30"):
        left.append(int(guide.mask(state).sum()))
        state = guide.advance(state, token)
    assert left == [10, 10, 1, 10, 10]
    assert set(guide.mask(state).nonzero()[0]) == clerk.vocabulary.eos


# -- 14: in production ---------------------------------------------------------------------------------------------

COSTS = Costs(forward=8, row=0.02, token=0.02, host=1.5)
SERVING = recorded("traces/serving.json")


def test_a_parked_request_delays_no_other_and_its_first_token_comes_as_late():
    asked = [Request(3 * n, tokens=12, prompt=40) for n in range(4)]
    asked.append(Request(20, 8, "order", compile_ms=60, mask_ms=0.1))
    blocks = simulate(asked, COSTS, Policy("blocks")).served
    parks = simulate(asked, COSTS, Policy("parks")).served
    slowest = [max(one.per_token_ms for one in served[:4]) for served in (blocks, parks)]
    assert slowest == pytest.approx([15.3, 9.8], abs=0.1)
    assert abs(blocks[4].first - parks[4].first) < 10


def test_the_drawn_pass_has_a_compile_masks_beyond_the_pass_and_a_prompt():
    names = {"Policy": Policy, "Request": Request, "simulate": simulate, "costs": COSTS}
    drawn = run_cells("14_in_production", "three = ", until="\ngv.views", **names)["parts"]
    third = drawn.passes[2]
    assert len(drawn.passes) == 3
    assert third.parts == {"compile": {2: 14}, "masks": {1: 12, 2: 1}, "prompt": {2: 4.0}}
    assert [round(time) for time in (third.start, third.end, third.forward[1] - third.forward[0])] == [24, 52, 12]


def test_one_slow_grammar_makes_the_median_four_times_as_long():
    times = []
    for ms in (0.04, 6.7, 40):
        asked = [Request(0, 60, "slow", mask_ms=ms), *[Request(0, 60, "date", mask_ms=0.04)] * 63]
        run = simulate(asked, COSTS, Policy(overlap="masks"))
        times.append(median(one.per_token_ms for one in run.served))
    assert times[1] == times[0]
    longer = times[2] / times[0]
    assert longer == pytest.approx(4, abs=0.2)


def test_the_requests_that_warming_up_leaves_cold_are_more_than_one_in_a_hundred():
    runs = SERVING["cache"]
    (warm,) = (run for run in runs if "warmed" in run["name"])
    assert round(1000 * (1 - warm["hit_rate"])) == 103


@pytest.mark.parametrize(("threads", "crowded"), [(1, True), (8, False)])
def test_the_puzzle_from_400_rows_on_one_thread_is_too_slow(threads, crowded):
    def lasts(rows, mask_ms):
        asked = [Request(0, 20, "schema", mask_ms=mask_ms) for _ in range(rows)]
        one = simulate(asked, replace(COSTS, rows=500, threads=threads), Policy(overlap="masks")).passes[-1]
        return one.end - one.start

    assert lasts(390, 0.04) == pytest.approx(lasts(390, 0.0001))
    assert (lasts(410, 0.04) > lasts(410, 0.0001) + 0.1) is crowded


def test_a_split_is_cheaper_than_a_walk_after_3700_tokens_of_one_schema():
    bench = bench_cases("masks")
    case = bench["four fields, a schema"]
    split, walk = case["xgrammar 0.2.8"], case["llguidance 1.9.1"]
    extra_compile = split["first"] - walk["first"]
    saved_per_token = walk["mask"] - split["mask"]
    tokens = extra_compile / saved_per_token
    assert tokens == pytest.approx(3700, abs=50)


def test_the_record_says_what_the_cache_saves():
    runs = {run["name"].split(",")[0] if "warmed" not in run["name"] else "warm": run for run in SERVING["cache"]}
    assert runs["no cache"]["hit_rate"] == runs["unique schemas"]["hit_rate"] == 0
    assert runs["10 MB"]["hit_rate"] < runs["no limit"]["hit_rate"] < runs["warm"]["hit_rate"]
    assert runs["10 MB"]["megabytes"] <= 10 < runs["no limit"]["megabytes"] < runs["unique schemas"]["megabytes"]
    assert runs["no limit"]["p50_ms"] < runs["no cache"]["p50_ms"] / 10


def test_the_overlap_on_one_processor_is_the_sum_that_the_lab_writes():
    sums = []
    for run in gv.decoding.Overlap.load(shipped("traces/overlap-cpu.json")).pair("trie"):
        forward = float(np.mean([end - start for start, end in (turn.forward for turn in run.turns)]))
        rest = run.per_token - forward - run.overhead
        sums.append([round(part, 2) for part in (forward, run.overhead, rest, run.per_token)])
    assert sums == [[13.70, 1.08, 0.44, 15.22], [14.26, 0, 0.65, 14.91]]


@pytest.mark.slow
def test_a_bound_on_a_string_gives_a_grammar_of_xgrammar_more_nodes_than_73():
    xgrammar = pytest.importorskip("xgrammar")
    told = {"0.2.8": 523, "0.2.9": 82}
    if metadata.version("xgrammar") not in told:
        pytest.skip("the lab tells of the versions 0.2.8 and 0.2.9")
    llama = gv.Vocabulary.llama3()
    tokens = xgrammar.TokenizerInfo(list(llama.pieces), stop_token_ids=sorted(llama.eos))
    compiler = xgrammar.GrammarCompiler(tokens, max_threads=1, cache_enabled=False)
    fields = {"name": {"type": "string"}, "age": {"type": "integer"}, "paid": {"type": "boolean"}}
    nodes = []
    for bound in ({}, {"maxLength": 64}):
        properties = fields | {"size": {"enum": [1, 2]}, "bio": {"type": "string"} | bound}
        schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
        compiled = compiler.compile_json_schema(json.dumps(schema), any_whitespace=False)
        nodes.append(len(json.loads(compiled.serialize_json())["adaptive_token_mask_cache"]))
    assert nodes == [73, told[metadata.version("xgrammar")]]


def test_a_first_compile_of_outlines_core_takes_as_long_as_the_lab_says():
    cases = json.loads((BENCH / "masks.json").read_text())["cases"]
    first = {name: round(1e3 * cases[name]["outlines-core 0.2.14"]["first"]) for name in ("decimal", "email")}
    assert {**first, "four": round(1e3 * cases["four fields, a schema"]["outlines-core 0.2.14"]["first"])} == {
        "decimal": 30, "email": 287, "four": 249}  # fmt: skip


def test_the_log_probabilities_are_those_of_the_page_and_z_is_their_quotient(clerk):
    limits = {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer"}}
    short = gv.json_schema({"type": "object", "properties": limits, "required": list(limits)})
    step = record(clerk, "The umbrella is red and costs $12.50.\nJSON with product, price:\n", short).steps[4]
    assert [round(float(np.log(one)), 2) for one in (step.raw, step.masked)] == [-8.08, -1.83]
    assert step.raw / step.masked == pytest.approx(step.mass)
