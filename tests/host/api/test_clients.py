"""Claims about the clients of OpenAI that people use: each reads what the host answers."""

import importlib.metadata
from importlib.util import find_spec

import pytest
from pydantic import BaseModel

from tests.host.api.asking import ABOUT, ADD, SUM
from tests.host.running import TOKEN, hosting

TEXT = f"{ABOUT}\n"


class Person(BaseModel):
    name: str
    age: int


@pytest.fixture(scope="module")
def openai():
    """Loaded by the worker that needs it, and not by each that collects the tests."""
    return pytest.importorskip("openai")


@pytest.fixture(scope="module")
def client(clerk_host, openai):
    return openai.OpenAI(base_url=f"{clerk_host.address}/v1", api_key="none", max_retries=0)


@pytest.fixture(scope="module")
def scout(scout_host, openai):
    return openai.OpenAI(base_url=f"{scout_host.address}/v1", api_key="none", max_retries=0)


def test_the_client_parses_a_pydantic_class(client, openai):
    asked = {"model": "clerk", "messages": [{"role": "user", "content": ABOUT}], "temperature": 0}
    said = client.chat.completions.parse(**asked, response_format=Person)
    assert said.choices[0].message.parsed == Person(name="Ada Lovelace", age=36)
    assert said.guidedviz["run"].startswith("http://127.0.0.1")
    with client.chat.completions.stream(**asked, response_format=Person) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_completion().choices[0].message.parsed.age == 36
    assert kinds.count("content.done") == 1
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(**asked, response_format=Person, max_tokens=2)


def test_the_client_adds_up_a_call_of_a_tool(scout):
    with scout.chat.completions.stream(**SUM, tools=[ADD]) as stream:
        *_, last = stream
    (call,) = stream.get_final_completion().choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("add", '{"a": 137, "b": 248}')
    assert last.type == "chunk" or last.type.endswith("done")


def test_the_client_asks_for_some_of_its_tools(scout):
    other = {"type": "function", "function": {**ADD["function"], "name": "take"}}
    tools = [{"type": "function", "function": {"name": "take"}}]
    choice = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": tools}}
    said = scout.chat.completions.create(**SUM, tools=[ADD, other], tool_choice=choice, max_tokens=90)
    calls = said.choices[0].message.tool_calls
    assert {call.function.name for call in calls} == {"take"}


def test_the_client_reads_responses(client, scout):
    asked = {"model": "clerk", "input": ABOUT, "temperature": 0}
    said = client.responses.parse(**asked, text_format=Person)
    assert (said.status, said.output_parsed.name) == ("completed", "Ada Lovelace")
    with client.responses.stream(**asked, text_format=Person) as stream:
        kinds = [event.type for event in stream]
        assert stream.get_final_response().output_parsed.age == 36
    assert kinds[:2] == ["response.created", "response.in_progress"]
    cut = client.responses.create(**asked, max_output_tokens=2)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")
    flat = {"type": "function", **ADD["function"]}
    question = SUM["messages"][0]
    called = scout.responses.create(model="scout", input=[question], tools=[flat], temperature=0)
    reasoning, call = called.output
    assert (reasoning.type, call.type, call.arguments) == ("reasoning", "function_call", '{"a": 137, "b": 248}')
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "385"}
    after = scout.responses.create(model="scout", input=[question, call, result], tools=[flat], temperature=0)
    assert after.output_text == "137 plus 248 is 385."
    with scout.responses.stream(model="scout", input=[question], tools=[flat], temperature=0) as stream:
        kinds = [event.type for event in stream]
        assert [item.type for item in stream.get_final_response().output] == ["reasoning", "function_call"]
    assert "response.function_call_arguments.done" in kinds


def test_an_error_is_that_of_the_client_with_our_four_parts(client, bard, openai):
    with pytest.raises(openai.BadRequestError, match=r"guided_json: saw a field that was removed.*structured_outputs"):
        client.completions.create(model="clerk", prompt=TEXT, extra_body={"guided_json": {}})
    with pytest.raises(openai.NotFoundError, match="this host: clerk"):
        client.completions.create(model="gpt-9", prompt=TEXT)
    with pytest.raises(openai.NotFoundError, match="this host: clerk"):
        client.models.retrieve("gpt/9")
    assert client.models.retrieve("clerk").owned_by == "guidedviz"
    with hosting(bard, {"": TOKEN}) as host:
        wrong = openai.OpenAI(base_url=f"{host.address}/v1", api_key="x", max_retries=0)
        with pytest.raises(openai.AuthenticationError, match="an unknown token"):
            wrong.models.list()
        right = openai.OpenAI(base_url=f"{host.address}/v1", api_key=TOKEN, max_retries=0)
        assert [model.id for model in right.models.list()] == ["bard"]


def test_many_clients_of_one_loop_are_answered(clerk_host, openai):
    import asyncio

    async def ask():
        async with openai.AsyncOpenAI(base_url=f"{clerk_host.address}/v1", api_key="none", max_retries=0) as many:
            asked = [many.completions.create(model="clerk", prompt=TEXT, seed=1, max_tokens=3) for _ in range(12)]
            return await asyncio.gather(*asked)

    answers = asyncio.run(ask())
    assert len({said.choices[0].text for said in answers}) == 1


@pytest.mark.skipif(not find_spec("instructor"), reason="instructor is not installed")
@pytest.mark.parametrize("mode", ["JSON_SCHEMA", "TOOLS"])
def test_instructor_gets_a_pydantic_object(clerk_host, mode, openai):
    import instructor

    plain = openai.OpenAI(base_url=f"{clerk_host.address}/v1", api_key="none", max_retries=0)
    client = instructor.from_openai(plain, mode=getattr(instructor.Mode, mode))
    messages = [{"role": "user", "content": "Ada Lovelace is 36 years old."}]
    said = client.chat.completions.create(model="clerk", messages=messages, response_model=Person, temperature=0)
    assert isinstance(said, Person), importlib.metadata.version("instructor")
