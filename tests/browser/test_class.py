"""The teacher's page in Chromium: names and answers are text, it works by keys, and axe-core finds no fault."""

import json

import pytest

import guidedviz as gv
from guidedviz.models import reports
from guidedviz.models.remote import RemoteModel
from tests.browser.access import CONTRAST, audit
from tests.common import regex_guide
from tests.host.running import TOKEN, hosting

pytestmark = pytest.mark.browser
ADA = "a-token-of-a-student"
HOSTILE = "<img src=x onerror=document.title='hacked'>"
SHORT = "<svg/onload=document.title='x'>"  # a nickname has at most 32 characters


def tell(host, nickname, place, state, choices=None, answer=None, lab="03_fsm", token=ADA, secret=""):
    """A student's report."""
    said = {"nickname": nickname, "lab": lab, "place": place, "state": state, "choices": choices, "answer": answer}
    host.wire(token, patience=0, secret=secret).ask("POST", "/v1/class", json.dumps(said).encode())


def fill(host):
    """A class: hostile names, places, questions and answers beside ordinary ones."""
    RemoteModel(host.wire("a-token-of-mallory")).logits([1])
    choices = [HOSTILE, "the DFA", "the stack"]
    for nickname, answer in (("Ada", "the DFA"), ("Bob", "the DFA"), ("Cleo", "the stack"), (SHORT, HOSTILE)):
        tell(host, nickname, f"Which counts the braces of `{{}}`? {HOSTILE}", "answered", choices, answer)
    for number, nickname in enumerate(("Dora", "Emil")):
        tell(host, nickname, "How many states?", "answered", [], 3 + number, lab="04_regex_to_machine")
    tell(host, "Fay", "check advance", "wrong")
    project = {"lab": "project", "secret": "s" * 24}
    tell(host, HOSTILE[:32], "check trie", "right", **project)
    tell(host, HOSTILE[:32], "race, warm mask", "answered", answer=3.5, **project)
    tell(host, "Gus", f"check {HOSTILE}", "right", lab=HOSTILE[:48])


@pytest.fixture
def room(bard, monkeypatch):
    """A host with a class; its model has a hostile name."""
    tokens = {HOSTILE: "a-token-of-mallory", "": ADA, "teacher": TOKEN}
    with hosting(bard, tokens) as host:
        host.service.engine.card["name"] = HOSTILE
        fill(host)
        yield host


@pytest.fixture
def page(browser):
    """A page on which no script fails, and the policy of the host forbids nothing that it does."""
    found = browser.new_page()
    said = []
    found.set_viewport_size({"width": 1000, "height": 1100})
    found.on("pageerror", lambda error: said.append(str(error)))
    found.on("console", lambda line: "Security Policy" in line.text and said.append(line.text))
    found.set_default_timeout(10_000)
    yield found
    assert (found.title(), said) == ("The class", [])
    found.close()


def enter(page, host):
    """Open the page and show the class, by keys only."""
    page.goto(f"{host.address}/class")
    page.get_by_label("Token of the teacher").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type(TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_selector("#standing tr")


def check(page):
    """No fault in either theme, and every text can be read."""

    def set_theme(name):
        page.emulate_media(color_scheme=name.lower(), reduced_motion="reduce")
        assert page.locator("body").evaluate(CONTRAST) == {}

    assert audit(page, page.locator("html"), set_theme) == {}


BARS = "bars => bars.map(bar => [bar, document.body].map(one => getComputedStyle(one).backgroundColor))"


SHOWN = {
    "#question": [f"Which counts the braces of {{}}? {HOSTILE}"],
    "#question code": ["{}"],
    "#choice option:checked": ["the one that most students answered last"],
    "#bars th": [HOSTILE, "the DFA", "the stack"],
    "#bars .number": ["1", "2", "1"],
    "#ratios td": [HOSTILE[:32], "", "", "3.5×"],
}


def test_the_class_page_shows_everything_as_text_and_has_no_fault(room, page):
    enter(page, room)
    page.get_by_label("show how fast the engines are").check()
    shown = {name: page.locator(name).all_inner_texts() for name in SHOWN}
    assert shown == SHOWN
    assert page.locator("#students td").first.inner_text() == "student 1", "a class with one token has numbers"
    assert HOSTILE in page.locator("#facts").inner_text()
    assert SHORT in page.locator("#standing td:first-child").all_inner_texts()
    assert page.locator("#projects td").all_inner_texts()[:2] == [HOSTILE[:32], "1 of 6"]
    assert page.locator("main img, main svg").count() == 0
    check(page)
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    bars = page.locator(".bar div").evaluate_all(BARS)
    assert bars
    assert all(bar != ground for bar, ground in bars), "the bars are seen in forced colours"
    moving = "[...document.querySelectorAll('*')].filter((n) => getComputedStyle(n).transitionDuration !== '0s').length"
    assert page.evaluate(moving) == 0


FONTS = """() => [...document.querySelectorAll("main *")].filter((node) => node.checkVisibility())
  .map((node) => parseFloat(getComputedStyle(node).fontSize))"""


@pytest.mark.slow
def test_a_class_of_nine_fits_a_phone_and_a_laptop_without_scrolling_sideways(room, page):
    tell(room, "W" * 32, "Which " + "x" * 290, "open", lab="14_in_production_" + "y" * 31)
    enter(page, room)
    assert page.locator("#standing tr").count() == 10, "nine ordinary names and the longest one"
    for width, height in ((390, 844), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert min(page.evaluate(FONTS)) >= 12
        check(page)


def test_after_a_restart_the_page_says_so_and_the_students_are_there_again(bard, page, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(reports, "_joined", None)
    tokens = {"": ADA, "teacher": TOKEN}
    with hosting(bard, tokens) as host:
        model = gv.load_model(host.address, token=ADA, nickname="Ada")
        reports.report("check advance", "right")
        page.wait_for_timeout(100)
        enter(page, host)
        assert page.locator("#restarted").inner_text() == ""
    with hosting(bard, tokens, port=host.port):
        page.get_by_text("The host restarted").wait_for()
        page.wait_for_selector("#standing-none:not([hidden])")
        model.logits([1])
        page.wait_for_selector("#standing tr")
        assert page.locator("#standing td").all_inner_texts()[:4] == ["Ada", "", "check advance", "✓ right"]
        assert "The host restarted" in page.locator("#restarted").inner_text(), "the line stays"
        check(page)


def test_a_teacher_works_with_keys_only(room, page):
    enter(page, room)
    held = "[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]"
    for label, keys in (("updates", ["Space"]), ("choice", ["h", "ArrowDown", "ArrowDown"]), ("forget", ["Enter"])):
        for _ in range(4):
            page.keyboard.press("Tab")
            if page.evaluate(held)[0] == label:
                break
        assert page.evaluate(held) == [label, "solid"]
        for key in keys:  # the name of a question begins with an h
            page.keyboard.press(key)
        if label == "choice":
            assert page.locator("#choice").input_value(), "a question is chosen"
            assert page.locator("#question").inner_text()
    assert not page.locator("#updates").is_checked()
    page.wait_for_selector("#standing-none:not([hidden])")
    assert "Forgotten" in page.locator("#said").inner_text()


ATTACK = """async (host) => {
  const said = {};
  const report = '{"nickname": "Mallory", "lab": "", "place": "x", "state": "open"}';
  const run = '{"run": "a", "head": {}, "from": 0, "add": []}';
  const changes = { "v1/class/forget": "{}", "v1/class": report, "v1/run": run };
  for (const [path, text] of Object.entries(changes)) {
    for (const body of [text, new Blob([text]), new URLSearchParams({ [text]: "" })]) {
      await fetch(`${host}/${path}`, { method: "POST", mode: "no-cors", body });
    }
    const type = { "Content-Type": "application/json" };
    said[path] = await fetch(`${host}/${path}`, { method: "POST", body: text, headers: type }).catch(() => "refused");
  }
  said.read = await fetch(`${host}/v1/class`).catch(() => "refused");
  return Object.values(said);
}"""


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
@pytest.mark.quick("localhost")
def test_another_web_page_reaches_nothing_of_a_host_without_tokens(bard, browser, name):
    with hosting(bard) as host, hosting(bard) as other:  # a page of another port, as a lab's server is
        tell(host, "Ada", "check advance", "right", token="")
        page = browser.new_page()
        page.goto(f"http://{name}:{other.port}/v1/health")
        assert page.evaluate(ATTACK, host.address) == ["refused"] * 4
        page.close()
        wire = host.wire("")
        said = json.loads(wire.ask("GET", "/v1/class"))
        assert ([one["nickname"] for one in said["standing"]], said["run"]) == (["Ada"], None)


def test_a_student_follows_a_stage_and_goes_on_alone_with_a_key(bard, bare):
    with hosting(bard) as host:
        model = RemoteModel(host.wire())
        teacher = gv.stage(model, "To be", regex_guide(model, "[a-z ]{9,40}"), steps=3, share=True)
        student = bare.show_stage(gv.stage(model, follow=True))
        line = student.root.locator(".gv-lesson")
        assert line.locator("span").first.inner_text() == "You follow the teacher's run."
        student.wait(3)
        assert audit(bare.page, student.root, bare.theme) == {}
        button = line.get_by_role("button", name="go on alone from here")
        button.focus()
        bare.page.keyboard.press("Enter")
        line.wait_for(state="hidden")
        assert bare.page.evaluate("document.title") == "guidedviz"
        bare.page.keyboard.press("ArrowRight")
        student.wait(4)
        shown = bare.show_stage(teacher)
        assert "The class sees this run" in shown.root.locator(".gv-lesson").inner_text()
        assert audit(bare.page, shown.root, bare.theme) == {}
