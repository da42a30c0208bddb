"""Lines with a collection in them: which class held it changes nothing, and stays as it stood.

Kafka's sources, and Scala's of 2.11, say which class it is: `toSeq` of a set, `filter` and `sorted` of that are
`ArrayBuffer`, what JSON was parsed to is `List`. All of what real Kafkas wrote agrees.
"""

import tarfile
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.formats.kafka_types import KafkaVersion
from spec.formats.scala_collections import CLASS_NAME
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import LogEntry, read_entries
from spec.logs.log_lines import Line, Vocabulary
from spec.logs.state_change_lines import STATE_CHANGE_LOG
from tests import strategies
from tests.scala_classes import USUAL, class_names, held_in, in_classes

DATA = Path(__file__).parents[2] / "data"
LOGS = {"controller.log": CONTROLLER_LOG, "state-change.log": STATE_CHANGE_LOG}
KINDS = [
    (log, kind, version)
    for log in LOGS.values()
    for kind in log.kinds
    for version, template in kind.templates.items()
    if CLASS_NAME in template.pattern
]


def test_the_lines_that_have_a_collection() -> None:
    """Two of 0.10.2 name all brokers that a request is for; in 0.8.2 nobody notifies, and two lines tell of answers.

    One is ours, of a fix (D61).
    """
    counts = {str(v): sum(v == version for _, _, version in KINDS) for v in KafkaVersion}
    assert counts == {"0.8.2": 23, "0.9.0": 22, "0.10.0": 22, "0.10.1": 22, "0.10.2": 24}


@given(st.sampled_from(KINDS), st.data())
def test_whatever_holds_a_collection_the_line_is_the_same(
    of: tuple[Vocabulary, type[Line], KafkaVersion], data: st.DataObject
) -> None:
    log, kind, version = of
    line = data.draw(strategies.lines_of(kind, version))
    usual = str(line)
    text = in_classes(usual, data.draw(class_names(len(USUAL.findall(usual)))))
    assert log.parse(text, version) == line
    assert str(log.parse(text, version)) == text


def entries(archive: str) -> Iterator[tuple[KafkaVersion, Vocabulary, LogEntry]]:
    """The entries with a collection in them that the logs in an archive have, but for releases after the era."""
    with tarfile.open(DATA / archive) as opened:
        for member in opened:
            log = next((known for name, known in LOGS.items() if member.name.endswith(name)), None)
            if log is None or member.name.startswith("controller-"):
                continue
            version = next((one for one in KafkaVersion if str(one) in member.name), KafkaVersion.V0102)
            stream = opened.extractfile(member)
            assert stream is not None
            for entry in read_entries(TextIOWrapper(stream, encoding="utf-8"), member.name):
                if isinstance(entry, LogEntry) and USUAL.search(entry.message):
                    yield version, log, entry


@pytest.mark.parametrize(
    ("archive", "count"),
    [
        pytest.param("kafka-0.10.2.2-controller-logs.tar.xz", 2409, marks=pytest.mark.slow),
        pytest.param("kafka-campaign.tar.xz", 2104, marks=pytest.mark.slow),
        ("kafka-other-releases.tar.xz", 109),
        ("kafka-public-logs.tar.xz", 475),
    ],
)
def test_what_real_kafkas_wrote_is_held_as_usual_and_reads_in_any_class(archive: str, count: int) -> None:
    """The counts are of the lines in which `grep -w` finds the name of such a class, and a bracket behind it.

    Every day in the logs of all other releases, and in those that people made public.
    """
    found = 0
    for version, log, entry in entries(archive):
        line = log.parse(entry.message, version, entry.place)
        assert (str(line), held_in(line)) == (entry.message, [])
        other = in_classes(entry.message, ["Vector"] * len(USUAL.findall(entry.message)))
        again = log.parse(other, version, entry.place)
        assert str(again) == other
        assert again == line or type(line).__name__ in AS_TEXT
        found += 1
    assert found == count


AS_TEXT = {"StopReplicaNotSent", "UpdateMetadataNotSent"}
"""The lines that keep requests as text, whichever class holds them."""
