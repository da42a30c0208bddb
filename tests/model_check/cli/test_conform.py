"""`kcheck conform` and `kcheck vectors`: what they print, with which exit code, and what is beside the format page."""

import errno
import json
import re
import sys
from pathlib import Path

import pytest
from junitparser import JUnitXml

import model_check.conformance
from model_check.cli import conform, vectors
from model_check.conformance.choosing import LEVELS
from model_check.conformance.making.every import every_case
from model_check.conformance.vector import read_vectors
from model_check.verdicts import whole_files
from tests.model_check.cli.conftest import Kcheck
from tests.model_check.conformance.all_vectors import VECTORS
from tests.test_readme_output import is_within

HERE = Path(model_check.conformance.__path__[0])
WRONG = (sys.executable, "-m", "tests.model_check.conformance.wrong_adapters", "permits everything")


@pytest.fixture(autouse=True)
def vectors_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verb reads all vectors whenever it is called, which is tested once."""
    monkeypatch.setattr(conform, "read_vectors", lambda: list(VECTORS))


def test_documents_beside_the_format_are_what_show_prints(kcheck: Kcheck) -> None:
    """If not: `kcheck show requests --json > model_check/conformance/requests.json`, and so for the others."""
    for name in ("requests", "tables", "znodes"):
        beside = json.loads((HERE / f"{name}.json").read_text("utf-8"))
        assert json.loads(kcheck("show", name, "--json").stdout) == beside


@pytest.mark.takes("It makes all vectors of functions and bytes.")
def test_the_vectors_are_as_they_are_made(kcheck: Kcheck) -> None:
    """If not: `kcheck vectors`. Those of driven controllers are made by `making/test_controlled.py`."""
    result = kcheck("vectors", "--check", "--keep-driven")
    assert (result.exit_code, result.stdout) == (0, "the vectors are as they are made\n")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> frozenset[str]:
    """Some groups, which are all that are made."""
    cases = {group: made for group, made in every_case().items() if group in {"transition", "fence"}}
    monkeypatch.setattr(vectors, "every_case", lambda: cases)
    monkeypatch.setattr(vectors, "driven_cases", dict)
    return frozenset(cases)


def test_vectors_that_are_not_as_they_are_made_are_told(kcheck: Kcheck, tmp_path: Path, few: frozenset[str]) -> None:
    assert kcheck("vectors", str(tmp_path), "--keep-driven").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {f"{one}.jsonl" for one in few} | {
        "manifest.json",
        "CHANGELOG.md",
    }
    assert kcheck("vectors", str(tmp_path), "--check", "--keep-driven").exit_code == 0
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    fewer = {name: of for name, of in manifest["files"].items() if name != "fence.jsonl"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest | {"files": fewer}), "utf-8")
    (tmp_path / "fence.jsonl").unlink()
    result = kcheck("vectors", str(tmp_path), "--check", "--keep-driven")
    assert result.exit_code == 1
    assert result.stdout.startswith("the vectors are of version 0.6.0, but kcs-fence-0001 is not in 0.6.0")
    file = tmp_path / "transition.jsonl"
    file.write_text(file.read_text("utf-8").replace("AR", "ar", 1), "utf-8")
    result = kcheck("vectors", str(tmp_path), "--check", "--keep-driven")
    assert result.exit_code == 2  # they are not as their manifest says


def test_where_vectors_cannot_stand_is_told_before_they_are_made(kcheck: Kcheck, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for words in ((file,), (file, "--check"), (tmp_path / "nowhere", "--check")):
        result = kcheck("vectors", *map(str, words))
        assert (result.exit_code, result.stderr) == (2, f"kcheck: {words[0]}: is no folder\n")


def test_the_vectors_are_listed(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conform, "read_vectors", read_vectors)
    lines = kcheck("conform", "--list").stdout.splitlines()
    assert [line.split(maxsplit=1)[0] for line in lines] == [one.id for one in VECTORS]
    assert len(kcheck("conform", "--list", "--only", "preferred").stdout.splitlines()) == sum(
        "preferred" in one.tags for one in VECTORS
    )


@pytest.mark.slow
@pytest.mark.takes("It starts an adapter, and asks it all vectors.")
def test_the_reference_conforms(kcheck: Kcheck) -> None:
    result = kcheck("conform", "--self")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "reference (Python), as-coded-0.10.2"
    assert result.stdout.splitlines()[-1].startswith("kcheck conform: HOLDS: ")
    assert result.stdout.splitlines()[-1].endswith(f" of {len(VECTORS)} vectors")


@pytest.mark.slow
def test_a_failure_is_shown_with_the_command_that_asks_it_again(kcheck: Kcheck) -> None:
    result = kcheck("conform", "--only", "transition", "--fail-fast", "--", *WRONG)
    assert result.exit_code == 1
    (failed,) = [line for line in result.stdout.splitlines() if line.startswith("FAIL ")]
    assert failed.split(maxsplit=2)[1].startswith("kcs-transition-")
    assert "  permitted: expected false, found true\n" in result.stdout
    assert "  again     kcheck conform --only kcs-transition-" in result.stdout
    assert "'permits everything'\n" in result.stdout


def test_the_result_is_a_document(kcheck: Kcheck) -> None:
    document = json.loads(kcheck("conform", "--only", "kcs-transition-0001", "--json", "--", *WRONG).stdout)
    assert document["verdict"] == "VIOLATED"
    assert document["results"][0]["id"] == "kcs-transition-0001"
    assert document["counts"]["fail"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "name one adapter: behind --, the reference with --self, or Kafka with --kafka 0.10.2.2"),
        (
            ("--self", "--", "true"),
            "name one adapter: behind --, the reference with --self, or Kafka with --kafka 0.10.2.2",
        ),
        (("--self", "--only", "kcs-elect-9999"), f"(`kcheck conform --list` lists all {len(VECTORS)})"),
        (("--self", "--only", "elec"), "no group or tag is called 'elec'; did you mean elect? (known:"),
        (("--self", "--dialect", "as-coded"), "no dialect is called 'as-coded'"),
        (("--self", "--expected-failures", "no-such-file"), "no-such-file: is no file"),
        (("--dialect", "documented", "--", "true"), "--dialect is for --self"),
        (("--list", "--self"), "--list asks nobody"),
        (("--kafka", "0.9.0.1"), "the adapter of Kafka calls the classes of 0.10.2.2, and of no other release"),
        (("--", "no-such-adapter"), "'no-such-adapter' is no program that can be run"),
        (("--", "true"), "true is no adapter: it ended with exit code 0"),
    ],
)
def test_what_cannot_be_asked_is_refused(kcheck: Kcheck, words: tuple[str, ...], told: str) -> None:
    result = kcheck("conform", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_expected_failures_are_read_from_a_file(kcheck: Kcheck, tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text("kcs-transition-0001 we permit everything\n")
    options = ("--only", "kcs-transition-0001", "--expected-failures", str(known))
    result = kcheck("conform", *options, "--", *WRONG)
    assert result.exit_code == 3  # nothing else was asked
    assert "1 expected failure: we permit everything" in result.stdout
    known.write_text("kcs-transition-0001\n")
    result = kcheck("conform", *options, "--", *WRONG)
    assert result.exit_code == 2
    assert f"{known}:1: say why kcs-transition-0001 is expected to fail" in result.stderr


def test_the_ladder_begins_with_the_simplest_of_each_kind(kcheck: Kcheck) -> None:
    listed = kcheck("conform", "--selftest", "--list").stdout.splitlines()
    known = {one.id: one for one in VECTORS}
    groups = [known[line.split()[0]].group for line in listed]
    assert len(listed) == 10
    assert len({*groups}) == 8
    permitted = [known[line.split()[0]].then for line in listed if "transition" in line]
    assert permitted == [[{"permitted": False}], [{"permitted": True}]]  # one answer to all is seen at once
    assert (
        kcheck("conform", "--selftest", "--self").stdout.splitlines()[-1].startswith("kcheck conform: HOLDS: 10 pass")
    )


def test_the_adapter_on_the_page_does_what_is_shown_of_it(kcheck: Kcheck, tmp_path: Path) -> None:
    page = (HERE / "README.md").read_text("utf-8")
    ((program, console),) = re.findall(r"```python\n(.*?)```\n\n```console\n(.*?)```", page, re.DOTALL)
    (tmp_path / "my_adapter.py").write_text(program, "utf-8")
    command, *shown = console.splitlines()
    assert command == "$ kcheck conform --selftest -- python3 my_adapter.py"
    adapter = ("--", sys.executable, str(tmp_path / "my_adapter.py"))
    result = kcheck("conform", "--selftest", *adapter)
    assert result.exit_code == 0
    assert is_within([one for one in shown if one != "..."], result.stdout.splitlines())
    found = kcheck("conform", "--only", "transition", *adapter).stdout
    assert "  transition  16 pass, 49 skip\n" in found  # 4 x 4 of partitions, 7 x 7 of replicas


def test_levels_and_shares_part_the_vectors(kcheck: Kcheck) -> None:
    def ids(*options: str) -> list[str]:
        return [line.split()[0] for line in kcheck("conform", "--list", *options).stdout.splitlines()]

    every = ids()
    assert sorted(name for level in LEVELS for name in ids("--level", level)) == sorted(every)
    assert sorted(name for n in (1, 2, 3) for name in ids("--shard", f"{n}/3")) == sorted(every)


@pytest.mark.slow
def test_two_at_once_find_what_one_does(kcheck: Kcheck) -> None:
    one, two = (
        json.loads(kcheck("conform", "--only", "transition", "--json", *jobs, "--", *WRONG).stdout)
        for jobs in ((), ("--jobs", "2"))
    )
    assert one == two
    assert one["counts"]["fail"]


def test_a_ci_a_pull_request_and_a_badge_are_told(kcheck: Kcheck, tmp_path: Path) -> None:
    junit, markdown, badge = (tmp_path / name for name in ("report.xml", "report.md", "badge.json"))
    told = ("--report", f"junit={junit}", "--report", f"markdown={markdown}", "--report", f"badge={badge}")
    result = kcheck("conform", "--only", "transition", *told, "--", *WRONG)
    failed = result.stdout.count("FAIL kcs-")
    (suite,) = JUnitXml.fromfile(str(junit))
    assert (suite.tests, suite.failures) == (65, failed)
    assert any("asked     transition" in (case.system_out or "") for case in suite)
    table = markdown.read_text("utf-8")
    assert table.startswith("### VIOLATED: reference (Python), as-coded-0.10.2")
    assert f"| transition | {65 - failed} | {failed} |" in table
    told_badge = json.loads(badge.read_text("utf-8"))
    assert (told_badge["message"], told_badge["color"]) == (f"{65 - failed} of 65", "red")


@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_told_behind_what_was_found(
    kcheck: Kcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> None:
        if path.name == "report.xml":
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(whole_files, "refuse_unless_writable", refuse)
    told = ("--report", f"badge={tmp_path / 'badge.json'}", "--report", f"junit={tmp_path / 'report.xml'}")
    result = kcheck("conform", "--only", "kcs-transition-0001", *told, "--", *WRONG)
    assert (result.exit_code, "report.xml: cannot be written" in result.stderr) == (4, True)
    assert "FAIL kcs-transition-0001: " in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--selftest", "--only", "elect"), "--selftest names its vectors itself"),
        (("--level", "all"), "level"),
        (("--shard", "3/2"), "names no share"),
        (("--report", "junit=/nowhere/report.xml"), "cannot be written: there is no folder /nowhere"),
        (("--report", "sarif=report.sarif"), "no format of reports is called 'sarif'"),
    ],
)
def test_what_cannot_be_chosen_or_written_is_told(kcheck: Kcheck, options: tuple[str, ...], says: str) -> None:
    result = kcheck("conform", *options, "--only", "kcs-transition-0001", "--", *WRONG)
    assert (result.exit_code, says in result.stderr) == (2, True)
