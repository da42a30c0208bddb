"""Starts a real ZooKeeper server: the one whose jars the pyspark package ships, so nothing else need be installed.

It is a single server on this machine, `org.apache.zookeeper.server.ZooKeeperServerMain`, for live runs and for the test
that the in-memory server answers as it does. It listens on the loopback interface only, its admin web server is off,
and it says little: warnings go to `server.log` in its data folder. Transactions are written to the file before they are
answered, but not forced to the disk: what is recorded survives the server's death, not the machine's.

The server dies with the process that started it, even if that is killed, and a temporary folder goes with it: a shell
between the two waits for the end of its input, which only that process holds open.

    with ZookeeperServer() as server:
        client = LiveZookeeper(server.address)
"""

import errno
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

from reference.ports import HOST, free_port, is_listening


class ZookeeperServerError(RuntimeError):
    """The server did not start, or has ended; its own last words are in the message."""


class JavaMissing(ZookeeperServerError):
    """There is no java to run the server with."""


class JarsMissing(ZookeeperServerError):
    """The pyspark package has no ZooKeeper jars."""


class PortTaken(ZookeeperServerError):
    """Another process listens on the server's port."""


class DiskFull(ZookeeperServerError):
    """No space is left for the server's data."""


MAIN_CLASS: Final = "org.apache.zookeeper.server.ZooKeeperServerMain"

JARS: Final = (
    "zookeeper-[0-9]*", "zookeeper-jute-*", "metrics-core-*", "snappy-java-*", "slf4j-api-*", "log4j-slf4j2-impl-*",
    "log4j-api-*", "log4j-core-*",
)  # fmt: skip
"""Of pyspark's two hundred jars those that the server needs: to look through them all is a third of its start."""

_JAVA_OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1",  # a server that lives for seconds is better started fast than compiled well
    "-XX:+UseSerialGC",
    "-Xmx256m",
    "-Dzookeeper.forceSync=no",
    "-Dzookeeper.preAllocSize=1024",  # kilobytes of log that are allocated at a time
    "-Dzookeeper.jmx.log4j.disable=true",
)

_DEATH_WATCH: Final = """
temporary_folder=$1 pid_file=$2
shift 2
exec 3<&0
"$@" </dev/null &
server=$!
echo $server >"$pid_file"
(
    cat <&3 >/dev/null
    kill $server
    while kill -0 $server; do sleep 0.1; done
    [ -z "$temporary_folder" ] || rm -rf "$temporary_folder"
) 2>/dev/null &
wait $server
"""
"""Runs a command until it ends or standard input does, whichever is first; then the temporary folder goes, too."""

_LOGGING: Final = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1} %m%n%ex
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""

_READINESS_POLL_SECONDS: Final = 0.02
_STOP_SECONDS: Final = 10.0


def zookeeper_jars() -> Path:
    """The folder of jars in the pyspark package that holds all of ZooKeeper's; raises JarsMissing."""
    package = importlib.util.find_spec("pyspark")
    if package is None or package.origin is None:
        raise JarsMissing(
            "the pyspark package, whose jars hold the ZooKeeper server, is not installed: "
            "pip install 'kafka-controller-spec[live]'"
        )
    jars = Path(package.origin).parent / "jars"
    lacking = [name for name in JARS if not any(jars.glob(f"{name}.jar"))]
    if lacking:
        raise JarsMissing(f"no {', '.join(lacking)} in {jars}: install pyspark of constraints.txt, with its jars")
    return jars


class ZookeeperServer:
    """A ZooKeeper server as a context manager.

    `data_dir` is kept if given, otherwise a temporary folder that goes with the server; `port` None chooses a free one.
    Sessions may ask for time-outs between `min_session_timeout_ms` and `max_session_timeout_ms`, by default 2 and 20
    ticks of `tick_time_ms`; they end within a tick after it. All times are in milliseconds.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        port: int | None = None,
        *,
        tick_time_ms: int = 200,
        min_session_timeout_ms: int | None = None,
        max_session_timeout_ms: int = 60_000,
        java: str = "java",
    ) -> None:
        self.port = port
        self.tick_time_ms = tick_time_ms
        self.min_session_timeout_ms = min_session_timeout_ms or 2 * tick_time_ms
        self.max_session_timeout_ms = max_session_timeout_ms
        self._java = java
        self._port_is_given = port is not None
        self._data_dir = data_dir
        self._data_dir_is_given = data_dir is not None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Host and port, as clients take them."""
        return f"{HOST}:{self.port}"

    @property
    def data_dir(self) -> Path:
        """Where the server keeps its data; the transaction log is in `version-2` below it."""
        if self._data_dir is None:
            raise ZookeeperServerError(
                "the ZooKeeper server has not been started, or is stopped: it has no data folder"
            )
        return self._data_dir

    @property
    def output(self) -> Path:
        """What the server has printed, warnings and worse."""
        return self.data_dir / "server.log"

    @property
    def _pid_file(self) -> Path:
        return self.data_dir / "server.pid"

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return int(self._pid_file.read_text(encoding="utf-8"))

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, timeout_seconds: float = 30.0) -> None:
        """Start the server and wait until it answers clients; raises a ZookeeperServerError."""
        java = shutil.which(self._java)
        if java is None:
            raise JavaMissing(f"no {self._java!r} on the PATH: install a Java runtime, 11 or newer")
        jars = zookeeper_jars()
        classpath = os.pathsep.join(str(one) for name in JARS for one in sorted(jars.glob(f"{name}.jar")))
        for attempts_left in (2, 1, 0):
            self._launch(java, classpath)
            try:
                self._wait_until_ready(timeout_seconds)
                return
            except PortTaken:
                # A free port may be taken by another before the server has it; a given one is the caller's choice.
                if self._port_is_given or not attempts_left:
                    raise
                self.stop()

    def _launch(self, java: str, classpath: str) -> None:
        if not self._port_is_given:
            self.port = free_port()
        elif is_listening(self.port):
            raise PortTaken(f"port {self.port} of {HOST} is taken: stop what listens there, or choose another port")
        with self._disk_errors():
            if self._data_dir is None:
                self._data_dir = Path(tempfile.mkdtemp(prefix="zookeeper-"))
            self._data_dir.mkdir(parents=True, exist_ok=True)
            config, logging = self.data_dir / "zoo.cfg", self.data_dir / "log4j2.properties"
            config.write_text(self._configuration(), encoding="utf-8")
            logging.write_text(_LOGGING, encoding="utf-8")
            options = [*_JAVA_OPTIONS, f"-Dlog4j2.configurationFile={logging}"]
            command = [java, *options, "-cp", classpath, MAIN_CLASS, str(config)]
            temporary = "" if self._data_dir_is_given else str(self.data_dir)
            with self.output.open("wb") as output:
                self._process = subprocess.Popen(
                    ["sh", "-c", _DEATH_WATCH, "zookeeper", temporary, str(self._pid_file), *command],
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C is for whoever started us, who then stops the server in order
                )

    def _configuration(self) -> str:
        settings = {
            "dataDir": self.data_dir.resolve(),
            "clientPort": self.port,
            "clientPortAddress": HOST,
            "tickTime": self.tick_time_ms,
            "minSessionTimeout": self.min_session_timeout_ms,
            "maxSessionTimeout": self.max_session_timeout_ms,
            "maxClientCnxns": 0,
            "admin.enableServer": "false",
            "4lw.commands.whitelist": "srvr",
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())

    def _wait_until_ready(self, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        while not self._is_serving():
            self.check_running()
            if time.monotonic() > deadline:
                raise ZookeeperServerError(
                    f"ZooKeeper did not answer on {self.address} within {timeout_seconds:g} s{self._last_words()}"
                )
            time.sleep(_READINESS_POLL_SECONDS)

    def _is_serving(self) -> bool:
        """Whether the server answers `srvr`, which it does once its database is loaded."""
        with suppress(OSError), socket.create_connection((HOST, self.port or 0), timeout=1) as connection:
            connection.sendall(b"srvr")
            return b"Mode: " in connection.makefile("rb").read()
        return False

    def check_running(self) -> None:
        """Raise the ZookeeperServerError that says why, if the server has ended by itself."""
        if self._process is None:
            raise ZookeeperServerError("the ZooKeeper server has not been started")
        if (status := self._process.poll()) is not None:
            words = self._last_words()
            if "Address already in use" in words:
                raise PortTaken(f"port {self.port} of {HOST} was taken before the server had it: choose another port")
            if "No space left on device" in words or shutil.disk_usage(self.data_dir).free == 0:
                raise self._disk_full()
            raise ZookeeperServerError(f"the ZooKeeper server ended with status {status}{words}")

    def _last_words(self) -> str:
        """The last line of the output that tells of an exception, or the very last one, to follow a message."""
        with suppress(OSError):
            lines = self.output.read_text(encoding="utf-8", errors="replace").splitlines()
            lines = [line.strip() for line in lines if line.strip() and not line.startswith(("\tat ", "at "))]
            telling = [line for line in lines if "Exception" in line or "Error" in line]
            for line in (telling or lines)[-1:]:
                return f": {line}"
        return ""

    def stop(self) -> None:
        """Stop in order and wait for the end; may be called twice. A temporary data folder goes, a given one stays."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if self._data_dir is not None and not self._data_dir_is_given:
            shutil.rmtree(self._data_dir, ignore_errors=True)
            self._data_dir = None

    def _disk_full(self) -> DiskFull:
        return DiskFull(f"no space is left on the device of {self.data_dir}: free some, or choose another data folder")

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise self._disk_full() from error
            raise ZookeeperServerError(f"cannot write to {self.data_dir}: {error.strerror}") from error
