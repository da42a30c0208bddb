"""A run of real Kafka 0.10.2.2 that was asked for lists which are no lists of distinct brokers (D61, D62).

It is read, and each line explained by what the specification has it do. `nobody` was asked to be on [], `twice` on
[3, 3], and later, in one request with ["1", "2"] for `text`, on [2, 2]; the controller was killed in between.
"""

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from model_check.live.live_run import judged
from model_check.recordings.reading import read
from model_check.verdicts.verdict import Verdict
from spec.variants import AS_CODED

ARCHIVE = Path(__file__).parents[2] / "data/kafka-odd-targets.tar.xz"
OBSERVATIONS = 372


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """The folder of the run."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / "odd-targets"


@pytest.mark.slow
def test_all_of_it_is_explained_and_what_it_breaks_is_known(recording: Path) -> None:
    claims, search = judged(recording, AS_CODED)
    assert search.explained is not None
    assert search.explained.explained == search.explained.observations == OBSERVATIONS
    assert (claims.verdict, search.verdict) == (Verdict.HOLDS, Verdict.HOLDS), "with what D61, D62 and D18 break"


def test_requests_have_the_lists_that_were_written(recording: Path) -> None:
    """Numbers stay numbers and text text; an empty list is not a partition that is not named."""
    assert read(recording).cluster.requests == (
        ((0,), (), ()), ((), (3, 3), ()), ((), (), (-3,)), ((), (2, 2), (-1, -2)), ((1,), (), ()),
    )  # fmt: skip


def _in_data(old: str, new: str) -> Callable[[str], str]:
    """A change of what a transaction wrote."""

    def change(line: str) -> str:
        one = json.loads(line)
        if one.get("data"):
            one["data"] = one["data"].replace(old, new)
        return json.dumps(one)

    return change


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # AR of what was asked to be on nobody
        pytest.param('{"0":[]}', '{"0":[1]}', marks=pytest.mark.slow),
        # AR that names a broker twice
        pytest.param('{"0":[3,3]}', '{"0":[3]}', marks=pytest.mark.slow),
        # what is left of the request when the text is refused
        pytest.param('"replicas":[2,2]}]}', '"replicas":[2]}]}', marks=pytest.mark.slow),
    ],
)
def test_another_list_is_refuted(recording: Path, old: str, new: str) -> None:
    log = recording / "zookeeper.jsonl"
    text = log.read_text()
    changed = "".join(_in_data(old, new)(line) + "\n" for line in text.splitlines())
    assert changed != "".join(json.dumps(json.loads(line)) + "\n" for line in text.splitlines()), "it is there"
    log.write_text(changed)
    *_, search = judged(recording, AS_CODED, budget=3 * OBSERVATIONS)
    assert search.verdict is not Verdict.HOLDS
