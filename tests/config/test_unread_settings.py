"""Every setting is read by somebody, or is called an error when it is set."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from msgspec import Struct, structs

from dos.config.lint import NOT_YET_READ, Kind, Severity, is_unread, lint, unread_keys
from dos.config.load import parse
from dos.config.tables import Config

SOURCE = Path(__file__).parents[2] / "src" / "dos"


def table_of(kind: object) -> type[Struct] | None:
    """The table that a key holds, or holds many of."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind
    return next((found for part in get_args(kind) if (found := table_of(part))), None)


def keys(table: type[Struct] = Config, around: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], str]]:
    """Every key of dos.toml that holds a value, with the attribute that reads it."""
    found = []
    for field in structs.fields(table):
        path = (*around, field.encode_name)
        inner = table_of(field.type)
        found += keys(inner, path) if inner else [(path, field.name)]
    return found


@cache
def readers() -> dict[str, set[str]]:
    """Each attribute that is read, and each word that a key may be looked up by, with the files that do.

    Within config/ only properties and methods count, and only if somebody outside reads those.
    """
    outside: dict[str, set[str]] = {}
    within: dict[str, set[str]] = {}  # what a property or a method of a table reads
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        tree = ast.parse(path.read_text())
        if name.startswith(("config/", "testing/")):
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                    for attribute in attributes(node):
                        within.setdefault(attribute, set()).add(node.name)
            continue
        for attribute in attributes(tree):
            outside.setdefault(attribute, set()).add(name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
                outside.setdefault(node.value, set()).add(name)
    for attribute, functions in within.items():
        through = {f"config: {each}" for each in functions if each in outside}
        if through:
            outside.setdefault(attribute, set()).update(through)
    return outside


def attributes(tree: ast.AST) -> set[str]:
    found = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):  # structs.asdict(config.loop) reads all of the table's keys
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("asdict"):
            for each in node.args:
                if isinstance(each, ast.Attribute) and (table := dict(tables()).get(each.attr)):
                    found |= {field.name for field in structs.fields(table)}
    return found


def tables() -> list[tuple[str, type[Struct]]]:
    return [(field.name, table) for field in structs.fields(Config) if (table := table_of(field.type))]


def test_every_key_is_read_or_is_listed_as_unread():
    read = readers()
    nobody = [
        ".".join(path)
        for path, attribute in keys()
        if not is_unread(path) and not (read.get(attribute) and read.get(path[0]))
    ]
    assert nobody == [], "nothing reads these: read them, or list them in NOT_YET_READ"


@pytest.mark.parametrize("key", sorted(NOT_YET_READ), ids=".".join)
def test_what_is_listed_exists_and_is_read_by_nobody(key):
    assert any(path[: len(key)] == key for path, _ in keys())
    owner = r"(?:config|policy|_config)" if len(key) == 1 else rf"\b{key[0]}"
    pattern = re.compile(rf"{owner}\.{key[-1]}\b(?!\()")
    found = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if pattern.search(path.read_text()) and path.parent.name not in ("config", "views")  # views only show it
    ]
    assert found == [], "somebody reads it: take it out of NOT_YET_READ"


def test_the_posture_that_nobody_reads_is_an_error_with_its_fix():
    loaded = parse('[enforcement]\nposture = "observe"\n', Path("dos.toml"))
    (found,) = [each for each in lint(loaded.config, written=loaded.origins) if each.kind is Kind.POLICY_UNREAD]
    assert (found.severity, found.subject) == (Severity.ERROR, "enforcement.posture")
    assert "decides nothing" in found.detail and found.fix == "dos config unset enforcement.posture"


def test_what_is_read_is_no_error_and_lists_are_named_once():
    text = """
[paths]
plans_glob = "x/*.md"
lane_journal = "x"
[retention]
runs_keep_last = 3
audits_keep_last = 4
[data_class]
trajectory_patterns = ["a", "b"]
[lifecycle]
classes = ["a", "b"]
[[lifecycle.transitions]]
from = "a"
to = "b"
trigger = "x"
"""
    assert [".".join(map(str, key)) for key in unread_keys(parse(text, Path("dos.toml")).origins)] == [
        "data_class.trajectory_patterns",
        "lifecycle.transitions",
        "paths.lane_journal",
        "retention.audits_keep_last",
    ]
