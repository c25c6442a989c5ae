"""Claims about hostile chat templates: each ends soon, takes none of our memory, and the next prompt is answered."""

import os
import sys
import time
import tracemalloc
from threading import Thread

import pytest

import guidedviz as gv
from guidedviz.errors import ChatWarning
from guidedviz.files import PACKAGE
from guidedviz.models import sandbox, template
from guidedviz.models.template import WALL_SECONDS, TemplateStopped, render
from tests.models.chat_folder import CHATML, build_folder

TALK = [{"role": "user", "content": "Ada is 36."}]
PROMPT = "<|im_start|>user\nAda is 36.<|im_end|>\n"


def nest(body):
    """A template that runs a part of it 10 billion times."""
    return "{% for i in range(99999) %}{% for j in range(99999) %}" + body + "{% endfor %}{% endfor %}"


def grow(body):
    """The same, with names that the part may change."""
    start = "{% set ns = namespace(x='ab', y=['a'], n=('f' * (messages | length * 9999)) | int(base=16)) %}"
    return start + nest("{% set " + body + " %}") + "{{ ns.x }}"


ENDLESS = {  # more time than a template has
    "loops": nest(""),
    "int catches errors": nest("{% set x = 'a' | int %}"),
    "squares": grow("ns.n = ns.n * ns.n"),
    "division": grow("ns.n = ns.n * ns.n // 3"),
    "minus": grow("ns.n = ns.n * ns.n - i"),
    "one power": "{{ 7 ** (7 ** 9) }}",
    "isspace": "{% set x = ' ' * 4194304 %}" + nest("{% if x.isspace() %}{% endif %}"),
    "count": "{% set x = range(100000) %}" + nest("{% if x.count(1.5) %}{% endif %}"),
    "write nothing": nest("{{ '' }}"),
    "macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
}
LARGE = {  # more memory than its process has
    "format": "{{ '{:0999999999d}'.format(1) }}",
    "format to the right": "{{ '{:>999999999}'.format(1) }}",
    "percent": "{{ '%999999999d' % 1 }}",
    "times": "{{ 'a' * 10 ** 10 }}",
    "list": "{{ [1] * 10 ** 9 }}",
    "center": "{{ 'x' | center(10 ** 9) }}",
    "ljust": "{{ 'x'.ljust(10 ** 9) }}",
    "ljust by its name": "{{ 'x'['lju' + 'st'](999999999) }}",
    "bytes": "{{ (1).to_bytes(999999999, 'big') }}",
    "indent": "{{ 'x' | indent(999999999) }}",
}
DOUBLED = {  # more memory or more time, piece by piece
    "block": "{% set y %}" + nest("{{ 'x' * (1000000 + j) }}") + "{% endset %}",
    "plus": grow("ns.x = ns.x + ns.x"),
    "tilde": grow("ns.x = ns.x ~ ns.x"),
    "join": grow("ns.x = [ns.x, ns.x] | join"),
    "replace": grow("ns.x = ns.x.replace('b', ns.x)"),
    "lists": grow("ns.y = ns.y + ns.y"),
    "json": grow("ns.x = ns.x | tojson | tojson"),
}
WRITTEN = {  # more text than a prompt has
    "1 GB in pieces": "{% for i in range(99999) %}{{ 'x' * 10000 }}{% endfor %}",
    "without end": nest("a"),
    "one text": "{{ 'x' * 2000000 }}",
}
NESTED = {  # deeper than the parser and the interpreter go
    "brackets": "{{ " + "(" * 9_000 + ")" * 9_000 + " }}",
    "lists": "{{ " + "[" * 9_000 + "]" * 9_000 + " }}",
    "signs": "{{ " + "-" * 9_000 + "1 }}",
    "blocks": "{% if 1 %}" * 2_000 + "{% endif %}" * 2_000,
    "macros": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
}
ALL = {"ENDLESS": ENDLESS, "LARGE": LARGE, "DOUBLED": DOUBLED, "WRITTEN": WRITTEN, "NESTED": NESTED}
SAID = {
    "ENDLESS": "" if sys.platform == "win32" else r"a template that takes more than 0\.2 s of processor time",
    "LARGE": "more memory than its process has, expected at most 256 MB",
    "DOUBLED": "more memory than its process has|a template that takes more than",
    "WRITTEN": "more than 1,048,576 characters, expected at most 1,048,576 characters",
    "NESTED": "saw (RecursionError|SyntaxError|IndentationError|line 1|more memory|a process that ended)",
}
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


@pytest.fixture(scope="module", autouse=True)
def hurried():
    """A process whose templates have a fifth of the time."""
    patch = pytest.MonkeyPatch()
    patch.setattr(template, "PROCESSOR_SECONDS", template.PROCESSOR_SECONDS / 5)
    yield
    patch.undo()


def the_next_prompt_is_answered():
    assert render(CHATML, messages=TALK) == PROMPT


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, few in ALL.items() for name in few])
def test_a_hostile_template_ends_soon_and_takes_none_of_our_memory(kind, name):
    if kind == "LARGE" and sys.platform != "linux":
        pytest.skip("no other system limits the memory of a process")
    the_next_prompt_is_answered()
    tracemalloc.start()
    began = time.monotonic()
    try:
        with pytest.raises(gv.ModelError, match=SAID[kind]) as told:
            render(ALL[kind][name], messages=TALK)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert time.monotonic() - began < WALL_SECONDS + 3
    assert told.value.hint
    the_next_prompt_is_answered()


def test_a_long_error_is_cut_before_it_reaches_us():
    with pytest.raises(gv.ModelError) as told:
        render("{{ raise_exception('x' * 10000000) }}", messages=TALK)
    assert told.value.seen == "x" * sandbox.MOST_SAID


def test_the_clock_of_this_process_stops_a_template_where_its_own_clock_does_not(monkeypatch):
    monkeypatch.setattr(template, "PROCESSOR_SECONDS", 3600)
    monkeypatch.setattr(template, "WALL_SECONDS", 0.5)
    with pytest.raises(TemplateStopped, match=r"saw a template that takes more than 0\.5 s, expected"):
        render(ENDLESS["loops"], messages=TALK)
    monkeypatch.undo()
    the_next_prompt_is_answered()


def test_a_folder_with_a_hostile_template_is_loaded_and_says_why_it_has_no_end_of_turn(tmp_path):
    folder = build_folder(tmp_path / "mine")
    (folder / "chat_template.jinja").write_text(ENDLESS["isspace"])
    began = time.monotonic()
    with pytest.warns(ChatWarning, match="the token that ends an answer is not known.*takes more than"):
        model = gv.load_model(str(folder), "numpy")
    assert time.monotonic() - began < WALL_SECONDS + 10
    assert model.vocabulary.eos == {0, 4095}
    assert gv.record(model, "Ada", gv.guide(gv.regex("a|b"), model.vocabulary)).text in ("a", "b")
    with pytest.raises(TemplateStopped, match="takes more than"):
        model.chat("Ada")


# The process.


@ON_LINUX
def test_the_process_has_nothing_of_ours(monkeypatch):
    import resource

    looked = []

    def look(process, request):
        send, process.stdin.close = process.stdin.close, lambda: None  # it waits for the end of its request
        process.stdin.write(request)
        place = f"/proc/{process.pid}"
        until = time.monotonic() + 20
        while sorted(os.listdir(f"{place}/fd")) != ["0", "1", "2"]:
            assert time.monotonic() < until
        with open(f"{place}/environ") as file:
            names = {entry.partition("=")[0] for entry in file.read().split("\0")}
        assert names <= {*template.KEPT_VARIABLES, ""}
        assert os.readlink(f"{place}/cwd") == "/"
        assert os.getsid(process.pid) != os.getsid(0)
        send()
        while resource.prlimit(process.pid, resource.RLIMIT_AS) != (sandbox.PROCESS_MEMORY, sandbox.PROCESS_MEMORY):
            assert time.monotonic() < until
        with open(f"{place}/maps") as file:
            loaded = file.read()
        assert not [package for package in ("numpy", "torch") if f"/{package}/" in loaded]
        looked.append(process.pid)
        return b"text\n"

    monkeypatch.setenv("GUIDEDVIZ_TOKEN", "secret")
    monkeypatch.setattr(template, "PROCESSOR_SECONDS", 3600)
    monkeypatch.setattr(template, "exchange", look)
    with open(PACKAGE / "errors.py") as file:
        os.set_inheritable(file.fileno(), True)
        with pytest.raises(TemplateStopped):
            render(ENDLESS["loops"], messages=TALK)
    assert len(looked) == 1
    assert not is_running(looked[0])


def test_threads_take_turns():
    texts = {}

    def ask(name):
        for turn in range(10):
            texts[name, turn] = render("{{ messages }}", messages=f"{name} {turn}")

    threads = [Thread(target=ask, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == {(name, turn): f"{name} {turn}" for name in "abcd" for turn in range(10)}


def test_an_interrupted_prompt_ends_its_process(monkeypatch):
    begun = []

    def interrupt(process, request):
        begun.append(process)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(template, "exchange", interrupt)
        with pytest.raises(KeyboardInterrupt):
            render("{{ 'late' }}", messages=TALK)
    assert begun[0].returncode
    the_next_prompt_is_answered()


def is_running(process):
    """Whether a process runs; one that has ended may wait for its parent."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


FALSE = {  # what a process answers that is not ours any more
    "without end": "b'text\\n' + b'x' * (1 << 30)",
    "a text that is too long": "b'text\\n' + b'x' * (3 << 20)",
    "an error that is too long": "b'failed\\n' + b'x' * (1 << 20)",
    "another kind": "b'other\\nx'",
    "no kind": "b'abc'",
    "no UTF-8": "b'\\xff\\xfe\\nx'",
    "nothing": "b''",
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_answer_is_an_error(name, tmp_path, monkeypatch):
    file = tmp_path / "false.py"
    lines = [
        "import sys",
        "sys.stdin.buffer.read()",
        f"sys.stdout.buffer.write({FALSE[name]})",
    ]
    file.write_text("\n".join(lines))
    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "__file__", str(file))
        tracemalloc.start()
        try:
            with pytest.raises(TemplateStopped, match=r"(answer of another form|process that ended).*expected a text"):
                render("{{ 1 }}")
            assert tracemalloc.get_traced_memory()[1] < 12 << 20
        finally:
            tracemalloc.stop()
    the_next_prompt_is_answered()


def test_a_process_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    file = tmp_path / "false.py"
    file.write_text("raise SystemExit(3)")
    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "__file__", str(file))
        with pytest.raises(TemplateStopped, match="a process that ended with status 3, expected a text"):
            render("{{ 1 }}")
    the_next_prompt_is_answered()
