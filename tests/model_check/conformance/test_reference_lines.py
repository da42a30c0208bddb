"""Each line that a real Kafka wrote is told as JSON, and written again as it stood, whatever vectors ask for."""

import json
from collections import Counter

import pytest

from model_check.conformance.reference_lines import read_line, write_line
from model_check.conformance.vector import DIALECTS
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.logs.controller_log.lines import CONTROLLER_LOG
from tests.spec.logs.test_real_logs import NEVER_RECORDED, PUBLIC, VOCABULARIES, files, reads

OF_A_KIND = 3
"""So many lines of each kind are looked at."""


def looked_at(archive: str, versions: dict[str, KafkaVersion]) -> set[str]:
    """The kinds of lines of some files, of which the first few are told, and written again."""
    counts = Counter[tuple[str, KafkaVersion]]()
    for name, entries in files(archive):
        log = next(one for one in VOCABULARIES if name.endswith(one))
        version = versions.get(name, V0102)
        dialect = next(one for one in DIALECTS if str(version).startswith(one.removeprefix("as-coded-")))
        for entry in entries:
            kind = type(reads(entry, VOCABULARIES[log], version)).__name__  # type: ignore[arg-type] # none is torn
            counts[kind, version] += 1
            if counts[kind, version] <= OF_A_KIND:
                text = str(entry).partition("\n")[0]
                told = json.loads(json.dumps(read_line({"log": log, "entry": text}, dialect)))
                assert told["kind"] == kind
                assert write_line({"log": log, **told}, dialect) == {"entry": text}
    return {kind for kind, _ in counts}


def test_the_lines_that_people_committed() -> None:
    assert looked_at("kafka-public-logs.tar.xz", {name: version for name, version, *_ in PUBLIC})


@pytest.mark.slow
def test_the_lines_of_recorded_controllers() -> None:
    every = {kind.__name__ for kind in CONTROLLER_LOG.kinds}
    assert looked_at("kafka-0.10.2.2-controller-logs.tar.xz", {}) == every - NEVER_RECORDED
