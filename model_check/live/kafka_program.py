"""Kafka itself as a member: any release, or somebody's own build, unmodified.

A broker's settings are Kafka's defaults except what makes a run short and its logs complete: short sessions, little
memory, state-change.log and controller.log at TRACE, all logs appended to over its lives. Releases after 0.10.2 are
told to speak 0.10.2's protocol between brokers (`inter.broker.protocol.version`).

It is up once server.log says that it has started. A broker that finds its id registered ends by itself, and says so
there.
"""

import re
from functools import partial
from pathlib import Path
from typing import Final

from model_check.live.kafka_jars import KafkaJars, jars_in, jars_of_release
from model_check.live.programs import REAL_TIMES, Child, Launch, Program
from spec.errors import EnvironmentFailure
from spec.formats.kafka_types import V0102, V082, V090, KafkaVersion, TopicPartition

MAIN_CLASS: Final = "kafka.Kafka"
JAVA_OPTIONS: Final = (
    "-Xmx160m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # a broker that lives for a minute is better started fast than compiled well
    "-Djava.net.preferIPv4Stack=true",
)
STARTED: Final = re.compile(r"started \(kafka\.server\.KafkaServer\)")
ID_TAKEN: Final = re.compile(
    r"A broker is already registered on the path|Error while creating ephemeral at /brokers/ids/|Node ?Exists"
)
"""What a broker says that gives up since its id is another session's: 0.8.2 to 0.11, and later releases."""
TROUBLE: Final = re.compile(r"] (?:FATAL|ERROR) |^Exception in |Error: |Caused by: ")

SETTINGS: Final = """\
broker.id={broker}
zookeeper.connect={zookeeper}
zookeeper.session.timeout.ms={session}
zookeeper.connection.timeout.ms=15000
log.dirs={data}
delete.topic.enable={deletes}
auto.create.topics.enable=false
auto.leader.rebalance.enable=false
unclean.leader.election.enable=false
replica.lag.time.max.ms={lag}
controlled.shutdown.max.retries=3
controlled.shutdown.retry.backoff.ms=1000
controller.socket.timeout.ms=10000
num.network.threads=1
num.io.threads=4
background.threads=2
log.cleaner.enable=false
log.index.size.max.bytes=1048576
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
"""
LOGGING: Final = """\
log4j.rootLogger=INFO, server
log4j.logger.kafka=INFO
log4j.logger.org.apache.zookeeper=INFO
log4j.logger.state.change.logger=TRACE, stateChange
log4j.additivity.state.change.logger=false
log4j.logger.kafka.controller=TRACE, controller
log4j.additivity.kafka.controller=false
"""
APPENDERS: Final = {"server": "server.log", "stateChange": "state-change.log", "controller": "controller.log"}


class KafkaChild(Child):
    """A broker of Kafka's."""

    def __init__(self, launch: Launch, jars: KafkaJars) -> None:
        settings, logging = launch.work / "server.properties", launch.work / "log4j.properties"
        launch.work.mkdir(parents=True, exist_ok=True)
        settings.write_text(settings_of(launch, jars), encoding="utf-8")
        logging.write_text(logging_of(launch), encoding="utf-8")
        self._log = launch.folder / APPENDERS["server"]
        self._begins = self._log.stat().st_size if self._log.exists() else 0
        options = (*JAVA_OPTIONS, f"-Dlog4j.configuration=file:{logging}")
        super().__init__(
            launch, ["java", *options, "-cp", jars.classpath, MAIN_CLASS, str(settings)], {"TZ": "UTC", "LC_ALL": "C"}
        )

    @property
    def has_started(self) -> bool:
        """Whether server.log says so of this process."""
        return STARTED.search(self._said()) is not None

    @property
    def id_was_taken(self) -> bool:
        """Whether it has ended because another session has its id."""
        return self.process.poll() is not None and not self.has_started and ID_TAKEN.search(self._said()) is not None

    def folder_of(self, partition: TopicPartition) -> Path:
        """Where it has the log of a partition."""
        return data_of(self.launch) / f"{partition.topic}-{partition.partition}"

    def failure(self) -> Exception:
        """Why it ended: the last trouble that its logs tell of."""
        said = [line for line in (*self._said().splitlines(), *self.output().splitlines()) if TROUBLE.search(line)]
        why = said[-1].strip() if said else f"see {self._log.name}"
        what = f"broker {self.launch.broker} of Kafka ended by itself with exit code {self.process.returncode}"
        return EnvironmentFailure(f"{what}: {why}", "the recording ends there")

    def _said(self) -> str:
        """What this process has written to server.log."""
        if not self._log.exists():
            return ""
        with self._log.open("rb") as log:
            log.seek(self._begins)
            return log.read().decode(errors="replace")


def kafka(given: str) -> Program:
    """Kafka of a release, which is fetched if it is not in the cache, or from a folder of jars."""
    folder = Path(given) if given and Path(given).is_dir() else None  # an empty word is not the current folder
    jars = jars_of_release(given) if folder is None else jars_in(folder)
    runs = f"kafka {jars.release}" + ("" if folder is None else f" from {folder.name}")
    start = partial(KafkaChild, jars=jars)
    return Program(runs, jars.line, REAL_TIMES, start, renames_logs=jars.line is V0102)


def settings_of(launch: Launch, jars: KafkaJars) -> str:
    """The text of `server.properties`."""
    lines = SETTINGS.format(
        broker=launch.broker,
        zookeeper=launch.zookeeper,
        session=launch.times.session_timeout_ms,
        lag=launch.times.lag_ms,
        data=data_of(launch),
        deletes=str(launch.deletes_topics).lower(),
    )
    if jars.line is V082:
        return f"{lines}host.name={launch.host}\nport={launch.port}\n"
    lines += f"listeners=PLAINTEXT://{launch.host}:{launch.port}\n"
    if jars.line is None or launch.protocol is not jars.line:
        lines += f"inter.broker.protocol.version={wire_name(launch.protocol)}\n"
        if jars.line is None:
            lines += f"log.message.format.version={wire_name(launch.protocol)}\n"
    return lines


def data_of(launch: Launch) -> Path:
    """Where a broker has its logs."""
    return launch.work / "data"


def wire_name(protocol: KafkaVersion) -> str:
    """How a setting names a protocol; of 0.8.2 and 0.9.0 the first patch release is part of the name."""
    return {V082: "0.8.2.0", V090: "0.9.0.0"}.get(protocol, str(protocol))


def logging_of(launch: Launch) -> str:
    """The text of `log4j.properties`: each log a file that is appended to, in the form of Kafka's own configuration."""
    appenders = "".join(
        f"log4j.appender.{name}=org.apache.log4j.FileAppender\n"
        f"log4j.appender.{name}.File={launch.folder.resolve() / file}\n"
        f"log4j.appender.{name}.layout=org.apache.log4j.PatternLayout\n"
        f"log4j.appender.{name}.layout.ConversionPattern=[%d] %p %m (%c)%n\n"
        for name, file in APPENDERS.items()
    )
    return LOGGING + appenders
