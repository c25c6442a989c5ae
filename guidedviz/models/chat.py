"""A conversation as a chat model reads it: the model's template, with special tokens that no person can write.

What a person writes stays text: the text of a special token in it is a sign of its own until the template has run.
The template is a program of a stranger in Jinja: few steps, few characters, and no way to a long text in one. Jinja's
sandbox keeps it from files, modules and memory of Python. Here it has the filters and methods that templates use, and
pays for every text and list that it makes, before or just after it is made, so that no loop can double one.
"""

import json
import re
import sys
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache, wraps
from threading import Lock
from typing import Any, NamedTuple, Protocol, Self

from guidedviz.errors import ModelError, SettingError, quoted
from guidedviz.extras import need

WHERE = "model.chat"
Messages = str | Sequence[Mapping[str, str]]


class Prompt(str):
    """A conversation as a model reads it: the text of its template, and the tokens, of which some are special.

    `parts` are its plain texts and its special tokens in turn, a text first.

    >>> prompt = Prompt("<|user|>Hi", (1, 72), ("", "<|user|>", "Hi"))
    >>> prompt, prompt.tokens, prompt.parts
    ('<|user|>Hi', (1, 72), ('', '<|user|>', 'Hi'))
    """

    tokens: tuple[int, ...]
    parts: tuple[str, ...]

    def __new__(cls, text: str, tokens: Iterable[int] = (), parts: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.tokens, made.parts = tuple(tokens), tuple(parts)
        return made


def no_template(name: str) -> ModelError:
    """The error for a model that has no chat template."""
    hint = 'gv.load_model("smollm2")'
    return ModelError(WHERE, seen=f"{name} has no chat template", expected="a chat model", hint=hint)


class Encoder(Protocol):
    """A tokenizer, its special tokens by their texts, and those that a template knows by a name such as eos_token."""

    special: dict[str, int]
    names: dict[str, str]
    eos_token_id: int | None

    def encode(self, text: str) -> list[int]: ...
    def encode_plain(self, text: str) -> list[int]: ...  # without tokens around the text
    def encode_special(self, text: str) -> list[int]: ...  # the same, and a special token for its text


class ChatTemplate(NamedTuple):
    """The template of a model, and its tokenizer."""

    source: str
    words: Encoder

    def read(self, messages: Messages) -> Prompt:
        """The prompt of a question, or of messages with a role and a content."""
        asked = check_messages(messages)
        known = "".join(self.words.special) + self.source + all_texts(asked)
        signs = (char for char in map(chr, range(0xF0000, 0x10FFFE)) if char not in known)
        hidden, splitter = dict(zip(self.words.special, signs, strict=False)), any_of(self.words.special)
        typed = {ord(sign): text for text, sign in hidden.items()}

        def mark(text: str) -> str:
            return splitter.sub(lambda found: hidden[found[0]], text)

        marked = [{mark(key): mark(text) for key, text in message.items()} for message in asked]
        text = render(self.source, messages=marked, add_generation_prompt=True, **self.words.names)
        parts = [part.translate(typed) for part in splitter.split(text)]
        if "".join(parts) == text:
            return Prompt(text, self.words.encode_special(text), parts)
        tokens = list[int]()
        for place, part in enumerate(parts):
            tokens += [self.words.special[part]] if place % 2 else self.words.encode_plain(part) if part else []
        return Prompt("".join(parts), tokens, parts)

    def end_of_turn(self) -> int | None:
        """The special token that follows an answer in a conversation; None if the template has none."""
        answer = "\ue000"
        talk = [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}]
        try:
            text = render(self.source, messages=[*talk, talk[0]], add_generation_prompt=False, **self.words.names)
        except (ModelError, SettingError):  # it takes no such messages, or jinja2 is not installed
            return None
        found = any_of(self.words.special).match(text.partition(answer)[2].lstrip())
        return self.words.special[found[0]] if found else None


def any_of(texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches one of these texts, the longest that fits, as its group; nothing if there are none.

    >>> any_of(["<a>", "<a>b"]).split("x<a>by")
    ['x', '<a>b', 'y']
    """
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")


def all_texts(messages: Iterable[Mapping[str, str]]) -> str:
    """All texts of messages in one."""
    return "".join(text for message in messages for item in message.items() for text in item)


def check_messages(messages: Any) -> list[dict[str, str]]:
    """Messages with a role and a content, all of them text; a text alone is a question of the user."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    try:
        asked = [dict(message) for message in messages]
        all_texts(asked).encode()
    except (TypeError, ValueError):  # also for a lone surrogate
        asked = []
    if not asked or not all({"role", "content"} <= message.keys() for message in asked):
        expected = "a text, or a list of messages with a role and a content"
        raise SettingError(WHERE, seen=quoted(messages), expected=expected, hint='[{"role": "user", "content": "..."}]')
    return asked


# Running a template.


STEPS = 400_000  # lines that a template may run
MOST_SOURCE = 1 << 16  # characters of a template
LONGEST = 1 << 20  # characters of a rendered conversation
MADE = 1 << 24  # characters that a template may make on its way
ENTRY = 64  # characters that a number and an entry of a list count as
RUNS = Lock()  # one run at a time, since a compiled template has one purse
FILTERS = """capitalize count d default dictsort first float int items join last length list lower map max min reject
rejectattr reverse select selectattr sort string title trim unique upper""".split()
METHODS = set(
    """capitalize count endswith find get index isalpha isdigit isspace items join keys lower lstrip
removeprefix removesuffix replace rfind rsplit rstrip split splitlines startswith strip title upper values""".split()
)


class Purse:
    """What a template may still make."""

    left = MADE

    def pay(self, size: int) -> None:
        """Count so many characters."""
        self.left -= size
        if self.left < 0:
            raise ValueError(f"a template that makes more than {MADE:,} characters")

    def count(self, value: Any) -> Any:
        """Count all texts of a value, and give it back."""
        self.pay(ENTRY if not isinstance(value, str) else len(value))
        if isinstance(value, dict):
            self.count([*value, *value.values()])
        elif isinstance(value, list | tuple | KeysView | ValuesView | ItemsView):
            for entry in value:
                self.count(entry)
        return value

    def paid(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose arguments and result are counted."""

        @wraps(function)
        def call(*values: Any, **named: Any) -> Any:
            self.count([*values, *named.values()])
            return self.count(function(*values, **named))

        return call

    def join(self, texts: Iterable[Any], between: str = "") -> str:
        """Texts in one."""
        found = [str(self.count(text)) for text in texts]
        self.pay(len(found) * len(between))
        return between.join(found)

    def replace(self, text: str, old: str, new: str, most: int = -1) -> str:
        """A text with others in the place of some."""
        self.pay(len(text) + text.count(old) * len(new))
        return text.replace(old, new, most)

    def add(self, one: Any, other: Any) -> Any:
        """The sum of numbers, and texts or lists one after the other."""
        return self.count(one) + self.count(other)


def refuse(why: str = "an operator that can make a very long text") -> None:
    """What a template calls for messages that it does not take."""
    raise ValueError(why)


def times(one: Any, other: Any) -> Any:
    """The product of small numbers."""
    if not all(isinstance(value, int | float) and abs(value) < ENTRY**8 for value in (one, other)):
        refuse()
    return one * other


def remainder(one: Any, other: Any) -> Any:
    """The rest of a division; for a text, % would fill in values of any width."""
    return one % other if isinstance(one, int | float) else refuse()


def build_sandbox(purse: Purse) -> Any:
    """The environment of one template."""
    sandbox, runtime = need("jinja2.sandbox", "smollm", WHERE), need("jinja2.utils", "smollm", WHERE)

    class Sandbox(sandbox.ImmutableSandboxedEnvironment):  # type: ignore[misc, name-defined]
        intercepted_binops = frozenset(("+", "*", "%", "**"))

        def is_safe_attribute(self, value: Any, name: str, found: Any) -> bool:
            plain = isinstance(value, str | bytes | int | float | list | tuple | dict)
            return (name in METHODS or not plain) and bool(super().is_safe_attribute(value, name, found))

        def call(self, context: Any, function: Any, *values: Any, **named: Any) -> Any:
            owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
            if isinstance(owner, str) and name == "join":
                return purse.join(values[0], owner)
            if isinstance(owner, str) and name == "replace":
                return purse.replace(owner, *values)
            return purse.count(super().call(context, function, *values, **named))

    class Namespace(runtime.Namespace):  # type: ignore[misc, name-defined]
        def __repr__(self) -> str:
            return "a namespace"

    made = Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    made.binop_table |= {"+": purse.add, "*": times, "%": remainder, "**": lambda *_: refuse()}
    made.concat = purse.join
    made.finalize = purse.count
    kept = {name: made.filters[name] for name in FILTERS} | {"tojson": to_json, "safe": str, "counted": purse.count}
    made.filters = {name: purse.paid(function) for name, function in kept.items()}
    made.filters |= {"join": purse.join, "replace": purse.replace}
    names = {"raise_exception": refuse, "strftime_now": lambda form: datetime.now().strftime(form[:40])}
    made.globals = {"range": made.globals["range"], "dict": dict, "namespace": Namespace, **names}
    return made


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON as transformers writes it."""
    return json.dumps(value, ensure_ascii=False, indent=None if indent is None else min(indent, 8))


def counted_tree(made: Any, source: str) -> Any:
    """The tree of a template in which lists, slices and `~` are counted, too."""
    nodes, visitor = need("jinja2.nodes", "smollm", WHERE), need("jinja2.visitor", "smollm", WHERE)

    def through(name: str, node: Any) -> Any:
        return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)

    class Counted(visitor.NodeTransformer):  # type: ignore[misc, name-defined]
        def visit_Concat(self, node: Any) -> Any:
            parts = self.generic_visit(node).nodes
            return through("join", nodes.List(parts, lineno=node.lineno))

        def visit_List(self, node: Any) -> Any:
            return through("counted", self.generic_visit(node))

        def visit_Tuple(self, node: Any) -> Any:
            return self.visit_List(node) if node.ctx == "load" else self.generic_visit(node)

        def visit_Getitem(self, node: Any) -> Any:
            return self.visit_List(node) if isinstance(node.arg, nodes.Slice) else self.generic_visit(node)

        visit_Dict = visit_List

    return Counted().visit(made.parse(source)).set_environment(made)


@lru_cache(8)
def build_template(source: str) -> tuple[Any, Purse]:
    """A template that is compiled once, and what it pays from."""
    if len(source) > MOST_SOURCE:
        raise ValueError(f"a template of {len(source):,} characters, more than {MOST_SOURCE:,}")
    purse = Purse()
    made = build_sandbox(purse)
    return made.from_string(counted_tree(made, source)), purse


def render(source: str, **values: Any) -> str:
    """The text that a template makes of these values."""
    need("jinja2", "smollm", WHERE)
    try:
        with RUNS:
            template, purse = build_template(source)
            purse.left = MADE
            with few_steps():
                text: str = template.render(**values)
    except Exception as error:  # the template is a program of a stranger
        raise ModelError(WHERE, seen=str(error)[:200], expected="messages that the model's template takes") from None
    if len(text) > LONGEST:
        raise ModelError(WHERE, seen=f"{len(text):,} characters", expected=f"at most {LONGEST:,}")
    return text


@contextmanager
def few_steps() -> Iterator[None]:
    """Bound the lines of Python that run inside."""
    steps, before = 0, sys.gettrace()

    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal steps
        steps += 1
        if steps > STEPS:
            raise ValueError(f"a template that takes more than {STEPS:,} steps")
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)
