"""`kcheck refine`: counts beside the explorer's, a disagreement as a story, and an exit code for each verdict."""

from typing import Any

import pytest

from model_check.checks import replay
from model_check.explicit_state.spanning_tree import SpanningTree
from model_check.refinement.edge_replay import Walked, walk
from model_check.refinement.lockstep import Sides
from model_check.spark import spark_edge_replay
from model_check.verdicts.results import from_json
from reference.controller.effects import ResignDelete
from spec.errors import EnvironmentFailure
from tests.model_check.cli.conftest import Kcheck, expectation

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stretches are walked in this process, where faults can be planted."""

    def walks(sides: Sides, tree: SpanningTree, **_: Any) -> list[Walked]:
        sides.initial()
        return [walk(sides, stretch) for stretch in tree.stretches(3)]

    monkeypatch.setattr(spark_edge_replay, "walk_with_workers", walks)
    monkeypatch.setattr(replay, "FEW", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("few", [0, 1_000], ids=["by workers", "in this process"])
def test_every_edge_is_replayed_with_the_counts_of_the_explorer(
    kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """What workers find is compared every day in `test_spark_edge_replay.py`, of a smaller scope."""
    monkeypatch.setattr(replay, "FEW", few)
    result = kcheck("refine", "solo", "--json")
    assert result.exit_code == 0, result.stderr
    (run,) = from_json(result.stdout, "stdout").runs
    wanted = expectation("solo")
    found = {one.about: one.found for one in run.comparisons}
    assert found["states"] == f"{wanted['states']:,}"
    assert found["edges"] == f"{wanted['transitions']:,}"
    assert (run.engine, str(run.verdict), run.reason) == ("refinement", "HOLDS", "")
    assert result.stderr == ""


@pytest.mark.usefixtures("here")
def test_the_manifest_is_compared_too(kcheck: Kcheck, manifest: dict[str, Any]) -> None:
    manifest["solo"]["expect"]["AS_CODED"]["states"] += 1
    result = kcheck("refine", "solo")
    assert result.exit_code == 1
    assert "states, transitions and depth of the manifest: expected" in result.stdout


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("cut", [("--depth", "2"), ("--limit", "4")])
def test_what_was_cut_short_is_incomplete(kcheck: Kcheck, cut: tuple[str, str]) -> None:
    result = kcheck("refine", "pair", *cut)
    assert result.exit_code == 3
    assert "pair AS_CODED (refinement): INCOMPLETE: not exhausted: all edges out of" in result.stdout


@pytest.mark.usefixtures("here")
def test_a_disagreement_is_told_as_a_story(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    def script(_: ResignDelete) -> Any:
        yield from ()

    monkeypatch.setattr(ResignDelete, "script", script)
    result = kcheck("refine", "pair")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == "kcheck refine: VIOLATED"
    assert lines[2].endswith("(refinement): VIOLATED: specification and reference disagree after 6 steps")
    assert lines[3].strip() == "zookeeper.controller is -1 in the specification, 2 in the reference"
    assert "   6. controller 2: " in result.stdout
    assert "[resign_delete(c=2)]" in result.stdout


def test_a_master_that_is_not_there_is_an_error_in_one_line(kcheck: Kcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_java(*_: Any, **__: Any) -> None:
        raise EnvironmentFailure("Spark needs Java and none was found", "install Java 17, or set JAVA_HOME")

    monkeypatch.setattr(spark_edge_replay, "spark_session", no_java)
    assert kcheck("refine", "solo").exit_code == 0, "so few states need no Spark"
    monkeypatch.setattr(replay, "FEW", 0)
    result = kcheck("refine", "solo")
    assert result.exit_code == 4
    assert result.stderr == "kcheck: Spark needs Java and none was found; install Java 17, or set JAVA_HOME\n"


def test_an_unknown_scope_is_refused(kcheck: Kcheck) -> None:
    result = kcheck("refine", "tinny")
    assert result.exit_code == 2
    assert "no scope is called 'tinny'" in result.stderr
