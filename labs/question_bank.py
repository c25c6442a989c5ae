"""The question bank: read from `labs/src/questions`, written as a page for the teacher and for learning platforms.

    python labs/question_bank.py           # writes questions.md, questions.gift and the sheets to labs/teaching
    python labs/question_bank.py --check   # says whether all are as the sources give them

A sheet is an exam, or the questions before and after the course, without the answers: a student gets it.

GIFT is a plain text that a teacher can read and change. Moodle imports it, and other platforms by a converter. Its
writer is twenty lines; a package of QTI would be a dependency, and its files are read by machines only.
"""

from __future__ import annotations

import argparse
import re
import string
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any
from zlib import crc32

LABS = Path(__file__).resolve().parent
SOURCES = LABS / "src" / "questions"
TEACHING = LABS / "teaching"
PAGE = TEACHING / "questions.md"
GIFT = TEACHING / "questions.gift"
INVENTORY = "inventory"
POINTS = 2  # of a question in an exam, and its minutes
ORDERS = list(permutations(range(4)))
SEED = 21  # with it the right letters are spread evenly over both exams, too


@dataclass(frozen=True)
class Choice:
    """One choice, and why it is right or why it tempts."""

    text: str
    why: str
    right: bool


@dataclass(frozen=True)
class Question:
    """A question with its choices in the order in which they are shown."""

    name: str
    lab: str
    place: str  # the section of the lab, or the concept of the inventory
    ask: str
    choices: tuple[Choice, ...]

    @property
    def right(self) -> Choice:
        """The right choice."""
        return next(choice for choice in self.choices if choice.right)

    @property
    def letter(self) -> str:
        """The letter of the right choice."""
        return string.ascii_uppercase[self.choices.index(self.right)]


def deal_place(name: str, number: int) -> int:
    """The place of the right choice of a question: four in a row have four places, in an order that seems random.

    >>> [deal_place("03", number) for number in range(4)]
    [0, 1, 3, 2]
    """
    group, within = divmod(number, 4)
    return ORDERS[crc32(f"{name} {group} {SEED}".encode()) % len(ORDERS)][within]


def order_choices(entry: Mapping[str, Any], place: int) -> tuple[Choice, ...]:
    """The right choice at its place, or at the end, among the wrong ones by their checksums.

    In the order in which they are written the right one of four numbers would be seen: the others rise.

    >>> entry = {"right": "4", "why": "", "wrong": [["2", ""], ["3", ""], ["6", ""]]}
    >>> [choice.text for choice in order_choices(entry, 1)]
    ['2', '4', '6', '3']
    """
    wrong = [Choice(text, why, False) for text, why in entry["wrong"]]
    choices = sorted(wrong, key=lambda choice: crc32(choice.text.encode()))
    choices.insert(place, Choice(entry["right"], entry["why"], True))
    return tuple(choices)


def read_source(name: str) -> dict[str, Any]:
    """A file of questions."""
    return tomllib.loads((SOURCES / f"{name}.toml").read_text(encoding="utf-8"))


def read_questions(name: str) -> list[Question]:
    """The questions of a lab, such as "03", or of the inventory."""
    questions = []
    for number, entry in enumerate(read_source(name)["question"]):
        lab = entry.get("lab", name)
        place = entry.get("concept")
        if place is None:
            place = name_place(lab, entry["section"])
        choices = order_choices(entry, deal_place(name, number))
        questions.append(Question(f"{name}-{number + 1}", lab, place, entry["ask"], choices))
    return questions


def name_place(lab: str, section: int | str) -> str:
    """A section of a lab with its heading, which ends with `home` if it is homework.

    >>> name_place("02", 3)
    'lab 02, section 3: The loop'
    >>> name_place("08", "Exercise 2")
    'lab 08, Exercise 2 · Scan, and the parser · home'
    """
    [source] = (LABS / "src").glob(f"{lab}_*.py")
    headings = re.findall(r"^# ##+ (.+)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    numbered = isinstance(section, int)
    start = f"{section} · " if numbered else section
    heading = next((one for one in headings if one.startswith(start)), None)
    if heading is None:
        raise ValueError(f"lab {lab} has no heading that begins with {start!r}, only {headings}")
    if numbered:
        return f"lab {lab}, section {section}: {heading.removeprefix(start)}"
    return f"lab {lab}, {re.sub(' ★+', '', heading)}"


def lab_numbers() -> list[str]:
    """The labs that have questions."""
    return sorted(path.stem for path in SOURCES.glob("[0-9]*.toml"))


def read_exams() -> list[dict[str, Any]]:
    """The exams: the questions of each by their numbers in the bank are replaced by the questions."""
    bank = {question.name: question for lab in lab_numbers() for question in read_questions(lab)}
    exams = read_source("exams")["exam"]
    return [exam | {"choice": [bank[name] for name in exam["choice"]]} for exam in exams]


# -- the page for the teacher -----------------------------------------------------------------------------------------


def write_question(question: Question) -> str:
    """A question with all its choices, the right one marked."""
    lines = [f"**{question.name}** {question.ask}", ""]
    for letter, choice in zip(string.ascii_uppercase, question.choices, strict=False):
        mark = "**Right.** " if choice.right else ""
        lines.append(f"* {letter} · {choice.text} · {mark}{choice.why}")
    return "\n".join([*lines, "", refer(question)])


def refer(question: Question) -> str:
    """The place that clears a question, as a sentence."""
    end = "" if question.place.endswith("?") else "."
    return f"See {question.place}{end}"


def write_lab(lab: str) -> str:
    """The questions of a lab under its title."""
    [source] = (LABS / "src").glob(f"{lab}_*.py")
    title = re.search(r"^# # (.*)$", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert title, lab
    return "\n\n".join([f"## {title[1]}", *map(write_question, read_questions(lab))])


def write_exam(number: int, exam: dict[str, Any]) -> str:
    """An exam: the right letters of its questions, whose names in the bank follow, and its written tasks."""
    questions = exam["choice"]
    letters = " · ".join(f"{place} **{one.letter}** {one.name}" for place, one in enumerate(questions, 1))
    parts = [
        f"### {exam['title']}",
        f"The sheet is [exam-{number}.md](exam-{number}.md). It has {len(questions)} questions of the bank, {POINTS} "
        f"points and {POINTS} minutes each. The right letters, with the names of the questions in the bank: {letters}.",
    ]
    for task in exam["written"]:
        parts.append(f"**In writing, {task['points']} points, {task['minutes']} minutes.** {task['ask']}")
        parts.append(f"*Answer.* {task['answer']} *Points:* {task['marks']}.")
    return "\n\n".join(parts)


def write_inventory() -> str:
    """The questions before and after the course, and the points of a student who only guesses."""
    questions = read_questions(INVENTORY)
    guessed = sum(1 / len(question.choices) for question in questions)
    said = f"A student who only guesses has {guessed:.1f} of {len(questions)} right on average."
    rows = ["| question | concept | lab | right |", "| --- | --- | --- | --- |"]
    rows.extend(f"| {one.name} | {one.place} | {one.lab} | {one.letter} |" for one in questions)
    shown = [write_question(question).rpartition("\n\nSee ")[0] for question in questions]
    return "\n\n".join([said, "\n".join(rows), *shown])


def write_page() -> str:
    """The page of the bank."""
    frame = (SOURCES / "page.md").read_text(encoding="utf-8")
    questions = "\n\n".join(map(write_lab, lab_numbers()))
    exams = "\n\n".join(write_exam(number, exam) for number, exam in enumerate(read_exams(), 1))
    page = frame.replace("{questions}", questions).replace("{exams}", exams)
    return page.replace("{inventory}", write_inventory())


# -- the sheets for students ------------------------------------------------------------------------------------------


def write_asked(number: int, question: Question) -> str:
    """A question with its choices and without its answer."""
    choices = zip(string.ascii_uppercase, question.choices, strict=False)
    return "\n".join([f"**{number}** {question.ask}", "", *(f"* {letter} · {one.text}" for letter, one in choices)])


def write_exam_sheet(exam: dict[str, Any]) -> str:
    """The sheet of an exam."""
    questions = exam["choice"]
    tasks = exam["written"]
    points = POINTS * len(questions) + sum(task["points"] for task in tasks)
    asked = [write_asked(number, question) for number, question in enumerate(questions, 1)]
    for number, task in enumerate(tasks, len(questions) + 1):
        asked.append(f"**{number}** *In writing, {task['points']} points.* {task['ask']}")
    head = f"An hour, {points} points. In questions 1 to {len(questions)} one choice is right: {POINTS} points each."
    return "\n\n".join([f"# {exam['title']}", "Name:", head, *asked]) + "\n"


def write_inventory_sheet() -> str:
    """The sheet of the questions before and after the course."""
    asked = [write_asked(number, question) for number, question in enumerate(read_questions(INVENTORY), 1)]
    head = f"{len(asked)} questions, 20 minutes. One choice is right. If you do not know it, choose what seems likely."
    return "\n\n".join(["# How a program controls what a model writes", "Name:", head, *asked]) + "\n"


# -- the form for learning platforms ----------------------------------------------------------------------------------


def escape(text: str) -> str:
    r"""A text in which GIFT reads no sign of its own.

    >>> print(escape(r"{a: \d} = ~#"))
    \{a\: \\d\} \= \~\#
    """
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


def write_gift_question(question: Question, feedback: bool) -> str:
    """A question in GIFT; a test that is given twice has no feedback."""
    lines = [f"::{question.name}::[markdown]{escape(question.ask)} {{"]
    for choice in question.choices:
        sign = "=" if choice.right else "~"
        said = f"#{escape(choice.why)}" if feedback else ""
        lines.append(f"{sign}{escape(choice.text)}{said}")
    if feedback:
        lines.append(f"####{escape(refer(question))}")
    return "\n".join([*lines, "}"])


def write_gift_task(name: str, task: Mapping[str, Any]) -> str:
    """A written task in GIFT, where empty braces are an essay."""
    answer = escape(f"{task['answer']} Points: {task['marks']}.")
    return f"::{name}::[markdown]{escape(task['ask'])} {{\n####{answer}\n}}"


def read_categories() -> Iterator[tuple[str, list[str]]]:
    """The categories with their questions in GIFT: the exams, the other questions of each lab, and the inventory."""
    examined: set[str] = set()
    for number, exam in enumerate(read_exams(), 1):
        examined.update(one.name for one in exam["choice"])
        asked = [write_gift_question(one, feedback=True) for one in exam["choice"]]
        tasks = enumerate(exam["written"], 1)
        written = [write_gift_task(f"exam {number}, in writing {place}", task) for place, task in tasks]
        yield f"exam {number}", asked + written
    for lab in lab_numbers():
        others = [one for one in read_questions(lab) if one.name not in examined]
        yield f"lab {lab}", [write_gift_question(one, feedback=True) for one in others]
    yield "before and after the course", [write_gift_question(one, feedback=False) for one in read_questions(INVENTORY)]


def write_gift() -> str:
    """All questions; each is in one category."""
    parts = ["// written by labs/question_bank.py: change the sources, not this file"]
    for category, questions in read_categories():
        parts.append(f"$CATEGORY: guidedviz/{category}")
        parts.extend(questions)
    return "\n\n".join(parts) + "\n"


def write_files() -> dict[Path, str]:
    """All that is written, by its place."""
    sheets = {f"exam-{number}.md": write_exam_sheet(exam) for number, exam in enumerate(read_exams(), 1)}
    sheets["before-and-after.md"] = write_inventory_sheet()
    files = {PAGE: write_page(), GIFT: write_gift()}
    return files | {TEACHING / name: text for name, text in sheets.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is not as it should be")
    check = parser.parse_args().check
    for path, text in write_files().items():
        same = path.exists() and path.read_text(encoding="utf-8") == text
        if check and not same:
            sys.exit(f"{path.name} is stale: run python labs/question_bank.py")
        if not same:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
