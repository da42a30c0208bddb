"""Kafka itself as an adapter: `adapters/kafka/KafkaAdapter.java`, compiled against the jars of a release.

It calls Kafka's own selectors, readers and protocol, so that the vectors are asked of what they are about: where it
fails one of `as-coded-0.10.2`, the vector or the specification is wrong.
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

SOURCE: Final = Path(__file__).parent / "adapters" / "kafka" / "KafkaAdapter.java"
RELEASE: Final = "0.10.2.2"
"""Whose classes the adapter calls; other releases have other ones."""


@contextmanager
def kafka_command(release: str) -> Iterator[list[str]]:
    """The command of the adapter, while it stands; BadInput for another release, EnvironmentFailure without javac."""
    if release != RELEASE:
        raise BadInput(f"the adapter of Kafka calls the classes of {RELEASE}, and of no other release")
    if shutil.which("javac") is None:
        raise EnvironmentFailure("there is no javac, which compiles the adapter", "install a JDK, of Java 17, say")
    jars = jars_of_release(release)
    folder = Path(tempfile.mkdtemp(prefix="kcheck-conform-"))
    with short_lived(folder):
        try:
            compiled = subprocess.run(
                ["javac", "-nowarn", "-cp", jars.classpath, "-d", str(folder), str(SOURCE)],
                capture_output=True,
                text=True,
                check=False,
            )
            if compiled.returncode:
                reason = compiled.stderr.strip().splitlines()[:1]
                raise EnvironmentFailure(f"javac cannot compile {SOURCE.name}: {reason}", "is it of Java 17?")
            yield ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}:{jars.classpath}", SOURCE.stem]
        finally:
            shutil.rmtree(folder, ignore_errors=True)
