"""The few rules that keep the house standing."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parent.parent
SOURCE = HOUSE / "src" / "dos"
FILES = sorted(SOURCE.rglob("*.py"))

# A folder may import from those before it, never from those after it.
ORDER = [
    "errors", "version", "backoff", "file_lock",
    "records", "fields", "plugins", "verdicts", "plans", "loop_decide", "population", "config", "journal", "agents",
    "sources", "evidence", "oracle", "views", "questions", "runtime", "surfaces", "testing", "cli", "__main__",
]  # fmt: skip
PURE = ("backoff", "records", "verdicts", "plans")
IMPURE_MODULES = {"os", "time", "random", "subprocess", "socket", "pathlib", "logging", "secrets", "threading"}
# The top of each surface, and the one door to a stranger's code.
BROAD_EXCEPTS_ALLOWED = {"surfaces/cli/main.py", "records/unknown.py"}
VAGUE = {"utils", "util", "helpers", "helper", "common", "core", "base", "manager", "handler", "misc"}


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> list[str]:
    found: list[str] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def test_imports_go_upwards_only():
    wrong = [
        f"{path} imports {name}"
        for path in FILES
        for name in imports(path)
        if path != SOURCE / "__init__.py" and name.startswith("dos.") and name.split(".")[1] in ORDER
        if ORDER.index(name.split(".")[1]) > ORDER.index(part_of(path))
    ]
    assert wrong == []


def test_pure_folders_cannot_reach_the_outside():
    pure = [path for path in FILES if part_of(path) in PURE]
    wrong = [
        f"{path} imports {name}" for path in pure for name in imports(path) if name.split(".")[0] in IMPURE_MODULES
    ]
    assert wrong == []


def test_surfaces_do_not_import_one_another():
    for path in (path for path in FILES if part_of(path) == "surfaces"):
        own = path.relative_to(SOURCE).parts[1]
        others = [name for name in imports(path) if name.startswith("dos.surfaces.") and name.split(".")[2] != own]
        assert not others, f"{path} imports {others}"


def test_broad_excepts_stand_only_in_the_named_guards():
    found = {
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler) and (node.type is None or ast.unparse(node.type) == "Exception")
    }
    assert found <= BROAD_EXCEPTS_ALLOWED


def test_packages_hold_a_sentence_and_no_code():
    for path in FILES:
        if path.name == "__init__.py":
            body = parsed(path).body
            assert len(body) == 1 and isinstance(body[0], ast.Expr), f"{path} holds code"


def test_files_and_functions_stay_readable():
    for path in FILES:
        text = path.read_text()
        assert len(text.splitlines()) <= 400, f"{path} has {len(text.splitlines())} lines"
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno - node.lineno < 60, f"{path}:{node.lineno} {node.name} is too long"


def test_every_module_says_what_it_is_for():
    for path in FILES:
        assert ast.get_docstring(parsed(path)), f"{path} has no docstring"


def test_names_say_something():
    for path in FILES:
        assert not set(path.stem.split("_")) & VAGUE, f"{path} has a vague name"


def test_folders_hold_at_most_sixteen_files():
    for folder in {path.parent for path in FILES}:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= 16, folder


def test_importing_dos_imports_nothing_else():
    assert not imports(SOURCE / "__init__.py")


def test_no_two_test_files_have_the_same_name():
    names = Counter(path.name for path in (HOUSE / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []
