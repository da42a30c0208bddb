"""Lines that real Kafkas wrote are told as JSON, and written again as they stood, whatever vectors ask for."""

import json
from collections import Counter
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_check.conformance.reference_lines import read_line, write_line
from model_check.conformance.vector import DIALECTS
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.lines import CONTROLLER_LOG
from spec.logs.log_entries import entry_of
from spec.logs.log_lines import Line
from tests.spec.logs.test_real_logs import NEVER_RECORDED, PUBLIC, VOCABULARIES, files, reads
from tests.strategies import lines_of

KINDS = [(log, kind, version) for log, of in VOCABULARIES.items() for kind in of.kinds for version in kind.templates]
OF_A_KIND = 3
"""So many lines of each kind are looked at."""


def dialect_of(version: KafkaVersion) -> str:
    """That of a release line."""
    return next(one for one in DIALECTS if str(version).startswith(one.removeprefix("as-coded-")))


def looked_at(archive: str, versions: dict[str, KafkaVersion]) -> set[str]:
    """The kinds of lines of some files, of which the first few are told, and written again."""
    counts = Counter[tuple[str, KafkaVersion]]()
    for name, entries in files(archive):
        log = next(one for one in VOCABULARIES if name.endswith(one))
        version = versions.get(name, V0102)
        dialect = dialect_of(version)
        for entry in entries:
            kind = type(reads(entry, VOCABULARIES[log], version)).__name__  # type: ignore[arg-type] # none is torn
            counts[kind, version] += 1
            if counts[kind, version] <= OF_A_KIND:
                text = str(entry).partition("\n")[0]
                told = json.loads(json.dumps(read_line({"log": log, "entry": text}, dialect)))
                assert told["kind"] == kind
                assert write_line({"log": log, **told}, dialect) == {"entry": text}
    return {kind for kind, _ in counts}


@given(
    st.sampled_from(KINDS).flatmap(lambda one: st.tuples(st.just(one[0]), st.just(one[2]), lines_of(one[1], one[2])))
)
def test_any_line_is_told_and_written_again(said: tuple[str, KafkaVersion, Line]) -> None:
    log, version, line = said
    text = str(entry_of(line, datetime.fromisoformat("2016-09-21 13:05:09,418")))
    told = json.loads(json.dumps(read_line({"log": log, "entry": text}, dialect_of(version))))
    assert write_line({"log": log, **told}, dialect_of(version)) == {"entry": text}


@pytest.mark.parametrize(("field", "value"), [("source", "Bogus-1"), ("target", "a-0/7"), ("partition", "orders")])
def test_what_is_no_state_and_no_partition_is_refused(field: str, value: str) -> None:
    fields = {"controller": 1, "epoch": 3, "partition": "a-0", "source": "NewPartition", "target": "OnlinePartition"}
    given = {"log": "state-change.log", "kind": "PartitionChangeFailed", "time": "2016-09-21 13:05:09,418"}
    with pytest.raises((KeyError, ValueError)):
        write_line({**given, "fields": {**fields, field: value}}, "as-coded-0.10.2")


def test_the_lines_that_people_committed() -> None:
    assert looked_at("kafka-public-logs.tar.xz", {name: version for name, version, *_ in PUBLIC})


@pytest.mark.slow
def test_the_lines_of_recorded_controllers() -> None:
    every = {kind.__name__ for kind in CONTROLLER_LOG.kinds}
    assert looked_at("kafka-0.10.2.2-controller-logs.tar.xz", {}) == every - NEVER_RECORDED
