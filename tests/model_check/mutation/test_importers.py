"""Test files by how far they are from a module."""

from model_check.mutation.importers import FAR, JVM, Importers
from model_check.mutation.questions import LOADS, NEAR, not_asked, questions

TEXTS = {
    "spec/a/__init__.py": "",
    "spec/a/b.py": "",
    "spec/a/c.py": "from spec.a import b",
    "spec/d.py": "import spec.a.c",
    "tests/helper.py": "from spec.a.b import one",
    "tests/spec/a/test_b.py": "",
    "tests/spec/a/test_b_more.py": "import spec.a.b",
    "tests/spec/a/test_c.py": "from spec.a import c",
    "tests/spec/test_a.py": "",
    "tests/spec/test_d.py": "import spec.d",
    "tests/spec/test_helped.py": "from tests.helper import one",
    "tests/spec/test_near.py": "def f():\n    import spec.a.b",
    "tests/spec/test_far.py": "from tests.spec.test_d import e",
}


def test_a_file_is_mirrored_by_its_name_and_near_by_imports_of_whatever_kind() -> None:
    importers = Importers(TEXTS)
    assert importers.mirroring("spec/a/b.py") == ["tests/spec/a/test_b.py", "tests/spec/a/test_b_more.py"]
    assert importers.mirroring("spec/a/__init__.py") == ["tests/spec/test_a.py"]
    assert FAR == 3, "or the farthest is told"
    assert importers.near("spec/a/b.py") == [
        "tests/spec/test_near.py", "tests/spec/a/test_c.py", "tests/spec/test_helped.py", "tests/spec/test_d.py",
    ]  # fmt: skip


def test_what_starts_a_jvm_is_counted_and_not_asked() -> None:
    texts = {
        **TEXTS,
        JVM[0]: "",
        "tests/spec/a/test_b_run.py": f"import spec.a.b\nimport {JVM[0][:-3].replace('/', '.')}",
    }
    importers = Importers(texts)
    assert importers.near("spec/a/b.py") == Importers(TEXTS).near("spec/a/b.py")
    assert importers.mirroring("spec/a/b.py") == Importers(TEXTS).mirroring("spec/a/b.py")
    assert importers.with_jvm("spec/a/b.py") == 1
    assert "1 that start a JVM" in not_asked("spec/a/b.py", importers)
    assert "JVM" not in not_asked("spec/a/b.py", Importers(TEXTS))


def test_no_test_file_is_asked_twice_and_the_module_is_loaded_first() -> None:
    asked = list(questions("spec/a/b.py", Importers(TEXTS)))
    assert asked[0].name == LOADS
    files = [file for one in asked for file in one.tests]
    assert sorted(files) == sorted(set(files))
    assert len(files) == 6 <= 2 + sum(NEAR)


def test_the_specification_is_compared_the_reference_conforms_and_others_have_their_tests() -> None:
    names = {
        file: {one.name for one in questions(file, Importers({}))}
        for file in ("spec/protocol/a.py", "reference/a.py", "model_check/judging/a.py")
    }
    assert names == {
        "spec/protocol/a.py": {"loads", "facts", "systems", "explorations"},
        "reference/a.py": {"loads", *(f"vectors of {one}" for one in ("bytes", "functions", "controller"))}
        | {"refinement of tiny"},
        "model_check/judging/a.py": {"loads"},
    }
