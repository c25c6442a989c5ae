"""README's picture is made from the run that README shows."""

import runpy
from pathlib import Path

import guidedviz as gv

PICTURE = Path(__file__).resolve().parents[1] / "assets" / "picture.py"


def test_the_picture_is_of_the_run_in_the_readme():
    made = runpy.run_path(str(PICTURE))
    text, prompt, seed = made["readme_run"]()
    assert gv.grammar(text).accepts(b'{"piano": {"drawer": "bag"}}')
    assert prompt.endswith("\nNested JSON:\n")
    readme = (PICTURE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"edit=grammar, seed={seed}" in readme
    assert f"before its {made['STEP'] + 1}th token" in " ".join(readme.split())
