"""Claims about hostile chat templates: each ends soon, takes none of our memory, and the next prompt is answered."""

import os
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import guidedviz as gv
from guidedviz.errors import ChatWarning
from guidedviz.files import PACKAGE
from guidedviz.models import sandbox, template
from guidedviz.models.template import WALL_SECONDS, TemplateStopped, own_renderer, render
from tests.common import regex_guide
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
    "one text": "{{ 'x' * 2000000 }}",
}
STOPPED = {"without end": nest("a")}  # more text, or more time: that depends on the machine
NESTED = {  # deeper than the parser and the interpreter go
    "brackets": "{{ " + "(" * 9_000 + ")" * 9_000 + " }}",
    "lists": "{{ " + "[" * 9_000 + "]" * 9_000 + " }}",
    "signs": "{{ " + "-" * 9_000 + "1 }}",
    "blocks": "{% if 1 %}" * 2_000 + "{% endif %}" * 2_000,
    "macros": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
}
ALL = {"ENDLESS": ENDLESS, "LARGE": LARGE, "DOUBLED": DOUBLED, "WRITTEN": WRITTEN, "STOPPED": STOPPED, "NESTED": NESTED}
SAID = {
    "ENDLESS": "" if sys.platform == "win32" else r"a template that takes more than 0\.2 s of processor time",
    "LARGE": "more memory than its process has, expected at most 256 MB",
    "DOUBLED": "more memory than its process has|a template that takes more than",
    "WRITTEN": "more than 1,048,576 characters, expected at most 1,048,576 characters",
    "STOPPED": "more than 1,048,576 characters|a template that takes more than",
    "NESTED": "saw (RecursionError|SyntaxError|IndentationError|line 1|more memory|a process that ended)",
}
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


@pytest.fixture(scope="module", autouse=True)
def hurried():
    """A process whose templates have a fifth of the time."""
    patch = pytest.MonkeyPatch()
    patch.setattr(template, "PROCESSOR_SECONDS", template.PROCESSOR_SECONDS / 5)
    template.end_renderer()
    yield
    template.end_renderer()
    patch.undo()


def own_process():
    """The process id of the renderer, once it has answered."""
    assert render(CHATML, messages=TALK) == PROMPT
    return own_renderer().process.pid


@contextmanager
def memory_below(most):
    """What is done inside takes less memory of ours."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, few in ALL.items() for name in few])
@pytest.mark.quick(
    "ENDLESS-int catches errors",
    "LARGE-list",
    "DOUBLED-block",
    "WRITTEN-one text",
    "STOPPED-without end",
    "NESTED-macros",
)
def test_a_hostile_template_ends_soon_and_takes_none_of_our_memory(kind, name):
    if kind == "LARGE" and sys.platform != "linux":
        pytest.skip("no other system limits the memory of a process")
    began = time.monotonic()
    with memory_below(4 << 20), pytest.raises(gv.ModelError, match=SAID[kind]) as told:
        render(ALL[kind][name], messages=TALK)
    assert time.monotonic() - began < WALL_SECONDS + 3
    assert told.value.hint
    own_process()


def test_a_long_error_is_cut_before_it_reaches_us():
    with pytest.raises(gv.ModelError) as told:
        render("{{ raise_exception('x' * 1000000) }}", messages=TALK)
    assert told.value.seen == "x" * sandbox.MOST_SAID


def test_the_clock_of_this_process_stops_a_template_where_its_own_clock_does_not(monkeypatch):
    monkeypatch.setattr(template, "PROCESSOR_SECONDS", 3600)
    monkeypatch.setattr(template, "WALL_SECONDS", 0.5)
    template.end_renderer()
    with pytest.raises(TemplateStopped, match=r"saw a template that takes more than 0\.5 s, expected"):
        render(ENDLESS["loops"], messages=TALK)
    monkeypatch.undo()
    own_process()


def test_a_folder_with_a_hostile_template_is_loaded_and_says_why_it_has_no_end_of_turn(tmp_path):
    folder = build_folder(tmp_path / "mine")
    (folder / "chat_template.jinja").write_text(ENDLESS["isspace"])
    began = time.monotonic()
    with pytest.warns(ChatWarning, match="the token that ends an answer is not known.*takes more than"):
        model = gv.load_model(str(folder), "numpy")
    assert time.monotonic() - began < WALL_SECONDS + 10
    assert model.vocabulary.eos == {0, 4095}
    run = gv.record(model, "Ada", regex_guide(model, "a|b"))
    assert run.text in ("a", "b")
    with pytest.raises(TemplateStopped, match="takes more than"):
        model.chat("Ada")


# The process.


def test_what_a_template_has_made_before_an_error_takes_no_memory_of_the_next_one(monkeypatch):
    monkeypatch.setattr(template, "PROCESSOR_SECONDS", 5)  # a slow machine takes long for 150 MB
    template.end_renderer()
    first = own_process()
    half = "{% set x = 'x' * (messages | length * 150000000) %}"
    for _ in range(3):
        with pytest.raises(gv.ModelError, match="saw no"):
            render(half + "{{ raise_exception('no') }}", messages=TALK)
        assert render(half + "{{ x | length }}", messages=TALK) == "150000000"
    assert own_process() == first
    template.end_renderer()


def test_the_process_is_kept_until_a_template_is_stopped():
    first = own_process()
    assert own_process() == first
    with pytest.raises(TemplateStopped):
        render(ENDLESS["loops"], messages=TALK)
    assert own_process() != first


@ON_LINUX
def test_the_process_has_nothing_of_ours(monkeypatch):
    import resource

    monkeypatch.setenv("GUIDEDVIZ_TOKEN", "secret")
    template.end_renderer()
    with open(PACKAGE / "errors.py") as file:
        os.set_inheritable(file.fileno(), True)
        process = own_process()
    place = Path(f"/proc/{process}")
    found = sorted(os.listdir(place / "fd"))
    assert found == ["0", "1", "2"]
    names = {entry.partition("=")[0] for entry in (place / "environ").read_text().split("\0")}
    assert names <= {*template.KEPT_VARIABLES, ""}
    loaded = (place / "maps").read_text()
    assert not re.search("/(numpy|torch)/", loaded)
    assert os.readlink(place / "cwd") == "/"
    assert os.getsid(process) != os.getsid(0)
    assert resource.prlimit(process, resource.RLIMIT_AS) == (sandbox.PROCESS_MEMORY, sandbox.PROCESS_MEMORY)


def test_threads_take_turns():
    said = [f"text {number}" for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(lambda text: render("{{ messages }}", messages=text), said)] == said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it forks")
def test_a_fork_has_a_process_of_its_own_and_leaves_ours_alone():
    first = own_process()
    with own_renderer().lock:  # as if another thread were asking
        child = os.fork()
        if not child:
            try:
                signal.alarm(20)  # for a child that waits for its parent's lock
                second = own_process()
                template.end_renderer()
                os._exit(0 if second != first else 1)
            finally:
                os._exit(2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert own_process() == first


def test_an_interrupted_prompt_leaves_no_answer_for_the_next_one(monkeypatch):
    first = own_process()

    def interrupt(process, request, seconds):
        sandbox.write_frame(process.stdin, request)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(template, "exchange", interrupt)
        with pytest.raises(KeyboardInterrupt):
            render("{{ 'late' }}", messages=TALK)
    assert own_process() != first


def is_running(process):
    """Whether a process runs; one that has ended may wait for its parent."""
    try:
        status = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


FORK = "if not os.fork(): os.close(1); import time; time.sleep(40); os._exit(0)"  # it keeps a copy of the pipe


@ON_LINUX
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)", "os._exit(0)", FORK], ids=range(4))
@pytest.mark.quick("1", "3")
def test_the_process_ends_with_the_kernel(end):
    code = f"""
import os
from guidedviz.models.template import own_renderer, render
render('{{{{ 1 }}}}')
print(own_renderer().process.pid, flush=True)
{end}"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=PACKAGE.parent, check=False)
    process = int(done.stdout)
    until = time.monotonic() + 20
    while is_running(process) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_running(process)


FALSE = {  # what a process answers that is not ours any more
    "4 GB": "b'\\xff\\xff\\xff\\xff' + b'x' * (1 << 20)",
    "a text that is too long": "frame(b'text\\n' + b'x' * (3 << 20))",
    "an error that is too long": "frame(b'failed\\n' + b'x' * (1 << 20))",
    "another kind": "frame(b'other\\nx')",
    "no kind": "frame(b'abc')",
    "no UTF-8": "frame(b'\\xff\\xfe\\nx')",
    "a part": "frame(b'text\\nabc')[:-1]",
    "nothing": "b''",
}


@pytest.fixture
def replaced(tmp_path, monkeypatch):
    """Starts another program in the place of ours, and ends it."""

    def replace(*lines):
        (tmp_path / "false.py").write_text("\n".join(lines))
        monkeypatch.setattr(sandbox, "__file__", str(tmp_path / "false.py"))
        template.end_renderer()

    yield replace
    monkeypatch.undo()
    own_process()


@pytest.mark.parametrize("name", FALSE)
@pytest.mark.quick("4 GB", "a text that is too long", "no UTF-8", "nothing")
def test_a_false_answer_is_an_error(name, replaced):
    replaced(
        "import sys",
        "frame = lambda body: len(body).to_bytes(4, 'big') + body",
        "write = sys.stdout.buffer.write",
        "write(frame(b'ready')); sys.stdout.flush(); sys.stdin.buffer.read(4)",
        f"write({FALSE[name]})",
    )
    with (
        memory_below(12 << 20),
        pytest.raises(TemplateStopped, match=r"(answer of another form|process that ended).*expected a text"),
    ):
        render("{{ 1 }}")


def test_a_process_that_does_not_start_is_an_error(replaced):
    replaced("raise SystemExit")
    with pytest.raises(TemplateStopped, match=r"ends before it is ready, expected a second process of Python"):
        render("{{ 1 }}")
