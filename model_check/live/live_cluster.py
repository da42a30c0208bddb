"""A cluster to be recorded: a real ZooKeeper server, and a process for each member.

What is done to it is written down as it is done (`actions.jsonl`), the members write their own logs, and at the end
ZooKeeper's transaction log is read: the recording that `model_check/RECORDING.md` tells of. The server and the members
are children of this process, in sessions of their own, so that Ctrl-C reaches only us; they die with it.

A member keeps its port over its incarnations, as a real one does; while it is down, nobody is given it by chance.
"""

import json
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self

from model_check.live.janitor import short_lived
from model_check.live.live_admin import PATIENCE_SECONDS, Admin
from model_check.live.live_setup import Setup
from model_check.live.programs import OVERLOADED, Child, Launch
from model_check.recordings.actions import ACTIONS, AT_REST, NOTE
from model_check.recordings.members import MEMBERS, print_members
from model_check.recordings.sessions import SESSIONS, by_starts, sessions_by_log, sessions_by_ownership
from model_check.recordings.transactions import ZOOKEEPER, parts_of
from model_check.verdicts.extras import missing_extra
from reference.ports import HOST, kept_ports
from reference.zookeeper.log import LogTail, read_transaction_log
from reference.zookeeper.recording import write_recording
from reference.zookeeper.server import ZookeeperServer, ZookeeperServerError
from reference.zookeeper.transactions import SessionCreated, WriteRefused
from spec.errors import EnvironmentFailure, SpecError
from spec.formats.kafka_types import TopicPartition

POLL_SECONDS: Final = 0.03
STATE_CHANGES: Final = "state-change.log"
TELLING: Final = (STATE_CHANGES, "controller.log", "wire.jsonl")
"""The files of a member that grow when it does something."""
RESTLESS: Final = 8
"""After so many times as long as a cluster at rest is quiet, it is taken to be one that does not come to rest."""


class Stopped(Exception):
    """Whoever waits for the run asked it to stop."""


class EndedEarly(Exception):
    """A member that is not ours ended by itself, or does not come to what it must: the run ends, and is judged.

    Where there is more to tell than the reason, it is `said`, as lines.
    """

    def __init__(self, reason: str, said: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.said = reason, said

    def __str__(self) -> str:
        return "\n".join((self.reason, *self.said))


class LiveCluster:
    """The cluster as a context manager; `admin` asks it for things.

    Raises EnvironmentFailure, Stopped, or EndedEarly, where a member ends by itself.
    """

    def __init__(self, setup: Setup, folder: Path, stop: Callable[[], bool] = lambda: False) -> None:
        self.setup = setup
        self.folder = folder
        self.member_ids = tuple(setup.programs)
        self.broker_ids = tuple(one for one in self.member_ids if setup.role(one).holds_replicas)
        self.children: dict[int, Child] = {}
        self.starts: dict[int, list[int]] = {one: [] for one in self.member_ids}
        self._stop = stop
        self._last_read = self._last_change = self._last_session = 0
        self._last_changes = dict[int, int]()
        self._exit = ExitStack()
        self._is_saved = False

    def __enter__(self) -> Self:
        with _failures_told():
            from reference.live.zookeeper import LiveZookeeper
        with ExitStack() as entered:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._work = Path(entered.enter_context(tempfile.TemporaryDirectory(prefix="kcheck-live-")))
            entered.enter_context(short_lived(self._work))
            entered.enter_context(_failures_told())
            self._server = entered.enter_context(
                ZookeeperServer(
                    self._work / "zookeeper",
                    self.setup.port,
                    tick_time_ms=self.setup.tick_ms,
                    min_session_timeout_ms=self.setup.times.session_timeout_ms,
                )
            )
            zookeeper = entered.enter_context(LiveZookeeper(self._server.address, 60_000))
            self.admin = Admin(zookeeper, self.act)
            self._ports = dict(zip(self.member_ids, kept_ports(len(self.member_ids)), strict=True))
            (self.folder / MEMBERS).write_text(print_members(self.setup.members), encoding="utf-8")
            self._log = LogTail(self._server.data_dir)
            self._acts = entered.enter_context((self.folder / ACTIONS).open("w", encoding="utf-8"))
            entered.callback(self._end_children)
            self.act("zookeeper-started", port=self._server.port, admin_session=hex(zookeeper.session))
            self._exit = entered.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not self._is_saved:
            with suppress(OSError, SpecError):  # what ended the run may have taken this, too; that is what is told
                self.finish()
        self._exit.__exit__(kind, error, traceback)

    def _end_children(self) -> None:
        for child in self.children.values():
            child.end()
        self.children.clear()

    # -------------------------------------------------------------------------------------------- what is done to it

    def act(self, action: str, **fields: Any) -> None:
        """Write down what is done."""
        now = datetime.now(UTC)
        head = {"time": f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03}Z", "ms": int(now.timestamp() * 1000)}
        self._acts.write(json.dumps({**head, "action": action, **fields}) + "\n")
        self._acts.flush()

    def start(self, member: int) -> None:
        """Start a member's process, and do not wait for it."""
        self.starts[member].append(time.time_ns() // 1_000_000)
        launch = Launch(
            broker=member,
            incarnation=len(self.starts[member]),
            role=self.setup.role(member),
            host=HOST,
            port=self._ports[member],
            zookeeper=self._server.address,
            folder=self.folder / f"broker-{member}",
            work=self._work / f"broker-{member}",
            seed=hash((self.setup.seed, member, len(self.starts[member]))) & 0xFFFF,
            times=self.setup.times,
            protocol=self.setup.protocol,
            switches=self.setup.switches,
            deletes_topics=self.setup.deletes_topics,
        )
        child = self.children[member] = self.setup.programs[member].start(launch)
        self.act("broker-start", broker=member, pid=child.process.pid, incarnation=launch.incarnation)

    def kill(self, broker: int) -> None:
        """Kill a broker (SIGKILL)."""
        self.act("broker-kill-9", broker=broker, pid=self.children[broker].process.pid)
        self.children.pop(broker).end()

    def tell_to_stop(self, broker: int) -> None:
        """Have a broker stop in order (SIGTERM), and do not wait for it."""
        self.act("broker-sigterm (controlled shutdown)", broker=broker, pid=self.children[broker].process.pid)
        self.children[broker].tell_to_stop()

    def await_exit(self, broker: int) -> None:
        """Wait until a broker that was told to stop is gone."""
        process = self.children[broker].process
        self.wait_until(f"broker {broker} has stopped", lambda: process.poll() is not None)
        self.children.pop(broker).end()
        self.act("broker-exited", broker=broker, rc=process.returncode)

    def suspend(self, broker: int) -> None:
        """Stop a broker where it is (SIGSTOP)."""
        self.act("broker-sigstop", broker=broker)
        self.children[broker].signal(signal.SIGSTOP)

    def resume(self, broker: int) -> None:
        """Let it go on (SIGCONT)."""
        self.act("broker-sigcont", broker=broker)
        self.children[broker].signal(signal.SIGCONT)

    def falls_silent(self, broker: int, milliseconds: int) -> bool:
        """Have a follower tell its leaders nothing for so long; say whether it can."""
        falls_silent = self.children[broker].falls_silent(milliseconds)
        if falls_silent:
            self.act(NOTE, text=f"broker {broker} tells no leader for {milliseconds} ms that it follows")
        return falls_silent

    @contextmanager
    def log_elsewhere(self, broker: int, partition: TopicPartition) -> Iterator[None]:
        """Meanwhile the folder of a replica's log is another's, so that the broker cannot delete it.

        Where there is none, or there is another by the time, that is written down, and nothing is done.
        """
        folder, log = self.children[broker].folder_of(partition), f"the log of {partition} on broker {broker}"
        if folder is None or not folder.exists():
            self.act(NOTE, text=f"{log} is not there")
            yield
            return
        elsewhere = self._work / f"{folder.name} of broker {broker}"
        self.act(NOTE, text=f"{log} is moved away")
        folder.rename(elsewhere)
        try:
            yield
        finally:
            if is_free := not folder.exists():
                elsewhere.rename(folder)
            self.act(NOTE, text=f"{log} is back" if is_free else f"{log} stays away: there is another")

    def last_session_begun(self) -> int:
        """The transaction with which a session began last; a member begins one before it registers."""
        self._read_on()
        return self._last_session

    def last_change_of(self, session: int) -> int:
        """The transaction with which a session changed something last, 0 if it has not."""
        self._read_on()
        return self._last_changes.get(session, 0)

    def see_change(self, session: int, since: int, patience_seconds: float) -> None:
        """Wait until a session's last change is another, and lose no time; after so long, whatever it has done."""
        deadline = time.monotonic() + patience_seconds
        while self.last_change_of(session) == since and time.monotonic() < deadline:
            self.sleep(0)

    # ---------------------------------------------------------------------------------------------------------- waiting

    def wait_until(
        self,
        what: str,
        holds: Callable[[], bool],
        patience_seconds: float = PATIENCE_SECONDS,
        hint: Callable[[], str] = lambda: OVERLOADED,
    ) -> None:
        """Wait for something that must come; EnvironmentFailure, or EndedEarly, if it does not, with a hint why."""
        if not self.comes(holds, patience_seconds):
            self.gives_up(what, patience_seconds, hint())

    def gives_up(self, what: str, seconds: float, hint: str = OVERLOADED) -> NoReturn:
        """Nobody waits any longer for what has not come: EnvironmentFailure, or EndedEarly, with a hint why."""
        late = EnvironmentFailure(f"within {seconds:g} s not: {what}", hint)
        raise late if self.setup.is_all_ours else EndedEarly(str(late))

    def comes(self, holds: Callable[[], bool], patience_seconds: float) -> bool:
        """Wait for something that may not come; say whether it did."""
        deadline = time.monotonic() + patience_seconds
        while not holds():
            if time.monotonic() > deadline:
                return False
            self.sleep(POLL_SECONDS)
        return True

    def sleep(self, seconds: float) -> None:
        """Let the cluster run, and see that nothing has ended by itself."""
        until = time.monotonic() + seconds
        while True:
            if self._stop():
                raise Stopped
            self._server.check_running()
            for child in self.children.values():
                if child.has_failed:
                    failure = child.failure()
                    raise (
                        failure if self.setup.is_all_ours else EndedEarly(str(failure), child.last_words())
                    ) from failure
            left = until - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, POLL_SECONDS))

    def ensure_running(self, broker: int) -> None:
        """Have a broker up and registered; one that finds its id taken is started again once the old session ends."""
        while True:
            if broker not in self.children:
                self.start(broker)
            child = self.children[broker]
            self.wait_until(child.awaited, child.has_started_or_ended, hint=child.why_not_up)
            if child.has_started:
                return
            self._reap(broker)

    def _reap(self, broker: int) -> None:
        """A broker has ended since its id was registered by another session; wait for that one's end."""
        self.children.pop(broker).end()
        self.act("broker-exited", broker=broker)
        self.wait_until(f"the old session of broker {broker} ends", lambda: not self.admin.is_registered(broker))

    def rest(self) -> bool:
        """Wait until nobody changes or logs anything any more; write down, and say, whether that came."""
        quiet_seconds = self.setup.times.quiet_seconds
        deadline = time.monotonic() + RESTLESS * quiet_seconds
        seen, since = self._done(), time.monotonic()
        while time.monotonic() - since < quiet_seconds:
            if time.monotonic() > deadline:
                return False
            self.sleep(POLL_SECONDS)
            now = self._done()
            if now != seen:
                seen, since = now, time.monotonic()
        self.act(AT_REST, zxid=hex(seen[0]))
        return True

    def _done(self) -> tuple[int, int]:
        """The last transaction that changed something, which refused ones do not, and the size of all logs."""
        self._read_on()
        logs = (log for name in TELLING for log in self.folder.glob(f"broker-*/{name}"))
        return self._last_change, sum(log.stat().st_size for log in logs)

    def _read_on(self) -> None:
        """Read what ZooKeeper has written since."""
        if (last := self.admin.last_zxid()) == self._last_read:
            return
        for one in self._log.until(last):
            self._last_read = one.zxid
            if not any(isinstance(part.change, WriteRefused) for part in parts_of(one)):
                self._last_change = self._last_changes[one.session] = one.zxid
            if isinstance(one.change, SessionCreated):
                self._last_session = one.zxid

    # ---------------------------------------------------------------------------------------------------- the recording

    def finish(self) -> None:
        """End every broker at once, and save what they and ZooKeeper wrote; a run that fails ends with this, too."""
        for broker in self.children:
            self.act("broker-kill-9 (end of recording)", broker=broker)
        self._end_children()
        transactions = list(read_transaction_log(self._server.data_dir / "version-2"))
        write_recording(self.folder / ZOOKEEPER, transactions)
        owned = by_starts(sessions_by_ownership(transactions), transactions, self.starts)
        sessions = {**owned, **sessions_by_log(self.folder)}
        told = {
            hex(number & (1 << 64) - 1): {"broker": one.broker, "incarnation": one.incarnation}
            for number, one in sessions.items()
        }
        (self.folder / SESSIONS).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        self._is_saved = True
        self.act("end")


@contextmanager
def _failures_told() -> Iterator[None]:
    """What goes wrong with the server, or with the connection to it, as a failure of the environment."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error
    except ZookeeperServerError as error:
        raise EnvironmentFailure(str(error), "nothing was judged") from error
    except (ConnectionError, TimeoutError) as error:
        raise EnvironmentFailure(f"ZooKeeper cannot be reached: {error}", "nothing was judged") from error
