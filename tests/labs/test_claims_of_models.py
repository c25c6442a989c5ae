"""What the labs tell of models, records and servers and no output shows is measured here."""

import ast
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
from tests.labs.sources import build

BENCH = Path(__file__).resolve().parents[2] / "assets" / "bench"


def recorded(name):
    return json.loads(shipped(name).read_text(encoding="utf-8"))


# -- 00 to 03: logits and masks ------------------------------------------------------------------------------------


def test_the_only_doubt_of_the_plain_run_is_where_the_surname_begins(clerk):
    prompt = "Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\nJSON with name, age, city, job:\n"
    steps = gv.record(clerk, prompt).steps
    assert [(step.piece, round(step.raw, 2)) for step in steps if step.raw < 0.9] == [(b" O", 0.36)]


@pytest.mark.slow
def test_a_mask_mends_the_form_of_the_greeted_outputs_and_not_their_names(clerk):
    codes = [code for kind, code in build.read_cells(build.read_source("00_start_here")) if kind == "code"]
    space = {"gv": gv, "clerk": clerk}
    prompt = "Hi! Tamsin Okoro is 42 years old, lives in Varnhem and works as a baker.\n"
    space["chatty"] = prompt + "JSON with name, age, city, job:\n"
    exec(next(code for code in codes if code.startswith("word = ")).partition("\ngv.stage")[0], space)
    known = gv.decoding.remember(clerk)
    free = [gv.record(known, space["chatty"], seed=seed) for seed in (0, 4, 7, 59)]
    runs = [gv.record(known, space["chatty"], space["guide"], seed=seed) for seed in range(10)]
    objects = [json.loads(run.text) for run in runs]
    assert {tuple(one) for one in objects} == {("name", "age", "city", "job")}
    assert [seed for seed, one in enumerate(objects) if one["name"] == "Tamsin Okoro"] == [0, 1, 2, 6, 7, 8]
    assert ["Tamsin Okoro" in run.text for run in free] == [False, True, False, True]
    shown = gv.record(known, space["chatty"], space["guide"], seed=59)
    assert json.loads(shown.text)["name"] == "Tamsin Okoro"
    assert (free[3].steps[0].piece, f"{shown.steps[0].mass:.2f}") == (b"Sure", "0.57")


def test_with_a_mask_19_of_the_25_answers_that_did_not_parse_are_right():
    cases = recorded("traces/smollm2/json.json")["cases"]
    free, masked = ([parsed(case["outputs"][way]) for case in cases] for way in ("keys, free", "keys, mask"))
    right = [case["right"] for case in cases]
    broken = [place for place, value in enumerate(free) if isinstance(value, str)]
    mended = [place for place in broken if masked[place] == right[place]]
    assert (len(cases), len(broken), len(mended)) == (120, 25, 19)
    assert sum("```" in free[place] for place in broken) == 17
    for found, count in ((free, 75), (masked, 99)):
        assert sum(one == other for one, other in zip(found, right, strict=True)) == count


def test_the_logits_of_clerk_differ_by_much_less_than_a_hundred(clerk):
    texts = ("Hi! ", "The staff was rude and charming.\nLabel:\n", '{"name": "Maria Cohen"')
    assert max(float(np.ptp(clerk.logits(clerk.encode(text)))) for text in texts) < 50


def test_a_bias_of_5_is_above_each_threshold_of_the_labels_and_every_answer_begins_with_the():
    cases = recorded("traces/smollm2/bias.json")["cases"]
    least = [min(case["gap"].values()) for case in cases]
    assert (min(least), max(least), {case["first"] for case in cases}) == (0.14, 4.08, {"The"})
    assert sum(case["outputs"]["bias 0"] == "The sentiment of this sentence is" for case in cases) == 85
    assert {case["outputs"]["bias 5"] for case in cases} == {"positive", "negative", "neutral"}
    assert all(len(case["outputs"]["bias 16"]) > len("positive") for case in cases)


@pytest.mark.slow
def test_no_bias_gives_more_objects_with_the_three_keys_and_a_large_one_ends_objects_after_the_name(clerk):
    prompt = "Hi! Maria Cohen is 42 years old and lives in Prague.\nJSON with name, age, city:\n"
    known, (close,) = gv.decoding.remember(clerk), clerk.vocabulary.ids(b'"}')
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
    assert all(clerk.vocabulary.ids(part) for part in (b"P", b"rag", b"u", b"e"))
    assert [len(clerk.encode(word)) for word in (" Prague", "Prague")] == [1, 1]


def test_the_largest_list_of_two_masks_inside_the_hours_has_twenty_texts():
    hours = {f"{hour:02}" for hour in range(24)}
    firsts = [{"0", "1"}, {"0", "1", "2"}, {"2"}]
    seconds = [set.intersection(*({hour[1] for hour in hours if hour[0] == one} for one in first)) for first in firsts]
    assert max(len(first) * len(second) for first, second in zip(firsts, seconds, strict=True)) == 20


JULIET = "JULIET:\nGood night, good night! parting is such sweet "


def test_a_fixed_mask_cuts_cousin_and_stretches_lady():
    bard = gv.load_model("bard", device="cpu")
    lower = gv.char_classes(bard.vocabulary)["LOWER"]
    five = gv.static_masks(bard.vocabulary, [lower] * 5 + [bard.encode("\n")])
    assert [gv.record(bard, JULIET, five, seed=seed).text for seed in (32, 73)] == ["cousi\n", "ladys\n"]
    after = {word: gv.sampling.softmax(bard.logits(bard.encode(JULIET + word))) for word in ("cousi", "lady")}
    assert after["cousi"][bard.encode("n")[0]] > 0.999
    assert after["lady"][[*lower]].sum() == pytest.approx(0.026, abs=0.001)
    assert after["lady"][bard.encode("s")[0]] > 0.9 * after["lady"][[*lower]].sum()


def test_top_k_and_top_p_before_the_mask_leave_nothing_after_romeo():
    bard = gv.load_model("bard", device="cpu")
    lower = gv.char_classes(bard.vocabulary)["LOWER"]
    p = gv.sampling.softmax(bard.logits(bard.encode("ROMEO:\n")))
    assert not any(cut[[*lower]].any() for cut in (gv.sampling.top_k(p, 10), gv.sampling.top_p(p, 0.95)))


def test_the_ids_of_a_public_lesson_are_letters_here():
    vocabulary = gv.load_model("bard", device="cpu").vocabulary
    assert vocabulary.pieces[52:55] == (b"n", b"o", b"p")
    assert [vocabulary.ids(sign) for sign in (b":", b" ", b"\n")] == [(10,), (1,), (0,)]
    assert [token for token, piece in enumerate(vocabulary.pieces) if piece.isspace()] == [0, 1]


def test_after_f_the_model_wants_a_small_letter_and_after_friar_a_space():
    bard = gv.load_model("bard", device="cpu")
    steps = gv.record(bard, "\n", gv.guide(gv.regex("[A-Z]+: [a-z]+\n"), bard.vocabulary), seed=2, max_tokens=6).steps
    assert sum(c.raw for c in steps[1].candidates if c.piece.islower()) > 0.8
    assert max(steps[5].candidates, key=lambda candidate: candidate.raw).piece == b" "


# -- 11 and 12: jumps, drafts, and what masks change ---------------------------------------------------------------

FORMATS = recorded("traces/format-tax.json")["formats"]


def total(kind, **ways):
    rows = [row for row in FORMATS if all(row[way] == value for way, value in {"temperature": 1.0, **ways}.items())]
    return sum(row[kind] for row in rows)


def test_the_record_of_the_slider_is_what_lab_11_tells_of_it():
    record = gv.decoding.Payoff.load(shipped("traces/jump-cpu.json"))
    runs = [run for run in record.runs if run.rows == 1]
    assert all(run.speedup < 1 / (1 - run.fraction) for run in runs)
    assert max(abs(run.speedup / record.cost.speedup(run.fraction) - 1) for run in runs) < 0.17
    one = record.cost.pass_ms + record.cost.row_ms, record.cost.token_ms + record.cost.put_ms
    assert [round(ms, 2) for ms in one] == [2.90, 0.49]
    assert round(gv.decoding.Cost(2.90, 0.49).speedup(45 / 63), 2) == 2.57
    assert [len(run.speedups) for run in runs] == [5] * 20
    assert sum(run.difference == "other text" for run in runs) == 5
    assert [(run.naive_passes, run.jump_passes, run.tokens) for run in runs if run.asked == 0.7] == [(74, 18, 63)]


def test_a_mask_saves_no_pass_and_with_jumps_a_constrained_text_takes_fewer_than_a_free_one(clerk):
    keys = {"name": {"enum": ["Ada", "Grace"]}, "age": {"type": "integer", "minimum": 0}, "member": {"type": "boolean"}}
    schema = {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}
    guide = gv.guide(gv.json_schema(schema, whitespace="one"), clerk.vocabulary)
    prompt = "Ada is 36 and is a member.\nJSON with name, age, member:\n"
    runs = [gv.record(clerk, prompt, temperature=0)]
    runs += [gv.record(clerk, prompt, guide, temperature=0, jump_forward=jump) for jump in (False, True)]
    assert len({run.text for run in runs}) == 1
    assert [run.passes for run in runs] == [19, 19, 5]
    assert (sum(step.how == "forced" for step in runs[-1].steps), runs[-1].prefilled) == (14, 12)


@pytest.mark.parametrize(("blanks", "forced"), [("one", 24), ("space", 15)])
def test_of_an_object_with_six_keys_24_of_52_tokens_are_forced_and_15_if_spaces_are_optional(clerk, blanks, forced):
    codes = [code for kind, code in build.read_cells(build.read_source("11_jump_forward")) if kind == "code"]
    space = {}
    exec(next(code for code in codes if code.startswith("kinds = ")).partition("\nwrite(")[0], space)
    guide = gv.guide(gv.json_schema(space["six"], whitespace=blanks), clerk.vocabulary)
    runs = [gv.record(clerk, space["baker"], guide, temperature=0, jump_forward=jump) for jump in (False, True)]
    assert runs[0].text == runs[1].text
    assert [run.passes for run in runs] == [52, 52 - forced]
    assert sum(step.how == "forced" for step in runs[1].steps) == forced


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


def parsed(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


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
    ways = [{"asked": False, "masked": True, "family": kind} for kind in ("tool", "record", "date", "price", "nested")]
    assert [(total("right", **way), total("prompts", **way)) for way in ways] == [
        (36, 37), (37, 75), (0, 13), (12, 12), (0, 15)
    ]  # fmt: skip
    asked = [way | {"asked": True} for way in ways[2:]]
    assert [total("right", **way) for way in asked] == [13, 12, 15]
    assert round(total("right", asked=False, masked=True) / 4) == 42


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
    (text,) = [text for kind, text in cells if kind == "markdown" and "```python\nbodies" in text]
    assert text.startswith("**Not run here**")
    space = {}
    exec(text.split("```python\n")[1].split("```")[0], space)
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
    assert [run.steps[place].legal for place in (0, 3, 38)] == [49_061, 10, 10]
    assert [(c.piece, round(c.raw, 2)) for c in run.steps[38].candidates[:2]] == [(b"7", 0.53), (b"1", 0.45)]
    codes = [code for kind, code in build.read_cells(build.read_source("12_what_masks_change")) if kind == "code"]
    space = {"gv": gv}
    exec(next(code for code in codes if code.startswith("total = ")), space)
    assert space["windows"].accepts(run.output)


def test_z_is_as_small_with_the_labels_that_work_as_with_those_that_do_not():
    labels = recorded("traces/smollm2/labels.json")
    said = {(row["way"], row["what"]): row["hits"] for row in labels["table"]}
    ways = ("mask with capitals", "mask, order negative, neutral, positive")
    assert [said[way, "right"] for way in ways] == [34, 62]
    assert said["free", "names the right label"] == 28
    middle = [float(np.median([case["least_z"][way] for case in labels["cases"]])) for way in ways]
    assert [round(z, 2) for z in middle] == [0.1, 0.07]
    assert {case["outputs"]["mask with capitals"] for case in labels["cases"]} == {"Positive"}


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
    steps = gv.record(clerk, news, gv.guide(machine, clerk.vocabulary), temperature=0).steps
    assert (round(1 / steps[8].mass, -3), steps[8].piece) == (11_000, b"7")
    full = b'{"title": "The Lantern and the '
    assert [byte for byte in range(256) if machine.accepts_prefix(full + bytes([byte]))] == [ord('"')]


def test_clerk_rejects_the_wrong_sum_of_the_small_model_for_a_wrong_sum_of_its_own(clerk):
    sums = "Ada has 14 books and buys 5 more. How many books are there now?\nThink, then answer:\n"
    thought = gv.guide(gv.regex("[^:]{1,80}: [0-9]{1,3}"), clerk.vocabulary)
    run = gv.record(clerk, sums, thought, temperature=0, draft=gv.load_model("clerk-small"))
    assert (run.steps[17].piece, run.steps[17].dropped) == (b"1", (b"9", b"."))
    texts = [run.text, gv.record(gv.load_model("clerk-small"), sums, thought, temperature=0).text]
    assert [text.split(". ")[1] for text in texts] == ["14 + 5 = 21", "14 + 5 = 29"]


def test_the_bench_that_is_told_is_the_one_that_is_kept():
    numpy, torch = (
        [case["small, 4"] | {"forced": case["forced"]["from"]} for case in json.loads(kept)["cases"].values()]
        for kept in ((BENCH / f"{name}.json").read_text() for name in ("speculation", "speculation-torch"))
    )
    assert all(1.45 < case["speed-up"] < 1.75 for case in torch)
    assert all(case["to"] < 1 < case["forced"] for case in numpy)


# -- 13: when it goes wrong ----------------------------------------------------------------------------------------


def test_the_lab_gives_what_its_checks_expect():
    codes = [code for kind, code in build.read_cells(build.read_source("13_when_it_goes_wrong")) if kind == "code"]
    space = {"gv": gv}
    for begin in ("NAMED = ", "service = "):
        (code,) = (code for code in codes if code.startswith(begin))
        exec(ast.unparse(ast.parse(code).body[0]), space)
    assert space["NAMED"].split() == GIVEN[NAMED].split()
    assert space["service"] == SERVICE


def test_the_model_wants_the_end_at_the_first_blank_and_seven_tokens_are_legal(clerk):
    prompt = "The box holds a bag, which holds a box, which holds a bag, which holds a box.\nNested JSON:\n"
    steps = gv.record(clerk, prompt, gv.guide(gv.json(), clerk.vocabulary), temperature=0).steps
    step = steps[17]
    assert step.candidates[0].token in clerk.vocabulary.eos
    assert (round(step.candidates[0].raw, 3), step.legal, round(step.mass, 5)) == (0.999, 7, 0.00002)
    assert [one.piece for one in steps[17:35]] == [*[b"\n"] * 17, b"}"]
    assert [(one.legal, one.state) for one in steps[18:35]] == [(7, steps[18].state)] * 17


def test_the_model_wants_the_end_one_token_earlier_with_three_brackets_open(clerk):
    prompt = "The box holds a bag, which holds a box, which holds a bag, which holds a box.\nNested JSON:\n"
    step = gv.record(clerk, prompt, gv.guide(gv.json(), clerk.vocabulary), temperature=0).steps[16]
    assert (step.candidates[0].token in clerk.vocabulary.eos, round(step.candidates[0].raw, 3)) == (True, 0.999)
    assert step.piece == b"}}"


@pytest.mark.slow
def test_in_thirty_right_runs_of_clerk_z_stays_above_0_7(clerk):
    calm = (task for task, chatty in tasks.stream(3, held_out=True) if not chatty and task.family != "reason")
    for task in islice(calm, 30):
        run = gv.record(clerk, task.prompt, gv.guide(gv.regex(task.pattern), clerk.vocabulary), temperature=0)
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
    assert [sum(column) for column in zip(*warm, strict=True)] == [13, 40]
    step = gv.Trace.load(shipped("traces/smollm2/whitespace-loop.trace.json")).steps[30]
    wanted = [(c.piece, round(c.raw, 2), c.legal) for c in step.candidates[:2]]
    assert wanted == [(b"```", 0.44, False), (b"\n", 0.41, True)]


@pytest.mark.slow
def test_three_of_sixty_sums_are_right():
    codes = [code for kind, code in build.read_cells(build.read_source("13_when_it_goes_wrong")) if kind == "code"]
    clerk = gv.load_model("clerk")
    space = {"gv": gv, "re": re, "clerk": clerk, "vocabulary": clerk.vocabulary}
    exec(next(code for code in codes if code.startswith("lemons = ")), space)
    exec(next(code for code in codes if code.startswith("known = ")), space)
    assert sum(space["is_right"](space["write"](seed).text) for seed in range(1, 61)) == 3


def test_the_run_that_nobody_has_seen_is_small_in_z_where_two_keywords_refuse(clerk):
    colors = {"enum": ["red", "green", "blue"]}
    fields = {"product": {"type": "string"}, "color": colors, "price": {"type": "number", "maximum": 10}}
    schema = gv.json_schema({"type": "object", "properties": fields, "required": [*fields]})
    prompt = "The lamp is pink and costs $12.50.\nJSON with product, color, price:\n"
    run = gv.record(clerk, prompt, gv.guide(schema, clerk.vocabulary), temperature=0)
    assert (run.text, run.steps[-1].end) == ('{"product": "lamp", "color": "green", "price": 1.5}', "eos")
    low = [(step.piece, gv.sampling.probability(step.mass)) for step in run.steps if step.mass < 0.3]
    assert low == [(b"green", "1 in 17,000"), (b".", "1 in 510")]


def test_the_number_of_the_puzzle_is_33():
    bard = gv.load_model("bard")
    digits = [piece for piece in bard.vocabulary.pieces if piece.isdigit()]
    guide = gv.guide(gv.regex("[A-Z]+ [0-9]{2}:"), bard.vocabulary)
    runs = [gv.record(bard, "\n", guide, seed=seed) for seed in range(3)]
    assert digits == [b"3"]
    assert {run.text[-4:] for run in runs} == {" 33:"}
    assert [step.legal for step in runs[0].steps[-3:]] == [1, 1, 1]


# -- 14: in production ---------------------------------------------------------------------------------------------

COSTS = Costs(forward=8, row=0.02, token=0.02, host=1.5)
SERVING = recorded("traces/serving.json")


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


def test_a_parked_request_delays_no_other_and_its_first_token_comes_as_late():
    rows = [Request(3 * n, tokens=12, prompt=40) for n in range(4)]
    five = [*rows, Request(20, 8, "order", compile_ms=60, mask_ms=0.1)]
    blocks, parks = (simulate(five, COSTS, Policy(policy)) for policy in ("blocks", "parks"))
    assert max(one.per_token_ms for one in blocks.served[:4]) == pytest.approx(15.3, abs=0.1)
    assert max(one.per_token_ms for one in parks.served[:4]) == pytest.approx(9.8, abs=0.1)
    assert abs(blocks.served[4].first - parks.served[4].first) < 10


def test_the_drawn_pass_has_a_compile_masks_beyond_the_pass_and_a_prompt():
    codes = [code for kind, code in build.read_cells(build.read_source("14_in_production")) if kind == "code"]
    space = {"Policy": Policy, "Request": Request, "simulate": simulate, "costs": COSTS}
    exec(next(code for code in codes if code.startswith("three = ")).partition("\ngv.views")[0], space)
    third = space["parts"].passes[2]
    assert len(space["parts"].passes) == 3
    assert third.parts == {"compile": {2: 14}, "masks": {1: 12, 2: 1}, "prompt": {2: 4.0}}
    assert [round(time) for time in (third.start, third.end, third.forward[1] - third.forward[0])] == [24, 52, 12]
    assert round(third.end - third.forward[1]) == 1


def test_one_slow_grammar_makes_the_median_four_times_as_long():
    times = []
    for ms in (0.04, 6.7, 40):
        asked = [Request(0, 60, "slow", mask_ms=ms), *[Request(0, 60, "date", mask_ms=0.04)] * 63]
        run = simulate(asked, COSTS, Policy(overlap="masks"))
        times.append(median(one.per_token_ms for one in run.served))
    assert times[1] == times[0]
    assert times[2] / times[0] == pytest.approx(4, abs=0.2)


def test_the_requests_that_warming_up_leaves_cold_are_more_than_one_in_a_hundred():
    (warm,) = (run for run in SERVING["cache"] if "warmed" in run["name"])
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
    bench = json.loads((Path(__file__).parents[2] / "assets/bench/masks.json").read_text())
    case = bench["cases"]["four fields, a schema"]
    split, walk = case["xgrammar 0.2.8"], case["llguidance 1.9.1"]
    tokens = (split["first"] - walk["first"]) / (walk["mask"] - split["mask"])
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


def test_z_is_the_quotient_of_two_probabilities_and_the_log_probabilities_are_those_of_the_page(clerk):
    limits = {"product": {"type": "string", "maxLength": 6}, "price": {"type": "integer"}}
    short = gv.json_schema({"type": "object", "properties": limits, "required": list(limits)})
    umbrella = "The umbrella is red and costs $12.50.\nJSON with product, price:\n"
    step = gv.record(clerk, umbrella, gv.guide(short, clerk.vocabulary), temperature=0).steps[4]
    assert [round(float(np.log(one)), 2) for one in (step.raw, step.masked)] == [-8.08, -1.83]
    assert step.raw / step.masked == pytest.approx(step.mass)
    assert len(step.candidates) == 12
