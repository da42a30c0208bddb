"""Scripts of ZooKeeper operations: what they make of answers, of refusals, and of what somebody else wrote."""

from typing import Any

import pytest

from reference.scripts import number_of, state_data, state_path, update_state_znode
from reference.zookeeper.api import BadVersion, GetData, NodeData, NoNode, SetData, Stat
from spec.errors import MalformedInput
from spec.formats.kafka_types import TopicPartition
from tests.leaderships import led

PARTITION = TopicPartition("t", 0)
PATH = state_path(PARTITION)
WANTED = led(1, 3, (1,), 2, 4)
OTHER = led(2, 4, (2,), 2)


def written_on_another_version(data: bytes | None) -> Any:
    """What `update_state_znode` gives whose write fails on its version, where the znode then holds this."""
    script: Any = update_state_znode(PARTITION, WANTED)
    assert next(script) == SetData(PATH, state_data(WANTED), 4)
    assert script.throw(BadVersion(PATH)) == GetData(PATH)
    try:
        if data is None:
            script.throw(NoNode(PATH))
        else:
            script.send(NodeData(data, Stat(1, 2, 1, 7, 0, 0, len(data), 0)))
    except StopIteration as end:
        return end.value
    pytest.fail("it goes on")


@pytest.mark.parametrize(
    ("data", "version"),
    [
        (state_data(WANTED), 7),
        (state_data(OTHER), None),
        (None, None),
        (b"", None),
        (b"rubbish", None),
        (b"\xff", None),
        (b"{}", None),
        (b"[" * 100_000, None),
    ],
)
def test_a_write_on_another_version_counts_only_where_its_very_content_is_found(
    data: bytes | None, version: int | None
) -> None:
    """What cannot be read is other content (`ReplicationUtils.checkLeaderAndIsrZkData` gives (false, -1))."""
    assert written_on_another_version(data) == version


def test_a_child_is_numbered_by_its_name() -> None:
    assert [number_of("/brokers/ids", name) for name in ("0", "12", "-1")] == [0, 12, -1]
    for name in ("nobody", "", "1_0", " 1", "1.5", "\u0663", "1" * 5000):
        with pytest.raises(MalformedInput, match=r"/brokers/ids/.*: its name is no number"):
            number_of("/brokers/ids", name)
