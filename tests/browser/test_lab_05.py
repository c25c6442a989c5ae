"""Lab 05 as a student works through it: a wrong compiler is shown its text, and the right one guides the model."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

COMPILER = """def schema_to_regex(schema):
    if schema.get("type") in LEAVES:
        return LEAVES[schema["type"]]
    if "enum" in schema:
        return "|".join(re.escape(json.dumps(value)) for value in schema["enum"])
    pairs = schema["properties"].items()
    members = [re.escape(json.dumps(key)) + f": ({schema_to_regex(value)})" for key, value in pairs]
    return r"\\{" + ", ".join(members) + r"\\}"
gv.checks.schema_to_regex(schema_to_regex)"""
LOOSE = COMPILER.replace("({schema_to_regex(value)})", "{schema_to_regex(value)}")


def test_a_student_compiles_a_schema_steps_through_the_stage_and_answers(lab_page):
    said = lab_page.answer("gv.checks.schema_to_regex", LOOSE)
    assert "not yet right" in said
    assert "needs parentheses" in said
    assert lab_page.cell_of("gv.checks.schema_to_regex").locator(".jp-OutputArea svg .gv-lit").count()
    lab_page.shot("lab-05-wrong-compiler", lab_page.cell_of("gv.checks.schema_to_regex"))
    assert "not yet" not in lab_page.answer("gv.checks.schema_to_regex", COMPILER)
    assert '"kind": "dog"}' in lab_page.answer("compiled = gv.regex")

    stage = lab_page.stage(0)
    stage.run_to_end()
    assert "".join(stage.tokens).startswith('{"name":')
    stage.press("one step back")
    lab_page.answer_predictions()
