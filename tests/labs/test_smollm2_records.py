"""The records of the real model have the form that the labs read, and their tables follow from the outputs in them."""

import json

import alone
import pytest
import questions
import record
import repairs
import tables
import talks

import guidedviz as gv
from guidedviz.decoding.distribution import share_of
from guidedviz.files import shipped

FOLDER = shipped("traces/smollm2")
JUDGED = [name for name in questions.RECORDS if (FOLDER / f"{name}.json").exists()]
KEPT = sorted(path.stem for path in FOLDER.glob("*.json") if not path.name.endswith(".trace.json"))
TRACES = sorted(path.name for path in FOLDER.glob("*.trace.json"))


def read(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def rows_of(record):
    """The outputs as the tables judge them."""
    for number, case in enumerate(record["cases"]):
        for way, text in case["outputs"].items():
            end = "max_tokens" if way in case["cut"] else "eos"
            least = case["least_z"].get(way, 1)
            yield {"case": number, "way": way, "text": text, "end": end, "least": least}


def test_every_record_is_there():
    assert list(questions.RECORDS) == JUDGED
    assert set(KEPT) == {*questions.RECORDS, *alone.RECORDS, "talks", "repairs", "classes", "alone"}


def test_runs_side_by_side_write_what_they_write_alone(clerk):
    guided = questions.Way("", gv.regex("[0-9]{1,3}"), 5)
    free = questions.Way("", None, 9)
    asked = [guided, free]
    prompts = [f"{text}\nJSON with name, age:\n" for text in ("Ada is 36.", "Zoe Young is 7 years old.")]
    runs = [record.Run(case, str(way), prompts[case], asked[way]) for case in range(2) for way in range(2)]
    beside = {(row["case"], row["way"]): row["text"] for row in record.decode_side_by_side(clerk, runs)}
    assert beside == {(run.case, run.way): record.decode_alone(clerk, run) for run in runs}


def test_a_light_trace_shows_the_steps_and_not_the_texts_of_the_map(clerk, tmp_path):
    guide = gv.guide(gv.regex("[0-9]{1,3}"), clerk.vocabulary)
    run = gv.record(clerk, "Age:\n", guide, temperature=0)
    alone.save_light(run, tmp_path / "run.json")
    shown = gv.Trace.load(tmp_path / "run.json").shown
    assert shown["map"]["bits"]
    assert not shown["map"]["answers"]


@pytest.mark.parametrize("name", KEPT)
def test_a_record_says_where_it_comes_from(name):
    about = read(name)["about"]
    assert about["model"].startswith("SmolLM2-135M-Instruct")
    assert len(about["weights_sha256"]) == 64
    for key in ("date", "device", "versions", "threads", "seed", "settings", "package"):
        assert about[key]


@pytest.mark.parametrize("name", JUDGED)
def test_a_table_follows_from_the_outputs(name):
    record = read(name)
    cases = [questions.Case(case["fact"], case["right"]) for case in record["cases"]]
    made = tables.make_table(name, cases, list(rows_of(record)))
    rows = sorted(made["table"], key=str)
    assert rows == sorted(record["table"], key=str)
    assert made.get("said") == record.get("said")
    assert made.get("pairs") == record.get("pairs")


@pytest.mark.parametrize("name", JUDGED)
def test_each_case_is_asked_in_each_way_and_is_one_of_the_script(name):
    record, (make, ways) = read(name), questions.RECORDS[name]
    words = {way: asked.words for way, asked in ways.items()}
    assert record["words"] == words
    wanted = {*ways}
    if name.startswith("sums"):
        wanted.add(questions.AFTER)
    for case in record["cases"]:
        assert set(case["outputs"]) == wanted
    count = len(record["cases"])
    made = list(make(questions.COUNTS[name]))[:count]
    assert [(case.fact, case.right) for case in made] == [(case["fact"], case["right"]) for case in record["cases"]]


@pytest.mark.parametrize("name", [*JUDGED, "classes", "bias", "repairs"])
def test_a_share_has_its_interval(name):
    for row in read(name)["table"]:
        found = share_of(row["hits"], row["of"])
        assert [row["share"], row["low"], row["high"]] == [round(x, 3) for x in (found.value, found.low, found.high)]


def test_the_shares_of_the_bias_follow_from_its_outputs():
    record = read("bias")
    for row in record["table"]:
        hits = 0
        for case in record["cases"]:
            text = case["outputs"][row["way"]]
            begins = text.startswith(questions.LABELS)
            judged = {"begins with a label": begins, "is a label": text in questions.LABELS}
            hits += judged.get(row["what"], text == case["right"])
        assert row["hits"] == hits
        assert row["of"] == len(record["cases"])


@pytest.mark.parametrize("name", JUDGED)
def test_a_masked_output_that_was_not_cut_fits_its_mask(name):
    record, (_, ways) = read(name), questions.RECORDS[name]
    for case in record["cases"]:
        for way, asked in ways.items():
            if asked.machine and way not in case["cut"]:
                output = case["outputs"][way]
                assert asked.machine.accepts(output.encode()), (way, output)


def test_the_table_of_conversations_follows_from_what_was_said():
    made = read("talks")
    assert [case["question"] for case in made["cases"]] == list(talks.QUESTIONS)
    for row in made["table"]:
        asked = [case["ways"][row["way"]] for case in made["cases"]]
        failed = [way for way in asked if any(text.startswith("error") for text in way["results"])]
        judged = {"called": sum(bool(way["calls"]) for way in asked), "right": sum(way["right"] for way in asked)}
        assert row == {"way": row["way"], "of": len(asked), "failed": len(failed), **judged}


def test_the_table_of_repairs_follows_from_what_was_said():
    made = read("repairs")
    table = []
    for name, task in repairs.TASKS.items():
        cases = [case for case in made["cases"] if case["task"] == name]
        first = read(task.record)["cases"]
        for case, kept in zip(cases, first, strict=False):
            for way in ("free", "mask"):
                output = kept["outputs"][getattr(task, way)]
                assert case["answers"][way] == [output]
        table += repairs.tabulate(name, cases)
    assert made["table"] == table


def test_what_lab_13_tells_of_repairs():
    made = read("repairs")["cases"]
    again = [case["answers"] for case in made if case["task"] == "person" and len(case["answers"]["repair"]) > 1]
    schema = repairs.TASKS["person"].schema
    mended = {way: [not repairs.complain(case[way][-1], schema) for case in again] for way in ("retry", "repair")}
    assert (len(again), sum(mended["repair"]), sum(mended["retry"])) == (26, 8, 17)
    assert sum(repairs.complain(case["free"][0], schema).startswith("Extra data") for case in again) == 25
    third = [case["repair"] for case in again if len(case["repair"]) == 3]
    assert len(third) == 18
    for texts in third:
        assert texts[1] == texts[2]


@pytest.fixture
def repaired():
    """Collects the answers of a way to a question; what was asked, and the answers."""
    kept = [{"fact": "Ada is 36.", "outputs": {"keys, free": "{"}}]

    def collect(way, *said):
        waiting, asked = iter(said), []

        def ask(rows):
            asked.extend(rows := list(rows))
            return {number: {"text": next(waiting)} for number, _, _ in rows}

        return asked, repairs.collect(repairs.TASKS["person"], way, kept, ask)

    return collect


def test_a_repair_sends_text_and_message_back_and_a_retry_the_question_alone(repaired):
    right = '{"name": "Ada", "age": 36, "city": "Oslo"}'
    asked, answers = repaired(repairs.REPAIR, "[]", right)
    assert answers == [["{", "[]", right]]
    roles = [message["role"] for message in asked[1][1]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    assert "[] is not of type 'object'" in asked[1][1][-1]["content"]
    asked, _ = repaired(repairs.RETRY, "[]", "[]")
    assert [(len(messages), way.temperature, way.seed) for _, messages, way in asked] == [(1, 1.0, 2), (1, 1.0, 3)]


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_read_and_shows_its_steps(name):
    trace = gv.Trace.load(FOLDER / name)
    assert (trace.model, trace.source, trace.vocabulary_size) == ("smollm2", "RECORDED", 49_152)
    assert bool(trace.shown) == bool(trace.constraint)
    [listed] = [run for run in [*read("traces")["runs"], *read("talks")["runs"]] if run["file"] == name]
    assert (trace.text, len(trace.tokens), trace.steps[-1].end) == (listed["text"], listed["tokens"], listed["end"])


@pytest.mark.parametrize("name", TRACES)
def test_the_stage_tells_the_steps_of_an_older_record_from_its_facts(name):
    trace = gv.Trace.load(FOLDER / name)
    shown = gv.stage(trace).display.record()["add"]
    assert trace.temperature == 0
    for step in shown:
        if step["how"] == "sampled":
            assert "taken as the likeliest" in step["words"]
            assert "sampled" not in step["words"]
    if trace.recording:
        for old, new in zip(trace.shown["add"], shown, strict=True):
            ranks = dict(zip([row[0] for row in old["rows"]], old["ranks"], strict=True))
            expected = [ranks[row[0]] for row in new["rows"]]
            assert new["ranks"] == expected


def test_the_records_are_small():
    sizes = [path.stat().st_size for path in FOLDER.iterdir()]
    assert sum(sizes) < 1_600_000
