"""The process that judges: it makes calls, it is replaced when it dies, and it never outlives the first one."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

import pytest

from model_check.campaigns.judge_process import JudgeProcess


def is_there(pid: int) -> bool:
    """Whether a process runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as told:  # noqa: PTH123 - a file of the kernel's
            return told.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def goes(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    deadline = time.monotonic() + 10
    while is_there(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_there(pid)


def test_calls_are_made_in_another_process_which_goes_with_the_block() -> None:
    with closing(JudgeProcess()) as elsewhere:
        pid = elsewhere.submit(os.getpid).result()
        assert pid != os.getpid()
        busy, waiting = elsewhere.submit(time.sleep, 60), elsewhere.submit(os.getpid)
    for one in (busy, waiting):
        assert one.cancelled() or isinstance(one.exception(), BrokenProcessPool)
    assert goes(pid)


def test_one_that_dies_is_replaced() -> None:
    with closing(JudgeProcess()) as elsewhere:
        with pytest.raises(BrokenProcessPool):
            elsewhere.submit(os._exit, 9).result()
        assert elsewhere.submit(len, "abc").result() == 3


def test_ctrl_c_is_not_for_it() -> None:
    with closing(JudgeProcess()) as elsewhere:
        assert elsewhere.submit(signal.getsignal, signal.SIGINT).result() is signal.SIG_IGN


def test_it_dies_with_a_first_process_that_is_killed() -> None:
    program = (
        "import os, sys, time\n"
        "from contextlib import closing\n"
        "from model_check.campaigns.judge_process import JudgeProcess\n"
        "if __name__ == '__main__':\n"
        "    with closing(JudgeProcess()) as elsewhere:\n"
        "        print(elsewhere.submit(os.getpid).result(), flush=True)\n"
        "        elsewhere.submit(time.sleep, 60).result()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        pid = int(first.stdout.readline())
        assert is_there(pid)
        first.kill()
    assert goes(pid)
