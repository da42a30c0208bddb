"""Controllers and brokers chosen apart: who only plays a broker is never elected, and writes down its frames."""

from pathlib import Path

import pytest

from model_check.live.fault_kinds import checked_kinds, kinds_for
from model_check.live.live_cluster import LiveCluster
from model_check.live.live_setup import Setup
from model_check.live.programs import REAL_TIMES, Program
from model_check.live.reference_program import reference
from model_check.recordings.members import Role as Plays
from model_check.recordings.members import members_of
from spec.errors import BadInput
from spec.formats.kafka_types import V0102
from spec.logs.wire_records import FrameAnswered, FrameReceived, ProcessStarted, parse_record


@pytest.mark.slow
def test_a_broker_never_stands_for_election(tmp_path: Path) -> None:
    """The controller is killed, and nobody takes its place until it is back."""
    with LiveCluster(Setup(2, seed=1, controllers=1), tmp_path) as cluster:
        for member in cluster.member_ids:
            cluster.ensure_running(member)
        assert (cluster.admin.controller(), cluster.broker_ids) == (1, (2, 3))
        cluster.admin.create_topic("t", {0: (2, 3)})
        assert cluster.rest()
        cluster.kill(1)
        cluster.wait_until("its session ends", lambda: not cluster.admin.is_present(1))
        cluster.sleep(0.5)
        assert cluster.admin.controller() is None
        cluster.ensure_running(1)
        cluster.wait_until("it is elected", lambda: cluster.admin.controller() == 1)
        cluster.finish()
    members = members_of(tmp_path) or {}
    assert [one.role for one in members.values()] == [Plays.CONTROLLER, Plays.BROKER, Plays.BROKER]
    lines = (tmp_path / "broker-2/wire.jsonl").read_text("utf-8").splitlines()
    kinds = [type(parse_record(line)) for line in lines]
    assert kinds.count(ProcessStarted) == 1
    assert kinds.count(FrameReceived) == kinds.count(FrameAnswered) >= 2


def test_the_reference_is_spared_where_brokers_are_under_test() -> None:
    stranger = Program("kafka 0.10.2.2", V0102, REAL_TIMES, start=reference().start)
    setup = Setup(3, seed=1, controllers=1, broker=stranger)
    assert setup.spares_controllers
    assert "kill-broker" in kinds_for(setup)
    assert not any("controller" in one for one in kinds_for(setup))
    with pytest.raises(BadInput, match="kill-controller is a fault of the controller, which is the reference here"):
        checked_kinds(["kill-controller"], setup)
    assert setup.times == REAL_TIMES
