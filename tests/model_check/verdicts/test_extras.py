"""Without the extras all verbs start, those that need neither work, and the others say in one line what they lack."""

import re
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest

from model_check.cli.verbs import VERBS
from model_check.explicit_state.findings import ENGINE
from model_check.verdicts.extras import EXTRAS, missing_extra
from model_check.verdicts.verdict import EXIT_CODES, Verdict
from model_check.verdicts.verification import Check, made
from tests.model_check.unpacking import RECORDINGS, unpacked

ROOT = Path(__file__).parents[3]
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({[*EXTRAS]}))
from model_check.cli import main
main()
"""
"""kcheck in a process that has none of these libraries: what stands as None is not imported."""
SHORT = "34-D55-config-lost"


def run(*words: str, within: Path) -> subprocess.CompletedProcess[str]:
    """What a command line comes to without the extras."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        cwd=within, env={"PYTHONPATH": str(ROOT), "KCHECK_CACHE": str(within / "cache"), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


def test_the_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert all(library in extras[extra] for library, extra in EXTRAS.items())
    assert {*extras["spark"], *extras["live"]} == EXTRAS.keys()
    assert not EXTRAS.keys() & {*project["dependencies"]}
    assert project["name"] in str(missing_extra(ModuleNotFoundError(name="kazoo")))


@pytest.mark.parametrize(
    ("name", "extra"),
    [("pyspark", "spark"), ("pyspark.errors", "spark"), ("py4j.protocol", "spark"), ("kazoo.client", "live")],
)
def test_what_is_missing_is_named_with_what_to_install(name: str, extra: str) -> None:
    library = name.partition(".")[0]
    told = f"{library} is not installed, which this needs; pip install 'kafka-controller-spec[{extra}]'"
    assert str(missing_extra(ModuleNotFoundError("no", name=name))) == told


@pytest.mark.parametrize(
    "error", [ModuleNotFoundError("no", name="z3"), ModuleNotFoundError("no"), ImportError("no", name="kazoo")]
)
def test_what_is_wrong_otherwise_is_no_missing_extra(error: ImportError) -> None:
    assert missing_extra(error) is None


def test_a_check_that_lacks_an_extra_is_an_error_in_the_same_words() -> None:
    def lacks() -> list[object]:
        raise ModuleNotFoundError("no", name="pyspark")

    (run,) = made(Check(ENGINE, "tiny", "AS_CODED", 0, partial(lacks)))  # type: ignore[arg-type]  # it makes nothing
    assert (run.verdict, run.reason) == (Verdict.ERROR, str(missing_extra(ModuleNotFoundError("no", name="pyspark"))))


LACKING = {"enumerate tiny": "spark", "logs {here} --master local[1]": "spark", "live --faults 1 --seed 1": "live"}


@pytest.mark.takes("Each starts a process.")
@pytest.mark.parametrize("line", [pytest.param(one, marks=[pytest.mark.slow] * ("live" in one)) for one in LACKING])
def test_a_verb_that_needs_an_extra_says_so_in_one_line(line: str, tmp_path: Path) -> None:
    (tmp_path / "state-change.log").write_text("no line of Kafka's\n", encoding="utf-8")
    done = run(*line.format(here=tmp_path).split(), within=tmp_path)
    assert done.returncode == EXIT_CODES[Verdict.ERROR], done.stderr
    assert done.stderr.endswith(f"; pip install 'kafka-controller-spec[{LACKING[line]}]'\n")
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.takes("It starts a process.")
def test_whoever_shows_needs_no_extra(tmp_path: Path) -> None:
    done = run("show", "tables", within=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "OnlinePartition" in done.stdout


@pytest.mark.slow
@RECORDINGS
def test_nor_does_whoever_explores_proves_replays_or_judges(tmp_path: Path) -> None:
    recording = unpacked(SHORT, tmp_path)
    for line in (
        "explore tiny", "prove tiny --property leader_epoch_never_goes_back", "defects D12", "coverage tiny",
        "conform --selftest --self", "simulate tiny --runs 1 --steps 5", "refine bounce", f"judge {recording}",
        f"logs {recording}", "--version", "verify --only explore tiny",
    ):  # fmt: skip
        done = run(*line.split(), within=tmp_path)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        assert "not installed" not in done.stderr


@pytest.mark.slow
def test_every_verb_starts(tmp_path: Path) -> None:
    for verb in VERBS:
        done = run(verb, "--help", within=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), verb
        assert re.search(r"Usage: kcheck", done.stdout), verb
