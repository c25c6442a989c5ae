"""Claims about the runs that a host keeps: each answer can be opened, by those who may, and they are bounded."""

import json
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
    status, headers, body = send(
        clerk_host, "/v1/chat/completions", CHAT | {"response_format": PERSON, "user": "<b>me"}
    )
    said = json.loads(body)
    assert status == 200
    assert headers["X-Guidedviz-Run"] == said["guidedviz"]["run"]
    page = open_run(clerk_host, path_of(said))
    for part in (
        "A run of clerk: complete",
        "JSON Schema (response_format.json_schema.schema)",
        "user: no effect here",
        "complete and valid after 15 tokens",
        "this share of the model&#x27;s probability was legal where",
        "the run looks sound",
        "gv.json_schema(",
        'data-kind="stage"',
    ):
        assert part in page


def test_the_page_names_the_cause_and_the_step_of_a_bad_run(clerk_host):
    said = ask_chat(clerk_host, CHAT | {"regex": " {200,}z", "max_tokens": 12})
    page = open_run(clerk_host, path_of(said) + "?step=2")
    assert "not complete after 12 tokens: stopped at the token limit" in page
    assert "<strong>whitespace loop</strong>" in page
    assert re.search(r'<a href="/runs/[\w-]+\?step=\d+">look at step', page)
    assert 'data-open="2"' in page


TAG = {"type": "structural_tag", "format": {"type": "regex", "pattern": "[ab]+"}}
CODE = {
    "schema": CHAT | {"response_format": PERSON},
    "lark": CHAT | {"structured_outputs": {"grammar": 'start: /[a-z"]+/ "!"'}},
    "choice": CHAT | {"structured_outputs": {"choice": ["yes'", "n.o"]}},
    "tag": CHAT | {"structural_tag": TAG},
    "free": CHAT,
    "tools": SUM | {"tools": [ADD], "tool_choice": "required"},
}


def run_code(run):
    """The tokens that the code on the page of a run gives."""
    names = {}
    *code, _, _ = code_of(run).splitlines()  # not the stage and the diagnosis
    exec("\n".join(code), names)
    return names["trace"].tokens


@pytest.mark.parametrize("kind", CODE)
@pytest.mark.quick("schema", "free")
def test_the_code_on_a_page_gives_the_same_text(clerk_host, scout_host, kind):
    host = scout_host if kind == "tools" else clerk_host
    settings = {"temperature": 1.2, "top_p": 0.9, "repetition_penalty": 1.3, "seed": 3, "max_tokens": 12, "n": 2}
    said = ask_chat(host, CODE[kind] | settings)
    for address in said["guidedviz"]["runs"]:
        run = host.service.runs.find(address.rpartition("/")[2])
        assert run_code(run) == run.trace.tokens


def test_two_runs_stand_side_by_side_with_the_token_where_they_part(clerk_host):
    one, other = [path_of(ask_chat(clerk_host, CHAT | {"max_tokens": 5, "regex": f"ab+c?{last}"})) for last in "de"]
    page = open_run(clerk_host, other.replace("/runs", one))
    assert "They part after" in page
    assert page.count('data-kind="stage"') == 2
    assert "Both runs have the same" in open_run(clerk_host, one.replace("/runs", one))


def test_a_list_has_the_runs_of_one_student_and_the_teacher_sees_those_that_are_shared(bard):
    body = {"model": "bard", "prompt": "To be", "max_tokens": 2}
    with hosting(bard, {"ada": ADA, "bob": BOB, "teacher": TEACHER}) as host:
        own, shared = [
            path_of(ask_chat(host, body | {"guidedviz": {"share": share}}, "/v1/completions", token=ADA))
            for share in (False, True)
        ]

        def listed(token):
            return [f"/runs/{run['name']}" for run in ask_chat(host, None, "/v1/runs", token=token)["runs"]]

        found = [listed(token) for token in (ADA, BOB, TEACHER)]
        assert found == [[shared, own], [], [shared]]
        asked = [own, f"{own[:-1]}!", "/runs/../v1/runs"]
        assert [send(host, path)[0] for path in asked] == [200, 404, 404], "the name is the key"


def test_a_run_that_ended_before_its_first_token_says_so(clerk_host):
    kept = clerk_host.service.runs
    said = ask_chat(clerk_host, CHAT | {"max_tokens": 1})
    begun = kept.find(path_of(said).rpartition("/")[2])
    run = kept.keep(kept_runs.KeptRun(begun.owner, False, begun.request, begun.plan, begun.model, 0))
    assert 'http-equiv="refresh"' in open_run(clerk_host, f"/runs/{run.name}")
    run.close()
    page = open_run(clerk_host, f"/runs/{run.name}")
    assert 'http-equiv="refresh"' not in page
    for words in ("A run of clerk: stopped", "It ended before its first token."):
        assert words in page


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
    run, *_ = ask_chat(clerk_host, None, "/v1/runs")["runs"]
    assert path_of(said).endswith(run["name"])
    assert (run["verdict"], run["tokens"]) == ("complete", 15)
    assert run["text"] == said["choices"][0]["message"]["content"]
    assert 0 < run["least"] <= 1
    assert run["model_ms"] > 0


def test_runs_are_bounded_by_their_number_their_owner_and_their_bytes(bard):
    runs = kept_runs.KeptRuns()

    def keep(owner, nbytes=1):
        return runs.keep(kept_runs.KeptRun(owner, False, None, None, bard, 0, nbytes=nbytes))

    for _ in range(kept_runs.MOST_OF_ONE + 1):
        keep("Ada")
    assert len(runs) == kept_runs.MOST_OF_ONE
    for number in range(kept_runs.MOST_RUNS):
        keep(f"student {number}")
    assert len(runs) == kept_runs.MOST_RUNS
    assert runs.of("Ada", teacher=False) == []
    newest = keep("Bob", kept_runs.RUNS_BYTES)
    assert [len(runs), runs.find(newest.name)] == [1, newest]


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
    ("text", "verdict", "refused", "part"),
    [
        ('{"name": "Ada", "age": 36}', "complete", None, "complete"),
        ('{"name": "Ada", "age": "36"}', "refused", (23, "$.age"), "cannot come"),
        ('{"name": "Ada"', "cut", (14, "$"), "byte 14"),
    ],
)
def test_a_text_from_elsewhere_is_read_as_a_run(clerk_host, text, verdict, refused, part):
    body = {"text": text, "prompt": ABOUT, "structured_outputs": {"json": PERSON["json_schema"]["schema"]}}
    said = ask_chat(clerk_host, body, "/v1/inspect")
    assert said["verdict"] == verdict
    assert part in said["words"]
    where = said.get("refused")
    assert (where and (where["byte"], where["path"])) == refused
    page = open_run(clerk_host, path_of({"guidedviz": said}))
    assert f"A run of clerk: {verdict}" in page
    assert "gv.inspect_text(model, prompt," in page


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "inspect"),
        ({"text": 1, "regex": "1"}, "text"),
        ({"regex": "(1"}, "regex: regex, position 0"),
        ({"regex": "1", "x": 1}, "x"),
    ],
)
def test_what_cannot_be_inspected_is_refused(clerk_host, body, field):
    assert refusal(clerk_host, {"text": "1"} | body, "/v1/inspect")[:2] == (400, field)
