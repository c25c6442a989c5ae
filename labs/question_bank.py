"""The question bank: read from `labs/src/questions`, written as a page for the teacher and for learning platforms.

    python labs/question_bank.py           # writes labs/teaching/questions.md and questions.gift
    python labs/question_bank.py --check   # says whether both are as the sources give them

GIFT is a plain text that a teacher can read and change. Moodle imports it, and other platforms by a converter. Its
writer is twenty lines; a package of QTI would be a dependency, and its files are read by machines only.
"""

from __future__ import annotations

import argparse
import re
import string
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

LABS = Path(__file__).resolve().parent
SOURCES = LABS / "src" / "questions"
PAGE = LABS / "teaching" / "questions.md"
GIFT = LABS / "teaching" / "questions.gift"
INVENTORY = "inventory"
POINTS = 2  # of a question in an exam, and its minutes


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


def order_choices(entry: dict[str, Any]) -> tuple[Choice, ...]:
    """The wrong choices as they are written, and the right one at a place that follows from the question.

    >>> entry = {"ask": "Why?", "right": "so", "why": "", "wrong": [["no", ""], ["never", ""]]}
    >>> [choice.text for choice in order_choices(entry)]
    ['no', 'never', 'so']
    """
    choices = [Choice(text, why, False) for text, why in entry["wrong"]]
    place = crc32(entry["ask"].encode()) % (len(choices) + 1)
    choices.insert(place, Choice(entry["right"], entry["why"], True))
    return tuple(choices)


def read_source(name: str) -> dict[str, Any]:
    """A file of questions."""
    return tomllib.loads((SOURCES / f"{name}.toml").read_text(encoding="utf-8"))


def read_questions(name: str) -> list[Question]:
    """The questions of a lab, such as "03", or of the inventory."""
    questions = []
    for number, entry in enumerate(read_source(name)["question"], 1):
        lab = entry.get("lab", name)
        place = entry.get("concept")
        if place is None:
            place = name_place(lab, entry["section"])
        questions.append(Question(f"{name}-{number}", lab, place, entry["ask"], order_choices(entry)))
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


def write_exam(exam: dict[str, Any]) -> str:
    """An exam: the names of its questions with the right letters, and its written tasks."""
    bank = {question.name: question for lab in lab_numbers() for question in read_questions(lab)}
    letters = " · ".join(f"{name} {bank[name].letter}" for name in exam["choice"])
    count = len(exam["choice"])
    parts = [
        f"### {exam['title']}",
        f"{count} questions of the bank, {POINTS} points and {POINTS} minutes each, with the right letters: {letters}.",
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
    exams = "\n\n".join(map(write_exam, read_source("exams")["exam"]))
    page = frame.replace("{questions}", questions).replace("{exams}", exams)
    return page.replace("{inventory}", write_inventory())


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


def write_gift() -> str:
    """All questions: a category per lab, and one for the inventory."""
    parts = ["// written by labs/question_bank.py: change the sources, not this file"]
    for name in [*lab_numbers(), INVENTORY]:
        title = "before and after the course" if name == INVENTORY else f"lab {name}"
        parts.append(f"$CATEGORY: guidedviz/{title}")
        feedback = name != INVENTORY
        parts.extend(write_gift_question(question, feedback) for question in read_questions(name))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, and fail if a file is not as it should be")
    check = parser.parse_args().check
    for path, text in ((PAGE, write_page()), (GIFT, write_gift())):
        same = path.exists() and path.read_text(encoding="utf-8") == text
        if check and not same:
            sys.exit(f"{path.name} is stale: run python labs/question_bank.py")
        if not same:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
