"""A controller that wrongly claims to be one: asked to move replicas, it writes where they are to be, and is done."""

import json

from tests.model_check.live.controllers.small_controller import SmallController, main

REQUEST = "/admin/reassign_partitions"


class MovesAtOnce(SmallController):
    """It waits neither for the new replicas to catch up, nor for one of them to lead."""

    def look_around(self) -> None:
        """First what is to be reassigned, without RAR + OAR in between."""
        if self.zookeeper.exists(REQUEST):
            for one in json.loads(self.zookeeper.get(REQUEST)[0])["partitions"]:
                path = f"/brokers/topics/{one['topic']}"
                assigned = json.loads(self.zookeeper.get(path)[0])
                assigned["partitions"][str(one["partition"])] = one["replicas"]
                self.zookeeper.set(path, json.dumps(assigned).encode())
            self.zookeeper.delete(REQUEST)
        super().look_around()


if __name__ == "__main__":
    main(MovesAtOnce)
