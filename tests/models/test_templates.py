"""Claims about running chat templates: honest ones give the text of transformers, and only known ones run in a tab."""

from hashlib import sha256
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.models import gguf, template
from guidedviz.models.load import EMBEDDED, embedded_folder, read_template
from guidedviz.models.template import MOST_SOURCE, render
from guidedviz.models.tokenizer import Tokenizer

FOLDER = Path(__file__).parent / "templates"  # in the way of real models
SYSTEM = {"role": "system", "content": "You read texts. /no_think"}
TALK = [
    {"role": "user", "content": "  Ada is 36.\n\nJSON with name, age:\n"},
    {"role": "assistant", "content": '<think>\nshort\n</think>\n{"name": "Ada", "age": 36}'},
    {"role": "user", "content": "And Bob, 7? é <b>"},
]
TALKS = {"a question": TALK[:1], "a talk": TALK, "a system message": [SYSTEM, *TALK], "two questions": TALK[:1] * 2}
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
TOOL = {"type": "function", "function": {"name": "weather", "description": "Où?", "parameters": PLACE}}
NAMES = {"bos_token": "<s>", "eos_token": "</s>"}
SMOLLM2 = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}"
    "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer():
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(embedded_folder("clerk") / "tokenizer.json"), **NAMES)


@pytest.mark.parametrize("tools", [None, [TOOL]], ids=["no tools", "a tool"])
@pytest.mark.parametrize("talk", TALKS)
@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.jinja"))])
def test_an_honest_template_gives_the_text_of_transformers(tokenizer, name, talk, tools):
    source = (FOLDER / f"{name}.jinja").read_text()
    messages = TALKS[talk]

    def reference():
        return tokenizer.apply_chat_template(
            messages, tools=tools, chat_template=source, tokenize=False, add_generation_prompt=True
        )

    wanted = outcome(reference)
    given = {"messages": messages, "add_generation_prompt": True, "tools": tools, "documents": None}
    assert outcome(lambda: render(source, **given, **NAMES)) == wanted


def outcome(function):
    """A text, or what a template says instead."""
    from jinja2 import TemplateError

    try:
        return function()
    except gv.ModelError as error:
        return ("error", error.seen)
    except TemplateError as error:
        return ("error", str(error))


def test_a_long_conversation_and_a_long_template_are_in_the_bounds():
    source = "{% for m in messages %}{{ '<|im_start|>' + m['role'] + m['content'] }}{% endfor %}" + "{# long #}" * 5_000
    long = [{"role": "user", "content": "word " * 4_000}, TALK[1]] * 25
    assert len(render(source, messages=long)) > 490_000


@pytest.fixture
def no_process(monkeypatch):
    """As if this process could start no other."""

    def refuse(*words, **settings):
        raise OSError("no processes here")

    template.end_renderer()
    monkeypatch.setattr(template.subprocess, "Popen", refuse)


def test_the_template_that_we_ship_needs_no_process(no_process, tokenizer):
    assert sha256(SMOLLM2.encode()).hexdigest() in template.JUDGED
    given = {"messages": TALK, "add_generation_prompt": True}
    wanted = tokenizer.apply_chat_template(TALK, chat_template=SMOLLM2, tokenize=False, add_generation_prompt=True)
    assert render(SMOLLM2, **given) == wanted
    with pytest.raises(gv.ModelError, match="saw no processes here, expected a second process of Python"):
        render(SMOLLM2 + " ", **given)


@pytest.mark.parametrize("name", [*EMBEDDED, gguf.SMOLLM2])
def test_every_template_of_a_model_that_we_ship_is_known(name):
    folder = gguf.kept_folder(name) if name == gguf.SMOLLM2 else embedded_folder(name)
    if not folder.is_dir():
        pytest.skip(f"for the real model: {gguf.GET}")
    found = read_template(folder, Tokenizer(folder))
    assert found is None or template.judged_name(found.source)
    assert (found is not None) == (name in ("scout", gguf.SMOLLM2))


def test_in_a_tab_only_a_known_template_runs(no_process, monkeypatch):
    monkeypatch.setattr(template, "IN_TAB", True)
    assert render(SMOLLM2, messages=TALK).startswith("<|im_start|>system")
    with pytest.raises(gv.ModelError, match=r"did not come with guidedviz, expected the template of SmolLM2.*computer"):
        render("{{ messages[0].content }}", messages=TALK)


@pytest.mark.parametrize(
    ("source", "seen", "expected"),
    [
        ("{{ raise_exception('roles must alternate') }}", "roles must alternate", "messages that the model's template"),
        ("{% if %}", "line 1: Expected an expression", "a chat template that Jinja can read"),
        ("a\nb{% endfor %}", "line 2: Encountered unknown tag 'endfor'", "a chat template that Jinja can read"),
        ("{{ nothing.of.this }}", "UndefinedError: 'nothing' is undefined", "filled with these messages"),
        ("{{ messages[0].content + 1 }}", "TypeError: can only concatenate str", "filled with these messages"),
        ("{{ '\\ud800' }}", "UnicodeEncodeError: 'utf-8' codec", "filled with these messages"),
        ("{% include '/etc/passwd' %}", "TypeError: no loader", "filled with these messages"),
        ("{{ messages.__class__.__mro__ }}", "attribute '__class__' of 'list' object is unsafe", "Jinja's sandbox"),
        ("{{ messages.append(1) }}", "attribute 'append' of 'list' object is unsafe", "Jinja's sandbox"),
        ("{{ cycler.__init__.__globals__.os.system('true') }}", "attribute '__init__'", "Jinja's sandbox"),
        ("{{ namespace(__class__=dict) }}", "'__class__' in a namespace is unsafe", "Jinja's sandbox"),
        ("{% set n = namespace() %}{% set n._x = 1 %}", "'_x' in a namespace is unsafe", "Jinja's sandbox"),
        ("{" * (MOST_SOURCE + 1), "a template of 65,537 characters, more than 65,536", "that Jinja can read"),
    ],
)
def test_an_error_says_what_the_template_did_and_what_was_expected(source, seen, expected):
    with pytest.raises(gv.ModelError) as told:
        render(source, messages=TALK)
    assert seen in told.value.seen
    assert expected in told.value.expected
    assert told.value.hint
