"""The jars of a Kafka to be run: of a release, fetched once into a cache, or of a folder that somebody has.

`kafka_releases.toml` names the jars of each release as one names a dependency, with their SHA-256 sums; nothing runs
whose sums differ. They are fetched with Ivy, whose jar the pyspark package ships, from where Ivy looks by default. A
release is put into the cache whole or not at all.

    jars = jars_of_release("0.10.2.2")     # .folder, .release
    jars = jars_in(Path("kafka/libs"))     # a distribution's `libs/`, or one's own build
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from model_check.live.janitor import short_lived, short_lived_process
from reference.zookeeper.server import JarsMissing, zookeeper_jars
from spec.errors import BadInput, EnvironmentFailure, UnknownName
from spec.formats.kafka_types import KafkaVersion

RELEASES_FILE: Final = Path(__file__).with_name("kafka_releases.toml")
KAFKA_JAR: Final = re.compile(
    r"(?!.*-(?:sources|javadoc|scaladoc|tests?)\.jar)kafka_\d+\.\d+-(\d+(?:\.\d+)+)(?:-[\w.]+)*\.jar"
)
"""The jar with Kafka's broker: the version of Scala, then of Kafka. What a build leaves beside it does not count."""
FETCH_SECONDS: Final = 600
INSTEAD: Final = "connect this machine to a network, or name a folder that has Kafka's jars"

Sums = Mapping[str, str]
"""SHA-256 sums by coordinate, `organisation:artifact:version`."""


@dataclass(frozen=True)
class KafkaJars:
    """A folder with all jars of a Kafka, and its release, `0.10.2.2`."""

    folder: Path
    release: str

    @property
    def classpath(self) -> str:
        """What java is given."""
        return f"{self.folder}/*"

    @property
    def line(self) -> KafkaVersion | None:
        """The release line, if it is one of the documented controller's."""
        return release_line(self.release)


def release_line(release: str) -> KafkaVersion | None:
    """The release line of the documented controller that a release belongs to."""
    return next((one for one in KafkaVersion if f"{release}.".startswith(f"{one}.")), None)


@cache
def releases() -> Mapping[str, Sums]:
    """The releases that can be fetched, oldest first."""
    return tomllib.loads(RELEASES_FILE.read_text(encoding="utf-8"))


def jars_in(folder: Path) -> KafkaJars:
    """The jars in somebody's folder; BadInput if Kafka is not among them, or more than once."""
    found = [match for one in sorted(folder.glob("*.jar")) if (match := KAFKA_JAR.fullmatch(one.name))]
    if not found:
        raise BadInput(f"{folder} has no kafka_*.jar: name a folder of jars, such as a distribution's libs/")
    if len(found) > 1:
        raise BadInput(f"{folder} has {' and '.join(one[0] for one in found)}: leave the one that is to run")
    return KafkaJars(folder.resolve(), found[0][1])


def jars_of_release(release: str) -> KafkaJars:
    """The jars of a release, fetched if they are not in the cache; raises UnknownName or EnvironmentFailure."""
    if release not in releases():
        raise UnknownName("release of Kafka", release, releases())
    folder, sums = kafka_cache() / release, releases()[release]
    if not folder.is_dir():
        _fetch(release, sums, folder)
    if wrong := _first_that_differs(sums, folder):
        raise EnvironmentFailure(
            f"Kafka {release}: {wrong} in {folder} is not the jar that its SHA-256 sum names",
            "remove that folder; it is fetched anew",
        )
    return KafkaJars(folder, release)


def is_cached(release: str) -> bool:
    """Whether a release need not be fetched."""
    return (kafka_cache() / release).is_dir()


def kafka_cache() -> Path:
    """Where releases are kept: below `KCHECK_CACHE` if it is set, else below the user's cache folder."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kcheck"
    return Path(os.environ.get("KCHECK_CACHE") or users) / "kafka"


def _fetch(release: str, sums: Sums, folder: Path) -> None:
    """Fetch all jars beside their folder, check them, and put the folder in place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{release}-", dir=folder.parent) as work, short_lived(Path(work)):
            jars = Path(work) / "jars"
            _run_ivy(release, sums, Path(work), jars)
            if wrong := _first_that_differs(sums, jars):
                raise EnvironmentFailure(
                    f"Kafka {release}: {wrong} came otherwise than its SHA-256 sum says", "it was not kept"
                )
            try:
                jars.rename(folder)
            except OSError:
                if not folder.is_dir():  # unless another run was faster
                    raise
    except OSError as error:
        reason = f"Kafka {release} cannot be kept in {folder.parent}: {error.strerror}"
        raise EnvironmentFailure(reason, "name another folder with KCHECK_CACHE") from error


def _run_ivy(release: str, sums: Sums, work: Path, jars: Path) -> None:
    java = shutil.which("java")
    if java is None:
        raise EnvironmentFailure("no 'java' on the PATH", "install a Java runtime, 17 or newer")
    (work / "ivy.xml").write_text(_ivy_file(sums), encoding="utf-8")
    command = [java, "-jar", str(_ivy()), "-cache", str(work / "cache"), "-ivy", str(work / "ivy.xml")]
    retrieve = ["-confs", "default", "-retrieve", f"{jars}/[organisation]-[artifact]-[revision].[ext]"]
    try:
        with short_lived_process([*command, *retrieve]) as ivy:
            said, _ = ivy.communicate(timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentFailure(f"Kafka {release} was not fetched within {FETCH_SECONDS} s", INSTEAD) from error
    if ivy.returncode or not jars.is_dir():
        raise EnvironmentFailure(f"Kafka {release} cannot be fetched: {_reason(said)}", INSTEAD)


def _ivy() -> Path:
    try:
        found = sorted(zookeeper_jars().glob("ivy-[0-9]*.jar"))
    except JarsMissing as error:
        raise EnvironmentFailure(str(error), INSTEAD) from error
    if not found:
        raise EnvironmentFailure(f"no Ivy among the jars of pyspark, in {zookeeper_jars()}", INSTEAD)
    return found[-1]


def _ivy_file(sums: Sums) -> str:
    """What Ivy is to fetch: these jars, and nothing that they depend on."""
    dependencies = "".join(
        f"<dependency org={quoteattr(group)} name={quoteattr(name)} rev={quoteattr(version)}"
        ' conf="default-&gt;master" transitive="false"/>'
        for group, name, version in (one.split(":") for one in sums)
    )
    head = '<info organisation="kcheck" module="kafka"/><configurations><conf name="default"/></configurations>'
    return f'<ivy-module version="2.0">{head}<dependencies>{dependencies}</dependencies></ivy-module>'


def _reason(output: str) -> str:
    """What went wrong, in one line of Ivy's output."""
    lines = [line.strip() for line in output.splitlines()]
    telling = [line for line in lines if re.search(r"not found|unknown host|refused|timed out|ERROR|Exception", line)]
    return next(iter([*telling, *lines[-1:]]), "Ivy said nothing")[:200]


def _first_that_differs(sums: Sums, folder: Path) -> str:
    """The name of the first jar that is missing, is another, or is none of the release's; empty if none is."""
    expected = {f"{'-'.join(one.split(':'))}.jar": digest for one, digest in sums.items()}
    there = {one.name for one in folder.iterdir()}
    differing: Iterator[str] = (
        name for name in sorted(expected.keys() | there) if _digest(folder / name) != expected.get(name)
    )
    return next(differing, "")


def _digest(file: Path) -> str | None:
    """The SHA-256 sum of a file; None if it is not there."""
    if not file.is_file():
        return None
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
