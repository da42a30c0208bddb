"""Our own source files, and those that a check runs: its module, what that imports, what those import, and so on.

Imports are read from the text, wherever they are: at the head, inside a function, as a string for `import_module`. A
module's dotted name in a comment counts, too. That errs on one side only: a file too many makes a check run again, a
file too few would keep an old verdict. Only of a package around a module that is imported those functions are left out
that it does not call itself as it is loaded, for nobody calls them by that.

Some modules only make the terms of a system. A check that rests on the digest of those terms need not follow what they
import: they are named as `opaque`.
"""

import ast
import hashlib
import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("spec", "reference", "model_check")

NAMED: Final = re.compile(rf"\b(?:{'|'.join(PACKAGES)})(?:\.\w+)+")
"""A dotted name that may be a module's, or something's in a module."""
BARE: Final = re.compile(r"(?:^\s*import\s+|(?:import_module|__import__)\(\s*['\"])([^\n#;]+)", re.MULTILINE)
"""An import that may name a package without anything in it."""
FROM: Final = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
WORD: Final = re.compile(r"\w+")
DOTTED: Final = re.compile(r"[\w.]+")

READ: Final = (".py", ".toml", ".txt", ".json")

PER_CHECK: Final = frozenset({"spec/manifest.toml", "model_check/inventory/inventory.txt"})
"""Data of which a check uses its own part, which is among its other inputs."""

Files = Mapping[str, bytes]
"""The contents of files by their path below the root."""


@cache
def sources() -> Files:
    """Every file of the three packages that code may read: modules, and data other than documents and recordings."""
    return {path: (ROOT / path).read_bytes() for path in _changed()}


def are_as_loaded() -> bool:
    """Whether Python has loaded no other text than `sources` has: no file was changed since this process began."""
    changed = _changed()
    return (
        changed.keys() == sources().keys()
        and max(changed.values()) <= _began()
        and all(path in changed for path in _loaded())
    )


def _changed() -> dict[str, int]:
    """When each of those files was last written, moved or replaced, in nanoseconds since 1970."""
    start, folders = len(f"{ROOT}/"), [f"{ROOT}/{name}" for name in PACKAGES]
    found = dict[str, int]()
    for folder in folders:  # which grows meanwhile
        with os.scandir(folder) as entries:
            for one in entries:
                if one.is_dir(follow_symlinks=False):
                    folders.append(one.path)
                elif one.name.endswith(READ):
                    found[one.path[start:]] = one.stat().st_ctime_ns
    return found


def _loaded() -> Iterator[str]:
    """The files of the modules that are loaded."""
    root = f"{ROOT}/"
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PACKAGES:
            file = getattr(module, "__file__", None) or ""
            if file.startswith(root):
                yield file[len(root) :]


@cache
def _began() -> int:
    """When this process began, in nanoseconds since 1970; never, where the system does not say."""
    try:
        ticks = int(Path("/proc/self/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19])
        booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0
    return int(1e9 * (booted + ticks / os.sysconf("SC_CLK_TCK")))


def reached(entries: Iterable[str], opaque: Collection[str] = (), files: Files | None = None) -> frozenset[str]:
    """The paths of all modules that some modules reach by imports, and of the data beside them."""
    known = sources() if files is None else files
    asked, around = set[str](), set[str]()
    waiting = [one for name in entries for one in _paths(name, known)]
    while waiting:
        path, is_around = waiting.pop()
        if path in asked or (is_around and path in around):
            continue
        (around if is_around else asked).add(path)
        if _name(path) not in opaque:
            text = _run_at_once(known[path]) if is_around else known[path]
            waiting += [one for name in _imported(text) for one in _paths(name, known)]
    found = asked | around
    folders = {path.rpartition("/")[0] for path in found}
    return frozenset(found) | {path for path in known if _is_data(path) and path.rpartition("/")[0] in folders}


def digest_of_files(paths: Iterable[str], files: Files | None = None) -> str:
    """A digest of the names and contents of some files."""
    known, digest = sources() if files is None else files, hashlib.blake2b(digest_size=16)
    for path in sorted(paths):
        digest.update(f"{path} {len(known[path])}\n".encode())
        digest.update(known[path])
    return digest.hexdigest()


def _is_data(path: str) -> bool:
    return not path.endswith(".py") and path not in PER_CHECK


def _name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def _imported(text: bytes) -> frozenset[str]:
    """The dotted names in a module's text that may be modules."""
    decoded = text.decode()
    members = (f"{whole}.{name}" for whole, names in FROM.findall(decoded) for name in WORD.findall(names))
    bare = {name for names in BARE.findall(decoded) for name in DOTTED.findall(names)}.intersection(PACKAGES)
    return frozenset(NAMED.findall(decoded)) | bare | {one for one in members if one.startswith(PACKAGES)}


@cache
def _run_at_once(text: bytes) -> bytes:
    """What of a module is run as it is loaded: not its words, functions that it does not call, what only types need."""
    body = ast.parse(text.decode()).body
    functions = {one.name: one for one in body if isinstance(one, ast.FunctionDef)}
    waiting = [part for one in body for part in _parts_run(one)]
    run = list[ast.AST]()
    while waiting:
        run.append(part := waiting.pop())
        called = {one.id for one in ast.walk(part) if isinstance(one, ast.Name)}
        waiting += [functions.pop(name) for name in called & functions.keys()]
    return "\n".join(map(ast.unparse, run)).encode()


def _parts_run(one: ast.stmt) -> Iterable[ast.AST]:
    """What of a statement is run where a module is loaded; of a function what decorates it, and its defaults."""
    match one:
        case ast.FunctionDef(decorator_list=decorators, args=args):
            return [*decorators, *args.defaults, *filter(None, args.kw_defaults)]
        case ast.Expr(ast.Constant()):
            return []
        case ast.If(ast.Name("TYPE_CHECKING"), orelse=instead):
            return instead
        case _:
            return [one]


def _paths(name: str, files: Files) -> Iterator[tuple[str, bool]]:
    """The file of the module that a dotted name is, or is in, and those of the packages around it, which say so."""
    parts = name.split(".")
    is_around = False
    for length in range(len(parts), 0, -1):
        stem = "/".join(parts[:length])
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in files:
                yield path, is_around
                is_around = True
