"""Claims about POST /v1/again: a run is decoded again with what is changed, and what cannot be changed is refused."""

import json
import re
from html import unescape

import pytest

from guidedviz.host.api.run_code import code_of
from guidedviz.widgets.player_page import play_page
from tests.host.api.asking import ABOUT, CHAT, PERSON, SUM, ask_chat, refusal, send, stream_chat
from tests.host.api.test_runs import ADA, BOB, TEACHER, open_run, path_of
from tests.host.running import hosting

WARM = CHAT | {"temperature": 1, "seed": 7, "max_tokens": 40, "response_format": PERSON}
AGAIN = "/v1/again"


def name_of(said):
    """The name of an answer's run."""
    return path_of(said).removeprefix("/runs/")


def text_of(said):
    """The text of an answer."""
    choice = said["choices"][0]
    return choice["message"]["content"] if "message" in choice else choice["text"]


@pytest.fixture(scope="module")
def warm(clerk_host):
    """An answer that was drawn at temperature 1."""
    return ask_chat(clerk_host, WARM)


def again(host, said, **changes):
    """The answer of the same run with changes."""
    return ask_chat(host, {"run": name_of(said)} | changes, AGAIN)


def test_the_same_settings_give_the_same_text_as_another_run(clerk_host, warm):
    other = again(clerk_host, warm)
    assert text_of(other) == text_of(warm)
    assert name_of(other) != name_of(warm)
    assert other["guidedviz"]["enforced"] == warm["guidedviz"]["enforced"]


def test_other_settings_give_what_a_request_with_them_gives(clerk_host, warm):
    changes = {"temperature": 0.4, "top_k": 3, "top_p": 0.8, "repetition_penalty": 1.2, "seed": 11}
    afresh = ask_chat(clerk_host, WARM | changes)
    assert text_of(again(clerk_host, warm, **changes)) == text_of(afresh)


def test_each_choice_has_its_own_seed(clerk_host):
    said = ask_chat(clerk_host, WARM | {"n": 2})
    second = said["guidedviz"]["runs"][1].rpartition("/")[2]
    other = ask_chat(clerk_host, {"run": second}, AGAIN)
    assert text_of(other) == said["choices"][1]["message"]["content"]


def test_a_question_is_replaced_and_the_other_messages_stay(scout_host):
    system = {"role": "system", "content": "Be brief."}
    asked = [system, {"role": "user", "content": "What is 2 plus 3?"}]
    said = ask_chat(scout_host, SUM | {"max_tokens": 12})
    other = again(scout_host, said, prompt="What is 2 plus 3?")
    run = scout_host.service.runs.find(name_of(other))
    assert run.request.messages == ({"role": "user", "content": "What is 2 plus 3?"},)
    said = ask_chat(scout_host, SUM | {"max_tokens": 12, "messages": asked})
    followed = again(scout_host, said, prompt="Who?")
    assert followed["usage"]["prompt_tokens"] < said["usage"]["prompt_tokens"]


def test_a_plain_prompt_is_replaced(clerk_host):
    body = {"model": "clerk", "prompt": ABOUT, "max_tokens": 6, "temperature": 0}
    said = ask_chat(clerk_host, body, "/v1/completions")
    other = again(clerk_host, said, prompt="Is it red?")
    afresh = ask_chat(clerk_host, body | {"prompt": "Is it red?"}, "/v1/completions")
    assert text_of(other) == text_of(afresh)


def test_a_text_is_put_after_the_first_tokens_and_the_code_gives_the_same_tokens(clerk_host, warm):
    first = clerk_host.service.runs.find(name_of(warm))
    said = again(clerk_host, warm, forced={"step": 1, "text": 'name": "Zoe'})
    begun = first.steps[0].piece.decode()
    assert text_of(said).startswith(begun + 'name": "Zoe')
    run = clerk_host.service.runs.find(name_of(said))
    assert run.steps[0] is first.steps[0]
    assert run.steps[1].how == "inserted"
    put = sum(step.how == "inserted" for step in run.steps)
    twice = again(clerk_host, said, forced={"step": 1 + put, "text": "y"})
    for one in (said, twice):
        run = clerk_host.service.runs.find(name_of(one))
        names = {}
        *code, _, _ = code_of(run).splitlines()
        exec("\n".join(code), names)
        assert names["trace"].tokens == run.trace.tokens


def test_a_token_is_put_after_the_first_tokens(clerk_host, warm):
    run = clerk_host.service.runs.find(name_of(warm))
    place, other = next(
        (place, one)
        for place, step in enumerate(run.steps)
        for one in step.candidates
        if one.legal and one.token != step.token
    )
    said = again(clerk_host, warm, forced={"step": place, "token": other.token})
    made = clerk_host.service.runs.find(name_of(said))
    assert made.steps[:place] == run.steps[:place]
    step = made.steps[place]
    assert (step.token, step.how) == (other.token, "inserted")
    forbidden = next(one.token for one in run.steps[0].candidates if not one.legal)
    changes = {"run": name_of(warm), "forced": {"step": 0, "token": forbidden}}
    assert refusal(clerk_host, changes, AGAIN)[0] == 400


def test_a_stream_has_the_same_text(clerk_host, warm):
    body = {"run": name_of(warm), "forced": {"step": 1, "text": "na"}}
    chunks = stream_chat(clerk_host, body, AGAIN)
    whole = again(clerk_host, warm, forced={"step": 1, "text": "na"})
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert "".join(delta.get("content", "") for delta in deltas) == text_of(whole)


@pytest.mark.parametrize(
    ("changes", "status", "field"),
    [
        ({"run": "unknown"}, 404, "run"),
        ({"run": 7}, 400, "run"),
        ({"temperature": "hot"}, 400, "temperature"),
        ({"temperature": 1e9}, 400, "temperature"),
        ({"temperature": float("nan")}, 400, "temperature"),
        ({"top_k": 1.5}, 400, "top_k"),
        ({"top_p": 0}, 400, "top_p"),
        ({"repetition_penalty": -1}, 400, "repetition_penalty"),
        ({"seed": -1}, 400, "seed"),
        ({"prompt": ["x"]}, 400, "prompt"),
        ({"messages": []}, 400, "messages"),
        ({"forced": {"step": 0}}, 400, "forced"),
        ({"forced": {"step": 10_000, "text": "x"}}, 400, "forced.step"),
        ({"forced": {"step": 0, "text": "x", "how": 1}}, 400, "forced.how"),
        ({"forced": {"step": 0, "text": "x"}, "seed": 1}, 400, "seed"),
        ({"forced": {"step": 0, "text": "x"}}, 400, "the inserted text, token 1 of 1"),
        ({"forced": {"step": 0, "text": "{", "token": 1}}, 400, "forced"),
        ({"forced": {"step": 0, "token": -1}}, 400, "forced.token"),
        ({"forced": {"step": 0, "token": 1 << 40}}, 400, "token 1099511627776"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_leaves_no_run(clerk_host, warm, changes, status, field):
    before = len(clerk_host.service.runs)
    body = {"run": name_of(warm)} | changes
    assert refusal(clerk_host, body, AGAIN)[:2] == (status, field)
    assert len(clerk_host.service.runs) == before


def test_nothing_comes_after_the_end_of_a_run(clerk_host, warm):
    last = len(clerk_host.service.runs.find(name_of(warm)).steps)
    late = {"run": name_of(warm), "forced": {"step": last, "text": "x"}}
    status, _, said = refusal(clerk_host, late, AGAIN)
    assert (status, "the end of the run, expected an earlier step" in said) == (400, True)


def test_the_prompt_of_a_run_that_ends_with_a_result_stays(scout_host):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}
    turns = [*SUM["messages"], {"role": "assistant", "content": "", "tool_calls": [call]}]
    turns.append({"role": "tool", "tool_call_id": "c1", "content": "3"})
    said = ask_chat(scout_host, SUM | {"messages": turns, "max_tokens": 2})
    follow = {"run": name_of(said), "prompt": "Why?"}
    assert refusal(scout_host, follow, AGAIN)[:2] == (400, "prompt")


def test_only_the_runs_of_ones_own_list_are_decoded_again(bard):
    body = {"model": "bard", "prompt": "To be", "max_tokens": 2}
    with hosting(bard, {"ada": ADA, "bob": BOB, "teacher": TEACHER}) as host:
        own = {"run": name_of(ask_chat(host, body, "/v1/completions", token=ADA))}
        shared = {"run": name_of(ask_chat(host, body | {"guidedviz": {"share": True}}, "/v1/completions", token=ADA))}
        asked = [(own, ADA), (own, BOB), (own, TEACHER), (own, ""), (shared, BOB), (shared, TEACHER)]
        statuses = [send(host, AGAIN, one, token=token)[0] for one, token in asked]
        assert statuses == [200, 403, 403, 401, 403, 200]
        listed = ask_chat(host, None, "/v1/runs", token=TEACHER)["runs"]
        assert len(listed) == 2, "the new run is the teacher's own"


def test_no_other_page_asks_for_a_run_again(clerk_host, warm):
    body = {"run": name_of(warm)}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        assert send(clerk_host, AGAIN, body, **headers)[0] == 403
    as_form = {"Content-Type": "text/plain"}
    status, *_ = send(clerk_host, AGAIN, json.dumps(body).encode(), **as_form)
    assert status == 415
    assert send(clerk_host, AGAIN)[0] == 405


def test_nothing_of_it_is_printed(clerk_host, warm, capfd):
    again(clerk_host, warm, prompt="a secret")
    refusal(clerk_host, {"run": name_of(warm), "prompt": "a secret", "seed": "x"}, AGAIN)
    assert capfd.readouterr() == ("", "")


def test_the_page_says_what_can_be_changed_and_what_was(clerk_host, warm):
    page = open_run(clerk_host, path_of(warm))
    assert "temperature 1, seed 7</span>" in page
    other = again(clerk_host, warm, top_k=2, repetition_penalty=1.5)
    page = open_run(clerk_host, f"{path_of(other)}/{name_of(warm)}")
    assert "temperature 1, top-k 2, repetition penalty 1.5, seed 7</span>" in page
    found = [json.loads(unescape(said)) for said in re.findall(r'data-again="([^"]*)"', page)]
    assert [one["run"] for one in found] == [one["other"] for one in reversed(found)]
    assert found[0]["settings"]["top_k"] == 2
    assert found[0]["asked"] == ABOUT
    assert found[0]["beside"]["words"].startswith(("They part after", "Both runs have"))
    put = again(clerk_host, warm, forced={"step": 1, "text": "name"})
    assert "seed 7, 1 token put there by a person</span>" in open_run(clerk_host, path_of(put))


def test_only_the_page_of_a_run_may_ask_its_host(clerk_host, warm):
    allowed = "; connect-src &#x27;self&#x27;"
    assert allowed in send(clerk_host, path_of(warm))[2].decode()
    assert allowed not in play_page("a run", "stage", "", 0)
