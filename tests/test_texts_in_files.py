"""A text may be the path of its file, and a file needs a folder that is there."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pytest
from typing_extensions import TypedDict  # before Python 3.12 Pydantic takes no other

import guidedviz as gv
from guidedviz.errors import GuidedVizError
from tests.common import assert_reads

TEXTS = {
    "regex": (gv.regex, "[0-9]+", b"42"),
    "grammar": (gv.grammar, 'root ::= "a" root | "b"\n', b"aab"),
    "lark": (gv.lark, 'start: "a" "b"?\n', b"ab"),
    "earley": (gv.earley, 'root ::= root "+" root | "1"\n', b"1+1"),
    "json_schema": (gv.json_schema, '{"type": "integer"}\n', b"-3"),
    "structural_tag": (gv.structural_tag, '{"type": "const_string", "value": "é"}', "é".encode()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_machine_is_read_from_the_path_of_a_file(name, tmp_path):
    make, text, accepted = TEXTS[name]
    file = tmp_path / "constraint.txt"
    file.write_text(text, encoding="utf-8")
    assert make(file).accepts(accepted)
    assert repr(make(file)) == repr(make(text))


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_line_end_of_a_file_is_not_part_of_a_regex(tmp_path, ending):
    file = tmp_path / "r.txt"
    file.write_bytes(f"[0-9]+{ending}".encode())
    assert gv.regex(file) == gv.regex("[0-9]+")


def test_prompts_texts_and_the_box_of_a_stage_are_read_from_files(clerk, tmp_path):
    prompt, pattern, answer = (tmp_path / name for name in ("prompt.txt", "regex.txt", "answer.txt"))
    prompt.write_text("Ada is 36.\nYes or no:\n")
    pattern.write_text("yes|no")
    answer.write_text("maybe")
    guide = gv.guide(gv.regex(pattern), clerk.vocabulary)
    run = gv.record(clerk, prompt, guide, temperature=0)
    assert run.prompt == prompt.read_text()
    assert next(gv.decode(clerk, prompt, guide, temperature=0)).token == run.steps[0].token
    assert gv.inspect_text(clerk, prompt, answer, guide).refusal.byte == 0
    stage = gv.stage(clerk, prompt, edit=pattern, steps=9)
    assert stage.head.prompt == prompt.read_text()
    assert stage.text in ("yes", "no")


@pytest.mark.parametrize("make", [make for make, *_ in TEXTS.values()])
def test_a_file_that_cannot_be_read_is_an_error_of_ours(make, tmp_path):
    (tmp_path / "latin").write_bytes(b"\xe9")
    for file, said in (("nothing", "No such file"), ("latin", "utf-8"), (".", "not a regular file")):
        with pytest.raises(GuidedVizError, match=f"{said}.*expected a file with a text in UTF-8"):
            make(tmp_path / file)


def test_a_text_is_never_taken_for_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("abc").write_text("[0-9]+")
    assert gv.regex("abc").accepts(b"abc")


@pytest.mark.parametrize("name", ["s.json", "schemas/person.json", r"C:\a b\person.jsonc"])
def test_the_name_of_a_schema_says_that_it_looks_like_one(name):
    with pytest.raises(gv.PatternError, match=r"looks like the name of a file, expected JSON; try: .*pathlib\.Path"):
        gv.json_schema(name)


@pytest.mark.parametrize("text", ["{", "nothing"])
def test_other_broken_json_does_not(text):
    with pytest.raises(gv.PatternError) as found:
        gv.json_schema(text)
    assert "file" not in str(found.value)


# --- types ---


class Point(TypedDict):
    x: int
    y: int


@dataclass
class Item:
    name: str
    size: Literal["S", "L"] = "S"


def test_a_schema_is_what_a_type_adapter_takes():
    from pydantic import BaseModel, Field, TypeAdapter

    class Person(BaseModel):
        age: int

    for kind, text in (
        (list[Person], '[{"age": 3}, {"age": 4}]'),
        (Item, '{"name": "hat", "size": "L"}'),
        (Point, '{"x": 1, "y": 2}'),
        (Annotated[int, Field(gt=0)], "3"),
        (int | None, "null"),
        (dict[str, list[int]], '{"a": [1]}'),
        (TypeAdapter(list[Item]), '[{"name": "a"}]'),
        (Literal["a", "b"], '"b"'),
    ):
        assert_reads(gv.json_schema(kind), [text], ['"none of them"'])
    assert not gv.json_schema(Annotated[int, Field(gt=0)]).accepts(b"0")


def test_a_type_without_json_is_refused_in_four_parts():
    class Opaque: ...

    for kind in (Opaque, list[Opaque]):
        with pytest.raises(gv.PatternError, match=r"schema.*expected a type that Pydantic knows"):
            gv.json_schema(kind)
    with pytest.raises(gv.PatternError, match="schema"):
        gv.json_schema(lambda: 3)


def test_without_pydantic_a_type_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pydantic", None)
    assert gv.json_schema({"type": "integer"}).accepts(b"1")
    with pytest.raises(gv.SettingError, match=r"gv\.json_schema.*pydantic.*try: pip install"):
        gv.json_schema(list[int])


# --- where files are written ---


@pytest.mark.parametrize("name", ["run.html", "run.json", "x.svg"])
def test_a_folder_that_is_not_there_is_an_error_in_four_parts(clerk, tmp_path, name):
    trace = gv.record(clerk, "Ada", max_tokens=2)
    writers = {"run.html": trace.page, "run.json": trace.save, "x.svg": gv.draw_distribution(trace.steps[0]).save}
    with pytest.raises(gv.SettingError, match=rf"{name}.*saw no folder '.*expected a folder that is there.*mkdir"):
        writers[name](tmp_path / "no" / "where" / name)
    (tmp_path / name).mkdir()
    with pytest.raises(gv.SettingError, match="saw a folder, expected the path of a file"):
        writers[name](tmp_path / name)
    assert not (tmp_path / "no").exists()
