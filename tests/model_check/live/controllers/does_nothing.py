"""A controller that wrongly claims to be one: it takes /controller, and does nothing.

It stands by itself: nothing of this project is in it.
"""

import argparse
import json
import time
from contextlib import suppress

from kazoo.client import KazooClient
from kazoo.exceptions import ConnectionLoss, NodeExistsError, SessionExpiredError


def main() -> None:
    """Stand for election, again and again: `--id 1 --zookeeper 127.0.0.1:2181`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--id", type=int, required=True)
    parser.add_argument("--zookeeper", required=True)
    given = parser.parse_args()
    zookeeper = KazooClient(given.zookeeper, timeout=4.0)
    zookeeper.start()
    data = json.dumps({"version": 1, "brokerid": given.id, "timestamp": "0"}).encode()
    while True:
        with suppress(NodeExistsError, ConnectionLoss, SessionExpiredError):
            zookeeper.create("/controller", data, ephemeral=True)
        time.sleep(0.05)


if __name__ == "__main__":
    main()
