"""The small controller that also reassigns, step by step: OAR + RAR, a higher epoch, RAR in sync, RAR alone."""

import json
from dataclasses import replace
from typing import Any

from kazoo.exceptions import NoNodeError

from spec.formats.kafka_types import TopicPartition
from spec.formats.request_schemas import StopReplicaRequest
from tests.model_check.live.controllers.small_controller import Partition, SmallController, main

REQUEST = "/admin/reassign_partitions"


class Moves(SmallController):
    """It does for one partition after the other what is due, and looks again."""

    def look_around(self) -> None:
        """First what is to be reassigned."""
        live = self.registered()
        for one in self.requested():
            number, wanted = one["partition"], tuple(one["replicas"])
            partition = {p.number: p for p in self.partitions(one["topic"])}[number]
            if partition.state is not None:
                self.move(partition, wanted, live)
        super().look_around()

    def requested(self) -> list[dict[str, Any]]:
        """What somebody asks for."""
        try:
            entries: list[dict[str, Any]] = json.loads(self.zookeeper.get(REQUEST)[0])["partitions"]
        except NoNodeError:
            return []
        return entries

    def move(self, partition: Partition, wanted: tuple[int, ...], live: dict[int, Any]) -> None:
        """The next step of one partition's move."""
        state, both = partition.state or {}, (*wanted, *(b for b in partition.replicas if b not in wanted))
        if set(partition.replicas) != set(both):
            self.assign(partition, both)
            self.decide(replace(partition, replicas=both), state["isr"], state["leader"])
        elif set(wanted) <= set(state["isr"]) and set(wanted) <= set(live):
            old = [b for b in partition.replicas if b not in wanted]
            leader = state["leader"] if state["leader"] in wanted else wanted[0]
            if old:
                self.decide(partition, [b for b in state["isr"] if b in wanted], leader)
            self.stop(partition, [b for b in old if b in live], live)
            self.assign(partition, wanted)
            self.done(partition)

    def assign(self, partition: Partition, replicas: tuple[int, ...]) -> None:
        """Write a partition's assignment, with those of the others as they are."""
        path = f"/brokers/topics/{partition.topic}"
        assigned = json.loads(self.zookeeper.get(path)[0])
        assigned["partitions"][str(partition.number)] = list(replicas)
        self.zookeeper.set(path, json.dumps(assigned).encode())

    def decide(self, partition: Partition, isr: list[int], leader: int) -> None:
        """Write a state with a higher leader epoch."""
        epoch = (partition.state or {})["leader_epoch"] + 1
        self.write(partition, {**self.state([leader], epoch), "isr": isr})

    def stop(self, partition: Partition, brokers: list[int], live: dict[int, Any]) -> None:
        """Have brokers delete a replica."""
        named = (TopicPartition(partition.topic, partition.number),)
        for broker in brokers:
            self.send(json.loads(live[broker][0]), [StopReplicaRequest(self.id, self.epoch, True, named)])

    def done(self, partition: Partition) -> None:
        """What is left of the request."""
        left = [one for one in self.requested() if (one["topic"], one["partition"]) != self.name(partition)]
        if left:
            self.zookeeper.set(REQUEST, json.dumps({"version": 1, "partitions": left}).encode())
        else:
            self.zookeeper.delete(REQUEST)

    @staticmethod
    def name(partition: Partition) -> tuple[str, int]:
        """How a request names it."""
        return partition.topic, partition.number


if __name__ == "__main__":
    main(Moves)
