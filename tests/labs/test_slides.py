"""The deck of each lab: 12 to 18 slides, each with one sentence and one picture or question; nothing runs."""

import html
import json
import re

import pytest

import guidedviz.commands.slides as slides
from guidedviz.errors import SettingError
from guidedviz.widgets.deck_page import LETTER, LINE, TEXT_HEIGHT, TEXT_WIDTH, deck_page, text_slide
from guidedviz.widgets.display import RECORDING
from tests.labs.sources import NUMBERED, build

DECKS = [name for name in NUMBERED if any(build.read_slides(build.read_source(name)))]


def read_saved(name):
    return slides.read_deck(name, play=False)


@pytest.mark.parametrize("name", DECKS)
def test_a_deck_has_12_to_18_slides_with_one_short_sentence_each(name):
    deck = read_saved(name)
    assert 12 <= len(deck) <= 18
    for slide in deck:
        assert len(slide.sentence.split()) <= 25, slide.sentence
        assert slide.sentence[-1] in ".?", slide.sentence
        assert not re.search(r"[.?!] [A-Z]", slide.sentence), slide.sentence
        seen = [sign for sign in ("<img", "<table", 'role="status"') if sign in slide.shown]  # the last: a card
        assert seen or slide.kind != "picture", slide.sentence
    assert len({slide.sentence for slide in deck}) == len(deck)
    assert sum(slide.kind == "question" for slide in deck) >= 2


@pytest.mark.parametrize("name", DECKS)
def test_the_slide_of_an_exercise_has_the_number_of_its_heading(name):
    source = build.read_source(name)
    heading = ""
    for (_, text), sentence in zip(build.read_cells(source), build.read_slides(source), strict=True):
        heading = "".join(re.findall(r"^## (Exercise \d) ", text, re.MULTILINE)) or heading
        if sentence.startswith("Exercise"):
            assert sentence.startswith(f"{heading}:"), sentence


@pytest.mark.parametrize("name", DECKS)
def test_a_text_on_a_slide_fits_at_a_size_that_can_be_read(name):
    for slide in read_saved(name):
        if slide.kind == "text":
            size = int(re.search(r"--size:(\d+)", slide.shown)[1])
            columns = TEXT_WIDTH // (LETTER * size)
            text = html.unescape(re.sub("<.*?>", "", slide.shown))
            rows = sum(-(-max(1, len(line)) // columns) for line in text.splitlines())
            assert rows * LINE * size <= TEXT_HEIGHT, slide.sentence


def test_the_sentence_of_a_slide_stands_in_no_notebook_and_counts_no_minutes():
    marked = "# %%\n# slide: One and\n# slide: one is two.\n1 + 1\n"
    assert build.read_slides(marked) == ["One and one is two."]
    plain = marked.replace("# slide: One and\n# slide: one is two.\n", "")
    assert list(build.read_cells(marked)) == list(build.read_cells(plain))
    cells = build.build_notebook("03_fsm", solved=True).cells
    cell = next(cell for cell in cells if "slide" in cell.metadata)
    assert cell.metadata.slide not in cell.source


def test_the_teachers_page_is_in_the_notes_of_the_first_and_the_last_slide():
    first, *between, last = read_saved("03_fsm")
    for part in ("<h3", "Show the drawing of six states", "Fifty minutes", "<table"):
        assert part in first.notes
    assert "A state per position" in last.notes
    asked = next(slide for slide in between if slide.kind == "question")
    assert "Six. <code>R</code>" in asked.notes, "what the question reveals"


@pytest.mark.parametrize(
    ("begins", "there", "absent"), [("By hand", "→ True", "..."), ("Exercise 1", "...", "for source")]
)
def test_a_result_stands_below_its_code_and_an_exercise_is_open(begins, there, absent):
    deck = read_saved("03_fsm")
    slide = next(slide for slide in deck if slide.sentence.startswith(begins))
    assert there in slide.shown
    assert absent not in slide.shown


def test_what_a_notebook_brings_to_a_deck_is_cleaned():
    hostile = '<img alt="x" src="data:image/png;base64,AA" onerror="a()"><script>b()</script><p class="gv-place">c</p>'
    output = {"data": {"text/html": [hostile]}}
    cell = {"cell_type": "code", "source": ["1"], "metadata": {}, "outputs": [output]}
    slide = slides.make_slide("A <b>sentence</b>.", cell, cell, hostile)
    shown = [slide, text_slide("Text.", hostile, hostile)]
    page = deck_page("<i>lab</i>", shown)
    tags = re.findall(r"<[a-z]\w*[^>]*>", page.partition("<main")[2])
    for tag in tags:
        assert not re.match(r"<(script|b|i)\b", tag)
        assert "onerror" not in tag
        assert "gv-place" not in tag
    assert "&lt;script&gt;" in page
    assert "&lt;b&gt;sentence" in page


def test_a_recording_plays_in_the_place_of_its_picture_with_the_nonce_of_the_page():
    recording = {"kind": "film", "shown": {"frames": []}, "step": 3}
    data = {"text/html": "<img alt=still>", RECORDING: recording}
    cell = {"cell_type": "code", "source": ["f"], "metadata": {}, "outputs": [{"data": data}]}
    page = deck_page("lab", [slides.make_slide("It plays.", cell, cell, "")])
    nonce = re.findall(r'<script data-nonce="([^"]+)"', page)[-1]
    assert f'class="gv-place" data-nonce="{nonce}" data-kind="film" data-open="3"' in page
    assert "script-src &#x27;sha256-" in page


def test_a_question_keeps_what_the_slide_before_it_in_its_section_showed():
    deck = read_saved("03_fsm")
    place = next(number for number, slide in enumerate(deck) if slide.before)
    assert deck[place].kind == "question"
    assert deck[place].before == deck[place - 1].shown
    assert not deck[1].before, "a heading stands between"


def test_a_drawing_has_its_patterns_for_itself():
    pattern = '<svg><pattern id="gv-hatch-blue"></pattern><rect fill="url(#gv-hatch-blue)"></rect></svg>'
    slide = slides.Slide("It is hatched.", "question", pattern, pattern, before=pattern)
    page = deck_page("lab", [slide, slide]).partition("<main")[2]
    made = re.findall(r'<pattern id="([^"]+)"', page)
    assert len(set(made)) == len(made) == 6
    assert re.findall(r"url\(#([^)]+)\)", page) == made


def test_a_slide_of_the_homework_says_so():
    deck = read_saved("07_pda")
    at_home = [slide.sentence for slide in deck if slide.at_home]
    assert at_home == ["Exercise 3: find three mistakes in a grammar of lists."], "the section after it is in class"
    assert deck_page("Lab 07", deck).count("Lab 07 · homework") == 1


@pytest.mark.parametrize("lab", ["", "0", "nothing", "<b>"])
def test_a_name_that_is_not_one_lab_is_refused(lab):
    with pytest.raises(SettingError, match="expected the start of one name, such as 03, or all"):
        slides.find_names(lab)


def test_the_command_writes_a_page_that_needs_no_other_file(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(slides.webbrowser, "open", opened.append)
    from guidedviz.__main__ import main

    assert main(["slides", "03", str(tmp_path), "--still"]) == 0
    page = tmp_path / "03_fsm.html"
    assert opened == [page.as_uri()]
    assert not re.search(r'(?:src|href)="(?!data:)[^"#]*\.(?:js|css|png|svg)"', page.read_text(encoding="utf-8"))
    assert "03_fsm.html" in capsys.readouterr().out


@pytest.mark.slow
def test_the_cells_run_so_that_stages_play():
    deck = slides.read_deck("03_fsm", play=True)
    kinds = [slide.recording["kind"] for slide in deck if slide.recording]
    assert kinds == ["film", "stage"]
    assert json.dumps(deck[3].recording["shown"])
