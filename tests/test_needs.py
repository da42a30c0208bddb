"""What a file needs is read off its imports, and theirs."""

from pathlib import Path

import pytest

from tests.needs import COSTLY, ROOT, needs


@pytest.mark.parametrize(
    "path", ["spec/formats/test_znodes.py", "reference/controller/test_handlers.py", "test_architecture.py"]
)
def test_a_unit_needs_nothing_costly(path: str) -> None:
    assert needs(ROOT / "tests" / path) == set()


NEEDY = {
    "pyspark": "model_check/spark/test_spark_engine.py",
    "kazoo": "reference/zookeeper/test_server.py",
    "subprocess": "model_check/live/test_live_run.py",
    "selenium": "model_check/reports/test_html_in_a_browser.py",
    "multiprocessing": "model_check/checks/test_processes.py",
    "numba": "model_check/kernel/test_kernel.py",
    "spec.system.system": "spec/test_system.py",
    "model_check.judging.judge": "model_check/judging/test_judge.py",
    "model_check.stepping.plain_rules": "spec/protocol/test_protocol_examples.py",
}


@pytest.mark.parametrize("what", COSTLY)
def test_what_is_costly_is_found_also_behind_a_helper(what: str) -> None:
    assert COSTLY[what] in needs(ROOT / "tests" / NEEDY[what])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import pyspark.sql", {COSTLY["pyspark"]}),
        ("from pyspark import SparkContext", {COSTLY["pyspark"]}),
        ("def f():\n    from spec.system import system", {COSTLY["spec.system.system"]}),
        ("from spec.system import rules", set()),
        ("import systems", set()),
        ("from tests.spec import on_demand", set()),
    ],
)
def test_an_import_is_read_in_each_of_its_forms(text: str, found: set[str], tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(text, encoding="utf-8")
    assert needs(path) == found
