"""The adapters that come along in JavaScript and Go pass all that they declare."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import model_check.conformance
from model_check.conformance.conforming import Conformance, How, Outcome, conform
from model_check.conformance.vector import DIALECTS, Vector
from model_check.verdicts.verdict import Verdict
from tests.model_check.conformance.everyday_vectors import put

ADAPTERS = Path(model_check.conformance.__path__[0]) / "adapters"
LAST = "as-coded-0.10.2"


def asked(command: list[str], vectors: list[Vector]) -> Conformance:
    """What becomes of vectors."""
    return conform(command, vectors, How(len(vectors)))


def without_lines(dialect: str, vectors: list[Vector]) -> int:
    """How many vectors of a dialect ask for something else than what a driven controller logs."""
    return sum(dialect in one.dialects and "lines" not in one.given for one in vectors)


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
@pytest.mark.parametrize("dialect", [pytest.param(one, marks=[pytest.mark.slow] * (one != LAST)) for one in DIALECTS])
@pytest.mark.takes("Its controller is driven through many scripts.")
def test_the_one_in_javascript_passes_all_of_its_dialect(dialect: str, request: pytest.FixtureRequest) -> None:
    vectors = put(request)
    found = asked(["node", str(ADAPTERS / "javascript" / "adapter.mjs"), dialect], vectors)
    assert (found.verdict, found.adapter.language) == (Verdict.HOLDS, "JavaScript")
    assert found.counts[Outcome.PASS] == without_lines(dialect, vectors)


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adapter in Go, built."""
    built = tmp_path_factory.mktemp("go") / "adapter"
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    subprocess.run(["go", "build", "-o", str(built), "."], cwd=ADAPTERS / "go", env=environment, check=True)
    return built


@pytest.mark.slow  # what Go builds first is all that it brings along, which takes longer than the questions
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no go here")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_one_in_go_passes_all_of_its_dialect(go: Path, dialect: str, request: pytest.FixtureRequest) -> None:
    vectors = put(request)
    found = asked([str(go), "--dialect", dialect, "--definitions", str(ADAPTERS.parent)], vectors)
    assert (found.verdict, found.adapter.language) == (Verdict.HOLDS, "Go")
    assert found.counts[Outcome.PASS] == without_lines(dialect, vectors)
