"""Which test files a module's mutants are shown to: those that mirror it, then those that are near to it by imports.

Imports are read from the text; nothing is executed. A test file is as far away as the fewest
imports between it and the module.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

FAR: Final = 3
"""Test files that are farther away are not shown a mutant."""
JVM: Final = ("reference/zookeeper/server.py", "model_check/spark/spark_session.py")
"""Test files that reach these start a JVM: on a machine that is busy they fail by themselves, and are not shown one."""


class Importers:
    """The test files of a checkout, by the modules that they reach; `texts` are its Python files by their paths."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts

    def mirroring(self, file: str) -> list[str]:
        """The test files that mirror a module: that of its name, and those whose names go on behind it."""
        path = PurePosixPath(file)
        stem = path.parent.name if path.name == "__init__.py" else path.stem
        folder = path.parent.parent if path.name == "__init__.py" else path.parent
        beginning = f"tests/{folder}/test_{stem}"
        found = (one for one in self._tests if one == f"{beginning}.py" or one.startswith(f"{beginning}_"))
        return sorted(one for one in found if one not in self._with_jvm)

    def near(self, file: str) -> list[str]:
        """The other test files that reach it, the nearest first; of those as near the ones in the same folders."""
        mirroring, mirror = set(self.mirroring(file)), f"tests/{PurePosixPath(file).parent}/"
        away = self._distances(file)
        found = [one for one in self._tests if one in away and one not in mirroring | self._with_jvm]
        return sorted(found, key=lambda one: (away[one], not one.startswith(mirror), len(self.texts[one]), one))

    def with_jvm(self, file: str) -> int:
        """How many test files reach a module, and are not shown its mutants since they start a JVM."""
        return len(self._with_jvm.intersection(self._tests) & self._distances(file).keys())

    @cached_property
    def _with_jvm(self) -> frozenset[str]:
        return frozenset(one for file in JVM for one in self._distances(file))

    @cached_property
    def _tests(self) -> list[str]:
        return [one for one in self.texts if one.startswith("tests/") and PurePosixPath(one).name.startswith("test_")]

    @cached_property
    def _importing(self) -> Mapping[str, set[str]]:
        """By file, the files that import it."""
        files = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in self.texts}
        found: dict[str, set[str]] = {}
        for path, text in self.texts.items():
            for name in imported_names(text):
                if name in files:
                    found.setdefault(files[name], set()).add(path)
        return found

    def _distances(self, file: str) -> dict[str, int]:
        """How far the files are that reach one, up to FAR."""
        away, last = {file: 0}, {file}
        for distance in range(1, FAR + 1):
            last = {other for one in last for other in self._importing.get(one, ())} - away.keys()
            away |= dict.fromkeys(last, distance)
        return away


def imported_names(text: str) -> Iterator[str]:
    """The modules that a module's text imports, and by their dotted names also what it takes of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def python_texts(paths: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """The texts of Python files."""
    return {path: text.decode() for path, text in paths if path.endswith(".py")}
