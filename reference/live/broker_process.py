"""A broker of the reference as an operating system process: `python -m reference.live.broker_process --broker 1 ...`.

It runs until it is killed, or until its standard input ends: whoever started it holds that open, so that no broker
outlives a command that is gone. (A process that is stopped cannot read; on Linux the kernel kills it with its parent.)
A line on standard input is an order:

    lag 1500        tell no leader for so many milliseconds that it is followed

It prints `started` once it is registered; from then on SIGTERM lets it stop in order, by a controlled shutdown. Exit
codes: 0 its input ended, 1 a mistake of ours, 2 unknown options, 3 its id is registered by another session, 4
something around it failed (a port taken, no ZooKeeper, a full disk, a /controller that cannot be read), with one line
that says so, 143 it was told to stop.
"""

import argparse
import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NoReturn

from reference.live.outside import STARTED, Exit
from reference.live.process import AlreadyRegistered, LiveProcess, Settings
from spec.errors import MalformedInput
from spec.formats.kafka_types import V0102, KafkaVersion
from spec.variants import switch

_PR_SET_PDEATHSIG: Final = 1
ROLES: Final = ("controller", "broker", "both")
"""What a process may be; a controller holds no replicas only because nobody assigns any to it."""


def main(arguments: Sequence[str], process: Callable[[Settings], LiveProcess] = LiveProcess) -> NoReturn:
    """Run a broker; never returns."""
    _die_with_parent()
    threading.excepthook = lambda failure: _end(failure.exc_value)
    try:
        broker = process(_settings(arguments))
        broker.start()
    except BaseException as error:  # noqa: BLE001 - whatever it is, its exit code and its words tell
        _end(error)
    told = _sigterm()
    threading.Thread(target=_take_orders, args=(broker,), name="orders", daemon=True).start()
    print(STARTED, flush=True)  # noqa: T201 - this is what the parent waits for
    os.read(told, 1)
    _stop(broker)


def _sigterm() -> int:
    """A pipe that can be read once SIGTERM has come.

    Python runs a handler between two of its instructions. One that comes just before a read begins to wait would be
    heard only when the read ends; what it writes into a pipe is there whenever somebody reads it.
    """
    told, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell)
    signal.signal(signal.SIGTERM, lambda *_: None)
    return told


def _take_orders(broker: LiveProcess) -> NoReturn:
    """Do what standard input says, and end the process with it."""
    for line in sys.stdin:
        order, _, milliseconds = line.strip().partition(" ")
        if order == "lag":
            broker.fetcher.lag(int(milliseconds) / 1000)
    os._exit(Exit.INPUT_ENDED)


def _settings(arguments: Sequence[str]) -> Settings:
    parser = argparse.ArgumentParser(
        prog="python -m reference.live.broker_process", description="A broker of the reference"
    )
    parser.add_argument("--broker", type=int, required=True, help="its id")
    parser.add_argument("--zookeeper", required=True, help="host:port")
    parser.add_argument("--port", type=int, required=True, help="where it listens")
    parser.add_argument("--folder", type=Path, required=True, help="where its logs go")
    parser.add_argument("--seed", type=int, default=Settings.seed, help="decides what Kafka leaves to a hash table")
    parser.add_argument("--session-timeout-ms", type=int, default=Settings.session_timeout_ms)
    parser.add_argument("--lag-ms", type=int, default=Settings.lag_ms, help="a follower silent for so long lags")
    parser.add_argument("--role", choices=ROLES, default="both", help="a broker never stands for election")
    known = {str(one): one for one in KafkaVersion}
    parser.add_argument(
        "--inter-broker-protocol", choices=known, default=str(V0102), help="the release line whose requests it sends"
    )
    parser.add_argument("--fixes", default="", help="fixes of the era's defects, separated by commas")
    parser.add_argument("--delete-topic-enable", choices=["true", "false"], default="true")
    given = parser.parse_args(arguments)
    times = {"session_timeout_ms": given.session_timeout_ms, "lag_ms": given.lag_ms}
    fixes = frozenset(switch(name) for name in given.fixes.split(",") if name)
    return Settings(
        given.broker,
        given.zookeeper,
        given.port,
        given.folder,
        given.seed,
        **times,
        switches=fixes,
        never_controls=given.role == "broker",
        protocol=known[given.inter_broker_protocol],
        deletes_topics=given.delete_topic_enable == "true",
    )


def _stop(broker: LiveProcess) -> NoReturn:
    """Stop the broker, and end the process."""
    try:
        broker.stop()
    except BaseException as error:  # noqa: BLE001 - whatever it is, its exit code and its words tell
        _end(error)
    os._exit(Exit.TOLD_TO_STOP)


def _end(error: BaseException | None) -> NoReturn:
    """End the process at once, whatever its threads do, and say why."""
    match error:
        case AlreadyRegistered():
            code = Exit.REGISTERED
        case OSError() | MalformedInput():
            code = Exit.ENVIRONMENT
        case SystemExit():
            raise error
        case _:
            traceback.print_exception(error)
            code = Exit.MISTAKE
    print(f"broker: {error}", file=sys.stderr, flush=True)  # noqa: T201 - for whoever reads the process's errors
    os._exit(code)


def _die_with_parent() -> None:
    """Ask the kernel to kill this process when the one that started it is gone; only Linux can."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
