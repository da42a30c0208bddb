"""Kafka itself as an adapter: the Java files of `adapters/kafka`, compiled against the jars of a release.

They call Kafka's own controller, state machines, selectors, replica manager, readers and protocol, with a ZooKeeper in
the same process, so that the vectors are asked of what they are about: where Kafka fails one of `as-coded-0.10.2`, the
vector or the specification is wrong.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from model_check.live.janitor import short_lived
from model_check.live.kafka_jars import jars_of_release
from spec.errors import BadInput, EnvironmentFailure

SOURCES: Final = Path(__file__).parent / "adapters" / "kafka"
MAIN: Final = "KafkaAdapter"
RELEASE: Final = "0.10.2.2"
"""Whose classes the adapter calls; other releases have other ones."""


@contextmanager
def kafka_command(release: str) -> Iterator[list[str]]:
    """The command of the adapter, while that exists; BadInput for another release, EnvironmentFailure without javac."""
    if release != RELEASE:
        raise BadInput(f"the adapter of Kafka calls the classes of {RELEASE}, and of no other release")
    if shutil.which("javac") is None:
        raise EnvironmentFailure("there is no javac, which compiles the adapter", "install a JDK, of Java 17, say")
    jars = jars_of_release(release)
    folder = Path(tempfile.mkdtemp(prefix="kcheck-conform-"))
    with short_lived(folder):
        try:
            compiled = subprocess.run(
                [
                    "javac",
                    "-nowarn",
                    "-cp",
                    jars.classpath,
                    "-d",
                    str(folder),
                    *map(str, sorted(SOURCES.glob("*.java"))),
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if compiled.returncode:
                reason = compiled.stderr.strip().splitlines()[:1]
                raise EnvironmentFailure(f"javac cannot compile {MAIN}: {reason}", "is it of Java 17?")
            # What ZooKeeper and Kafka keep in files goes with the folder, also when the adapter is killed.
            options = ["-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={folder}"]
            yield ["java", *options, "-cp", f"{folder}:{jars.classpath}", MAIN]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
