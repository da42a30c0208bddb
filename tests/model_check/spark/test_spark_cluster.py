"""A run on a standalone cluster of a master and two workers on this machine, one of which is lost in mid-run.

The cluster comes from the pyspark package alone. By hand, for a look at it:

    spark-class org.apache.spark.deploy.master.Master --host 127.0.0.1 --port 7077
    spark-class org.apache.spark.deploy.worker.Worker --cores 1 --memory 1g spark://127.0.0.1:7077     (twice)
    kcheck enumerate tiny --master spark://127.0.0.1:7077

`pytest --deep tests/model_check/spark/test_spark_cluster.py` does this one.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest

from model_check.explicit_state.explorer import explore
from model_check.spark.enumeration import enumeration_of
from model_check.spark.level_loop import take_up
from model_check.spark.run_folder import RunFolder
from tests.model_check.systems import odometer, odometer_counts
from tests.needs import ROOT

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.slow]

SPARK_CLASS = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
DEPLOY = "org.apache.spark.deploy"

RUN = (
    "import sys; from model_check.spark.spark_engine import enumerate_states\n"
    "from tests.model_check.systems import odometer\n"
    "found = enumerate_states(odometer(2, 31), run_folder=sys.argv[1], master=sys.argv[2], shards=3)\n"
    "print(found.digest)"
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def machine(log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process group of its own, as a machine that can be lost as a whole; what is left of it ends with the block."""
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (
        log.open("wb") as stream,
        subprocess.Popen(
            [SPARK_CLASS, *command], env=environment, stdout=stream, stderr=stream, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            lose(process)


def lose(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def wait_for_line(log: Path, text: str) -> None:
    deadline = time.monotonic() + 120
    while text not in log.read_text(errors="replace"):
        assert time.monotonic() < deadline, f"{log.name} does not say {text!r}:\n{log.read_text(errors='replace')}"
        time.sleep(0.1)


def wait_for_level(run: Path, depth: int, driver: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 240
    while not (run / "levels" / f"{depth:06}.json").exists():
        assert driver.poll() is None, "the run ended early"
        assert time.monotonic() < deadline, "the run does not get on"
        time.sleep(0.02)


def test_a_run_outlives_the_loss_of_a_worker_machine(tmp_path: Path) -> None:
    system, run, master = odometer(2, 31), tmp_path / "run", f"spark://127.0.0.1:{free_port()}"
    with ExitStack() as cluster:
        log = tmp_path / "master.log"
        address = ("--host", "127.0.0.1", "--port", master.rpartition(":")[2], "--webui-port", "0")
        cluster.enter_context(machine(log, f"{DEPLOY}.master.Master", *address))
        wait_for_line(log, "I have been elected leader")
        workers = []
        for number in range(2):
            own = tmp_path / f"worker-{number}"
            room = ("--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(own))
            log = tmp_path / f"worker-{number}.log"
            workers.append(cluster.enter_context(machine(log, f"{DEPLOY}.worker.Worker", *room, master)))
            wait_for_line(log, "Successfully registered with master")
        command = [sys.executable, "-c", RUN, str(run), master]
        driver = cluster.enter_context(
            subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        )
        cluster.callback(driver.kill)
        wait_for_level(run, 10, driver)
        executors = [len(list((tmp_path / f"worker-{number}").glob("app-*/*"))) for number in range(2)]
        lose(workers[0])
        lost_at = len(RunFolder(run).levels())
        told, _ = driver.communicate(timeout=300)
    assert executors == [1, 1], "both machines had a part in it"
    assert driver.returncode == 0
    assert lost_at < 63
    assert told.decode().split() == [explore(system).digest]
    loop = take_up(system, run, shards=3, cores=lambda: 1, resume=True)
    found = enumeration_of(loop.kernel, loop.folder, loop.levels[1:], "", {})
    assert (found.levels, found.exhausted) == (odometer_counts(2, 31).levels, True)
