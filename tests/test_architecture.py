"""The shape of the repository: who may import whom, where each library lives, and what no file may say.

Every rule is a function from sources to offenders, so each is tried twice: on a planted offender, which it must find,
and on the repository, where it must find none. Imports are read from the syntax tree, those inside functions and
those that `importlib.import_module` makes from a literal included; nothing is executed.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parents[1]
Sources = Mapping[str, str]
"""Text of files by their path in the repository, with forward slashes."""

LAYERS = ("spec", "reference", "model_check", "tests")
"""A module imports from its own layer and those before it, never from a later one."""

HOMES: Mapping[str, tuple[str, ...]] = {
    "hypothesis": ("model_check/refinement/simulate",),
    "jinja2": ("model_check/reports/html",),
    "junitparser": ("model_check/conformance/conformance_files", "model_check/reports/junit"),
    "kazoo": ("reference/live/zookeeper", "reference/zookeeper/server", "model_check/live/"),
    "llvmlite": ("model_check/",),
    "markupsafe": ("model_check/reports/html",),
    "networkx": ("model_check/recordings/",),
    "numba": ("model_check/",),
    "numpy": ("model_check/",),
    "pyarrow": ("model_check/",),
    "pydantic": ("model_check/cli/", "model_check/conformance/messages"),
    "py4j": ("model_check/spark/",),
    "pyspark": ("model_check/spark/", "model_check/cli/", "reference/zookeeper/server"),
    "pytest": ("model_check/pytest_plugin",),
    "rich": ("model_check/cli/", "model_check/waiting/"),
    "statemachine": ("reference/controller/machines",),
    "typer": ("model_check/cli/",),
    "typing_extensions": ("model_check/conformance/messages",),
    "z3": ("spec/", "model_check/"),
}
"""Where each library may be imported, as starts of paths; tests may import any. What is not here has no home."""

IMPORT_NAMES = {
    "Jinja2": "jinja2", "MarkupSafe": "markupsafe", "python-statemachine": "statemachine", "z3-solver": "z3",
}  # fmt: skip
"""Distributions whose import name differs."""

MAX_LINES = 400
MAX_FLOORS = 12
SKIPPED_FOLDERS = {
    ".git",
    ".venv",
    ".hypothesis",
    ".kcheck",
    "runs",
    "build",
    "dist",
    "spark-warehouse",
    "zookeeper-data",
}

MACHINE_PATH = re.compile(r"(?<![\w.}$<~-])/(?:home|root|Users|work|tmp/(?!kafka-logs|zookeeper))\b/?[\w.]*")
"""A path that exists on one machine only; Kafka's and ZooKeeper's documented default folders are theirs to name."""

PACKAGE_INDEX = re.compile(r"--(?:extra-)?index-url|\bindex-url\s*=|\bhttps?://\S+/simple\b")
"""A package registry, known by how one is named: which is used is the business of whoever installs."""


def repository() -> Sources:
    """Every text file of the checkout, build products and caches aside; what is not UTF-8 is data, not text."""
    sources = {}
    for path in sorted(ROOT.rglob("*")):
        parts = path.relative_to(ROOT).parts
        if SKIPPED_FOLDERS.intersection(parts) or any(
            part.endswith(("cache__", "_cache", ".egg-info")) for part in parts
        ):
            continue
        if path.is_file():
            try:
                sources["/".join(parts)] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return sources


def modules(sources: Sources, layers: tuple[str, ...] = LAYERS) -> Iterator[tuple[str, ast.Module]]:
    """The Python files of some layers, parsed."""
    for path, text in sources.items():
        if path.endswith(".py") and path.split("/")[0] in layers:
            yield path, parsed(path, text)


@cache
def parsed(path: str, text: str) -> ast.Module:
    """A file's syntax tree, which several rules look at."""
    return ast.parse(text, path)


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """What in a tree may import something; several rules look at it."""
    return tuple(one for one in ast.walk(tree) if isinstance(one, ast.Import | ast.ImportFrom | ast.Call))


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything that a module imports; a relative import is named by its dots."""
    for node in nodes(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=module, level=level):
                yield node.lineno, "." * level + (module or "")
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"), args=args
            ):
                yield from ((node.lineno, str(arg.value)) for arg in args[:1] if isinstance(arg, ast.Constant))


def wrong_directions(sources: Sources) -> list[str]:
    """Imports that point from a layer to a later one, and relative ones, whose direction cannot be read off."""
    offenders = []
    for path, tree in modules(sources):
        reachable = LAYERS[: LAYERS.index(path.split("/")[0]) + 1]
        for line, name in imports(tree):
            top = name.split(".")[0]
            if name.startswith(".") or (top in LAYERS and top not in reachable):
                offenders.append(f"{path}:{line} imports {name}")
    return offenders


def inner_imports(sources: Sources) -> list[str]:
    """Imports of spec/ and reference/ that do not stand at a module's head, those for types alone included.

    The reference's public face may: it is loaded when it is asked for.
    """
    return [
        f"{path}:{line} imports {name}"
        for path, tree in modules(sources, LAYERS[:2])
        if path != "reference/__init__.py"
        for statement in tree.body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        for line, name in imports(statement)
    ]


ADAPTERS = "model_check/conformance/reference_"
"""The reference as an adapter, which asks it as an implementer asks his own."""


def behind_the_face(sources: Sources) -> list[str]:
    """Imports of the reference's inner modules where it is asked by its public face."""
    return [
        f"{path}:{line} imports {name}"
        for path, tree in modules(sources, ("model_check",))
        if path.startswith(ADAPTERS)
        for line, name in imports(tree)
        if name.startswith("reference.")
    ]


def arrows(sources: Sources) -> Iterator[tuple[str, str]]:
    """Which module imports which, by their paths, of the same layer."""
    known = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in sources}
    for path, tree in modules(sources, LAYERS[:-1]):
        for node in nodes(tree):
            if isinstance(node, ast.ImportFrom) and node.module in known:
                wanted = {f"{node.module}.{alias.name}" for alias in node.names}
                targets = {known.get(one, known[node.module]) for one in wanted}
            elif isinstance(node, ast.Import):
                targets = {known[alias.name] for alias in node.names if alias.name in known}
            else:
                continue
            yield from ((path, target) for target in targets if target.split("/")[0] == path.split("/")[0])


def circles(sources: Sources) -> list[str]:
    """Modules that import each other in a circle, and folders: of a layer, and of the protocol."""
    found = list(arrows(sources))
    offenders = _in_circles(found, lambda path: path)
    for root in (*LAYERS[:-1], "spec/protocol"):
        inside = [pair for pair in found if all(path.startswith(f"{root}/") for path in pair)]
        offenders += _in_circles(inside, lambda path, root=root: path[len(root) + 1 :].split("/")[0])  # type: ignore[misc]
    return offenders


def _in_circles(found: list[tuple[str, str]], place: Callable[[str], str]) -> list[str]:
    """An arrow of each circle."""
    graph = nx.DiGraph((place(path), place(target)) for path, target in found if place(path) != place(target))
    offenders = []
    for circle in (one for one in nx.strongly_connected_components(graph) if len(one) > 1):
        within = sorted(
            (path, target) for path, target in found
            if place(path) != place(target) and {place(path), place(target)} <= circle
        )  # fmt: skip
        offenders += [f"{path} imports {target}, in a circle of {len(circle)}" for path, target in within[:1]]
    return offenders


def strays(sources: Sources) -> list[str]:
    """Imports of a library outside its home, and of libraries that have none."""
    offenders = []
    for path, tree in modules(sources, LAYERS[:-1]):
        for line, name in imports(tree):
            top = name.split(".")[0]
            ours = top in LAYERS or top in sys.stdlib_module_names or name.startswith(".")
            if not ours and not path.startswith(HOMES.get(top, ())):
                offenders.append(f"{path}:{line} imports {name}; its home: {', '.join(HOMES.get(top, ['none']))}")
    return offenders


def long_files(sources: Sources) -> list[str]:
    """Modules in which a second idea must hide."""
    counts = {path: len(sources[path].splitlines()) for path, _ in modules(sources)}
    return [f"{path}: {count} lines" for path, count in counts.items() if count > MAX_LINES]


def undocumented(sources: Sources) -> list[str]:
    """Modules and packages that do not say what they are, and folders of modules that are no package."""
    silent = [path for path, tree in modules(sources) if not (ast.get_docstring(tree) or "").strip()]
    folders = {path.rpartition("/")[0] for path, _ in modules(sources, LAYERS[:-1])}
    return silent + sorted(f"{folder}/__init__.py" for folder in folders if f"{folder}/__init__.py" not in sources)


NAMED = re.compile(r"`([\w./]+\.py)`")
"""A module's file, as a text names it; by the end of its path, where that is enough."""


def missing_files(sources: Sources) -> list[str]:
    """Modules that a text names, and that do not exist."""
    return [
        f"{path}:{number} names {name}"
        for path, text in sources.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for name in NAMED.findall(line)
        if not any(f"/{one}".endswith(f"/{name}") for one in sources)
    ]


def local_names(sources: Sources) -> list[str]:
    """Lines that name a path of some machine or a package registry."""
    return [
        f"{path}:{number} names {found.group()}"
        for path, text in sources.items()
        for number, line in enumerate(text.splitlines(), start=1)
        for found in (MACHINE_PATH.search(line), PACKAGE_INDEX.search(line))
        if found
    ]


Rule = Callable[[Sources], list[str]]
RULES: list[Rule] = [
    wrong_directions,
    inner_imports,
    behind_the_face,
    circles,
    strays,
    long_files,
    undocumented,
    missing_files,
    local_names,
]

DOC = '"""What it is."""\n'
PLANTED: list[tuple[Rule, str, str]] = [
    (wrong_directions, "spec/a.py", "import reference"),
    (wrong_directions, "spec/a.py", "def f():\n    from model_check.kernel.kernel import step"),
    (wrong_directions, "reference/a.py", "import importlib\nimportlib.import_module('model_check.kernel.kernel')"),
    (wrong_directions, "model_check/cli/a.py", "from tests import conftest"),
    (wrong_directions, "model_check/a.py", "from .kernel import step"),
    (inner_imports, "spec/a.py", "def f():\n    from spec import variants"),
    (inner_imports, "reference/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import reference.b"),
    (behind_the_face, "model_check/conformance/reference_odd.py", "from reference.brokers.broker import Broker"),
    (behind_the_face, "model_check/conformance/reference_odd.py", "def f():\n    import reference.face.module"),
    (circles, "spec/protocol/a/late.py", "from spec.protocol.b.batch import send"),
    (missing_files, "README.md", "it is told in `spec/gone|py`".replace("|", ".")),
    (circles, "spec/b/a.py", "from spec.b import c"),
    (circles, "reference/live/channels.py", "from reference.requests.queue import Queue"),
    (strays, "reference/a.py", "import z3"),
    (strays, "spec/a.py", "from numba import njit"),
    (strays, "model_check/a.py", "import typer"),
    (strays, "model_check/a.py", "__import__('requests')"),
    (long_files, "spec/a.py", "x = 1\n" * MAX_LINES),
    (undocumented, "spec/d/a.py", ""),
    (local_names, "README.md", "see :home:someone:notes".replace(":", "/")),
    (local_names, "Makefile", "LOG = |tmp|out.log".replace("|", "/")),
    (local_names, "spec/a.py", "# https://packages.example/" + "simple"),
    (local_names, "Makefile", "pip install --index" + "-url=packages.example"),
]

INNOCENT: Sources = {
    "spec/__init__.py": DOC,
    "spec/a.py": DOC + "import enum\nimport z3\nfrom spec import state\n# |tmp|kafka-logs a|work|b".replace("|", "/"),
    "spec/b/__init__.py": DOC,
    "spec/protocol/__init__.py": DOC + "# told in `b/c|py`".replace("|", "."),
    "spec/protocol/a/__init__.py": DOC,
    "spec/protocol/a/early.py": DOC,
    "spec/protocol/b/__init__.py": DOC,
    "spec/protocol/b/batch.py": DOC + "from spec.protocol.a.early import read",
    "spec/b/c.py": DOC + "import spec.b.a",
    "reference/__init__.py": DOC,
    "reference/requests/__init__.py": DOC,
    "reference/requests/queue.py": DOC + "from reference.live import zookeeper",
    "reference/live/__init__.py": DOC,
    "reference/live/zookeeper.py": DOC
    + "import kazoo.client\nimport spec.state.cluster\n"
    + "x = 1\n" * (MAX_LINES - 3),
    "model_check/__init__.py": DOC,
    "model_check/conformance/__init__.py": DOC,
    "model_check/conformance/reference_adapter.py": DOC + "import reference\nfrom spec import state",
    "model_check/conformance/conforming.py": DOC + "from reference.brokers import broker",
    "tests/reference/test_a.py": DOC + "import z3\nfrom model_check import kernel\nimport reference",
}


@pytest.fixture(scope="module")
def sources() -> Sources:
    return repository()


@pytest.mark.takes("Every module is parsed, once for all rules.")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps_the_rule(rule: Rule, sources: Sources) -> None:
    assert rule(sources) == []


@pytest.mark.parametrize(("rule", "path", "text"), PLANTED)
def test_a_planted_offender_is_found_once(rule: Rule, path: str, text: str) -> None:
    header = "" if rule is undocumented else DOC
    expected = ["spec/d/a.py", "spec/d/__init__.py"] if rule is undocumented else [path]
    offenders = rule({**INNOCENT, path: header + text})
    assert [re.split(r"[: ]", offender)[0] for offender in offenders] == expected


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_innocent_are_left_alone(rule: Rule) -> None:
    assert rule(INNOCENT) == []


def test_the_protocol_stands_on_few_floors(sources: Sources) -> None:
    """A floor is above all that it imports; what is not is in a circle, which is another rule's."""
    inside = [pair for pair in arrows(sources) if all(path.startswith("spec/protocol/") for path in pair)]
    assert 1 < nx.dag_longest_path_length(nx.DiGraph(inside)) + 1 <= MAX_FLOORS


def test_the_repository_is_seen(sources: Sources) -> None:
    """Were the walk to find nothing, every rule above would hold."""
    assert {"Makefile", ".ci/run", "pyproject.toml", "spec/__init__.py", "tests/test_architecture.py"} <= set(sources)


def test_every_dependency_has_a_home_and_an_exact_pin(sources: Sources) -> None:
    project = tomllib.loads(sources["pyproject.toml"])["project"]
    pinned = dict(line.split("==") for line in sources["constraints.txt"].splitlines())
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["spark"], *extras["live"]]
    assert {IMPORT_NAMES.get(name, name) for name in needed} == set(HOMES)
    developed, *tools = extras["dev"]
    assert developed == f"{project['name']}[spark,live]", "whoever develops has all that there is"
    assert [name for name in [*needed, *tools] if name not in pinned] == []
