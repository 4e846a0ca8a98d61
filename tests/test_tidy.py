"""The few rules that keep the house standing."""

import ast
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

HOUSE = Path(__file__).parent.parent
SOURCE = HOUSE / "src" / "dos"
FILES = sorted(SOURCE.rglob("*.py"))

# They touch the outside; so does `io` inside of any package. All other modules are pure.
OUTSIDE = {
    "git",
    "machine",
    "journal",
    "config",
    "landing",
    "hooks",
    "doctor",
    "verbs",
    "cli",
    "mcp",
    "server",
    "testing",
}
OUTSIDE_FILES = {"workspace.py", "world.py", "plugins.py", "times.py", "oracle.py", "__main__.py"}
IMPURE_MODULES = {
    "os",
    "time",
    "random",
    "subprocess",
    "socket",
    "pathlib",
    "logging",
    "secrets",
    "threading",
}
# A surface imports no other, but the command line starts them, and the server offers MCP too.
SURFACES = {"cli": {"mcp", "server"}, "mcp": set(), "server": {"mcp"}, "tui": set()}
# The top of each surface, and the one door to a stranger's code.
BROAD_EXCEPTS_ALLOWED = {"cli/main.py", "unknown.py"}
VAGUE = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "core",
    "base",
    "manager",
    "handler",
    "misc",
}


def package_of(path: Path) -> str:
    """The package that a module is in; a module of the top is one of its own."""
    inside = path.relative_to(SOURCE)
    return inside.stem if inside.parent == Path() else str(inside.parent)


def is_pure(path: Path) -> bool:
    inside = path.relative_to(SOURCE)
    if "io" in inside.parts or inside.parts[0] in OUTSIDE:
        return False
    return str(inside) not in OUTSIDE_FILES


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


@cache
def packages() -> dict[str, set[str]]:
    """Each package with those that it imports from, wherever the import stands."""
    homes = {
        ".".join(("dos", *path.relative_to(SOURCE).with_suffix("").parts)): package_of(path)
        for path in FILES
    }
    found: dict[str, set[str]] = {}
    for path in FILES:
        if path.name != "__init__.py":
            own = package_of(path)
            found.setdefault(own, set()).update(
                homes[name] for name in imports(path) if name in homes
            )
            found[own].discard(own)
    return found


def test_packages_form_no_cycle():
    try:
        TopologicalSorter(packages()).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None


def test_pure_modules_cannot_reach_the_outside():
    wrong = [
        f"{path} imports {name}"
        for path in FILES
        for name in imports(path)
        if is_pure(path)
        and (
            name.split(".")[0] in IMPURE_MODULES
            or (name.startswith("dos.") and ".io." in name + ".")
        )
    ]
    assert wrong == []


def test_surfaces_do_not_import_one_another():
    for package, others in packages().items():
        own = package.split("/")[0]
        if own in SURFACES:
            strange = set(SURFACES) - {own} - SURFACES[own]
            wrong = [other for other in others if other.split("/")[0] in strange]
            assert not wrong, f"{package} imports {wrong}"


def test_broad_excepts_stand_only_in_the_named_guards():
    found = {
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) == "Exception")
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
                assert node.end_lineno - node.lineno < 60, (
                    f"{path}:{node.lineno} {node.name} is too long"
                )


def test_every_module_says_what_it_is_for():
    for path in FILES:
        assert ast.get_docstring(parsed(path)), f"{path} has no docstring"


def test_names_say_something():
    for path in FILES:
        assert not set(path.stem.split("_")) & VAGUE, f"{path} has a vague name"


def test_folders_hold_at_most_sixteen_files():
    for folder in {path.parent for path in FILES}:
        most = 20 if folder == SOURCE else 16  # the foundation is flat
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= most, (
            folder
        )


def test_importing_dos_imports_nothing_else():
    assert not imports(SOURCE / "__init__.py")


def test_no_two_test_files_have_the_same_name():
    names = Counter(
        path.name for path in (HOUSE / "tests").rglob("*.py") if path.name != "conftest.py"
    )
    assert [name for name, count in names.items() if count > 1] == []
