"""The exercise on repair: a validator's message goes back to the model, with counted calls.

The model is a script. When its texts are used up, it tells what it has read, so an answer that loses one is found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from guidedviz.checks.cases import cases_of, read_trials
from guidedviz.checks.function import check_function
from guidedviz.checks.verdict import Verdict, show

Messages = Sequence[Mapping[str, str]]
QUESTION = "Ada is 36. Give me JSON."


@dataclass(frozen=True)
class Reader:
    """A model that writes these texts, one per call; then it tells all messages that it reads."""

    said: tuple[tuple[str, str], ...]  # each text with what is wrong with it

    def __str__(self) -> str:
        texts = []
        for text, message in self.said:
            wrong = f" (wrong: {message})" if message else ""
            texts.append(f"{show(text)}{wrong}")
        return f"writes {', then '.join([*texts, 'what it has read'])}"

    def __call__(self, messages: Messages) -> str:
        calls = sum(1 for message in messages if message["role"] == "assistant")
        if calls < len(self.said):
            return self.said[calls][0]
        return " · ".join(f"{message['role']}: {message['content']}" for message in messages)


@dataclass(frozen=True)
class Validator:
    """Knows what is wrong with some texts, and finds nothing wrong with all others."""

    messages: Mapping[str, str]

    def __call__(self, text: str) -> str:
        return self.messages.get(text, "")


def _script(most: int, *said: tuple[str, str]) -> tuple[Any, ...]:
    """The arguments of a repair: how many calls, and each text of the model with what is wrong with it."""
    return Reader(said), Validator(dict(said)), QUESTION, most


# how many calls, then what the model writes and what is wrong with it
REPAIRS = read_trials(
    build=_script,
    text="""
a text that fits is the answer, after one call
    3, ("{}", "")
the model must read the question, its own text as `assistant`, and the message as `user`
    3, ("{", "a brace is missing")
each call reads all texts and messages before it, in order
    4, ("{", "a brace is missing"), ("{}", "'age' is a required property")
    5, ("Sure!", "this is not JSON"), ("{", "a brace is missing"), ("[]", "[] is not of type 'object'")
the message belongs to the last text: ask the validator again
    3, ("[]", "[] is not of type 'object'"), ("{", "a brace is missing")
the last call counts, too: its text may fit
    2, ("{", "a brace is missing"), ("{}", "")
after so many calls without a text that fits, return (None, most)
    1, ("{", "a brace is missing")
    2, ("{", "a brace is missing"), ("[]", "[] is not of type 'object'")
a text may come twice: it is wrong twice
    4, ("{", "a brace is missing"), ("{", "a brace is missing")
the empty text may fit, or not
    3, ("", "")
    3, ("", "the text is empty")
""",
)


def check_repair(answer: Any) -> Verdict:
    """Does `answer(ask, complain, question, most)` send the validator's message back until a text fits?

    >>> check_repair(lambda ask, complain, question, most: (ask([{"role": "user", "content": question}]), 1))
    ✗ not yet right: on input 2 of 11, the first on which it fails
        the model   writes '{' (wrong: a brace is missing), then what it has read
        most        3
        yours gave  ('{', 1)
        expected    ('user: Ada is 36. Give me JSON. · assistant: { · user: a brace is missing', 2)
        because     the model must read the question, its own text as `assistant`, and the message as `user`
    """
    return check_function(answer, cases_of(run_repair, REPAIRS, "the model", "", "", "most", spell=str))


def run_repair(
    ask: Callable[[Messages], str], complain: Callable[[str], str], question: str, most: int
) -> tuple[str | None, int]:
    """The first text that fits and the number of calls, or None after so many calls.

    >>> run_repair(*_script(3, ("[1", "a bracket is missing"), ("[1]", "")))
    ('[1]', 2)
    """
    messages = [{"role": "user", "content": question}]
    for calls in range(1, most + 1):
        text = ask(messages)
        message = complain(text)
        if not message:
            return text, calls
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": message}]
    return None, most
