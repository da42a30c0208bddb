"""The recipes for pipelines: each is what its CI reads, each line of it is run, and what it hands on is there.

They run in a folder whose virtual environment is this one, and ask something small in place of the gate.
"""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from junitparser import JUnitXml

from model_check.verdicts.results import from_json
from model_check.verdicts.verdict import Verdict
from tests.installed import PACKAGES, ROOT, tracked

RECIPES = ROOT / "model_check/reports/recipes"
SMALL = "explore tiny --limit 500"
"""What is asked: it ends with 3, for most states are left, so an exit code that is lost is seen."""

pytestmark = pytest.mark.takes("It runs a verb in another process.")


@dataclass(frozen=True)
class Sandbox:
    """A folder that looks like a checkout to a recipe."""

    folder: Path
    around: Mapping[str, str] = field(default_factory=dict)

    def run(self, line: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a line, as a CI hands it to a shell."""
        return subprocess.run(
            ["bash", "-e", "-c", line],
            cwd=self.folder, env={**self.around, **more}, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip

    def read(self, name: str) -> str:
        """The text of a file that a recipe hands on."""
        return (self.folder / "runs/reports" / name).read_text("utf-8")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """One whose virtual environment is set up already: its `kcheck` is this interpreter's, of this checkout."""
    folder = tmp_path_factory.mktemp("recipes")
    for one in ("Makefile", "pyproject.toml", "constraints.txt", *tracked("model_check/reports/recipes")):
        (folder / one).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / one, folder / one)
    program = folder / ".venv/bin/kcheck"
    program.parent.mkdir(parents=True)
    call = f"exec env PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)} -P -c"
    program.write_text(f'#!/bin/sh\n{call} "from model_check.cli import main; main()" "$@"\n', "utf-8")
    program.chmod(0o755)
    (folder / ".venv/set-up-seconds").write_text("0", "utf-8")
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "KCHECK_CACHE", "REPORTS")}
    return Sandbox(folder, {**kept, "QUESTION": SMALL})


def yaml(name: str) -> Any:
    """A recipe in YAML, read by a library."""
    reader = pytest.importorskip("ruamel.yaml", reason="no reader of YAML here; `make setup` installs one")
    return reader.YAML(typ="safe", pure=True).load(RECIPES / name)


@pytest.mark.parametrize(
    ("name", "schema"), [("github-actions.yml", "github-workflows"), ("gitlab-ci.yml", "gitlab-ci")]
)
def test_a_recipe_is_what_its_schema_says(name: str, schema: str) -> None:
    """The schemas are those that editors use, and come with their reader."""
    pytest.importorskip("check_jsonschema", reason="no check-jsonschema here; `make setup` installs it")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(RECIPES / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_shell_recipe_keeps_the_exit_code_and_every_report(sandbox: Sandbox) -> None:
    done = sandbox.run(f'PATH="$PWD/.venv/bin:$PATH" sh model_check/reports/recipes/gate.sh {SMALL}')
    assert (done.returncode, done.stderr) == (3, "")
    assert from_json(sandbox.read("report.json"), "report.json").verdict is Verdict.INCOMPLETE
    assert len(JUnitXml.fromstring(sandbox.read("report.xml").encode())) == 1
    assert json.loads(sandbox.read("report.sarif"))["version"] == "2.1.0"
    assert sandbox.read("report.html").startswith("<!doctype html>")
    assert 0 < len(sandbox.read("report.md").encode()) < 60_000


@pytest.mark.slow
def test_what_is_left_of_another_time_is_not_taken_for_an_answer(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text("of another time", "utf-8")
    gate = 'PATH="$PWD/.venv/bin:$PATH" sh model_check/reports/recipes/gate.sh'
    done = sandbox.run(f"{gate} explore no-such-scope", REPORTS=str(tmp_path))
    assert (done.returncode, [*tmp_path.iterdir()]) == (2, [])
    assert done.stderr.startswith("kcheck: no scope is called 'no-such-scope'")
    assert sandbox.run(gate).returncode == 2


@pytest.mark.slow
def test_the_shell_recipe_asks_an_adapter_too(sandbox: Sandbox) -> None:
    adapter = f"{shlex.quote(sys.executable)} -m model_check.conformance.reference_adapter"
    gate = 'PATH="$PWD/.venv/bin:$PATH" sh model_check/reports/recipes/gate.sh'
    done = sandbox.run(f"{gate} conform --selftest -- {adapter}", PYTHONPATH=str(ROOT))
    assert (done.returncode, done.stderr) == (0, "")
    assert JUnitXml.fromstring(sandbox.read("report.xml").encode()).tests == 10
    assert sandbox.read("report.md")


@pytest.mark.slow
def test_each_step_for_github_runs_and_what_it_uploads_is_there(sandbox: Sandbox, tmp_path: Path) -> None:
    (job,) = yaml("github-actions.yml")["jobs"].values()
    summary, codes = tmp_path / "summary.md", dict[str, int]()
    for step in (one for one in job["steps"] if "run" in one):
        codes[step["name"]] = sandbox.run(step["run"], GITHUB_STEP_SUMMARY=str(summary)).returncode
    assert codes == {"Set up": 0, "Ask": 3, "Tell": 0}
    assert summary.read_text("utf-8") == sandbox.read("report.md")
    assert summary.stat().st_size < 2**20, "a step's summary may have a mebibyte"
    uses = {one["uses"].partition("@")[0]: one for one in job["steps"] if "uses" in one}
    given = {name: one["with"] for name, one in uses.items() if "with" in one}
    sarif, artifact = given["github/codeql-action/upload-sarif"], given["actions/upload-artifact"]
    for path in (sarif["sarif_file"], artifact["path"], given["actions/cache/save"]["path"]):
        assert (sandbox.folder / path).exists(), path
    assert given["actions/cache/save"]["path"] == given["actions/cache/restore"]["path"]
    for name in ("github/codeql-action/upload-sarif", "actions/upload-artifact", "actions/cache/save"):
        assert uses[name]["if"].startswith("always()"), "who failed is looked at first"


@pytest.mark.slow
def test_each_line_for_gitlab_runs_and_what_it_hands_on_is_there(sandbox: Sandbox) -> None:
    job = yaml("gitlab-ci.yml")["kcheck"]
    path = f"{sandbox.folder}/.venv/bin:{os.environ['PATH']}"  # the image has it installed
    codes = [sandbox.run(line, PATH=path, CI_PROJECT_DIR=str(sandbox.folder)).returncode for line in job["script"]]
    assert codes == [3]
    artifacts = job["artifacts"]
    assert len(JUnitXml.fromfile(str(sandbox.folder / artifacts["reports"]["junit"]))) == 1
    assert all((sandbox.folder / one).exists() for one in (*artifacts["paths"], *job["cache"]["paths"]))
    assert artifacts["when"] == job["cache"]["when"] == "always"


@pytest.mark.slow
def test_each_line_for_jenkins_runs_and_what_it_hands_on_is_there(sandbox: Sandbox) -> None:
    text = (RECIPES / "Jenkinsfile").read_text("utf-8")
    assert text.count("{") == text.count("}")
    assert [sandbox.run(line).returncode for line in re.findall(r"^ *sh '(.*)'$", text, re.MULTILINE)] == [0, 3]
    (junit,) = re.findall(r"testResults: '(.*)'", text)
    (archived,) = re.findall(r"artifacts: '(.*)'", text)
    assert len(JUnitXml.fromfile(str(sandbox.folder / junit))) == 1
    assert [*sandbox.folder.glob(archived)]
    assert text.index("always {") < text.index("junit ")


@pytest.mark.slow
def test_each_hook_of_pre_commit_runs(sandbox: Sandbox) -> None:
    (repository,) = yaml("pre-commit-config.yaml")["repos"]
    less = {"kcheck-check": "tiny", "kcheck-verify": "tiny --only explore"}
    assert [one["id"] for one in repository["hooks"]] == [*less]
    for hook in repository["hooks"]:
        assert (repository["repo"], hook["language"], hook["pass_filenames"]) == ("local", "system", False)
        assert re.compile(hook["files"]).search("spec/manifest.toml")
        done = sandbox.run(f"{hook['entry']} {less[hook['id']]}")
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="no pre-commit here, which reads its file")
def test_pre_commit_takes_the_hooks() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-config", str(RECIPES / "pre-commit-config.yaml")]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_what_the_container_copies_and_calls_is_there() -> None:
    """And nothing else of the checkout, so that tests and caches make no image anew."""
    text = (RECIPES / "Containerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert {line[0] for line in lines} == {"FROM", "RUN", "COPY", "ENV", "WORKDIR", "CMD"}
    copied = [one for line in lines if line[0] == "COPY" for one in line[1:-1]]
    assert {*PACKAGES, "pyproject.toml", "constraints.txt"} <= set(copied)
    assert [one for one in copied if not (ROOT / one).exists()] == []
    (command,) = (json.loads(" ".join(line[1:])) for line in lines if line[0] == "CMD")
    assert command == ["kcheck", "verify"]


@pytest.mark.slow
def test_the_container_is_built_and_answers() -> None:
    engine = next((one for one in ("podman", "docker") if _runs(one)), None)
    if engine is None:
        pytest.skip("neither podman nor a docker daemon here, which build images")
    build = [engine, "build", "-q", "-f", str(RECIPES / "Containerfile"), str(ROOT)]
    image = subprocess.run(build, capture_output=True, text=True, check=True).stdout.strip()
    said = subprocess.run([engine, "run", "--rm", image, "kcheck", "show", "tables"], capture_output=True, check=False)
    assert said.returncode == 0


def _runs(engine: str) -> bool:
    """Whether an engine is there, and can do anything."""
    return (
        shutil.which(engine) is not None
        and not subprocess.run([engine, "info"], capture_output=True, check=False).returncode
    )


def test_no_recipe_is_left_out_and_each_is_told_of() -> None:
    """Those that are there are those that are tested here, and named beside them."""
    there = {one.name for one in RECIPES.iterdir()} - {"README.md"}
    assert set(re.findall(r"^\| \[`(.*?)`\]", (RECIPES / "README.md").read_text("utf-8"), re.MULTILINE)) == there
    assert all(one in Path(__file__).read_text("utf-8") for one in there)
