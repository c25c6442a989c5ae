"""Claims about the runs that a host keeps: each answer can be opened, by those who may, and they are bounded."""

import re

import pytest

from guidedviz.decoding.trace import END_IN_WORDS
from guidedviz.host.api import runs as kept_runs
from guidedviz.host.api.run_code import code_of
from guidedviz.host.limits import Limits
from tests.host.api.asking import ABOUT, ADD, CHAT, PERSON, SUM, ask_chat, refusal, send
from tests.host.running import hosting

ADA, BOB, TEACHER = "ada-0123456789abcdef", "bob-0123456789abcdef", "tea-0123456789abcdef"


def path_of(said):
    """The path of the page of an answer's run."""
    return re.fullmatch(r"http://127\.0\.0\.1:\d+(/runs/[\w-]{22})", said["guidedviz"]["run"])[1]


def open_run(host, path):
    """The page of a run without its scripts and styles."""
    status, headers, page = send(host, path)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    return re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page.decode(), flags=re.DOTALL)


def test_an_answer_has_the_address_of_its_run_and_the_page_says_what_happened(clerk_host):
    body = CHAT | {"response_format": PERSON, "user": "<b>me"}
    headers = send(clerk_host, "/v1/chat/completions", body)[1]
    said = ask_chat(clerk_host, body)
    assert headers["X-Guidedviz-Run"].startswith("http://127.0.0.1")
    page = open_run(clerk_host, path_of(said))
    for part in (
        "A run of clerk: complete",
        "JSON Schema (response_format.json_schema.schema)",
        "user: no effect here",
        "complete and valid after 15 tokens",
        "this share of the model&#x27;s probability was legal where",
        "the run looks sound",
        "gv.json_schema(",
    ):
        assert part in page
    assert 'data-kind="stage"' in page


def test_the_page_names_the_cause_and_the_step_of_a_bad_run(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"regex": " {200,}z", "max_tokens": 12})
    page = open_run(clerk_host, path_of(said) + "?step=2")
    assert "not complete after 12 tokens: stopped at the token limit" in page
    assert "<strong>whitespace loop</strong>" in page
    assert re.search(r'<a href="/runs/[\w-]+\?step=\d+">look at step', page)
    assert 'data-open="2"' in page


@pytest.mark.parametrize("kind", ["schema", "lark", "choice", "tag", "free", "tools"])
@pytest.mark.quick("schema", "free")
def test_the_code_on_a_page_gives_the_same_text(clerk_host, scout_host, kind):
    host = scout_host if kind == "tools" else clerk_host
    more = {
        "schema": {"response_format": PERSON},
        "lark": {"structured_outputs": {"grammar": 'start: /[a-z"]+/ "!"'}},
        "choice": {"structured_outputs": {"choice": ["yes'", "n.o"]}},
        "tag": {"structural_tag": {"type": "structural_tag", "format": {"type": "regex", "pattern": "[ab]+"}}},
        "free": {},
        "tools": {"tools": [ADD], "tool_choice": "required"},
    }
    body = SUM if kind == "tools" else CHAT
    settings = {"temperature": 1.2, "top_p": 0.9, "repetition_penalty": 1.3, "seed": 3}
    limits = {"max_tokens": 20, "n": 2}
    said = ask_chat(host, body | more[kind] | settings | limits)
    for address in said["guidedviz"]["runs"]:
        run = host.service.runs.find(address.rpartition("/")[2])
        names = {}
        *code, _, _ = code_of(run).splitlines()  # not the stage and the diagnosis
        exec("\n".join(code), names)
        assert names["trace"].tokens == run.trace.tokens


def test_two_runs_stand_side_by_side_with_the_token_where_they_part(clerk_host):
    asked = [CHAT | {"max_tokens": 5, "regex": regex} for regex in ("ab+c?d", "ab+c?e")]
    paths = [path_of(ask_chat(clerk_host, one)) for one in asked]
    page = open_run(clerk_host, f"{paths[0]}/{paths[1].removeprefix('/runs/')}")
    assert "They part after" in page
    assert page.count('data-kind="stage"') == 2
    same = open_run(clerk_host, f"{paths[0]}/{paths[0].removeprefix('/runs/')}")
    assert "Both runs have the same" in same


def test_a_list_has_the_runs_of_one_student_and_the_teacher_sees_those_that_are_shared(bard):
    body = {"model": "bard", "prompt": "To be", "max_tokens": 2}
    with hosting(bard, {"ada": ADA, "bob": BOB, "teacher": TEACHER}) as host:
        own = ask_chat(host, body, "/v1/completions", token=ADA)
        shared = ask_chat(host, body | {"guidedviz": {"share": True}}, "/v1/completions", token=ADA)
        names = [path_of(said).removeprefix("/runs/") for said in (shared, own)]

        def listed(token):
            listed = ask_chat(host, None, "/v1/runs", token=token)
            return [run["name"] for run in listed["runs"]]

        assert (listed(ADA), listed(BOB)) == (names, [])
        assert listed(TEACHER) == names[:1]
        assert send(host, "/v1/runs")[0] == 401
        unknown = names[0][:-1] + "x"
        assert send(host, f"/runs/{unknown}")[0] == 404
        assert send(host, "/runs/../v1/runs")[0] == 404
        assert send(host, "/runs/" + names[0])[0] == 200  # the name is the key


def test_a_run_that_ended_before_its_first_token_says_so(clerk_host):
    kept = clerk_host.service.runs
    said = ask_chat(clerk_host, CHAT | {"max_tokens": 1})
    begun = kept.find(path_of(said).rpartition("/")[2])
    run = kept.keep(kept_runs.KeptRun(begun.owner, False, begun.request, begun.plan, begun.model, 0))
    assert 'http-equiv="refresh"' in open_run(clerk_host, f"/runs/{run.name}")
    run.close()
    page = open_run(clerk_host, f"/runs/{run.name}")
    assert "A run of clerk: stopped" in page
    assert "It ended before its first token." in page
    assert 'http-equiv="refresh"' not in page


def test_the_pages_of_runs_are_counted_per_address(bard):
    with hosting(bard, None, Limits(rate=0.01, burst=3)) as host:
        said = ask_chat(host, {"model": "bard", "prompt": "To be", "max_tokens": 2}, "/v1/completions")
        statuses = [send(host, path_of(said))[0] for _ in range(4)]
        assert statuses == [200, 200, 200, 429]


def test_a_link_may_lead_to_a_run_but_not_to_a_list(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"max_tokens": 1})
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert send(clerk_host, path_of(said), **elsewhere)[0] == 200
    assert send(clerk_host, "/v1/runs", **elsewhere)[0] == 403
    assert send(clerk_host, path_of(said), Host="evil.example")[0] == 403


def test_a_list_says_how_each_run_ended(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"response_format": PERSON})
    runs = ask_chat(clerk_host, None, "/v1/runs")["runs"]
    (run,) = [one for one in runs if path_of(said).endswith(one["name"])]
    assert (run["verdict"], run["tokens"]) == ("complete", 15)
    assert run["text"] == said["choices"][0]["message"]["content"]
    assert 0 < run["least"] <= 1
    assert run["model_ms"] > 0


def test_runs_are_bounded_by_their_number_their_owner_and_their_bytes(clerk_host):
    runs = kept_runs.KeptRuns()
    model = clerk_host.service.engine.model
    make = lambda owner, nbytes=1: kept_runs.KeptRun(owner, False, None, None, model, 0, nbytes=nbytes)  # noqa: E731
    for _ in range(100):
        runs.keep(make("Ada"))
    assert len(runs) == kept_runs.MOST_OF_ONE
    for number in range(500):
        runs.keep(make(f"student {number}"))
    assert len(runs) == kept_runs.MOST_RUNS
    newest = runs.keep(make("Bob", kept_runs.RUNS_BYTES))
    assert [len(runs), runs.find(newest.name)] == [1, newest]
    assert runs.of("Ada", teacher=False) == []


def test_a_hostile_text_on_the_page_of_a_run_stays_text(clerk_host):
    bad = "<script>alert(1)</script>\u202e\x07"
    message = {"role": "user", "content": bad}
    said = ask_chat(clerk_host, CHAT | {"messages": [message], "max_tokens": 2})
    page = open_run(clerk_host, path_of(said))
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page


def test_no_prompt_no_text_and_no_constraint_gets_into_what_the_host_prints(clerk_host, capfd, recwarn):
    said = ask_chat(clerk_host, CHAT | {"max_tokens": 3, "json_schema": '{"type": "object", "proprties": {}}'})
    assert any("#/proprties: not a keyword" in note for note in said["guidedviz"]["notes"])
    open_run(clerk_host, path_of(said))
    assert capfd.readouterr() == ("", "")
    assert [*recwarn] == []


def test_a_constraint_that_no_text_meets_is_noted(clerk_host):
    tag = {"type": "structural_tag", "format": {"type": "regex", "pattern": r"a\bb"}}
    said = ask_chat(clerk_host, CHAT | {"structural_tag": tag, "max_tokens": 3})
    assert any("accepts no text" in note for note in said["guidedviz"]["notes"])
    assert said["choices"][0]["finish_reason"] == "length"


def test_a_message_of_a_run_is_one_of_the_library(clerk_host):
    assert set(kept_runs.VERDICTS) == set(END_IN_WORDS) | {""}


@pytest.mark.parametrize(
    ("text", "verdict", "byte", "path", "part"),
    [
        ('{"name": "Ada", "age": 36}', "complete", None, "", "complete"),
        ('{"name": "Ada", "age": "36"}', "refused", 23, "$.age", "cannot come"),
        ('{"name": "Ada"', "cut", 14, None, "byte 14"),
    ],
)
def test_a_text_from_elsewhere_is_read_as_a_run(clerk_host, text, verdict, byte, path, part):
    body = {"text": text, "prompt": ABOUT, "structured_outputs": {"json": PERSON["json_schema"]["schema"]}}
    said = ask_chat(clerk_host, body, "/v1/inspect")
    assert said["verdict"] == verdict
    assert part in said["words"]
    if byte is not None:
        assert said["refused"]["byte"] == byte
        assert path in (None, said["refused"]["path"])
    page = open_run(clerk_host, path_of({"guidedviz": said}))
    assert f"A run of clerk: {verdict}" in page
    assert "gv.inspect_text(model, prompt," in page


def test_what_cannot_be_inspected_is_refused(clerk_host):
    assert refusal(clerk_host, {"text": "1"}, "/v1/inspect")[:2] == (400, "inspect")
    assert refusal(clerk_host, {"text": 1, "regex": "1"}, "/v1/inspect")[:2] == (400, "text")
    assert refusal(clerk_host, {"text": "1", "regex": "(1"}, "/v1/inspect")[:2] == (400, "regex: regex, position 0")
    assert refusal(clerk_host, {"text": "1", "regex": "1", "x": 1}, "/v1/inspect")[:2] == (400, "x")
