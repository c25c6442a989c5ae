"""Each dependency was reviewed: it is in assets/dependencies.csv, and no version with a known advisory is allowed."""

import csv
import json
import tomllib
from datetime import date
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
REVIEWS = {row["package"]: row for row in csv.DictReader((ROOT / "assets/dependencies.csv").open(encoding="utf-8"))}


def declared() -> list[Requirement]:
    """What pyproject.toml requires, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    found = map(Requirement, [*project["dependencies"], *(text for extra in extras for text in extra)])
    return [one for one in found if one.name != "guidedviz"]


def test_what_is_declared_was_reviewed_and_nothing_else_is_listed():
    tools = json.loads((ROOT / "guidedviz/widgets/page/package.json").read_text(encoding="utf-8"))["devDependencies"]
    names = {str(canonicalize_name(one.name)) for one in declared()}
    assert {*REVIEWS} == names | {f"npm:{name}" for name in tools}
    assert {name: REVIEWS[f"npm:{name}"]["reviewed"] for name in tools} == tools


@pytest.mark.parametrize("row", REVIEWS.values(), ids=lambda row: row["package"])
def test_a_review_has_its_version_its_date_and_what_was_found(row):
    """Without a date nobody looked for advisories."""
    assert Version(row["reviewed"]) >= Version(row["safe from"] or "0")
    assert bool(row["date"]) == ("not looked up" not in row["note"] and "was looked up" not in row["note"])
    assert date(2026, 11, 1) <= date.fromisoformat(row["date"] or "2026-11-23")
    assert row["note"]
    assert None not in row, "a note with a comma stands in quotes"


@pytest.mark.parametrize("one", declared(), ids=str)
def test_no_version_with_a_known_advisory_is_allowed(one):
    safe = REVIEWS[canonicalize_name(one.name)]["safe from"]
    lowest = [Version(part.version) for part in one.specifier if part.operator in (">=", "==", "~=")]
    assert lowest, "a lower bound"
    assert max(lowest) >= Version(safe or "0")
