"""A Spark session that is quiet, finds our packages in its workers, and says in one line what is wrong with it.

Spark is given as little as possible: the master is whatever the user names, memory and cores are as that cluster has
them. What is set here is what the engine rests on. Workers run this very interpreter and see this checkout; a shard
stays where its visited set is (it waits for its executor); a task that loses its worker is tried again, also on a local
master, where Spark by itself would give up. Logs go to a file that is shown only when something fails.

Only one session can be open in a process; whoever opens the same one again, inside, gets it as it is.
"""

import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway

from model_check.live.janitor import short_lived
from spec.errors import BadInput, EnvironmentFailure

ROOT = Path(__file__).resolve().parents[2]
TRIES = 4
"""How often a task may lose its worker before the run gives up."""

PATIENCE = 20
"""Seconds that a task waits for its own executor, however busy; the loss of an executor holds a run up for as long."""

SPARE = 4 << 20
"""Bytes that must be free for temporary files when Spark starts."""

LOCAL = re.compile(r"local(?:\[(?P<slots>\*|\d+)\])?")

JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""No states pass through the driver's JVM: it would only spend a core on optimising itself."""

KILLED = re.compile(r"Application has been killed. Reason: (.+)")
"""What Spark logs, and no more, when no master answers; whether its context comes up nevertheless is a race."""

LOG_PROPERTIES = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""

_open: dict[str, SparkContext] = {}


def is_local(context: SparkContext) -> bool:
    """Whether the workers are processes of this machine, with nothing else to wait for."""
    return str(context.master).startswith("local")


def has_workers(context: SparkContext) -> bool:
    """Whether any executor has come; the driver counts as one that keeps blocks."""
    status: Any = context._jsc  # noqa: SLF001 - pyspark has no public way to ask
    return bool(status.sc().getExecutorMemoryStatus().size() > 1)


@contextmanager
def spark_session(master: str) -> Iterator[SparkContext]:
    """A Spark context on a master; EnvironmentFailure if it or Java is missing, BadInput if another one is open."""
    if _open:
        if master not in _open:
            raise BadInput(f"a Spark session on {next(iter(_open))} is open; close it before one on {master}")
        with _told_in_one_line():
            yield _open[master]
        return
    with tempfile.TemporaryDirectory(prefix="kcheck-spark-") as scratch, short_lived(Path(scratch)):
        _refuse_a_full_disk(Path(scratch))
        context = _start(master, Path(scratch))
        _open[master] = context
        try:
            with _told_in_one_line():
                yield context
        finally:
            del _open[master]
            _stop(context)


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    """What Spark raises is reported while its JVM lives: py4j asks that for the text."""
    try:
        yield
    except Py4JError as error:
        raise given_up(error) from None


def with_tries(master: str) -> str:
    """The master as Spark is given it: a plain local one would not try a lost task again."""
    found = LOCAL.fullmatch(master)
    return master if found is None else f"local[{found['slots'] or 1},{TRIES}]"


def _refuse_a_full_disk(scratch: Path) -> None:
    """EnvironmentFailure if no room is left for the note with which Spark's JVM begins: we would wait for it."""
    probe = scratch / "probe"
    try:
        probe.write_bytes(bytes(SPARE))
    except OSError as error:
        raise EnvironmentFailure(
            f"Spark does not start: {error.strerror} in {scratch.parent}, for {SPARE >> 20} MiB",
            "make room there, or name another folder in TMPDIR",
        ) from error
    probe.unlink()


def _configuration(master: str, scratch: Path) -> SparkConf:
    log_properties = scratch / "log4j2.properties"
    log_properties.write_text(LOG_PROPERTIES, encoding="ascii")
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    chosen = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": (
            f'{JVM_OPTIONS} "-Djava.io.tmpdir={scratch}" -Dlog4j2.configurationFile={log_properties.as_uri()}'
        ),
        "spark.executorEnv.PYTHONPATH": path,
        "spark.python.worker.reuse": "true",
        "spark.locality.wait.process": f"{PATIENCE}s",
        "spark.locality.wait.node": "0s",
        "spark.locality.wait.rack": "0s",
        "spark.task.maxFailures": str(TRIES),
    }
    if master.startswith("local"):
        chosen |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        chosen |= {"spark.local.dir": str(scratch)}
    return SparkConf().setMaster(with_tries(master)).setAppName("kcheck").setAll(list(chosen.items()))


def _start(master: str, scratch: Path) -> SparkContext:
    """Start a JVM and a context in it, with the handler of Ctrl-C left as it was."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").is_file()):
        raise EnvironmentFailure("Spark needs Java and none was found", "install Java 17, or set JAVA_HOME")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_no_second_press)
    log, handler = scratch / "spark.log", signal.getsignal(signal.SIGINT)
    conf, gateway = _configuration(master, scratch), None
    try:
        with log.open("wb") as stream:
            launch: Any = launch_gateway  # pyspark leaves it untyped
            with _local_name(master):
                gateway = launch(conf, {"stdout": stream, "stderr": stream})
        context = SparkContext(conf=conf, gateway=gateway)
        killed = KILLED.search(log.read_text(errors="replace"))
        if killed is None:
            return context
        told = killed[1].strip()
        _stop(context)
    except (Py4JError, PySparkException, OSError, ValueError) as error:
        told = _told(log, error)
        if gateway is not None:
            _end(gateway)
        _let_go(error)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)
    raise EnvironmentFailure(f"Spark does not start on {master}: {told}", "see to Spark, or name another master")


@contextmanager
def _local_name(master: str) -> Iterator[None]:
    """Inside, a local master need not ask for this machine's name, which in many a container nobody resolves."""
    if not master.startswith("local") or "SPARK_LOCAL_HOSTNAME" in os.environ:
        yield
        return
    os.environ["SPARK_LOCAL_HOSTNAME"] = "localhost"
    try:
        yield
    finally:
        del os.environ["SPARK_LOCAL_HOSTNAME"]


def _is_no_second_press(record: logging.LogRecord) -> bool:
    """Whether a record is not one in which py4j reports Ctrl-C in the middle of a call, past its own logger."""
    return "KeyboardInterrupt" not in str(record.msg)


def _told(log: Path, error: Exception) -> str:
    """What a log gives as the reason, or says of the first error in it, or the error's own first line."""
    text = log.read_text(errors="replace")
    found = re.search(r"Reason: (.+)", text) or re.search(r"(?:Exception|Error): (.+)", text)
    return found.group(1).strip() if found else (str(error).splitlines() or [type(error).__name__])[0]


def _let_go(error: Exception) -> None:
    """Close what the frames of an error still hold: the pipe to a JVM that never came up."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        traceback.clear_frames(error.__traceback__)


def given_up(error: Exception) -> EnvironmentFailure:
    """Why Spark gave up, in one line: the Python error in a worker, or what Spark says of its last try or itself."""
    text = str(error)
    for pattern in (
        r"^([\w.]*(?:Error|Exception|Failure)\b.*)$",
        r"most recent failure: .*?Exception: ([^.\n]*)",
        r"^: [\w.]*(?:Error|Exception): (.*)$",
        r"^(.+)$",
    ):
        found = re.findall(pattern, text, re.MULTILINE)
        if found:
            break
    told = found[-1].strip() if found else type(error).__name__
    ours = told.removeprefix(f"{EnvironmentFailure.__module__}.{EnvironmentFailure.__name__}: ")
    if ours != told:  # it says itself what to do
        what, _, do = ours.partition("; ")
        return EnvironmentFailure(f"Spark gave up: {what}", do)
    return EnvironmentFailure(f"Spark gave up: {told}", "see to it and start again; a run goes on where it was")


def _stop(context: SparkContext) -> None:
    """Stop the context and its JVM, and close what was open to it."""
    gateway: Any = context._gateway  # noqa: SLF001 - pyspark has no public way to end its JVM
    with suppress(Py4JError, OSError):
        context.stop()
    _end(gateway)


def _end(gateway: Any) -> None:
    """End a JVM that nobody needs any more."""
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - as above
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    if gateway.proc is not None:
        gateway.proc.stdin.close()
        gateway.proc.wait()
