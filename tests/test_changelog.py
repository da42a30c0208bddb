"""The changelog tells of the version that the project says it is, newest first, in the form that it names."""

import re
import tomllib
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^## (\d+)\.(\d+)\.(\d+) - (\S+)$", TEXT, re.MULTILINE)


def test_the_newest_entry_is_of_the_projects_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert ".".join(ENTRIES[0][:3]) == version


def test_entries_go_back_in_version_and_in_time() -> None:
    versions = [tuple(map(int, one[:3])) for one in ENTRIES]
    dates = [date.fromisoformat(one[3]) for one in ENTRIES]
    assert versions == sorted(set(versions), reverse=True)
    assert dates == sorted(dates, reverse=True)


def test_headings_are_versions_and_kinds_of_changes() -> None:
    headings = re.findall(r"^##+ (.*)$", TEXT, re.MULTILINE)
    kinds = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    others = [one for one in headings if one not in kinds and not re.match(r"\d", one)]
    assert others == ["What a version promises"]
    assert sum(bool(re.match(r"\d", one)) for one in headings) == len(ENTRIES) >= 2
