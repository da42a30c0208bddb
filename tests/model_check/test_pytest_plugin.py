"""`pytest --conform COMMAND`: a test a vector, in a run of pytest of its own."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.model_check.conformance.all_vectors import VECTORS

HERE = Path(__file__).parents[2]
REFERENCE = f"{sys.executable} -m model_check.conformance.reference_adapter"
WRONG = f"{sys.executable} -m tests.model_check.conformance.wrong_adapters 'permits everything'"


def run(folder: Path, *options: str, found: bool = False) -> subprocess.CompletedProcess[str]:
    """A run of pytest in an empty folder, which is told of the plugin, or finds it among all that are installed."""
    plugins = () if found else ("-p", "model_check.pytest_plugin")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *plugins, *options]
    environment = {"PYTHONPATH": str(HERE)} | ({} if found else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [(), ("line",)])
def test_each_vector_is_a_test(tmp_path: Path, groups: tuple[str, ...]) -> None:
    chosen = ("-k", " or ".join(f"kcs-{one}" for one in groups)) if groups else ()
    made = run(tmp_path, "--conform", REFERENCE, "--junitxml", "found.xml", *chosen, found=True)
    vectors = [one for one in VECTORS if not groups or one.group in groups]
    of_dialect = sum("as-coded-0.10.2" in one.dialects for one in vectors)
    assert made.returncode == 0
    assert f"{of_dialect} passed, {len(vectors) - of_dialect} skipped" in made.stdout
    cases = ET.parse(tmp_path / "found.xml").getroot().iter("testcase")  # noqa: S314 - our own file
    assert [one.get("name") for one in cases] == [one.id for one in vectors]


@pytest.mark.takes("It starts pytest, and an adapter.")
def test_a_failure_is_told_as_the_verb_tells_it(tmp_path: Path) -> None:
    made = run(tmp_path, "--conform", WRONG, "-k", "kcs-transition")
    assert made.returncode == 1
    assert "FAIL kcs-transition-0001: A partition in " in made.stdout
    assert "  permitted: expected false, found true" in made.stdout
    assert "Traceback" not in made.stdout


@pytest.mark.slow
@pytest.mark.parametrize("processes", [(), ("-p", "xdist", "-n", "2")])
def test_a_run_in_which_no_vector_passes_fails(tmp_path: Path, processes: tuple[str, ...]) -> None:
    others = f"{REFERENCE} --dialect as-coded-0.8.2"
    later = [one.id for one in VECTORS if one.group == "failover"]  # none of which is of 0.8.2
    made = run(tmp_path, "--conform", others, "-k", "kcs-failover", *processes)
    assert made.returncode == 1
    assert f"{len(later)} skipped" in made.stdout
    assert "no vector passed: this says nothing of the adapter" in made.stdout


@pytest.mark.takes("It starts pytest.")
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("true", "true is no adapter: it ended with exit code 0"),
        pytest.param("no-such-adapter", "'no-such-adapter' is no program that can be run", marks=pytest.mark.slow),
        pytest.param(
            "node 'adapter", '--conform "node \'adapter" is no command: No closing quotation', marks=pytest.mark.slow
        ),
        ("", "--conform wants a command"),
    ],
)
def test_what_is_no_adapter_is_a_usage_error(tmp_path: Path, command: str, told: str) -> None:
    made = run(tmp_path, "--conform", command)
    assert made.returncode == 4
    assert f"ERROR: {told}" in made.stderr


@pytest.mark.takes("It starts pytest.")
def test_where_several_processes_run_it_is_one_too(tmp_path: Path) -> None:
    made = run(tmp_path, "--conform", "true", "-p", "xdist", "-n", "2")
    assert made.returncode == 4
    assert "ERROR: true is no adapter" in made.stderr


@pytest.mark.takes("It starts pytest.")
def test_without_the_option_nothing_is_asked(tmp_path: Path) -> None:
    assert run(tmp_path).returncode == 5  # no tests collected
