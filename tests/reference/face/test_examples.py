"""The examples of the reference's page print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

import reference

PAGE = Path(reference.__path__[0]) / "README.md"
EXAMPLE = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def test_each_example_prints_what_stands_below_it() -> None:
    examples = EXAMPLE.findall(PAGE.read_text("utf-8"))
    names: dict[str, object] = {}
    for source, expected in examples:
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102 - the page is our own
        assert told.getvalue() == expected
    assert len(examples) == 5
